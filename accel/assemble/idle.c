/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Idle times of devices.
 */
#include "config.h"

#include "accel/assemble/idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RUN     (4u << 20)
#define SETTING "setting:VT_GPUTRACE"
#define COMPUTE "CUDA_KERNEL" /* group of the regions that compute */

/* ---- what is wanted -------------------------------------------------------------------------------- */

static const char *setting(const struct gt_journal *journal)
{
	for (size_t i = 0; i < gt_journal_count(journal, GT_D_PROPERTY); i++) {
		const char *key = gt_journal_nth(journal, GT_D_PROPERTY, i, NULL, NULL);

		if (!strcmp(key, SETTING))
			return key + strlen(key) + 1;
	}
	return "";
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",: ");

		if (n == length && !strncasecmp(list, word, n))
			return true;
		list += n + (list[n] != 0);
	}
	return false;
}

static void look_at(struct gt_idle *idle, const struct gt_proc *proc)
{
	const char *list;

	if (idle->proc == proc)
		return;
	list = setting(&proc->journal);
	idle->proc = proc;
	idle->compute = has_word(list, "idle");
	idle->pure = has_word(list, "pure_idle");
	free(idle->kinds);
	idle->kinds = NULL;
	idle->kind_count = 0;
}

/* ---- activities ------------------------------------------------------------------------------------- */

static bool computes(struct gt_idle *idle, uint32_t region)
{
	const struct gt_def_region *def;
	const char *group;

	if (region < idle->kind_count && idle->kinds[region])
		return idle->kinds[region] == 2;
	def = gt_proc_find(idle->proc, GT_D_REGION, region, NULL);
	group = def ? gt_proc_string(idle->proc, def->group) : NULL;
	if (region >= idle->kind_count && region < 1u << 20) {
		uint32_t count = region + 256;
		unsigned char *kinds = realloc(idle->kinds, count);

		if (kinds) {
			memset(kinds + idle->kind_count, 0, count - idle->kind_count);
			idle->kinds = kinds;
			idle->kind_count = count;
		}
	}
	if (region < idle->kind_count)
		idle->kinds[region] = group && !strcmp(group, COMPUTE) ? 2 : 1;
	return group && !strcmp(group, COMPUTE);
}

/* Rows of other things look like streams, but their key is no device's. */
static bool of_device(const struct gt_loc *loc)
{
	const struct gt_def_location *def =
		gt_journal_find(&loc->proc->journal, GT_D_LOCATION, loc->id, NULL);

	return !def || def->key != UINT64_MAX;
}

static struct gt_idle_device *find_device(struct gt_idle *idle, const struct gt_loc *loc, int dirfd)
{
	const struct gt_def_location *def =
		gt_journal_find(&loc->proc->journal, GT_D_LOCATION, loc->id, NULL);
	uint32_t device = def ? (uint32_t)(def->key >> 32) : 0;
	uint32_t proc = (uint32_t)(loc->proc - loc->proc->spool->procs);
	struct gt_idle_device *devices;

	for (size_t i = 0; i < idle->count; i++)
		if (idle->devices[i].proc == proc && idle->devices[i].device == device)
			return &idle->devices[i];
	devices = realloc(idle->devices, (idle->count + 1) * sizeof(*devices));
	if (!devices)
		return NULL;
	idle->devices = devices;
	devices[idle->count] = (struct gt_idle_device){ .proc = proc, .device = device,
							.like = loc->id };
	devices[idle->count].busy = gt_sorter_new(dirfd, RUN);
	return devices[idle->count].busy ? &devices[idle->count++] : NULL;
}

int gt_idle_add(struct gt_idle *idle, const struct gt_loc *loc, const struct gt_units *units,
		int dirfd)
{
	struct gt_idle_device *device;
	struct gt_slot slot;
	unsigned i = 0;

	look_at(idle, loc->proc);
	if ((!idle->compute && !idle->pure) || !of_device(loc))
		return 0;
	device = find_device(idle, loc, dirfd);
	if (!device)
		return -ENOMEM;
	while (GT_TYPE_IS_ATTR(GT_WORD_TYPE(units->slots[i].word)))
		i += gt_slots_of(&units->slots[i]);
	slot.time = units->end;
	slot.word = computes(idle, (uint32_t)GT_WORD_PAYLOAD(units->slots[i].word));
	return gt_sorter_add(device->busy, units->start, 0, &slot, 1);
}

/* ---- the times between -------------------------------------------------------------------------------- */

/* An idle time. At equal times what ends comes first, and the wider one is outside. */
static int put(struct gt_sorter *to, unsigned which, uint64_t from, uint64_t until)
{
	struct gt_slot enter = { from, GT_WORD(GT_T_ENTER, which) };
	struct gt_slot leave = { until, GT_WORD(GT_T_LEAVE, which) };
	int rc = gt_sorter_add(to, from, 1 + which, &enter, 1);

	return rc ? rc : gt_sorter_add(to, until, which == GT_IDLE_ALL ? 0 : 1, &leave, 1);
}

static int find_gaps(struct gt_sorter *busy, struct gt_sorter *to, bool compute, bool pure)
{
	uint64_t any = UINT64_MAX, kernel = UINT64_MAX; /* latest end so far */
	struct gt_slot slot;
	uint64_t start;
	int rc = gt_sorter_finish(busy);

	while (!rc && gt_sorter_time(busy, &start)) {
		long n = gt_sorter_unit(busy, &slot, 1);

		if (n <= 0)
			return n ? (int)n : -EIO;
		if (pure && start > any)
			rc = put(to, GT_IDLE_ALL, any, start);
		if (any == UINT64_MAX || slot.time > any)
			any = slot.time;
		if (!slot.word)
			continue;
		if (!rc && compute && start > kernel)
			rc = put(to, GT_IDLE_COMPUTE, kernel, start);
		if (kernel == UINT64_MAX || slot.time > kernel)
			kernel = slot.time;
	}
	return rc ? rc : gt_sorter_finish(to);
}

/* A location without a stream of its own. */
static int add_location(struct gt_proc *proc, const struct gt_idle_device *device,
			struct gt_sorter *gaps)
{
	struct gt_loc *locs = realloc(proc->locs, (proc->loc_count + 1) * sizeof(*locs));
	struct gt_loc *loc;

	if (!locs)
		return -ENOMEM;
	proc->locs = locs;
	loc = &locs[proc->loc_count++];
	memset(loc, 0, sizeof(*loc));
	loc->proc = proc;
	loc->id = GT_LOC_MADE_UP;
	loc->number = GT_NOT_WRITTEN;
	loc->win.kind = GT_LOC_GPU_STREAM;
	loc->win.half_bytes = GT_PAGE;
	loc->lanes = 1;
	loc->idle = gaps;
	loc->idle_device = device->device;
	loc->like = device->like;
	return 0;
}

int gt_idle_finish(struct gt_idle *idle, struct gt_spool *spool, int dirfd, int rc)
{
	for (size_t i = 0; i < idle->count; i++) {
		struct gt_idle_device *device = &idle->devices[i];
		struct gt_sorter *gaps = rc ? NULL : gt_sorter_new(dirfd, RUN);

		if (!rc && !gaps)
			rc = -ENOMEM;
		if (!rc) {
			look_at(idle, &spool->procs[device->proc]);
			rc = find_gaps(device->busy, gaps, idle->compute, idle->pure);
		}
		if (!rc)
			rc = add_location(&spool->procs[device->proc], device, gaps);
		if (rc)
			gt_sorter_free(gaps);
		gt_sorter_free(device->busy);
	}
	free(idle->devices);
	free(idle->kinds);
	memset(idle, 0, sizeof(*idle));
	return rc;
}

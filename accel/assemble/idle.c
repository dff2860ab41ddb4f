/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Idle times of devices.
 */
#include "config.h"

#include "accel/assemble/idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN           (4u << 20)
#define ROLE_FUNCTION 1u /* OTF2_REGION_ROLE_FUNCTION */

/* ---- what is wanted -------------------------------------------------------------------------------- */

/* One runtime in a process: the first that wants any. */
static void look_at(struct gt_idle *idle, const struct gt_proc *proc)
{
	const char *list = NULL;
	const struct gt_accel *accel;

	if (idle->proc == proc)
		return;
	for (size_t i = 0; !list && (accel = gt_half_accel(i)); i++)
		if (accel->idle)
			list = gt_journal_property(&proc->journal, accel->idle);
	idle->proc = proc;
	idle->accel = list ? accel : NULL;
	idle->compute = list && strstr(list, "compute");
	idle->all = list && strstr(list, "all");
}

/* ---- activities ------------------------------------------------------------------------------------- */

/* A kernel is a function, a copy a transfer; the group of either may be the user's (VT_GROUPS_SPEC). */
static bool computes(const struct gt_idle *idle, uint32_t region)
{
	const struct gt_def_region *def = gt_proc_find(idle->proc, GT_D_REGION, region, NULL);

	return def && def->role == ROLE_FUNCTION;
}

static bool of_device(const struct gt_loc *loc)
{
	const struct gt_def_location *def =
		gt_journal_find(&loc->proc->journal, GT_D_LOCATION, loc->id, NULL);

	return !def || def->key != GT_KEY_NO_DEVICE;
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
							.accel = idle->accel, .like = loc->id };
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
	if (!idle->accel || !of_device(loc))
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

/* Regions, of which `all` may be around `compute`; GT_UNDEFINED: not wanted. */
struct regions {
	uint32_t compute, all;
};

/* An idle time. At equal times what ends comes first, and the wider one is outside. */
static int put(struct gt_sorter *to, const struct regions *r, uint32_t which, uint64_t from, uint64_t until)
{
	struct gt_slot enter = { from, GT_WORD(GT_T_ENTER, which) };
	struct gt_slot leave = { until, GT_WORD(GT_T_LEAVE, which) };
	int rc = which == GT_UNDEFINED ? 0 : gt_sorter_add(to, from, which == r->all ? 3 : 2, &enter, 1);

	return rc || which == GT_UNDEFINED ? rc
					   : gt_sorter_add(to, until, which == r->all ? 0 : 1, &leave, 1);
}

static int find_gaps(struct gt_sorter *busy, struct gt_sorter *to, const struct regions *r)
{
	uint64_t any = UINT64_MAX, kernel = UINT64_MAX; /* latest end so far */
	struct gt_slot slot;
	uint64_t start;
	int rc = gt_sorter_finish(busy);

	while (!rc && gt_sorter_time(busy, &start)) {
		long n = gt_sorter_unit(busy, &slot, 1);

		if (n <= 0)
			return n ? (int)n : -EIO;
		if (start > any)
			rc = put(to, r, r->all, any, start);
		if (any == UINT64_MAX || slot.time > any)
			any = slot.time;
		if (!slot.word)
			continue;
		if (!rc && start > kernel)
			rc = put(to, r, r->compute, kernel, start);
		if (kernel == UINT64_MAX || slot.time > kernel)
			kernel = slot.time;
	}
	return rc ? rc : gt_sorter_finish(to);
}

static uint32_t region(struct gt_defs *defs, const struct gt_accel *accel, const char *name, bool wanted)
{
	return wanted ? gt_defs_own_region(defs, name, accel->paradigm) : GT_UNDEFINED;
}

/* A location without a stream of its own. */
static int add_location(struct gt_proc *proc, const struct gt_idle_device *device,
			struct gt_sorter *gaps, struct gt_defs *defs)
{
	char name[64];
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
	loc->added = gaps;
	snprintf(name, sizeof(name), "%s[%u] idle", device->accel->idle_name, device->device);
	loc->added_name = gt_defs_string(defs, name);
	loc->like = device->like;
	return 0;
}

int gt_idle_finish(struct gt_idle *idle, struct gt_spool *spool, struct gt_defs *defs, int dirfd, int rc)
{
	for (size_t i = 0; i < idle->count; i++) {
		struct gt_idle_device *device = &idle->devices[i];
		struct gt_sorter *gaps = rc ? NULL : gt_sorter_new(dirfd, RUN);

		if (!rc && !gaps)
			rc = -ENOMEM;
		if (!rc) {
			struct regions r;

			look_at(idle, &spool->procs[device->proc]);
			r.compute = region(defs, device->accel, device->accel->idle_compute, idle->compute);
			r.all = region(defs, device->accel, device->accel->idle_all, idle->all);
			rc = find_gaps(device->busy, gaps, &r);
		}
		if (!rc)
			rc = add_location(&spool->procs[device->proc], device, gaps, defs);
		if (rc)
			gt_sorter_free(gaps);
		gt_sorter_free(device->busy);
	}
	free(idle->devices);
	memset(idle, 0, sizeof(*idle));
	return rc;
}

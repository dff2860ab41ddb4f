/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that a thread reads with its enters and leaves: each group is a source of the core's
 * (gt_metric_source), which has a function for each because it hands out none but the thread's state.
 *
 * Limits: as many groups as the core takes sources.
 */
#include <errno.h>
#include <string.h>

#include "counters/counters.h"

#define MOST 8u

static struct gt_cn_group *groups[MOST];
static GT_TLS uint64_t due[MOST]; /* tick from which this thread reads the group again */

static int open_group(unsigned g, void **state)
{
	const struct gt_cn_group *group = groups[g];
	uint64_t ids[GT_PLUGIN_METRICS];

	for (unsigned i = 0; i < group->count; i++)
		ids[i] = group->metrics[i].id;
	due[g] = 0;
	if (!gt_cn_works_here(group))
		return -ECANCELED;
	return group->plugin->open(ids, group->count, 0, state);
}

static int read_guarded(const struct gt_cn_group *group, void *state, uint64_t *values, unsigned count)
{
	int rc;

	gt_guard();
	rc = group->plugin->read(state, values, count);
	gt_unguard();
	return rc;
}

static int read_group(unsigned g, void *state, uint64_t *values, unsigned count)
{
	const struct gt_cn_group *group = groups[g];

	if (group->interval) {
		uint64_t now = gt_now();

		if (now < due[g])
			return -EAGAIN;
		due[g] = now + gt_cn_ticks(group->interval);
	}
	return group->plugin->flags & GT_PLUGIN_BARE ? group->plugin->read(state, values, count)
						     : read_guarded(group, state, values, count);
}

#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define FUNCTIONS(g)                                                                                         \
	static int open_##g(void **state)                                                                    \
	{                                                                                                    \
		return open_group(g, state);                                                                 \
	}                                                                                                    \
	static int read_##g(void *state, uint64_t *values, unsigned n)                                       \
	{                                                                                                    \
		return read_group(g, state, values, n);                                                      \
	}                                                                                                    \
	static void close_##g(void *state)                                                                   \
	{                                                                                                    \
		groups[g]->plugin->close(state);                                                             \
	}
#define ROW(g) { open_##g, read_##g, close_##g },
EACH(FUNCTIONS)

static const struct {
	int (*open)(void **state);
	int (*read)(void *state, uint64_t *values, unsigned n);
	void (*close)(void *state);
} functions[MOST] = { EACH(ROW) };

static int add(struct gt_cn_group *group, unsigned g)
{
	static char names[GT_PLUGIN_METRICS][GT_PLUGIN_NAME];
	struct gt_metric_info infos[GT_PLUGIN_METRICS];
	struct gt_metric_source source = { .bytes = sizeof(source), .metrics = infos, .count = group->count,
					   .open = functions[g].open, .read = functions[g].read,
					   .close = functions[g].close };

	if (group->plugin->flags & GT_PLUGIN_BARE && !group->interval) /* nothing is to be done around it */
		source.read = group->plugin->read;
	for (unsigned i = 0; i < group->count; i++)
		infos[i] = gt_cn_info(group, i, names[i], sizeof(names[i]));
	groups[g] = group;
	return gt_metric_source_register(&source);
}

bool gt_cn_try(struct gt_cn_group *group)
{
	char name[GT_PLUGIN_NAME], text[80];
	uint64_t ids[GT_PLUGIN_METRICS];
	void *state = NULL;
	int rc = -EINVAL;

	for (unsigned i = 0; i < group->count; i++)
		ids[i] = group->metrics[i].id;
	while (group->count && (rc = group->plugin->open(ids, group->count, 0, &state))) {
		gt_cn_full_name(group->plugin, &group->metrics[--group->count], name, sizeof(name));
		gt_message(1, "counter %s cannot be %s: it is left out (%s)", name,
			   group->count ? "counted together with the others" : "opened",
			   strerror_r(-rc, text, sizeof(text)));
	}
	if (!rc)
		group->plugin->close(state);
	return !rc;
}

void gt_cn_sync_begin(void)
{
	unsigned used = 0;

	for (unsigned i = 0; i < gt_cn_group_count; i++) {
		struct gt_cn_group *group = &gt_cn_groups[i];

		if (group->way != GT_PLUGIN_SYNC || !gt_cn_try(group))
			continue;
		if (used == MOST || add(group, used))
			gt_message(1, "too many counters: those of %s are left out", group->plugin->name);
		else
			used++;
	}
}

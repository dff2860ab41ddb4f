/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by merge*.c.
 */
#ifndef GT_ASSEMBLE_JOIN_MERGE_INT_H
#define GT_ASSEMBLE_JOIN_MERGE_INT_H

#include "lib/assemble/archive/local_defs.h"
#include "lib/assemble/join/merge.h"

struct gt_merge_partial {
	uint32_t *groups, *locations; /* numbers in the archive */
	uint32_t group_count, location_count;
	uint32_t first_origin, first_process;
};

struct gt_merge_rank {
	uint64_t job;
	uint32_t rank, location;
};

/* One part on its way into the archive. */
struct gt_merge_task {
	struct gt_merge *m;
	uint32_t number;
	struct gt_merge_partial *each;
	struct gt_partial partial;
	uint32_t *maps[GT_MAPS];
	uint32_t counts[GT_MAPS];
	uint32_t *members, *spoken, *markers, *nodes;
};

static inline uint32_t gt_merge_mapped(const struct gt_merge_task *t, enum gt_map kind, uint32_t id)
{
	return id < t->counts[kind] ? t->maps[kind][id] : GT_UNDEFINED;
}

/* Strings are always there; what cannot be right is the empty one. */
static inline uint32_t gt_merge_string(const struct gt_merge_task *t, uint32_t id)
{
	return id < t->counts[GT_MAP_STRING] ? t->maps[GT_MAP_STRING][id] : 0;
}

static inline uint32_t gt_merge_location(const struct gt_merge_task *t, uint32_t id)
{
	return id < t->each->location_count ? t->each->locations[id] : 0;
}

static inline uint32_t gt_merge_group(const struct gt_merge_task *t, uint32_t id)
{
	return id < t->each->group_count ? t->each->groups[id] : 0;
}

/* Unifies the part's definitions with what is there, names its processes and locations. */
int gt_merge_unify(struct gt_merge_task *task);

/* The part's event files, its locations' definitions and its markers. */
int gt_merge_files(struct gt_merge_task *task, struct gt_archive *archive);

#endif

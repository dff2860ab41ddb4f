/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: call trees of all locations, and what follows from them (flat profile, groups, locations).
 *
 * Limits: a call tree has at most GT_PROFILE_NODES nodes; calls below that have none of their own and count
 * for the node that called them.
 */
#ifndef GT_REPORT_PROFILE_H
#define GT_REPORT_PROFILE_H

#include "report/report.h"

enum { GT_PROFILE_NODES = 1 << 20 };

/* A call path: a region called by another node; node 0 is the root, which has no region. */
struct gt_profile_node {
	uint32_t region;     /* index in its table; its count: not defined */
	uint32_t parent;
	uint32_t child, next; /* first callee; next one of the same caller; 0: none */
	uint64_t calls, inclusive, exclusive; /* ns; of calls that have ended, or were open at the end */
};

struct gt_profile_tree {
	struct gt_profile_node *nodes;
	uint32_t count, room;
};

/* By region. A region that calls itself is counted once in `inclusive`. */
struct gt_profile_region {
	uint64_t calls, inclusive, exclusive;
	uint64_t least, most; /* inclusive of a call */
	uint64_t most_begin;  /* of the longest call, and its location */
	uint32_t most_on;
	/* exclusive of a location, of those that called it */
	uint32_t locations, most_location;
	uint64_t location_least, location_most;
};

struct gt_profile_location {
	uint64_t calls, events;
	uint64_t begin, end;              /* first and last event */
	uint64_t times[GT_TIMES];         /* exclusive, by whose time it is */
	uint64_t classes[GT_CLASSES];     /* exclusive */
	uint64_t class_calls[GT_CLASSES];
	struct gt_profile_tree tree;      /* until it is merged */
	uint32_t *nodes;                  /* afterwards: its nodes' places in the whole tree */
	uint32_t node_count;
};

struct gt_profile {
	struct gt_profile_tree tree;
	struct gt_profile_region *regions;      /* by index */
	struct gt_profile_location *locations;  /* by index */
};

/* The node of the whole tree that is `node` (frame->user) in the tree of a location that has been merged. */
uint32_t gt_profile_node(const struct gt_profile *profile, size_t location, uint64_t node);
/* "main > solve > MPI_Recv", of a node of the whole tree; the first ones are left out if it is too long. */
const char *gt_profile_path(struct gt_report *report, const struct gt_profile *profile, uint32_t node);

/* Sections "regions", "groups", "locations", "call_tree" (profile_tables.c). */
void gt_profile_tables(struct gt_report *report, const struct gt_profile *profile);
/* What no region covered of a location's time. */
uint64_t gt_profile_unseen(const struct gt_profile_location *location);
/* Is next to nothing of its life recorded? So it is with what starts ranks, and MPI's own threads. */
bool gt_profile_blank(uint64_t life, uint64_t unseen);
/* The whole of which regions and calls have a share: gputrace-metrics(7), "SHARES". */
uint64_t gt_profile_whole(const struct gt_report *report, const struct gt_profile *profile);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From partial archives (partial.h) to one archive: numbers for all processes and locations, the definitions
 * of all partial archives unified, for each location the tables that map its local numbers, and the
 * correction of its clock. The events are not read: their files are linked.
 *
 * Limits: reads one partial archive at a time, twice; memory grows with what is distinct, and with the number
 * of locations.
 */
#ifndef GT_ASSEMBLE_JOIN_MERGE_H
#define GT_ASSEMBLE_JOIN_MERGE_H

#include "lib/assemble/archive/defs.h"
#include "lib/assemble/pair/order.h"
#include "lib/assemble/join/partial.h"

struct gt_merge {
	int dirfd, workfd;           /* the archive directory; where the archive is made */
	struct gt_partial_ref *partials;
	size_t partial_count;
	/* what comes out */
	struct gt_defs defs;
	struct gt_layout layout;
	struct gt_facts facts;
	struct gt_clock clock;       /* by origin */
	struct gt_order order;
	struct gt_properties properties;
	struct gt_archive_clock when;
	const char *at;              /* the part that is being read; NULL: none */
	/* inside */
	struct gt_origins origins;
	struct gt_corrections *corrections; /* by origin */
	struct gt_merge_partial *each;
	struct gt_merge_rank *ranks; /* by job and rank */
	size_t rank_count;
	struct gt_archive *archive;
};

/* Prepares; 0 or a negative errno. The caller has filled in the first members. */
int gt_merge_who(struct gt_merge *merge);

/* Corrects the hosts' times by the messages between them. 0 or a negative errno. */
int gt_merge_order(struct gt_merge *merge);

/* Unifies, and writes what belongs to single locations. 0 or a negative errno; or the archive failed. */
int gt_merge_all(struct gt_merge *merge, struct gt_archive *archive);
void gt_merge_free(struct gt_merge *merge);

#endif

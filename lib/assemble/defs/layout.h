/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers all that appears in the archive: machine, nodes, processes (location groups), threads and
 * streams (locations), with their numbers and names.
 *
 * Limits: made once, before events are written; the number of events of each location is filled in
 * while they are.
 */
#ifndef GT_ASSEMBLE_DEFS_LAYOUT_H
#define GT_ASSEMBLE_DEFS_LAYOUT_H

#include "lib/assemble/defs/defs.h"
#include "lib/assemble/spool/spool.h"

struct gt_out_node {
	uint32_t name, class_name; /* strings */
	uint32_t parent;           /* GT_UNDEFINED: the machine itself */
	uint32_t uuid, address;    /* of an accelerator: strings; else 0 */
};

struct gt_out_group {
	uint32_t name;
	uint32_t node;
	uint32_t creator;          /* group of the process, for accelerators; else GT_UNDEFINED */
	bool accelerator;
	uint32_t context;          /* its LOCGROUP id in the process, for accelerators */
	const struct gt_proc *proc;
	uint64_t job;              /* of a rank; 0: it is none */
	uint32_t rank;
	const struct gt_accel *runtime; /* of an accelerator's context */
	bool missing;              /* a rank that nobody has recorded */
	bool launcher;             /* ranks descend from it, and it is none itself */
};

enum { GT_AS_THREAD = 1, GT_AS_STREAM = 2, GT_AS_METRIC = 3 }; /* as OTF2_LocationType */

struct gt_out_location {
	struct gt_loc *loc;
	uint32_t name, group;
	uint8_t type;              /* GT_AS_... */
	bool thread;               /* a thread of its process, not a lane for something else */
	unsigned lane;             /* of a stream whose activities overlap; 0: the first, or only one */
	bool first;                /* of its process: carries program begin and end */
	uint64_t events;
	bool cut_short;            /* the disk was full before all of it was converted */
};

struct gt_layout {
	struct gt_out_node *nodes;
	uint32_t node_count;
	struct gt_out_group *groups;
	uint32_t group_count;
	struct gt_out_location *locations;
	uint32_t location_count;
	uint64_t left_out;         /* processes without a place in the archive */
	bool ranks;                /* some processes are ranks */
};

/* Numbers the processes and locations of the spool (gt_proc.number, gt_loc.number). */
int gt_layout_make(struct gt_layout *layout, struct gt_spool *spool, struct gt_defs *defs);
/* The location group of a process's accelerator context, or of the process if it has none. */
uint32_t gt_layout_context(const struct gt_layout *layout, const struct gt_proc *proc, uint32_t id);
/* The name of a rank; `job`: 1 the run's first parallel program, 2 its second ... */
uint32_t gt_layout_rank(struct gt_defs *defs, uint32_t rank, unsigned job);
void gt_layout_free(struct gt_layout *layout);

#endif

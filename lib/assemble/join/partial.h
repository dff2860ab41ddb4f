/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of an archive: what one host has converted by itself, with numbers of its own. Its folder
 * (GT_PART_FOLDER) holds event files, markers, the list of the processes that it is made of, and the
 * file `part`: all distinct definitions, the processes and locations with their properties, the clocks
 * of the host and how they were converted, and what the report tells.
 *
 * Limits: read by the gputrace that wrote it, on a machine of the same byte order; a file that was not
 * written to its end, or by another one, is refused.
 */
#ifndef GT_ASSEMBLE_JOIN_PARTIAL_H
#define GT_ASSEMBLE_JOIN_PARTIAL_H

#include "lib/assemble/archive/archive.h"
#include "lib/assemble/clock/clock.h"
#include "lib/assemble/defs/defs.h"
#include "lib/assemble/defs/layout.h"
#include "lib/assemble/defs/properties.h"
#include "lib/assemble/report/report.h"

struct gt_partial_group {
	uint32_t name, node, creator;
	uint32_t rank;
	uint64_t job;
	uint32_t clock;           /* place in origins */
	bool accelerator, launcher;
};

struct gt_partial_location {
	uint32_t name, group;
	uint64_t events, bytes;   /* bytes: of its file of events; 0: it has none */
	uint8_t type;
	bool thread, first;
};

struct gt_partial {
	struct gt_facts facts;
	struct gt_defs defs;      /* comms have no members unless gt_partial.members says them */
	struct gt_out_node *nodes;
	uint32_t node_count;
	struct gt_partial_group *groups;
	uint32_t group_count;
	struct gt_partial_location *locations;
	uint32_t location_count;
	struct gt_properties properties;
	struct gt_origins origins;
	uint64_t last_ns;
	/* memory that the above points into */
	struct gt_segment **segments;
};

/* Makes a file with these bytes, down to the disk. 0 or a negative errno. */
int gt_partial_write(int dirfd, const char *name, const void *data, size_t bytes);

/* Everything but groups and locations is borrowed. Writes the file into `dirfd`. 0 or a
   negative errno. */
int gt_partial_save(const struct gt_partial *partial, int dirfd);

/*
 * Reads the file in the folder `path` below `dirfd`; `defs`: also the definitions and properties, not
 * only who appears. 0 or a negative errno: -EPROTO if the file is not one.
 */
int gt_partial_load(struct gt_partial *partial, int dirfd, const char *path, bool defs);
void gt_partial_free(struct gt_partial *partial);

#endif

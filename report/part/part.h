/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of an archive: a window of time and a selection of locations.
 *
 * Limits: one window; times are those of the archive, ns since its begin.
 */
#ifndef GT_REPORT_PART_H
#define GT_REPORT_PART_H

#include "lib/read/read.h"

struct gt_part {
	uint64_t from, to;  /* ns: from <= time < to; to is UINT64_MAX if it is open */
	bool *locations;    /* by their place in the table, NULL: all */
};

/*
 * Reads "FROM:TO" into part->from and to. Numbers are seconds, or have a unit (s, ms, us, ns); either may be
 * missing. False: it is not of that form, or TO is not after FROM.
 */
bool gt_part_window(struct gt_part *part, const char *text);

/* Reads a time as a window has it. False: it is none. */
bool gt_part_time(const char *text, uint64_t *ns);

/*
 * Selects the locations that one of the patterns (with ; between them) matches: their name, that of their
 * process or GPU, PROCESS/NAME, or what a report calls them ("rank 1", "rank 1, Thread 2"). Case does not
 * matter. With * for any characters a pattern is a whole name, without it a part of one, but no part of a
 * number: "rank 1" is not in "rank 10". NULL selects all.
 *
 * False, after a sentence of the command's: the window begins behind the end of the run, or the patterns
 * match nothing; then the locations that there are are listed.
 */
bool gt_part_choose(struct gt_part *part, const struct gt_otf2 *read, const char *patterns,
		  const char *command);

static inline bool gt_part_has(const struct gt_part *part, size_t location)
{
	return !part->locations || part->locations[location];
}

static inline bool gt_part_at(const struct gt_part *part, uint64_t time)
{
	return time >= part->from && time < part->to;
}

/* The name of a location's group, "?" if it has none. */
const char *gt_part_process(const struct gt_otf2 *read, const struct gt_otf2_location *location);

#endif

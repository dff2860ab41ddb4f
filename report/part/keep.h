/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which events of a part of an archive can stay in it without those outside: an event that belongs
 * to others (the ends of a message, a collective operation, the life of a thread) stays if all of them do.
 *
 * A first pass collects what belongs together, a second one asks about each event.
 *
 * Limits: numbers of events that stay are held in memory, 8 bytes each, and while they are found about 96
 * bytes for each.
 */
#ifndef GT_REPORT_KEEP_H
#define GT_REPORT_KEEP_H

#include "report/part/match.h"
#include "report/part/part.h"

/* Kinds of omitted events, for the user. */
enum gt_left {
	GT_LEFT_MESSAGES,
	GT_LEFT_COLLECTIVES,
	GT_LEFT_THREADS,
	GT_LEFT_LOCKS,
	GT_LEFT_OTHERS,
	GT_LEFT
};

extern const char *const gt_left_names[GT_LEFT];

struct gt_keep;

struct gt_keep *gt_keep_new(const struct gt_otf2 *read, const struct gt_part *part);

/* The first pass: a visitor whose options.user is a struct gt_keep_user. */
struct gt_keep_user {
	struct gt_keep *keep;
};
extern const struct gt_otf2_visitor gt_keep_visitor;
/* After it: finds what belongs together. */
void gt_keep_match(struct gt_keep *keep);

/* The second pass: of one location. Zero at first; freed with gt_kept_end(). */
struct gt_part_kept {
	size_t next;          /* place in the location's list of events that stay */
	bool began;           /* a program */
	struct gt_kept_open { /* what was begun and stays, with what ends it */
		uint64_t key[2];
	} *open;
	size_t open_count, room;
};

/* Does an event inside of the part stay? If not, *why is what it is. Asked in the order of the events. */
bool gt_keep_event(const struct gt_keep *keep, struct gt_part_kept *kept, const struct gt_otf2_cursor *at,
		   const struct gt_otf2_event *event, enum gt_left *why);
void gt_kept_end(struct gt_part_kept *kept);

#endif

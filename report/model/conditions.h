/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for conditions: which of them are for work, and so no part of the run (gputrace-metrics(7),
 * "SHARES").
 *
 * Who waits for work is woken by one that hands it out. A lock that is made of a condition, room in a full
 * queue and a result are waited for in the same function, but for somebody who has to get on. What tells
 * them apart is who waits for a condition and who signals it. Where that leaves doubts, no wait is for work.
 *
 * Limits: of archives that say which condition is waited for. Threads that share a location are one.
 */
#ifndef GT_REPORT_CONDITIONS_H
#define GT_REPORT_CONDITIONS_H

#include "report/report.h"
#include "report/model/sums.h"

/* Of a location while it is read, zero at first. */
struct gt_condition_waits {
	/* keys: condition, who ended it (number + 1) or 0, region; bytes: ns that count */
	struct gt_sums waits;
	/* key: condition; of the first wait ns: its begin, most: its ns, bytes: ns of work before */
	struct gt_sums firsts;
	struct gt_sums wakes;    /* key: number + 1 of who ended waits; ns: the first time */
	struct gt_sums threads;  /* keys: number of a thread that ran here (0), or was created here (1) */
	uint64_t begin, waited;  /* waited: ns so far */
	uint64_t condition, call; /* the last one that was waited for, in a call that began then */
	bool begun;
};

struct gt_conditions {
	uint64_t address, woken_by; /* attributes */
	struct gt_sums waits;    /* keys: location, condition, who ended it, region */
	struct gt_sums firsts;   /* keys: process, condition, location */
	struct gt_sums wakes;    /* keys: location that waited, number + 1 of who ended it */
	struct gt_sums threads;  /* keys: process, number; ns: the location */
	struct gt_sums created;  /* keys: location, number */
	struct gt_sums verdicts; /* keys: process, condition; count: who waits for it; bytes: what is known */
	uint64_t *work;          /* by location: ns that it did not wait */
};

extern const struct gt_analysis gt_conditions_analysis;

void gt_conditions_prepare(struct gt_conditions *conditions, const struct gt_report *report);
/* At each enter, leave, event and end of a location. `from`, `to`: the part of the run that counts. */
void gt_conditions_enter(const struct gt_conditions *conditions, const struct gt_report *report,
			 const struct gt_otf2_cursor *at, struct gt_condition_waits *state);
void gt_conditions_leave(const struct gt_conditions *conditions, const struct gt_report *report,
			 struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
			 struct gt_condition_waits *state, uint64_t from, uint64_t to);
void gt_conditions_event(const struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
			 struct gt_condition_waits *state);
void gt_conditions_end(const struct gt_conditions *conditions, const struct gt_report *report,
		       const struct gt_otf2_cursor *at, struct gt_condition_waits *state, uint64_t from,
		       uint64_t to);
/* One location at a time; the state is freed. */
void gt_conditions_merge(struct gt_conditions *conditions, const struct gt_report *report,
			 const struct gt_otf2_cursor *at, struct gt_condition_waits *state);
/* After all: only then is known which waits are for work. */
void gt_conditions_judge(struct gt_conditions *conditions, const struct gt_report *report);
/* Was the location's wait for the condition one for work? */
bool gt_conditions_idle(const struct gt_conditions *conditions, const struct gt_report *report,
			uint64_t location, uint64_t condition);
/* The location of the thread with this number in a process; GT_NO_DEVICE: it is not known. */
uint64_t gt_conditions_thread(const struct gt_conditions *conditions, const struct gt_report *report,
			      uint64_t process, uint64_t number);
void gt_conditions_free(struct gt_conditions *conditions);

/* The condition that the call, which is entered now, waits for; 0: it is not known. */
static inline uint64_t gt_condition_of(const struct gt_otf2_cursor *at, uint64_t attribute)
{
	OTF2_AttributeValue value;

	return gt_otf2_attribute(at, attribute, OTF2_TYPE_UINT64, &value) ? value.uint64 : 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a location spent its time with, in the few categories of the summary.
 *
 * Limits: by the regions' paradigms and names; what ran outside of all regions counts as work.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_USE_H
#define GT_ASSEMBLE_ARCHIVE_USE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_layout;
struct gt_profile;
struct gt_worker;
struct gt_out_location;

/* Nanoseconds, exclusive. */
struct gt_use {
	uint64_t span;           /* from the location's beginning to its last event */
	uint64_t comm;           /* in functions that communicate (GT_TIME_COMMUNICATION), but for ... */
	uint64_t start;          /* ... those that begin and end it */
	uint64_t wait;           /* in functions that wait for other threads (GT_TIME_WAIT) */
	bool communicates;
	bool idle;               /* a thread that did nothing but wait; it is not in the profile */
};

/* Before a location is converted, and after: fills in out->use. */
void gt_use_begin(struct gt_worker *worker);
void gt_use_end(struct gt_worker *worker, struct gt_out_location *out, uint64_t span);

/* The ranks of parallel programs, compared. */
struct gt_balance {
	uint32_t ranks;          /* that communicated; the rest holds if there is one */
	double in_comm;           /* part of the time, of all of them, and of two: */
	struct gt_balance_of {
		uint32_t rank;
		double in_comm;
	} least, most;
	uint64_t mean_ns;        /* outside of communication and waits, of a rank; and the most */
	uint64_t most_ns;
	uint32_t most_rank;
};
struct gt_balance gt_use_balance(const struct gt_layout *layout);

#endif

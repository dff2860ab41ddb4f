/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that take turns with a lock: who had it while others waited, and who waits as long for whom, from
 * the acquisitions of the lock, in their order.
 *
 * Limits: the holder of a lock is whoever had it during a wait, of those whose acquisitions are known.
 */
#ifndef GT_REPORT_TURNS_H
#define GT_REPORT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/assemble/util/lookup.h"

/* An acquisition; times in ns. */
struct gt_hold {
	uint64_t wanted, acquired, released;
	uint32_t location, region; /* region: the caller's */
};

/* {0} at first. */
struct gt_turns {
	struct gt_lookup places; /* of a thread, and of two, in `waits` */
	struct gt_turns_wait *waits;
	size_t count, room;
	uint32_t threads;        /* that acquired the lock */
	bool failed;             /* memory was lacking */
};

/* The waits of threads that take turns, as far as each is waited for as long. */
struct gt_turns_found {
	uint64_t threads, waits, ns;
	uint64_t begin, longest; /* of the longest one */
};

/* `holder` had the lock for so many ns of a wait. */
typedef void gt_turns_charge(void *context, const struct gt_hold *holder, uint64_t ns);

/* Adds the wait of holds[i], one after the other. Returns for how long of it somebody is known to have had
   the lock. charge: may be NULL. */
uint64_t gt_turns_add(struct gt_turns *turns, const struct gt_hold *holds, size_t i, gt_turns_charge *charge,
		      void *context);
struct gt_turns_found gt_turns_find(struct gt_turns *turns);
void gt_turns_free(struct gt_turns *turns);

#endif

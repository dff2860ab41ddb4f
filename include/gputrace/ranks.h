/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For adapters of parallel programs (MPI): the process's rank, members of communicators, low-cost messages,
 * and the clocks of several hosts.
 *
 * Limits: as adapter.h.
 */
#ifndef GPUTRACE_RANKS_H
#define GPUTRACE_RANKS_H

#include "gputrace/adapter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ranks ------------------------------------------------------------------------------------- */

/*
 * Sets this process's rank among the `size` processes of the parallel program `job` (an equal number in all
 * of them). From now on the filter's rules for ranks apply.
 */
GT_API void gt_set_rank(uint32_t rank, uint32_t size, uint64_t job);

/* A list of processes, by their ranks in this process's job, in the order of a communicator. */
GT_API gt_ref gt_def_ranks(const uint32_t *ranks, uint32_t count);
/* The same with processes of other jobs: for each its link (GT_NONE: this job) and its rank there. */
GT_API gt_ref gt_def_far_ranks(const uint32_t *pairs, uint32_t count);
/* One end of a connection to processes of another job. place: NULL if unknown. */
GT_API gt_ref gt_def_link(const struct gt_def_link *def, const char *place);

/* ---- communicators, windows, files ------------------------------------------------------------- */

/* Objects that several processes share and identify by an equal key. */
enum gt_shared {
	GT_SHARED_COMM,          /* a communicator */
	GT_SHARED_WINDOW,        /* a window for one-sided records (GT_T_RMA_*) */
	GT_SHARED_FILE,          /* an open file for I/O records: a handle */
};

struct gt_shared_info {
	size_t bytes;            /* sizeof(struct gt_shared_info) */
	const char *name;
	gt_ref parent;           /* a communicator's origin; others: the communicator that shares it */
	gt_ref ranks;            /* a communicator's members (gt_def_ranks) */
	gt_ref remote;           /* an inter-communicator's remote members */
	uint32_t paradigm;       /* enum gt_region_paradigm; of files enum gt_io_paradigm */
	uint64_t key;            /* equal in all processes for the same object */
	uint32_t flags;          /* communicators: GT_COMM_*, files: GT_HANDLE_* */
};
/* again: the id of a communicator or window whose name or other data have changed; otherwise GT_NONE. */
GT_API gt_ref gt_def_shared(enum gt_shared what, const struct gt_shared_info *info, gt_ref again);
/* The Cartesian topology of a communicator: the sizes of its `count` dimensions, then for each 1 (periodic)
 * or 0. */
GT_API void gt_def_topology(gt_ref comm, uint32_t count, const uint32_t *numbers);

/* ---- calls ---------------------------------------------------------------------------------- */

/* Enter a region and record a message that it sends; record a received message and leave the region. peer:
 * the other process's rank in `comm`. The message is recorded even if the filter omits the region, because
 * it has another end. gt_enter_send() does nothing and returns false where gt_active() is false.
 * [signal-safe] */
GT_API bool gt_enter_send(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes);
GT_API void gt_leave_recv(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes);

/*
 * For polling calls whose result is known only at their end. gt_enter_early() enters the region and returns
 * the time in *begin and a mark. If the call had no result, gt_enter_withdraw(mark) takes the enter back,
 * provided that nothing else was recorded on this thread since, and gt_repeat() records the call; otherwise
 * the call ends with gt_leave(). False: not entered (this thread is not recorded, or a filter may have to
 * count the call), or not taken back. [signal-safe]
 */
GT_API bool gt_enter_early(gt_ref region, uint64_t *begin, uint64_t *mark);
GT_API bool gt_enter_withdraw(uint64_t mark);

/* ---- several hosts ----------------------------------------------------------------------------- */

/*
 * Programs on several hosts. Each process calls gt_job_begun() when it reaches the start of `job`, before it
 * can wait for other processes there. Afterwards gt_job_hosts() gives one process of each host, its speaker,
 * the ranks of all speakers (ascending) and returns their number; it returns 0 in all other processes, and
 * at once if there is one host. All speakers get the same list, which means that all of them are there, or
 * all get 0.
 */
GT_API void gt_job_begun(uint64_t job);
GT_API uint32_t gt_job_hosts(uint64_t job, uint32_t rank, uint32_t size, uint32_t *ranks,
			     uint32_t room);
/* This host's name and kind of clock (enum gt_clock_kind). */
GT_API const char *gt_host(uint32_t *clock);
/* A comparison of clocks: this host's was at `tick`, +- width/2, when that of host `reference` was at
 * other_tick. */
GT_API void gt_clocks_compared(const char *reference, uint32_t kind, uint64_t tick,
			       uint64_t other_tick, uint64_t width);
/*
 * After the last comparison: passes the comparisons along the hosts. On entry `chain` has the `bytes` bytes
 * that gt_clocks_chain() produced on the host with which this one's clock was compared (0: with none).
 * Appends this host's own comparisons and returns the new size, at most `room`; 0: this host has no chain.
 */
#define GT_CHAIN_MOST 65536u
GT_API uint32_t gt_clocks_chain(void *chain, uint32_t bytes, uint32_t room);
/* Sets the function that VT_TIMESYNC() calls; NULL: none. */
GT_API void gt_on_timesync(void (*call)(void));

#ifdef __cplusplus
}
#endif
#endif

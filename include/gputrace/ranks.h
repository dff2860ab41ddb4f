/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For adapters of parallel programs (MPI): which rank this process is, who the members of a communicator are,
 * messages at little cost, and the clocks of several hosts.
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
 * This process is `rank` of the `size` processes of the parallel program `job` (the same number in
 * all of them). The filter's rules for ranks hold from now on.
 */
GT_API void gt_set_rank(uint32_t rank, uint32_t size, uint64_t job);

/* Processes by their rank in this process's job, in the order of a communicator. */
GT_API gt_ref gt_def_ranks(const uint32_t *ranks, uint32_t count);
/* Processes of other jobs among them: for each a link (GT_NONE: of this job) and its rank there. */
GT_API gt_ref gt_def_far_ranks(const uint32_t *pairs, uint32_t count);
/* One end of a connection to processes of another job. place: NULL if it is not known. */
GT_API gt_ref gt_def_link(const struct gt_def_link *def, const char *place);

/* ---- communicators, windows, files ------------------------------------------------------------- */

/* What several processes have in common, and know by the same key. */
enum gt_shared {
	GT_SHARED_COMM,          /* a communicator */
	GT_SHARED_WINDOW,        /* a window for one-sided records (GT_T_RMA_*) */
	GT_SHARED_FILE,          /* an open file for I/O records: a handle */
};

struct gt_shared_info {
	size_t bytes;            /* sizeof(struct gt_shared_info) */
	const char *name;
	gt_ref parent;           /* of a communicator: that it was made from; else: whose members have it */
	gt_ref ranks;            /* of a communicator, from gt_def_ranks: the members */
	gt_ref remote;           /* of an inter-communicator: the other side's members */
	uint32_t paradigm;       /* enum gt_region_paradigm; of a file 1 POSIX, 2 ISO C, 3 MPI-IO */
	uint64_t key;            /* the same in all processes that mean the same thing */
	uint32_t flags;          /* of a communicator GT_COMM_*, of a file GT_HANDLE_* */
};
/* again: a communicator or window of before, of which the name or more has changed; else GT_NONE. */
GT_API gt_ref gt_def_shared(enum gt_shared what, const struct gt_shared_info *info, gt_ref again);
/* The Cartesian topology of a communicator, with `count` sizes, then as many 0 or 1: periodic? */
GT_API void gt_def_topology(gt_ref comm, uint32_t count, const uint32_t *numbers);

/* ---- calls ---------------------------------------------------------------------------------- */

/* Enter a region and record that it sends a message; record that a message was received and leave: the
 * communicator, the rank of the other one in it, tag and bytes. If the filter leaves the region out the
 * message is recorded all the same, for it has another end. gt_enter_send() is false, and does nothing, where
 * gt_active() is. [signal-safe] */
GT_API bool gt_enter_send(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes);
GT_API void gt_leave_recv(gt_ref region, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes);

/*
 * The other half of gt_repeat(): enters a region that gt_enter_withdraw() takes back, if nothing was recorded
 * on this thread since, so that gt_repeat() can have the call. False: it is not entered (this thread is not
 * recorded, or a filter may have to count the call), which may also be decided afterwards. [signal-safe]
 */
GT_API bool gt_enter_early(gt_ref region, uint64_t *begin, uint64_t *mark);
GT_API bool gt_enter_withdraw(uint64_t mark);

/* ---- several hosts ----------------------------------------------------------------------------- */

/*
 * Programs on several hosts. Each process says that it comes to the start of `job`, before it can
 * wait for others there; afterwards gt_job_hosts() tells one process of each host, its speaker, the
 * ranks of all speakers (ascending; returns their number), and all others 0. On one host it is 0 at
 * once. All speakers are told the same, or 0: if they are, all of them are there.
 */
GT_API void gt_job_begun(uint64_t job);
GT_API uint32_t gt_job_hosts(uint64_t job, uint32_t rank, uint32_t size, uint32_t *ranks,
			     uint32_t room);
/* This host's name and kind of clock (enum gt_clock_kind). */
GT_API const char *gt_host(uint32_t *clock);
/* When this host's clock was at `tick`, +- width/2, that of `reference` was at other_tick. */
GT_API void gt_clocks_compared(const char *reference, uint32_t kind, uint64_t tick,
			       uint64_t other_tick, uint64_t width);
/*
 * When all have been compared for the last time: `chain` has `bytes` bytes that gt_clocks_chain() gave the
 * host which this one's clock was compared with (0: it was compared with none). Adds this host's and returns
 * how many bytes there are now, at most `room`; 0: this host goes without.
 */
#define GT_CHAIN_MOST 65536u
GT_API uint32_t gt_clocks_chain(void *chain, uint32_t bytes, uint32_t room);
/* What VT_TIMESYNC() is to call; NULL: nothing. */
GT_API void gt_on_timesync(void (*call)(void));

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For adapters of thread libraries: who made whom, how a thread ends, who waits for it.
 *
 * Limits: as adapter.h.
 */
#ifndef GPUTRACE_THREAD_H
#define GPUTRACE_THREAD_H

#include "gputrace/adapter.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The creator asks for a number, records the creation before the thread is made (a process may end, or exec,
 * before its creator goes on), and passes the number to the new thread. If the creation fails,
 * gt_thread_not_created() takes the last record back. The new thread calls gt_thread_begin() first,
 * gt_thread_end() last; whoever joins calls gt_thread_join(). Threads nobody announced are found at their
 * first event.
 */
GT_API uint64_t gt_thread_number(void);
GT_API void gt_thread_created(uint64_t sequence, uint64_t tick);
GT_API void gt_thread_not_created(uint64_t sequence);
GT_API void gt_thread_begin(uint64_t sequence);
GT_API void gt_thread_end(unsigned how); /* enum gt_thread_end */
GT_API void gt_thread_join(uint64_t sequence);

/*
 * gt_leave() of a wait that the thread of number `by` ended (below 2^GT_WOKEN_BY_BITS; 0: the first of the
 * process) when gt_now() was `tick` for it; of `tick` GT_WOKEN_TIME() counts. [signal-safe]
 */
GT_API void gt_leave_woken(gt_ref region, uint64_t by, uint64_t tick);

/*
 * A sample of the calling thread (GT_T_SAMPLE): `n` frames as the record has them, of which the outermost
 * `kept` are those of its sample before and are left out where a reader is sure to have that one. `low`: the
 * record's payload without them. *half: 0 before the thread's first, and the function's own. frames[n] is
 * written to. `tick` 0: now. Else it is the call path of the call whose leave is recorded next, with that
 * time, and has no weight. False: nothing is recorded now, or an attribute waits for its event; the next
 * sample may stand for this one's time, too. [signal-safe]
 */
GT_API bool gt_sample(uint64_t *half, uint64_t low, uint64_t *frames, unsigned n, unsigned kept,
		      uint64_t tick);
/*
 * For how long one signal of a timer stops a thread of this host, its handler not counted, ns, as `gputrace
 * run` has measured it soon after the start; 0: it has not, or nothing was recorded yet. [signal-safe]
 */
GT_API uint32_t gt_interruption(void);

#ifdef __cplusplus
}
#endif
#endif

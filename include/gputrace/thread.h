/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For adapters of thread libraries: creation, end and join of threads.
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
 * The creating thread requests a number, records the creation before it makes the thread (a process may end
 * or exec before the creating thread continues), and passes the number to the new thread. If the creation
 * fails, gt_thread_not_created() takes the last record back. The new thread calls gt_thread_begin() first
 * and gt_thread_end() last; a thread that joins it calls gt_thread_join(). Threads that nobody announced are
 * found at their first event.
 */
GT_API uint64_t gt_thread_number(void);
GT_API void gt_thread_created(uint64_t sequence, uint64_t tick);
GT_API void gt_thread_not_created(uint64_t sequence);
GT_API void gt_thread_begin(uint64_t sequence);
GT_API void gt_thread_end(unsigned how); /* enum gt_thread_end */
GT_API void gt_thread_join(uint64_t sequence);

/*
 * gt_leave() for a wait that thread number `by` ended at its time `tick` (gt_now(), of which GT_WOKEN_TIME()
 * is recorded). `by` is below 2^GT_WOKEN_BY_BITS; 0 is the process's first thread. [signal-safe]
 */
GT_API void gt_leave_woken(gt_ref region, uint64_t by, uint64_t tick);

/*
 * Records a sample of the calling thread (GT_T_SAMPLE): `n` frames in the form of the record, of which the
 * outermost `kept` equal those of the thread's previous sample and are omitted where every reader has that
 * sample. `low`: the record's payload without `kept`. *half: 0 before the thread's first sample, then kept
 * by this function. frames[n] is overwritten. `tick` 0: now; otherwise the sample is the call path of the
 * call whose leave is recorded next with that time, and has no weight. Returns false if nothing is recorded
 * now, or an attribute waits for its event; then the next sample may also account for this one's time.
 * [signal-safe]
 */
GT_API bool gt_sample(uint64_t *half, uint64_t low, uint64_t *frames, unsigned n, unsigned kept,
		      uint64_t tick);
/*
 * Records what the scheduler did with the calling thread up to now, if that was last read more than `apart`
 * ns ago, with the time `tick`; 0: now. Not between an attribute and its event. [signal-safe]
 */
GT_API void gt_note_states(uint64_t apart, uint64_t tick);
/*
 * How long one timer signal stops a thread on this host, without its handler (ns), as `gputrace run` measures
 * it soon after the start; 0: not measured, or nothing was recorded yet. [signal-safe]
 */
GT_API uint32_t gt_interruption(void);

#ifdef __cplusplus
}
#endif
#endif

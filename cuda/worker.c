/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's two threads. One reads completed buffers and writes events. The other one flushes CUPTI's
 * buffers every half second, which bounds the loss if the process is killed; it is a separate thread because
 * a flush may hang, and reading must go on then. Only the reading thread writes to streams, and for other
 * threads; the code that ends the process asks it to.
 *
 * Limits: both block all signals and are invisible to the other adapters. They end with the process, or
 * before it confines itself (accel/threads.c).
 */
#include <sys/prctl.h>

#include "cuda/cuda.h"
#include "accel/wait.h"
#include "gputrace/syscall.h"

/* Futex words. */
static uint32_t wake_flusher, answered;
/* Requests to the flusher, counted; `done` follows `asked`. */
static uint32_t asked, asked_forced, done;
static uint32_t gave_up; /* on a request; it may yet be done */
static uint32_t finish_asked, finish_done;
/* Rounds of the reader, which take what has been completed then: more may come for ever. What the next one is
 * asked for, as GT_CU_*. */
static uint32_t rounds, reader_asked;
#define SETTLE 0x100u

bool gt_cu_workers_hung(void)
{
	return __atomic_load_n(&gave_up, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&asked, __ATOMIC_SEQ_CST) != __atomic_load_n(&done, __ATOMIC_SEQ_CST);
}

static void settle(uint32_t want)
{
	gt_cu_records_settle(want);
	if (want & (GT_CU_ACCOUNT | GT_CU_LAST))
		gt_cu_account(want & GT_CU_LAST, !gt_cu_workers_hung());
}

static void *read_buffers(void *unused)
{
	uint32_t seen;

	(void)unused;
	gt_guard(); /* for good: nothing of this thread is recorded */
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-cuda");
	gt_accel_calls_touch(gt_cu_hot.calls);
	while (gt_accel_thread_stays(&gt_cu_buffers_event, &seen)) {
		/* Before it reads: what came before it was asked is read first. */
		uint32_t want = __atomic_exchange_n(&reader_asked, 0, __ATOMIC_SEQ_CST);
		uint8_t *buffer;
		size_t valid;

		gt_cu_buffers_take();
		while ((buffer = gt_cu_buffer_next(&valid))) {
			gt_cu_capture_buffer(buffer, valid);
			if (gt_cu_state_now() != GT_CU_ENDED)
				gt_cu_records_read(buffer, valid);
			gt_cu_buffer_free(buffer);
		}
		if (gt_cu_state_now() != GT_CU_ENDED)
			settle(want);
		__atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
		gt_accel_wake(&answered);
		gt_accel_wait(&gt_cu_buffers_event, seen, 1000);
	}
	gt_accel_thread_ends();
	return NULL;
}

static void *flush_buffers(void *unused)
{
	uint64_t flushed_at = 0;
	uint32_t seen;

	(void)unused;
	gt_guard();
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-flush");
	while (gt_accel_thread_stays(&wake_flusher, &seen)) {
		uint32_t want = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);
		uint32_t forced = __atomic_exchange_n(&asked_forced, 0, __ATOMIC_SEQ_CST);
		uint64_t calls = gt_cu_calls_seen();

		if (gt_cu_state_now() == GT_CU_READY && (want != done || calls != flushed_at)) {
			gt_cu_clock_note();
			gt_cu_api.flush(0);
			if (forced)
				gt_cu_api.flush(CU_FLUSH_FORCED);
			flushed_at = calls;
		}
		if (want != done) {
			__atomic_store_n(&done, want, __ATOMIC_SEQ_CST);
			gt_accel_wake(&answered);
		}
		gt_cu_buffers_wake();
		gt_accel_wait(&wake_flusher, seen, gt_cu_options.flush_ms);
	}
	gt_accel_thread_ends();
	return NULL;
}

/* A thread of its own, which may have to be left behind. */
static void *finish_contexts(void *unused)
{
	(void)unused;
	gt_guard();
	gt_raw(SYS_prctl, PR_SET_NAME, "gputrace-finish");
	gt_cu_contexts_finish();
	__atomic_add_fetch(&finish_done, 1, __ATOMIC_SEQ_CST);
	gt_accel_wake(&answered);
	return NULL;
}

static uint64_t now_ms(void)
{
	return gt_monotonic() / 1000000;
}

/* Waits until *word has reached `value` (modulo 2^32), at most until `end`. */
static bool wait_for(const uint32_t *word, uint32_t value, uint64_t end)
{
	for (;;) {
		uint32_t seen = __atomic_load_n(&answered, __ATOMIC_SEQ_CST);
		uint64_t now = now_ms();

		if ((int32_t)(__atomic_load_n(word, __ATOMIC_SEQ_CST) - value) >= 0)
			return true;
		if (now >= end)
			return false;
		gt_accel_wait(&answered, seen, end - now < 100 ? (unsigned)(end - now) : 100);
	}
}

bool gt_cu_workers_start(void)
{
	if (gt_accel_thread_start(read_buffers, &gt_cu_buffers_event) &&
	    gt_accel_thread_start(flush_buffers, &wake_flusher))
		return true;
	gt_accel_threads_end();
	return false;
}

static bool flush(bool forced, uint64_t end)
{
	uint32_t request;

	if (forced)
		__atomic_store_n(&asked_forced, 1, __ATOMIC_SEQ_CST);
	request = __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
	gt_accel_wake(&wake_flusher);
	if (wait_for(&done, request, end))
		return true;
	__atomic_store_n(&gave_up, 1, __ATOMIC_SEQ_CST);
	return false;
}

bool gt_cu_workers_collect(unsigned what, unsigned limit_ms)
{
	uint64_t end = now_ms() + limit_ms;
	bool flushed = !gt_cu_workers_hung() && flush(what & GT_CU_FORCED, end);
	uint32_t round;

	__atomic_fetch_or(&reader_asked, what | SETTLE, __ATOMIC_SEQ_CST);
	/* A round that began before now may have looked too early: two more are needed. */
	for (int i = 0; i < 2; i++) {
		round = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST) + 1;
		gt_cu_buffers_wake();
		if (!wait_for(&rounds, round, flushed ? end : now_ms() + 2000))
			return false;
	}
	return flushed;
}

bool gt_cu_workers_finish(unsigned limit_ms)
{
	uint32_t request = __atomic_add_fetch(&finish_asked, 1, __ATOMIC_SEQ_CST);

	return !gt_accel_start_hidden(finish_contexts) ||
	       wait_for(&finish_done, request, now_ms() + limit_ms);
}

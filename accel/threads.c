/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's own threads in the program. Those that run all the time are stopped before the program
 * confines itself, since a filter may apply to all threads, and are started again if the confinement fails.
 *
 * Limits: at most MOST threads of that kind. All others end with the process, as does one that hangs in a
 * runtime when it is told to stop.
 */
#include <pthread.h>
#include <signal.h>

#include "accel/accel.h"
#include "accel/wait.h"
#include "gputrace/syscall.h"

#define MOST   4u
#define END_MS 2000u

static struct worker {
	void *(*run)(void *);
	uint32_t *word; /* that it waits for */
	pthread_t thread;
} workers[MOST];
static unsigned count;
static uint32_t leaving, present; /* are they to end, and how many have not; atomic */
static uint64_t signals;          /* what the program blocked at first */
static uint32_t ended;            /* a word to wait for */
static long gone[MOST];           /* the kernel's numbers of those that have ended */
static uint32_t gone_count;       /* atomic */

/* thread: NULL: nobody joins it. */
static bool start(void *(*run)(void *), pthread_t *thread)
{
	pthread_attr_t attributes;
	pthread_t detached;
	int rc;

	if (pthread_attr_init(&attributes))
		return false;
	if (!thread)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 1024 * 1024); /* runtimes decode on it */
	rc = pthread_create(thread ? thread : &detached, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	return !rc;
}

static bool start_hidden(void *(*run)(void *), pthread_t *thread)
{
	uint64_t before;
	bool ok;

	before = gt_raw_sigmask(GT_RAW_SIGNALS);
	if (!signals)
		signals = before;
	gt_guard();
	ok = start(run, thread);
	gt_unguard();
	gt_raw_sigmask(before);
	return ok;
}

bool gt_accel_start_hidden(void *(*run)(void *))
{
	return start_hidden(run, NULL);
}

/* ---- those that work all the time ------------------------------------------------------------------- */

static bool begin(struct worker *w)
{
	__atomic_add_fetch(&present, 1, __ATOMIC_SEQ_CST);
	if (start_hidden(w->run, &w->thread)) {
		gt_own_thread(1);
		return true;
	}
	__atomic_sub_fetch(&present, 1, __ATOMIC_SEQ_CST);
	return false;
}

bool gt_accel_thread_start(void *(*run)(void *), uint32_t *word)
{
	if (count == MOST)
		return false;
	workers[count] = (struct worker){ .run = run, .word = word };
	if (!begin(&workers[count]))
		return false;
	count++;
	return true;
}

bool gt_accel_thread_stays(uint32_t *word, uint32_t *seen)
{
	*seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
	return !__atomic_load_n(&leaving, __ATOMIC_SEQ_CST) && !gt_is_confined() && !gt_own_threads_only();
}

void gt_accel_thread_ends(void)
{
	uint32_t n = __atomic_fetch_add(&gone_count, 1, __ATOMIC_SEQ_CST);

	if (n < MOST)
		gone[n] = gt_is_confined() ? 0 : gt_raw(SYS_gettid);
	if (gt_own_threads_only()) { /* its end may be the process's */
		gt_unguard();
		gt_raw_sigmask(signals);
	}
	gt_own_thread(-1);
	__atomic_sub_fetch(&present, 1, __ATOMIC_SEQ_CST);
	gt_accel_wake(&ended);
}

static void wait_for_all(void)
{
	uint64_t end = gt_monotonic() / 1000000 + END_MS;

	while (gt_monotonic() / 1000000 < end) {
		uint32_t seen = __atomic_load_n(&ended, __ATOMIC_SEQ_CST);

		if (!__atomic_load_n(&present, __ATOMIC_SEQ_CST))
			return;
		gt_accel_wait(&ended, seen, 100);
	}
}

static void join(pthread_t thread)
{
	int cancellation;

	gt_guard();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	pthread_join(thread, NULL);
	pthread_setcancelstate(cancellation, NULL);
	gt_unguard();
}

bool gt_accel_threads_end(void)
{
	bool all;

	__atomic_store_n(&leaving, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < count; i++)
		gt_accel_wake(workers[i].word);
	wait_for_all();
	all = !__atomic_load_n(&present, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < count && all; i++)
		join(workers[i].thread);
	for (uint32_t i = 0; i < gone_count && i < MOST; i++)
		gt_raw_forgotten(gone[i]);
	gone_count = 0;
	return all;
}

bool gt_accel_threads_again(void)
{
	__atomic_store_n(&leaving, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < count; i++)
		if (!begin(&workers[i])) {
			count = i;
			gt_accel_threads_end();
			return false;
		}
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the calls of the thread library mean, tested without intercepting anything.
 *
 * Limits: numbers of two locks of a test, taken from one array, are compared only with themselves.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/format.h"
#include "pthread/events.h"
#include "test/pthread/double.h"

static int lock, locks[2000];

#define LOG(expected) cr_assert(eq(str, (char *)double_log(), expected))

static void start(const char *mode)
{
	double_locks = mode;
	gt_pt_threads_init();
	gt_pt_define();
	double_log();
}

/* One acquisition as the wrappers do it; `tried` as in gt_pt_lock_begin(). */
static void take(enum gt_pt_region region, const void *what, int tried, int rc)
{
	if (tried == 0) {
		if (gt_pt_self.held)
			gt_pt_again(what);
	} else if (gt_pt_lock_begin(region, tried, NULL)) {
		cr_assert(eq(int, gt_pt_lock_end(region, what, rc), rc));
	}
}

static void give(enum gt_pt_region region, const void *what)
{
	if (gt_pt_unlock_begin(region, what))
		gt_pt_leave(region);
}

Test(contended, the_holder_is_told)
{
	int owner = 0, nobody = 4096 * 4096 - 1;

	start("contended");
	owner = (int)syscall(SYS_gettid);
	cr_assert(eq(u32, gt_pt_number_of((uint32_t)owner), 1));
	cr_assert(gt_pt_lock_begin(GT_PT_R_pthread_mutex_lock, EBUSY, &owner));
	LOG("+pthread_mutex_lock, held by 0");
	cr_assert(gt_pt_lock_begin(GT_PT_R_pthread_mutex_lock, EBUSY, &nobody));
	LOG("+pthread_mutex_lock");
	owner = 0;
	cr_assert(gt_pt_lock_begin(GT_PT_R_pthread_rwlock_wrlock, EBUSY, &owner));
	LOG("+pthread_rwlock_wrlock");
	cr_assert(not(gt_pt_lock_begin(GT_PT_R_pthread_mutex_lock, 0, &owner)));
	LOG("");
}

Test(contended, only_waits_are_recorded)
{
	start("contended");
	cr_assert(eq(int, gt_pt_mode, GT_PT_CONTENDED));
	take(GT_PT_R_pthread_mutex_lock, &lock, 0, 0);
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	LOG("+pthread_mutex_lock; acquire 1; -pthread_mutex_lock");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("release 1");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
}

Test(contended, other_errors_are_left_to_the_real_function)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EAGAIN, EAGAIN);
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	LOG("");
}

Test(contended, failed_waits_acquire_nothing)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_timedlock, &lock, EBUSY, ETIMEDOUT);
	LOG("+pthread_mutex_timedlock; -pthread_mutex_timedlock");
	cr_assert(eq(u32, gt_pt_self.held, 0));
}

Test(contended, a_dead_owners_lock_is_acquired)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, EOWNERDEAD);
	LOG("+pthread_mutex_lock; acquire 1; -pthread_mutex_lock");
}

Test(contended, order_grows_with_each_recorded_acquisition)
{
	char expected[64];

	start("contended");
	for (int i = 1; i <= 5; i++) {
		take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
		give(GT_PT_R_pthread_mutex_unlock, &lock);
		snprintf(expected, sizeof(expected),
			 "+pthread_mutex_lock; acquire %d; -pthread_mutex_lock; release %d", i, i);
		LOG(expected);
	}
}

Test(contended, recursive_locks_are_released_by_the_last_unlock)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	take(GT_PT_R_pthread_mutex_lock, &lock, 0, 0);
	take(GT_PT_R_pthread_mutex_lock, &lock, 0, 0);
	LOG("+pthread_mutex_lock; acquire 1; -pthread_mutex_lock");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("release 1");
}

Test(contended, a_lock_that_another_thread_released)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	double_log();
	/* Waiting for it again proves that it was not ours any more. */
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	LOG("+pthread_mutex_lock; release 1; acquire 2; -pthread_mutex_lock");
	cr_assert(eq(u32, gt_pt_self.held, 1));
}

Test(contended, shared_acquisitions_have_no_lock_records)
{
	start("contended");
	take(GT_PT_R_pthread_rwlock_rdlock, NULL, EBUSY, 0);
	LOG("+pthread_rwlock_rdlock; -pthread_rwlock_rdlock");
	give(GT_PT_R_pthread_rwlock_unlock, &lock);
	LOG("");
}

Test(contended, inactive_threads_record_nothing)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	double_log();
	double_active = false;
	take(GT_PT_R_pthread_mutex_lock, &locks[1], EBUSY, 0);
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	double_active = true;
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
	cr_assert(eq(u32, gt_pt_self.held, 0));
}

Test(contended, a_filtered_region_leaves_the_lock_out)
{
	double_filtered = "pthread_mutex_lock";
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
	take(GT_PT_R_mtx_lock, &lock, EBUSY, 0);
	LOG("+mtx_lock; acquire 1; -mtx_lock");
}

Test(contended, many_locks_at_once_in_any_order)
{
	size_t n = sizeof(locks) / sizeof(*locks);
	unsigned acquired = 0, released = 0;
	const char *log;

	start("contended");
	for (size_t i = 0; i < n; i++) {
		take(GT_PT_R_pthread_mutex_lock, &locks[i], EBUSY, 0);
		acquired += strstr(double_log(), "acquire") != NULL;
	}
	cr_assert(eq(u32, acquired, n));
	cr_assert(eq(u32, gt_pt_self.held, n));
	for (size_t i = 0; i < n; i++) {
		/* 7 and n have no common divisor. */
		give(GT_PT_R_pthread_mutex_unlock, &locks[i * 7 % n]);
		log = double_log();
		released += strncmp(log, "release ", 8) == 0 && !strchr(log, ';');
	}
	cr_assert(eq(u32, released, n));
	cr_assert(eq(u32, gt_pt_self.held, 0));
	gt_pt_thread_end();
	cr_assert(eq(u32, gt_pt_self.capacity, 0));
}

Test(all, everything_is_recorded)
{
	start("all");
	cr_assert(eq(int, gt_pt_mode, GT_PT_ALL));
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	LOG("+pthread_mutex_lock; acquire 1; -pthread_mutex_lock");
	take(GT_PT_R_pthread_mutex_trylock, &locks[1], GT_PT_UNTRIED, EBUSY);
	LOG("+pthread_mutex_trylock; -pthread_mutex_trylock");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("+pthread_mutex_unlock; release 1; -pthread_mutex_unlock");
	/* One that was acquired before recording began. */
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("+pthread_mutex_unlock; -pthread_mutex_unlock");
}

Test(all, recursion_is_one_acquisition)
{
	start("all");
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	LOG("+pthread_mutex_lock; acquire 1; -pthread_mutex_lock; "
	    "+pthread_mutex_lock; -pthread_mutex_lock");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("+pthread_mutex_unlock; -pthread_mutex_unlock");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("+pthread_mutex_unlock; release 1; -pthread_mutex_unlock");
}

Test(no, only_threads_are_recorded)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create };

	start("no");
	cr_assert(eq(int, gt_pt_mode, GT_PT_NO));
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
	cr_assert(gt_pt_create_begin(&creation) != NULL);
	gt_pt_create_end(&creation, false);
	LOG("+pthread_create; created@1; -pthread_create");
}

/* ---- waiting ------------------------------------------------------------------------------------- */

static void wait_for(const void *mutex, int rc)
{
	struct gt_pt_wait wait = { .region = GT_PT_R_pthread_cond_wait, .lock = mutex };

	gt_pt_wait_begin(&wait);
	wait.rc = rc;
	gt_pt_wait_end(&wait);
}

Test(waiting, releases_a_recorded_mutex_and_takes_it_again)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	double_log();
	wait_for(&lock, 0);
	LOG("+pthread_cond_wait; release 1; acquire 2; -pthread_cond_wait");
	wait_for(&lock, ETIMEDOUT);
	LOG("+pthread_cond_wait; release 2; acquire 3; -pthread_cond_wait");
	wait_for(&lock, GT_PT_CANCELLED);
	LOG("+pthread_cond_wait; release 3; acquire 4; -pthread_cond_wait");
	wait_for(&lock, ENOTRECOVERABLE);
	LOG("+pthread_cond_wait; release 4; -pthread_cond_wait");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
}

Test(waiting, leaves_an_unrecorded_mutex_alone)
{
	start("contended");
	wait_for(&lock, 0);
	LOG("+pthread_cond_wait; -pthread_cond_wait");
	take(GT_PT_R_pthread_mutex_lock, &locks[0], EBUSY, 0);
	double_log();
	wait_for(&locks[1], 0);
	LOG("+pthread_cond_wait; -pthread_cond_wait");
}

Test(waiting, a_recursively_held_mutex_stays_held)
{
	start("all");
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	double_log();
	wait_for(&lock, 0);
	LOG("+pthread_cond_wait; -pthread_cond_wait");
}

Test(waiting, recording_may_end_meanwhile)
{
	struct gt_pt_wait wait = { .region = GT_PT_R_pthread_cond_wait, .lock = &lock };

	start("all");
	take(GT_PT_R_pthread_mutex_lock, &lock, GT_PT_UNTRIED, 0);
	double_log();
	gt_pt_wait_begin(&wait);
	double_active = false;
	wait.rc = 0;
	gt_pt_wait_end(&wait);
	double_active = true;
	LOG("+pthread_cond_wait; release 1; -pthread_cond_wait");
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("+pthread_mutex_unlock; -pthread_mutex_unlock");
}

/* ---- who ended a wait ----------------------------------------------------------------------------- */

/* A wait for `what` from `begin` to `end`; at `signalled`, if not 0, the thread `by` signals `other`. */
static void woken(const void *what, const void *other, unsigned long begin, unsigned long signalled,
		  uint64_t by, unsigned long end, int rc)
{
	struct gt_pt_wait wait = { .region = GT_PT_R_pthread_cond_wait, .object = what };

	double_time = begin;
	gt_pt_wait_begin(&wait);
	if (signalled) {
		double_time = signalled;
		gt_pt_self.sequence = by;
		gt_pt_waking(other);
		gt_pt_self.sequence = 0;
	}
	double_time = end;
	wait.rc = rc;
	gt_pt_wait_end(&wait);
}

#define WOKEN(by) LOG("+pthread_cond_wait; -pthread_cond_wait" by)

Test(woken, by_a_thread)
{
	start("contended");
	woken(&lock, &lock, 1600, 3200, 7, 4800, 0);
	WOKEN(", woken by 7 at 3200");
	woken(&lock, &lock, 16000, 32000, 0, 32160, 0);
	WOKEN(", woken by 0 at 32000");
	gt_pt_self.first = false; /* one that was never announced */
	woken(&lock, &lock, 48000, 64000, 0, 64160, 0);
	WOKEN("");
}

Test(woken, nothing_is_told_that_is_not_known)
{
	start("contended");
	woken(&lock, NULL, 1600, 0, 0, 4800, 0);
	WOKEN("");
	woken(&lock, &lock, 1600, 3200, 7, 4800, ETIMEDOUT);
	WOKEN("");
	woken(&lock, &lock, 1600, 3200, 7, 4800, GT_PT_CANCELLED);
	WOKEN("");
	/* before this wait */
	woken(&lock, NULL, 6400, 0, 0, 8000, 0);
	WOKEN("");
	/* more threads than a word can tell */
	woken(&lock, &lock, 16000, 32000, UINT64_C(1) << 20, 48000, 0);
	WOKEN("");
}

Test(woken, only_by_what_is_waited_for)
{
	uint64_t hash = gt_hash_word((uintptr_t)&lock), other = hash;
	uintptr_t at = (uintptr_t)&lock;

	/* two that have the same place, and are told apart by their tags */
	while (other >> 54 != hash >> 54 || other >> 46 == hash >> 46)
		other = gt_hash_word(at += sizeof(lock));
	start("contended");
	cr_assert(gt_pt_wake_of((const void *)at) == gt_pt_wake_of(&lock));
	woken(&lock, (const void *)at, 1600, 3200, 7, 4800, 0);
	WOKEN("");
}

Test(woken, signals_that_nobody_waits_for_are_not_noted)
{
	start("contended");
	double_time = 1600;
	gt_pt_waking(&lock);
	cr_assert(eq(u64, gt_pt_wake_of(&lock)->last, 0));
	cr_assert(eq(u32, gt_pt_wake_of(&lock)->waiters, 0));
	woken(&lock, &lock, 3200, 4800, 7, 6400, 0);
	cr_assert(eq(u32, gt_pt_wake_of(&lock)->waiters, 0));
	gt_pt_locks_child();
	cr_assert(eq(u64, gt_pt_wake_of(&lock)->last, 0));
}

Test(woken, the_time_may_wrap_around)
{
	const uint64_t turn = (uint64_t)GT_WOKEN_UNIT << GT_WOKEN_TIME_BITS;

	start("contended");
	woken(&lock, &lock, 3 * turn - 3200, 3 * turn + 1600, 7, 3 * turn + 3200, 0);
	WOKEN(", woken by 7 at 1600");
}

Test(woken, a_thread_that_is_not_recorded_has_no_number)
{
	struct gt_pt_wait wait = { .region = GT_PT_R_pthread_cond_wait, .object = &lock };

	start("contended");
	gt_pt_wait_begin(&wait);
	double_active = false;
	gt_pt_waking(&lock);
	double_active = true;
	wait.rc = 0;
	gt_pt_wait_end(&wait);
	WOKEN("");
}

Test(fork, the_parents_locks_are_not_the_childs)
{
	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	double_log();
	gt_pt_locks_child();
	gt_pt_threads_child();
	give(GT_PT_R_pthread_mutex_unlock, &lock);
	LOG("");
}

/* ---- threads ------------------------------------------------------------------------------------- */

struct parcel {
	struct gt_pt_start *block;
	uint64_t sequence;
	unsigned how;
	uint64_t seen; /* number under which the thread is known while it runs */
	bool ended;
	bool rename;
};

static void *life(void *p)
{
	struct parcel *parcel = p;
	struct gt_pt_start start;

	if (parcel->rename)
		pthread_setname_np(pthread_self(), "early");
	gt_pt_thread_begin(parcel->block, &start);
	parcel->sequence = start.sequence;
	parcel->seen = gt_pt_join_begin(pthread_self()).sequence;
	parcel->ended = gt_pt_join_begin(pthread_self()).ended;
	gt_pt_thread_ending(parcel->how);
	return start.argument;
}

/* A whole thread from creation to join. */
static void live(struct parcel *parcel, bool detached)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create };
	pthread_t thread;
	void *result;
	struct gt_pt_target target = { 0 };
	struct gt_pt_wait wait = { .region = GT_PT_R_pthread_join, .target = &target };

	parcel->block = gt_pt_create_begin(&creation);
	cr_assert(parcel->block != NULL);
	parcel->block->start.posix = NULL;
	parcel->block->argument = parcel;
	parcel->block->detached = detached;
	gt_pt_wait_begin(&wait);
	cr_assert(eq(int, pthread_create(&thread, NULL, life, parcel), 0));
	wait.rc = pthread_join(thread, &result);
	cr_assert(eq(ptr, result, parcel));
	target.thread = thread; /* as if the join had begun before the thread */
	target.newest = creation.sequence;
	gt_pt_join_end(&wait);
	gt_pt_create_end(&creation, false);
	cr_assert(eq(u64, gt_pt_join_begin(thread).sequence, 0), "is still in the table");
}

Test(threads, from_creation_to_join)
{
	struct parcel parcel = { .how = GT_THREAD_END_RETURN };

	start("contended");
	live(&parcel, false);
	cr_assert(ne(u64, parcel.sequence, 0));
	cr_assert(eq(u64, parcel.seen, parcel.sequence));
	LOG("+pthread_create; created@1; +pthread_join; begin; end 0; join; "
	    "-pthread_join; -pthread_create");
}

Test(threads, the_end_tells_how)
{
	struct parcel parcel = { .how = GT_THREAD_END_EXIT };

	start("contended");
	live(&parcel, false);
	cr_assert(strstr(double_log(), "end 1") != NULL);
}

Test(threads, a_detached_thread_is_forgotten_at_its_end)
{
	struct parcel parcel = { .how = GT_THREAD_END_RETURN };

	start("contended");
	live(&parcel, true);
	cr_assert(eq(u64, parcel.seen, parcel.sequence), "it has an entry while it runs");
	cr_assert(strstr(double_log(), "; join;") == NULL);
}

Test(threads, a_name_given_before_the_thread_began)
{
	struct parcel parcel = { .how = GT_THREAD_END_RETURN, .rename = true };

	start("contended");
	live(&parcel, false);
	cr_assert(strstr(double_log(), "begin; name self early; end") != NULL);
}

Test(threads, names_of_oneself_and_of_the_main_thread)
{
	start("contended");
	gt_pt_thread_named(pthread_self(), "me");
	LOG("name self me");
	gt_pt_thread_named((pthread_t)0x1000, "nobody");
	LOG("");
}

static void *name_main(void *main_thread)
{
	gt_pt_thread_named(*(pthread_t *)main_thread, "boss");
	return NULL;
}

Test(threads, a_thread_names_the_main_thread)
{
	pthread_t self = pthread_self(), thread;

	start("contended");
	pthread_create(&thread, NULL, name_main, &self);
	pthread_join(thread, NULL);
	LOG("name other boss");
}

Test(threads, blocks_run_out_and_come_back)
{
	enum { MANY = 5000 };
	static struct gt_pt_creation creation[MANY];
	struct gt_pt_creation one = { .region = GT_PT_R_pthread_create };
	int n = 0, again = 0;

	start("contended");
	while (n < MANY && gt_pt_create_begin(&creation[n]))
		n++;
	cr_assert(eq(int, n, 4096));
	cr_assert(creation[n].recorded, "the region is there though the thread is not announced");
	for (int i = 0; i < n; i++)
		for (int j = i - 1; j >= 0 && j > i - 70; j--)
			cr_assert(ne(ptr, creation[i].block, creation[j].block));
	double_log();
	for (int i = 0; i < n; i++)
		gt_pt_create_end(&creation[i], true);
	cr_assert(strstr(double_log(), "not created") != NULL, "failures are taken back");
	while (again < MANY && gt_pt_create_begin(&one))
		again++;
	cr_assert(eq(int, again, n));
	/* A child has none of the threads that were on their way. */
	gt_pt_threads_child();
	cr_assert(gt_pt_create_begin(&one) != NULL);
}

/* What a tool or a driver makes inside of a guarded call runs, and is silent. */
Test(threads, made_inside_of_a_guard_is_silent)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create };
	struct gt_pt_start start_of, *block;

	start("contended");
	double_active = false;
	double_guarded = true;
	block = gt_pt_create_begin(&creation);
	cr_assert(block && !creation.recorded);
	block->argument = &creation;
	gt_pt_create_end(&creation, false);
	double_active = true;
	double_guarded = false;
	gt_pt_thread_begin(block, &start_of);
	cr_assert(start_of.argument == &creation && !gt_pt_enter(GT_PT_R_pthread_create));
	gt_pt_self.quiet = false; /* for others it is quiet until nobody can join it */
	cr_assert(not(gt_pt_enter_for(GT_PT_R_pthread_cancel, pthread_self())));
	gt_pt_thread_detached(pthread_self());
	LOG("");
	cr_assert(gt_pt_enter_for(GT_PT_R_pthread_cancel, pthread_self()));
	gt_pt_leave(GT_PT_R_pthread_cancel);
	LOG("+pthread_cancel; -pthread_cancel");
	gt_pt_thread_ending(GT_THREAD_END_RETURN);
	gt_pt_thread_end();
	LOG("");
	gt_pt_self.quiet = false;
}

/* What a library waits for inside of its calls, and the threads that it makes there, are its own business. */
Test(threads, inside_of_a_library_nothing_is_recorded)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create };
	struct gt_pt_wait wait = { .region = GT_PT_R_pthread_cond_wait, .lock = &lock };
	struct gt_pt_start start_of, *block;

	start("contended");
	take(GT_PT_R_pthread_mutex_lock, &lock, EBUSY, 0);
	LOG("+pthread_mutex_lock; acquire 1; -pthread_mutex_lock");
	double_inside = true;
	take(GT_PT_R_pthread_mutex_lock, &locks[0], EBUSY, 0);
	LOG("");
	/* This one was taken outside. */
	gt_pt_wait_begin(&wait);
	LOG("release 1");
	gt_pt_wait_end(&wait);
	LOG("acquire 2");
	block = gt_pt_create_begin(&creation);
	cr_assert(block && !creation.recorded && !creation.sequence);
	gt_pt_create_end(&creation, false);
	double_inside = false;
	gt_pt_thread_begin(block, &start_of);
	cr_assert(gt_pt_enter(GT_PT_R_pthread_cond_wait) == false);
	gt_pt_thread_named(pthread_self(), "progress");
	gt_pt_thread_ending(GT_THREAD_END_RETURN);
	gt_pt_thread_end();
	LOG("");
	gt_pt_self.quiet = false;
}

Test(threads, nothing_is_announced_while_inactive)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create, .recorded = true };

	start("contended");
	double_active = false;
	cr_assert(gt_pt_create_begin(&creation) == NULL);
	cr_assert(not(creation.recorded));
	double_active = true;
	LOG("");
}

/* A thread of the table without a life: what gt_pt_thread_begin() and _end() leave. */
static void *leftover(void *block)
{
	struct gt_pt_start start;

	gt_pt_thread_begin(block, &start);
	return (void *)(uintptr_t)start.sequence;
}

static struct gt_pt_start *announced(void)
{
	return gt_pt_create_begin(&(struct gt_pt_creation){ .region = GT_PT_R_pthread_create });
}

static uint64_t leave(pthread_t *thread, struct gt_pt_start *block)
{
	void *sequence;

	cr_assert(eq(int, pthread_create(thread, NULL, leftover, block), 0));
	cr_assert(eq(int, pthread_join(*thread, &sequence), 0));
	return (uint64_t)(uintptr_t)sequence;
}

static uint64_t leave_one(pthread_t *thread)
{
	return leave(thread, announced());
}

Test(threads, a_leftover_is_not_taken_for_a_thread_that_has_not_begun)
{
	struct gt_pt_target target;
	struct gt_pt_start *late;
	pthread_t first, second;
	uint64_t a, b;

	start("contended");
	a = leave_one(&first);
	late = announced();
	target = gt_pt_join_begin(first);
	cr_assert(eq(u64, target.sequence, a));
	cr_assert(target.ended);
	/* The C library gives the next thread the same stack, and so the same pthread_t. */
	b = leave(&second, late);
	cr_assert(pthread_equal(first, second));
	double_log();
	gt_pt_join_end(&(struct gt_pt_wait){ .target = &target });
	LOG("join");
	cr_assert(ne(u64, a, b));
	cr_assert(eq(u64, double_joined, b));
	cr_assert(eq(u64, gt_pt_join_begin(second).sequence, 0));
}

/* Nor is one that was created while somebody was joining. */
Test(threads, a_thread_that_is_younger_than_the_join_is_not_joined)
{
	struct gt_pt_target target;
	pthread_t first, second;
	uint64_t a, b;

	start("contended");
	a = leave_one(&first);
	target = gt_pt_join_begin(first);
	b = leave_one(&second);
	cr_assert(pthread_equal(first, second));
	gt_pt_join_end(&(struct gt_pt_wait){ .target = &target });
	cr_assert(eq(u64, double_joined, a));
	cr_assert(eq(u64, gt_pt_join_begin(second).sequence, b));
}

Test(threads, a_join_that_began_in_time_knows_its_thread)
{
	struct gt_pt_target target;
	pthread_t first, second;
	uint64_t a;

	start("contended");
	a = leave_one(&first);
	target = gt_pt_join_begin(first);
	target.ended = false; /* as if it had still been running */
	leave_one(&second);
	gt_pt_join_end(&(struct gt_pt_wait){ .target = &target });
	cr_assert(eq(u64, double_joined, a));
	cr_assert(ne(u64, gt_pt_join_begin(second).sequence, 0), "the younger one stays");
}

Test(threads, a_child_does_not_know_its_parents_threads)
{
	pthread_t thread;

	start("contended");
	leave_one(&thread);
	cr_assert(ne(u64, gt_pt_join_begin(thread).sequence, 0));
	gt_pt_threads_child();
	cr_assert(eq(u64, gt_pt_join_begin(thread).sequence, 0));
	cr_assert(eq(u64, leave_one(&thread), gt_pt_join_begin(thread).sequence));
}

static void *short_life(void *block)
{
	struct gt_pt_start start;

	gt_pt_thread_begin(block, &start);
	gt_pt_thread_named(pthread_self(), "short");
	gt_pt_thread_ending(GT_THREAD_END_RETURN);
	return NULL;
}

/* Counts the joins that were told of threads which nobody detached. */
static void *creator(void *unused)
{
	(void)unused;
	for (int i = 0; i < 300; i++) {
		struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create };
		struct gt_pt_start *block = gt_pt_create_begin(&creation);
		struct gt_pt_target target;
		pthread_t thread;

		if (!block || pthread_create(&thread, NULL, short_life, block))
			abort();
		gt_pt_create_end(&creation, false);
		gt_pt_thread_named(thread, "named");
		target = gt_pt_join_begin(thread);
		pthread_join(thread, NULL);
		gt_pt_join_end(&(struct gt_pt_wait){ .target = &target });
	}
	return NULL;
}

/* Four creators at once; also built with -fsanitize=thread by hand. */
Test(threads, many_creators)
{
	unsigned joins = 0, ends = 0;
	pthread_t thread[4];
	const char *at;

	start("contended");
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, creator, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (at = double_log(); (at = strchr(at, ';')); at++) {
		joins += strncmp(at, "; join", 6) == 0;
		ends += strncmp(at, "; end", 5) == 0;
	}
	cr_assert(eq(u32, ends, 1200));
	cr_assert(eq(u32, joins, 1200));
}

Test(threads, tryjoin_counts_when_it_succeeds)
{
	struct gt_pt_target target = { .thread = (pthread_t)0x1000, .sequence = 7 };

	start("contended");
	gt_pt_tryjoined(&target, 42);
	LOG("+pthread_tryjoin_np@42; join; -pthread_tryjoin_np");
	cr_assert(eq(u64, double_joined, 7));
	target.sequence = 0;
	gt_pt_tryjoined(&target, 42);
	LOG("+pthread_tryjoin_np@42; -pthread_tryjoin_np");
}

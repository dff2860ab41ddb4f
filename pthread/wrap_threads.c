/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of the creation, end and joining of threads (POSIX and C11), and of their names.
 *
 * Limits: symbols and forwarding only; events.c and threads.c know what the calls mean. Threads
 * that the C library makes for itself (timers, asynchronous I/O) do not come by here.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "pthread/real.h"

#define WAIT(...) \
	struct gt_pt_wait wait __attribute__((cleanup(gt_pt_join_end))) = { __VA_ARGS__ }

/* ---- create ------------------------------------------------------------------------------------ */

static void *begin_posix(void *block)
{
	struct gt_pt_start start;
	void *result;

	gt_pt_thread_begin(block, &start);
	result = start.start.posix(start.argument);
	gt_pt_thread_ending(GT_THREAD_END_RETURN);
	return result;
}

static int begin_c11(void *block)
{
	struct gt_pt_start start;
	int result;

	gt_pt_thread_begin(block, &start);
	result = start.start.c11(start.argument);
	gt_pt_thread_ending(GT_THREAD_END_RETURN);
	return result;
}

GT_API int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
			  void *(*start)(void *), void *restrict argument)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_pthread_create, .start = (uintptr_t)start };
	struct gt_pt_start *block;
	int rc, state;

	gt_pt_need();
	block = gt_pt_create_begin(&creation);
	if (block) {
		block->start.posix = start;
		block->argument = argument;
		if (attr && pthread_attr_getdetachstate(attr, &state) == 0)
			block->detached = state == PTHREAD_CREATE_DETACHED;
		/* From here on `block` and *thread belong to the new thread, unless it fails. */
		rc = gt_pt_real.pthread_create(thread, attr, begin_posix, block);
	} else {
		rc = gt_pt_real.pthread_create(thread, attr, start, argument);
	}
	gt_pt_create_end(&creation, rc != 0);
	return rc;
}

GT_API int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	struct gt_pt_creation creation = { .region = GT_PT_R_thrd_create, .start = (uintptr_t)start };
	struct gt_pt_start *block;
	int rc;

	gt_pt_need();
	block = gt_pt_create_begin(&creation);
	if (block) {
		block->start.c11 = start;
		block->argument = argument;
		rc = gt_pt_real.thrd_create(thread, begin_c11, block);
	} else {
		rc = gt_pt_real.thrd_create(thread, start, argument);
	}
	gt_pt_create_end(&creation, rc != thrd_success);
	return rc;
}

/* ---- end --------------------------------------------------------------------------------------- */

GT_API __attribute__((noreturn)) void pthread_exit(void *result)
{
	gt_pt_need();
	gt_pt_find_unwinder();
	gt_pt_thread_ending(GT_THREAD_END_EXIT);
	gt_pt_real.pthread_exit(result);
	__builtin_unreachable();
}

GT_API __attribute__((noreturn)) void thrd_exit(int result)
{
	gt_pt_need();
	gt_pt_find_unwinder();
	gt_pt_thread_ending(GT_THREAD_END_EXIT);
	gt_pt_real.thrd_exit(result);
	__builtin_unreachable();
}

GT_API int pthread_cancel(pthread_t thread)
{
	bool recorded;
	int rc;

	gt_pt_need();
	gt_pt_find_unwinder();
	recorded = gt_pt_enter_for(GT_PT_R_pthread_cancel, thread);
	rc = gt_pt_real.pthread_cancel(thread);
	if (recorded)
		gt_pt_leave(GT_PT_R_pthread_cancel);
	return rc;
}

static int detach(enum gt_pt_region region, pthread_t thread, int (*real)(pthread_t))
{
	bool recorded = gt_pt_enter_for(region, thread);
	int rc;

	/* Before: afterwards the pthread_t may belong to another thread. */
	gt_pt_thread_detached(thread);
	rc = real(thread);
	if (recorded)
		gt_pt_leave(region);
	return rc;
}

GT_API int pthread_detach(pthread_t thread)
{
	gt_pt_need();
	return detach(GT_PT_R_pthread_detach, thread, gt_pt_real.pthread_detach);
}

GT_API int thrd_detach(thrd_t thread)
{
	gt_pt_need();
	return detach(GT_PT_R_thrd_detach, thread, gt_pt_real.thrd_detach);
}

/* ---- join -------------------------------------------------------------------------------------- */

GT_API int pthread_join(pthread_t thread, void **result)
{
	struct gt_pt_target target;
	WAIT(.region = GT_PT_R_pthread_join, .target = &target);

	gt_pt_need();
	target = gt_pt_join_begin(thread);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_join(thread, result);
}

GT_API int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *time)
{
	struct gt_pt_target target;
	WAIT(.region = GT_PT_R_pthread_timedjoin_np, .target = &target);

	gt_pt_need();
	target = gt_pt_join_begin(thread);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_timedjoin_np(thread, result, time);
}

GT_API int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
				const struct timespec *time)
{
	struct gt_pt_target target;
	WAIT(.region = GT_PT_R_pthread_clockjoin_np, .target = &target);

	gt_pt_need();
	target = gt_pt_join_begin(thread);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_clockjoin_np(thread, result, clock, time);
}

GT_API int thrd_join(thrd_t thread, int *result)
{
	struct gt_pt_target target;
	WAIT(.region = GT_PT_R_thrd_join, .target = &target);

	gt_pt_need();
	target = gt_pt_join_begin(thread);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.thrd_join(thread, result);
}

/* Programs poll with it: only the successful call is an event. */
GT_API int pthread_tryjoin_np(pthread_t thread, void **result)
{
	struct gt_pt_target target;
	uint64_t begin;
	int rc;

	gt_pt_need();
	begin = gt_pt_mode != GT_PT_UNREADY ? gt_now() : 0;
	target = gt_pt_join_begin(thread);
	rc = gt_pt_real.pthread_tryjoin_np(thread, result);
	if (rc == 0)
		gt_pt_tryjoined(&target, begin);
	return rc;
}

/* ---- names ------------------------------------------------------------------------------------- */

GT_API int pthread_setname_np(pthread_t thread, const char *name)
{
	int rc;

	gt_pt_need();
	rc = gt_pt_real.pthread_setname_np(thread, name);
	if (rc == 0)
		gt_pt_thread_named(thread, name);
	return rc;
}

GT_API int prctl(int option, ...)
{
	unsigned long a[4];
	char name[GT_PT_COMM] = "";
	va_list args;
	int rc;

	/* The C library reads four, whatever the caller passed. */
	va_start(args, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(args, unsigned long);
	va_end(args);
	gt_pt_need();
	rc = gt_pt_real.prctl(option, a[0], a[1], a[2], a[3]);
	if (option == PR_SET_NAME && rc == 0) {
		/* The kernel takes so many bytes and has read them. */
		strncpy(name, (const char *)a[0], sizeof(name) - 1);
		gt_pt_thread_named(pthread_self(), name);
	}
	return rc;
}

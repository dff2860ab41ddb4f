/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of condition variables, barriers and semaphores.
 *
 * Limits: symbols and forwarding only. Most calls here are cancellation points: their regions are
 * left by a cleanup attribute, which needs -fexceptions, and not by pthread_cleanup_push(), whose
 * record on the stack would outlive a longjmp() out of the call.
 */
#include <errno.h>
#include <time.h>

#include "pthread/real.h"

#define EXPORT   __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))
#define WAIT(...) \
	struct gt_pt_wait wait __attribute__((cleanup(gt_pt_wait_end))) = { __VA_ARGS__ }
#define CONTENDED() GT_PT_LIKELY(gt_pt_mode == GT_PT_CONTENDED)

static inline bool waits_recorded(void)
{
	gt_pt_need();
	return gt_pt_mode == GT_PT_CONTENDED || gt_pt_mode == GT_PT_ALL;
}

/* The operation does not wait; only VT_PTHREAD_LOCKS=all records it. */
static inline bool all_begin(enum gt_pt_region region)
{
	gt_pt_need();
	return gt_pt_lock_begin(region, GT_PT_UNTRIED);
}

/* ---- condition variable ------------------------------------------------------------------------ */

EXPORT int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
	WAIT(.region = GT_PT_R_pthread_cond_wait, .lock = mutex);

	if (!waits_recorded())
		return gt_pt_real.pthread_cond_wait(cond, mutex);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_cond_wait(cond, mutex);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict time)
{
	WAIT(.region = GT_PT_R_pthread_cond_timedwait, .lock = mutex);

	if (!waits_recorded())
		return gt_pt_real.pthread_cond_timedwait(cond, mutex, time);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_cond_timedwait(cond, mutex, time);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				  clockid_t clock, const struct timespec *restrict time)
{
	WAIT(.region = GT_PT_R_pthread_cond_clockwait, .lock = mutex);

	if (!waits_recorded())
		return gt_pt_real.pthread_cond_clockwait(cond, mutex, clock, time);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_cond_clockwait(cond, mutex, clock, time);
}

EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	WAIT(.region = GT_PT_R_cnd_wait, .lock = mutex);

	if (!waits_recorded())
		return gt_pt_real.cnd_wait(cond, mutex);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.cnd_wait(cond, mutex);
}

EXPORT int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
			 const struct timespec *restrict time)
{
	WAIT(.region = GT_PT_R_cnd_timedwait, .lock = mutex);

	if (!waits_recorded())
		return gt_pt_real.cnd_timedwait(cond, mutex, time);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.cnd_timedwait(cond, mutex, time);
}

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_pthread_cond_signal))
		return gt_pt_real.pthread_cond_signal(cond);
	rc = gt_pt_real.pthread_cond_signal(cond);
	return gt_pt_lock_end(GT_PT_R_pthread_cond_signal, NULL, rc);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_pthread_cond_broadcast))
		return gt_pt_real.pthread_cond_broadcast(cond);
	rc = gt_pt_real.pthread_cond_broadcast(cond);
	return gt_pt_lock_end(GT_PT_R_pthread_cond_broadcast, NULL, rc);
}

EXPORT int cnd_signal(cnd_t *cond)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_cnd_signal))
		return gt_pt_real.cnd_signal(cond);
	rc = gt_pt_real.cnd_signal(cond);
	return gt_pt_lock_end(GT_PT_R_cnd_signal, NULL, rc);
}

EXPORT int cnd_broadcast(cnd_t *cond)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_cnd_broadcast))
		return gt_pt_real.cnd_broadcast(cond);
	rc = gt_pt_real.cnd_broadcast(cond);
	return gt_pt_lock_end(GT_PT_R_cnd_broadcast, NULL, rc);
}

/* ---- barrier ----------------------------------------------------------------------------------- */

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	WAIT(.region = GT_PT_R_pthread_barrier_wait);

	if (!waits_recorded())
		return gt_pt_real.pthread_barrier_wait(barrier);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.pthread_barrier_wait(barrier);
}

/* ---- semaphore --------------------------------------------------------------------------------- */

/*
 * Takes the semaphore if that needs no waiting. The real functions act upon a pending cancellation
 * even then, so this does.
 */
static inline bool sem_taken(sem_t *sem)
{
	int saved = errno;

	pthread_testcancel();
	if (GT_PT_LIKELY(gt_pt_real.sem_trywait(sem) == 0))
		return true;
	errno = saved;
	return false;
}

static inline bool sane(clockid_t clock, const struct timespec *time)
{
	return time && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&
	       time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static NOINLINE int sem_wait_slow(sem_t *sem)
{
	WAIT(.region = GT_PT_R_sem_wait);

	if (!waits_recorded())
		return gt_pt_real.sem_wait(sem);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.sem_wait(sem);
}

EXPORT int sem_wait(sem_t *sem)
{
	if (CONTENDED() && GT_PT_LIKELY(sem_taken(sem)))
		return 0;
	return sem_wait_slow(sem);
}

static NOINLINE int sem_timedwait_slow(sem_t *sem, const struct timespec *time)
{
	WAIT(.region = GT_PT_R_sem_timedwait);

	if (!waits_recorded())
		return gt_pt_real.sem_timedwait(sem, time);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.sem_timedwait(sem, time);
}

EXPORT int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict time)
{
	if (CONTENDED() && sane(CLOCK_REALTIME, time) && GT_PT_LIKELY(sem_taken(sem)))
		return 0;
	return sem_timedwait_slow(sem, time);
}

static NOINLINE int sem_clockwait_slow(sem_t *sem, clockid_t clock, const struct timespec *time)
{
	WAIT(.region = GT_PT_R_sem_clockwait);

	if (!waits_recorded())
		return gt_pt_real.sem_clockwait(sem, clock, time);
	gt_pt_wait_begin(&wait);
	return wait.rc = gt_pt_real.sem_clockwait(sem, clock, time);
}

EXPORT int sem_clockwait(sem_t *restrict sem, clockid_t clock, const struct timespec *restrict time)
{
	if (CONTENDED() && sane(clock, time) && GT_PT_LIKELY(sem_taken(sem)))
		return 0;
	return sem_clockwait_slow(sem, clock, time);
}

EXPORT int sem_trywait(sem_t *sem)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_sem_trywait))
		return gt_pt_real.sem_trywait(sem);
	rc = gt_pt_real.sem_trywait(sem);
	return gt_pt_lock_end(GT_PT_R_sem_trywait, NULL, rc);
}

EXPORT int sem_post(sem_t *sem)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_sem_post))
		return gt_pt_real.sem_post(sem);
	rc = gt_pt_real.sem_post(sem);
	return gt_pt_lock_end(GT_PT_R_sem_post, NULL, rc);
}

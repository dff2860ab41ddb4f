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

#define NOINLINE __attribute__((noinline))
#define WAIT(...) \
	struct gt_pt_wait wait __attribute__((cleanup(gt_pt_wait_end))) = { __VA_ARGS__ }
#define CONTENDED() gt_likely(gt_pt_mode == GT_PT_CONTENDED)

static inline bool waits_recorded(void)
{
	gt_pt_need();
	return gt_pt_mode == GT_PT_CONTENDED || gt_pt_mode == GT_PT_ALL;
}

/* The operation does not wait; only VT_PTHREAD_LOCKS=all records it. */
static inline bool all_begin(enum gt_pt_region region)
{
	gt_pt_need();
	return gt_pt_lock_begin(region, GT_PT_UNTRIED, NULL);
}

/* A wait of which only the region is recorded; the lock is given away for its time. */
#define WAITING(name, parameters, arguments, mutex, condition)                                     \
	GT_API int name parameters                                                                 \
	{                                                                                          \
		WAIT(.region = GT_PT_R_##name, .lock = mutex, .object = condition);                \
												   \
		if (!waits_recorded())                                                             \
			return gt_pt_real.name arguments;                                          \
		gt_pt_wait_begin(&wait);                                                           \
		return wait.rc = gt_pt_real.name arguments;                                        \
	}

/* An operation that does not wait; only VT_PTHREAD_LOCKS=all records it. `wakes`: it ends waits of others. */
#define PASSING(name, type, wakes)                                                                 \
	GT_API int name(type *object)                                                              \
	{                                                                                          \
		int rc;                                                                            \
												   \
		if (wakes)                                                                         \
			gt_pt_waking(object);                                                      \
		if (CONTENDED() || !all_begin(GT_PT_R_##name))                                     \
			return gt_pt_real.name(object);                                            \
		rc = gt_pt_real.name(object);                                                      \
		return gt_pt_lock_end(GT_PT_R_##name, NULL, rc);                                   \
	}

/* ---- condition variable ------------------------------------------------------------------------ */

WAITING(pthread_cond_wait, (pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex), (cond, mutex),
	mutex, cond)
WAITING(pthread_cond_timedwait,
	(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
	 const struct timespec *restrict time),
	(cond, mutex, time), mutex, cond)
WAITING(pthread_cond_clockwait,
	(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, clockid_t clock,
	 const struct timespec *restrict time),
	(cond, mutex, clock, time), mutex, cond)
WAITING(cnd_wait, (cnd_t *cond, mtx_t *mutex), (cond, mutex), mutex, cond)
WAITING(cnd_timedwait,
	(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict time),
	(cond, mutex, time), mutex, cond)
PASSING(pthread_cond_signal, pthread_cond_t, true)
PASSING(pthread_cond_broadcast, pthread_cond_t, true)
PASSING(cnd_signal, cnd_t, true)
PASSING(cnd_broadcast, cnd_t, true)

/* ---- barrier ----------------------------------------------------------------------------------- */

WAITING(pthread_barrier_wait, (pthread_barrier_t *barrier), (barrier), NULL, NULL)

/* ---- semaphore --------------------------------------------------------------------------------- */

/*
 * Takes the semaphore if that needs no waiting. The real functions act upon a pending cancellation
 * even then, so this does.
 */
static inline bool sem_taken(sem_t *sem)
{
	int saved = errno;

	pthread_testcancel();
	if (gt_likely(gt_pt_real.sem_trywait(sem) == 0))
		return true;
	errno = saved;
	return false;
}

static inline bool sane(clockid_t clock, const struct timespec *time)
{
	return time && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&
	       time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/* The waiting of NAME, out of the way of what does not wait. */
#define SEM_WAIT(name, parameters, arguments, may)                                                 \
	static NOINLINE int name##_slow parameters                                                 \
	{                                                                                          \
		WAIT(.region = GT_PT_R_##name, .object = sem);                                     \
												   \
		if (!waits_recorded())                                                             \
			return gt_pt_real.name arguments;                                          \
		gt_pt_wait_begin(&wait);                                                           \
		return wait.rc = gt_pt_real.name arguments;                                        \
	}                                                                                          \
	GT_API int name parameters                                                                 \
	{                                                                                          \
		if (CONTENDED() && (may) && gt_likely(sem_taken(sem)))                             \
			return 0;                                                                  \
		return name##_slow arguments;                                                      \
	}

SEM_WAIT(sem_wait, (sem_t *sem), (sem), true)
SEM_WAIT(sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict time), (sem, time),
	 sane(CLOCK_REALTIME, time))
SEM_WAIT(sem_clockwait,
	 (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict time),
	 (sem, clock, time), sane(clock, time))
PASSING(sem_trywait, sem_t, false)
PASSING(sem_post, sem_t, true)

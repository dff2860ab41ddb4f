/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of mutexes, reader-writer locks and spin locks.
 *
 * Limits: symbols and forwarding only. Cost of an uncontended operation with
 * VT_PTHREAD_LOCKS=contended: a load and a jump, a call through a pointer, a thread-local load.
 *
 * With VT_PTHREAD_LOCKS=contended each acquisition first tries without waiting. Only EBUSY leads to
 * the real function, which then waits or refuses (EDEADLK). Every other result, success (0, or
 * EOWNERDEAD for a robust mutex) or not, is the one that the real function would have come to; asking
 * it as well would show: a refused attempt at a mutex with a priority ceiling lets the next succeed.
 */
#include <errno.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
#define __libc_single_threaded 0 /* before glibc 2.32 nobody knows */
#endif
#include <time.h>

#include "pthread/real.h"

#define CONTENDED() gt_likely(gt_pt_mode == GT_PT_CONTENDED)

/* An attempt without waiting returned rc: is that the result? lock NULL: a shared acquisition. */
static inline bool settled(int rc, const void *lock)
{
	if (gt_unlikely(rc == EBUSY))
		return false;
	if (gt_unlikely(gt_pt_self.held) && lock && (rc == 0 || rc == EOWNERDEAD))
		gt_pt_again(lock);
	return true;
}

/*
 * May a timed operation try without waiting first? Some of the real functions refuse a bad clock or
 * time even if the lock is free; they shall do so.
 */
static inline bool sane(clockid_t clock, const struct timespec *time)
{
	return time && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&
	       time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/* The operation itself does not wait; only VT_PTHREAD_LOCKS=all records it. */
static inline bool all_begin(enum gt_pt_region region)
{
	if (gt_pt_mode == GT_PT_NO)
		return false;
	gt_pt_need();
	return gt_pt_lock_begin(region, GT_PT_UNTRIED, NULL);
}

static inline bool wait_begin(enum gt_pt_region region, int tried, const int *owner)
{
	if (gt_pt_mode == GT_PT_NO)
		return false;
	gt_pt_need();
	return gt_pt_lock_begin(region, tried, owner);
}

/* Where glibc keeps who has the lock: a mutex has its owner, a reader-writer lock its writer. */
#define OWNER(object)                                                                              \
	_Generic((object), pthread_mutex_t *: &((pthread_mutex_t *)(uintptr_t)(object))->__data.__owner, \
		 mtx_t *: &((pthread_mutex_t *)(uintptr_t)(object))->__data.__owner,                \
		 pthread_rwlock_t *: &((pthread_rwlock_t *)(uintptr_t)(object))->__data.__cur_writer, \
		 default: (const int *)NULL)

/* ---- three kinds of operations ------------------------------------------------------------------ */

/*
 * It may wait. `attempt` is the same without waiting, to be made if `may`; `lock` NULL: shared, a region
 * only.
 */
#define LOCK(name, parameters, arguments, may, attempt, lock)                                      \
	GT_API int name parameters                                                                 \
	{                                                                                          \
		int rc = GT_PT_UNTRIED;                                                            \
												   \
		if (CONTENDED() && (may)) {                                                        \
			rc = (attempt);                                                            \
			if (gt_likely(settled(rc, (const void *)(lock))))                          \
				return rc;                                                         \
		}                                                                                  \
		if (!wait_begin(GT_PT_R_##name, rc, OWNER(object)))                                \
			return gt_pt_real.name arguments;                                          \
		rc = gt_pt_real.name arguments;                                                    \
		return gt_pt_lock_end(GT_PT_R_##name, (const void *)(lock), rc);                   \
	}

/* It does not wait. `code` makes its result one of POSIX's. */
#define TRY(name, parameters, arguments, code, lock)                                               \
	GT_API int name parameters                                                                 \
	{                                                                                          \
		int rc;                                                                            \
												   \
		if (CONTENDED()) {                                                                 \
			rc = gt_pt_real.name arguments;                                            \
			settled(code(rc), (const void *)(lock));                                   \
			return rc;                                                                 \
		}                                                                                  \
		if (!all_begin(GT_PT_R_##name))                                                    \
			return gt_pt_real.name arguments;                                          \
		rc = gt_pt_real.name arguments;                                                    \
		return gt_pt_lock_end(GT_PT_R_##name, (const void *)(lock), rc);                   \
	}

#define UNLOCK(name, parameters, arguments, lock)                                                  \
	GT_API int name parameters                                                                 \
	{                                                                                          \
		bool recorded;                                                                     \
		int rc;                                                                            \
												   \
		if (CONTENDED() && gt_likely(!gt_pt_self.held))                                    \
			return gt_pt_real.name arguments;                                          \
		gt_pt_need();                                                                      \
		recorded = gt_pt_unlock_begin(GT_PT_R_##name, (const void *)(lock));               \
		rc = gt_pt_real.name arguments;                                                    \
		if (recorded)                                                                      \
			gt_pt_leave(GT_PT_R_##name);                                               \
		return rc;                                                                         \
	}

/* The forms of a waiting operation: without a time, with one, with a clock and a time. */
#define TIME  const struct timespec *restrict time
#define CLOCK clockid_t clock, TIME
#define LOCK_PLAIN(name, type, attempt, lock)                                                      \
	LOCK(name, (type * object), (object), true, attempt, lock)
#define LOCK_TIMED(name, type, attempt, lock)                                                      \
	LOCK(name, (type *restrict object, TIME), (object, time), sane(CLOCK_REALTIME, time), attempt, \
	     lock)
#define LOCK_CLOCK(name, type, attempt, lock)                                                      \
	LOCK(name, (type *restrict object, CLOCK), (object, clock, time), sane(clock, time), attempt, lock)
#define TRY_PLAIN(name, type, code, lock)  TRY(name, (type * object), (object), code, lock)
#define UNLOCK_PLAIN(name, type)           UNLOCK(name, (type * object), (object), object)

/* ---- mutex ------------------------------------------------------------------------------------- */

/*
 * Mutexes are what programs lock most. Once a thread knows that its process has had several, the two
 * functions look at one word each (gt_pt_self.slow), and call nothing but the C library.
 */
static __attribute__((noinline)) int mutex_wait(pthread_mutex_t *mutex, int tried)
{
	int rc;

	if (tried != GT_PT_UNTRIED && settled(tried, mutex))
		return tried;
	if (!wait_begin(GT_PT_R_pthread_mutex_lock, tried, OWNER(mutex)))
		return gt_pt_real.pthread_mutex_lock(mutex);
	rc = gt_pt_real.pthread_mutex_lock(mutex);
	return gt_pt_lock_end(GT_PT_R_pthread_mutex_lock, mutex, rc);
}

/*
 * The C library locks and unlocks without atomic operations while a process has one thread, but tries
 * with them (10 ns more). __lock is 0 in a free mutex of every kind; in a held one of our own the
 * attempt tells whether there will be a wait.
 */
static __attribute__((noinline)) int mutex_lock_slow(pthread_mutex_t *mutex)
{
	if (!CONTENDED())
		return mutex_wait(mutex, GT_PT_UNTRIED);
	if (!__libc_single_threaded)
		gt_pt_self.unsure = 0;
	else if (mutex->__data.__lock == 0)
		return gt_pt_real.pthread_mutex_lock(mutex);
	return mutex_wait(mutex, gt_pt_real.pthread_mutex_trylock(mutex));
}

GT_API int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int rc;

	if (gt_unlikely(gt_pt_self.slow))
		return mutex_lock_slow(mutex);
	rc = gt_pt_real.pthread_mutex_trylock(mutex);
	return gt_unlikely(rc) ? mutex_wait(mutex, rc) : 0;
}

static __attribute__((noinline)) int mutex_unlock_slow(pthread_mutex_t *mutex)
{
	bool recorded;
	int rc;

	if (CONTENDED()) {
		if (gt_pt_self.held)
			gt_pt_releasing(mutex);
		return gt_pt_real.pthread_mutex_unlock(mutex);
	}
	/* VT_PTHREAD_LOCKS=all or no, or before the constructor */
	if (gt_pt_mode == GT_PT_NO)
		return gt_pt_real.pthread_mutex_unlock(mutex);
	gt_pt_need();
	recorded = gt_pt_unlock_begin(GT_PT_R_pthread_mutex_unlock, mutex);
	rc = gt_pt_real.pthread_mutex_unlock(mutex);
	if (recorded)
		gt_pt_leave(GT_PT_R_pthread_mutex_unlock);
	return rc;
}

GT_API int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (gt_unlikely(gt_pt_self.slow))
		return mutex_unlock_slow(mutex);
	return gt_pt_real.pthread_mutex_unlock(mutex);
}

#define MUTEX_TRY gt_pt_real.pthread_mutex_trylock(object)
LOCK_TIMED(pthread_mutex_timedlock, pthread_mutex_t, MUTEX_TRY, object)
LOCK_CLOCK(pthread_mutex_clocklock, pthread_mutex_t, MUTEX_TRY, object)
TRY_PLAIN(pthread_mutex_trylock, pthread_mutex_t, , object)

/* ---- C11 mutex: the same with other return codes ------------------------------------------------- */

static inline int from_c11(int rc)
{
	return rc == thrd_busy ? EBUSY : rc;
}

#define MTX_TRY from_c11(gt_pt_real.mtx_trylock(object))
LOCK_PLAIN(mtx_lock, mtx_t, MTX_TRY, object)
LOCK_TIMED(mtx_timedlock, mtx_t, MTX_TRY, object)
TRY_PLAIN(mtx_trylock, mtx_t, from_c11, object)
UNLOCK_PLAIN(mtx_unlock, mtx_t)

/* ---- reader-writer lock: shared acquisitions are regions only ----------------------------------- */

#define READ_TRY gt_pt_real.pthread_rwlock_tryrdlock(object)
LOCK_PLAIN(pthread_rwlock_rdlock, pthread_rwlock_t, READ_TRY, NULL)
LOCK_TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_t, READ_TRY, NULL)
LOCK_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t, READ_TRY, NULL)
TRY_PLAIN(pthread_rwlock_tryrdlock, pthread_rwlock_t, , NULL)
#define WRITE_TRY gt_pt_real.pthread_rwlock_trywrlock(object)
LOCK_PLAIN(pthread_rwlock_wrlock, pthread_rwlock_t, WRITE_TRY, object)
LOCK_TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_t, WRITE_TRY, object)
LOCK_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t, WRITE_TRY, object)
TRY_PLAIN(pthread_rwlock_trywrlock, pthread_rwlock_t, , object)
UNLOCK_PLAIN(pthread_rwlock_unlock, pthread_rwlock_t)

/* ---- spin lock --------------------------------------------------------------------------------- */

LOCK_PLAIN(pthread_spin_lock, pthread_spinlock_t, gt_pt_real.pthread_spin_trylock(object), object)
TRY_PLAIN(pthread_spin_trylock, pthread_spinlock_t, , object)
UNLOCK_PLAIN(pthread_spin_unlock, pthread_spinlock_t)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of mutexes, reader-writer locks and spin locks.
 *
 * Limits: symbols and forwarding only. Cost of an uncontended operation with
 * VT_PTHREAD_LOCKS=contended: two loads and jumps, a call through a pointer, a thread-local load.
 *
 * With VT_PTHREAD_LOCKS=contended each acquisition first tries without waiting. Only EBUSY leads to
 * the real function, which then waits or refuses (EDEADLK). Every other result, success (0, or
 * EOWNERDEAD for a robust mutex) or not, is the one that the real function would have come to; asking
 * it as well would show: a refused attempt at a mutex with a priority ceiling lets the next succeed.
 */
#include <errno.h>
#include <sys/single_threaded.h>
#include <time.h>

#include "pthread/real.h"

#define EXPORT __attribute__((visibility("default")))
#define CONTENDED() GT_PT_LIKELY(gt_pt_mode == GT_PT_CONTENDED)

/* An attempt without waiting returned rc: is that the result? */
static inline bool settled(int rc, const void *lock)
{
	if (GT_PT_UNLIKELY(rc == EBUSY))
		return false;
	if (GT_PT_UNLIKELY(gt_pt_self.held) && (rc == 0 || rc == EOWNERDEAD))
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
	return gt_pt_lock_begin(region, GT_PT_UNTRIED);
}

static inline bool wait_begin(enum gt_pt_region region, int tried)
{
	if (gt_pt_mode == GT_PT_NO)
		return false;
	gt_pt_need();
	return gt_pt_lock_begin(region, tried);
}

/*
 * Is there nobody to wait for? The C library locks and unlocks without atomic operations while a
 * process has one thread, but tries with them (10 ns more). __lock is 0 in a free mutex of every
 * kind; in a held one of our own the attempt tells whether there will be a wait.
 */
static inline bool nobody_waits(const pthread_mutex_t *mutex)
{
	return __libc_single_threaded && GT_PT_LIKELY(mutex->__data.__lock == 0);
}

/* ---- mutex ------------------------------------------------------------------------------------- */

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED()) {
		if (nobody_waits(mutex))
			return gt_pt_real.pthread_mutex_lock(mutex);
		rc = gt_pt_real.pthread_mutex_trylock(mutex);
		if (GT_PT_LIKELY(settled(rc, mutex)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_mutex_lock, rc))
		return gt_pt_real.pthread_mutex_lock(mutex);
	rc = gt_pt_real.pthread_mutex_lock(mutex);
	return gt_pt_lock_end(GT_PT_R_pthread_mutex_lock, mutex, rc);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				   const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(CLOCK_REALTIME, time)) {
		rc = gt_pt_real.pthread_mutex_trylock(mutex);
		if (GT_PT_LIKELY(settled(rc, mutex)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_mutex_timedlock, rc))
		return gt_pt_real.pthread_mutex_timedlock(mutex, time);
	rc = gt_pt_real.pthread_mutex_timedlock(mutex, time);
	return gt_pt_lock_end(GT_PT_R_pthread_mutex_timedlock, mutex, rc);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
				   const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(clock, time)) {
		rc = gt_pt_real.pthread_mutex_trylock(mutex);
		if (GT_PT_LIKELY(settled(rc, mutex)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_mutex_clocklock, rc))
		return gt_pt_real.pthread_mutex_clocklock(mutex, clock, time);
	rc = gt_pt_real.pthread_mutex_clocklock(mutex, clock, time);
	return gt_pt_lock_end(GT_PT_R_pthread_mutex_clocklock, mutex, rc);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int rc;

	if (CONTENDED()) {
		rc = gt_pt_real.pthread_mutex_trylock(mutex);
		settled(rc, mutex);
		return rc;
	}
	if (!all_begin(GT_PT_R_pthread_mutex_trylock))
		return gt_pt_real.pthread_mutex_trylock(mutex);
	rc = gt_pt_real.pthread_mutex_trylock(mutex);
	return gt_pt_lock_end(GT_PT_R_pthread_mutex_trylock, mutex, rc);
}

/* VT_PTHREAD_LOCKS=all or no, or before the constructor. */
static __attribute__((noinline)) int mutex_unlock_slow(pthread_mutex_t *mutex)
{
	bool recorded;
	int rc;

	if (gt_pt_mode == GT_PT_NO)
		return gt_pt_real.pthread_mutex_unlock(mutex);
	gt_pt_need();
	recorded = gt_pt_unlock_begin(GT_PT_R_pthread_mutex_unlock, mutex);
	rc = gt_pt_real.pthread_mutex_unlock(mutex);
	if (recorded)
		gt_pt_leave(GT_PT_R_pthread_mutex_unlock);
	return rc;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!CONTENDED())
		return mutex_unlock_slow(mutex);
	if (GT_PT_UNLIKELY(gt_pt_self.held))
		gt_pt_releasing(mutex);
	return gt_pt_real.pthread_mutex_unlock(mutex);
}

/* ---- C11 mutex: the same with other return codes ------------------------------------------------- */

static inline int from_c11(int rc)
{
	return rc == thrd_busy ? EBUSY : rc;
}

EXPORT int mtx_lock(mtx_t *mutex)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED()) {
		rc = from_c11(gt_pt_real.mtx_trylock(mutex));
		if (GT_PT_LIKELY(settled(rc, mutex)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_mtx_lock, rc))
		return gt_pt_real.mtx_lock(mutex);
	rc = gt_pt_real.mtx_lock(mutex);
	return gt_pt_lock_end(GT_PT_R_mtx_lock, mutex, rc);
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(CLOCK_REALTIME, time)) {
		rc = from_c11(gt_pt_real.mtx_trylock(mutex));
		if (GT_PT_LIKELY(settled(rc, mutex)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_mtx_timedlock, rc))
		return gt_pt_real.mtx_timedlock(mutex, time);
	rc = gt_pt_real.mtx_timedlock(mutex, time);
	return gt_pt_lock_end(GT_PT_R_mtx_timedlock, mutex, rc);
}

EXPORT int mtx_trylock(mtx_t *mutex)
{
	int rc;

	if (CONTENDED()) {
		rc = gt_pt_real.mtx_trylock(mutex);
		settled(from_c11(rc), mutex);
		return rc;
	}
	if (!all_begin(GT_PT_R_mtx_trylock))
		return gt_pt_real.mtx_trylock(mutex);
	rc = gt_pt_real.mtx_trylock(mutex);
	return gt_pt_lock_end(GT_PT_R_mtx_trylock, mutex, rc);
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
	bool recorded;
	int rc;

	gt_pt_need();
	recorded = gt_pt_unlock_begin(GT_PT_R_mtx_unlock, mutex);
	rc = gt_pt_real.mtx_unlock(mutex);
	if (recorded)
		gt_pt_leave(GT_PT_R_mtx_unlock);
	return rc;
}

/* ---- reader-writer lock: shared acquisitions are regions only ----------------------------------- */

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED()) {
		rc = gt_pt_real.pthread_rwlock_tryrdlock(lock);
		if (GT_PT_LIKELY(rc != EBUSY))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_rwlock_rdlock, rc))
		return gt_pt_real.pthread_rwlock_rdlock(lock);
	rc = gt_pt_real.pthread_rwlock_rdlock(lock);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_rdlock, NULL, rc);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
				      const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(CLOCK_REALTIME, time)) {
		rc = gt_pt_real.pthread_rwlock_tryrdlock(lock);
		if (GT_PT_LIKELY(rc != EBUSY))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_rwlock_timedrdlock, rc))
		return gt_pt_real.pthread_rwlock_timedrdlock(lock, time);
	rc = gt_pt_real.pthread_rwlock_timedrdlock(lock, time);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_timedrdlock, NULL, rc);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
				      const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(clock, time)) {
		rc = gt_pt_real.pthread_rwlock_tryrdlock(lock);
		if (GT_PT_LIKELY(rc != EBUSY))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_rwlock_clockrdlock, rc))
		return gt_pt_real.pthread_rwlock_clockrdlock(lock, clock, time);
	rc = gt_pt_real.pthread_rwlock_clockrdlock(lock, clock, time);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_clockrdlock, NULL, rc);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	int rc;

	if (CONTENDED() || !all_begin(GT_PT_R_pthread_rwlock_tryrdlock))
		return gt_pt_real.pthread_rwlock_tryrdlock(lock);
	rc = gt_pt_real.pthread_rwlock_tryrdlock(lock);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_tryrdlock, NULL, rc);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED()) {
		rc = gt_pt_real.pthread_rwlock_trywrlock(lock);
		if (GT_PT_LIKELY(settled(rc, lock)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_rwlock_wrlock, rc))
		return gt_pt_real.pthread_rwlock_wrlock(lock);
	rc = gt_pt_real.pthread_rwlock_wrlock(lock);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_wrlock, lock, rc);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
				      const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(CLOCK_REALTIME, time)) {
		rc = gt_pt_real.pthread_rwlock_trywrlock(lock);
		if (GT_PT_LIKELY(settled(rc, lock)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_rwlock_timedwrlock, rc))
		return gt_pt_real.pthread_rwlock_timedwrlock(lock, time);
	rc = gt_pt_real.pthread_rwlock_timedwrlock(lock, time);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_timedwrlock, lock, rc);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
				      const struct timespec *restrict time)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED() && sane(clock, time)) {
		rc = gt_pt_real.pthread_rwlock_trywrlock(lock);
		if (GT_PT_LIKELY(settled(rc, lock)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_rwlock_clockwrlock, rc))
		return gt_pt_real.pthread_rwlock_clockwrlock(lock, clock, time);
	rc = gt_pt_real.pthread_rwlock_clockwrlock(lock, clock, time);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_clockwrlock, lock, rc);
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	int rc;

	if (CONTENDED()) {
		rc = gt_pt_real.pthread_rwlock_trywrlock(lock);
		settled(rc, lock);
		return rc;
	}
	if (!all_begin(GT_PT_R_pthread_rwlock_trywrlock))
		return gt_pt_real.pthread_rwlock_trywrlock(lock);
	rc = gt_pt_real.pthread_rwlock_trywrlock(lock);
	return gt_pt_lock_end(GT_PT_R_pthread_rwlock_trywrlock, lock, rc);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	bool recorded;
	int rc;

	if (CONTENDED() && GT_PT_LIKELY(!gt_pt_self.held))
		return gt_pt_real.pthread_rwlock_unlock(lock);
	gt_pt_need();
	recorded = gt_pt_unlock_begin(GT_PT_R_pthread_rwlock_unlock, lock);
	rc = gt_pt_real.pthread_rwlock_unlock(lock);
	if (recorded)
		gt_pt_leave(GT_PT_R_pthread_rwlock_unlock);
	return rc;
}

/* ---- spin lock --------------------------------------------------------------------------------- */

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int rc = GT_PT_UNTRIED;

	if (CONTENDED()) {
		rc = gt_pt_real.pthread_spin_trylock(lock);
		if (GT_PT_LIKELY(settled(rc, (const void *)lock)))
			return rc;
	}
	if (!wait_begin(GT_PT_R_pthread_spin_lock, rc))
		return gt_pt_real.pthread_spin_lock(lock);
	rc = gt_pt_real.pthread_spin_lock(lock);
	return gt_pt_lock_end(GT_PT_R_pthread_spin_lock, (const void *)lock, rc);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	int rc;

	if (CONTENDED()) {
		rc = gt_pt_real.pthread_spin_trylock(lock);
		settled(rc, (const void *)lock);
		return rc;
	}
	if (!all_begin(GT_PT_R_pthread_spin_trylock))
		return gt_pt_real.pthread_spin_trylock(lock);
	rc = gt_pt_real.pthread_spin_trylock(lock);
	return gt_pt_lock_end(GT_PT_R_pthread_spin_trylock, (const void *)lock, rc);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	bool recorded;
	int rc;

	if (CONTENDED() && GT_PT_LIKELY(!gt_pt_self.held))
		return gt_pt_real.pthread_spin_unlock(lock);
	gt_pt_need();
	recorded = gt_pt_unlock_begin(GT_PT_R_pthread_spin_unlock, (const void *)lock);
	rc = gt_pt_real.pthread_spin_unlock(lock);
	if (recorded)
		gt_pt_leave(GT_PT_R_pthread_spin_unlock);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that are blocked for a while, and the lock (lock.h). Limits: see there. */
#include "lib/record/record.h"

#define SLEEPS 1u        /* in a lock's word: somebody waits in the kernel */
#define MOST   (1u << 18) /* looks at a lock, some hundred microseconds, where nobody may sleep */
#define NAP    50000000   /* ns: the longest sleep */
#define NAPS   20         /* so many, while a thread forks, are enough */

GT_HIDDEN struct gt_lock gt_locks[GT_LOCKS];

static GT_TLS bool held;     /* between gt_hold_signals() and gt_release_signals() */
static uint32_t blocking;    /* threads that have blocked their signals, each as often as it nests */
static enum { FORKS_NOT, FORKS, FORKS_STUCK } forking; /* a thread holds the core's locks while it forks */
static uint32_t confining;   /* threads that are about to confine the process, or have done so */

uint64_t gt_signals_block(void)
{
	__atomic_fetch_add(&blocking, 1, __ATOMIC_SEQ_CST);
	/* Pairs with gt_signals_confine(): either it sees us, or we see that it has begun. */
	if (!__atomic_load_n(&confining, __ATOMIC_SEQ_CST) && !gt_sys_refused())
		return gt_sys_sigmask_set(GT_SIGMASK_ALL);
	__atomic_fetch_sub(&blocking, 1, __ATOMIC_RELAXED);
	return GT_SIGNALS_OPEN;
}

void gt_signals_restore(uint64_t mask)
{
	if (mask & GT_SIGNALS_OPEN)
		return;
	gt_sys_sigmask_set(mask);
	__atomic_fetch_sub(&blocking, 1, __ATOMIC_RELEASE);
}

void gt_signals_confine(bool confined)
{
	__atomic_fetch_add(&confining, confined ? 1u : -1u, __ATOMIC_SEQ_CST);
	for (int i = 0; confined && __atomic_load_n(&blocking, __ATOMIC_SEQ_CST) && i < 20000; i++)
		gt_sys_sleep_us(50);
}

void gt_signals_forked(uint64_t mask)
{
	blocking = !(mask & GT_SIGNALS_OPEN);
}

uint64_t gt_hold_signals(void)
{
	uint64_t mask = held ? GT_SIGNALS_KEPT : gt_signals_block();

	held |= !(mask & GT_SIGNALS_OPEN);
	return mask;
}

void gt_release_signals(uint64_t mask)
{
	if (mask & GT_SIGNALS_OPEN)
		return;
	held = false;
	gt_signals_restore(mask);
}

/* ---- the lock ------------------------------------------------------------------------------------ */

/* A number of this thread, not 0, without the last bit: where its variables lie. */
static uint32_t self(void)
{
	return ((uint32_t)((uintptr_t)&held >> 4) | 2) & ~SLEEPS;
}

static bool take(struct gt_lock *lock, uint32_t as)
{
	uint32_t none = 0;

	/* Pairs with the release in gt_unlock(). */
	return __atomic_compare_exchange_n(&lock->word, &none, as, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Nobody can sleep, or be awakened: is the lock to be had soon? */
static bool is_hopeless(struct gt_lock *lock, uint32_t word)
{
	return (word & ~SLEEPS) == self() || __atomic_add_fetch(&lock->waited, 1, __ATOMIC_RELAXED) > MOST;
}

/* True: nobody woke it. */
static bool sleep_on(struct gt_lock *lock, uint32_t word)
{
	/* Not for ever: who holds it may not be allowed to wake anybody any more. */
	struct timespec most = { 0, NAP };

	return (word & SLEEPS || __atomic_compare_exchange_n(&lock->word, &word, word | SLEEPS, false,
							     __ATOMIC_RELAXED, __ATOMIC_RELAXED)) &&
	       GT_SYS4(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, word | SLEEPS, &most) == -ETIMEDOUT;
}

void gt_locks_forking(bool forks)
{
	__atomic_store_n(&forking, forks ? FORKS : FORKS_NOT, __ATOMIC_RELAXED);
}

/* True: it has been waited for long enough, here or by others. */
static bool is_stuck(unsigned naps)
{
	if (naps > NAPS && __atomic_load_n(&forking, __ATOMIC_RELAXED) == FORKS)
		__atomic_store_n(&forking, FORKS_STUCK, __ATOMIC_RELAXED);
	return __atomic_load_n(&forking, __ATOMIC_RELAXED) == FORKS_STUCK;
}

/*
 * Who forks holds the core's locks and waits for those of malloc(), which the code that a signal handler has
 * interrupted may hold: then neither can go on before the handler has given up.
 */
static bool wait_for(struct gt_lock *lock, bool open)
{
	unsigned naps = 0;

	while (!take(lock, self() | SLEEPS)) { /* others may sleep beside us */
		uint32_t word = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);

		if (!open && !__atomic_load_n(&confining, __ATOMIC_RELAXED)) {
			if (is_stuck(naps))
				return false;
			if (word)
				naps += sleep_on(lock, word);
		} else if (is_hopeless(lock, word)) {
			return false;
		}
	}
	return true;
}

uint64_t gt_lock(struct gt_lock *lock)
{
	uint64_t mask = held ? GT_SIGNALS_KEPT : gt_signals_block();

	if (!take(lock, self()) && !wait_for(lock, mask == GT_SIGNALS_OPEN)) {
		gt_signals_restore(mask);
		return GT_LOCK_REFUSED;
	}
	if (gt_unlikely(__atomic_load_n(&lock->waited, __ATOMIC_RELAXED)))
		__atomic_store_n(&lock->waited, 0, __ATOMIC_RELAXED);
	return mask;
}

uint64_t gt_lock_try(struct gt_lock *lock)
{
	uint64_t mask = held ? GT_SIGNALS_KEPT : gt_signals_block();

	if (take(lock, self()))
		return mask;
	gt_signals_restore(mask);
	return GT_LOCK_REFUSED;
}

void gt_unlock(struct gt_lock *lock, uint64_t mask)
{
	if (mask == GT_LOCK_REFUSED)
		return;
	/* Pairs with take(). */
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) & SLEEPS)
		gt_sys_futex(&lock->word, FUTEX_WAKE_PRIVATE, 1);
	gt_signals_restore(mask);
}

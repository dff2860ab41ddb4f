/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates calls of the thread library into events: regions, lock records, the life of threads.
 *
 * Limits: nothing here intercepts anything; the functions are told what happened (wrap_*.c) and
 * know the core only through adapter.h, so that they can be tested with a double of it.
 *
 * No function here allocates with malloc, takes a lock or changes errno.
 */
#ifndef GT_PTHREAD_EVENTS_H
#define GT_PTHREAD_EVENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gputrace/adapter.h"
#include "gputrace/hash.h"

/* Which events of locks are recorded. Written once, by the constructor. */
enum gt_pt_mode {
	GT_PT_UNREADY = 0, /* the constructor has not run, or the core refused the adapter */
	GT_PT_CONTENDED,   /* operations that had to wait */
	GT_PT_ALL,
	GT_PT_NO,
};
extern GT_HIDDEN enum gt_pt_mode gt_pt_mode;

enum gt_pt_region {
#define GT_PT_REGION(name, role, when) GT_PT_R_##name,
#include "pthread/regions.def"
#undef GT_PT_REGION
	GT_PT_REGIONS,
};

/* A recorded lock that this thread holds. */
struct gt_pt_held {
	uintptr_t lock;
	uint32_t order; /* of the acquisition; its release gets the same number */
	uint32_t depth; /* of recursive locking */
};

#define GT_PT_HELD_INLINE 8u

/* The adapter's state of each thread; only that thread accesses it. */
struct gt_pt_self {
	/* FAST: looked at by each lock operation; of mutexes both at once */
	union {
		struct {
			uint32_t held;   /* how many recorded locks are held */
			uint32_t unsure; /* 0: GT_PT_CONTENDED, and there are or were other threads */
		};
		uint64_t slow;
	};
	/* SLOW */
	uint32_t capacity;     /* of `list`; 0: still the inline one */
	struct gt_pt_held *list;
	struct gt_pt_held few[GT_PT_HELD_INLINE];
	uint64_t sequence;     /* number of the thread if it was announced, else 0 */
	uint32_t how;          /* enum gt_thread_end */
	bool first;            /* of its process */
	bool quiet;            /* a thread of a tool's or driver's own: what it waits for is no news */
};
extern GT_HIDDEN GT_TLS struct gt_pt_self gt_pt_self;

/* ---- regions ----------------------------------------------------------------------------------- */

/* Defines the regions that can occur and sets gt_pt_mode from the settings. */
GT_HIDDEN void gt_pt_define(void);

/* Enters a region; false if this thread is not recorded now or the region is filtered out. */
GT_HIDDEN bool gt_pt_enter(enum gt_pt_region region);
GT_HIDDEN void gt_pt_leave(enum gt_pt_region region);
/* A call that concerns a thread: none of a runtime's own. */
GT_HIDDEN bool gt_pt_enter_for(enum gt_pt_region region, pthread_t thread);
/* An operation that turned out to be worth recording, from `begin` (gt_now()) to now. */
GT_HIDDEN bool gt_pt_enter_at(enum gt_pt_region region, uint64_t begin);

/* ---- locks ------------------------------------------------------------------------------------- */

#define GT_PT_UNTRIED (-1) /* no attempt without waiting has been made */

/*
 * A lock operation that may wait begins. `tried` is what an attempt without waiting returned
 * (0, EBUSY, another error) or GT_PT_UNTRIED. `owner`: where the lock says who has it, as the kernel's number
 * of a thread, or NULL. True: it is recorded, gt_pt_lock_end() must follow.
 */
GT_HIDDEN bool gt_pt_lock_begin(enum gt_pt_region region, int tried, const int *owner);
/* It ended with `rc` (0 and EOWNERDEAD: acquired). lock NULL: shared, no record. Returns rc. */
GT_HIDDEN int gt_pt_lock_end(enum gt_pt_region region, const void *lock, int rc);

/*
 * A thread by its number of the kernel, as locks have it. ours: its number plus 1; 0: it has none, or is not
 * known. A thread whose place another one took is not known any more.
 */
GT_HIDDEN void gt_pt_note_number(uint32_t tid, uint64_t ours);
GT_HIDDEN uint32_t gt_pt_number_of(uint32_t tid);

/* A lock was acquired without waiting, while this thread holds recorded ones: is it one of them? */
GT_HIDDEN void gt_pt_again(const void *lock);
/* A lock is about to be released. */
GT_HIDDEN void gt_pt_releasing(const void *lock);
/* gt_pt_mode is GT_PT_ALL and a lock is about to be released: true as gt_pt_lock_begin(). */
GT_HIDDEN bool gt_pt_unlock_begin(enum gt_pt_region region, const void *lock);

/* The thread that a join is about, as it was known before. */
struct gt_pt_target {
	pthread_t thread;
	uint64_t sequence; /* 0: not known */
	uint64_t newest;   /* of all that were created when the join began */
	bool ended;        /* or of an earlier thread with the same pthread_t */
	bool quiet;        /* a runtime's own */
};

/* A call that waits for something and may be cancelled. */
struct gt_pt_wait {
	enum gt_pt_region region;
	bool recorded;
	bool released;      /* a recorded lock was released for the time of the wait */
	int rc;             /* GT_PT_CANCELLED until the call returns */
	const void *lock;   /* released and acquired again, or NULL */
	const void *object; /* a condition variable or semaphore: gt_pt_waking() tells who ended the wait */
	uint64_t last;      /* of the object's gt_pt_wake as the wait began */
	struct gt_pt_target *target; /* of a join: the thread */
};
#define GT_PT_CANCELLED (-2)

/* The region is entered; `recorded` says whether. */
GT_HIDDEN void gt_pt_wait_begin(struct gt_pt_wait *wait);
/* Also called while a cancelled thread unwinds: the call did not return then. */
GT_HIDDEN void gt_pt_wait_end(struct gt_pt_wait *wait);

/* ---- who ended a wait -------------------------------------------------------------------------- */

#define GT_PT_WAKES 1024u

/* Condition variables and semaphores whose addresses have one hash. */
struct gt_pt_wake {
	uint32_t waiters; /* in recorded waits */
	uint64_t last;    /* who woke one last, and when: events.c */
};
extern GT_HIDDEN struct gt_pt_wake gt_pt_wakes[GT_PT_WAKES];

GT_HIDDEN void gt_pt_note_wake(struct gt_pt_wake *wake, const void *object);

static inline struct gt_pt_wake *gt_pt_wake_of(const void *object)
{
	return &gt_pt_wakes[gt_hash_word((uintptr_t)object) >> 54];
}

/* This thread is about to signal a condition or to post a semaphore. One load, unless somebody waits. */
static inline void gt_pt_waking(const void *object)
{
	struct gt_pt_wake *wake = gt_pt_wake_of(object);

	if (gt_unlikely(__atomic_load_n(&wake->waiters, __ATOMIC_RELAXED)))
		gt_pt_note_wake(wake, object);
}

/* ---- threads ----------------------------------------------------------------------------------- */

#define GT_PT_COMM 16u /* bytes of a thread's name in the kernel */

/* The argument of a new thread, in place of the program's. */
struct gt_pt_start {
	union {
		void *(*posix)(void *);
		int (*c11)(void *);
	} start;
	void *argument;
	uint64_t sequence;
	bool detached;
	bool quiet;
	char creator[GT_PT_COMM]; /* the creator's name: the one that the new thread inherits */
};

/* One creation, on the creator's stack. */
struct gt_pt_creation {
	enum gt_pt_region region;
	uintptr_t start;           /* code that the thread begins with */
	bool recorded;             /* the region was entered */
	struct gt_pt_start *block; /* the new thread's from the moment that it exists */
	uint64_t sequence;
};

/* A thread is about to be created. Returns the block to pass, NULL: it is not to be announced. */
GT_HIDDEN struct gt_pt_start *gt_pt_create_begin(struct gt_pt_creation *creation);
/* The creation is over. */
GT_HIDDEN void gt_pt_create_end(const struct gt_pt_creation *creation, bool failed);

/* In the new thread: copies the block to *start, gives it back, begins the thread. */
GT_HIDDEN void gt_pt_thread_begin(struct gt_pt_start *block, struct gt_pt_start *start);
/* In a thread: how it is going to end (enum gt_thread_end). */
GT_HIDDEN void gt_pt_thread_ending(unsigned how);
/* In a thread: nothing of the program's will run in it any more. */
GT_HIDDEN void gt_pt_thread_end(void);

/* Before a join: who is that? */
GT_HIDDEN struct gt_pt_target gt_pt_join_begin(pthread_t thread);
/* As gt_pt_wait_end(), of a join: its target is set. */
GT_HIDDEN void gt_pt_join_end(struct gt_pt_wait *wait);
/* Counts events that cannot be recorded because there is no memory for what they need. */
static inline void gt_pt_no_memory(uint64_t events)
{
	gt_lost(gt_is_confined() ? GT_LOSS_SANDBOX : GT_LOSS_NO_LOCATION, events);
}

/* pthread_tryjoin_np() has succeeded; it began at `begin`. */
GT_HIDDEN void gt_pt_tryjoined(const struct gt_pt_target *target, uint64_t begin);
GT_HIDDEN void gt_pt_thread_detached(pthread_t thread);
/* The thread was given a name. */
GT_HIDDEN void gt_pt_thread_named(pthread_t thread, const char *name);

/* Prepares the above (main thread, constructor), and again in a forked child. */
GT_HIDDEN void gt_pt_threads_init(void);
GT_HIDDEN void gt_pt_threads_child(void);
GT_HIDDEN void gt_pt_locks_child(void);

#endif

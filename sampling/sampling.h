/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal interfaces of the sampling adapter. Each file uses only those above it:
 *
 *   unwind.h (rows.c, walk.c ...)   the call stack of an interrupted thread
 *   hide.c     the signal, which the program does not see
 *   arm.c      the triggers of threads
 *   sample.c   the signal's handler: from an expiry to a record
 *   paths.c    call paths of calls that took long, walked where they end
 *   life.c     the adapter's begin and end in a process
 *
 * Limits: doc/adr/0025.
 */
#ifndef GT_SAMPLING_H
#define GT_SAMPLING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "gputrace/adapter.h"
#include "gputrace/call.h"
#include "sampling/unwind.h"

enum { GT_SP_CALLS = 8 }; /* calls inside each other whose begin is known */

/* ns; the period where it is ours to choose, as long as it is not known what a signal costs. */
#define GT_SP_UNKNOWN UINT64_C(20000000)

/* A call of an adapter's that has begun. */
struct gt_sp_call {
	gt_ref region;
	bool always;
	uint64_t begin;
};

/* A thread that is sampled. Entries are used again, and stay where they are. */
struct gt_sp_thread {
	int tid;              /* 0: free; atomic */
	int timer;            /* of its processor time, the kernel's number; -1: none */
	void *event;          /* the page that keeps its perf event; NULL: none */
	int event_fd;         /* which its signals name */
	bool refused;         /* it can have none */
	uint64_t timer_period, event_period;
	uint32_t expiries;    /* of its timer */
	uint32_t alone;       /* of them, in the program's code since its event's last one */
	uint32_t patience;    /* so many of them, and the event has stopped */
	uint64_t switches, switches_at; /* to other threads until its processor time was that */
	bool sampled;         /* it has had a sample */
	uint8_t number;       /* of its samples, mod 16 at least */
	uint64_t last;        /* its processor time at its sample before, ns */
	uint64_t left;        /* of that, what no sample stands for yet */
	uint64_t spent;       /* in the handler, ns */
	uint64_t timer_at;    /* its processor time when its timer expired before */
	/* For how long the timer has found it behind calls, or outside and the event has not, ns; less what
	 * samples have had of that. */
	int64_t in_calls, in_faults;
	uint64_t in_kernel;   /* for how long the timer has found it in the kernel, ns */
	uint64_t faults;      /* page faults until they were asked for */
	uint64_t half;        /* gt_sample() */
	uintptr_t low, top;   /* its stack, as far as it is known to be there */
	struct gt_walker *walker; /* NULL: before its first walk */
	/* Where the thread stood when it began to walk for a call path: samples leave the walker alone then.
	 * 0: it does not. */
	uintptr_t walking;
	uint64_t put;             /* when its last record was written, or later */
	struct gt_sp_call calls[GT_SP_CALLS]; /* the innermost of `depth`, at their depth mod GT_SP_CALLS */
	uint32_t depth;
	struct gt_sp_thread *next;
};

extern GT_HIDDEN GT_TLS struct gt_sp_thread *gt_sp_self; /* NULL: the calling thread is not sampled */
extern GT_HIDDEN uint64_t gt_sp_start;  /* ns that the process had used before, until a sample says so */
extern GT_HIDDEN uint64_t gt_sp_period; /* ns of processor time from one sample to the next */

/* ---- hide.c ------------------------------------------------------------------------------------------ */

/* The signal, 0: none is hidden (any more). */
extern GT_HIDDEN int gt_sp_signal;
/* Nobody has asked for samples: they keep out of the way of whoever might mean the signal. */
extern GT_HIDDEN bool gt_sp_chosen;
/* Is this another process, a child of vfork() that shares our memory? */
GT_HIDDEN bool gt_sp_elsewhere(void);
/* Takes it, for that handler; `claimed`: the program wants it for itself. False: it cannot be had. */
GT_HIDDEN bool gt_sp_hide(int number, void (*handler)(int, siginfo_t *, void *), void (*claimed)(void));
/* False: the program has installed a handler of its own by a system call, as Go's runtime does. */
GT_HIDDEN bool gt_sp_is_ours(void);
/* The calling thread begins: it is not to block the signal. */
GT_HIDDEN void gt_sp_unblock(void);
/* Before the process becomes another program, which inherits what the program has set; and if that failed. */
GT_HIDDEN void gt_sp_hide_exec(bool begins);
GT_HIDDEN void gt_sp_hide_forked(void);

/* ---- arm.c ------------------------------------------------------------------------------------------- */

/* The calling thread's processor time, ns. */
GT_HIDDEN uint64_t gt_sp_clock(void);
/* The calling thread gets its trigger, if it has none. */
GT_HIDDEN void gt_sp_arm(void);
/* Handles the expiry of its timer: the perf event is added once the thread has run for a while. `kernel`: the
 * signal came when a system call returned. */
GT_HIDDEN void gt_sp_timer_expired(struct gt_sp_thread *t, bool kernel);
/* The perf event has expired at that processor time. */
GT_HIDDEN void gt_sp_event_expired(struct gt_sp_thread *t, uint64_t now);
/* A sample took so many ns of the processor. */
GT_HIDDEN void gt_sp_took(uint64_t ns);
/* Does this kernel send the signals of such timers without interrupting a system call? */
GT_HIDDEN bool gt_sp_interrupts_nothing(void);
GT_HIDDEN void gt_sp_disarm(void);
/* gt_sp_say() writes a property of this process; gt_sp_can_say(): has a handler enough stack for that? */
GT_HIDDEN bool gt_sp_can_say(void);
GT_HIDDEN void gt_sp_say(const char *key, uint64_t value);
/* All threads lose their triggers, and none is in the handler any more; or get them back. */
GT_HIDDEN void gt_sp_all(bool on);
/* A handler begins, if it may go on; and ends. */
GT_HIDDEN bool gt_sp_handler_begins(void);
GT_HIDDEN void gt_sp_handler_ends(void);
/* Children that fork() makes from now on have no descriptor of ours. */
GT_HIDDEN void gt_sp_keep_from_children(void);
/* For good: the signal is the program's. Says so. */
GT_HIDDEN void gt_sp_give_up(void);
/* In a forked child, where no thread has a trigger. */
GT_HIDDEN void gt_sp_forked(void);

/* ---- sample.c ---------------------------------------------------------------------------------------- */

/* Where the kernel's code for programs lies; bytes 0: there is none. */
extern GT_HIDDEN uint64_t gt_sp_vdso, gt_sp_vdso_bytes;
GT_HIDDEN void gt_sp_on_signal(int signal, siginfo_t *info, void *context);
/* The calling thread's recording ends, or the process may become another program (`ends` is false; then only
 * threads that have had samples): records what no sample of it stands for yet. */
GT_HIDDEN void gt_sp_rest(bool ends);
/* Does the thread, which stands at `sp`, walk for a call path, and was interrupted? */
GT_HIDDEN bool gt_sp_is_walking(struct gt_sp_thread *t, uintptr_t sp);
/* The thread has a walker that knows its stack, as far as that is there above `sp`. False: no memory. */
GT_HIDDEN bool gt_sp_walker(struct gt_sp_thread *t, uintptr_t sp);
/* Records the walk as a call path at `tick`, which is not before that of the last record. */
GT_HIDDEN bool gt_sp_put_path(struct gt_sp_thread *t, uint64_t tick);

/* ---- paths.c ----------------------------------------------------------------------------------------- */

/* From now on calls that take so many ns have their call path. */
GT_HIDDEN void gt_sp_paths(uint64_t ns);

#endif

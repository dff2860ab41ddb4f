/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the player share: the script's steps, a thread's state, counting.
 *
 * Limits: a script has at most 4,000 steps.
 */
#ifndef SOAK_PLAY_H
#define SOAK_PLAY_H

#include "trouble/trouble.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "truth.h"
#include "vt_user.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	FUNCTIONS = 16,
	F = 0,               /* f0 ... */
	U = FUNCTIONS,       /* regions u0 ... of the user */
	USERS = 6,
	NAME_FIBRE = U + USERS,
	NAME_THROW,
	NAME_CATCH,
	NAME_PLUG,
	NAME_COMPUTE,
	NAMES
};

struct step {
	int depth, a, b, next; /* next: the first step that is not inside of this one */
	void (*act)(int step);
};

/* Of a thread. */
struct actor {
	uint64_t random;
	int fuel;                    /* calls that a burst may still make */
	int handler;                 /* we are in a signal handler */
	int off, rewound;            /* VT_OFF, within a mark */
	uint64_t depth;              /* functions f that are open */
	sigjmp_buf back;             /* where jumps go to, with the depth there */
	uint64_t back_depth;
	/* Where a chain of calls ends: goes back to `back`, or raises a signal whose handler does. */
	enum { STAY, JUMP, LEAP } bottom;
	volatile sig_atomic_t armed;      /* a handler may jump */
};
extern __thread struct actor self;
extern struct truth *truth;
extern struct step steps[];
extern int step_count, levels;
extern char *play_self, *play_truth;

static inline UNSEEN void add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline UNSEEN unsigned below(unsigned n)
{
	self.random = self.random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(self.random >> 33) % n;
}

/* A call of what has this name, or an enter of the region. */
static inline UNSEEN void hit(int name)
{
	add(self.off ? &truth->of[name].off : self.rewound ? &truth->of[name].may : &truth->of[name].on, 1);
}

void burst(int calls, int depth); /* instrumented calls on this thread, at random */
void play_inner(int step);        /* the steps inside of this one */
void play_end(int kind, int value);
void wait_for(pid_t pid, const char *what);
int throw_and_catch(int depth) __attribute__((weak));    /* throws.cc */
void team(int threads, int rounds) __attribute__((weak));      /* team.c */
void ranks_begin(int *argc, char ***argv) __attribute__((weak)); /* ranks.c */
void ranks_end(void) __attribute__((weak));
void ranks_talk(int kind, int bytes) __attribute__((weak));

/* acts.c, scenes.c */
#define SOAK_ACTS(A)                                                                                      \
	A(calls) A(user) A(off) A(rewind) A(flush) A(message) A(value) A(marker) A(jump) A(raise) A(storm) \
	A(leap) A(altstack) A(lock) A(rwlock) A(once) A(semaphore) A(throw) A(fibres) A(mask) A(memory)     \
	A(files) A(sigwait) A(barrier) A(condition) A(threads) A(detached) A(cancel) A(keys) A(fork)        \
	A(vfork) A(spawn) A(system) A(popen) A(exec) A(killed) A(forkthreads) A(orphan) A(plugin)           \
	A(closefds) A(chdir) A(nofile) A(timer) A(forkhandler) A(atexit) A(atfork) A(team) A(talk) A(end)
#define SOAK_DECLARE(name) void act_##name(int step);
SOAK_ACTS(SOAK_DECLARE)
#undef SOAK_DECLARE

#ifdef __cplusplus
}
#endif

#endif

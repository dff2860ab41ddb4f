/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of all kinds, walked from a signal handler at a place where the program knows what is on them: so
 * many frames of one function, which has a section of its own, and main() or the thread's function beyond.
 * Prints "ok" or "not ok" for each.
 */
#define _GNU_SOURCE
#include "gputrace/records.h"
#include "sampling/cpu.h"
#include "test/sampling/own_stack.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define COUNTED __attribute__((noinline, section("counted_code")))

extern const char __start_counted_code[], __stop_counted_code[];

static struct gt_walker walker;
static uint64_t root;    /* the thread's outermost frame */
static unsigned outside; /* frames that are not counted */
static int result;

static void walk(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	gt_walk(&walker, context);
}

/* Frames that have just these flags. */
static unsigned flagged(unsigned flags)
{
	unsigned n = 0;

	for (unsigned i = 0; i < walker.n; i++)
		n += GT_FRAME_FLAGS(walker.frames[i]) == flags;
	return n;
}

/* Frames of the section that have these flags. */
static unsigned counted(unsigned flags)
{
	unsigned n = 0;

	for (unsigned i = 0; i < walker.n; i++)
		n += GT_FRAME_ADDRESS(walker.frames[i]) - (uintptr_t)__start_counted_code <=
			     (uintptr_t)(__stop_counted_code - __start_counted_code) &&
		     (GT_FRAME_FLAGS(walker.frames[i]) & flags) == flags;
	return n;
}

static void claim(const char *name, int holds)
{
	printf("%s %s: %u frames, %u counted, kept %u, flags %u\n", holds ? "ok" : "not ok", name, walker.n,
	       counted(0), walker.kept, walker.flags);
	result |= !holds;
}

static int ends_in_root(void)
{
	return walker.n && walker.frames[walker.n - 1] == root;
}

/* Frames are missing, but not those at either end. */
static int is_cut(void)
{
	unsigned others = walker.n - counted(0);

	return walker.n == GT_WALK_FRAMES && walker.flags == GT_SAMPLE_CUT && ends_in_root() &&
	       others == outside;
}

COUNTED static int down(int n)
{
	volatile int more = n;

	if (n > 1)
		more += down(n - 1);
	else
		raise(SIGUSR1);
	return more;
}

COUNTED static int large(int n)
{
	volatile char room[1 << 20];

	room[0] = (char)n;
	if (n > 1)
		room[1] = (char)large(n - 1);
	else
		raise(SIGUSR1);
	return room[0];
}

static void deep(void)
{
	for (volatile int i = 0; i < 2; i++) {
		down(40);
		claim("a recursion", counted(0) == 40 && !walker.flags && ends_in_root());
	}
	claim("the second time nothing is new", walker.kept == walker.n);
	down(60);
	claim("a deeper one", counted(0) == 60 && walker.kept >= 1 && !walker.flags && ends_in_root());
	down(100000);
	claim("100,000 deep", is_cut());
	walker.n = walker.cut = 0;
	down(100000);
	claim("100,000 deep at the first walk", is_cut());
	down(300);
	claim("less deep", is_cut());
	down(5);
	claim("back", counted(0) == 5 && !walker.flags && ends_in_root());
	walker.n = walker.cut = 0;
	down(GT_WALK_FRAMES);
	claim("one more than fits, or a few", is_cut());
	large(20);
	claim("frames of a megabyte", counted(0) == 20 && !walker.flags && ends_in_root());
}

static void in_handler(int sig)
{
	(void)sig;
	down(7);
}

COUNTED static void interrupted(void)
{
	raise(SIGUSR2);
	__asm__ volatile("" ::: "memory");
}

/* Two places were interrupted: in the handler, and where it came from. */
static void claim_handler(const char *name)
{
	claim(name, flagged(GT_FRAME_EXACT) == 2 && counted(0) == 8 && !walker.flags && ends_in_root());
}

static void alternate(void)
{
	stack_t stack = { .ss_size = 65536 };
	struct sigaction action = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	interrupted();
	claim_handler("a handler on a stack of its own");
	action.sa_flags = 0;
	sigaction(SIGUSR2, &action, NULL);
	interrupted();
	claim_handler("a handler on the same stack");
}

static ucontext_t from, inside;

static void coroutine(void)
{
	for (;;) {
		down(9);
		swapcontext(&inside, &from);
	}
}

static void switched(void)
{
	size_t bytes = 16384;

	getcontext(&inside);
	inside.uc_stack.ss_sp = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	inside.uc_stack.ss_size = bytes;
	makecontext(&inside, coroutine, 0);
	for (int i = 0; i < 3; i++) {
		swapcontext(&from, &inside);
		claim("a coroutine", counted(0) == 9 && !walker.flags && !ends_in_root());
		down(3);
		claim("outside of it", counted(0) == 3 && !walker.flags && ends_in_root());
	}
}

static jmp_buf back;

COUNTED static void jump(int n)
{
	if (n > 1)
		jump(n - 1);
	down(2);
	if (n == 1)
		longjmp(back, 1);
}

static void jumped(void)
{
	if (!setjmp(back))
		jump(12);
	claim("before a longjmp", counted(0) == 14 && !walker.flags && ends_in_root());
	down(4);
	claim("behind it", counted(0) == 4 && !walker.flags && ends_in_root());
}

/* A call of what is no code: the caller is on top of the stack, or in the link register. */
COUNTED static void call_nothing(void (*volatile nothing)(void))
{
	nothing();
	__asm__ volatile("" ::: "memory");
}

static void at_nothing(int sig, siginfo_t *info, void *context)
{
	long long *all;

	walk(sig, info, context);
	all = (void *)((char *)context + offsetof(ucontext_t, uc_mcontext.GT_CPU_REGISTERS));
	if (GT_CPU_LINKS) {
		all[GT_CPU_PC] = all[GT_CPU_BX];
	} else {
		all[GT_CPU_PC] = *(long long *)all[GT_CPU_SP];
		all[GT_CPU_SP] += 8;
	}
}

static void nowhere(void)
{
	struct sigaction action = { .sa_sigaction = at_nothing, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	call_nothing((void (*)(void))16);
	claim("a call of nothing", counted(GT_FRAME_GUESSED) == 1 && !walker.flags && ends_in_root());
	signal(SIGSEGV, SIG_DFL);
}

static void called_by_jit(void)
{
	down(6);
	__asm__ volatile("" ::: "memory");
}

/* Code that no table knows, with a frame pointer. It is found when the time for another search has come. */
static void jit(void)
{
#if GT_CPU_LINKS /* stp x29, x30, [sp, -16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 16; ret */
	static const uint32_t made[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#else /* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
	static const uint8_t made[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#endif
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*volatile code)(void (*)(void));

	memcpy(at, made, sizeof(made));
	__builtin___clear_cache(at, (char *)at + sizeof(made));
	memcpy((void *)&code, &at, sizeof(at));
	for (int i = 0; i < 5000 && !flagged(GT_FRAME_UNMAPPED); i++) {
		code(called_by_jit);
		usleep(1000);
	}
	claim("code made by a JIT",
	      counted(0) == 6 && flagged(GT_FRAME_UNMAPPED) == 1 && flagged(GT_FRAME_GUESSED) == 1 &&
		      !walker.flags && ends_in_root());
}

static void *thread(void *unused)
{
	memset(&walker, 0, sizeof(walker));
	walk_own_stack(&walker);
	down(1);
	root = walker.frames[walker.n - 1];
	outside = walker.n - counted(0);
	deep();
	alternate();
	switched();
	jumped();
	nowhere();
	jit();
	return unused;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = walk, .sa_flags = SA_SIGINFO };
	pthread_attr_t attributes;
	pthread_t other;

	if (!gt_unwind_ready())
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64u << 20);
	pthread_create(&other, &attributes, thread, NULL);
	pthread_join(other, NULL);
	return result;
}

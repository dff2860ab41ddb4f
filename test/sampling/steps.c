/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks its own stack at every instruction of a piece of work: the processor's trap flag makes a SIGTRAP
 * after each, and what libgcc's unwinder finds there is the answer. libgcc follows whatever it finds, into
 * memory where no code is, and may crash (glibc's mul_1.S has no table for what it pushes): then there is no
 * answer, only that this walk returns. Prints what was counted, and where the walks differ.
 */
#define _GNU_SOURCE
#include "gputrace/records.h"
#include "sampling/unwind.h"

#include <alloca.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

/* steps_throw.cc has it: exceptions. */
extern int steps_throw(void) __attribute__((weak));

#define TRAP_FLAG 0x100
#define LEAST     5000 /* steps: those that another thread asks for need many rounds of work */
#define DEPTH     512
#define PLACES    24

struct answer {
	uintptr_t pc[DEPTH];
	int n;
};

static struct gt_walker walker, afresh;
static sigjmp_buf crash;
static volatile sig_atomic_t armed, stop;
static unsigned long steps, lost, same, guessed, kept, again;
static struct {
	uintptr_t pc;
	unsigned long times;
	const char *how;
} place[PLACES];
static unsigned places;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
	struct answer *answer = data;
	int before;

	if (answer->n < DEPTH)
		answer->pc[answer->n++] = _Unwind_GetIPInfo(context, &before);
	return _URC_NO_REASON;
}

/* libgcc's walk from `pc` on; false: it has crashed. */
static int ask(struct answer *answer, uintptr_t pc)
{
	int skip = 0;

	answer->n = 0;
	if (sigsetjmp(crash, 1)) {
		armed = 0;
		return 0;
	}
	armed = 1;
	_Unwind_Backtrace(note, answer);
	armed = 0;
	while (skip < answer->n && answer->pc[skip] != pc)
		skip++;
	memmove(answer->pc, answer->pc + skip, (size_t)(answer->n - skip) * sizeof(*answer->pc));
	answer->n -= skip;
	if (answer->n && !answer->pc[answer->n - 1])
		answer->n--;
	return 1;
}

static int has_code(struct dl_phdr_info *object, size_t bytes, void *at)
{
	uintptr_t offset = *(uintptr_t *)at - object->dlpi_addr;

	(void)bytes;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X &&
		    offset - object->dlpi_phdr[i].p_vaddr < object->dlpi_phdr[i].p_memsz)
			return 1;
	return 0;
}

/* Are all of them in code? Data of an object are none. */
static int sensible(const struct answer *answer)
{
	uintptr_t pc;
	int n = 0;

	for (; n < answer->n; n++) {
		pc = answer->pc[n];
		if (!dl_iterate_phdr(has_code, &pc))
			return 0;
	}
	return 1;
}

static void differ(uintptr_t pc, const char *how)
{
	unsigned i = 0;

	while (i < places && (place[i].pc != pc || strcmp(place[i].how, how)))
		i++;
	if (i == PLACES)
		return;
	if (i == places)
		places++;
	place[i].pc = pc;
	place[i].how = how;
	place[i].times++;
}

/* So many innermost frames are the answer's. */
static unsigned agree(const struct gt_walker *w, const struct answer *answer)
{
	unsigned n = 0;

	while (n < w->n && (int)n < answer->n && GT_FRAME_ADDRESS(w->frames[n]) == answer->pc[n])
		n++;
	return n;
}

/*
 * An exception that arrives is made to by changing the registers that frames have saved: libgcc then no
 * longer sees the frames that it leaves, but who remembers the walk before does, as their return addresses
 * are there.
 */
static int was_kept(const struct answer *answer, const ucontext_t *context)
{
	memset(&afresh, 0, sizeof(afresh));
	gt_walker_begin(&afresh, walker.low, walker.high);
	gt_walk(&afresh, context);
	return agree(&afresh, answer) == afresh.n && (int)afresh.n == answer->n;
}

static void compare(const struct answer *answer, const ucontext_t *context)
{
	unsigned n = agree(&walker, answer);

	if (n == walker.n && (int)n == answer->n && !walker.flags)
		same++;
	else if (!sensible(answer))
		lost++;
	else if (n && n < walker.n && (int)n == answer->n &&
		 GT_FRAME_FLAGS(walker.frames[n]) & GT_FRAME_GUESSED)
		guessed++;
	else if (was_kept(answer, context))
		kept++;
	else
		differ(GT_FRAME_ADDRESS(walker.frames[n ? n - 1 : 0]),
		       n == walker.n ? "shorter" : (int)n == answer->n ? "longer" : "other");
}

/* The trap flag, where the processor has one; else another thread sends a signal again and again. */
#if defined(__x86_64__)
#define PC(context) (uintptr_t)(context)->uc_mcontext.gregs[REG_RIP]

static void end_steps(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void begin_steps(void)
{
	__asm__ volatile("sub $128, %%rsp; pushf; orq %0, (%%rsp); popf; add $128, %%rsp" ::"i"(TRAP_FLAG)
			 : "cc", "memory");
}
#else
#define PC(context) (uintptr_t)(context)->uc_mcontext.pc

static void *send_steps(void *to)
{
	unsigned long before = 0;

	while (!stop) {
		pthread_kill(*(pthread_t *)to, SIGTRAP);
		while (!stop && __atomic_load_n(&steps, __ATOMIC_RELAXED) == before)
			sched_yield();
		before = steps;
	}
	return NULL;
}

static void end_steps(ucontext_t *context)
{
	(void)context;
}

static void begin_steps(void)
{
	static pthread_t self, other;

	/* An emulator loads a library at a new place each time: of these, not all are searched for. */
	dlopen("libz.so.1", RTLD_NOW);
	self = pthread_self();
	pthread_create(&other, NULL, send_steps, &self);
}
#endif

static void trapped(int sig, siginfo_t *info, void *data)
{
	static struct answer answer;
	static uint64_t first[GT_WALK_FRAMES];
	ucontext_t *context = data;
	unsigned n;

	(void)sig;
	(void)info;
	if (stop) {
		end_steps(context);
		return;
	}
	n = gt_walk(&walker, context);
	memcpy(first, walker.frames, n * sizeof(*first));
	/* Again, with what is known now: nothing is new. */
	again += gt_walk(&walker, context) == n && walker.kept == n &&
			 !memcmp(first, walker.frames, n * sizeof(*first));
	if (ask(&answer, PC(context)))
		compare(&answer, context);
	else
		lost++;
	__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
}

static void crashed(int sig)
{
	if (armed)
		siglongjmp(crash, 1);
	signal(sig, SIG_DFL);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

__attribute__((noinline)) static int variable(int n)
{
	volatile char *more = alloca((size_t)n * 2);
	volatile char array[n];

	array[0] = more[n] = (char)n;
	return n > 8 ? variable(n - 8) + array[0] : more[n];
}

__attribute__((noinline)) static int aligned(int n)
{
	_Alignas(64) volatile char array[128];

	array[n & 127] = (char)n;
	return n > 0 ? aligned(n - 1) + array[n & 127] : 0;
}

/*
 * Aligned, with arguments on the stack and room that varies: the frame is reached by a pointer in the frame.
 */
__attribute__((noinline)) static int aligned_many(int a, int b, int c, int d, int e, int f, int g, int h, ...)
{
	_Alignas(64) volatile char array[128];
	volatile char *more = alloca((size_t)a + 16);
	va_list list;

	va_start(list, h);
	array[a & 127] = more[a] = (char)(va_arg(list, int) + b + c + d + e + f + g);
	va_end(list);
	return a > 0 ? aligned_many(a - 1, b, c, d, e, f, g, h, a) + array[a & 127] : more[a];
}

__attribute__((noinline)) static void on_signal(int sig)
{
	volatile int n = sig;

	n = aligned(n & 3);
}

static jmp_buf back;

__attribute__((noinline)) static void jump(int n)
{
	if (n > 1)
		jump(n - 1);
	else
		longjmp(back, 1);
	__asm__ volatile("" ::: "memory");
}

static int work(void)
{
	char *name[] = { "pear", "fig", "apple", "kiwi", "date", "lime", "plum" }, text[4096];
	struct timespec now;
	time_t then = 1000000000;
	struct tm tm;
	double x;
	void *memory, *library;
	int n;

	qsort(name, 7, sizeof(*name), by_name);
	n = snprintf(text, sizeof(text), "%s %d %.17g %a %5.2e %ls", name[0], 42, 3.14159e100, 1.5, 2.5e-10,
		     L"w");
	x = strtod("1.2345678901234567e-300", NULL);
	x += exp(x + 1) + sin(2.5) + pow(2.1, 3.3);
	gmtime_r(&then, &tm);
	n += (int)strftime(text, 100, "%A %B %d", &tm);
	memory = realloc(malloc(100), 200000);
	free(memory);
	n += variable(64) + aligned(5) + aligned_many(3, 1, 2, 3, 4, 5, 6, 7, 8);
	raise(SIGUSR1);
	if (!setjmp(back))
		jump(4);
	if (steps_throw)
		n += steps_throw();
	library = dlopen("libz.so.1", RTLD_NOW);
	if (library)
		dlclose(library);
	clock_gettime(CLOCK_MONOTONIC, &now);
	puts("worked");
	return n + (int)x;
}

static void begin(void)
{
	pthread_attr_t attributes;
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };
	struct answer answer = { .n = 0 };
	void *low;
	size_t bytes;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &bytes);
	gt_walker_begin(&walker, (uintptr_t)low, (uintptr_t)low + bytes);
	_Unwind_Backtrace(note, &answer); /* it loads what it needs */
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGUSR1, on_signal);
	sigaction(SIGTRAP, &action, NULL);
}

int main(void)
{
	int result;

	if (!gt_unwind_ready())
		return 2;
	begin();
	begin_steps();
	do
		result = work();
	while (steps < LEAST);
	stop = 1;
	__asm__ volatile("nop; nop");
	printf("steps %lu\nsame %lu\nguessed %lu\nkept %lu\nlost %lu\nagain %lu\n", steps, same, guessed,
	       kept, lost, again);
	for (unsigned i = 0; i < places; i++) {
		Dl_info where = { 0 };

		dladdr((void *)place[i].pc, &where);
		printf("differ %lu: %s at %s+%#" PRIxPTR " (%s)\n", place[i].times, place[i].how,
		       where.dli_fname ? where.dli_fname : "?", place[i].pc - (uintptr_t)where.dli_fbase,
		       where.dli_sname ? where.dli_sname : "?");
	}
	return result == 0x7fffffff;
}

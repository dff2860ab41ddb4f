/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler of the signal: how much processor time the sample stands for, and the record.
 *
 * A thread's time is divided among its samples so that it adds up. The perf event expires in user mode
 * alone, each time a period has passed: its samples stand for a period each, or for what has passed if that
 * is about one. What is left over was spent in the kernel, where expiries find nobody (or the timer of a
 * virtual machine came late): the next sample at the return of a system call has it. Time of page faults
 * ends at no call: it goes to the instruction at which the timer has expired, as far as there were faults
 * since, or after a while. Where a thread has its timer alone each sample stands for the time since the one
 * before. The handler's own time is no sample's.
 *
 * Limits: behind a system call is where the interrupted instruction follows one; those of JIT code count,
 * too. A sample before which gputrace did not record for a while (VT_OFF) stands for that time, too.
 */
#include <sys/resource.h>
#include <ucontext.h>

#include "gputrace/syscall.h"
#include "gputrace/thread.h"
#include "sampling/sampling.h"

#define FAULT UINT64_C(3000) /* ns of the kernel for a page fault, at most; of a small one */
#define IDLE  10            /* expiries after which what is left goes to where the thread is */

GT_HIDDEN uint64_t gt_sp_vdso, gt_sp_vdso_bytes;

/* Page faults of the calling thread since it was asked for the last time. */
static uint64_t faults(struct gt_sp_thread *t)
{
	struct rusage use;
	uint64_t before = t->faults;

	if (gt_raw(SYS_getrusage, RUSAGE_THREAD, &use))
		return 0;
	t->faults = (uint64_t)(use.ru_minflt + use.ru_majflt);
	return t->faults - before;
}

/* The system call's instruction, in units of instructions, and where the thread was interrupted. */
#if defined(__x86_64__)
#define UNIT    uint8_t
#define CALL    ((const UNIT[]){ 0x0f, 0x05 })
#define AT(uc)  (uc)->uc_mcontext.gregs[REG_RIP]
#elif defined(__aarch64__)
#define UNIT    uint32_t
#define CALL    ((const UNIT[]){ 0xd4000001 })
#define AT(uc)  (uc)->uc_mcontext.pc
#else
#define UNIT    uint8_t
#define CALL    ((const UNIT[]){ 0 })
#define AT(uc)  0
#endif

/* Does the interrupted instruction follow a system call? What is before it is code that has just run. */
static bool behind_call(const ucontext_t *at)
{
	const UNIT *call = CALL, *pc = (const UNIT *)AT(at);
	int n = sizeof(CALL) / sizeof(UNIT);

	for (int i = 1; pc && i <= n; i++)
		if (pc[-i] != call[n - i])
			return false;
	return pc;
}

/* The perf event has expired. */
static uint64_t weight_of_event(struct gt_sp_thread *t, uint64_t passed)
{
	uint64_t weight = passed < gt_sp_period + gt_sp_period / 2 ? passed : gt_sp_period;

	t->left += passed - weight;
	if (t->left >= gt_sp_period / 2)
		t->fault_ns += faults(t) * FAULT;
	return weight;
}

/*
 * The timer has, in the program's own code, which the perf event sees: only what else is left counts here,
 * as far as page faults can have taken it, and only where there were some just now.
 */
static uint64_t weight_of_faults(struct gt_sp_thread *t)
{
	uint64_t now = faults(t) * FAULT, weight;

	t->fault_ns += now;
	if (++t->idle >= IDLE)
		weight = t->left;
	else
		weight = !now ? 0 : t->left < t->fault_ns ? t->left : t->fault_ns;
	if (!weight)
		return 0;
	t->left -= weight;
	t->fault_ns = 0;
	t->idle = 0;
	return weight;
}

/* The timer has expired; `kernel`: behind a system call, which has all that is left. */
static uint64_t weight_of_timer(struct gt_sp_thread *t, uint64_t passed, bool kernel)
{
	uint64_t weight = t->left + passed;

	if (t->event && !kernel)
		return weight_of_faults(t);
	t->idle = 0;
	t->left = t->fault_ns = 0;
	return weight;
}

/* Is it in the vDSO? */
static bool is_kernels(uint64_t address)
{
	return address - gt_sp_vdso < gt_sp_vdso_bytes;
}

/* Returns how much of the weight is in a record. */
static uint64_t record(struct gt_sp_thread *t, uint64_t weight, bool kernel, ucontext_t *at)
{
	unsigned n = gt_walk(t->walker, at);
	unsigned flags = t->walker->flags | (kernel ? GT_SAMPLE_KERNEL : 0);
	uint64_t units = weight / GT_SAMPLE_UNIT < UINT32_MAX ? weight / GT_SAMPLE_UNIT : UINT32_MAX;
	uint64_t *frames = (uint64_t *)(uintptr_t)t->walker->frames;

	if (n && is_kernels(GT_FRAME_ADDRESS(*frames)))
		*frames |= GT_FRAME_WORD(GT_FRAME_KERNELS, 0);
	if (!n || !units ||
	    !gt_sample(&t->half, GT_SAMPLE_LOW(t->number, flags, 0, units), frames, n, t->walker->kept)) {
		t->half = 0; /* the next one is whole: this walk is in no record */
		return 0;
	}
	t->number++;
	return units * GT_SAMPLE_UNIT;
}

static bool has_walker(struct gt_sp_thread *t)
{
	if (t->walker)
		return true;
	if (!gt_unwind_ready())
		return false;
	t->walker = gt_memory(sizeof(*t->walker));
	return t->walker;
}

static void expired(struct gt_sp_thread *t, bool timer, ucontext_t *at)
{
	uint64_t now = gt_sp_clock(), passed = now > t->last ? now - t->last : 0, weight, rest = 0;
	bool kernel = timer && behind_call(at);

	weight = timer ? weight_of_timer(t, passed, kernel) : weight_of_event(t, passed);
	if (weight && has_walker(t)) {
		if (!t->half)
			gt_walker_begin(t->walker, 0, t->top);
		rest = weight - record(t, weight, kernel, at);
	}
	if (timer)
		gt_sp_arm_event(t);
	/* What passed in here is no sample's, and the next one has what is in no record. */
	if (timer && t->event && !kernel)
		t->last += gt_sp_clock() - now - rest;
	else
		t->last = gt_sp_clock() - rest;
}

void gt_sp_on_signal(int number, siginfo_t *info, void *context)
{
	struct gt_sp_thread *t = gt_sp_self;

	(void)number;
	if (!t || gt_is_confined())
		return;
	if (info->si_code == SI_TIMER && info->si_value.sival_ptr == t)
		expired(t, true, context);
	else if (t->event && info->si_code == POLL_IN && info->si_fd == t->event_fd)
		expired(t, false, context);
}

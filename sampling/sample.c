/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler of the signal: how much processor time the sample stands for, and the record.
 *
 * A thread's time is divided among its samples so that it adds up. The perf event expires in user mode
 * alone, each time a period has passed: its samples stand for a period each, or for what has passed if that
 * is about one. What is left over was spent in the kernel, where expiries find nobody (or the timer of a
 * virtual machine came late). The timer's samples at the return of a system call have it, as far as the
 * timer has found the thread there. Time of page faults ends at no call: it is what the timer has found
 * outside of calls and the event has not found in user mode, and goes to where the timer finds the thread,
 * if it has just had a fault. Where a thread has its timer alone each sample stands for the time since the
 * one before. At the thread's end the handlers' own time is that of one more sample, in the handler, and the
 * time since the last sample that of another one.
 *
 * Limits: behind a system call is where the interrupted instruction follows one; those of JIT code count too.
 * A sample before which gputrace did not record for a while (VT_OFF) stands for that time, too.
 */
#include <sys/auxv.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "gputrace/syscall.h"
#include "gputrace/thread.h"
#include "sampling/peek.h"
#include "sampling/sampling.h"

#define MOST  INT64_C(20000000) /* ns by which the event may have found more in user mode than the timer */
#define PAGES 64u /* by which a stack is found to be longer at once */
#define PAGE  4096u
#define LEFT  UINT64_C(8000000)  /* ns that may be left at least; two ticks */
#define SHARE 16u                /* of the thread's time that may be left beyond that */
#define APART 4u                  /* periods, or ticks, that may pass from one sample to the next */
#define STATES UINT64_C(50000000) /* ns from one reading of the thread's states to the next, at least */
#define LEAST UINT64_C(2000000)  /* ns that a process has to have used to have a sample */

GT_HIDDEN uint64_t gt_sp_vdso, gt_sp_vdso_bytes;

/* Has the calling thread had page faults since it was asked for the last time? */
static bool faults(struct gt_sp_thread *t)
{
	struct rusage use;
	uint64_t before = t->faults;

	if (gt_raw(SYS_getrusage, RUSAGE_THREAD, &use))
		return false;
	t->faults = (uint64_t)(use.ru_minflt + use.ru_majflt);
	return t->faults != before;
}

/* The system call's instruction, in units of instructions, and where the thread was interrupted. */
#if defined(__x86_64__)
#define UNIT    uint8_t
#define CALL    ((const UNIT[]){ 0x0f, 0x05 })
#define AT(uc)  (uc)->uc_mcontext.gregs[REG_RIP]
#define SP(uc)  (uintptr_t)(uc)->uc_mcontext.gregs[REG_RSP]
#elif defined(__aarch64__)
#define UNIT    uint32_t
#define CALL    ((const UNIT[]){ 0xd4000001 })
#define AT(uc)  (uc)->uc_mcontext.pc
#define SP(uc)  (uintptr_t)(uc)->uc_mcontext.sp
#else
#define UNIT    uint8_t
#define CALL    ((const UNIT[]){ 0 })
#define AT(uc)  0
#define SP(uc)  UINTPTR_MAX
#endif

/* Does the interrupted instruction follow a system call? What is before it may be in no memory, or be read by
 * nobody. */
static bool behind_call(const ucontext_t *at)
{
	const UNIT *call = CALL, *pc = (const UNIT *)AT(at);
	int n = sizeof(CALL) / sizeof(UNIT);

	if (!pc || !gt_peek_there((uintptr_t)pc - 8))
		return false;
	for (int i = 1; i <= n; i++)
		if (pc[-i] != call[n - i])
			return false;
	return true;
}

/*
 * How much of a thread's time may be left. The ticks that find it in the kernel are a random part of all
 * ticks, so what is left is a random walk around none: the room has to be wide enough for it, since what is
 * beyond goes to wherever the timer finds the thread, and is the program's own code more often than not.
 * Threads that are hardly found in the kernel need none: theirs is what a machine has taken from their own
 * code.
 */
static uint64_t room(const struct gt_sp_thread *t, uint64_t now)
{
	return t->in_kernel > now / (4 * SHARE) ? LEFT + now / SHARE : LEFT;
}

/* The perf event has expired. */
static uint64_t weight_of_event(struct gt_sp_thread *t, uint64_t passed)
{
	uint64_t period = t->event_period, weight = passed < period + period / 2 ? passed : period;

	if (t->timer < 0) /* nobody else will have it */
		return passed;
	t->left += passed - weight;
	t->in_faults -= (int64_t)weight;
	if (t->in_faults < -MOST)
		t->in_faults = -MOST;
	if (t->left >= period / 2)
		faults(t); /* those until now are not the next expiry's */
	return weight;
}

/*
 * The timer has, behind a system call (`kernel`) or in the program's own code, which the perf event sees.
 * What is left goes there as far as the timer has found it there, for the time between two of its expiries
 * with each; and what is more than there is room for.
 */
static uint64_t weight_of_timer(struct gt_sp_thread *t, uint64_t now, uint64_t passed, bool kernel)
{
	int64_t *found = kernel ? &t->in_calls : &t->in_faults;
	uint64_t most = 0, weight, may = room(t, now);

	*found += (int64_t)(now - t->timer_at);
	if (kernel)
		t->in_kernel += now - t->timer_at;
	t->timer_at = now;
	if (kernel || !t->event)
		t->left += passed;
	if (!t->event)
		most = t->left;
	else if ((kernel || faults(t)) && *found > 0)
		most = (uint64_t)*found;
	if (!kernel && t->event)
		t->in_kernel += most < t->left ? most : t->left;
	if (t->left > may && most < t->left - may) /* more than is worth waiting with */
		most = t->left - may;
	weight = t->left < most ? t->left : most;
	t->left -= weight;
	*found -= (int64_t)weight;
	if (*found > (int64_t)may)
		*found = (int64_t)may;
	return weight;
}

/* Is it in the vDSO? */
static bool is_kernels(uint64_t address)
{
	return address - gt_sp_vdso < gt_sp_vdso_bytes;
}

/* A program that jumps out of a handler leaves a walk behind, which is below where it stands now. */
bool gt_sp_is_walking(struct gt_sp_thread *t, uintptr_t sp)
{
	uintptr_t at = t->walking;

	if (at && at >= t->low && at < sp && sp < t->top)
		at = t->walking = 0;
	return at;
}

/* Of these frames, of which the `kept` outermost ones are as in the record before. */
static bool write_record(struct gt_sp_thread *t, uint64_t low, uint64_t *frames, unsigned n, unsigned kept,
			 uint64_t tick)
{
	if (!n || !gt_sample(&t->half, low, frames, n, kept, tick)) {
		t->half = 0; /* the next one is whole: this walk is in no record */
		return false;
	}
	t->number++;
	t->put = tick ? tick : gt_now();
	return true;
}

bool gt_sp_put_path(struct gt_sp_thread *t, uint64_t tick)
{
	struct gt_walker *w = t->walker;
	uint64_t *frames = (uint64_t *)(uintptr_t)w->frames;

	return write_record(t, GT_SAMPLE_LOW(t->number, w->flags, 0, 0), frames, w->n, w->kept, tick);
}

/* Returns how much of the weight is in a record. */
static uint64_t put(struct gt_sp_thread *t, uint64_t weight, unsigned flags, uint64_t *frames, unsigned n,
		    unsigned kept)
{
	uint64_t units = weight / GT_SAMPLE_UNIT < UINT32_MAX ? weight / GT_SAMPLE_UNIT : UINT32_MAX;

	if (!units) {
		t->half = 0;
		return 0;
	}
	if (!write_record(t, GT_SAMPLE_LOW(t->number, flags, 0, units), frames, n, kept, 0))
		return 0;
	t->sampled = true;
	if (__atomic_load_n(&gt_sp_start, __ATOMIC_RELAXED) && gt_sp_can_say())
		gt_sp_say("sampling:start", __atomic_exchange_n(&gt_sp_start, 0, __ATOMIC_RELAXED));
	return units * GT_SAMPLE_UNIT;
}

static uint64_t record(struct gt_sp_thread *t, uint64_t weight, bool kernel, ucontext_t *at)
{
	unsigned n = gt_walk(t->walker, at);
	uint64_t *frames = (uint64_t *)(uintptr_t)t->walker->frames;

	if (n && is_kernels(GT_FRAME_ADDRESS(*frames)))
		*frames |= GT_FRAME_WORD(GT_FRAME_KERNELS, 0);
	return put(t, weight, t->walker->flags | (kernel ? GT_SAMPLE_KERNEL : 0), frames, n, t->walker->kept);
}

/* The thread's stack reaches down to where it is now, if all pages on the way are there. */
static void know_stack(struct gt_sp_thread *t, uintptr_t sp)
{
	for (unsigned i = 0; sp < t->low && t->low - sp < t->low && i < PAGES; i++) {
		if (!gt_peek_there(t->low - PAGE))
			break;
		t->low -= PAGE;
	}
	gt_walker_begin(t->walker, t->low, t->top);
}

bool gt_sp_walker(struct gt_sp_thread *t, uintptr_t sp)
{
	if (!t->walker && gt_unwind_ready())
		t->walker = gt_memory(sizeof(*t->walker));
	if (t->walker)
		know_stack(t, sp);
	return t->walker;
}

static void expired(struct gt_sp_thread *t, bool timer, ucontext_t *at)
{
	uint64_t now = gt_sp_clock(), passed = now > t->last ? now - t->last : 0, weight, rest, spent;
	bool kernel = timer && behind_call(at), had_event = t->event;

	weight = timer ? weight_of_timer(t, now, passed, kernel) : weight_of_event(t, passed);
	rest = weight;
	if (weight && !gt_sp_is_walking(t, SP(at)) && gt_sp_walker(t, SP(at)))
		rest = weight - record(t, weight, kernel, at);
	if (rest < weight) {
		gt_note_states(STATES, 0);
		t->put = gt_now();
	}
	if (timer)
		gt_sp_timer_expired(t, kernel);
	else
		gt_sp_event_expired(t, now);
	/* What passed in here is gputrace's, and the next one has what is in no record. */
	spent = gt_sp_clock() - now;
	t->spent += spent;
	gt_sp_took(spent);
	if (timer && had_event && !kernel) /* weight_of_timer() has left what passed to the event */
		t->last += spent - rest;
	else
		t->last = now + spent - rest;
}

void gt_sp_on_signal(int number, siginfo_t *info, void *context)
{
	struct gt_sp_thread *t = gt_sp_self;

	(void)number;
	if (!t || !gt_sp_handler_begins())
		return;
	if (info->si_code == SI_TIMER && info->si_value.sival_ptr == t)
		expired(t, true, context);
	else if (t->event && info->si_code == POLL_IN && info->si_fd == t->event_fd)
		expired(t, false, context);
	gt_sp_handler_ends();
}

/*
 * Where the time without a sample goes: to where the sample before was, and that of the handler, to it. What
 * has passed since then may be no more than samples may be apart: if it is more, signals have failed to come,
 * and nobody knows where it was. What is left may be no more than there is room for. The others have none.
 * A main thread without a sample has spent it below the program's entry; that costs a window, so it is only
 * for those who have asked for samples.
 */
static void put_rest(struct gt_sp_thread *t, uint64_t now)
{
	uint64_t frame[2] = { GT_FRAME_WORD(GT_FRAME_EXACT, (uintptr_t)gt_sp_on_signal), 0 };
	uint64_t *frames = t->sampled ? (uint64_t *)(uintptr_t)t->walker->frames : NULL;
	uint64_t passed = now > t->last ? now - t->last : 0;

	if (frames) {
		uint64_t most = APART * (gt_sp_period > LEFT / 2 ? gt_sp_period : LEFT / 2);
		uint64_t rest = passed < most ? passed : most, may = room(t, now);

		rest += t->left < may ? t->left : may;
		put(t, rest, t->walker->flags, frames, t->walker->n, t->walker->n);
		put(t, t->spent, 0, frame, 1, 0);
		t->half = 0; /* the next one does not build upon that */
	} else if (!gt_sp_chosen && t->tid == (int)gt_raw(SYS_getpid) && now >= LEAST) {
		*frame = GT_FRAME_WORD(GT_FRAME_EXACT, getauxval(AT_ENTRY));
		put(t, t->left + passed, 0, frame, 1, 0);
	}
}

void gt_sp_rest(bool ends)
{
	struct gt_sp_thread *t = gt_sp_self;
	uint64_t now;

	if (!t || gt_sp_elsewhere() || !(ends || t->sampled))
		return;
	gt_sp_self = NULL; /* handlers leave it alone */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	now = gt_sp_clock();
	put_rest(t, now);
	t->left = t->spent = 0;
	t->last = now;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	gt_sp_self = t;
}

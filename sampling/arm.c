/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The triggers of threads. Each has a timer of its processor time, which the kernel looks at with its tick:
 * at most some hundred times a second, but also for time in the kernel, and its signal comes when a system
 * call returns, so that no call is interrupted. The first period of a thread is a part of one, so that short
 * threads have samples, too. Once a thread has run for a tick it gets a second one, a perf event on its
 * processor time that counts in user mode alone, at the rate that was asked for. Where nobody has asked, the
 * rate follows from what signals and handlers have taken of the process so far.
 *
 * Each looks after the other one: what has stopped to expire, for whatever cause, is started again.
 *
 * No descriptor stays open: the mapping of its control page keeps an event. A child of fork() has neither
 * timers nor mappings.
 *
 * Limits: the kernel grants each user some pages of perf events, of which a process takes half at most;
 * threads beyond it have their timer alone. A thread that ends by a system call of its own keeps its entry.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "gputrace/lock.h"
#include "gputrace/syscall.h"
#include "gputrace/task_clock.h"
#include "gputrace/thread.h"
#include "sampling/peek.h"
#include "sampling/sampling.h"

#define TICK   UINT64_C(4000000) /* ns: what most kernels have, or a multiple of it */
/* The minor version of Linux 5 since which the signals of such timers interrupt nothing. */
#if defined(__x86_64__)
#define SINCE 9
#elif defined(__aarch64__)
#define SINCE 18
#else
#define SINCE LONG_MAX
#endif
#define LEAST    UINT64_C(1000000)   /* ns; periods that are chosen are multiples of it */
#define MOST     UINT64_C(100000000)
#define PATIENCE UINT64_C(100000000) /* ns without what a signal costs: nobody has measured it */
#define GUESS    UINT64_C(30000)     /* ns that it costs, until then */
#define GOLDEN   2654435769u         /* of 2^32, what the golden section is of 1 */
#define AHEAD    4u                  /* samples that pay for what those before have taken too much */
#define LATE     16u                 /* ticks, or periods, without an expiry: the timer has stopped */
#define STOPPED  8u                  /* expiries of the timer without one of the event: that has, ... */
#define NEVER    1024u               /* ... or it is in the kernel that the thread is; so many at last */
#define LOOK     16u                 /* expiries from one look at the thread's switches to the next */
#define SWITCH   UINT64_C(200000)    /* ns between two switches: a thread with less has no event */
#define FEW      10u                 /* switches that say nothing */
#define ROOM     32768u              /* bytes of stack: a thread with less is sampled on request */
#define CHUNK  64u               /* entries that are made at once */
#define PAGE   4096u
#define STACK_PAGES 256u         /* that are asked for, from where a thread is armed to its stack's end */
#define EVENTS 64                /* pages of events for each processor: half of the usual 516 KiB */

GT_HIDDEN GT_TLS struct gt_sp_thread *gt_sp_self;
GT_HIDDEN uint64_t gt_sp_period, gt_sp_start;

static struct gt_lock lock;
static struct gt_sp_thread first[CHUNK], *threads; /* all entries; atomic for readers outside the lock */
static uint32_t made;   /* of `first` */
static int off;         /* no thread is to have a trigger: how often that was asked for; atomic */
static int running;     /* handlers; atomic */
static int number;      /* of the signal; stays when the program has it */
static bool given_up;   /* for good; atomic */
static bool settled;    /* what a signal costs is known or will not be; atomic */
static uint64_t taken;  /* by handlers in this process, ns; atomic, as are ... */
static uint64_t signals, recent; /* ... how many, and what one takes of late */
static int events_left; /* how many may be mapped; atomic */
static int opening, forking; /* threads that have an event's descriptor, and that fork; atomic */
static bool postponed;  /* a thread has no event because another one forks; atomic */

/* ---- entries ----------------------------------------------------------------------------------------- */

static struct gt_sp_thread *new_entry(void)
{
	struct gt_sp_thread *t;

	if (made < CHUNK) {
		t = &first[made++];
	} else {
		t = gt_memory(CHUNK * sizeof(*t));
		for (uint32_t i = 1; t && i < CHUNK; i++) {
			t[i].next = i == 1 ? threads : &t[i - 1];
			threads = &t[i];
		}
	}
	if (!t)
		return NULL;
	t->next = threads;
	threads = t;
	return t;
}

static struct gt_sp_thread *take(int tid)
{
	struct gt_sp_thread *t = threads;

	while (t && t->tid)
		t = t->next;
	if (!t)
		t = new_entry();
	if (!t)
		return NULL;
	*t = (struct gt_sp_thread){ .timer = -1, .tid = tid, .walker = t->walker, .next = t->next };
	return t;
}

/* ---- triggers ---------------------------------------------------------------------------------------- */

uint64_t gt_sp_clock(void)
{
	struct timespec now = { 0, 0 };

	gt_raw(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The clock of a thread's processor time, by its number (as the kernel forms it: MAKE_THREAD_CPUCLOCK). */
static long clock_of(int tid)
{
	return (long)((~(unsigned)tid << 3) | 4 | 2);
}

static long number_at(char **at)
{
	long n = 0;

	for (; **at >= '0' && **at <= '9' && n < 10000; ++*at)
		n = 10 * n + (**at - '0');
	return n;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

/* The kernel looks at such timers with its tick: what is less than that would only cost more. */
static struct itimerspec interval(void)
{
	struct timespec every = timespec_of(gt_sp_period > TICK / 2 ? gt_sp_period : TICK / 2);

	return (struct itimerspec){ every, every };
}

static uint64_t used_by_process(void)
{
	struct timespec used = { 0, 0 };

	gt_raw(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/*
 * When a thread's timer expires first: after a part of the period, which is another one for each thread, and
 * all parts are as frequent (multiples of the golden section). So one of so many threads has a sample as they
 * have used a period together, however short they are. Whole ticks: an expiry is seen at the next one. The
 * first sample begins a process's recording, which small ones are spared where nobody has asked for samples.
 */
static uint64_t first_expiry(void)
{
	static uint32_t begun; /* atomic */
	uint32_t part = GOLDEN * __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
	uint64_t ns = (gt_sp_period * part >> 32) / TICK * TICK, used;

	if (!gt_sp_chosen)
		return ns > TICK / 2 ? ns : TICK / 2;
	used = __atomic_load_n(&signals, __ATOMIC_RELAXED) ? GT_SP_UNKNOWN : used_by_process();
	if (used + ns < GT_SP_UNKNOWN)
		ns = GT_SP_UNKNOWN - used;
	return ns ? ns : 1; /* 0: never */
}

static void start_timer(struct gt_sp_thread *t)
{
	struct itimerspec every = interval();
	struct sigevent event;
	int id;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = number;
	event.sigev_value.sival_ptr = t;
	event._sigev_un._tid = t->tid;
	t->timer_period = gt_sp_period;
	t->expiries = 0; /* so that the event is there soon */
	every.it_value = timespec_of(first_expiry());
	if (gt_raw(SYS_timer_create, (int)clock_of(t->tid), &event, &id))
		return;
	if (gt_raw(SYS_timer_settime, id, 0, &every, NULL))
		gt_raw(SYS_timer_delete, id);
	else
		t->timer = id;
}

/*
 * Since Linux 5.9, on x86, and 5.18, on arm64 (HAVE_POSIX_CPU_TIMERS_TASK_WORK in its Kconfig), the signal
 * of such a timer is sent when the thread returns to user mode. Before, and elsewhere, it is sent at the
 * tick, and interrupts the call that the thread is about to sleep in.
 */
static bool ask_kernel(void)
{
	struct utsname name;
	char *at = name.release;
	long major;

	if (SINCE == LONG_MAX || gt_raw(SYS_uname, &name))
		return false;
	major = number_at(&at);
	at += *at == '.';
	return major > 5 || (major == 5 && number_at(&at) >= SINCE);
}

bool gt_sp_interrupts_nothing(void)
{
	static int known; /* 1: yes, -1: no; atomic */
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!is) {
		is = ask_kernel() ? 1 : -1;
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is > 0;
}

static void say_left_out(void)
{
	static bool said;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	gt_def_property("sampling:ended", "a thread got neither a timer nor a perf event");
	gt_message(1, "a thread is not sampled: it got neither a timer (RLIMIT_SIGPENDING) nor a perf event");
}

/* For good, and not for want of descriptors or memory, which there may be later. */
static bool is_refused(long error)
{
	return error < 0 && error != -EMFILE && error != -ENFILE && error != -ENOMEM;
}

static void open_and_map(struct gt_sp_thread *t)
{
	struct stat own;
	long fd, page;

	if (__atomic_sub_fetch(&events_left, 1, __ATOMIC_RELAXED) < 0)
		goto none;
	t->event_period = gt_sp_period;
	fd = gt_task_clock_open(t->tid, t->event_period);
	t->refused = is_refused(fd);
	if (gt_raw_note_own(fd, &own) < 0)
		goto none;
	page = gt_task_clock_signals(fd, t->tid, number)
		       ? gt_raw(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
		       : -EINVAL;
	if (page > 0 || page < -4095) {
		t->event_fd = (int)fd;
		t->event = (void *)page;
		t->alone = 0;
		gt_raw(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	gt_raw_close_own(fd, &own);
	if (t->event)
		return;
none:
	__atomic_add_fetch(&events_left, 1, __ATOMIC_RELAXED);
}

/* False: a thread forks. In one order with before_fork(), which waits until the descriptor is closed: a child
 * that is forked meanwhile would keep it. */
static bool open_unless_forking(struct gt_sp_thread *t)
{
	bool may;

	__atomic_fetch_add(&opening, 1, __ATOMIC_SEQ_CST);
	may = !__atomic_load_n(&forking, __ATOMIC_SEQ_CST);
	if (may)
		open_and_map(t);
	__atomic_fetch_sub(&opening, 1, __ATOMIC_RELEASE);
	return may;
}

/*
 * Is there an event, or will there be one? While another thread forks none is started: a thread without a
 * timer gets it from after_fork(), which sees that it is to, or we see that the fork is over.
 */
static bool start_event(struct gt_sp_thread *t)
{
	if (t->refused || t->event || (gt_sp_period >= TICK && t->timer >= 0))
		return t->event;
	while (!open_unless_forking(t)) {
		__atomic_store_n(&postponed, true, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&forking, __ATOMIC_SEQ_CST))
			return true;
	}
	return t->event;
}

static void start(struct gt_sp_thread *t)
{
	t->event = NULL;
	t->refused = false;
	t->patience = STOPPED;
	if (gt_sp_interrupts_nothing())
		start_timer(t);
	if (t->timer < 0 && !start_event(t))
		say_left_out();
}

static void stop_event(struct gt_sp_thread *t)
{
	gt_raw(SYS_munmap, t->event, PAGE);
	__atomic_add_fetch(&events_left, 1, __ATOMIC_RELAXED);
	t->event = NULL;
	t->refused = false;
}

static void stop(struct gt_sp_thread *t)
{
	if (t->timer >= 0)
		gt_raw(SYS_timer_delete, t->timer);
	t->timer = -1;
	if (t->event)
		stop_event(t);
}

bool gt_sp_can_say(void)
{
	return gt_raw_stack_left() >= ROOM;
}

void gt_sp_say(const char *key, uint64_t value)
{
	char text[24], *at = text + sizeof(text) - 1;

	*at = '\0';
	for (uint64_t n = value; n; n /= 10)
		*--at = (char)('0' + n % 10);
	gt_def_property(key, at);
}

/*
 * The least period with which all signals cost a hundredth: with an event there are those of the timer, too,
 * at each tick.
 */
static uint64_t period_for(uint64_t cost)
{
	uint64_t ns = 100 * cost;

	if (ns < TICK)
		ns = 100 * cost * TICK / (TICK - ns) < TICK ? 100 * cost * TICK / (TICK - ns) : TICK;
	ns = (ns + LEAST - 1) / LEAST * LEAST;
	return ns < LEAST ? LEAST : ns < MOST ? ns : MOST;
}

void gt_sp_took(uint64_t ns)
{
	uint64_t before = __atomic_load_n(&recent, __ATOMIC_RELAXED);

	__atomic_fetch_add(&taken, ns, __ATOMIC_RELAXED);
	if (__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED)) /* the first one may begin the recording */
		__atomic_store_n(&recent, before ? before - before / 8 + ns / 8 : ns, __ATOMIC_RELAXED);
}

/*
 * Where the period is ours to choose: with which all of them so far, and some more, will have taken a
 * hundredth of the process's time. The first walks of a program take the most.
 */
static uint64_t affordable(uint64_t signal)
{
	uint64_t each = signal + __atomic_load_n(&recent, __ATOMIC_RELAXED);
	uint64_t part = used_by_process() / 100, all;

	all = __atomic_load_n(&taken, __ATOMIC_RELAXED) +
	      signal * __atomic_load_n(&signals, __ATOMIC_RELAXED) + AHEAD * each;
	each = all > part ? (all - part) / AHEAD : 0;
	return period_for(each > signal ? each : signal);
}

/* Small changes are not worth the calls that they take. */
static void choose_period(uint64_t signal)
{
	uint64_t is = gt_sp_period, want = affordable(signal ? signal : GUESS);

	if (!signal && want < GT_SP_UNKNOWN)
		want = GT_SP_UNKNOWN;
	if (want > is + is / 8 || want < is - is / 4)
		__atomic_store_n(&gt_sp_period, want, __ATOMIC_RELAXED);
}

static void settle(struct gt_sp_thread *t, uint32_t signal)
{
	if (!signal && gt_sp_clock() < PATIENCE)
		return;
	if (gt_sp_can_say() && !__atomic_exchange_n(&settled, true, __ATOMIC_RELAXED)) {
		if (gt_sp_chosen)
			gt_sp_say("sampling:period", signal ? period_for(signal) : GT_SP_UNKNOWN);
		if (signal)
			gt_sp_say("sampling:cost", signal);
		t->expiries = 0; /* whether it is to have an event is found out next */
	}
}

/*
 * An event is stopped and started at each switch to another thread, which costs more than the samples of a
 * thread that does little else.
 */
static bool switches_much(struct gt_sp_thread *t)
{
	struct rusage use;
	uint64_t now, switches, before = t->switches, passed;

	if (gt_raw(SYS_getrusage, RUSAGE_THREAD, &use))
		return false;
	now = gt_sp_clock();
	switches = (uint64_t)(use.ru_nvcsw + use.ru_nivcsw);
	passed = now - t->switches_at;
	t->switches = switches;
	t->switches_at = now;
	return switches - before > FEW && (switches - before) * SWITCH > passed;
}

static bool set_timer(struct gt_sp_thread *t)
{
	struct itimerspec every = interval();

	t->timer_period = gt_sp_period;
	return !gt_raw(SYS_timer_settime, t->timer, 0, &every, NULL);
}

/* It has not expired for long; somebody may have deleted it. */
static void renew_timer(struct gt_sp_thread *t)
{
	uint64_t mask = gt_lock(&lock);

	if (mask != GT_LOCK_REFUSED && t->tid && !off && !given_up && !set_timer(t)) {
		t->timer = -1;
		start_timer(t);
	}
	gt_unlock(&lock, mask);
}

/*
 * Does the event expire no more? In user mode it does so between two expiries of the timer. If it does not
 * even when it is new, the thread is in page faults all the time, and is left alone for longer.
 */
static bool has_stopped(struct gt_sp_thread *t, bool kernel)
{
	if (!t->event || kernel || ++t->alone < t->patience)
		return false;
	t->patience = t->patience < NEVER ? 2 * t->patience : NEVER;
	return true;
}

/* It is there if it is to be, with its period. */
static void renew_event(struct gt_sp_thread *t, bool wanted, bool anew)
{
	uint64_t mask = gt_lock(&lock); /* handlers may wait for it: who holds it lets no signal come */

	if (mask != GT_LOCK_REFUSED && t->tid && !off && !given_up) {
		if (t->event && (!wanted || anew))
			stop_event(t);
		if (wanted)
			start_event(t);
	}
	gt_unlock(&lock, mask);
}

void gt_sp_timer_expired(struct gt_sp_thread *t, bool kernel)
{
	bool look = !(t->expiries++ % LOOK), wanted = t->event, anew;
	uint32_t signal = gt_interruption();

	if (!__atomic_load_n(&settled, __ATOMIC_RELAXED))
		settle(t, signal);
	if (gt_sp_chosen)
		choose_period(signal);
	if (t->timer_period != gt_sp_period)
		set_timer(t);
	anew = has_stopped(t, kernel) || (t->event && t->event_period != gt_sp_period);
	if (look)
		wanted = !t->refused && !switches_much(t);
	wanted = wanted && gt_sp_period < TICK && (!gt_sp_chosen || settled);
	if (wanted != (t->event != NULL) || anew)
		renew_event(t, wanted, anew);
}

void gt_sp_event_expired(struct gt_sp_thread *t, uint64_t now)
{
	uint64_t every = t->timer_period > TICK ? t->timer_period : TICK;

	t->alone = 0;
	t->patience = STOPPED;
	if (t->timer < 0 || now - t->timer_at < LATE * every)
		return;
	renew_timer(t);
	t->timer_at = now; /* else the time until then would be where it expires next */
}

/* ---- threads ----------------------------------------------------------------------------------------- */

/*
 * Frames of the main thread lie below where the program began, other threads' below their descriptor: the
 * next of both above here, if all pages up to it are there. They stay for as long as the thread lives.
 */
extern void *__libc_stack_end;
static void find_stack(struct gt_sp_thread *t)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), end = (uintptr_t)__libc_stack_end + 8;
	uintptr_t self = (uintptr_t)pthread_self(), page = here & ~(uintptr_t)(PAGE - 1);

	t->low = page;
	t->top = self > here && (self < end || end < here) ? self : end;
	for (unsigned i = 0; page < t->top; i++, page += PAGE)
		if (i == STACK_PAGES || t->top < here || !gt_peek_there(page))
			t->top = page;
}

/* Has the calling thread room for a signal's frame, which is up to 11 kB, and what it interrupts? */
static bool has_room(int tid)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (tid == (int)gt_raw(SYS_getpid)) /* its stack grows */
		return true;
	for (unsigned i = 1; i <= ROOM / PAGE; i++)
		if (!gt_peek_there(here - i * PAGE))
			return false;
	return true;
}

void gt_sp_arm(void)
{
	struct gt_sp_thread *t = NULL;
	uint64_t mask;
	int tid;

	if (gt_sp_self || !gt_sp_signal || __atomic_load_n(&given_up, __ATOMIC_RELAXED) || gt_sp_elsewhere())
		return;
	if (!gt_sp_is_ours()) {
		gt_sp_give_up();
		return;
	}
	tid = (int)gt_raw(SYS_gettid);
	if (gt_sp_chosen && !has_room(tid))
		return;
	mask = gt_lock(&lock);
	if (mask != GT_LOCK_REFUSED && !gt_sp_self)
		t = take(tid);
	if (t) {
		number = gt_sp_signal ? gt_sp_signal : number;
		find_stack(t);
		t->last = t->timer_at = gt_sp_clock();
		gt_sp_self = t;
		if (!off && !given_up)
			start(t);
	}
	gt_unlock(&lock, mask);
	gt_sp_unblock();
}

void gt_sp_disarm(void)
{
	struct gt_sp_thread *t = gt_sp_self;
	uint64_t mask;

	if (!t || gt_sp_elsewhere())
		return;
	mask = gt_lock(&lock);
	if (mask != GT_LOCK_REFUSED) {
		stop(t);
		gt_sp_self = NULL;
		__atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
	}
	gt_unlock(&lock, mask);
}

/* In one order with what gt_sp_all() does: either it sees us, or we see that all are to be off. */
bool gt_sp_handler_begins(void)
{
	__atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&off, __ATOMIC_SEQ_CST) && !gt_is_confined())
		return true;
	gt_sp_handler_ends();
	return false;
}

void gt_sp_handler_ends(void)
{
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
}

/* For other threads, which take microseconds, or as long as a buffer is written. Pairs with their release. */
static void wait_for(const int *count)
{
	const long pause[2] = { 0, 50000 }; /* struct timespec */

	for (int i = 0; i < 20000 && __atomic_load_n(count, __ATOMIC_SEQ_CST) > 0; i++)
		gt_raw(SYS_nanosleep, pause, 0);
}

static void before_fork(void)
{
	__atomic_fetch_add(&forking, 1, __ATOMIC_SEQ_CST);
	wait_for(&opening);
}

/* The threads that began meanwhile and have no timer, which would look at them again. */
static void start_postponed(void)
{
	uint64_t mask = gt_lock(&lock);

	if (mask != GT_LOCK_REFUSED && !off && !given_up)
		for (struct gt_sp_thread *t = threads; t; t = t->next)
			if (t->tid && t->timer < 0 && !start_event(t))
				say_left_out();
	gt_unlock(&lock, mask);
}

static void after_fork(void)
{
	if (!__atomic_sub_fetch(&forking, 1, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&postponed, false, __ATOMIC_SEQ_CST))
		start_postponed();
}

void gt_sp_keep_from_children(void)
{
	pthread_atfork(before_fork, after_fork, NULL);
}

void gt_sp_all(bool on)
{
	uint64_t mask = gt_lock(&lock);

	if (mask != GT_LOCK_REFUSED) {
		int were = __atomic_fetch_add(&off, on ? -1 : 1, __ATOMIC_SEQ_CST);

		for (struct gt_sp_thread *t = were == on ? threads : NULL; t; t = t->next) {
			if (t->tid && on && !given_up)
				start(t);
			else if (t->tid && !on)
				stop(t);
		}
	}
	gt_unlock(&lock, mask);
	if (!on && mask != GT_LOCK_REFUSED)
		wait_for(&running);
}

void gt_sp_give_up(void)
{
	if (__atomic_exchange_n(&given_up, true, __ATOMIC_RELAXED))
		return;
	gt_sp_all(false);
	gt_def_property("sampling:ended", "the program uses the signal by which samples come");
	gt_message(1, "the program uses the signal by which samples come: its processor time is not sampled "
		      "from now on (VT_SAMPLING_SIGNAL takes another one)");
}

/* At least one. */
static int processors(void)
{
	uint64_t set[128];
	long bytes = gt_raw(SYS_sched_getaffinity, 0, sizeof(set), set);
	int n = 0;

	for (long i = 0; i < bytes / 8; i++)
		n += __builtin_popcountll(set[i]);
	return n ? n : 1;
}

void gt_sp_forked(void)
{
	lock = (struct gt_lock){ 0 };
	for (struct gt_sp_thread *t = threads; t; t = t->next) {
		t->event = NULL;
		t->timer = -1;
		t->tid = 0;
	}
	gt_sp_self = NULL;
	settled = false; /* what it says of itself is not its child's */
	taken = signals = 0;
	gt_sp_start = 0;
	off = running = opening = forking = 0;
	postponed = false;
	events_left = EVENTS * processors();
}

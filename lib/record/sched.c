/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records how long each thread ran and how long it waited for a processor, as the scheduler counts it. The
 * values are read when the thread begins, now and then when it spools, and when it ends, into mapped
 * memory, so that a killed process keeps the last reading. The processor time is that of the thread's
 * clock, which is exact at any moment; /proc has the rest (schedstat, Linux's
 * Documentation/scheduler/sched-stats.rst), and counts a wait when it is over.
 *
 * Limits: without a /proc, a free descriptor or CONFIG_SCHED_INFO nothing is known, and in a confined process
 * what comes after: the assembly says for how long. A reading takes two to five microseconds, and more if the
 * thread loses its processor meanwhile: its time is moved where else the thread had been blocked for less
 * than at the reading before, or ready for longer than it has lived.
 */
#include "lib/common/quota.h"
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <string.h>

/* The clock of a thread of this process (clock_getcpuclockid(3) has the same for processes). */
static clockid_t clock_of(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 6);
}

/* A thread that lives for less time (ns) would take as long to be asked: then it is known how long it ran. */
#define SHORT 100000

/* At most as often (ns) while it spools: after a kill so much more is unknown. */
#define SPOOLED 10000000

/* A thread that lives for less time (ns) is not asked how often it was moved: that is a long text. */
#define LONG 10000000
/* One that had been given a processor more often when it began is asked then, too: exec leaves the number. */
#define FEW 4

static uint64_t number(const char **at)
{
	uint64_t n = 0;

	while (**at == ' ')
		++*at;
	for (; **at >= '0' && **at <= '9'; ++*at)
		n = 10 * n + (uint64_t)(**at - '0');
	return n;
}

static bool read_clock(uint32_t tid, struct gt_sched *to)
{
	struct timespec used;

	if (gt_sys_refused() || gt_sys_clock(clock_of(tid), &used))
		return false;
	*to = (struct gt_sched){ .running = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec,
				 .moves = GT_NOT_READ };
	return true;
}

/* False: not known. A thread that has never been given a processor is one of a kernel that does not count. */
static bool read_sched(uint32_t tid, struct gt_sched *to)
{
	char name[48], text[80];
	const char *at = text;

	gt_text(name, sizeof(name), "/proc/self/task/%u/schedstat", tid);
	if (!read_clock(tid, to))
		return false;
	to->at = gt_monotonic();
	if (gt_sys_read_text(name, text, sizeof(text)) <= 0)
		return false;
	number(&at); /* the processor time at the last tick */
	to->ready = number(&at);
	to->switches = number(&at);
	return to->switches;
}

/* Only in a text for people: "se.nr_migrations : 2" is one of its first lines. */
static uint64_t read_moves(uint32_t tid)
{
	char name[48], text[512];
	const char *at;

	gt_text(name, sizeof(name), "/proc/self/task/%u/sched", tid);
	if (gt_sys_read_text(name, text, sizeof(text)) <= 0)
		return GT_NOT_READ;
	at = strstr(text, "nr_migrations");
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return GT_NOT_READ;
	at++;
	return number(&at);
}

/* A thread's number may have become another's, which has run for less. */
static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* The time between two readings in which it was not blocked. */
static uint64_t able(const struct gt_sched *from, const struct gt_sched *to)
{
	return less(to->running, from->running) + less(to->ready, from->ready);
}

/*
 * A later reading. When a thread neither ran nor was ready it was blocked, and that never becomes less: it
 * may have lost its processor between the reading's time and the kernel's text, which has that already. Of
 * one that was never blocked, what it has run for more than it lived is the moment that a reading takes.
 */
static void take(struct gt_states *states, const struct gt_sched *now)
{
	const struct gt_sched *from = &states->begin, *last = &states->last;
	uint64_t blocked = less(less(last->at, from->at), able(from, last));
	uint64_t over = less(from->at + able(from, now) + blocked, now->at);
	uint64_t ready = less(now->ready, last->ready);

	states->last = *now;
	states->last.at += blocked || over < ready ? over : ready;
}

void gt_states_next(struct gt_states *states)
{
	const struct gt_sched *from = &states->begin, *to = &states->last;

	if (!from->at)
		return;
	states->lifetime += states->until - from->at;
	states->unknown += less(states->until, to->at ? to->at : from->at);
	if (to->at) {
		states->running += less(to->running, from->running);
		states->ready += less(to->ready, from->ready);
		states->switches += less(to->switches, from->switches);
		if (to->moves != GT_NOT_READ && from->moves != GT_NOT_READ) {
			states->moves += less(to->moves, from->moves);
			states->moved++;
		}
	}
	states->begin = states->last = (struct gt_sched){ .at = 0 };
	states->ended = 0;
}

void gt_states_begin(struct gt_states *states, const struct gt_sched *now, bool known)
{
	states->ended = 0;
	states->until = now->at;
	states->tick = gt_clock_read();
	states->last = known ? *now : (struct gt_sched){ .at = 0 };
	states->last.moves = GT_NOT_READ;
	states->begin.running = now->running;
	states->begin.ready = now->ready;
	states->begin.switches = now->switches;
	states->begin.moves = now->moves;
	__atomic_store_n(&states->begin.at, now->at, __ATOMIC_RELEASE); /* pairs with gt_states_note() */
}

void gt_states_born(struct gt_states *states, uint64_t at)
{
	gt_states_begin(states, &(struct gt_sched){ .at = at }, true);
}

/*
 * When the last threads were created, by their numbers, so that the first of the two readings can be saved.
 * Who finds another one's there reads.
 */
#define CREATED 64
static struct {
	uint64_t number, at;
} created[CREATED];

void gt_states_created(uint64_t thread)
{
	/* Pairs with gt_states_creation(). */
	__atomic_store_n(&created[thread % CREATED].number, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&created[thread % CREATED].at, gt_monotonic(), __ATOMIC_RELEASE);
	/* Pairs with gt_states_creation(). */
	__atomic_store_n(&created[thread % CREATED].number, thread, __ATOMIC_RELEASE);
}

uint64_t gt_states_creation(uint64_t thread)
{
	uint64_t at;

	if (!thread || __atomic_load_n(&created[thread % CREATED].number, __ATOMIC_ACQUIRE) != thread)
		return 0;
	at = __atomic_load_n(&created[thread % CREATED].at, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&created[thread % CREATED].number, __ATOMIC_ACQUIRE) == thread ? at : 0;
}

bool gt_states_read(uint32_t tid, struct gt_sched *to)
{
	bool known = read_sched(tid, to);

	if (!known)
		*to = (struct gt_sched){ .switches = 0 };
	to->at = gt_monotonic(); /* what it has been ready for until now does not count */
	if (known)
		to->moves = to->switches > FEW ? read_moves(tid) : 0;
	return known;
}

/* Of a short life: as if it had run first, and the rest came after the last reading. */
static bool read_short(const struct gt_states *states, uint32_t tid, struct gt_sched *to)
{
	if (gt_monotonic() - states->begin.at >= SHORT || !read_clock(tid, to))
		return false;
	to->at = states->begin.at + (to->running - states->begin.running);
	to->ready = states->begin.ready;
	to->switches = states->begin.switches;
	return true;
}

/*
 * The thread itself and the one that ends the process note states: who finds the other one at it leaves it
 * to that one. 0: nobody does, and the thread has not ended.
 */
enum { ENDED = 1, NOTING = 2 };

static bool enter(struct gt_states *states)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&states->ended, &nobody, NOTING, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void leave(struct gt_states *states, bool ends)
{
	__atomic_store_n(&states->ended, ends ? ENDED : 0, __ATOMIC_RELEASE); /* pairs with enter() */
}

/* Between enter() and leave(). */
static void note(struct gt_states *states, uint32_t tid, bool ends)
{
	struct gt_sched now;
	bool brief, known;

	brief = ends && states->last.at && read_short(states, tid, &now);
	known = brief || (states->last.at && read_sched(tid, &now));
	if (known && !brief && now.at - states->begin.at >= LONG)
		now.moves = read_moves(tid);
	if (known)
		take(states, &now);
	states->until = known && !brief ? states->last.at : gt_monotonic();
	states->tick = gt_clock_read();
}

void gt_states_note(struct gt_states *states, uint32_t tid, bool ends)
{
	if (!__atomic_load_n(&states->begin.at, __ATOMIC_ACQUIRE) || !enter(states))
		return;
	note(states, tid, ends);
	leave(states, ends);
}

/* The main thread's are the process's: it may have no location, and has begun before it has one. */
static struct gt_states *states_of(struct gt_location *loc)
{
	return loc->win->tid == (uint32_t)gt_pid ? &gt_proc->states : &loc->win->states;
}

void gt_location_states(struct gt_location *loc, bool ends)
{
	gt_states_note(states_of(loc), loc->win->tid, ends);
}

bool gt_location_sums(const struct gt_location *loc, uint64_t sums[4])
{
	const struct gt_states *states = states_of((struct gt_location *)loc);
	const struct gt_sched *from = &states->begin, *to = &states->last;
	uint64_t known = less(states->lifetime, states->unknown);

	if (!from->at || to->at <= from->at)
		return false;
	sums[0] = states->running + less(to->running, from->running);
	sums[1] = states->ready + less(to->ready, from->ready);
	sums[2] = less(known + (to->at - from->at), sums[0] + sums[1]);
	sums[3] = 0;
	return true;
}

/* Signals are blocked then, and a window may be full a thousand times a second. */
bool gt_location_spooled(struct gt_location *loc, uint64_t sums[4])
{
	struct gt_states *states = states_of(loc);
	bool known = false;

	if (!enter(states))
		return false;
	if (states->begin.at && less(gt_monotonic(), states->until) >= SPOOLED) {
		note(states, loc->win->tid, false);
		/* Else it could not be read: these are the sums of before. */
		known = states->last.at == states->until && gt_location_sums(loc, sums);
	}
	leave(states, false);
	return known;
}

/* How often it was moved is read at its end alone: that takes longer than all else. */
bool gt_location_again(struct gt_location *loc, uint64_t apart, uint64_t sums[4])
{
	struct gt_states *states = states_of(loc);
	struct gt_sched now;
	bool known = false;

	if (!enter(states))
		return false;
	if (states->last.at && less(gt_monotonic(), states->until) >= apart &&
	    read_sched(loc->win->tid, &now)) {
		now.moves = states->last.moves;
		take(states, &now);
		states->until = states->last.at;
		states->tick = gt_clock_read();
		known = gt_location_sums(loc, sums);
	}
	leave(states, false);
	return known;
}

/* ---- quotas ----------------------------------------------------------------------------------------- */

static bool read_quotas(struct gt_quota *list)
{
	char groups[2048];
	ssize_t n = gt_sys_read_text("/proc/self/cgroup", groups, sizeof(groups));

	return n > 0 && n < (ssize_t)sizeof(groups) - 1 && gt_quotas_read(GT_QUOTA_ROOT, groups, list) >= 0;
}

void gt_quotas_begin(void)
{
	struct gt_quota now[GT_QUOTAS];

	if (!read_quotas(now))
		return;
	for (unsigned i = 0; i < GT_QUOTAS; i++)
		now[i].before = now[i].after;
	memcpy(gt_proc->quotas, now, sizeof(now));
	gt_proc->quotas_known = 1;
}

static const struct gt_quota *quota_of(const struct gt_quota *list, uint64_t group)
{
	for (unsigned i = 0; i < GT_QUOTAS; i++)
		if (list[i].group == group)
			return &list[i];
	return NULL;
}

/* Most have none, and nothing to read. Of one that has been moved to another group nothing is known. */
void gt_quotas_end(void)
{
	struct gt_quota now[GT_QUOTAS], *mine = gt_proc->quotas;

	if (!mine->group || !read_quotas(now))
		return;
	for (unsigned i = 0; i < GT_QUOTAS && mine[i].group; i++) {
		const struct gt_quota *of = quota_of(now, mine[i].group);

		if (!of)
			return;
		mine[i].after = of->after;
	}
	gt_proc->quotas_known = 2;
}

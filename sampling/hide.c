/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signal by which samples come, hidden from the program as the thread library hides its own two: it is
 * taken out of every set that the program gives, and what the program has set for it is kept aside and shown
 * when it asks. The kernel sees the program's own values again before an exec, and when the program wants the
 * signal for itself: a handler for it, or a wait for a few signals of which it is one.
 *
 * A child that vfork() has made shares this memory, but its signals are its own, and nobody samples it: there
 * everything is handed on as it is.
 *
 * Limits: whether a thread blocks the signal is known from what it has asked for itself: siglongjmp() out of
 * a handler, swapcontext() and a handler's own mask do not change what it is shown. Raw system calls are not
 * seen (Go's runtime).
 */
#undef _FORTIFY_SOURCE /* the functions have their own names here */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "gputrace/syscall.h"
#include "sampling/sampling.h"

/* Deprecated functions are used by old programs. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define FEW 8 /* signals that a program waits for because it means them */

GT_HIDDEN int gt_sp_signal;
GT_HIDDEN bool gt_sp_chosen;
static int given_back; /* the same, once the program has it; atomic */
static struct sigaction shown; /* what the program has set for it */
static struct sigaction ours;
static void (*claimed)(void);
static uint64_t masked_by;     /* handlers of other signals whose mask has it: bit n - 1; atomic */
static int pid;
static GT_TLS bool blocks; /* as the program has asked for */

/* ---- the next definitions ---------------------------------------------------------------------------- */

typedef void (*handler_fn)(int);
int epoll_pwait2(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
int __sigaction(int, const struct sigaction *, struct sigaction *);
handler_fn __sysv_signal(int, handler_fn);
handler_fn bsd_signal(int, handler_fn);
handler_fn ssignal(int, handler_fn);
handler_fn sysv_signal(int, handler_fn);
/* <signal.h> gives one of them the other's symbol. */
GT_API int pause_mask(int bits) __asm__("sigpause");
GT_API int pause_one(int number) __asm__("__xpg_sigpause");
int siggetmask(void);

#define FUNCTIONS(F)                                                                               \
	F(__ppoll_chk) F(__sigaction) F(__sysv_signal) F(bsd_signal) F(epoll_pwait)                \
	F(epoll_pwait2) F(ppoll) F(pselect) F(pthread_sigmask) F(sigaction) F(sigblock)            \
	F(siggetmask) F(sighold) F(sigignore) F(siginterrupt) F(signal) F(signalfd)                \
	F(sigpending) F(sigprocmask) F(sigrelse) F(sigset) F(sigsetmask) F(sigsuspend)             \
	F(sigtimedwait) F(sigwait) F(sigwaitinfo) F(ssignal) F(sysv_signal)

static struct {
#define F(name) __typeof__(name) *name;
	FUNCTIONS(F)
#undef F
	int (*pause_mask)(int), (*pause_one)(int);
} next;

/* In a handler, or in a child of vfork(), nothing can be looked up: so all at once. */
static void look_up(void)
{
#define F(name) __atomic_store_n(&next.name, (__typeof__(name) *)gt_next_symbol(#name), __ATOMIC_RELAXED);
	FUNCTIONS(F)
#undef F
	next.pause_mask = (int (*)(int))gt_next_symbol("sigpause");
	next.pause_one = (int (*)(int))gt_next_symbol("__xpg_sigpause");
}

/* Other libraries' constructors come before ours. */
#define NEXT(name)                                                                                 \
	(gt_unlikely(!next.name) ? look_up() : (void)0, next.name)

/* ---- sets -------------------------------------------------------------------------------------------- */

static uint64_t bit_of(int number)
{
	return UINT64_C(1) << (number - 1);
}

/* The kernel's part of a set. */
static uint64_t word(const sigset_t *set)
{
	uint64_t bits;

	memcpy(&bits, set, sizeof(bits));
	return bits;
}

static void set_word(sigset_t *set, uint64_t bits)
{
	memcpy(set, &bits, sizeof(bits));
}

bool gt_sp_elsewhere(void)
{
	return !gt_is_confined() && gt_raw(SYS_getpid) != pid;
}

/* The bit of the hidden signal, 0: nothing is hidden, or not from this process. */
static uint64_t hidden(void)
{
	int number = __atomic_load_n(&gt_sp_signal, __ATOMIC_RELAXED);

	return number ? bit_of(number) : 0;
}

/* Does the kernel accept the pointer? It reads the set before it refuses what is to be done with it. Once the
 * process has confined itself no sample comes any more, and no call is made but the program's own. */
static bool readable(const sigset_t *set)
{
	return !gt_is_confined() &&
	       gt_raw(SYS_rt_sigprocmask, ~0, set, NULL, sizeof(uint64_t)) != -EFAULT;
}

/* The set, or a copy of it without the signal. */
static const sigset_t *without(const sigset_t *set, sigset_t *copy)
{
	uint64_t bit = hidden();

	if (!set || !bit || !readable(set) || !(word(set) & bit) || gt_sp_elsewhere())
		return set;
	memset(copy, 0, sizeof(*copy));
	set_word(copy, word(set) & ~bit);
	return copy;
}

static bool means(const sigset_t *set)
{
	uint64_t bit = hidden();

	return bit && set && word(set) & bit && __builtin_popcountll(word(set)) <= FEW && !gt_sp_elsewhere();
}

static void catch_up(void);

/* Handlers of other signals block it again. */
static void unmask_others(int claimed_one)
{
	uint64_t others = __atomic_exchange_n(&masked_by, 0, __ATOMIC_RELAXED);
	struct sigaction act;

	for (int i = 1; i <= 64; i++) {
		if (!(others & bit_of(i)) || NEXT(sigaction)(i, NULL, &act))
			continue;
		set_word(&act.sa_mask, word(&act.sa_mask) | bit_of(claimed_one));
		NEXT(sigaction)(i, &act, NULL);
	}
}

/* The program wants it: the kernel is told what the program has set, each thread's mask by the thread. */
static void claim(void)
{
	int number = __atomic_exchange_n(&gt_sp_signal, 0, __ATOMIC_ACQ_REL);

	if (!number)
		return;
	claimed();
	NEXT(sigaction)(number, &shown, NULL);
	unmask_others(number);
	__atomic_store_n(&given_back, number, __ATOMIC_RELAXED);
	catch_up();
}

/*
 * A set that is waited for, or read from. Who has asked for samples gets them although the program waits for
 * all signals; else it may mean this one, too.
 */
static const sigset_t *awaited(const sigset_t *set, sigset_t *copy)
{
	if (set && readable(set) &&
	    (means(set) || (gt_sp_chosen && word(set) & hidden() && !gt_sp_elsewhere())))
		claim();
	return without(set, copy);
}

/* ---- masks ------------------------------------------------------------------------------------------- */

/* The signal has been given back since this thread blocked it. */
static void catch_up(void)
{
	int number = __atomic_load_n(&given_back, __ATOMIC_RELAXED);
	uint64_t bit;

	if (gt_likely(!blocks || !number) || gt_sp_elsewhere())
		return;
	blocks = false;
	bit = bit_of(number);
	gt_raw(SYS_rt_sigprocmask, SIG_BLOCK, &bit, NULL, sizeof(bit));
}

typedef int mask_fn(int, const sigset_t *, sigset_t *);
static int mask(mask_fn *real, int how, const sigset_t *set, sigset_t *old)
{
	uint64_t bit;
	bool asked, was = blocks;
	sigset_t copy;
	int rc;

	catch_up();
	if (set && how != SIG_UNBLOCK && means(set)) /* threads made from now on are to inherit that */
		claim();
	bit = hidden();
	asked = bit && set && word(set) & bit;
	if (!bit || !(asked || was) || gt_sp_elsewhere())
		return real(how, set, old);
	if (asked) {
		copy = *set;
		set_word(&copy, word(set) & ~bit);
	}
	rc = real(how, asked ? &copy : set, old);
	if (rc)
		return rc;
	if (set)
		blocks = how == SIG_BLOCK ? was || asked : how == SIG_UNBLOCK ? was && !asked : asked;
	if (old && was)
		set_word(old, word(old) | bit);
	return 0;
}

GT_API int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask(NEXT(sigprocmask), how, set, old);
}

GT_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask(NEXT(pthread_sigmask), how, set, old);
}

/* The older functions have the first 32 signals in an int. */
static int old_mask(int how, int bits)
{
	sigset_t set, old;

	memset(&set, 0, sizeof(set));
	set_word(&set, (uint32_t)bits);
	sigprocmask(how, &set, &old);
	return (int)(uint32_t)word(&old);
}

GT_API int sigblock(int bits)
{
	return old_mask(SIG_BLOCK, bits);
}

GT_API int sigsetmask(int bits)
{
	return old_mask(SIG_SETMASK, bits);
}

GT_API int siggetmask(void)
{
	return old_mask(SIG_BLOCK, 0);
}

static int one(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, number) ? -1 : sigprocmask(how, &set, NULL);
}

GT_API int sighold(int number)
{
	return one(SIG_BLOCK, number);
}

GT_API int sigrelse(int number)
{
	return one(SIG_UNBLOCK, number);
}

GT_API int sigpending(sigset_t *set)
{
	int rc = NEXT(sigpending)(set);

	if (!rc && word(set) & hidden() && !gt_sp_elsewhere())
		set_word(set, word(set) & ~hidden());
	return rc;
}

/* ---- dispositions ------------------------------------------------------------------------------------ */

static bool is_handler(const struct sigaction *act)
{
	return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

/* Of the hidden signal. Returns false if the program has claimed it by that: then the call goes on. */
static bool change_shown(const struct sigaction *act, struct sigaction *old)
{
	struct sigaction was = shown;

	if (act && is_handler(act)) {
		claim();
		return false;
	}
	if (act)
		shown = *act;
	if (old)
		*old = was;
	return true;
}

/* Of another one, whose handler may want it blocked. */
static int change_other(int number, const struct sigaction *act, struct sigaction *old, uint64_t bit)
{
	uint64_t mine = bit_of(number);
	bool was = __atomic_load_n(&masked_by, __ATOMIC_RELAXED) & mine, asks;
	struct sigaction copy;
	int rc;

	if (!act && !was)
		return NEXT(sigaction)(number, act, old);
	asks = act && word(&act->sa_mask) & bit;
	if (!asks && !was)
		return NEXT(sigaction)(number, act, old);
	if (act) {
		copy = *act;
		set_word(&copy.sa_mask, word(&act->sa_mask) & ~bit);
	}
	rc = NEXT(sigaction)(number, act ? &copy : NULL, old);
	if (rc)
		return rc;
	if (old && was)
		set_word(&old->sa_mask, word(&old->sa_mask) | bit);
	if (act && asks)
		__atomic_fetch_or(&masked_by, mine, __ATOMIC_RELAXED);
	else if (act)
		__atomic_fetch_and(&masked_by, ~mine, __ATOMIC_RELAXED);
	return 0;
}

GT_API int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	uint64_t bit = hidden();

	if (!bit || number < 1 || number > 64 || gt_sp_elsewhere())
		return NEXT(sigaction)(number, act, old);
	if (bit_of(number) != bit)
		return change_other(number, act, old, bit);
	return change_shown(act, old) ? 0 : NEXT(sigaction)(number, act, old);
}

GT_API int __sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	return sigaction(number, act, old);
}

/* Is it about the hidden signal, and not to be handed on? */
static bool about_hidden(int number)
{
	return number > 0 && number <= 64 && bit_of(number) == hidden() && !gt_sp_elsewhere();
}

static bool swap_handler(int number, handler_fn handler, handler_fn *was)
{
	struct sigaction act, old;

	if (!about_hidden(number))
		return false;
	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	if (!change_shown(&act, &old))
		return false;
	*was = old.sa_handler;
	return true;
}

#define SIGNAL(name)                                                                               \
	GT_API handler_fn name(int number, handler_fn handler)                                     \
	{                                                                                          \
		handler_fn was;                                                                    \
												\
		return swap_handler(number, handler, &was) ? was : NEXT(name)(number, handler);            \
	}
SIGNAL(signal)
SIGNAL(bsd_signal)
SIGNAL(ssignal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)

GT_API handler_fn sigset(int number, handler_fn handler)
{
	bool was = blocks;
	handler_fn old = shown.sa_handler;

	if (!about_hidden(number))
		return NEXT(sigset)(number, handler);
	if (handler == SIG_HOLD)
		blocks = true;
	else if (!swap_handler(number, handler, &old))
		return NEXT(sigset)(number, handler);
	else
		blocks = false;
	return was ? SIG_HOLD : old;
}

GT_API int sigignore(int number)
{
	handler_fn was;

	return swap_handler(number, SIG_IGN, &was) ? 0 : NEXT(sigignore)(number);
}

GT_API int siginterrupt(int number, int flag)
{
	return about_hidden(number) ? 0 : NEXT(siginterrupt)(number, flag);
}

/* ---- waits ------------------------------------------------------------------------------------------- */

GT_API int sigsuspend(const sigset_t *set)
{
	sigset_t copy;

	return NEXT(sigsuspend)(without(set, &copy));
}

int pause_mask(int bits)
{
	return NEXT(pause_mask)(gt_sp_elsewhere() ? bits : (int)((uint32_t)bits & ~(uint32_t)hidden()));
}

int pause_one(int number)
{
	if (about_hidden(number))
		claim();
	return NEXT(pause_one)(number);
}

GT_API int sigwait(const sigset_t *set, int *number)
{
	sigset_t copy;

	return NEXT(sigwait)(awaited(set, &copy), number);
}

GT_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t copy;

	return NEXT(sigwaitinfo)(awaited(set, &copy), info);
}

GT_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t copy;

	return NEXT(sigtimedwait)(awaited(set, &copy), info, timeout);
}

GT_API int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return NEXT(signalfd)(fd, awaited(set, &copy), flags);
}

GT_API int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t copy;

	return NEXT(ppoll)(fds, n, timeout, without(set, &copy));
}

GT_API int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *set,
		       size_t bytes)
{
	sigset_t copy;

	return NEXT(__ppoll_chk)(fds, n, timeout, without(set, &copy), bytes);
}

GT_API int pselect(int n, fd_set *in, fd_set *out, fd_set *errors, const struct timespec *timeout,
		   const sigset_t *set)
{
	sigset_t copy;

	return NEXT(pselect)(n, in, out, errors, timeout, without(set, &copy));
}

GT_API int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *set)
{
	sigset_t copy;

	return NEXT(epoll_pwait)(fd, events, n, timeout, without(set, &copy));
}

GT_API int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout,
			const sigset_t *set)
{
	sigset_t copy;

	if (!NEXT(epoll_pwait2)) { /* a C library before 2.35: nobody can have been linked against it */
		errno = ENOSYS;
		return -1;
	}
	return NEXT(epoll_pwait2)(fd, events, n, timeout, without(set, &copy));
}

/* ---- for the adapter --------------------------------------------------------------------------------- */

bool gt_sp_hide(int number, void (*handler)(int, siginfo_t *, void *), void (*is_claimed)(void))
{
	look_up();
	pid = (int)gt_raw(SYS_getpid);
	claimed = is_claimed;
	ours.sa_sigaction = handler;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigfillset(&ours.sa_mask);
	if (NEXT(sigaction)(number, NULL, &shown) || is_handler(&shown) ||
	    NEXT(sigaction)(number, &ours, NULL))
		return false;
	__atomic_store_n(&gt_sp_signal, number, __ATOMIC_RELEASE); /* pairs with claim() */
	return true;
}

bool gt_sp_is_ours(void)
{
	struct { /* as the kernel has it */
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} now = { 0 };
	int number = gt_sp_signal;

	return !number || gt_raw(SYS_rt_sigaction, number, NULL, &now, sizeof(now.mask)) ||
	       now.handler == ours.sa_sigaction;
}

void gt_sp_unblock(void)
{
	uint64_t bit = hidden(), old = 0;

	if (!bit)
		return;
	gt_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, &old, sizeof(old));
	blocks |= (old & bit) != 0;
}

void gt_sp_hide_exec(bool begins)
{
	uint64_t bit = hidden();

	if (!bit)
		return;
	if (shown.sa_handler == SIG_IGN)
		NEXT(sigaction)(gt_sp_signal, begins ? &shown : &ours, NULL);
	if (blocks)
		gt_raw(SYS_rt_sigprocmask, begins ? SIG_BLOCK : SIG_UNBLOCK, &bit, NULL, sizeof(bit));
}

void gt_sp_hide_forked(void)
{
	pid = (int)gt_raw(SYS_getpid);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that confines itself: of all system calls only those are left that it makes itself, every
 * other one kills it. confined WAY: end: returns from main; child: forks before it ends, the child works
 * too; many: works until all buffers are full; syscall: confines itself by syscall(), exit_group: and ends by
 * it; signal: a signal's handler defines names while the program does; thread: another thread defines names,
 * and must get its signals afterwards as before; refused: another thread tries all the time to confine
 * itself, in vain, while the first works as with many; names: defines 60 KB of names afterwards. Status 77:
 * this kernel has no such filters.
 *
 * Limits: x86-64 and arm64.
 */
#include "trouble.h"

#include "vt_user.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int confined_work(int x)
{
	HERE();
	return x + 2;
}

UNSEEN static int confine(int by_syscall, int forks)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(write),
		ALLOW(exit_group),
		ALLOW(clone),
		ALLOW(set_robust_list),
		ALLOW(wait4),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask), /* the C library's fork(), from 2.41 on */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (!forks)
		filter[sizeof(filter) / sizeof(*filter) - 3].k = ~0u;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (by_syscall) /* what fails confines nobody */
		MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, ~0u, &program) == -1 && errno == EINVAL);
	return by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
			  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

UNSEEN static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* A text that was not there before. */
UNSEEN static void define(char who)
{
	static unsigned number;
	unsigned n = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
	char name[16] = { who };
	int i;

	for (i = 1; n; n /= 10)
		name[i++] = (char)('0' + n % 10);
	VT_COMMENT(name);
}

static volatile sig_atomic_t strikes;
static volatile int stop, blocked = -1;

UNSEEN static void strike(int signal)
{
	(void)signal;
	define('s');
	strikes++;
}

/* Every signal finds a definition half done, if it can be. */
UNSEEN static void define_in_handlers(void)
{
	double end = now() + 0.3;

	while (now() < end)
		define('m');
	say("handlers %s\n", strikes > 100 ? "ran" : "were too few");
}

UNSEEN static void tick_from_now_on(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } };

	signal(SIGALRM, strike);
	MUST(!setitimer(ITIMER_REAL, &often, NULL));
}

UNSEEN static void *definer(void *unused)
{
	sigset_t set;

	while (!stop)
		define('t');
	MUST(!pthread_sigmask(SIG_SETMASK, NULL, &set));
	blocked = sigismember(&set, SIGUSR1);
	return unused;
}

/* Tries often, in vain, to be confined while the other thread is in the middle of something. */
UNSEEN static void begin_thread(pthread_t *thread)
{
	struct timespec pause = { 0, 100000 };
	int i;

	MUST(!pthread_create(thread, NULL, definer, NULL));
	for (i = 0; i < 200; i++) {
		nanosleep(&pause, NULL);
		MUST(prctl(PR_SET_SECCOMP, ~0ul, NULL) == -1 && errno == EINVAL);
	}
}

static volatile int tries;

UNSEEN static void *refused(void *unused)
{
	for (;; tries++)
		MUST(prctl(PR_SET_SECCOMP, ~0ul, NULL) == -1 && errno == EINVAL);
	return unused;
}

UNSEEN static void begin_refused(pthread_t *thread)
{
	MUST(!pthread_create(thread, NULL, refused, NULL));
	while (tries < 100)
		HERE();
}

UNSEEN static void end_thread(void)
{
	double end = now() + 10;

	stop = 1;
	while (blocked < 0 && now() < end)
		HERE();
	say("the thread's signals are %s\n", blocked < 0 ? "not known" : blocked ? "blocked" : "open");
}

/* Each takes 1024 bytes of the journal. */
UNSEEN static void define_long(void)
{
	static char name[992];
	int i;

	memset(name, 'n', sizeof(name) - 1);
	for (i = 0; i < 60; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		VT_COMMENT(name);
	}
}

int main(int argc, char **argv)
{
	int in_vain = argc > 1 && !strcmp(argv[1], "refused");
	int n = in_vain || (argc > 1 && !strcmp(argv[1], "many")) ? 300000 : 1000;
	int child = argc > 1 && !strcmp(argv[1], "child"), status = 0, i;
	int ends = argc > 1 && !strcmp(argv[1], "exit_group");
	int by_syscall = ends || (argc > 1 && !strcmp(argv[1], "syscall"));
	int in_handlers = argc > 1 && !strcmp(argv[1], "signal");
	int with_names = argc > 1 && !strcmp(argv[1], "names");
	int beside = argc > 1 && !strcmp(argv[1], "thread");
	pthread_t thread;
	void *open[3];

	for (i = 0; i < 1000; i++)
		work(i);
	for (i = 0; i < 3; i++)
		MUST((open[i] = dlopen("libm.so.6", RTLD_NOW)));
	if (in_handlers)
		tick_from_now_on();
	if (beside)
		begin_thread(&thread);
	if (in_vain)
		begin_refused(&thread);
	if (confine(by_syscall, child))
		_exit(77);
	for (i = 0; i < 2; i++) /* one stays, so that the loader makes no system call */
		dlclose(open[i]);
	for (i = 0; i < n; i++)
		confined_work(i);
	if (in_handlers)
		define_in_handlers();
	if (with_names)
		define_long();
	if (beside)
		end_thread();
	if (child) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0) {
			for (i = 0; i < 1000; i++)
				confined_work(i);
			_exit(4);
		}
		MUST(wait4(pid, &status, 0, NULL) == pid && WEXITSTATUS(status) == 4);
	}
	say("calls work 1000\n%s confined_work %d\n", n > 1000 ? "atleast" : "calls", 1000);
	if (ends)
		syscall(SYS_exit_group, 3);
	return 3;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program sees of signals while it computes: nothing that it has not sent itself. Prints a line for
 * each thing that it does, the same with and without samples.
 *
 *	signals CASE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void note(int number)
{
	got = number;
}

static void say_and_exit(int number)
{
	(void)number;
	_exit(write(1, "first instruction\n", 18) != 18);
}

/* Processor time: 60 ms are several samples. */
static void compute(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC * 6 / 100;

	while (clock() < end)
		;
}

static void say(const char *what, int number)
{
	printf("%s: %s\n", what, number > 0 ? strsignal(number) : number ? strerror(errno) : "nothing");
}

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

static void timedwait(void)
{
	const struct timespec none = { 0, 0 };
	sigset_t all;

	block_all();
	compute();
	sigfillset(&all);
	say("sigtimedwait", sigtimedwait(&all, NULL, &none));
	sigpending(&all);
	for (int i = 1; i < 65; i++)
		if (sigismember(&all, i) == 1)
			say("pending", i);
}

static void by_descriptor(void)
{
	struct signalfd_siginfo info;
	sigset_t all;
	int fd;

	block_all();
	sigfillset(&all);
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	compute();
	printf("signalfd: %d\n", (int)read(fd, &info, sizeof(info)));
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns when the alarm comes, not before. */
static void suspended(void)
{
	double begin = seconds();
	sigset_t none;

	signal(SIGALRM, note);
	block_all();
	compute();
	alarm(1);
	sigemptyset(&none);
	printf("sigsuspend: %d %s", sigsuspend(&none), strerror(errno));
	printf(" %s, %s\n", strsignal(got), seconds() - begin >= 1 ? "late" : "early");
}

static void polled(void)
{
	struct timespec wait = { 0, 50000000 };
	sigset_t none;
	int fd = epoll_create1(0);
	struct epoll_event event;

	block_all();
	sigemptyset(&none);
	compute();
	printf("ppoll: %d\n", ppoll(NULL, 0, &wait, &none));
	compute();
	printf("pselect: %d\n", pselect(0, NULL, NULL, NULL, &wait, &none));
	compute();
	printf("epoll_pwait: %d\n", epoll_pwait(fd, &event, 1, 50, &none));
	printf("ppoll of a bad mask: %d %s\n", ppoll(NULL, 0, &wait, (sigset_t *)8), strerror(errno));
}

static void defaults(void)
{
	for (int i = 1; i < 65; i++)
		signal(i, SIG_DFL);
	compute();
	puts("defaults: alive");
}

/* The new program unblocks what came before. */
static void executed(char **argv)
{
	sigset_t all;

	if (getenv("SECOND")) {
		sigfillset(&all);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		compute();
		puts("executed: alive");
		return;
	}
	block_all();
	compute();
	setenv("SECOND", "1", 1);
	execv("/proc/self/exe", argv);
}

/* What was set is shown, and passed on to the next program. */
static void shown(char **argv)
{
	static const int numbers[] = { SIGURG, SIGWINCH, SIGUSR1 };
	struct sigaction act;
	sigset_t set, old;

	if (!getenv("SECOND")) {
		memset(&act, 0, sizeof(act));
		sigfillset(&act.sa_mask);
		act.sa_handler = note;
		sigaction(SIGUSR2, &act, NULL);
		compute();
		sigaction(SIGUSR2, NULL, &act);
		for (int i = 0; i < 3; i++)
			printf("a handler's mask has %s: %d\n", strsignal(numbers[i]),
			       sigismember(&act.sa_mask, numbers[i]));
		block_all();
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		for (int i = 0; i < 3; i++)
			printf("signal %s: %s\n", strsignal(numbers[i]),
			       signal(numbers[i], SIG_IGN) == SIG_DFL ? "default" : "other");
		compute();
	}
	sigprocmask(SIG_BLOCK, NULL, &old);
	for (int i = 0; i < 3; i++) {
		sigaction(numbers[i], NULL, &act);
		printf("%s: blocked %d, ignored %d\n", strsignal(numbers[i]), sigismember(&old, numbers[i]),
		       act.sa_handler == SIG_IGN);
	}
	fflush(stdout);
	if (getenv("SECOND"))
		return;
	setenv("SECOND", "1", 1);
	execv("/nowhere", argv);
	sigprocmask(SIG_BLOCK, NULL, &old);
	printf("after a failed exec: blocked %d\n", sigismember(&old, SIGURG));
	fflush(stdout);
	execv("/proc/self/exe", argv);
}

/* The program's own: a handler, and a wait for it. */
static void own_handler(void)
{
	compute();
	signal(SIGURG, note);
	compute();
	printf("before: %d\n", (int)got);
	raise(SIGURG);
	say("own handler", got);
	compute();
}

static void own_wait(void)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int fd;

	compute();
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	compute();
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	compute();
	printf("before: %d\n", (int)read(fd, &info, sizeof(info)));
	raise(SIGURG);
	printf("own wait: %d\n", read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : -1);
}

/* A child that shares memory sets its own. */
static void in_vfork(void)
{
	sigset_t all, old;
	pid_t child;

	compute();
	child = vfork();
	if (!child) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		signal(SIGURG, SIG_IGN);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	sigprocmask(SIG_BLOCK, NULL, &old);
	printf("vfork: blocked %d\n", sigismember(&old, SIGURG));
	printf("vfork: %s\n", signal(SIGURG, SIG_DFL) == SIG_DFL ? "default" : "other");
	compute();
}

/* Every call that sleeps, while the thread also computes: none is interrupted, no read is short. */
static void interrupted(void)
{
	static char data[1 << 20];
	int fd = open("/dev/zero", O_RDONLY), errors = 0, rounds = 0;
	struct timespec ms = { 0, 200000 };
	double end = seconds() + 2;
	struct pollfd none;

	while (seconds() < end) {
		volatile double x = 0;

		for (int i = 0; i < 100000; i++)
			x += i;
		errors += nanosleep(&ms, NULL) != 0;
		errors += poll(&none, 0, 1) != 0;
		errors += select(0, NULL, NULL, NULL, &(struct timeval){ 0, 200 }) != 0;
		errors += usleep(100) != 0;
		errors += read(fd, data, sizeof(data)) != sizeof(data);
		rounds++;
	}
	printf("interrupted: %d%s\n", errors, rounds < 10 ? ", too few rounds" : "");
}

static void *work(void *unused)
{
	compute();
	return unused;
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

static void *work_long(void *unused)
{
	for (int i = 0; i < 20; i++)
		compute();
	return unused;
}

static void threads(void)
{
	pthread_t t[4];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 4; i++)
			if (pthread_create(&t[i], NULL, round % 10 ? sleep_on : work, NULL))
				exit(1);
		for (int i = 0; i < 4; i++) {
			if (round % 10)
				pthread_cancel(t[i]);
			pthread_join(t[i], NULL);
		}
	}
	puts("threads: joined");
}

/* On the smallest stack that a thread can have, for as long as its buffer takes to be spooled. */
static void small(void)
{
	pthread_attr_t attr;
	pthread_t t[2];

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], &attr, work_long, NULL))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("small: joined");
}

#if defined(__x86_64__)
/* On a stack that ends where nothing may be read, below code that no table describes. */
char *own_stack;
__asm__(".text\n"
	"aside:\n\t"
	"push %rbp\n\t"
	"mov %rsp, own_stack(%rip)\n\t"
	"mov %rdi, %rsp\n\t"
	"mov $1, %ebp\n\t"
	"call compute_long\n\t"
	"mov own_stack(%rip), %rsp\n\t"
	"pop %rbp\n\t"
	"ret\n");
void aside(char *stack);
void compute_long(void);
void compute_long(void)
{
	work_long(NULL);
}

static void guarded(void)
{
	const size_t page = 4096, bytes = 16 * page;
	char *at = mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at, page, PROT_NONE) || mprotect(at + page + bytes, page, PROT_NONE))
		exit(1);
	aside(at + page + bytes - 64);
	puts("guarded: back");
}

/* In the first instruction of a page, behind one that cannot be read: it waits for itself until the alarm. */
static void first_instruction(void)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*loop)(void);

	if (at == MAP_FAILED)
		exit(1);
	memcpy(at + 4096, "\xeb\xfe", 2); /* jmp to itself */
	if (mprotect(at + 4096, 4096, PROT_READ | PROT_EXEC) || mprotect(at, 4096, PROT_NONE))
		exit(1);
	signal(SIGALRM, say_and_exit);
	alarm(1);
	at += 4096;
	memcpy(&loop, &at, sizeof(loop));
	loop();
}
#else
static void guarded(void)
{
	puts("guarded: not on this machine");
}

static void first_instruction(void)
{
	puts("first_instruction: not on this machine");
}
#endif

#define REFUSED(call)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static int working;

static void *work_on(void *unused)
{
	__atomic_add_fetch(&working, 1, __ATOMIC_RELAXED);
	for (;;)
		compute();
	return unused;
}

/*
 * Threads are being sampled, some for the first time, when another one takes calls from all of them. They do
 * not end before the process: the C library makes such a call when a thread ends.
 */
static void confined_together(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSED(SYS_perf_event_open), REFUSED(SYS_process_vm_readv), REFUSED(SYS_getrusage),
		REFUSED(SYS_rt_sigprocmask), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	struct timespec none = { 0, 1000 };
	sigset_t set;
	pthread_t t[60];

	sigfillset(&set);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		exit(1);
	for (volatile int i = 0; i < 50000000; i++) /* however slow the threads are, there are samples */
		;
	for (int i = 0; i < 60; i++)
		if (pthread_create(&t[i], NULL, work_on, NULL))
			exit(1);
	while (__atomic_load_n(&working, __ATOMIC_RELAXED) < 60)
		usleep(10000);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(1);
	usleep(200000);
	printf("confined together: %d", ppoll(NULL, 0, &none, &set));
	printf(" %d\n", signal(SIGURG, SIG_IGN) == SIG_DFL);
	syscall(SYS_exit_group, fflush(stdout));
}

/* The signal is claimed while threads get their triggers. */
static void claimed(void)
{
	pthread_t t[60];

	for (int i = 0; i < 60; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			exit(1);
	usleep(100000);
	signal(SIGURG, note);
	for (int i = 0; i < 60; i++)
		pthread_join(t[i], NULL);
	printf("claimed: %d\n", (int)got);
}

static volatile sig_atomic_t inner;
static void outer_handler(int number)
{
	(void)number;
	raise(SIGURG);
	printf("in the other handler: %d\n", (int)got);
	inner = 1;
}

/* What was set before the signal was claimed holds afterwards: a handler's mask, and that of new threads. */
static void *wait_for_it(void *unused)
{
	sigset_t set;
	int number = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigaddset(&set, SIGUSR1);
	printf("waited for: %d", sigwait(&set, &number));
	printf(" %s\n", strsignal(number));
	return unused;
}

static void claimed_masks(void)
{
	struct sigaction act;
	sigset_t set;
	pthread_t t;

	memset(&act, 0, sizeof(act));
	sigfillset(&act.sa_mask);
	act.sa_handler = outer_handler;
	sigaction(SIGTERM, &act, NULL);
	compute();
	signal(SIGURG, note);
	raise(SIGTERM);
	printf("after it: %d\n", got == SIGURG && inner);
	sigaction(SIGTERM, NULL, &act);
	printf("its mask has it: %d\n", sigismember(&act.sa_mask, SIGURG));
	signal(SIGURG, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&t, NULL, wait_for_it, NULL))
		exit(1);
	usleep(100000);
	kill(getpid(), SIGURG);
	pthread_join(t, NULL);
}

/* No more open than before, nor a timer for each thread that there has been. */
static void left(void)
{
	char line[256];
	int fds = 0, timers = 0;
	DIR *dir;
	FILE *file;

	compute();
	for (int i = 0; i < 500; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, i % 50 ? sleep_on : work, NULL))
			exit(1);
		if (i % 50)
			pthread_cancel(t);
		pthread_join(t, NULL);
	}
	dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		fds++;
	file = fopen("/proc/self/timers", "r");
	while (file && fgets(line, sizeof(line), file))
		timers += !strncmp(line, "ID:", 3);
	printf("descriptors: %d, timers: %s\n", fds, timers < 3 ? "few" : "many");
}

/* Allowed is to write and to end: a handler could not even return. */
static void confined(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	volatile double x = 0;
	pid_t child;
	int status;

	compute();
	fflush(stdout);
	child = fork(); /* which has recorded nothing yet */
	compute();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (!child && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
		exit(1);
	for (int i = 0; i < 50000000; i++)
		x += i;
	if (!child)
		syscall(SYS_exit_group, write(1, "confined child\n", 15) != 15);
	waitpid(child, &status, 0);
	printf("child: %d\n", status);
	fflush(stdout);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(1);
	for (int i = 0; i < 50000000; i++)
		x += i;
	syscall(SYS_exit_group, write(1, "confined\n", 9) != 9);
}

/* Processes that come and go, and do something of their own. */
static void forks(void)
{
	int bad = 0, status;

	for (int i = 0; i < 40; i++) {
		pid_t child = fork();

		if (!child) {
			compute();
			_exit(i);
		}
		bad += waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i || !WIFEXITED(status);
	}
	printf("forks: %d bad\n", bad);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(name, "timedwait"))
		timedwait();
	else if (!strcmp(name, "descriptor"))
		by_descriptor();
	else if (!strcmp(name, "suspended"))
		suspended();
	else if (!strcmp(name, "polled"))
		polled();
	else if (!strcmp(name, "defaults"))
		defaults();
	else if (!strcmp(name, "executed"))
		executed(argv);
	else if (!strcmp(name, "shown"))
		shown(argv);
	else if (!strcmp(name, "own_handler"))
		own_handler();
	else if (!strcmp(name, "own_wait"))
		own_wait();
	else if (!strcmp(name, "vfork"))
		in_vfork();
	else if (!strcmp(name, "interrupted"))
		interrupted();
	else if (!strcmp(name, "threads"))
		threads();
	else if (!strcmp(name, "small"))
		small();
	else if (!strcmp(name, "guarded"))
		guarded();
	else if (!strcmp(name, "first_instruction"))
		first_instruction();
	else if (!strcmp(name, "confined_together"))
		confined_together();
	else if (!strcmp(name, "claimed"))
		claimed();
	else if (!strcmp(name, "claimed_masks"))
		claimed_masks();
	else if (!strcmp(name, "left"))
		left();
	else if (!strcmp(name, "confined"))
		confined();
	else if (!strcmp(name, "forks"))
		forks();
	else
		return 2;
	return 0;
}

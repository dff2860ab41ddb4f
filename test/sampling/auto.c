/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs for auto.test: each computes in work() for some hundred milliseconds of a thread's processor time.
 *
 *	auto work               in the main thread
 *	auto fork               the same again, in a child by fork()
 *	auto claim              but first it installs a handler for SIGURG, and raises it ten times
 *	auto raw                the same by system calls alone, as Go's runtime does; then a thread computes
 *	auto wait               it blocks all signals and waits for them, as daemons do; a child sends it
 *	auto small              in a thread with a stack of 16 KiB
 *	auto alternate          in a child, with a small alternate signal stack: is only that used?
 *	auto spin | auto switch in a thread that does nothing else, or also wakes another one all the time;
 *	                        prints how many perf events the process has then
 *	auto rob                the same of a thread that takes its event away, and then all timers
 *	auto threads            in 60 threads, one after another, each for 10 ms; prints the process's ms
 *	auto forking            in 300 threads, each for 1 ms, while another one forks all the time
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 300

static volatile unsigned long sink;
static volatile sig_atomic_t caught;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void work(double ms)
{
	double end = cpu_ms() + ms;

	do
		for (unsigned i = 0; i < 300000; i++)
			sink += i;
	while (cpu_ms() < end);
}

static void *work_beside(void *unused)
{
	work(MS);
	return unused;
}

static void count_signal(int number)
{
	(void)number;
	caught++;
}

static void claim(void)
{
	signal(SIGURG, count_signal);
	for (int i = 0; i < 10; i++)
		raise(SIGURG);
	printf("%d signals\n", (int)caught);
}

static void wait_for_all(void)
{
	sigset_t all;
	int number = 0, child;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	child = fork();
	if (!child) {
		usleep(200000);
		kill(getppid(), SIGURG);
		_exit(0);
	}
	do
		sigwait(&all, &number);
	while (number == SIGCHLD);
	printf("got %s\n", strsignal(number));
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void work_on_little(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, 16384) || pthread_create(&thread, &attr, work_beside, NULL))
		abort();
	pthread_join(thread, NULL);
}

/* As faulthandler of Python has it: in memory of malloc(). */
static void work_on_alternate(void)
{
	enum { BELOW = 65536, STACK = 8192 };
	unsigned char *memory = malloc(BELOW + STACK);
	const stack_t stack = { .ss_sp = memory + BELOW, .ss_size = STACK };
	int child, status;

	if (!memory)
		abort();
	memset(memory, 42, BELOW);
	if (sigaltstack(&stack, NULL))
		abort();
	child = fork();
	if (child) {
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		return;
	}
	work(MS);
	for (unsigned i = 0; i < BELOW; i++)
		if (memory[i] != 42) {
			printf("%u bytes below it were used\n", BELOW - i);
			exit(1);
		}
	printf("only that was used\n");
	exit(0);
}

/* ---- as a runtime of its own ------------------------------------------------------------------------- */

struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};
extern void return_from_signal(void);
__asm__(".globl return_from_signal\nreturn_from_signal:\n"
#ifdef __x86_64__
	"	mov $15, %eax\n	syscall\n"
#else
	"	mov x8, #139\n	svc #0\n"
#endif
);

static void claim_raw(void)
{
	struct kernel_action act = { .handler = count_signal, .restorer = return_from_signal,
				     .flags = SA_ONSTACK | 0x04000000 /* SA_RESTORER */ };
	pthread_t thread;

	if (syscall(SYS_rt_sigaction, SIGURG, &act, NULL, sizeof(act.mask)))
		abort();
	for (int i = 0; i < 10; i++)
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGURG);
	printf("%s\n", caught >= 10 ? "all signals" : "signals are missing");
	pthread_create(&thread, NULL, work_beside, NULL);
	pthread_join(thread, NULL);
}

/* ---- threads that switch ----------------------------------------------------------------------------- */

static int there[2], back[2];

/* Lines of a file with that word; `take`: of what is mapped, which is taken away. */
static int lines(const char *name, const char *word, bool take)
{
	unsigned long from, to;
	char line[512];
	FILE *file = fopen(name, "r");
	int n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, word))
			continue;
		n++;
		if (take && sscanf(line, "%lx-%lx", &from, &to) == 2)
			syscall(SYS_munmap, from, to - from);
	}
	if (file)
		fclose(file);
	return n;
}

static int events(void)
{
	return lines("/proc/self/maps", "[perf_event]", false);
}

/* Whatever makes a trigger stop: the other one sees it. */
static void *rob(void *unused)
{
	work(MS);
	lines("/proc/self/maps", "[perf_event]", true);
	printf("%d events\n", events());
	work(MS);
	for (int i = 0; i < 64; i++)
		syscall(SYS_timer_delete, i);
	printf("%d events, %d timers\n", events(), lines("/proc/self/timers", "ID:", false));
	work(MS);
	printf("%d events, %d timers\n", events(), lines("/proc/self/timers", "ID:", false));
	return unused;
}

static void *answer(void *unused)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return unused;
}

/* Some 20 us of work for each switch. */
static void *switch_all_the_time(void *unused)
{
	double end = cpu_ms() + MS;
	char byte = 0;

	while (cpu_ms() < end && write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		for (unsigned i = 0; i < 10000; i++)
			sink += i;
	printf("%d events\n", events());
	close(there[1]);
	return unused;
}

static void *spin(void *unused)
{
	work(MS);
	printf("%d events\n", events());
	return unused;
}

static void beside(void *(*function)(void *))
{
	pthread_t one, two;

	if (pipe(there) || pipe(back))
		abort();
	pthread_create(&one, NULL, function, NULL);
	pthread_create(&two, NULL, answer, NULL);
	pthread_join(one, NULL);
	close(there[1]);
	pthread_join(two, NULL);
}

/* ---- short threads ----------------------------------------------------------------------------------- */

static void *work_shortly(void *ms)
{
	work(*(double *)ms);
	return NULL;
}

static void in_turn(int threads, double ms)
{
	pthread_t thread;

	for (int i = 0; i < threads; i++) {
		if (pthread_create(&thread, NULL, work_shortly, &ms))
			abort();
		pthread_join(thread, NULL);
	}
}

static void work_in_threads(void)
{
	struct timespec used;

	in_turn(60, 10);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%.0f\n", (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6);
}

static bool stop; /* atomic */

static void *fork_all_the_time(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int child = fork();

		if (!child)
			_exit(0);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return unused;
}

static void work_beside_forks(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fork_all_the_time, NULL))
		abort();
	in_turn(300, 1);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "work";

	if (!strcmp(what, "claim"))
		claim();
	if (!strcmp(what, "raw"))
		claim_raw();
	else if (!strcmp(what, "alternate"))
		work_on_alternate();
	else if (!strcmp(what, "wait"))
		wait_for_all();
	else if (!strcmp(what, "small"))
		work_on_little();
	else if (!strcmp(what, "spin"))
		beside(spin);
	else if (!strcmp(what, "rob"))
		beside(rob);
	else if (!strcmp(what, "switch"))
		beside(switch_all_the_time);
	else if (!strcmp(what, "threads"))
		work_in_threads();
	else if (!strcmp(what, "forking"))
		work_beside_forks();
	else
		work(MS);
	if (!strcmp(what, "fork")) {
		int child = fork();

		if (!child) {
			work(MS);
			_exit(0);
		}
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return 0;
}

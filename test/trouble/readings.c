/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An adapter with two sources of counters, in the program itself: what is read at enters and leaves, in
 * threads, a forked child, signal handlers, while buffers are spooled, while recording is off. Prints how
 * many calls there were, and what was read, for metrics.test. With "none" no source is registered. With
 * "confined" a thread ends after the process has confined itself; 77: this kernel has no such filters.
 *
 * Limits: the first source counts all readings of the run in a shared page, so that each number must be in
 * the archive once; the second fails every 7th time.
 */
#define _GNU_SOURCE
#define VTRACE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gputrace/adapter.h"
#include "vt_user.h"

#define BARE    __attribute__((no_instrument_function))
#define VISIBLE __attribute__((noinline))
#define THREADS 4
#define CALLS   2000

static struct shared {
	uint64_t reads, triples, failed, opened, closed;
	uint64_t leaf, inner, outer, handled, hidden;
} *shared;

#define COUNT(what) __atomic_add_fetch(&shared->what, 1, __ATOMIC_RELAXED)

BARE static int open_source(void **state)
{
	static __thread uint64_t own;

	own = 0;
	*state = &own;
	COUNT(opened);
	return 0;
}

BARE static int read_number(void *state, uint64_t *values, unsigned n)
{
	errno = ENOTTY; /* the program must not see it */
	++*(uint64_t *)state;
	values[0] = COUNT(reads);
	return n == 1 ? 0 : -EINVAL;
}

BARE static int read_triple(void *state, uint64_t *values, unsigned n)
{
	double half = 0.5;

	if (state || n != 3 || COUNT(triples) % 7 == 0) {
		COUNT(failed);
		return -EIO;
	}
	values[0] = 1;
	values[1] = (uint64_t)-2;
	memcpy(&values[2], &half, sizeof(half));
	return 0;
}

BARE static void close_source(void *state)
{
	getppid(); /* as one that gives something back to the kernel */
	if (*(uint64_t *)state)
		COUNT(closed);
}

#define METRIC(text, what, type, how) \
	{ .bytes = sizeof(struct gt_metric_info), .name = text, .unit = what, .value = type, .mode = how }

BARE static void attach(void)
{
	static const struct gt_metric_info number = METRIC("number", "reads", GT_VALUE_UINT, 0);
	static const struct gt_metric_info triple[] = {
		METRIC("one", "#", GT_VALUE_UINT, 17),
		METRIC("minus two", "#", GT_VALUE_INT, 49),
		METRIC("half", "s", GT_VALUE_DOUBLE, 34),
	};
	struct gt_metric_source a = { .bytes = sizeof(a), .metrics = &number, .count = 1,
				      .open = open_source, .read = read_number, .close = close_source };
	struct gt_metric_source b = {
		.bytes = sizeof(b), .metrics = triple, .count = 3, .read = read_triple
	};
	struct gt_metric_source wrong = a;

	wrong.bytes--;
	if (gt_metric_source_register(&wrong) != -EPROTO)
		puts("a struct of another size was taken");
	wrong = a;
	wrong.count = GT_SOURCE_METRICS + 1;
	if (gt_metric_source_register(&wrong) != -EINVAL)
		puts("too many metrics were taken");
	if (gt_metric_source_register(&a) || gt_metric_source_register(&b))
		puts("a source was refused");
}

VISIBLE void leaf(void)
{
	COUNT(leaf);
}

VISIBLE void hidden(void) /* left out by the filter */
{
	COUNT(hidden);
	leaf();
}

VISIBLE void inner(int depth)
{
	COUNT(inner);
	if (depth)
		inner(depth - 1);
	else
		hidden();
}

VISIBLE void outer(int calls)
{
	COUNT(outer);
	for (int i = 0; i < calls; i++)
		inner(3);
}

VISIBLE void on_alarm(int sig)
{
	COUNT(handled);
	(void)sig;
}

VISIBLE void while_off(void)
{
}

/* A signal while a thread begins or ends would be for one that is not recorded. */
BARE static void alarms(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

BARE static void work(void)
{
	alarms(SIG_UNBLOCK);
	outer(CALLS);
	alarms(SIG_BLOCK);
}

BARE static void *thread(void *unused)
{
	work();
	return unused;
}

BARE static void handlers(int on)
{
	struct itimerval every = { { 0, on ? 500 : 0 }, { 0, on ? 500 : 0 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
}

static sem_t ready, go;

BARE static void *ends_late(void *unused)
{
	outer(1);
	sem_post(&ready);
	sem_wait(&go);
	return unused;
}

BARE static int confined(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	pthread_t thread;

	attach();
	pthread_create(&thread, NULL, ends_late, NULL);
	sem_wait(&ready);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		return 77;
	sem_post(&go);
	pthread_join(thread, NULL);
	return 3;
}

BARE int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	pid_t child;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 1 && !strcmp(argv[1], "confined"))
		return confined();
	if (argc == 1)
		attach();
	alarms(SIG_BLOCK);
	handlers(1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	errno = 0;
	work();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	handlers(0);
	child = fork();
	if (!child) {
		outer(10);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	VT_OFF();
	while_off();
	VT_ON();
	outer(1);
	printf("calls leaf %lu\ncalls inner %lu\ncalls outer %lu\ncalls on_alarm %lu\ncalls hidden 0\n"
	       "calls while_off 0\nreads %lu\ntriples %lu\nfailed %lu\nopened %lu\nclosed %lu\n",
	       shared->leaf, shared->inner, shared->outer, shared->handled, shared->reads,
	       shared->triples - shared->failed, shared->failed, shared->opened, shared->closed);
	if (errno == ENOTTY)
		puts("errno was changed");
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX in programs that give it trouble. Argument: which.
 * Limits: what is printed is what nvtx.test expects.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "nvtx_like.h"

/* Memory that the process has (1: in use, 0: in its address space), kB. */
static long memory(int resident)
{
	long pages[2] = { 0, 0 };
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2)
		exit(2);
	fclose(file);
	return pages[resident] * 4;
}

__attribute__((format(printf, 1, 0)))
static void push_pop(const char *format, int number)
{
	char text[300];

	memset(text, 'm', 200);
	snprintf(text + 200, sizeof(text) - 200, format, number);
	nvtxRangePushA(text);
	nvtxRangePop();
}

/* More messages than are kept: the others take no memory. */
static int many(void)
{
	long before;

	for (int i = 0; i < 36000; i++)
		push_pop("step %d", i);
	before = memory(1);
	for (int i = 0; i < 16000; i++)
		push_pop("later %d", i);
	printf("%ld kB\n", memory(1) - before);
	return 0;
}

static int marks(void)
{
	nvtxEventAttributes_t a = { .version = 3, .size = sizeof(a), .messageType = 1 };
	char text[64];

	a.message.ascii = text;
	for (int i = 0; i < 40000; i++) {
		snprintf(text, sizeof(text), "loss at step %d", i);
		if (i % 2)
			nvtxMarkEx(&a);
		else
			nvtxDomainMarkEx(NULL, &a);
	}
	return 0;
}

static void *one_push(void *unused)
{
	nvtxRangePushA("task");
	nvtxRangePop();
	return unused;
}

static int threads(void)
{
	pthread_t thread;
	long before = 0;

	for (int i = 0; i < 1020; i++) {
		if (i == 20)
			before = memory(0);
		pthread_create(&thread, NULL, one_push, NULL);
		pthread_join(thread, NULL);
	}
	printf("%ld kB\n", memory(0) - before);
	return 0;
}

/* A handler that leaves whatever it interrupts, until it has done so 100 times. */
static sigjmp_buf away;
static volatile sig_atomic_t armed, jumped;

static void leave(int number)
{
	(void)number;
	if (!armed)
		return;
	armed = 0;
	jumped++;
	siglongjmp(away, 1);
}

static int jumps(void)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } };
	volatile int k = 0;

	push_pop("before", 0); /* loads gputrace: NVTX's header does not survive a jump out of that */
	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &often, NULL);
	sigsetjmp(away, 1);
	while (jumped < 100 && k < 30000) {
		armed = 1;
		push_pop("step %d", k++);
		nvtxRangeEnd(nvtxRangeStartA("range"));
		armed = 0;
	}
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_REAL, &often, NULL);
	alarm(20);
	printf("%d ", k);
	push_pop("a new name at last", 0);
	nvtxRangePushA("not silent");
	nvtxRangePop();
	nvtxRangeEnd(nvtxRangeStartA("not silent either"));
	puts("came back");
	return 0;
}

/* Each thread ends what the one before it has started; nobody else may have that number. */
#define HANDS 4
#define TURNS 10000
static nvtxRangeId_t handed[HANDS][TURNS];

static void *hand_over(void *which)
{
	long me = (long)which, before = (me + HANDS - 1) % HANDS;
	nvtxRangeId_t id;

	for (int i = 0; i < TURNS; i++) {
		id = nvtxRangeStartA(me % 2 ? "odd" : "even");
		__atomic_store_n(&handed[me][i], id, __ATOMIC_RELEASE);
		while (!(id = __atomic_load_n(&handed[before][i], __ATOMIC_ACQUIRE)))
			sched_yield();
		nvtxRangeEnd(id);
	}
	for (int i = 0; i < 10 * TURNS; i++)
		nvtxRangeEnd(nvtxRangeStartA("at once"));
	return NULL;
}

static int compare(const void *one, const void *two)
{
	nvtxRangeId_t a = *(const nvtxRangeId_t *)one, b = *(const nvtxRangeId_t *)two;

	return (a > b) - (a < b);
}

static int over(void)
{
	nvtxRangeId_t *all = handed[0];
	pthread_t thread[HANDS];
	int twice = 0;

	nvtxRangeEnd(nvtxRangeStartA("first"));
	for (long i = 0; i < HANDS; i++)
		pthread_create(&thread[i], NULL, hand_over, (void *)i);
	for (long i = 0; i < HANDS; i++)
		pthread_join(thread[i], NULL);
	qsort(all, HANDS * TURNS, sizeof(*all), compare);
	for (int i = 1; i < HANDS * TURNS; i++)
		twice += all[i] == all[i - 1];
	printf("%d twice\n", twice);
	return 0;
}

/* Numbers that are nobody's, or no longer: they end nothing. "long" takes the place that "short" had. */
static int strange(void)
{
	nvtxRangeId_t old = nvtxRangeStartA("short"), now;

	nvtxRangeEnd(old);
	now = nvtxRangeStartA("long");
	nvtxRangeEnd(old);
	for (int i = 0; i < 64; i++) {
		nvtxRangeEnd((nvtxRangeId_t)1 << i);
		nvtxRangeEnd(((nvtxRangeId_t)1 << i) - 1);
		nvtxRangeEnd(now ^ (nvtxRangeId_t)1 << i);
	}
	usleep(20000);
	nvtxRangeEnd(now);
	return 0;
}

/* More than there is memory for. */
static int exhausted(void)
{
	struct rlimit limit;

	nvtxRangeEnd(nvtxRangeStartA("open"));
	limit.rlim_cur = limit.rlim_max = (rlim_t)memory(0) * 1024 + 1000000;
	if (setrlimit(RLIMIT_AS, &limit))
		return 2;
	for (int i = 1; i < 100000; i++)
		nvtxRangeStartA("open");
	puts("100000 ranges");
	return 0;
}

static volatile long struck;

static void strike_freely(int number)
{
	(void)number;
	struck++;
	nvtxRangeEnd(nvtxRangeStartA("in the handler"));
}

/* As confined_handler, in a process that may do what it wants: nothing is lost. */
static int handler(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	long ranges = 0;

	signal(SIGALRM, strike_freely);
	nvtxRangeEnd(nvtxRangeStartA("interrupted"));
	setitimer(ITIMER_REAL, &often, NULL);
	for (; struck < 2000; ranges++)
		nvtxRangeEnd(nvtxRangeStartA("interrupted"));
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%ld %ld\n", struck, ranges + 1);
	return 0;
}

/* "limited" is recorded once only: what was to go with the others must not be on what is around them. */
static int limited(void)
{
	nvtxEventAttributes_t a = { .version = 3, .size = sizeof(a), .messageType = 1, .payloadType = 1,
				    .category = 3 };

	nvtxDomainNameCategoryA(NULL, 3, "a category");
	a.message.ascii = "limited";
	nvtxRangePushA("around");
	for (int i = 0; i < 5; i++) {
		a.payload.ullValue = 100 + (uint64_t)i;
		nvtxRangePushEx(&a);
		nvtxRangePop();
	}
	nvtxRangePushA("other");
	nvtxRangePop();
	nvtxRangePop();
	return 0;
}

/* Any system call but exit_group, write and the return from a signal handler kills. */
static int confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static __attribute__((noreturn)) void end_confined(long ranges)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld ranges\n", ranges);

	_exit(write(1, text, (size_t)n) == n ? 3 : 4);
}

static int confined(void)
{
	nvtxRangeEnd(nvtxRangeStartA("known"));
	if (confine())
		return 77;
	for (int i = 0; i < 99; i++)
		nvtxRangeEnd(nvtxRangeStartA("known"));
	end_confined(100);
}

/* Everything is new: the stack of ranges, messages, a domain, and more ranges at once than before. */
static int confined_new(void)
{
	static nvtxRangeId_t ids[3000];
	nvtxEventAttributes_t a = { .version = 3, .size = sizeof(a), .messageType = 3 };
	nvtxDomainHandle_t domain;

	nvtxRangeEnd(nvtxRangeStartA("known"));
	if (confine())
		return 77;
	for (int i = 0; i < 3000; i++)
		ids[i] = nvtxRangeStartA("overlapping");
	for (int i = 0; i < 3000; i++)
		nvtxRangeEnd(ids[i]);
	domain = nvtxDomainCreateA("new");
	a.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	for (int i = 0; i < 8000; i++)
		push_pop("new %d", i);
	end_confined(1 + 3000 + 1 + 8000);
}

/* The handler finds the adapter's locks held, and needs them. */
static volatile long strikes, signals_off;

static void strike(int number)
{
	(void)number;
	if (signals_off)
		return;
	strikes++;
	push_pop("in the handler %d", (int)strikes);
	nvtxRangeEnd(nvtxRangeStartA("in the handler"));
}

static int confined_handler(void)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } };
	volatile long ranges = 0;

	signal(SIGALRM, strike);
	push_pop("known", 0);
	nvtxRangeEnd(nvtxRangeStartA("known"));
	if (setitimer(ITIMER_REAL, &often, NULL) || confine())
		return 77;
	for (; strikes < 1000; ranges++)
		nvtxRangeEnd(nvtxRangeStartA("known"));
	signals_off = 1;
	end_confined(2 + ranges + 2 * strikes);
}

/* Its first call of NVTX comes too late to load anything. */
static int confined_first(void)
{
	if (confine())
		return 77;
	nvtxRangePushA("first");
	nvtxRangePop();
	_exit(3);
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";

	return !strcmp(which, "many")	   ? many()
	       : !strcmp(which, "marks")   ? marks()
	       : !strcmp(which, "threads") ? threads()
	       : !strcmp(which, "jumps")   ? jumps()
	       : !strcmp(which, "limited") ? limited()
	       : !strcmp(which, "over")	   ? over()
	       : !strcmp(which, "strange") ? strange()
	       : !strcmp(which, "handler") ? handler()
	       : !strcmp(which, "exhausted")	    ? exhausted()
	       : !strcmp(which, "confined")	    ? confined()
	       : !strcmp(which, "confined_new")     ? confined_new()
	       : !strcmp(which, "confined_handler") ? confined_handler()
	       : !strcmp(which, "confined_first")   ? confined_first()
						    : 1;
}

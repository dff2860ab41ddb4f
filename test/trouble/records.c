/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an adapter of somebody else may do, chosen by the first argument: make records that are longer
 * than the buffer or than any record may be, or lie in the future, go away, register beside others; and
 * what handlers and forks do to a thread that records.
 *
 * Limits: through the door for adapters; the program is linked with libgputrace. Prints what it did in
 * lines "calls REGION N", and "records N" for those that may be lost if they are counted.
 */
#include "trouble.h"

#define VTRACE
#include <gputrace/adapter.h>
#include <gputrace/call.h>
#include "vt_user.h"

#include "lib/format.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define METRICS 600

static uint64_t data[2 * 400];

UNSEEN static gt_ref region(const char *name)
{
	struct gt_region_info info = { .bytes = sizeof(info), .name = name };

	return gt_def_region(&info);
}

/* The first of many metrics that follow each other. */
UNSEEN static gt_ref metrics(void)
{
	struct gt_metric_info info = { .bytes = sizeof(info), .name = "m0", .unit = "1",
				       .value = GT_VALUE_UINT, .mode = 17 };
	gt_ref first = gt_def_metric(&info);
	char name[16];
	int i;

	for (i = 1; i < METRICS; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		info.name = name;
		gt_def_metric(&info);
	}
	return first;
}

/* Records of every length, at every distance from the end of a half. */
UNSEEN static void lengths(void)
{
	gt_ref r = region("r"), m = metrics();
	unsigned extra, i;

	for (extra = 1; extra <= GT_MAX_EXTRA; extra++) {
		data[0] = extra < 128 ? 2 * extra - 1 : 255;
		for (i = 0; i < 80; i++) {
			gt_enter(r);
			gt_leave(r);
		}
		gt_record(GT_T_METRICS, m, data, extra);
	}
	say("calls r %d\nrecords %d\n", 80 * GT_MAX_EXTRA, GT_MAX_EXTRA);
}

/* More continuation slots than a record can name, through every entry point. */
UNSEEN static void beyond(void)
{
	struct gt_location_info info = { .bytes = sizeof(info), .name = "stream", .kind = GT_LOC_GPU_STREAM };
	struct gt_location *stream = gt_location_create(&info);
	gt_ref r = region("r"), m = metrics();
	int i;

	gt_record(GT_T_METRICS, m, data, 300);
	gt_record_at(GT_T_METRICS, m, data, 300, gt_now());
	gt_location_record(stream, GT_T_METRICS, m, data, 300, gt_now());
	gt_location_record(NULL, GT_T_METRICS, m, data, 1, gt_now());
	gt_location_name(NULL, "nothing");
	MUST(gt_location_id(NULL) == UINT32_MAX);
	for (i = 0; i < 5; i++) {
		gt_enter(r);
		gt_leave(r);
	}
	say("calls r 5\nrecords 3\n");
}

/*
 * Blocks of every length, at every distance from the end of a half: parameters between an enter and a leave.
 * The last one is too long.
 */
UNSEEN static void blocks(void)
{
	struct gt_location_info info = { .bytes = sizeof(info), .name = "stream", .kind = GT_LOC_GPU_STREAM,
					 .flags = GT_LOC_UNSORTED | GT_LOC_COMMITS };
	struct gt_location *stream = gt_location_create(&info);
	gt_ref r = region("r"), parameter = gt_def_parameter("p", GT_VALUE_UINT);
	struct gt_slot slots[GT_BLOCK_SLOTS + 2];
	unsigned count, n = 0, records = 0;

	for (int i = 0; i < 20000; i++) {
		int more = i < 19999 ? i % 32 : 32;

		count = 0;
		slots[count++] = (struct gt_slot){ .time = gt_now(), .word = GT_WORD(GT_T_ENTER, r) };
		for (int k = 0; k < more; k++) {
			slots[count++] =
				(struct gt_slot){ gt_now(), GT_WORDX(GT_T_PARAM_UINT, 1, parameter) };
			slots[count++] = (struct gt_slot){ 7, 0 };
		}
		slots[count++] = (struct gt_slot){ .time = gt_now(), .word = GT_WORD(GT_T_LEAVE, r) };
		gt_location_block(stream, slots, count);
		records += 2 + (unsigned)more;
		n++;
	}
	gt_location_block(NULL, slots, count);
	say("calls r %u\nrecords %u\n", n, records);
}

/* A time that lies in the future, of the record that begins a half. */
UNSEEN static void late(int which)
{
	gt_ref r = region("r");
	int i;

	for (i = 0; i < 100000; i++) {
		gt_enter(r);
		gt_leave_at(r, gt_now() + (i == which ? 1000000000 : 0));
	}
	say("calls r 100000\n");
}

/* Attributes of calls that the filter leaves out, or the third of a region that may have two. */
UNSEEN static void attributes(void)
{
	gt_ref a = gt_def_attribute("SIZE_OF_IT", "of a call that is left out", GT_VALUE_UINT);
	gt_ref filtered = region("filtered_call"), limited = region("limited_call"), r = region("r");
	int i;

	for (i = 0; i < 5; i++) {
		gt_attribute(a, 4242);
		gt_attribute(a, 4343);
		gt_enter(filtered);
		gt_leave(filtered);
		gt_attribute(a, 1000 + (uint64_t)i);
		gt_enter(limited);
		gt_leave(limited);
		gt_enter(r);
		gt_leave(r);
	}
	gt_attribute(a, 7);
	gt_enter(r);
	gt_leave(r);
	say("calls r 6\ncalls limited_call 2\ncalls filtered_call 0\n");
}

/* What a handler records by the user API while its thread is inside of a call that is recorded. */
UNSEEN static void user_handler(int sig)
{
	unsigned int counter = VT_COUNT_DEF("counter of a handler", "1", VT_COUNT_TYPE_UNSIGNED,
					    VT_COUNT_DEFGROUP);

	(void)sig;
	VT_USER_START("region of a handler");
	VT_COUNT_UNSIGNED_VAL(counter, 42);
	VT_USER_END("region of a handler");
}

UNSEEN static void inside(void)
{
	int i;

	signal(SIGUSR1, user_handler);
	for (i = 0; i < 5; i++) {
		gt_guard();
		raise(SIGUSR1);
		gt_unguard();
	}
	say("inside 5\n");
}

static volatile long in_handler, in_main;
static sigjmp_buf where;
static volatile sig_atomic_t armed;

CALLED void handled(void)
{
	HERE();
}

CALLED void work(void)
{
	HERE();
}

UNSEEN static void on_alarm(int sig)
{
	int i;

	(void)sig;
	for (i = 0; i < 10; i++) {
		handled();
		__atomic_fetch_add(&in_handler, 1, __ATOMIC_RELAXED); /* another handler may come between */
	}
}

UNSEEN static void jump(int sig)
{
	(void)sig;
	if (!armed)
		return;
	armed = 0;
	siglongjmp(where, 1);
}

UNSEEN static void timer(void (*handler)(int), int flags, long us)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct itimerval value = { { 0, us }, { 0, us } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &value, NULL);
}

/* Handlers in which no signal is blocked. */
UNSEEN static void nodefer(void)
{
	timer(on_alarm, SA_NODEFER, 300);
	while (in_handler < 8000) {
		work();
		in_main++;
	}
	timer(SIG_IGN, 0, 0);
	say("calls work %ld\ncalls handled %ld\n", in_main, in_handler);
}

#define INSTRUCTIONS 100 /* more than a call of work() takes */
#define DEPTHS       4

/* Records more than the whole window holds, and ends at another place of it each time. */
CALLED void deep_handler(int sig)
{
	int i, n = 260 + 100 * (sig - SIGRTMIN);

	for (i = 0; i < n; i++) {
		handled();
		__atomic_fetch_add(&in_handler, 1, __ATOMIC_RELAXED);
	}
}

/* Under ptrace: stops before each call. After `shift` others, which move all that follows in the window. */
UNSEEN static void interrupted(int shift)
{
	struct sigaction action = { .sa_handler = deep_handler };
	int i;

	for (i = 0; i < DEPTHS; i++)
		sigaction(SIGRTMIN + i, &action, NULL);
	for (i = 0; i < shift; i++)
		handled();
	in_handler += shift;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (i = 0; i < DEPTHS * INSTRUCTIONS; i++) {
		syscall(SYS_kill, getpid(), SIGSTOP);
		work();
		in_main++;
	}
	for (i = 0; i < DEPTHS; i++)
		signal(SIGRTMIN + i, SIG_IGN);
	say("work %ld handled %ld\n", in_main, in_handler);
	exit(0);
}

/* Such handlers at each instruction of a function that records. */
UNSEEN static void deep(int shift)
{
	int status, i, k;
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid)
		interrupted(shift);
	for (i = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status); i++) {
		for (k = 0; k < i % INSTRUCTIONS && WSTOPSIG(status) == (k ? SIGTRAP : SIGSTOP); k++) {
			MUST(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
			MUST(waitpid(pid, &status, 0) == pid);
		}
		MUST(!ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(SIGRTMIN + i / INSTRUCTIONS)));
	}
	MUST(WIFEXITED(status) && !WEXITSTATUS(status));
}

static const int lengths_of_handlers[] = { 3, 60, 64, 128, 250, 256, 300, 500, 520, 700, 1024, 2100, 4200 };
#define HANDLERS (int)(sizeof(lengths_of_handlers) / sizeof(*lengths_of_handlers))

CALLED void any_handler(int sig)
{
	int i;

	for (i = 0; i < lengths_of_handlers[sig - SIGRTMIN]; i++) {
		handled();
		__atomic_fetch_add(&in_handler, 1, __ATOMIC_RELAXED);
	}
}

#define ROUNDS 150

/* Under ptrace: stops before calls. */
UNSEEN static void play(void)
{
	struct sigaction action = { .sa_handler = any_handler };
	int i, k;

	for (i = 0; i < HANDLERS; i++)
		sigaction(SIGRTMIN + i, &action, NULL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (i = 0; i < ROUNDS; i++) {
		for (k = (int)(random() % 3 ? random() % 4 : random() % 700); k >= 0; k--) {
			if (!k)
				syscall(SYS_kill, getpid(), SIGSTOP);
			work();
			in_main++;
		}
	}
	for (i = 0; i < HANDLERS; i++)
		signal(SIGRTMIN + i, SIG_IGN);
	say("work %ld handled %ld\n", in_main, in_handler);
	exit(0);
}

/* Handlers of all lengths, at any instruction of functions that record. */
UNSEEN static void anywhere(unsigned seed)
{
	int status;
	pid_t pid;

	srandom(seed);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		play();
	srandom(seed + 1);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		long steps = random() % 4 ? random() % 100 : random() % 1500;
		long signal = SIGRTMIN + random() % HANDLERS;
		int k = 0;

		for (; k < steps && WSTOPSIG(status) == (k ? SIGTRAP : SIGSTOP); k++) {
			MUST(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
			MUST(waitpid(pid, &status, 0) == pid);
		}
		if (k && WSTOPSIG(status) == SIGSTOP) /* the next one */
			signal = 0;
		MUST(!ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)signal));
	}
	MUST(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Such handlers that are due again when they return, wherever signals were blocked meanwhile. */
CALLED void long_handler(int sig)
{
	int i;

	(void)sig;
	for (i = 0; i < 700; i++) {
		handled();
		__atomic_fetch_add(&in_handler, 1, __ATOMIC_RELAXED);
	}
}

UNSEEN static void pending(void)
{
	timer(long_handler, 0, 300);
	while (in_handler < 700 * 200) {
		work();
		in_main++;
	}
	timer(SIG_IGN, 0, 0);
	say("work %ld handled %ld\n", in_main, in_handler);
}

UNSEEN static void pairs(gt_ref r, long n)
{
	for (in_handler += n; n; n--)
		gt_enter(r), gt_leave(r);
}

/*
 * A record whose thread is interrupted, by a handler of `calls` calls, after it has reserved its slot, and,
 * if it has `looked`, has found the limit to be behind it.
 */
UNSEEN static void interrupted_enter(gt_ref r, gt_ref of_handler, long calls, int looked)
{
	struct gt_call call;
	struct gt_hot *hot;
	uint64_t address;

	gt_call_prepare(&call);
	hot = *call.self;
	address = gt_local_add(&hot->cur, sizeof(struct gt_slot));
	looked = looked && address < hot->limit;
	pairs(of_handler, calls);
	if (looked || address < hot->limit) {
		gt_commit((struct gt_slot *)address, GT_WORD(GT_T_ENTER, r), NULL, 0, gt_hot_ticks());
	} else {
		gt_guard();
		gt_call_leave_slow(hot, address, GT_WORD(GT_T_ENTER, r), 0);
	}
}

/*
 * As `deep`, for the instruction that writes the record, in the last window: it is among what was not
 * spooled, or ahead of it.
 */
UNSEEN static void ends_late(long more)
{
	gt_ref r = region("work"), of_handler = region("handled");
	struct gt_call call;
	uint64_t address;
	struct gt_hot *hot;
	long i;

	gt_call_prepare(&call);
	for (i = 0; i < 60; i++) {
		gt_enter(r);
		gt_leave(r);
	}
	hot = *call.self;
	address = gt_local_add(&hot->cur, sizeof(struct gt_slot));
	pairs(of_handler, (long)(hot->mask + 1) / (2 * (long)sizeof(struct gt_slot)) + more);
	gt_commit((struct gt_slot *)address, GT_WORD(GT_T_ENTER, r), NULL, 0, gt_hot_ticks());
	gt_leave(r);
	say("work 61 handled %ld\n", in_handler);
}

/*
 * As `deep`, for the one instruction before which a signal finds the limit to be at the slot that has been
 * reserved, and after whose handler it is elsewhere: at the first slot that is kept for a late record. Every
 * second time that one is written before the slot is reserved again.
 */
UNSEEN static void passed(void)
{
	static const long eighths[] = { 0, 1, 3, 4, 5, 6, 9 }; /* of a window, that the handler fills */
	gt_ref r = region("work"), of_handler = region("handled");
	struct gt_call call;
	unsigned i, round, target;

	gt_enter(r);
	gt_leave(r);
	gt_call_prepare(&call);
	for (i = 0, in_main = 1; i < sizeof(eighths) / sizeof(*eighths) * 40; i++) {
		struct gt_hot *hot = *call.self;
		uint64_t late = hot->cur;
		long calls = (long)(hot->mask + 1) / (2 * (long)sizeof(struct gt_slot));

		interrupted_enter(r, of_handler, calls + (i % 2 ? -10 : 20), i % 2);
		gt_leave(r);
		/* To where the late record was, in this turn or, over a mark that has two slots, the next. */
		for (round = 0; hot->cur != late && round < 8 * (unsigned)calls; round++)
			gt_enter(of_handler), gt_leave(of_handler);
		in_handler += round;
		target = i % (sizeof(eighths) / sizeof(*eighths));
		interrupted_enter(r, of_handler, 1 + calls * eighths[target] / 8, 0);
		gt_leave(r);
		in_main += 2;
		for (round = 0; round < 37; round++)
			gt_enter(of_handler), gt_leave(of_handler);
		in_handler += round;
	}
	say("work %ld handled %ld\n", in_main, in_handler);
}

/* The file of the main thread's halves. */
UNSEEN static void find_spool(char path[512])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char *end = NULL;

	while (maps && !end && fscanf(maps, "%*s %*s %*s %*s %*s%*[ ]%500[^\n]", path) >= 0)
		end = strstr(path, "/l0.win");
	MUST(end);
	strcpy(end, "/l0.raw");
	fclose(maps);
}

/* So many slots of this half are left. */
UNSEEN static uint64_t left(const struct gt_hot *hot)
{
	uint64_t half = (hot->mask + 1) / 2;

	return (half - ((hot->cur - (uint64_t)(uintptr_t)hot->base) & (half - 1))) / sizeof(struct gt_slot);
}

/* Up to where at most `most` slots are left; from the next half on if it is 0. */
UNSEEN static void fill(const struct gt_hot *hot, gt_ref r, uint64_t most)
{
	while (left(hot) > (most ? most : 2))
		pairs(r, 1);
	pairs(r, !most);
}

/*
 * The last slots of a half are kept for a late record when it is full and cannot be left, because neither it
 * nor the half before can be written for a while. What was reserved there is not reserved again.
 */
UNSEEN static void full(void)
{
	gt_ref r = region("work"), of_handler = region("handled"), m = metrics();
	char raw[512] = "", away[520];
	struct gt_call call;
	struct gt_hot *hot;

	gt_enter(r);
	gt_leave(r);
	find_spool(raw);
	snprintf(away, sizeof(away), "%s.away", raw);
	gt_call_prepare(&call);
	hot = *call.self;
	fill(hot, of_handler, 6);
	interrupted_enter(r, of_handler, (long)(hot->mask + 1) / (2 * (long)sizeof(struct gt_slot)) + 20, 1);
	gt_leave(r);
	fill(hot, of_handler, 0); /* here begins the one with the late record */
	fill(hot, of_handler, 8);
	pairs(of_handler, 4); /* and the next */
	MUST(!rename(raw, away) && !mkdir(raw, 0700));
	fill(hot, of_handler, 0);
	fill(hot, of_handler, 8);
	data[0] = 19;
	gt_record(GT_T_METRICS, m, data, 10);
	pairs(of_handler, 300);
	MUST(!rmdir(raw) && !rename(away, raw));
	pairs(of_handler, 1000);
	say("work 2 handled %ld others 1\n", in_handler);
}

/* For a while nothing can be read of /proc when a half is full. */
UNSEEN static void blind(void)
{
	gt_ref r = region("r");
	struct rlimit limit;
	int i;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < 4; i++) {
		struct rlimit now = { i % 3 ? 0 : limit.rlim_cur, limit.rlim_max };

		MUST(!setrlimit(RLIMIT_NOFILE, &now));
		usleep(20000);
		pairs(r, 10000); /* more than a half */
	}
	say("calls r 40000\n");
}

/* Handlers that jump away, also between the reservation of a slot and its record. */
UNSEEN static void torn(void)
{
	volatile int i;

	timer(jump, 0, 50);
	for (i = 0; i < 1000; i++) {
		if (sigsetjmp(where, 1))
			continue;
		armed = 1;
		for (;;)
			work();
	}
	armed = 0;
	timer(SIG_IGN, 0, 0);
	for (i = 0; i < 200000; i++)
		work();
	say("atleast work 200000\n");
}

static volatile int stopped;

UNSEEN static void *spool(void *arg)
{
	while (!stopped)
		work();
	return arg;
}

/* Forks while another thread spools and reads the clocks; then the end that leaves the spool. */
UNSEEN static void forks(void)
{
	pthread_t thread;
	int i, k;

	MUST(!pthread_create(&thread, NULL, spool, NULL));
	for (i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (k = 0; k < 3000; k++)
				work();
			exit(0);
		}
		MUST(pid > 0 && waitpid(pid, NULL, 0) == pid);
		usleep(100 + 7 * (unsigned)i);
	}
	raise(SIGKILL);
}

/* How many of the processes whose headers are in these files ended without a reading of the clocks. */
UNSEEN static void look(char **files)
{
	int ended = 0, without = 0, fd;
	struct gt_proc_header h;

	for (; *files; files++) {
		fd = open(*files, O_RDONLY);
		MUST(fd >= 0 && read(fd, &h, sizeof(h)) == sizeof(h));
		close(fd);
		ended += h.state == GT_PROC_ENDED;
		without += h.state == GT_PROC_ENDED && !h.last.tick;
	}
	say("ended %d without %d\n", ended, without);
}

extern pid_t _Fork(void);

/* A thread that has not recorded yet makes a process that no fork handler sees. */
UNSEEN static void *raw(void *arg)
{
	pid_t pid = _Fork();
	char name[32];
	int i;

	if (!pid) {
		for (i = 0; i < 5; i++) {
			gt_ref r;

			snprintf(name, sizeof(name), "of the child %d", i);
			r = region(name);
			gt_enter(r);
			gt_leave(r);
		}
		_exit(0);
	}
	MUST(pid > 0 && waitpid(pid, NULL, 0) == pid);
	return arg;
}

UNSEEN static void raw_fork(void)
{
	gt_ref r = region("of the parent");
	pthread_t thread;

	gt_enter(r);
	gt_leave(r);
	MUST(!pthread_create(&thread, NULL, raw, NULL));
	pthread_join(thread, NULL);
	gt_enter(r);
	gt_leave(r);
	say("done\n");
}

static pthread_key_t last;

/* Without an adapter the core first hears of the thread when no round of destructors comes after this one. */
UNSEEN static void end_of_thread(void *round)
{
	gt_ref r;

	if ((intptr_t)round < 4) {
		MUST(!pthread_setspecific(last, (void *)((intptr_t)round + 1)));
		return;
	}
	r = region("r");
	gt_enter(r);
	gt_leave(r);
}

UNSEEN static void *only_at_its_end(void *arg)
{
	MUST(!pthread_setspecific(last, (void *)1));
	return arg;
}

UNSEEN static void late_threads(void)
{
	pthread_t thread;
	int i;

	MUST(!pthread_key_create(&last, end_of_thread));
	for (i = 0; i < 50; i++) {
		MUST(!pthread_create(&thread, NULL, only_at_its_end, NULL));
		pthread_join(thread, NULL);
	}
	say("calls r 50\n");
}

/* An adapter that is a plug-in, and unloaded before a fork and the end (records_lib.c). */
UNSEEN static void plugin(const char *path)
{
	void *object = dlopen(path, RTLD_NOW);
	int status = 0;
	pid_t pid;

	MUST(object);
	MUST(!dlclose(object));
	pid = fork();
	if (!pid)
		exit(7);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	say("calls r 0\n");
}

#define REGISTRARS 8
#define EACH 25
static pthread_barrier_t together;
static char names[REGISTRARS][EACH][16];

UNSEEN static void *registrar(void *arg)
{
	struct gt_adapter adapter = { .bytes = sizeof(adapter), .abi = GT_ADAPTER_ABI };
	int i;

	for (i = 0; i < EACH; i++) {
		adapter.name = ((char(*)[16])arg)[i];
		pthread_barrier_wait(&together);
		MUST(!gt_adapter_register(&adapter));
	}
	return NULL;
}

UNSEEN static void many(void)
{
	pthread_t thread[REGISTRARS];
	int i, k;

	pthread_barrier_init(&together, NULL, REGISTRARS);
	for (i = 0; i < REGISTRARS; i++)
		for (k = 0; k < EACH; k++)
			snprintf(names[i][k], sizeof(names[i][k]), "a%d-%d", i, k);
	for (i = 0; i < REGISTRARS; i++)
		MUST(!pthread_create(&thread[i], NULL, registrar, names[i]));
	for (i = 0; i < REGISTRARS; i++)
		pthread_join(thread[i], NULL);
	say("calls r 0\nadapters %d\n", REGISTRARS * EACH);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "lengths"))
		lengths();
	if (!strcmp(way, "beyond"))
		beyond();
	if (!strcmp(way, "blocks"))
		blocks();
	if (!strcmp(way, "late"))
		late(atoi(argv[2]));
	if (!strcmp(way, "attributes"))
		attributes();
	if (!strcmp(way, "nodefer"))
		nodefer();
	if (!strcmp(way, "inside"))
		inside();
	if (!strcmp(way, "pending"))
		pending();
	if (!strcmp(way, "ends late"))
		ends_late(atoi(argv[2]));
	if (!strcmp(way, "passed"))
		passed();
	if (!strcmp(way, "full"))
		full();
	if (!strcmp(way, "blind"))
		blind();
	if (!strcmp(way, "deep"))
		deep(argc > 2 ? atoi(argv[2]) : 0);
	if (!strcmp(way, "anywhere"))
		anywhere((unsigned)atoi(argv[2]));
	if (!strcmp(way, "late threads"))
		late_threads();
	if (!strcmp(way, "torn"))
		torn();
	if (!strcmp(way, "forks"))
		forks();
	if (!strcmp(way, "look"))
		look(argv + 2);
	if (!strcmp(way, "raw"))
		raw_fork();
	if (!strcmp(way, "plugin"))
		plugin(argv[2]);
	if (!strcmp(way, "many"))
		many();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program: threads, forks, execs, signals, jumps, limits and kills, all from one seed, which
 * counts its own calls in a shared file. `soak verify` compares an archive with that file.
 *
 *   soak SEED FILE           runs; FILE (struct truth) is made by the first process
 *   soak verify FILE LOST ABSENT   reads the output of otf2counts; LOST: events that the archive counts as
 *                            lost; ABSENT: processes that it says are not in it, UNKNOWN if nobody can say
 *   soak tell FILE           what the program did
 *
 * Each function counts itself first of all: its enter is recorded by then. So the archive has at least
 * the calls that were counted, less what it says is lost, and at most one more for each thread that was
 * killed, or left by a jump out of a handler, between the record and the count.
 *
 * Limits: processes that could not join the run (they have no memory left) are compared by their number,
 * not their calls. At most 3 levels of processes and 4 threads each; times are never compared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN     __attribute__((no_instrument_function, unused))
#define FUNCTIONS 6
#define THREADS   4
#define LEVELS    3
#define UNKNOWN   1000000 /* absent processes: some that are counted may be in the archive */
#define IN_FLIGHT 3 /* a thread's own call, and those of two handlers on top of it */

enum did {
	DID_THREAD,
	DID_FORK,
	DID_EXEC,
	DID_SIGNAL,
	DID_JUMP,
	DID_LIMIT,
	DID_KILL,
	DID_DROP,
	DID_CLOSE,
	DIDS
};
static const char *const names[] = { "threads", "forks", "execs", "signals", "jumps",
				     "limits",  "kills", "drops", "closes" };

struct truth {
	uint64_t calls[FUNCTIONS];
	uint64_t slack; /* calls that may be in the archive without having been counted */
	uint64_t did[DIDS];
	uint64_t processes;
	uint64_t unseen;                 /* processes that were not recorded, and what they called */
	uint64_t unseen_calls[FUNCTIONS];
};
static struct truth *truth;
static uint64_t *calls; /* of this process */

struct task {
	uint64_t random;
	int level;          /* of processes */
	sigjmp_buf back;
	volatile sig_atomic_t armed; /* a handler may jump to `back` */
	pthread_t thread;
};
static __thread struct task *self;
extern _Bool gt_active(void) __attribute__((weak)); /* of gputrace/adapter.h */
static char **arguments;
static char program[4096]; /* found again after chdir() */
static int dropped;

static PLAIN uint64_t next(struct task *t)
{
	uint64_t z = t->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static PLAIN unsigned below(struct task *t, unsigned n)
{
	return (unsigned)(next(t) % n);
}

static PLAIN void add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static PLAIN void did(enum did what)
{
	add(&truth->did[what], 1);
}

/* ---- what is recorded ---------------------------------------------------------------------- */

enum bottom { RETURN, JUMP, RAISE_AND_JUMP };

static void PLAIN call(struct task *t, unsigned depth, enum bottom bottom);

#define FUNCTION(k) \
	__attribute__((noinline)) void f##k(struct task *t, unsigned depth, enum bottom bottom); \
	void f##k(struct task *t, unsigned depth, enum bottom bottom) \
	{ \
		add(&calls[k], 1); \
		call(t, depth, bottom); \
		__asm__ volatile(""); \
	}
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)

static PLAIN void call(struct task *t, unsigned depth, enum bottom bottom)
{
	static void (*const all[])(struct task *, unsigned, enum bottom) = { f0, f1, f2, f3, f4 };

	if (depth)
		all[below(t, 5)](t, depth - 1, bottom);
	else if (bottom == JUMP)
		siglongjmp(t->back, 1);
	else if (bottom == RAISE_AND_JUMP)
		raise(SIGUSR2);
}

static PLAIN void burst(struct task *t, unsigned most)
{
	for (unsigned n = below(t, most); n; n--)
		call(t, 1 + below(t, 6), RETURN);
}

/* A new process: is it recorded? Its first call finds out. */
static PLAIN void begin(struct task *t)
{
	self = t;
	add(&truth->processes, 1);
	calls = truth->unseen_calls;
	f0(t, 0, RETURN);
	if (gt_active && gt_active()) {
		add(&truth->unseen_calls[0], UINT64_MAX);
		calls = truth->calls;
		add(&calls[0], 1);
	} else {
		add(&truth->unseen, 1);
	}
}

/* ---- signals and jumps ----------------------------------------------------------------------- */

static PLAIN void on_signal(int signal)
{
	int saved = errno;
	struct task mine = { .random = 1 };

	(void)signal;
	f5(&mine, 0, RETURN);
	f5(&mine, 2, RETURN);
	errno = saved;
}

static PLAIN void on_jump(int signal)
{
	(void)signal;
	if (!self || !self->armed)
		return;
	self->armed = 0;
	siglongjmp(self->back, 1);
}

static PLAIN void handle_signals(struct task *t)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	if (below(t, 4) == 0)
		action.sa_flags |= SA_NODEFER;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = on_jump;
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGRTMIN, &action, NULL);
}

static PLAIN void jump(struct task *t, enum bottom bottom)
{
	unsigned depth = 1 + below(t, 20);

	did(DID_JUMP);
	if (!sigsetjmp(t->back, 1)) {
		t->armed = bottom == RAISE_AND_JUMP;
		call(t, depth, bottom);
	}
	t->armed = 0;
}

/* Somebody else's signal jumps out of whatever this thread is doing. */
static PLAIN void *shooter(void *target)
{
	struct timespec pause = { 0, 20000 };

	for (int i = 0; i < 3; i++) {
		nanosleep(&pause, NULL);
		pthread_kill(*(pthread_t *)target, SIGRTMIN);
	}
	return NULL;
}

static PLAIN void jump_at_any_moment(struct task *t)
{
	pthread_t me = pthread_self(), other;

	did(DID_JUMP);
	add(&truth->slack, IN_FLIGHT);
	if (pthread_create(&other, NULL, shooter, &me))
		return;
	if (!sigsetjmp(t->back, 1)) {
		t->armed = 1;
		burst(t, 2000);
	}
	t->armed = 0;
	pthread_join(other, NULL);
}

static PLAIN void signals(struct task *t)
{
	struct itimerval fast = { { 0, 100 + below(t, 2000) }, { 0, 100 } }, none = { { 0, 0 }, { 0, 0 } };

	did(DID_SIGNAL);
	for (unsigned n = below(t, 20); n; n--)
		raise(SIGUSR1);
	setitimer(ITIMER_REAL, &fast, NULL);
	burst(t, 3000);
	setitimer(ITIMER_REAL, &none, NULL);
}

/* ---- limits, privileges, files ------------------------------------------------------------------ */

static PLAIN void limits(struct task *t)
{
	struct rlimit limit;

	did(DID_LIMIT);
	switch (below(t, 4)) {
	case 0:
		limit.rlim_cur = limit.rlim_max = 3 + below(t, 20);
		setrlimit(RLIMIT_NOFILE, &limit);
		break;
	case 1:
		limit.rlim_cur = limit.rlim_max = below(t, 4) ? (rlim_t)4096 << below(t, 9) : 0;
		setrlimit(RLIMIT_FSIZE, &limit);
		break;
	case 2:
		limit.rlim_cur = limit.rlim_max = (rlim_t)(20 + below(t, 60)) << 20;
		setrlimit(RLIMIT_AS, &limit);
		break;
	default:
		umask(0777);
		if (chdir("/"))
			return;
	}
}

static PLAIN void drop(struct task *t)
{
	unsigned id = 65534 - below(t, 2);

	if (geteuid() != 0 || setresgid(id, id, id) || setresuid(id, id, id))
		return;
	dropped = 1;
	did(DID_DROP);
}

static PLAIN void close_all(void)
{
	did(DID_CLOSE);
	closefrom(3);
}

/* ---- threads ------------------------------------------------------------------------------------------ */

static PLAIN void act(struct task *t, unsigned acts, int in_thread);

static PLAIN void *thread(void *argument)
{
	struct task *t = argument;

	self = t;
	act(t, 1 + below(t, 4), 1);
	switch (below(t, 3)) {
	case 0:
		pthread_exit(NULL);
	case 1: /* deferred: nothing is in flight */
		pthread_cancel(pthread_self());
		pthread_testcancel();
		break;
	}
	return NULL;
}

static PLAIN void threads(struct task *t)
{
	struct task tasks[THREADS];
	unsigned n = 1 + below(t, THREADS), made = 0;

	for (; made < n; made++) {
		memset(&tasks[made], 0, sizeof(tasks[made]));
		tasks[made].random = next(t);
		tasks[made].level = t->level;
		if (pthread_create(&tasks[made].thread, NULL, thread, &tasks[made]))
			break;
		did(DID_THREAD);
	}
	burst(t, 500);
	while (made)
		pthread_join(tasks[--made].thread, NULL);
}

/* ---- processes ------------------------------------------------------------------------------- */

static PLAIN void become(struct task *t, int spawn)
{
	char seed[32], level[32];
	char *argv[] = { program, seed, arguments[2], level, NULL };
	pid_t pid;

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)next(t));
	snprintf(level, sizeof(level), "%d", t->level + 1);
	if (dropped) /* nobody may write into root's archive: that is another test's matter */
		return;
	did(DID_EXEC);
	if (!spawn)
		execv(argv[0], argv);
	else if (!posix_spawn(&pid, argv[0], NULL, NULL, argv, environ))
		waitpid(pid, NULL, 0);
}

static PLAIN void end(struct task *t)
{
	switch (below(t, 8)) {
	case 0:
		_exit(3);
	case 1:
		quick_exit(4);
	case 2:
		abort();
	case 3:
		did(DID_KILL);
		raise(SIGKILL);
		break;
	case 4:
		raise(SIGTERM);
		break;
	case 5:
		become(t, 0);
		break;
	}
	exit(5);
}

static PLAIN void child(struct task *t)
{
	struct task mine = { .random = next(t), .level = t->level + 1 };

	if (below(&mine, 12) == 0)
		close_all();
	begin(&mine);
	if (below(&mine, 6) == 0)
		limits(&mine);
	if (below(&mine, 6) == 0)
		drop(&mine);
	if (below(&mine, 6) == 0)
		close_all();
	act(&mine, 1 + below(&mine, 4), 0);
	end(&mine);
}

static PLAIN void processes(struct task *t)
{
	struct timespec pause = { 0, (long)below(t, 3000000) };
	int status, killed = 0;
	pid_t pid;

	if (t->level >= LEVELS)
		return;
	pid = fork();
	if (pid < 0)
		return;
	if (!pid)
		child(t);
	did(DID_FORK);
	burst(t, 300);
	if (below(t, 4) == 0) {
		nanosleep(&pause, NULL);
		add(&truth->slack, IN_FLIGHT * (THREADS + 1));
		killed = !kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (killed)
		did(DID_KILL);
}

static PLAIN void act(struct task *t, unsigned acts, int in_thread)
{
	while (acts--) {
		switch (below(t, in_thread ? 6 : 9)) {
		case 0:
			burst(t, 4000);
			break;
		case 1:
			jump(t, JUMP);
			break;
		case 2:
			jump(t, RAISE_AND_JUMP);
			break;
		case 3:
			jump_at_any_moment(t);
			break;
		case 4:
			signals(t);
			break;
		case 5:
			processes(t);
			break;
		case 6:
			threads(t);
			break;
		case 7:
			processes(t);
			break;
		default:
			if (t->level < LEVELS)
				become(t, 1);
		}
	}
}

/* ---- the main program ------------------------------------------------------------------------ */

static PLAIN struct truth *open_truth(const char *path, int flags)
{
	int fd = open(path, flags, 0666);
	void *memory = MAP_FAILED;

	if (fd >= 0 && (!(flags & O_CREAT) || !ftruncate(fd, sizeof(struct truth))))
		memory = mmap(NULL, sizeof(struct truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Orphans are waited for, so that the program is over when its first process is. */
static PLAIN void wait_for_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static PLAIN int verify(uint64_t lost, uint64_t absent)
{
	uint64_t seen[FUNCTIONS] = { 0 }, enters, leaves, location, all = 0, all_most = 0, there = 0;
	char line[4096], name[4096];
	int wrong = 0;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%4095[^\t]\t%lu\t%lu\t%lu", name, &enters, &leaves, &location) != 4)
			continue;
		if (name[0] == 'f' && name[1] >= '0' && name[1] < '0' + FUNCTIONS && !name[2])
			seen[name[1] - '0'] += enters;
		if (enters != leaves)
			wrong = printf("location %lu: %s has %lu enters and %lu leaves\n", location, name,
				       enters, leaves);
	}
	for (int k = 0; k < FUNCTIONS; k++) {
		/* A process without room for its first buffer asks again later, and may get one. */
		uint64_t most = truth->calls[k] + truth->slack +
				(absent >= UNKNOWN ? truth->unseen_calls[k] : 0);

		all += truth->calls[k];
		all_most += most;
		there += seen[k];
		if (seen[k] > most || seen[k] + lost < truth->calls[k])
			wrong = printf("f%d: %lu calls, %lu in the archive, %lu events lost, at most %lu\n",
				       k, truth->calls[k], seen[k], lost, most);
	}
	if (there > all_most || there + lost < all)
		wrong = printf("%lu calls, %lu in the archive, %lu events lost, at most %lu\n", all, there,
			       lost, all_most);
	if (truth->unseen > absent)
		wrong = printf("%lu processes were not recorded, the archive says %lu\n", truth->unseen,
			       absent);
	return wrong != 0;
}

static PLAIN int tell(void)
{
	uint64_t all = 0;

	for (int k = 0; k < FUNCTIONS; k++)
		all += truth->calls[k];
	printf("%lu calls, %lu processes (%lu not recorded), %lu in flight", all, truth->processes,
	       truth->unseen, truth->slack);
	for (int i = 0; i < DIDS; i++)
		printf(", %lu %s", truth->did[i], names[i]);
	printf("\n");
	return 0;
}

PLAIN int main(int argc, char **argv)
{
	struct task mine = { 0 };
	struct rlimit none = { 0, 0 };
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (argc < 3 || n < 0)
		return 2;
	if (!strcmp(argv[1], "verify") || !strcmp(argv[1], "tell")) {
		truth = open_truth(argv[2], O_RDWR);
		return !truth	  ? 2
		       : argc > 4 ? verify(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10))
				  : tell();
	}
	arguments = argv;
	mine.random = strtoull(argv[1], NULL, 10);
	mine.level = argc > 3 ? atoi(argv[3]) : 0;
	truth = open_truth(argv[2], mine.level ? O_RDWR : O_RDWR | O_CREAT);
	if (!truth)
		return 2;
	begin(&mine);
	setrlimit(RLIMIT_CORE, &none);
	if (!mine.level)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	handle_signals(&mine);
	act(&mine, 2 + below(&mine, 5), 0);
	wait_for_all();
	if (below(&mine, 10) == 0) { /* the last process may go like this, too */
		did(DID_KILL);
		raise(below(&mine, 2) ? SIGKILL : SIGINT);
	}
	return mine.level ? 6 : 0;
}

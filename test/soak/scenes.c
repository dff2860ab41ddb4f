/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What needs other threads and processes: the player's threads, children, programs, and the ends of all.
 *
 * Limits: see play.c. Whoever is killed may have had calls that were recorded and not counted: truth->slack.
 */
#include "play.h"

#include <semaphore.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST = 16, IN_FLIGHT = 3 };

/* ---- threads ------------------------------------------------------------------------------------ */

struct task {
	pthread_t thread;
	int step, index;
};

static UNSEEN void *play_thread(void *argument)
{
	struct task *task = argument;

	self.random = (uint64_t)task->index * 7919 + (uint64_t)task->step;
	play_inner(task->step);
	switch (steps[task->step].b) {
	case 0:
		pthread_exit(task);
	case 1:
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return task;
}

UNSEEN void act_threads(int step)
{
	struct task tasks[MOST];
	int n = steps[step].a;
	void *result;

	for (int i = 0; i < n; i++) {
		tasks[i] = (struct task){ .step = step, .index = i };
		if (pthread_create(&tasks[i].thread, NULL, play_thread, &tasks[i]))
			bad("pthread_create");
	}
	burst(20, 3);
	while (n--) {
		pthread_join(tasks[n].thread, &result);
		if (result != (steps[step].b == 1 ? PTHREAD_CANCELED : &tasks[n]))
			say("thread %d returned something else\n", n);
	}
}

static UNSEEN void *detached(void *done)
{
	burst(30, 3);
	sem_post(done);
	return NULL;
}

UNSEEN void act_detached(int step)
{
	sem_t *done = malloc(sizeof(*done)); /* not freed: who has posted may still be in it */
	pthread_attr_t how;
	pthread_t thread;

	sem_init(done, 0, 0);
	pthread_attr_init(&how);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < steps[step].a; i++)
		if (pthread_create(&thread, &how, detached, done))
			bad("pthread_create");
	for (int i = 0; i < steps[step].a; i++)
		while (sem_wait(done))
			;
}

static UNSEEN void cleanup(void *none)
{
	(void)none;
	burst(8, 2);
}

static UNSEEN void *works_on(void *none)
{
	pthread_cleanup_push(cleanup, none);
	for (;;) {
		burst(10, 3);
		pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static UNSEEN void *blocks(void *none)
{
	sem_t never;

	sem_init(&never, 0, 0);
	pthread_cleanup_push(cleanup, none);
	for (;;)
		sem_wait(&never);
	pthread_cleanup_pop(0);
	return NULL;
}

CALLED int compute(int depth);
CALLED int compute(int depth)
{
	int r;

	hit(NAME_COMPUTE);
	r = depth > 0 ? compute(depth - 1) : 0;
	HERE();
	return r + 1;
}

static UNSEEN void *computes(void *none)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		compute(5);
	return none;
}

UNSEEN void act_cancel(int step)
{
	static void *(*const kinds[])(void *) = { works_on, blocks, computes };
	pthread_t thread;
	void *result;

	if (steps[step].a == 2)
		add(&truth->slack, IN_FLIGHT);
	if (pthread_create(&thread, NULL, kinds[steps[step].a], NULL))
		bad("pthread_create");
	usleep((useconds_t)steps[step].b);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	say("cancelled %d\n", result == PTHREAD_CANCELED);
}

static pthread_key_t key;

static UNSEEN void let_go(void *value)
{
	(void)value;
	burst(10, 2);
}

static UNSEEN void make_key(void)
{
	pthread_key_create(&key, let_go);
}

static UNSEEN void *has_key(void *value)
{
	pthread_setspecific(key, value);
	return NULL;
}

UNSEEN void act_keys(int step)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_t thread;

	(void)step;
	pthread_once(&once, make_key);
	if (pthread_create(&thread, NULL, has_key, &key))
		bad("pthread_create");
	pthread_join(thread, NULL);
}

struct meeting {
	pthread_barrier_t barrier;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int rounds, turn;
};

static UNSEEN void *meets(void *argument)
{
	struct meeting *m = argument;

	for (int i = 0; i < m->rounds; i++) {
		burst(5, 2);
		pthread_barrier_wait(&m->barrier);
	}
	return NULL;
}

UNSEEN void act_barrier(int step)
{
	struct meeting m = { .rounds = steps[step].b };
	pthread_t threads[MOST];
	int n = steps[step].a;

	pthread_barrier_init(&m.barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, meets, &m))
			bad("pthread_create");
	meets(&m);
	while (n--)
		pthread_join(threads[n], NULL);
	pthread_barrier_destroy(&m.barrier);
}

/* Takes its turns, first 0 or 1. */
static UNSEEN void play_turns(struct meeting *m, int mine)
{
	for (int i = 0; i < m->rounds; i++) {
		pthread_mutex_lock(&m->lock);
		while (m->turn != mine)
			pthread_cond_wait(&m->changed, &m->lock);
		burst(3, 2);
		m->turn = !mine;
		pthread_cond_broadcast(&m->changed);
		pthread_mutex_unlock(&m->lock);
	}
}

static UNSEEN void *other_side(void *argument)
{
	play_turns(argument, 1);
	return NULL;
}

UNSEEN void act_condition(int step)
{
	struct meeting m = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER,
			     .rounds = steps[step].a };
	pthread_t thread;

	if (pthread_create(&thread, NULL, other_side, &m))
		bad("pthread_create");
	play_turns(&m, 0);
	pthread_join(thread, NULL);
}

static sem_t fired;

static UNSEEN void on_timer(union sigval value)
{
	(void)value;
	burst(10, 2);
	sem_post(&fired);
}

/* Each time on a thread that libc makes. */
UNSEEN void act_timer(int step)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer };
	struct itimerspec soon = { .it_value = { 0, 100000 } };
	timer_t timer;

	sem_init(&fired, 0, 0);
	for (int i = 0; i < steps[step].a; i++) {
		if (timer_create(CLOCK_MONOTONIC, &event, &timer))
			bad("timer_create");
		timer_settime(timer, 0, &soon, NULL);
		while (sem_wait(&fired))
			;
		timer_delete(timer);
	}
}

/* ---- processes ----------------------------------------------------------------------------------- */

UNSEEN void wait_for(pid_t pid, const char *what)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	say("%s %x\n", what, status & 0xff7f); /* who has ended by a signal has dumped no core: main() */
}

static UNSEEN void begin_child(void)
{
	struct itimerval none = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &none, NULL);
	levels++;
}

UNSEEN void act_fork(int step)
{
	pid_t pid = fork();

	if (!pid) {
		begin_child();
		play_inner(step);
		play_end(steps[step].a, steps[step].b);
	}
	burst(5, 2);
	wait_for(pid, "fork");
}

static UNSEEN void leaf_arguments(char *argv[5], char number[12], int status)
{
	static char leaf[] = "leaf";

	snprintf(number, 12, "%d", status);
	argv[0] = play_self, argv[1] = leaf, argv[2] = number, argv[3] = play_truth, argv[4] = NULL;
}

UNSEEN void act_vfork(int step)
{
	char *argv[5], number[12];
	pid_t pid;

	leaf_arguments(argv, number, steps[step].a);
	pid = vfork();
	if (!pid) {
		execv(play_self, argv);
		_exit(127);
	}
	wait_for(pid, "vfork");
}

UNSEEN void act_spawn(int step)
{
	char *argv[5], number[12];
	pid_t pid = 0;

	leaf_arguments(argv, number, steps[step].a);
	if (posix_spawn(&pid, play_self, NULL, NULL, argv, environ))
		bad("posix_spawn");
	wait_for(pid, "spawn");
}

UNSEEN void act_exec(int step)
{
	pid_t pid = fork();

	if (!pid) {
		begin_child();
		burst(50, 4);
		play_end(10, steps[step].a);
	}
	wait_for(pid, "exec");
}

UNSEEN void act_system(int step)
{
	static const char *const commands[] = { "exit 3", "true", "kill -9 $$", "echo hi", "(exit 4) | cat" };

	say("system %x\n", (unsigned)system(commands[steps[step].a % 5]));
}

UNSEEN void act_popen(int step)
{
	FILE *file = popen("echo a; echo b; exit 6", "re");
	char line[64];
	int n = 0;

	(void)step;
	while (file && fgets(line, sizeof(line), file))
		n++;
	say("popen %d %x\n", n, file ? (unsigned)pclose(file) : 0u);
}

UNSEEN void act_killed(int step)
{
	pid_t pid = fork();
	sigset_t none;

	if (!pid) {
		begin_child();
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		for (;;)
			burst(100, 5);
	}
	add(&truth->slack, IN_FLIGHT);
	usleep((useconds_t)steps[step].b);
	kill(pid, steps[step].a ? SIGKILL : SIGTERM);
	wait_for(pid, "killed");
}

static UNSEEN void *busy(void *argument)
{
	self.random = (uint64_t)(uintptr_t)argument;
	for (int i = 0; i < 200; i++)
		burst(20, 3);
	return NULL;
}

/* Forks while others call. */
UNSEEN void act_forkthreads(int step)
{
	pthread_t threads[3];

	for (uintptr_t i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, busy, (void *)i))
			bad("pthread_create");
	for (int i = 0; i < steps[step].a; i++) {
		pid_t pid = fork();

		if (!pid) {
			begin_child();
			burst(50, 3);
			_exit(5);
		}
		wait_for(pid, "fork among threads");
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* A child's child, which goes on alone until nobody has the pipe any more. */
UNSEEN void act_orphan(int step)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		bad("pipe");
	pid = fork();
	if (!pid) {
		begin_child();
		if (!fork()) {
			setsid();
			burst(30, 3);
			usleep((useconds_t)steps[step].a);
			burst(30, 3);
			_exit(0);
		}
		_exit(1);
	}
	close(ends[1]);
	wait_for(pid, "parent of an orphan");
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
}

/* ---- ends ---------------------------------------------------------------------------------------- */

static int at_end;

static UNSEEN void at_exit(void)
{
	burst(at_end, 3);
}

UNSEEN void act_atexit(int step)
{
	at_end = steps[step].a;
	if (steps[step].b)
		at_quick_exit(at_exit);
	else
		atexit(at_exit);
}

static UNSEEN void around_fork(void)
{
	burst(5, 2);
}

UNSEEN void act_atfork(int step)
{
	(void)step;
	pthread_atfork(around_fork, around_fork, around_fork);
}

static UNSEEN void *ends_all(void *value)
{
	burst(50, 3);
	exit((int)(intptr_t)value);
}

static UNSEEN void *works_for_ever(void *argument)
{
	self.random = (uint64_t)(uintptr_t)argument;
	for (;;)
		burst(50, 4);
	return NULL;
}

static UNSEEN void start(int n, void *(*function)(void *), intptr_t argument)
{
	pthread_t thread;

	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, function, (void *)(argument + i)))
			bad("pthread_create");
}

/* Threads go on; what they do after the end of recording is late. */
static UNSEEN void leave_threads_behind(void)
{
	start(3, works_for_ever, 1);
	usleep(3000);
	add(&truth->slack, 3 * IN_FLIGHT);
	add(&truth->late, 1);
}

UNSEEN void play_end(int kind, int value)
{
	char *argv[5], number[12];

	add(&truth->slack, kind >= 3 && kind <= 6);
	if (ranks_end && !levels)
		ranks_end();
	switch (kind) {
	case 1: _exit(value);
	case 2: quick_exit(value);
	case 3: abort();
	case 4: raise(SIGKILL); break;
	case 5: *(volatile int *)8 = 0; break;
	case 6: signal(SIGTERM, SIG_DFL); raise(SIGTERM); break;
	case 7: start(1, ends_all, value); for (;;) pause();
	case 8: start(2, busy, 5); pthread_exit(NULL);
	case 9: leave_threads_behind(); exit(value);
	case 10: leaf_arguments(argv, number, value); execv(play_self, argv); _exit(127);
	case 11: leave_threads_behind(); raise(SIGKILL); break;
	}
	exit(value);
}

UNSEEN void act_end(int step)
{
	say("end\n");
	play_end(steps[step].a, steps[step].b);
}

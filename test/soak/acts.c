/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread of the player can do by itself: calls, vt_user.h, jumps, signals, locks, fibres, descriptors.
 *
 * Limits: see play.c. After asynchronous signals the sum of depths is no longer known (truth->depth_bad):
 * one may come between an enter and its being counted.
 */
#include "play.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static UNSEEN bool recorded(void)
{
	return !self.off && !self.rewound;
}

UNSEEN void act_calls(int step)
{
	burst(steps[step].a, steps[step].b);
}

/* ---- vt_user.h ---------------------------------------------------------------------------------- */

UNSEEN void act_user(int step)
{
	hit(U + 2);
	VT_USER_START("u2");
	play_inner(step);
	VT_USER_END("u2");
}

/* A handler between both would not know which it is. */
static UNSEEN void set_off(int off)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (off)
		VT_OFF();
	else
		VT_ON();
	self.off = off;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

UNSEEN void act_off(int step)
{
	set_off(1);
	play_inner(step);
	set_off(0);
}

UNSEEN void act_rewind(int step)
{
	VT_SET_REWIND_MARK();
	self.rewound = 1;
	play_inner(step);
	VT_REWIND();
	self.rewound = 0;
}

UNSEEN void act_flush(int step)
{
	(void)step;
	VT_BUFFER_FLUSH();
}

/* Tags must differ over all processes. */
UNSEEN void act_message(int step)
{
	for (int i = 0; i < steps[step].a && recorded(); i++) {
		uint64_t tag = __atomic_fetch_add(&truth->sends, 1, __ATOMIC_RELAXED);

		VT_MSG_SEND(VT_MSG_DEFCOMM, (unsigned)tag, 100);
		burst(2, 1);
		VT_MSG_RECV(VT_MSG_DEFCOMM, (unsigned)tag, 100);
		add(&truth->receives, 1);
		(void)tag;
	}
}

UNSEEN void act_value(int step)
{
	unsigned id = VT_COUNT_DEF("soak value", "#", VT_COUNT_TYPE_SIGNED, VT_COUNT_DEFGROUP);

	for (int i = 0; i < steps[step].a && recorded(); i++) {
		VT_COUNT_SIGNED_VAL(id, i - 3);
		add(&truth->values, 1);
	}
	(void)id;
}

UNSEEN void act_marker(int step)
{
	unsigned id = VT_MARKER_DEF("soak marker", VT_MARKER_TYPE_HINT);

	for (int i = 0; i < steps[step].a && recorded(); i++) {
		VT_MARKER(id, "here");
		add(&truth->markers, 1);
	}
	(void)id;
}

/* ---- jumps and signals --------------------------------------------------------------------------- */

/* Calls whose chain is left three times, with whatever is open then. */
static UNSEEN void leave_calls(int depth, int how)
{
	volatile int times = 0;

	add(&truth->depth_bad, 1); /* what was left is closed with the function around it, not before */
	self.back_depth = self.depth;
	sigsetjmp(self.back, 1);
	self.depth = self.back_depth;
	self.fuel = 0;
	times = times + 1;
	self.bottom = how;
	self.armed = how == LEAP;
	if (times <= 3)
		burst(1000, depth);
	self.bottom = STAY;
	self.armed = 0;
	self.fuel = 0;
}

UNSEEN void act_jump(int step)
{
	leave_calls(steps[step].a, JUMP);
}

static UNSEEN void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(signal, &action, NULL);
}

static UNSEEN void on_signal(int signal)
{
	int saved = errno, bottom = self.bottom;

	(void)signal;
	self.bottom = STAY;
	self.handler++;
	burst(6, 2);
	self.handler--;
	self.bottom = bottom;
	errno = saved;
}

static UNSEEN void on_leap(int signal)
{
	int bottom = self.bottom;

	self.bottom = STAY;
	on_signal(signal);
	self.bottom = bottom;
	if (!self.armed)
		return;
	self.armed = 0;
	siglongjmp(self.back, 1);
}

UNSEEN void act_leap(int step)
{
	handle(SIGUSR2, on_leap, SA_NODEFER);
	leave_calls(steps[step].a, LEAP);
}

UNSEEN void act_raise(int step)
{
	handle(SIGUSR1, on_signal, steps[step].b ? SA_NODEFER | SA_RESTART : 0);
	for (int i = 0; i < steps[step].a; i++)
		raise(SIGUSR1);
}

static UNSEEN void set_timer(long us)
{
	struct itimerval value = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &value, NULL);
}

UNSEEN void act_storm(int step)
{
	add(&truth->depth_bad, 1);
	handle(SIGALRM, on_signal, SA_RESTART);
	set_timer(steps[step].a);
	burst(steps[step].b, 6);
	set_timer(0);
}

UNSEEN void act_altstack(int step)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 }, before;

	(void)step;
	sigaltstack(&stack, &before);
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	raise(SIGUSR1);
	sigaltstack(&before, NULL);
	free(stack.ss_sp);
}

UNSEEN void act_mask(int step)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	play_inner(step);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

UNSEEN void act_sigwait(int step)
{
	sigset_t one, before;
	int got = 0;

	(void)step;
	sigemptyset(&one);
	sigaddset(&one, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	pthread_kill(pthread_self(), SIGRTMIN);
	while (sigwait(&one, &got) == EINTR)
		;
	say("sigwait %d\n", got == SIGRTMIN);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static UNSEEN void on_fork(int signal)
{
	pid_t pid = fork();

	(void)signal;
	if (!pid) {
		self.handler++;
		burst(5, 2);
		_exit(2);
	}
	wait_for(pid, "fork in a handler");
}

UNSEEN void act_forkhandler(int step)
{
	(void)step;
	handle(SIGUSR1, on_fork, 0);
	raise(SIGUSR1);
}

/* ---- locks --------------------------------------------------------------------------------------- */

enum { LOCKS = 4 };
static pthread_mutex_t locks[LOCKS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
					PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

/* A child has them as they were, and nobody who will let go. */
static UNSEEN void renew(void)
{
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	pthread_rwlock_init(&rwlock, NULL);
}

static UNSEEN __attribute__((constructor)) void renew_in_children(void)
{
	pthread_atfork(NULL, NULL, renew);
}

/* The second one is a higher one: nobody waits in a circle. */
UNSEEN void act_lock(int step)
{
	int first = steps[step].a % LOCKS, second = first + 1;

	pthread_mutex_lock(&locks[first]);
	burst(steps[step].b, 3);
	if (second < LOCKS && !pthread_mutex_trylock(&locks[second])) {
		burst(5, 2);
		pthread_mutex_unlock(&locks[second]);
	}
	pthread_mutex_unlock(&locks[first]);
}

UNSEEN void act_rwlock(int step)
{
	pthread_rwlock_rdlock(&rwlock);
	burst(steps[step].b, 3);
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	burst(5, 2);
	pthread_rwlock_unlock(&rwlock);
}

static UNSEEN void first_time(void)
{
	burst(3, 1);
}

UNSEEN void act_once(int step)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)step;
	pthread_once(&once, first_time);
}

UNSEEN void act_semaphore(int step)
{
	struct timespec now;
	sem_t sem;
	int rc;

	sem_init(&sem, 0, 1);
	sem_wait(&sem);
	burst(steps[step].a, 2);
	clock_gettime(CLOCK_REALTIME, &now);
	do
		rc = sem_timedwait(&sem, &now);
	while (rc && errno == EINTR);
	say("semaphore %d %d\n", rc, errno == ETIMEDOUT);
	sem_destroy(&sem);
}

/* ---- other ways of the processor ----------------------------------------------------------------- */

UNSEEN void act_throw(int step)
{
	if (throw_and_catch && recorded())
		say("throw %d\n", throw_and_catch(steps[step].a));
}

UNSEEN void act_team(int step)
{
	if (team)
		team(steps[step].a, steps[step].b);
}

UNSEEN void act_talk(int step)
{
	if (ranks_talk)
		ranks_talk(steps[step].a, steps[step].b);
}

static __thread ucontext_t home, one, two;
static __thread int hops;

CALLED void fibre(int first);
CALLED void fibre(int first)
{
	hit(NAME_FIBRE);
	while (hops-- > 0)
		swapcontext(first ? &one : &two, first ? &two : &one);
	setcontext(&home);
}

static UNSEEN void *fibre_make(ucontext_t *context, int first)
{
	void *stack = malloc(131072);

	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = 131072;
	context->uc_link = NULL;
	makecontext(context, (void (*)(void))fibre, 1, first);
	return stack;
}

UNSEEN void act_fibres(int step)
{
	void *first = fibre_make(&one, 1), *second = fibre_make(&two, 0);

	hops = steps[step].a;
	swapcontext(&home, &one);
	free(first);
	free(second);
}

UNSEEN void act_plugin(int step)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/plug%d.so", getenv("SOAK_PLUGS"), steps[step].a % 2);
	for (int i = 0; i < steps[step].b; i++) {
		void *handle = dlopen(path, i % 2 ? RTLD_LAZY : RTLD_NOW | RTLD_GLOBAL);
		int (*plug)(int) = handle ? (int (*)(int))dlsym(handle, "plug") : NULL;
		int calls;

		if (!plug) {
			say("no plug-in: %s\n", dlerror());
			return;
		}
		calls = plug(i);
		for (int k = 0; k < calls; k++)
			hit(NAME_PLUG);
		dlclose(handle);
	}
}

/* ---- memory and files --------------------------------------------------------------------------- */

UNSEEN void act_memory(int step)
{
	size_t size = (size_t)steps[step].a << 10;
	char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *got = calloc(1, size);
	void *aligned = NULL;

	mapped[0] = 1;
	munmap(mapped, size);
	if (!posix_memalign(&aligned, 4096, size))
		free(aligned);
	got = realloc(got, 2 * size);
	free(got);
}

UNSEEN void act_files(int step)
{
	int ends[2], copy;
	char text[8] = "";

	for (int i = 0; i < steps[step].a; i++) {
		if (pipe(ends))
			return;
		copy = dup(ends[1]);
		if (write(copy, "hello", 5) != 5 || read(ends[0], text, 5) != 5)
			bad("pipe");
		close(copy);
		close(ends[0]);
		close(ends[1]);
	}
	say("files %s\n", text);
}

UNSEEN void act_closefds(int step)
{
	if (steps[step].a)
		closefrom(3);
	else
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
}

UNSEEN void act_chdir(int step)
{
	say("chdir %d\n", chdir(steps[step].a ? "/" : "/tmp"));
}

/* As many as the limit allows, but those that gputrace may have: only that it works is compared. */
UNSEEN void act_nofile(int step)
{
	struct rlimit before, now;
	int fd[64], n = 0;

	getrlimit(RLIMIT_NOFILE, &before);
	now = before;
	now.rlim_cur = (rlim_t)steps[step].a;
	setrlimit(RLIMIT_NOFILE, &now);
	burst(steps[step].b, 4);
	while (n < 64 && (fd[n] = open("/dev/null", O_RDONLY)) >= 0)
		n++;
	say("nofile %d\n", n);
	burst(300, 4);
	while (n > 0)
		close(fd[--n]);
	setrlimit(RLIMIT_NOFILE, &before);
}

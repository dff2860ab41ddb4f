/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose answers are known beforehand: answers NAME. What they do are sleeps that nobody records,
 * inside of functions that are recorded: no processor is needed for them. Each says what it has clocked
 * itself, as "WHAT ns": what answers.py has a use for, and at last how long the calls took that wait.
 *
 * Limits: a sleep ends when there is a processor, so what functions took is taken from the archive.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, THREADS = 4 };

/* A function of the program that takes as many milliseconds. */
#define WORKS(NAME)                                                                                \
	static __attribute__((noinline)) void NAME(int ms)                                         \
	{                                                                                          \
		syscall(SYS_nanosleep, &(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL); \
	}

WORKS(work)
WORKS(alone)
WORKS(inside)
WORKS(outside)
WORKS(read_item)
WORKS(pack_item)
WORKS(write_item)

struct thread {
	pthread_t id;
	int ms;
	pthread_mutex_t own;
	uint64_t worked[ROUNDS], came[ROUNDS]; /* ns: for how long, and when it was done */
};

static struct thread threads[THREADS];
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t room, items;
static int queues[2];
static const char *waits = "nothing"; /* the call that all of `waited` is */
static atomic_uint_fast64_t waited, idle; /* idle: of that, for work */

static __attribute__((no_instrument_function)) uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#define WAIT(call, ...)                                 \
	do {                                            \
		uint64_t since = now();                 \
		call(__VA_ARGS__);                      \
		waits = #call;                          \
		waited += now() - since;                \
	} while (0)

/* Threads, each of which runs the next one of the functions (the last one again and again), all at once. */
static void together(int count, void *(*const *runs)(void *), int functions)
{
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i].id, NULL, runs[i < functions ? i : functions - 1], &threads[i]);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i].id, NULL);
}

#define TOGETHER(count, ...) \
	together(count, (void *(*const[])(void *)){ __VA_ARGS__ }, \
		 (int)(sizeof((void *(*const[])(void *)){ __VA_ARGS__ }) / sizeof(void *)))

/* ---- a team -------------------------------------------------------------------------------------- */

static void *member(void *thread)
{
	struct thread *own = thread;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begun = now();

		work(own->ms);
		own->came[i] = now();
		own->worked[i] = own->came[i] - begun;
		WAIT(pthread_barrier_wait, &barrier);
	}
	return NULL;
}

/* In each round all wait for the one that comes last. */
static void say_rounds(void)
{
	uint64_t early = 0, longest = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int last = 0;

		for (int k = 0; k < THREADS; k++)
			last = threads[k].came[i] > threads[last].came[i] ? k : last;
		for (int k = 0; k < THREADS; k++)
			early += threads[last].came[i] - threads[k].came[i];
		longest += threads[last].worked[i];
	}
	printf("early %llu\nlongest %llu\n", (unsigned long long)early, (unsigned long long)longest);
}

static void team(int slow)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		threads[i].ms = i == 2 ? slow : 10;
	TOGETHER(THREADS, member);
	say_rounds();
}

/* One of four threads works three times as long as the others. */
static void late(void)
{
	team(30);
}

static void even(void)
{
	team(10);
}

static void *works(void *thread)
{
	work(((struct thread *)thread)->ms);
	return NULL;
}

/* Three threads end soon. */
static void tail(void)
{
	for (int i = 0; i < THREADS; i++)
		threads[i].ms = i == 3 ? 250 : 20;
	TOGETHER(THREADS, works);
}

/* Between rounds of threads the first one works alone. */
static void serial(void)
{
	for (int i = 0; i < 4; i++) {
		alone(60);
		threads[0].ms = threads[1].ms = 20;
		TOGETHER(2, works);
	}
}

/* It takes long until there are threads. */
static void startup(void)
{
	alone(200);
	for (int i = 0; i < THREADS; i++)
		threads[i].ms = 100;
	TOGETHER(THREADS, works);
}

static void in_turn(void)
{
	threads[0].ms = 20;
	for (int i = 0; i < ROUNDS; i++)
		TOGETHER(1, works);
}

/* The first thread works beside one that takes a little longer. */
static void beside(void)
{
	threads[0].ms = 300;
	pthread_create(&threads[0].id, NULL, works, &threads[0]);
	alone(250);
	WAIT(pthread_join, threads[0].id, NULL);
}

/* ---- locks --------------------------------------------------------------------------------------- */

static void *locks_one(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		outside(2);
		WAIT(pthread_mutex_lock, &mutex);
		inside(10);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *locks_own(void *thread)
{
	pthread_mutex_t *own = &((struct thread *)thread)->own;

	for (int i = 0; i < ROUNDS; i++) {
		outside(2);
		pthread_mutex_lock(own);
		inside(10);
		pthread_mutex_unlock(own);
	}
	return NULL;
}

static void lock(void)
{
	TOGETHER(THREADS, locks_one);
}

static void locks(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_mutex_init(&threads[i].own, NULL);
	TOGETHER(THREADS, locks_own);
}

static void *reads(void *unused)
{
	pthread_rwlock_rdlock(&rwlock);
	sem_post(&items);
	work(200);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

/* The first thread waits for a reader. */
static void writer(void)
{
	pthread_create(&threads[0].id, NULL, reads, NULL);
	sem_wait(&items);
	WAIT(pthread_rwlock_wrlock, &rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_join(threads[0].id, NULL);
}

static void *keeps(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	sem_post(&items);
	inside(200);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* The first thread waits for one that did not wait for its lock, so that it is not recorded there. */
static void held(void)
{
	pthread_create(&threads[0].id, NULL, keeps, NULL);
	sem_wait(&items);
	WAIT(pthread_mutex_lock, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(threads[0].id, NULL);
}

static void written(void)
{
	pthread_create(&threads[0].id, NULL, keeps, NULL);
	sem_wait(&items);
	WAIT(pthread_rwlock_rdlock, &rwlock);
	pthread_rwlock_unlock(&rwlock);
	pthread_join(threads[0].id, NULL);
}

/* ---- stages -------------------------------------------------------------------------------------- */

static void put(int *queue)
{
	pthread_mutex_lock(&mutex);
	++*queue;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
}

static void get(int *queue)
{
	pthread_mutex_lock(&mutex);
	while (!*queue)
		WAIT(pthread_cond_wait, &condition, &mutex);
	--*queue;
	pthread_mutex_unlock(&mutex);
}

static void *stage_reads(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		read_item(5);
		put(&queues[0]);
	}
	return unused;
}

static void *stage_packs(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		get(&queues[0]);
		pack_item(20);
		put(&queues[1]);
	}
	return unused;
}

static void *stage_writes(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		get(&queues[1]);
		write_item(8);
	}
	return unused;
}

static void pipeline(void)
{
	TOGETHER(3, stage_reads, stage_packs, stage_writes);
}

static void *produces(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		read_item(5);
		WAIT(sem_wait, &room);
		sem_post(&items);
	}
	return unused;
}

static void *consumes(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		WAIT(sem_wait, &items);
		pack_item(20);
		sem_post(&room);
	}
	return unused;
}

static void semaphores(void)
{
	sem_init(&room, 0, 2);
	TOGETHER(2, produces, consumes);
}

/* ---- what conditions are waited for -------------------------------------------------------------- */

static pthread_cond_t full = PTHREAD_COND_INITIALIZER, turn = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static int taken, queued, closed;

/* A lock of a program's own. */
static void take(void)
{
	pthread_mutex_lock(&mutex);
	while (taken)
		WAIT(pthread_cond_wait, &condition, &mutex);
	taken = 1;
	pthread_mutex_unlock(&mutex);
}

static void give(void)
{
	pthread_mutex_lock(&mutex);
	taken = 0;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void *takes_turns(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		outside(2);
		take();
		inside(10);
		give();
	}
	return unused;
}

static void condlock(void)
{
	TOGETHER(THREADS, takes_turns);
}

/* One item more, of which there may be so many; and one less. False: there will be none. */
static void add(int most)
{
	pthread_mutex_lock(&mutex);
	while (queued == most)
		WAIT(pthread_cond_wait, &full, &mutex);
	queued++;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static int remove_one(void)
{
	uint64_t before;
	int got;

	pthread_mutex_lock(&mutex);
	for (before = now(); !queued && !closed; idle += now() - before, before = now())
		WAIT(pthread_cond_wait, &condition, &mutex);
	got = queued != 0;
	queued -= got;
	pthread_cond_signal(&full);
	pthread_mutex_unlock(&mutex);
	return got;
}

static void close_queue(void)
{
	pthread_mutex_lock(&mutex);
	closed = 1;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
}

static void *fills(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		read_item(5);
		add(6);
	}
	return unused;
}

static void *empties(void *unused)
{
	for (int i = 0; i < 3 * ROUNDS && remove_one(); i++)
		pack_item(20);
	return unused;
}

/* Three threads wait for room, which one makes. */
static void bounded(void)
{
	TOGETHER(4, empties, fills, fills, fills);
}

static void *serves(void *unused)
{
	while (remove_one())
		work(20);
	return unused;
}

/* Three threads wait for what the first one has for them now and then. */
static void served(void)
{
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i].id, NULL, serves, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		alone(40);
		add(-1);
	}
	close_queue();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i].id, NULL);
}

static void *computes(void *unused)
{
	work(100);
	pthread_mutex_lock(&mutex);
	closed = 1;
	pthread_cond_signal(&full);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* It lets another one compute what it needs, and waits for it. */
static void *needs(void *thread)
{
	pthread_t other;

	outside(10);
	pthread_create(&other, NULL, computes, thread);
	inside(20);
	pthread_mutex_lock(&mutex);
	while (!closed)
		WAIT(pthread_cond_wait, &full, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(other, NULL);
	return thread;
}

static void result(void)
{
	TOGETHER(1, needs);
}

static void *serves_in_turn(void *unused)
{
	while (remove_one()) {
		pthread_mutex_lock(&turns);
		while (taken)
			WAIT(pthread_cond_wait, &turn, &turns);
		taken = 1;
		pthread_mutex_unlock(&turns);
		inside(20);
		pthread_mutex_lock(&turns);
		taken = 0;
		pthread_cond_signal(&turn);
		pthread_mutex_unlock(&turns);
	}
	return unused;
}

/* Threads wait for work, and one at a time can do it. */
static void both(void)
{
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i].id, NULL, serves_in_turn, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		alone(80);
		for (int k = 0; k < 3; k++)
			add(-1);
	}
	close_queue();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i].id, NULL);
}

static void children(void)
{
	pid_t child = fork();

	if (!child) {
		work(200);
		_exit(0);
	}
	alone(50);
	WAIT(waitpid, child, NULL, 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "late", late },	{ "even", even },	      { "tail", tail },	    { "serial", serial },
	{ "startup", startup }, { "in_turn", in_turn },	      { "beside", beside }, { "lock", lock },
	{ "locks", locks },	{ "writer", writer },	      { "pipeline", pipeline },
	{ "children", children }, { "semaphores", semaphores }, { "condlock", condlock },
	{ "bounded", bounded },	{ "served", served },	      { "result", result }, { "both", both },
	{ "held", held },	{ "written", written },
};

int main(int argc, char **argv)
{
	sem_init(&items, 0, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			all[i].run();
	printf("idle %llu\n", (unsigned long long)idle);
	printf("%s %llu\n", waits, (unsigned long long)waited);
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// C11 threads, mutexes and condition variables: results and return codes.
// Limits: thrd_sleep, call_once and tss are not intercepted and not looked at.
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#define SAY(call) printf("%s = %d\n", #call, (call))

static mtx_t m, timed, recursive;
static cnd_t c;
static int turn;
static atomic_int tried;

static int ping(void *p)
{
	for (int i = 0; i < 50; i++) {
		mtx_lock(&m);
		while (turn != 1)
			cnd_wait(&c, &m);
		turn = 0;
		cnd_signal(&c);
		mtx_unlock(&m);
	}
	return *(int *)p;
}

static int leave(void *p)
{
	thrd_exit(*(int *)p);
}

static int busy(void *p)
{
	struct timespec soon;

	(void)p;
	timespec_get(&soon, TIME_UTC);
	soon.tv_nsec += 5000000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_sec++;
		soon.tv_nsec -= 1000000000;
	}
	SAY(mtx_trylock(&timed));
	SAY(mtx_timedlock(&timed, &soon));
	tried = 1;
	mtx_lock(&timed);
	SAY(mtx_unlock(&timed));
	return -5;
}

int main(void)
{
	struct timespec past = { 1, 0 }, moment = { 0, 10000000 };
	int argument = 42, result;
	thrd_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	SAY(mtx_init(&m, mtx_plain));
	SAY(mtx_init(&timed, mtx_timed));
	SAY(mtx_init(&recursive, mtx_plain | mtx_recursive));
	SAY(cnd_init(&c));
	SAY(mtx_lock(&recursive));
	SAY(mtx_lock(&recursive));
	SAY(mtx_trylock(&recursive));
	SAY(mtx_unlock(&recursive));
	SAY(mtx_unlock(&recursive));
	SAY(mtx_unlock(&recursive));
	SAY(thrd_create(&t, ping, &argument));
	for (int i = 0; i < 50; i++) {
		mtx_lock(&m);
		turn = 1;
		cnd_broadcast(&c);
		while (turn != 0)
			cnd_wait(&c, &m);
		mtx_unlock(&m);
	}
	SAY(thrd_join(t, &result));
	SAY(result);
	SAY(thrd_create(&t, leave, &argument));
	SAY(thrd_join(t, &result));
	SAY(result);
	SAY(mtx_lock(&timed));
	SAY(thrd_create(&t, busy, NULL));
	while (!tried)
		thrd_sleep(&moment, NULL);
	thrd_sleep(&moment, NULL);
	mtx_unlock(&timed);
	SAY(thrd_join(t, &result));
	SAY(result);
	mtx_lock(&m);
	SAY(cnd_timedwait(&c, &m, &past));
	SAY(mtx_timedlock(&timed, &past)); /* free: got at once */
	mtx_unlock(&m);
	SAY(thrd_create(&t, leave, &argument));
	SAY(thrd_detach(t));
	return 0;
}

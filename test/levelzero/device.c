/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device: a thread of each queue runs its commands, in order but for what may overlap, and says what it
 * ran.
 *
 * Limits: as driver.c.
 */
#include "driver.h"

FILE *said;
unsigned lanes = 1, bits = 32;
uint64_t offset;
static int queue_count;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t ticks(uint64_t ns)
{
	return (uint64_t)((__int128)ns * HERTZ / 1000000000) + offset;
}

void wrong(const char *what)
{
	fprintf(said, "wrong %s\n", what);
}

/* ---- the device --------------------------------------------------------------------------------- */

static bool may_start(const struct command *c, unsigned flying, unsigned count)
{
	for (unsigned i = 0; i < c->wait_count; i++)
		if (!c->waits[i]->signaled)
			return false;
	if (c->kind == BARRIER && !c->wait_count)
		return !flying;
	return (c->kind != FENCE || !flying) && (c->kind > FILL || flying < count);
}

static void done(const struct flight *f, const struct queue *q)
{
	struct command *c = f->command;
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

	if (c->kind == COPY)
		memcpy(c->to, c->from, c->bytes);
	else if (c->kind == FILL)
		memset(c->to, c->pattern, c->bytes);
	else if (c->kind == RESET)
		c->of[0]->signaled = false;
	else if (c->kind == FENCE && c->fence)
		*c->fence = true;
	for (unsigned i = 0; c->kind == QUERY && i < c->of_count; i++) {
		if (!c->of[i]->signaled)
			wrong("times of an event that is not signaled");
		((ze_kernel_timestamp_result_t *)c->to)[i] = c->of[i]->times;
	}
	if (c->kind <= FILL)
		fprintf(said, "ran %s %llu %d %llu\n", c->name, (unsigned long long)(f->end - f->start),
			q->number, (unsigned long long)f->start);
	if (c->signal) {
		c->signal->times.global.kernelStart = c->signal->times.context.kernelStart =
			ticks(f->start) & mask;
		c->signal->times.global.kernelEnd = c->signal->times.context.kernelEnd = ticks(f->end) & mask;
		c->signal->signaled = true;
		c->signal->users--;
	}
	for (unsigned i = 0; i < c->wait_count; i++)
		c->waits[i]->users--;
	for (unsigned i = 0; i < c->of_count; i++)
		c->of[i]->users--;
}

static void *run(void *data)
{
	struct queue *q = data;
	struct flight flights[MOST];
	unsigned flying = 0;

	pthread_mutex_lock(&lock);
	while (!q->end || q->first || flying) {
		struct command *c = q->first;
		struct timespec until;
		uint64_t at = now();
		bool some = false;

		for (unsigned i = 0; i < flying; i++)
			if (flights[i].end <= at) {
				done(&flights[i], q);
				free(flights[i].command);
				q->pending--;
				flights[i--] = flights[--flying];
				some = true;
			}
		if (c && may_start(c, flying, lanes)) {
			q->first = c->next;
			if (!q->first)
				q->last = &q->first;
			flights[flying++] =
				(struct flight){ .start = at, .end = at + c->length, .command = c };
			some = true;
			if (c->kind > FILL) {
				flights[flying - 1].end = at + 200;
				done(&flights[--flying], q);
				free(c);
				q->pending--;
			}
		}
		if (some) {
			pthread_cond_broadcast(&more);
			continue;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += flying || c ? 20000 : 2000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&more, &lock, &until);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

struct queue *queue_make(bool synchronous)
{
	struct queue *q = calloc(1, sizeof(*q));

	q->last = &q->first;
	q->synchronous = synchronous;
	q->number = queue_count++;
	pthread_create(&q->thread, NULL, run, q);
	return q;
}

void queue_end(struct queue *q)
{
	pthread_mutex_lock(&lock);
	if (q->pending)
		wrong("a queue is destroyed that the device uses");
	q->end = true;
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
	pthread_join(q->thread, NULL);
}

/* With the lock. */
void submit(struct queue *q, const struct command *c)
{
	struct command *copy = malloc(sizeof(*copy));

	*copy = *c;
	copy->next = NULL;
	if (copy->signal)
		copy->signal->users++;
	for (unsigned i = 0; i < copy->wait_count; i++)
		copy->waits[i]->users++;
	for (unsigned i = 0; i < copy->of_count; i++)
		copy->of[i]->users++;
	*q->last = copy;
	q->last = &copy->next;
	q->pending++;
	pthread_cond_broadcast(&more);
}

ze_result_t wait_for(bool *what, unsigned *until_zero, uint64_t timeout)
{
	uint64_t end = timeout == UINT64_MAX ? UINT64_MAX : now() + timeout;
	ze_result_t rc = ZE_RESULT_SUCCESS;
	struct timespec until;

	pthread_mutex_lock(&lock);
	while (what ? !*what : *until_zero != 0) {
		if (now() >= end) {
			rc = ZE_RESULT_NOT_READY;
			break;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 100000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&more, &lock, &until);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void wake(void)
{
	pthread_cond_broadcast(&more);
}

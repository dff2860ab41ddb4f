/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipe between a worker and the thread that calls libotf2; see pipe.h.
 *
 * Limits: errors of libotf2 are noted in the archive, where the worker looks for them; what comes
 * after an error is thrown away.
 */
#include "config.h"

#include "lib/assemble/archive/pipe.h"

#include <stdlib.h>
#include <string.h>

#define HASTY_EVENTS (GT_PIPE_BATCH / 2)

struct gt_pipe_inner {
	struct gt_archive *archive;
	OTF2_EvtWriter *evt;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t handed, done;  /* batches: given by the worker, written by the thread */
	bool ends, sleeps, waits; /* sleeps: the thread; waits: the worker */
	unsigned used[GT_PIPE_BATCHES];
	struct gt_pipe pipe;
	struct gt_plain events[GT_PIPE_BATCHES][GT_PIPE_BATCH];
};

/* The places that the types of so many values take, and the values. */
static unsigned types_in(unsigned values)
{
	return (values + sizeof(struct gt_plain) - 1) / sizeof(struct gt_plain);
}

static unsigned values_in(unsigned values)
{
	return (values * sizeof(OTF2_MetricValue) + sizeof(struct gt_plain) - 1) / sizeof(struct gt_plain);
}

static OTF2_ErrorCode write_metric(OTF2_EvtWriter *evt, const struct gt_plain *event)
{
	const struct gt_plain *types = event + 1, *values = types + types_in(event->values);

	return OTF2_EvtWriter_Metric(evt, NULL, event->ns >> 1, event->region, (uint8_t)event->values,
				     (const OTF2_Type *)types, (const OTF2_MetricValue *)values);
}

static void write_batch(struct gt_pipe_inner *p, const struct gt_plain *event, unsigned n)
{
	OTF2_EvtWriter *const evt = p->evt;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	if (gt_archive_bad(p->archive))
		return;
	for (const struct gt_plain *end = event + n; event < end && rc == OTF2_SUCCESS; event++) {
		if (event->values) {
			rc = write_metric(evt, event);
			event += types_in(event->values) + values_in(event->values);
		} else {
			rc = event->ns & 1 ? OTF2_EvtWriter_Leave(evt, NULL, event->ns >> 1, event->region)
					   : OTF2_EvtWriter_Enter(evt, NULL, event->ns >> 1, event->region);
		}
	}
	gt_otf2_bad(p->archive, rc, "enter, leave or metric");
}

static void *serve(void *argument)
{
	struct gt_pipe_inner *p = argument;
	unsigned which;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->done == p->handed && !p->ends) {
			p->sleeps = true;
			pthread_cond_wait(&p->filled, &p->lock);
			p->sleeps = false;
		}
		if (p->done == p->handed)
			break;
		which = p->done % GT_PIPE_BATCHES;
		pthread_mutex_unlock(&p->lock);
		write_batch(p, p->events[which], p->used[which]);
		pthread_mutex_lock(&p->lock);
		p->done++;
		if (p->waits)
			pthread_cond_signal(&p->emptied);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct gt_pipe *gt_pipe_open(struct gt_archive *archive, OTF2_EvtWriter *evt)
{
	struct gt_pipe_inner *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	p->archive = archive;
	p->evt = evt;
	p->handed = p->done = 0;
	p->ends = p->sleeps = p->waits = false;
	p->pipe = (struct gt_pipe){ .at = p->events[0], .end = p->events[1], .inner = p };
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->filled, NULL);
	pthread_cond_init(&p->emptied, NULL);
	if (!pthread_create(&p->thread, NULL, serve, p))
		return &p->pipe;
	pthread_cond_destroy(&p->emptied);
	pthread_cond_destroy(&p->filled);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return NULL;
}

/* Hands the batch over if anything is in it, and waits until at most `most` batches are under way. */
static void hand_over(struct gt_pipe_inner *p, uint64_t most)
{
	unsigned which = p->handed % GT_PIPE_BATCHES;
	unsigned used = (unsigned)(p->pipe.at - p->events[which]);

	p->used[which] = used;
	pthread_mutex_lock(&p->lock);
	p->handed += used > 0;
	if (used && p->sleeps)
		pthread_cond_signal(&p->filled);
	while (p->handed - p->done > most) {
		p->waits = true;
		pthread_cond_wait(&p->emptied, &p->lock);
		p->waits = false;
	}
	pthread_mutex_unlock(&p->lock);
	which = p->handed % GT_PIPE_BATCHES;
	p->pipe.at = p->events[which];
	p->pipe.end = p->events[which] + GT_PIPE_BATCH;
}

void gt_pipe_turn(struct gt_pipe *pipe)
{
	hand_over(pipe->inner, GT_PIPE_BATCHES - 1);
}

void gt_pipe_put_metric(struct gt_pipe *pipe, uint64_t ns, uint32_t metric, uint8_t count,
			const OTF2_Type *types, const OTF2_MetricValue *values)
{
	const unsigned n = 1 + types_in(count) + values_in(count);

	if (pipe->end - pipe->at < (ptrdiff_t)n)
		gt_pipe_turn(pipe);
	*pipe->at = (struct gt_plain){ .ns = 2 * ns, .region = metric, .values = count };
	memcpy(pipe->at + 1, types, count * sizeof(*types));
	memcpy(pipe->at + 1 + types_in(count), values, count * sizeof(*values));
	pipe->at += n;
	if (pipe->at == pipe->end)
		gt_pipe_turn(pipe);
}

void gt_pipe_drain(struct gt_pipe *pipe)
{
	struct gt_pipe_inner *p = pipe->inner;
	uint64_t handed = p->handed;
	unsigned used = (unsigned)(pipe->at - p->events[handed % GT_PIPE_BATCHES]);

	pipe->hasty += handed == pipe->seen && used < HASTY_EVENTS;
	hand_over(p, 0);
	pipe->seen = p->handed;
}

void gt_pipe_close(struct gt_pipe *pipe)
{
	struct gt_pipe_inner *p = pipe ? pipe->inner : NULL;

	if (!p)
		return;
	hand_over(p, 0);
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->filled);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->emptied);
	pthread_cond_destroy(&p->filled);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

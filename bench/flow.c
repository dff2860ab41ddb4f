/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams for `gputrace flow`: each thread does the same, but decides by chance how often, so that no loop is
 * the same twice. usage: flow THREADS CALLS
 *
 * Limits: CALLS is reached, and then passed by less than a step.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

struct stream {
	pthread_t thread;
	unsigned long chance;
	long calls;
};

static long most;

static unsigned chance(struct stream *s, unsigned sides)
{
	s->chance = s->chance * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(s->chance >> 33) % sides;
}

KEEP void leaf(struct stream *s);
KEEP void exchange(struct stream *s);
KEEP void refine(struct stream *s, int depth);
KEEP void step(struct stream *s);
KEEP void *stream(void *argument);

KEEP void leaf(struct stream *s)
{
	s->calls++;
}

KEEP void exchange(struct stream *s)
{
	s->calls++;
	for (unsigned n = 2 + chance(s, 3); n; n--)
		leaf(s);
}

KEEP void refine(struct stream *s, int depth)
{
	s->calls++;
	leaf(s);
	for (unsigned n = chance(s, 3); n && depth < 6; n--)
		refine(s, depth + 1);
}

KEEP void step(struct stream *s)
{
	s->calls++;
	for (unsigned n = 10 + chance(s, 10); n; n--)
		exchange(s);
	refine(s, 0);
	if (!chance(s, 10))
		leaf(s);
}

KEEP void *stream(void *argument)
{
	struct stream *s = argument;

	while (s->calls < most)
		step(s);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 64;
	struct stream *streams = calloc((size_t)count, sizeof(*streams));

	most = argc > 2 ? atol(argv[2]) : 500000;
	for (int i = 0; i < count; i++) {
		streams[i].chance = (unsigned long)i + 1;
		pthread_create(&streams[i].thread, NULL, stream, &streams[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(streams[i].thread, NULL);
	return 0;
}

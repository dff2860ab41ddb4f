/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing the conversions of time: per host and kind of clock, from its earliest and its latest
 * pair of readings.
 *
 * Limits: see clock.h. A span between the readings of less than a millisecond says little about the
 * frequency; then the one that the processor states is used, if it states one.
 */
#include "config.h"

#include "lib/assemble/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_LEAST    1000000 /* ns between two readings from which a frequency is computed */
#define HZ_MOST       UINT64_C(100000000000)
#define MULT_ONE      (UINT64_C(1) << GT_SCALE_SHIFT)
#define MULT_MOST     (MULT_ONE << 19) /* a clock of 2 kHz */

/* What is known about one clock: a host's counter. */
struct source {
	char host[64];
	uint32_t kind;
	uint64_t nominal_hz;
	struct gt_calib first, last;
};

static bool usable(const struct gt_calib *calib, uint64_t tick_max)
{
	return calib->tick && calib->tick <= tick_max && calib->mono_ns > 0 && calib->real_ns > 0 &&
	       calib->mono_ns < INT64_MAX / 4 && calib->real_ns < INT64_MAX / 4;
}

static void consider(struct source *source, const struct gt_calib *calib, uint64_t tick_max)
{
	if (!usable(calib, tick_max))
		return;
	if (!source->first.tick || calib->tick < source->first.tick)
		source->first = *calib;
	if (!source->last.tick || calib->tick > source->last.tick)
		source->last = *calib;
}

static struct source *find_source(struct source *sources, size_t *count,
				  const struct gt_proc_header *header)
{
	for (size_t i = 0; i < *count; i++)
		if (sources[i].kind == header->clock && !strcmp(sources[i].host, header->host))
			return &sources[i];
	sources[*count] = (struct source){ .kind = header->clock, .nominal_hz = header->nominal_hz };
	memcpy(sources[*count].host, header->host, sizeof(header->host));
	return &sources[(*count)++];
}

/* Nanoseconds per tick, times 2^GT_SCALE_SHIFT; rounded up, so that conversion may round down. */
static uint64_t multiplier(const struct source *source)
{
	uint64_t ticks = source->last.tick - source->first.tick;
	int64_t ns = source->last.mono_ns - source->first.mono_ns;
	unsigned __int128 mult = 0;

	if (source->kind == GT_CLOCK_MONOTONIC)
		return MULT_ONE;
	if (ticks && ns > 0 && (ns >= SPAN_LEAST || !source->nominal_hz))
		mult = (((unsigned __int128)(uint64_t)ns << GT_SCALE_SHIFT) + ticks - 1) / ticks;
	else if (source->nominal_hz && source->nominal_hz <= HZ_MOST)
		mult = (((unsigned __int128)1000000000 << GT_SCALE_SHIFT) + source->nominal_hz - 1) /
		       source->nominal_hz;
	if (!mult || mult > MULT_MOST)
		return MULT_ONE; /* nothing is known: a tick counts as a nanosecond */
	return (uint64_t)mult;
}

/* The moment a tick stands for, in nanoseconds of the host's CLOCK_MONOTONIC. */
static __int128 moment(const struct source *source, uint64_t mult, uint64_t tick)
{
	__int128 ticks = (__int128)tick - (__int128)source->first.tick;

	if (source->kind == GT_CLOCK_MONOTONIC)
		return tick;
	if (ticks > (__int128)1 << 62)
		ticks = (__int128)1 << 62;
	if (ticks < -((__int128)1 << 62))
		ticks = -((__int128)1 << 62);
	return source->first.mono_ns + (ticks * (__int128)mult >> GT_SCALE_SHIFT);
}

/* How far one reading may be off: half of its width, in nanoseconds. */
static int64_t half_width(const struct gt_calib *calib, uint64_t mult)
{
	unsigned __int128 ns = (unsigned __int128)calib->width * mult >> (GT_SCALE_SHIFT + 1);

	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static void gather(const struct gt_spool *spool, struct source *sources, size_t *count,
		   size_t *which)
{
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];
		struct source *source = find_source(sources, count, &proc->header);
		size_t n = gt_journal_count(&proc->journal, GT_D_CALIB);

		which[i] = (size_t)(source - sources);
		consider(source, &proc->header.first, proc->tick_max);
		consider(source, &proc->header.last, proc->tick_max);
		for (size_t k = 0; k < n; k++)
			consider(source,
				 gt_journal_nth(&proc->journal, GT_D_CALIB, k, NULL, NULL),
				 proc->tick_max);
		if (!source->first.tick) /* nothing was read: count from where it began */
			source->first = (struct gt_calib){ .tick = proc->header.begin,
							   .mono_ns = 1, .real_ns = 1 };
		if (!source->last.tick)
			source->last = source->first;
	}
}

/* The highest tick whose time is below 2^62 ns after the base. */
static uint64_t highest_tick(const struct gt_proc *proc, uint64_t mult)
{
	unsigned __int128 ticks = ((unsigned __int128)1 << (62 + GT_SCALE_SHIFT)) / mult;
	uint64_t room = UINT64_MAX - proc->header.begin;
	uint64_t most = proc->header.begin + (ticks > room ? room : (uint64_t)ticks);

	return most < proc->tick_max ? most : proc->tick_max;
}

/* What one host's monotonic clock lies behind the first host's, by their wall clocks. */
static int64_t host_shift(const struct source *source, const struct source *reference)
{
	if (!strcmp(source->host, reference->host))
		return 0;
	return (source->first.real_ns - source->first.mono_ns) -
	       (reference->first.real_ns - reference->first.mono_ns);
}

static unsigned count_hosts(const struct source *sources, size_t count)
{
	unsigned hosts = 0;

	for (size_t i = 0; i < count; i++) {
		bool seen = false;

		for (size_t j = 0; j < i && !seen; j++)
			seen = !strcmp(sources[i].host, sources[j].host);
		hosts += !seen;
	}
	return hosts;
}

int gt_clock_make(struct gt_clock *clock, const struct gt_spool *spool)
{
	size_t n = spool->proc_count, count = 0;
	struct source *sources = calloc(n, sizeof(*sources));
	size_t *which = calloc(n, sizeof(*which));
	__int128 start = 0;
	int rc = -ENOMEM;

	memset(clock, 0, sizeof(*clock));
	clock->scales = calloc(n, sizeof(*clock->scales));
	if (!sources || !which || !clock->scales)
		goto out;
	gather(spool, sources, &count, which);
	for (size_t i = 0; i < n; i++) {
		const struct source *source = &sources[which[i]];
		__int128 begin = moment(source, multiplier(source), spool->procs[i].header.begin) +
				 host_shift(source, &sources[0]);

		if (!i || begin < start)
			start = begin;
	}
	for (size_t i = 0; i < n; i++) {
		const struct source *source = &sources[which[i]];
		struct gt_scale *scale = &clock->scales[i];
		uint64_t mult = multiplier(source), end;
		int64_t error = half_width(&source->first, mult);

		scale->base_tick = spool->procs[i].header.begin;
		scale->mult = mult;
		scale->tick_max = highest_tick(&spool->procs[i], mult);
		scale->base_ns = (uint64_t)(moment(source, mult, scale->base_tick) +
					    host_shift(source, &sources[0]) - start);
		end = gt_scale_ns(scale, spool->procs[i].end_tick);
		if (end > clock->end_ns)
			clock->end_ns = end;
		if (half_width(&source->last, mult) > error)
			error = half_width(&source->last, mult);
		if (error > clock->error_ns)
			clock->error_ns = error;
	}
	clock->hosts = count_hosts(sources, count);
	clock->start_real_ns = (uint64_t)((__int128)sources[0].first.real_ns + start -
					  sources[0].first.mono_ns);
	rc = 0;
out:
	free(sources);
	free(which);
	if (rc)
		gt_clock_free(clock);
	return rc;
}

void gt_clock_free(struct gt_clock *clock)
{
	free(clock->scales);
	memset(clock, 0, sizeof(*clock));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing the conversions of time: per host and kind of clock, from its earliest and its latest
 * pair of readings, and from the comparisons with other hosts' clocks.
 *
 * Limits: a span between the readings of less than a millisecond says little about the
 * frequency; then the one that the processor states is used, if it states one.
 */
#include "config.h"

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/clock/chain.h"
#include "lib/assemble/clock/now.h"
#include "lib/assemble/clock/source.h"
#include "lib/assemble/util/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_LEAST    1000000 /* ns between two readings from which a frequency is computed */
#define HZ_MOST       UINT64_C(100000000000)
#define MULT_ONE      (UINT64_C(1) << GT_SCALE_SHIFT)
#define MULT_MOST     (MULT_ONE << 19) /* a clock of 2 kHz */

static struct source *new_source(struct source *sources, size_t *count, const char *host, uint32_t kind,
				 uint64_t nominal_hz)
{
	sources[*count] = (struct source){ .kind = kind, .nominal_hz = nominal_hz };
	snprintf(sources[*count].host, sizeof(sources[*count].host), "%s", host);
	return &sources[(*count)++];
}

static struct source *find_source(struct source *sources, size_t *count, const char *host,
				  uint32_t kind, uint64_t nominal_hz)
{
	for (size_t i = 0; i < *count; i++)
		if (sources[i].kind == kind && !strcmp(sources[i].host, host))
			return &sources[i];
	return new_source(sources, count, host, kind, nominal_hz);
}

/* The source has been there over that time, too. */
static void extend(struct source *source, uint64_t begin, uint64_t end, uint64_t tick_max,
		   uint32_t processes)
{
	if (!source->begin || begin < source->begin)
		source->begin = begin;
	if (end > source->end)
		source->end = end;
	if (tick_max > source->tick_max)
		source->tick_max = tick_max;
	source->processes += processes;
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

static void find_rates(struct source *sources, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct source *source = &sources[i];

		if (!source->first.tick) /* nothing was read: count from where it began */
			source->first = (struct gt_calib){ .tick = source->begin,
							   .mono_ns = 1, .real_ns = 1 };
		if (!source->last.tick)
			source->last = source->first;
		source->mult = multiplier(source);
	}
}

/* The moment a tick stands for, in nanoseconds of the host's CLOCK_MONOTONIC. */
static __int128 moment(const struct source *source, uint64_t mult, uint64_t tick)
{
	__int128 ticks = (__int128)tick - (__int128)source->first.tick;

	if (source->kind == GT_CLOCK_MONOTONIC)
		return tick;
	if (source->rates.count)
		return gt_rates_ns(&source->rates, tick);
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

/* sync point: all but the reference's name. */
static int add_sync_point(struct source *source, const struct sync_point *point, const char *reference)
{
	struct sync_point *sync_points;

	if (!gt_array_has_room(source->sync_points, source->point_count, &source->point_room))
		return -ENOMEM;
	sync_points = &source->sync_points[source->point_count++];
	*sync_points = *point;
	snprintf(sync_points->reference, sizeof(sync_points->reference), "%s", reference);
	return 0;
}

/* The comparisons that a process has made. */
static int gather_sync_points(struct source *source, const struct gt_proc *proc)
{
	size_t n = gt_journal_count(&proc->journal, GT_D_SYNC);
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct gt_def_sync *sync =
			gt_journal_nth(&proc->journal, GT_D_SYNC, i, NULL, NULL);
		const char *reference = gt_proc_string(proc, sync->reference);
		const struct sync_point point = { .tick = sync->tick, .other = sync->other_tick,
					   .width = sync->width, .kind = sync->kind };

		if (reference && sync->tick && sync->tick <= proc->tick_max)
			rc = add_sync_point(source, &point, reference);
	}
	return rc;
}

/* Has the host's counter begun anew between two readings? (It may when a machine was suspended.) */
static bool restarted(const struct gt_calib *a, const struct gt_calib *b)
{
	return a->tick && b->tick && a->mono_ns != b->mono_ns &&
	       (a->tick < b->tick) != (a->mono_ns < b->mono_ns);
}

/* Processes of before and after such a restart have different counters. */
static struct source *source_of_process(struct source *sources, size_t *count, const struct gt_proc *proc)
{
	const struct gt_proc_header *h = &proc->header;

	for (size_t i = 0; i < *count; i++)
		if (sources[i].kind == h->clock && !strcmp(sources[i].host, h->host) &&
		    !restarted(&sources[i].first, &h->first))
			return &sources[i];
	return new_source(sources, count, h->host, h->clock, h->nominal_hz);
}

static int gather(const struct gt_spool *spool, struct source *sources, size_t *count,
		  size_t *which)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];
		struct source *source = source_of_process(sources, count, proc);
		size_t n = gt_journal_count(&proc->journal, GT_D_CALIB);

		which[i] = (size_t)(source - sources);
		gt_source_consider(source, &proc->header.first, proc->tick_max);
		gt_source_consider(source, &proc->header.last, proc->tick_max);
		for (size_t k = 0; !rc && k < n; k++)
			rc = gt_source_add(source,
					 gt_journal_nth(&proc->journal, GT_D_CALIB, k, NULL, NULL),
					 proc->tick_max);
		extend(source, proc->header.begin, proc->end_tick, proc->tick_max, 1);
		rc = rc ? rc : gather_sync_points(source, proc);
	}
	for (size_t i = 0; i < spool->proc_count; i++) {
		struct source *source = &sources[which[i]];
		struct gt_calib now;

		if (source->last.mono_ns - source->first.mono_ns < SPAN_LEAST &&
		    gt_clock_now(&spool->procs[i], &now))
			gt_source_consider(source, &now, UINT64_MAX);
	}
	find_rates(sources, *count);
	for (size_t i = 0; !rc && i < *count; i++)
		rc = gt_source_segments(&sources[i]);
	return rc;
}

/* As the hosts have agreed: the processes' own clocks first, then those that the chains lead through. */
static int gather_chains(const struct gt_spool *spool, const struct gt_chains *chains,
			 struct source *sources, size_t *count, size_t *which)
{
	size_t own;
	int rc = 0;

	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];
		struct source *source = find_source(sources, count, proc->header.host,
						    proc->header.clock, proc->header.nominal_hz);

		which[i] = (size_t)(source - sources);
		extend(source, proc->header.begin, proc->end_tick, proc->tick_max, 1);
	}
	own = *count;
	for (size_t i = 0; !rc && i < chains->count; i++) {
		const struct gt_def_clock *link = chains->list[i];
		const struct gt_def_sync_point *sync_points = (const struct gt_def_sync_point *)(link + 1);
		struct source *s = find_source(sources, count, link->host, link->kind, link->nominal_hz);

		s->nominal_hz = link->nominal_hz;
		gt_source_consider(s, &link->first, UINT64_MAX);
		gt_source_consider(s, &link->last, UINT64_MAX);
		for (uint32_t k = 0; !rc && k < link->count; k++)
			rc = add_sync_point(s, &(struct sync_point){ .tick = sync_points[k].tick,
							 .other = sync_points[k].other_tick,
							 .width = sync_points[k].width,
							 .kind = link->reference_kind },
				      link->reference);
		if ((size_t)(s - sources) >= own && link->count)
			extend(s, sync_points[0].tick, sync_points[link->count - 1].tick, UINT64_MAX, 0);
	}
	find_rates(sources, *count);
	return rc;
}

/* A process, or all of an origin: which clock it has, and when it was there. */
struct span {
	size_t source;
	uint64_t begin, end, tick_max;
	uint32_t processes;
};

/* The highest tick whose time is below 2^62 ns after the base. */
static uint64_t highest_tick(const struct span *span, uint64_t mult)
{
	unsigned __int128 ticks = ((unsigned __int128)1 << (62 + GT_SCALE_SHIFT)) / mult;
	uint64_t room = UINT64_MAX - span->begin;
	uint64_t most = span->begin + (ticks > room ? room : (uint64_t)ticks);

	return most < span->tick_max ? most : span->tick_max;
}

/* How far a host's monotonic clock lies behind the first host's, by their wall clocks. */
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

/* ---- clocks of several hosts -------------------------------------------------------------------- */

#define NEAR_NS     1000000   /* comparisons nearer than that are one: the better of them is used */

/*
 * What lies before the first and behind the last sync point follows the line through them if that is known
 * better than the clock's own frequency.
 */
static bool line_is_better(const struct source *s)
{
	const struct sync_point *first = s->sync_points, *last = &s->sync_points[s->point_count - 1];

	return (__int128)(first->error + last->error) * 1000000 <
	       (last->ns - first->ns) * GT_UNKNOWN_PPM;
}

static uint64_t outer_slope(const struct source *s)
{
	return line_is_better(s) ? gt_slope(s->sync_points, &s->sync_points[s->point_count - 1]) : s->mult;
}

/* The time of a tick, in nanoseconds of the clock that the chain of comparisons ends at. */
static __int128 place(const struct source *s, uint64_t tick)
{
	const struct sync_point *point = s->sync_points;
	size_t k = 0;

	if (!s->point_count)
		return moment(s, s->mult, tick) + s->shift;
	while (k < s->point_count && s->sync_points[k].tick <= tick)
		k++;
	if (k)
		point += k - 1;
	if (!k || k == s->point_count)
		return point->ns + gt_scaled(gt_between(point->tick, tick), outer_slope(s));
	return point->ns + gt_scaled(gt_between(point->tick, tick), gt_slope(point, point + 1));
}

static int by_tick(const void *a, const void *b)
{
	const struct sync_point *x = a, *y = b;

	return (x->tick > y->tick) - (x->tick < y->tick);
}

/* Can the next sync point follow this one? Two clocks differ by parts in ten thousand, not by a fifth. */
static bool follows(const struct source *s, const struct sync_point *a, const struct sync_point *b)
{
	__int128 own = gt_scaled(gt_between(a->tick, b->tick), s->mult), other = b->ns - a->ns;

	return other > own - own / 5 && other < own + own / 5;
}

/* Sync points in order, those too near to each other or impossible left out. */
static void tidy(struct source *s)
{
	size_t kept = 0;

	if (s->point_count)
		qsort(s->sync_points, s->point_count, sizeof(*s->sync_points), by_tick);
	for (size_t i = 0; i < s->point_count; i++) {
		const struct sync_point *next = &s->sync_points[i];
		struct sync_point *last = kept ? &s->sync_points[kept - 1] : NULL;

		if (last && gt_scaled(gt_between(last->tick, next->tick), s->mult) < NEAR_NS) {
			if (next->error < last->error)
				*last = *next;
		} else if (!last || follows(s, last, next)) {
			s->sync_points[kept++] = *next;
		}
	}
	s->point_count = kept;
}

/* How far a sync point lies from the straight line between its neighbours. */
static int64_t curvature(const struct sync_point *k)
{
	__int128 ns = k[-1].ns + gt_scaled(gt_between(k[-1].tick, k->tick), gt_slope(&k[-1], &k[1]));

	return (int64_t)(ns > k->ns ? ns - k->ns : k->ns - ns);
}

/*
 * The error of a host's times: that of its comparisons; what the slope's error makes of the times
 * outside of them; and what the clock's bending between comparisons adds, as far as it shows: over
 * half a span it is a quarter of what it is over a whole one.
 */
static int64_t error_of(const struct source *s)
{
	const struct sync_point *first = s->sync_points, *last = &s->sync_points[s->point_count - 1];
	__int128 outside = gt_scaled(gt_between(s->begin, first->tick), s->mult);
	__int128 behind = gt_scaled(gt_between(last->tick, s->end), s->mult);
	int64_t error = 0, bent = 0;

	if (behind > outside)
		outside = behind;
	if (outside < 0)
		outside = 0;
	for (size_t k = 0; k < s->point_count; k++) {
		if (s->sync_points[k].error > error)
			error = s->sync_points[k].error;
		if (k && k + 1 < s->point_count && curvature(&s->sync_points[k]) > bent)
			bent = curvature(&s->sync_points[k]);
	}
	if (line_is_better(s))
		error += (int64_t)(outside * (first->error + last->error) / (last->ns - first->ns));
	else
		error += (int64_t)(outside * GT_UNKNOWN_PPM / 1000000);
	return error + bent / 4;
}

static struct source *source_of(struct source *sources, size_t count, const struct sync_point *point)
{
	for (size_t i = 0; i < count; i++)
		if (sources[i].kind == point->kind && !strcmp(sources[i].host, point->reference))
			return &sources[i];
	return NULL;
}

/* Places a host's clock relative to those that it was compared with, which are placed first. */
static bool place_source(struct source *sources, size_t count, struct source *s)
{
	size_t kept = 0;

	if (s->state != UNPLACED)
		return s->state == PLACED;
	s->state = PLACING;
	for (size_t i = 0; i < s->point_count; i++) {
		struct sync_point point = s->sync_points[i];
		struct source *other = source_of(sources, count, &point);

		if (!other || other == s || !place_source(sources, count, other))
			continue;
		point.ns = place(other, point.other);
		point.error = other->error + (int64_t)gt_scaled(point.width, s->mult) / 2 + 1;
		s->sync_points[kept++] = point;
	}
	s->point_count = kept;
	tidy(s);
	s->point_count = gt_sync_points_believed(s->sync_points, s->point_count, s->mult);
	gt_sync_points_straighten(s->sync_points, s->point_count);
	s->state = PLACED;
	if (s->point_count) {
		s->error = error_of(s) + s->rates.error;
		return true;
	}
	s->shift = host_shift(s, &sources[0]);
	s->error = half_width(&s->first, s->mult);
	if (half_width(&s->last, s->mult) > s->error)
		s->error = half_width(&s->last, s->mult);
	s->error += s->rates.error;
	return true;
}

static const struct source *end_of_chain(struct source *sources, size_t count,
					 const struct source *s)
{
	for (size_t steps = 0; s->point_count && steps <= count; steps++) {
		const struct source *next = source_of(sources, count, s->sync_points);

		if (!next)
			break;
		s = next;
	}
	return s;
}

/*
 * Clocks that were compared with each other form groups; the wall clocks align the groups, which may
 * be far from the truth: only in the group that most processes belong to the errors are known.
 */
static void find_unknown(struct source *sources, size_t count, const struct span *spans, size_t n_spans)
{
	const struct source *best = NULL;
	size_t most = 0;

	if (count_hosts(sources, count) < 2)
		return;
	for (size_t i = 0; i < count; i++) {
		size_t n = 0;

		for (size_t p = 0; p < n_spans && !sources[i].point_count; p++)
			if (end_of_chain(sources, count, &sources[spans[p].source]) == &sources[i])
				n += spans[p].processes;
		if (n > most) {
			most = n;
			best = &sources[i];
		}
	}
	for (size_t i = 0; best && i < count; i++) {
		const struct source *end = end_of_chain(sources, count, &sources[i]);

		/* The same host with another kind of clock is as good. */
		if (end != best && strcmp(end->host, best->host))
			sources[i].error = -1;
	}
}

/* The pieces behind the first sync point, as times since `start`. */
static struct gt_segment segment_of(const struct source *s, size_t k)
{
	if (!s->point_count)
		return (struct gt_segment){ s->rates.list[k].tick, 0, s->rates.list[k].mult };
	return (struct gt_segment){ s->sync_points[k].tick, 0,
				    k + 1 < s->point_count
					    ? gt_slope(&s->sync_points[k], &s->sync_points[k + 1])
					    : outer_slope(s) };
}

static int make_segments(struct gt_clock *clock, struct source *s, __int128 start)
{
	s->segment_count = s->point_count ? s->point_count : s->rates.count;
	if (!s->segment_count)
		return 0;
	s->segments = calloc(s->segment_count, sizeof(*s->segments));
	if (!s->segments)
		return -ENOMEM;
	clock->segments[clock->segment_lists++] = s->segments;
	for (size_t k = 0; k < s->segment_count; k++) {
		__int128 ns;

		s->segments[k] = segment_of(s, k);
		ns = place(s, s->segments[k].tick) - start;
		s->segments[k].ns = ns > 0 ? (uint64_t)ns : 0;
	}
	return 0;
}

static void make_scale(struct gt_scale *scale, const struct span *span, const struct source *s,
		       __int128 start)
{
	uint64_t most = s->mult;
	size_t k = 0;

	scale->base_tick = span->begin;
	scale->base_ns = (uint64_t)(place(s, scale->base_tick) - start);
	scale->mult = s->mult;
	while (k < s->segment_count && s->segments[k].tick <= scale->base_tick)
		k++;
	if (k)
		scale->mult = s->segments[k - 1].mult;
	scale->segments = s->segments ? s->segments + k : NULL;
	scale->segment_count = s->segment_count - k;
	/* No step back where the first piece ends. */
	if (scale->segment_count && scale->segments->ns > scale->base_ns)
		scale->mult = (uint64_t)(((unsigned __int128)(scale->segments->ns - scale->base_ns)
					  << GT_SCALE_SHIFT) /
					 (scale->segments->tick - scale->base_tick));
	for (size_t i = 0; i < scale->segment_count; i++)
		most = scale->segments[i].mult > most ? scale->segments[i].mult : most;
	scale->tick_max = highest_tick(span, scale->mult > most ? scale->mult : most);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static const struct source *reference_of(struct source *sources, size_t count)
{
	return end_of_chain(sources, count, &sources[0]);
}

/* The earliest begin of all, or with `wall` the begin of the wall clock's count. */
static __int128 start_of(struct source *sources, size_t count, const struct span *spans, size_t n,
			 bool wall)
{
	const struct source *end = reference_of(sources, count);
	__int128 start = (__int128)end->first.mono_ns + end->shift - end->first.real_ns;

	for (size_t i = 0; !wall && i < n; i++) {
		__int128 begin = place(&sources[spans[i].source], spans[i].begin);

		if (!i || begin < start)
			start = begin;
	}
	return start;
}

static int make_all(struct gt_clock *clock, struct source *sources, size_t count,
		    const struct span *spans, size_t n, bool wall)
{
	const struct source *end;
	bool unknown = false;
	__int128 start;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		place_source(sources, count, &sources[i]);
	find_unknown(sources, count, spans, n);
	start = start_of(sources, count, spans, n, wall);
	for (size_t i = 0; !rc && i < count; i++)
		rc = make_segments(clock, &sources[i], start);
	for (size_t i = 0; !rc && i < n; i++) {
		const struct source *s = &sources[spans[i].source];
		int64_t first = half_width(&s->first, s->mult), last = half_width(&s->last, s->mult);
		uint64_t end_ns;

		make_scale(&clock->scales[i], &spans[i], s, start);
		clock->errors[i] = s->error;
		clock->comparisons[i] = (uint32_t)s->point_count;
		end_ns = gt_scale_ns(&clock->scales[i], spans[i].end);
		if (end_ns > clock->end_ns)
			clock->end_ns = end_ns;
		if (s->error > clock->error_ns)
			clock->error_ns = s->error;
		unknown |= s->error < 0;
		if (last > first)
			first = last;
		if (first > clock->reading_ns)
			clock->reading_ns = first;
	}
	if (unknown)
		clock->error_ns = -1;
	clock->hosts = count_hosts(sources, count);
	end = reference_of(sources, count);
	clock->start_real_ns = (uint64_t)((__int128)end->first.real_ns + start - end->shift -
					  end->first.mono_ns);
	return rc;
}

/* Room for n conversions of `count` clocks. */
static int make_room(struct gt_clock *clock, size_t n)
{
	memset(clock, 0, sizeof(*clock));
	clock->scales = calloc(n, sizeof(*clock->scales));
	clock->errors = calloc(n, sizeof(*clock->errors));
	clock->comparisons = calloc(n, sizeof(*clock->comparisons));
	clock->segments = calloc(n, sizeof(struct gt_segment *));
	return clock->scales && clock->errors && clock->comparisons && clock->segments ? 0 : -ENOMEM;
}

/* Before the comparisons are used, which throws away what leads nowhere here. */
static int note_origins(struct gt_origins *origins, const struct source *sources, size_t count, size_t n)
{
	origins->list = calloc(count, sizeof(*origins->list));
	origins->which = calloc(n, sizeof(*origins->which));
	if (!origins->list || !origins->which)
		return -ENOMEM;
	origins->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct source *s = &sources[i];
		struct gt_origin *o = &origins->list[i];

		*o = (struct gt_origin){
			.kind = s->kind, .processes = s->processes, .nominal_hz = s->nominal_hz,
			.first = s->first, .last = s->last, .begin = s->begin, .end = s->end,
			.tick_max = s->tick_max, .point_count = s->point_count,
		};
		memcpy(o->host, s->host, sizeof(o->host));
		o->sync_points = calloc(s->point_count + 1, sizeof(*o->sync_points));
		if (!o->sync_points)
			return -ENOMEM;
		for (size_t k = 0; k < s->point_count; k++) {
			const struct sync_point *point = &s->sync_points[k];

			o->sync_points[k] = (struct gt_sync_point){ .tick = point->tick,
								    .other = point->other,
								    .width = point->width,
								    .kind = point->kind };
			memcpy(o->sync_points[k].reference, point->reference, sizeof(point->reference));
		}
	}
	return 0;
}

/* How the origins' ticks are converted, for those who correct it later. */
static void note_scales(struct gt_origins *origins, struct source *sources, size_t count,
			const struct span *spans, size_t n)
{
	__int128 start = start_of(sources, count, spans, n, true);

	for (size_t i = 0; i < origins->count; i++) {
		struct gt_origin *o = &origins->list[i];
		const struct span whole = { .begin = o->begin, .tick_max = o->tick_max };
		int64_t last = half_width(&o->last, sources[i].mult);

		make_scale(&o->scale, &whole, &sources[i], start);
		o->reading_ns = half_width(&o->first, sources[i].mult);
		if (last > o->reading_ns)
			o->reading_ns = last;
	}
}

/* Notes the results for the clocks of hosts that agree. */
static void note_common(struct gt_origins *origins, const struct source *sources, uint64_t common)
{
	for (size_t i = 0; i < origins->count; i++) {
		origins->list[i].common = common;
		origins->list[i].error = sources[i].error;
	}
}

static void note_which(struct gt_origins *origins, const size_t *which, size_t n)
{
	for (size_t i = 0; i < n; i++)
		origins->which[i] = (uint32_t)which[i];
}

static int make(struct gt_clock *clock, const struct gt_spool *spool, struct gt_origins *origins,
		const struct gt_chains *chains)
{
	size_t n = spool->proc_count, count = 0, room = n + chains->count, own = 0;
	struct source *sources = calloc(room, sizeof(*sources));
	struct span *spans = calloc(n, sizeof(*spans));
	size_t *which = calloc(n, sizeof(*which));
	int rc = make_room(clock, room);

	if (!sources || !spans || !which)
		rc = -ENOMEM;
	if (!rc)
		rc = chains->count ? gather_chains(spool, chains, sources, &count, which)
				   : gather(spool, sources, &count, which);
	for (size_t i = 0; !rc && i < n; i++) {
		spans[i] = (struct span){ which[i], spool->procs[i].header.begin,
					  spool->procs[i].end_tick, spool->procs[i].tick_max, 1 };
		if (which[i] >= own)
			own = which[i] + 1;
	}
	if (!rc && origins)
		rc = note_origins(origins, sources, own, n);
	for (size_t i = 0; origins && i < count; i++)
		gt_source_straight(&sources[i]);
	if (!rc)
		rc = make_all(clock, sources, count, spans, n, origins);
	if (!rc && origins) {
		note_scales(origins, sources, count, spans, n);
		note_common(origins, sources, chains->common);
		note_which(origins, which, n);
	}
	gt_sources_free(sources, count);
	free(spans);
	free(which);
	if (rc)
		gt_clock_free(clock);
	return rc;
}

int gt_clock_make(struct gt_clock *clock, const struct gt_spool *spool)
{
	return make(clock, spool, NULL, &(struct gt_chains){ 0 });
}

int gt_clock_alone(struct gt_clock *clock, const struct gt_spool *spool, struct gt_origins *origins)
{
	struct gt_chains chains;
	int rc = gt_chains_find(&chains, spool);

	memset(origins, 0, sizeof(*origins));
	if (!rc)
		rc = make(clock, spool, origins, &chains);
	gt_chains_free(&chains);
	return rc;
}

/* ---- hosts that were converted by themselves ----------------------------------------------------- */

static int gather_origins(const struct gt_origins *origins, struct source *sources, size_t *count,
			  struct span *spans)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < origins->count; i++) {
		const struct gt_origin *o = &origins->list[i];
		struct source *source =
			find_source(sources, count, o->host, o->kind, o->nominal_hz);

		spans[i] = (struct span){ (size_t)(source - sources), o->begin, o->end, o->tick_max,
					  o->processes };
		gt_source_consider(source, &o->first, o->tick_max);
		gt_source_consider(source, &o->last, o->tick_max);
		extend(source, o->begin, o->end, o->tick_max, o->processes);
		for (size_t k = 0; !rc && k < o->point_count; k++)
			rc = add_sync_point(source, &(struct sync_point){ .tick = o->sync_points[k].tick,
							      .other = o->sync_points[k].other,
							      .width = o->sync_points[k].width,
							      .kind = o->sync_points[k].kind },
				      o->sync_points[k].reference);
	}
	find_rates(sources, *count);
	return rc;
}

int gt_clock_join(struct gt_clock *clock, const struct gt_origins *origins)
{
	size_t n = origins->count, count = 0;
	struct source *sources = calloc(n, sizeof(*sources));
	struct span *spans = calloc(n, sizeof(*spans));
	int rc = make_room(clock, n);

	if (!sources || !spans)
		rc = -ENOMEM;
	if (!rc && gt_origins_agree(clock, origins))
		goto done;
	if (!rc)
		rc = gather_origins(origins, sources, &count, spans);
	if (!rc)
		rc = make_all(clock, sources, count, spans, n, true);
done:
	gt_sources_free(sources, n);
	free(spans);
	if (rc)
		gt_clock_free(clock);
	return rc;
}

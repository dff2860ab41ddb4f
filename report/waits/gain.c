/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how long the run would take if a region took no time, or something else were changed (whatif.h):
 * walks all timelines once more in the order of time. Each segment begins when its location is there and what
 * it depends on has happened, in their new times.
 *
 * A location has the new time of where it is (`there`) for each region that is asked for. What a segment
 * depends on is read from the other location at the moment at which it happened, when that location has got
 * so far: only the present of each has to be known. What happened before the segment's own location had come
 * to the call before (a message or data that wait to be read) is written down for it then: `early`.
 *
 * Limits: a segment has two dependencies, the last ones (sync.h); waits of unknown cause stay as long as they
 * were. Who depends on a thread whose location has another one by now waits for all that it has had.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/model/sums.h"
#include "report/waits/sync.h"
#include "report/waits/whatif.h"

#include <stdlib.h>
#include <string.h>

enum step { END, CREATION, ALSO, CAUSE, DONE };

struct place {
	uint64_t next;               /* segment */
	uint64_t at;                 /* old time of where it is */
	enum step step;              /* the next one of this location ... */
	uint64_t when;               /* ... and its time */
	uint64_t there[GT_GAINS];    /* new time */
	uint64_t born;               /* old time at which its present thread began; 0: the first */
	uint64_t ended[GT_GAINS];    /* new time at which all those before it had ended */
	uint64_t gap[GT_GAINS];      /* new length of the time up to the next segment */
	uint64_t after[GT_GAINS];    /* the next segment goes on after its dependencies, in new time ... */
	uint64_t cause_at, also_at;  /* ... and each of them, of the first; 0: there is none */
	uint64_t noted;              /* of its early dependencies, those that it has come to */
	/* Copies that overlap: the new time at which the last one ended, by direction. */
	uint64_t copied[GT_COPYINGS][GT_GAINS];
	uint64_t reached[GT_GAINS];  /* new time at which it came to the last one to a device; 0: none yet */
	uint64_t last_out;           /* 1 + segment: its last copy to a host */
	size_t early, early_end;     /* of those that depend on it: the next one, behind the last */
};

/* A segment's `also` that happened so early: when its location, `on`, passes that time. */
struct early {
	uint64_t time;               /* old */
	uint32_t on, location;
	uint64_t place;              /* of its new times, in `noted` of who depends on it */
};

struct gain {
	struct gt_sync *sync;
	const unsigned char *chosen; /* by region: 1 + its place, or 0 */
	unsigned char **nodes;       /* the same by location and node of its tree */
	unsigned count;
	bool held;                   /* waits for somebody unknown end when they did */
	const struct gt_whatif *whatif; /* what else is changed: then its three ends are asked for; or NULL */
	bool retimes;                /* segments get their new times */
	uint64_t hidden;             /* ns of copies for which nobody waits */
	struct place *places;        /* by location */
	uint32_t *heap, used;        /* locations by their next step */
	struct early *early;         /* by `on`, then time */
	size_t early_count, early_room;
	struct gt_log *noted;        /* by location: uint64_t[GT_GAINS], in the order of its segments */
	uint32_t *streams, *streams_of; /* of all devices, and where those of each begin; of one more, too */
};

static struct gt_wait_segment *segment_of(const struct gain *gain, uint32_t location)
{
	return gt_segment_at(gain->sync, location, gain->places[location].next);
}

/* The share of its time that a node of the location's tree keeps. */
static double kept(const struct gain *gain, uint32_t location, uint32_t node, unsigned k)
{
	if (gain->whatif)
		return gt_whatif_kept(gain->whatif, location, node);
	return gain->nodes[location] && gain->nodes[location][node] == k + 1 ? 0 : 1;
}

/* Is it a copy that overlaps with what is around it? */
static enum gt_copying copying(const struct gain *gain, uint32_t location,
			       const struct gt_wait_segment *segment)
{
	return gain->whatif && !segment->birth ? gt_whatif_copying(gain->whatif, location, segment->node)
					       : GT_COPYING_NOT;
}

static void choose_nodes(struct gain *gain, uint32_t location)
{
	const struct gt_profile *profile = gain->sync->profile;
	const struct gt_profile_location *of = &profile->locations[location];

	gain->nodes[location] = gt_zeroed(of->node_count, 1);
	for (uint32_t i = 0; i < of->node_count; i++)
		if (of->nodes[i])
			gain->nodes[location][i] = gain->chosen[profile->tree.nodes[of->nodes[i]].region];
}

enum { LONG_CALL = 100000 }; /* ns: a read or write that took so long has waited */

/* Did it wait for somebody who is not known to read or write? */
static bool is_open_ended(const struct gt_wait_segment *segment)
{
	return segment->class == GT_CLASS_FILE_IO && segment->cause == GT_NO_CAUSE && !segment->settled &&
	       segment->end - segment->begin >= LONG_CALL;
}

/* ---- what happened early --------------------------------------------------------------------------- */

/* A service thread ends when it is told to, however long it would wait: until when is not known. */
static bool known(const struct gain *gain, uint32_t cause)
{
	const struct gt_location_class *locations = gain->sync->report->classes.locations;

	return cause != GT_NO_CAUSE && locations[cause].kind != GT_LOCATION_SERVICE;
}

static bool is_stream_of(const struct gain *gain, uint32_t location, uint32_t device)
{
	const struct gt_location_class *class = &gain->sync->report->classes.locations[location];

	return class->kind == GT_LOCATION_STREAM && class->device == device;
}

/* Does a segment that depends on a stream depend on all others of its device, too? */
static bool is_whole(const struct gain *gain, const struct gt_wait_segment *segment, uint32_t on)
{
	const struct gt_classes *classes = &gain->sync->report->classes;

	return segment->whole && on != GT_NO_CAUSE && classes->locations[on].device < classes->device_count;
}

/* Did the second thing that a segment depends on happen before the call before had `ended`? */
static bool is_early(const struct gain *gain, uint32_t location, const struct gt_wait_segment *segment,
		     uint64_t ended)
{
	return !segment->free && known(gain, segment->also) && segment->also != location &&
	       segment->also_until < ended;
}

static int by_time(const void *a, const void *b)
{
	const struct early *x = a, *y = b;

	return x->on != y->on ? (x->on > y->on) - (x->on < y->on) : (x->time > y->time) - (x->time < y->time);
}

static void collect_early(struct gain *gain, uint32_t location)
{
	uint64_t count = gt_segment_count(gain->sync, location), ended = 0;

	gain->noted[location].size = sizeof(uint64_t[GT_GAINS]);
	for (uint64_t i = 0; i < count; i++, gt_spill_used(&gain->sync->spill)) {
		const struct gt_wait_segment *segment = gt_segment_at(gain->sync, location, i);

		bool early = is_early(gain, location, segment, ended);

		gain->sync->open_ended |= is_open_ended(segment);
		if (copying(gain, location, segment) == GT_COPYING_OUT)
			gain->places[location].last_out = i + 1;
		ended = segment->end;
		if (!early)
			continue;
		gain->early = gt_grown(gain->early, gain->early_count, &gain->early_room,
				       sizeof(*gain->early));
		gain->early[gain->early_count++] =
			(struct early){ segment->also_until, segment->also, location,
					gain->noted[location].count };
		gt_log_add(&gain->sync->spill, &gain->noted[location]);
	}
}

static void sort_early(struct gain *gain)
{
	qsort(gain->early, gain->early_count, sizeof(*gain->early), by_time);
	for (size_t i = 0; i < gain->early_count; i++) {
		struct place *place = &gain->places[gain->early[i].on];

		if (!i || gain->early[i - 1].on != gain->early[i].on)
			place->early = i;
		place->early_end = i + 1;
	}
}

/* ---- the order of steps -------------------------------------------------------------------------- */

static bool before(const struct gain *gain, uint32_t a, uint32_t b)
{
	const struct place *x = &gain->places[a], *y = &gain->places[b];

	return x->when != y->when ? x->when < y->when : x->step != y->step ? x->step < y->step : a < b;
}

static void sift(struct gain *gain, uint32_t i)
{
	uint32_t location = gain->heap[i];

	for (uint32_t child; (child = 2 * i + 1) < gain->used; i = child) {
		if (child + 1 < gain->used && before(gain, gain->heap[child + 1], gain->heap[child]))
			child++;
		if (!before(gain, gain->heap[child], location))
			break;
		gain->heap[i] = gain->heap[child];
	}
	gain->heap[i] = location;
}

/* What the next segment needs to know, in the order of time; then its end. */
static void plan(struct gain *gain, uint32_t location, enum step done)
{
	const struct gt_wait_segment *segment = segment_of(gain, location);
	struct place *place = &gain->places[location];

	place->step = END;
	place->when = segment->end;
	if (segment->free)
		return;
	if (done < CAUSE && known(gain, segment->cause)) {
		place->step = CAUSE;
		place->when = segment->until;
	}
	if (done < ALSO && known(gain, segment->also)) {
		place->step = ALSO;
		place->when = segment->also_until;
	}
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* ns that a part of the profile loses of its time, for each that is asked for; it gains them if negative. */
static void add_lost(const struct gain *gain, uint32_t location, const struct gt_part_of *part, double *lost)
{
	const unsigned char *nodes = gain->nodes[location];

	if (gain->whatif)
		lost[0] += (double)part->time * (1 - kept(gain, location, part->node, 0));
	else if (nodes[part->node])
		lost[nodes[part->node] - 1] += (double)part->time;
}

/* Computes how long the time up to the next segment is then. */
static void new_gap(struct gain *gain, uint32_t location)
{
	struct place *place = &gain->places[location];
	const struct gt_wait_segment *segment = segment_of(gain, location);
	uint64_t from = place->next ? gt_segment_at(gain->sync, location, place->next - 1)->profile : 0;
	struct gt_parts parts =
		gt_parts_of(&gain->sync->timelines[location].profile, from, segment->profile);
	uint64_t gap = segment->begin - place->at;
	double lost[GT_GAINS] = { 0 };

	while (gt_parts_next(&parts))
		for (const uint32_t *words = parts.words; words < parts.last;) {
			struct gt_part_of part;

			words = gt_part_take(words, &part);
			add_lost(gain, location, &part, lost);
		}
	for (unsigned k = 0; k < gain->count; k++) {
		double less = lost[gain->whatif ? 0 : k];

		place->gap[k] = less < 0 ? gap + (uint64_t)-less
					 : less < (double)gap ? gap - (uint64_t)less : 0;
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Who need not wait for a reader or writer need not be woken, either, which is what takes time then. */
static bool is_woken(const struct gt_wait_segment *segment)
{
	return segment->cause != GT_NO_CAUSE &&
	       (segment->wait == GT_WAIT_LATE_WRITER || segment->wait == GT_WAIT_LATE_READER);
}

/* Did nobody end the wait that is known, and no clock? */
static bool is_unknown(const struct gain *gain, uint32_t location, const struct gt_wait_segment *segment)
{
	if (segment->cause != GT_NO_CAUSE || segment->also != GT_NO_CAUSE || segment->free)
		return false;
	return is_open_ended(segment) || (segment->wait && !gt_sync_by_time(gain->sync, location, segment));
}

/*
 * The new time of a moment in a wait whose end nobody is known to have caused, which it would be at `time` if
 * the wait stayed as long as it was. Who ended it came earlier by at most all that is taken away from others,
 * or not at all.
 */
static uint64_t bound(const struct gain *gain, unsigned k, uint64_t begin, uint64_t old, uint64_t time)
{
	const struct gt_whatif *whatif = gain->whatif;

	if (k == GT_WHATIF_LOW)
		return smaller(time, later(begin, old - smaller(old, whatif->less)));
	return k == GT_WHATIF_HIGH ? later(time, old + whatif->more) : time;
}

/* How long the copy of the next segment takes. */
static uint64_t copy_takes(const struct gain *gain, uint32_t location, unsigned k)
{
	const struct gt_wait_segment *segment = segment_of(gain, location);
	uint64_t from = segment->begin;

	if (known(gain, segment->cause))
		from = later(smaller(segment->until, segment->end), from);
	return (uint64_t)((double)(segment->end - from) * kept(gain, location, segment->node, k));
}

/* The new time at which it ends, if its stream comes to it at `begin`. */
static uint64_t copied(const struct gain *gain, uint32_t location, enum gt_copying way, uint64_t begin,
		       unsigned k)
{
	const struct place *place = &gain->places[location];

	if (way == GT_COPYING_IN && place->reached[k])
		begin = place->reached[k];
	return later(begin, place->copied[way][k]) + copy_takes(gain, location, k);
}

/* The same of a moment in the next segment. */
static uint64_t new_time_in(const struct gain *gain, uint32_t location, uint64_t time, unsigned k)
{
	const struct gt_wait_segment *segment = segment_of(gain, location);
	const struct place *place = &gain->places[location];
	uint64_t begin = later(place->there[k] + place->gap[k], place->after[k]), from = segment->begin;
	enum gt_copying way = copying(gain, location, segment);

	if (way == GT_COPYING_OUT && place->last_out > place->next + 1) /* behind the last one is nothing */
		return begin;
	if (way)
		return later(begin, copied(gain, location, way, begin, k));
	if (segment->free && segment->cause == GT_NO_CAUSE)
		return begin;
	if (gain->held && is_open_ended(segment))
		return later(begin, time);
	if (segment->free || known(gain, segment->cause))
		from = later(segment->until, segment->begin);
	if (is_woken(segment) && place->after[k] < begin)
		return begin;
	time = later(time, from);
	from = begin + (uint64_t)((double)(time - from) * kept(gain, location, segment->node, k));
	return gain->whatif && is_unknown(gain, location, segment) ? bound(gain, k, begin, time, from) : from;
}

/* The new time at which a location is where it was at the time. */
static uint64_t new_time(const struct gain *gain, uint32_t location, uint64_t time, unsigned k)
{
	const struct place *place = &gain->places[location];
	const struct gt_wait_segment *segment;

	if (time < place->born)
		return place->ended[k];
	if (time <= place->at || place->step == DONE)
		return place->there[k];
	segment = segment_of(gain, location);
	if (time < segment->begin)
		return place->there[k] + (uint64_t)((double)(time - place->at) * (double)place->gap[k] /
						    (double)(segment->begin - place->at));
	/* A location is what threads happen to share: none waits for the one before. */
	if (segment->birth && known(gain, segment->cause) && place->step == END)
		return place->after[k] + time - smaller(segment->until, time);
	return new_time_in(gain, location, time, k);
}

/* Returns when that is, of the first that is asked for. */
static uint64_t depend(struct gain *gain, uint32_t location, uint32_t on, uint64_t time)
{
	struct place *place = &gain->places[location];

	for (unsigned k = 0; k < gain->count; k++)
		place->after[k] = later(place->after[k], new_time(gain, on, time, k));
	return new_time(gain, on, time, 0);
}

/* For those that depend on what it does up to the end of the next segment, and come to that later. */
static void note_early(struct gain *gain, uint32_t location)
{
	struct place *place = &gain->places[location];
	uint64_t end = segment_of(gain, location)->end;

	for (; place->early < place->early_end && gain->early[place->early].time <= end; place->early++) {
		const struct early *early = &gain->early[place->early];
		uint64_t *noted = gt_log_at(&gain->noted[early->location], early->place);

		for (unsigned k = 0; k < gain->count; k++)
			noted[k] = new_time(gain, location, early->time, k);
	}
}

/* When a stream is done with what it had begun by a time. */
static uint64_t stream_done(const struct gain *gain, uint32_t stream, uint64_t time, unsigned k)
{
	const struct place *place = &gain->places[stream];

	if (place->step != DONE && segment_of(gain, stream)->class == GT_CLASS_GPU_IDLE)
		return place->there[k];
	return new_time(gain, stream, time, k);
}

/*
 * A call waits for all streams of a device, not only for the one that it waited for: `on`, until `at` now, of
 * the first that is asked for. If segments get new times, `on` becomes the one that is waited for then.
 */
static void depend_streams(struct gain *gain, uint32_t location, uint32_t *on, uint64_t time, uint64_t *at)
{
	const struct gt_location_class *classes = gain->sync->report->classes.locations;
	struct place *place = &gain->places[location];
	uint32_t device = classes[*on].device, first = *on;

	for (uint32_t i = gain->streams_of[device]; i < gain->streams_of[device + 1]; i++) {
		uint32_t stream = gain->streams[i];

		if (stream == first || classes[stream].process != classes[location].process ||
		    !gt_segment_count(gain->sync, stream) || time < gain->sync->timelines[stream].begin)
			continue;
		for (unsigned k = 0; k < gain->count; k++) {
			uint64_t done = stream_done(gain, stream, time, k);

			place->after[k] = later(place->after[k], done);
			if (k || done <= *at)
				continue;
			*at = done;
			*on = gain->retimes ? stream : *on;
		}
	}
}

/* What was written down when it happened; where the other location has not passed that yet, as always. */
static uint64_t depend_early(struct gain *gain, uint32_t location)
{
	struct place *place = &gain->places[location];
	const uint64_t *noted = gt_log_at(&gain->noted[location], place->noted++);
	const struct gt_wait_segment *segment = segment_of(gain, location);

	if (!*noted)
		return depend(gain, location, segment->also, segment->also_until);
	for (unsigned k = 0; k < gain->count; k++)
		place->after[k] = later(place->after[k], noted[k]);
	return noted[0];
}

/* The thread that has the location ends with the time before the segment, in which it has none. */
static void end_thread(struct place *place, unsigned count)
{
	for (unsigned k = 0; k < count; k++)
		place->ended[k] = later(place->ended[k], place->there[k] + place->gap[k]);
}

/* It no longer waits for the one that it waited for, but for the other one. */
static void swap_causes(struct gt_wait_segment *segment)
{
	struct gt_wait_segment old = *segment;

	segment->cause = old.also, segment->until = old.also_until, segment->wait = old.also_wait;
	segment->also = old.cause, segment->also_until = old.until, segment->also_wait = old.wait;
}

/* Nobody reads a segment that has passed; its `profile` stays. */
static void retime(const struct place *place, uint64_t from, struct gt_wait_segment *segment)
{
	uint64_t end = place->there[0], rest = segment->end - smaller(segment->until, segment->end);

	segment->begin = smaller(from + place->gap[0], end);
	segment->end = end;
	segment->until = place->cause_at ? place->cause_at : end - smaller(rest, end);
	segment->also_until = place->also_at;
	if (segment->cause == GT_NO_CAUSE)
		segment->until = 0;
	if (place->also_at > segment->begin && place->also_at > segment->until)
		swap_causes(segment);
	if (segment->cause == GT_NO_CAUSE)
		return;
	if (segment->free || segment->until <= segment->begin || segment->until > end) {
		segment->cause = GT_NO_CAUSE;
		segment->wait = GT_WAIT_NONE;
	}
}

/* The next segment's copy overlaps, its location goes on at `there`: before it is there. */
static void note_copy(struct gain *gain, uint32_t location, enum gt_copying way, unsigned k, uint64_t there)
{
	struct place *place = &gain->places[location];
	uint64_t begin = later(place->there[k] + place->gap[k], place->after[k]);
	uint64_t takes = copy_takes(gain, location, k);

	if (!k)
		gain->hidden += takes - smaller(takes, there - begin);
	place->copied[way][k] = copied(gain, location, way, begin, k);
	if (way == GT_COPYING_IN)
		place->reached[k] = begin;
}

/* The next segment ends. False: it was the last one. */
static bool pass(struct gain *gain, uint32_t location)
{
	struct gt_wait_segment *segment = segment_of(gain, location);
	struct place *place = &gain->places[location];
	uint64_t end = segment->end, from = place->there[0];
	bool birth = segment->birth;

	note_early(gain, location);
	if (birth)
		end_thread(place, gain->count);
	for (unsigned k = 0; k < gain->count; k++) {
		enum gt_copying way = copying(gain, location, segment);
		uint64_t there = end > place->at ? new_time(gain, location, end, k)
						 : later(place->there[k], place->after[k]);

		if (way)
			note_copy(gain, location, way, k, there);
		place->there[k] = there;
	}
	if (gain->retimes)
		retime(place, from, segment);
	place->at = end;
	if (birth)
		place->born = end;
	memset(place->after, 0, sizeof(place->after));
	place->cause_at = place->also_at = 0;
	if (++place->next == gt_segment_count(gain->sync, location)) {
		place->step = DONE;
		return false;
	}
	new_gap(gain, location);
	return true;
}

static void start(struct gain *gain, uint32_t location)
{
	const struct gt_timeline *timeline = &gain->sync->timelines[location];
	struct place *place = &gain->places[location];

	place->at = timeline->begin;
	for (unsigned k = 0; k < gain->count; k++)
		place->there[k] = timeline->begin;
	new_gap(gain, location);
	plan(gain, location, END);
	if (timeline->creator != GT_NO_CAUSE && timeline->created <= timeline->begin) {
		place->step = CREATION;
		place->when = timeline->created;
	}
}

/* Its first thread begins as long after it was created as it did. */
static void be_created(struct gain *gain, uint32_t location)
{
	struct gt_timeline *timeline = &gain->sync->timelines[location];
	struct place *place = &gain->places[location];
	uint64_t delay = timeline->begin - timeline->created;

	for (unsigned k = 0; k < gain->count; k++)
		place->there[k] = new_time(gain, timeline->creator, timeline->created, k) + delay;
	if (!gain->retimes)
		return;
	timeline->begin = place->there[0];
	timeline->created = timeline->begin - delay;
}

static void depend_on_cause(struct gain *gain, uint32_t location)
{
	struct gt_wait_segment *segment = segment_of(gain, location);
	uint64_t *at = &gain->places[location].cause_at;

	*at = depend(gain, location, segment->cause, segment->until);
	if (is_whole(gain, segment, segment->cause))
		depend_streams(gain, location, &segment->cause, segment->until, at);
}

static void depend_also(struct gain *gain, uint32_t location)
{
	struct gt_wait_segment *segment = segment_of(gain, location);
	struct place *place = &gain->places[location];

	place->also_at = is_early(gain, location, segment, place->next ? place->at : 0)
		? depend_early(gain, location) : depend(gain, location, segment->also, segment->also_until);
	if (segment->cause == GT_NO_CAUSE && is_whole(gain, segment, segment->also))
		depend_streams(gain, location, &segment->also, segment->also_until, &place->also_at);
}

static bool step(struct gain *gain, uint32_t location)
{
	struct place *place = &gain->places[location];
	enum step done = place->step;

	if (done == CREATION)
		be_created(gain, location);
	else if (done == ALSO)
		depend_also(gain, location);
	else if (done == CAUSE)
		depend_on_cause(gain, location);
	else if (!pass(gain, location))
		return false;
	plan(gain, location, done == CREATION ? END : done);
	gt_spill_used(&gain->sync->spill);
	return true;
}

/* ---- all ----------------------------------------------------------------------------------------- */

static uint64_t segments(const struct gt_sync *sync)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		sum += gt_segment_count(sync, i);
	return sum;
}

/* By device. */
static void find_streams(struct gain *gain, uint32_t locations)
{
	const struct gt_classes *classes = &gain->sync->report->classes;

	gain->streams = gt_zeroed(locations + 1, sizeof(*gain->streams));
	gain->streams_of = gt_zeroed((size_t)classes->device_count + 1, sizeof(*gain->streams_of));
	for (uint32_t device = 0; device < classes->device_count; device++) {
		uint32_t at = gain->streams_of[device];

		for (uint32_t i = 0; i < locations; i++)
			if (is_stream_of(gain, i, device))
				gain->streams[at++] = i;
		gain->streams_of[device + 1] = at;
	}
}

static void start_all(struct gain *gain, uint32_t locations)
{
	gain->places = gt_zeroed(locations + 1, sizeof(*gain->places));
	gain->heap = gt_zeroed(locations + 1, sizeof(*gain->heap));
	gain->nodes = gt_zeroed(locations + 1, sizeof(*gain->nodes));
	gain->noted = gt_zeroed(locations + 1, sizeof(*gain->noted));
	find_streams(gain, locations);
	for (uint32_t i = 0; i < locations; i++)
		collect_early(gain, i);
	sort_early(gain);
	for (uint32_t i = 0; i < locations; i++) {
		gain->places[i].step = DONE;
		if (!gt_segment_count(gain->sync, i))
			continue;
		if (!gain->whatif)
			choose_nodes(gain, i);
		start(gain, i);
		gain->heap[gain->used++] = i;
	}
	for (uint32_t i = gain->used; i--;)
		sift(gain, i);
}

static bool evaluate(struct gain *gain, uint64_t (*ends)[GT_GAINS])
{
	uint32_t locations = (uint32_t)gt_sync_locations(gain->sync);

	if (!gain->count || segments(gain->sync) > GT_GAIN_SEGMENTS)
		return false;
	start_all(gain, locations);
	while (gain->used) {
		if (!step(gain, gain->heap[0]))
			gain->heap[0] = gain->heap[--gain->used];
		if (gain->used)
			sift(gain, 0);
	}
	for (uint32_t i = 0; i < locations; i++) {
		for (unsigned k = 0; k < gain->count; k++)
			ends[i][k] = later(gain->places[i].there[k], gain->places[i].ended[k]);
		free(gain->nodes[i]);
		gt_log_free(&gain->noted[i]);
	}
	free(gain->streams);
	free(gain->streams_of);
	free(gain->noted);
	free(gain->early);
	free(gain->nodes);
	free(gain->places);
	free(gain->heap);
	return true;
}

bool gt_gain(struct gt_sync *sync, const unsigned char *chosen, unsigned count, bool held,
	     uint64_t (*ends)[GT_GAINS])
{
	return evaluate(&(struct gain){ .sync = sync, .chosen = chosen, .count = count, .held = held }, ends);
}

bool gt_gain_whatif(struct gt_sync *sync, struct gt_whatif *whatif, bool retimes, uint64_t (*ends)[GT_GAINS])
{
	struct gain gain = { .sync = sync, .whatif = whatif, .count = GT_WHATIF_ENDS, .retimes = retimes };
	bool done = evaluate(&gain, ends);

	whatif->hidden = gain.hidden;
	return done;
}

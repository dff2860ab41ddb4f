/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two passes: what can stay (keep.h), and the events of it, with the regions that are open where the window
 * begins entered there, and those that are open where it ends left there.
 *
 * Limits: see slice.h.
 */
#include "config.h"

#include "report/part/slice.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/assemble/util/memory.h"
#include "lib/read/copy.h"
#include "report/part/contexts.h"
#include "report/part/keep.h"
#include "report/print/output.h"

struct counts {
	uint64_t read, written, entered, left, without[GT_LEFT];
};

struct slice {
	struct gt_keep_user first; /* of the first pass: the reader's user is the same in both */
	const struct gt_slice_options *options;
	struct gt_part part;
	uint64_t from, to;         /* ticks */
	struct gt_otf2_copy *copy;
	struct gt_contexts *contexts;
	struct counts counts;
	size_t locations;
	bool refused; /* it cannot have the layout that was asked for */
};

/* Of one location. */
struct state {
	struct gt_otf2_copy_location *copy;
	struct gt_part_kept kept;
	struct gt_contexts_place contexts;
	struct counts counts;
	uint64_t last;       /* ticks of the last event that was written */
	size_t open;         /* regions of the stack that were entered in the copy */
	bool selected, entered, over;
	bool called;         /* calls are calling contexts, as they were read */
};

/* ---- the second pass --------------------------------------------------------------------------- */

/* Times never go backwards in the copy, and lie inside of it. */
static uint64_t ticks_of(struct state *state, const struct slice *slice, uint64_t ticks)
{
	ticks = ticks < state->last ? state->last : ticks;
	return state->last = ticks < slice->to ? ticks : slice->to;
}

static void enter(struct state *state, const struct slice *slice, const struct gt_otf2_frame *frame,
		  uint64_t ticks, const struct gt_otf2_cursor *at)
{
	struct gt_otf2_event event;

	ticks = ticks_of(state, slice, ticks);
	if (!slice->options->contexts)
		gt_otf2_copy_enter(state->copy, ticks, frame->region, at);
	else if (gt_contexts_enter(slice->contexts, &state->contexts, frame->region, &event))
		gt_otf2_copy_event(state->copy, ticks, &event, at);
	state->open++;
	state->counts.entered += !at;
}

static void leave(struct state *state, const struct slice *slice, const struct gt_otf2_frame *frame,
		  uint64_t ticks, const struct gt_otf2_cursor *at)
{
	struct gt_otf2_event event;

	ticks = ticks_of(state, slice, ticks);
	if (!slice->options->contexts)
		gt_otf2_copy_leave(state->copy, ticks, frame->region, at);
	else if (gt_contexts_leave(slice->contexts, &state->contexts, frame->region, &event))
		gt_otf2_copy_event(state->copy, ticks, &event, at);
	state->open--;
	state->counts.left += !at;
}

static void leave_all(struct state *state, const struct slice *slice, const struct gt_otf2_cursor *at,
		      uint64_t ticks)
{
	while (state->open)
		leave(state, slice, &at->stack[state->open - 1], ticks, NULL);
}

/* Before an event. `depth`: of the stack before it. True: it is in the window. */
static bool is_inside(struct gt_otf2_cursor *at, size_t depth)
{
	const struct slice *slice = at->user;
	struct state *state = at->state;

	state->counts.read++;
	if (!state->selected || state->over || at->time < slice->part.from)
		return false;
	for (size_t i = 0; i < depth && !state->entered; i++)
		enter(state, slice, &at->stack[i], slice->from, NULL);
	state->entered = true;
	if (at->time < slice->part.to)
		return true;
	leave_all(state, slice, at, slice->to);
	state->over = true;
	return false;
}

static void on_begin(struct gt_otf2_cursor *at)
{
	struct slice *slice = at->user;
	struct state *state = at->state;

	state->selected = gt_part_has(&slice->part, at->index);
	state->copy = gt_otf2_copy_begin(slice->copy, at);
	state->last = slice->from;
}

static void on_enter(struct gt_otf2_cursor *at)
{
	struct state *state = at->state;

	state->called |= at->called != NULL;
	if (is_inside(at, at->depth - 1))
		enter(state, at->user, &at->stack[at->depth - 1], at->ticks, at);
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	if (is_inside(at, at->depth + 1))
		leave(at->state, at->user, frame, at->ticks, at);
}

static void change_sample(const struct slice *slice, struct state *state, const struct gt_otf2_cursor *at,
			  struct gt_otf2_CallingContextSample *sample)
{
	if (slice->options->contexts)
		gt_contexts_sample(slice->contexts, &state->contexts, at, sample);
	else if (state->called)
		gt_contexts_plain_sample(slice->contexts, &state->contexts, sample);
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct slice *slice = at->user;
	struct state *state = at->state;
	struct gt_otf2_event sample;
	enum gt_left why;

	if (!is_inside(at, at->depth))
		return;
	if (slice->first.keep && !gt_keep_event(slice->first.keep, &state->kept, at, event, &why)) {
		state->counts.without[why]++;
		return;
	}
	if (event->type == GT_OTF2_CallingContextSample) {
		sample = *event;
		change_sample(slice, state, at, &sample.CallingContextSample);
		event = &sample;
	}
	gt_otf2_copy_event(state->copy, ticks_of(state, slice, at->ticks), event, at);
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	struct state *state = at->state;

	(void)whole;
	if (state->selected && !state->over)
		leave_all(state, at->user, at, at->ticks);
	state->counts.written = gt_otf2_copy_end(state->copy);
	gt_kept_end(&state->kept);
	gt_contexts_end(&state->contexts);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct slice *slice = at->user;
	struct state *state = at->state;
	struct counts *sum = &slice->counts;

	slice->locations += state->selected;
	sum->read += state->counts.read;
	sum->written += state->counts.written;
	sum->entered += state->counts.entered;
	sum->left += state->counts.left;
	for (unsigned i = 0; i < GT_LEFT; i++)
		sum->without[i] += state->counts.without[i];
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct state),
	.begin = on_begin,
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.end = on_end,
	.merge = on_merge,
};

/* ---- the window -------------------------------------------------------------------------------- */

/* The first tick whose time is not before `ns`. */
static uint64_t first_tick(const struct gt_otf2 *read, uint64_t ns)
{
	uint64_t low = read->begin, high = read->end;

	if (gt_otf2_ns(read, high) < ns)
		return high;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (gt_otf2_ns(read, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void say_what(const struct slice *slice, const struct gt_otf2 *read, FILE *text)
{
	const struct counts *c = &slice->counts;
	uint64_t without = 0;

	for (unsigned i = 0; i < GT_LEFT; i++)
		without += c->without[i];
	fprintf(text, "%s: %" PRIu64 " of %" PRIu64 " events, %zu of %zu locations, %.9f s to %.9f s\n",
		slice->options->out, c->written, c->read, slice->locations,
		read->tables[GT_OTF2_LOCATION].count, (double)gt_otf2_ns(read, slice->from) / 1e9,
		(double)gt_otf2_ns(read, slice->to) / 1e9);
	if (c->entered || c->left)
		fprintf(text,
			"%" PRIu64 " regions are entered where it begins, %" PRIu64 " left where it ends\n",
			c->entered, c->left);
	if (!without)
		return;
	fprintf(text, "%" PRIu64 " %s left out, because others that belong to %s are not in it:", without,
		without == 1 ? "event is" : "events are", without == 1 ? "it" : "them");
	for (unsigned i = 0, n = 0; i < GT_LEFT; i++)
		if (c->without[i])
			fprintf(text, "%s %" PRIu64 " %s", n++ ? "," : "", c->without[i], gt_left_names[i]);
	fputc('\n', text);
}

/* ---- the course -------------------------------------------------------------------------------- */

static bool complain(const struct gt_slice_options *options, const char *path, const char *why)
{
	fprintf(stderr, "%s: %s cannot be written: %s\n", options->command, path, why);
	return false;
}

/* Adds the properties that describe the slice. */
static void describe(const struct slice *slice)
{
	const struct gt_slice_options *options = slice->options;

	if (!options->contexts || options->window || options->patterns)
		gt_otf2_copy_property(slice->copy, "GPUTRACE::SLICE_TIME",
				      options->window ? options->window : ":");
	if (options->patterns)
		gt_otf2_copy_property(slice->copy, "GPUTRACE::SLICE_LOCATIONS", options->patterns);
}

static void on_copy_fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault fault, const char *format,
			  va_list args)
{
	bool *whole = user;

	(void)at, (void)format, (void)args;
	if (fault == GT_OTF2_FILES || fault == GT_OTF2_COUNT)
		__atomic_store_n(whole, false, __ATOMIC_RELAXED);
}

/* libotf2 does not say that a write has failed (a full disk): what it wrote is read. */
static bool is_whole(const struct gt_slice_options *options, const char *path)
{
	static const struct gt_otf2_visitor reads = { .fault = on_copy_fault };
	struct gt_otf2 *copy;
	bool whole = true;
	char *anchor;

	if (asprintf(&anchor, "%s/traces.otf2", path) < 0)
		gt_no_memory();
	copy = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &reads, .user = &whole });
	whole = copy && !gt_otf2_definitions(copy) && !gt_otf2_events(copy) && whole;
	free(anchor);
	return whole || complain(options, path, "the disk may be full");
}

/* Properties that are sums over the run, and not known of a part of it (THREADS: that shared a location). */
static const char *const of_all[] = { "GPUTRACE::PROCESSOR_TIME_NS", "GPUTRACE::MEMORY_PEAK_BYTES",
				      "GPUTRACE::HOSTS", "GPUTRACE::UNMATCHED_MESSAGES", "GPUTRACE::THREADS",
				      "GPUTRACE::LIFETIME_NS", "GPUTRACE::RUNNING_NS", "GPUTRACE::READY_NS",
				      "GPUTRACE::BLOCKED_NS", "GPUTRACE::UNKNOWN_NS", "GPUTRACE::SWITCHES",
				      "GPUTRACE::MIGRATIONS", "GPUTRACE::THROTTLED_NS", NULL };

static bool is_all(const struct slice *slice, const struct gt_otf2 *read)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++)
		if (!gt_part_has(&slice->part, i))
			return false;
	return !slice->part.from && slice->part.to > gt_otf2_ns(read, read->end);
}

static bool write_copy(struct slice *slice, const struct gt_otf2 *read, struct gt_otf2 *second,
		       const char *path)
{
	const char *why;

	slice->from = first_tick(read, slice->part.from);
	slice->to = slice->part.to == UINT64_MAX ? read->end : first_tick(read, slice->part.to);
	slice->copy = gt_otf2_copy_open(read, path, is_all(slice, read) ? NULL : of_all);
	if (!slice->copy)
		return complain(slice->options, path, "libotf2 cannot make an archive in it");
	describe(slice);
	if (gt_otf2_events(second))
		return false;
	if (slice->options->contexts)
		gt_contexts_define(slice->contexts, slice->copy);
	why = gt_otf2_copy_close(slice->copy, slice->from, slice->to);
	return (!why || complain(slice->options, path, why)) && is_whole(slice->options, path);
}

/*
 * A reader for each pass: libotf2 gives the events of a location once. By one thread, if there are new nodes,
 * which get their numbers in order.
 */
static struct gt_otf2 *open_reader(const char *anchor, struct slice *slice, const struct gt_otf2_visitor *of)
{
	struct gt_otf2 *read =
		gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = of, .user = slice,
								.threads = slice->options->contexts,
								.command = slice->options->command });

	return read && !gt_otf2_definitions(read) ? read : NULL;
}

/* False: the events cannot be read. An export of everything keeps everything. */
static bool find_what_stays(struct slice *slice, struct gt_otf2 *read)
{
	if (slice->options->contexts && is_all(slice, read))
		return true;
	slice->first.keep = gt_keep_new(read, &slice->part);
	if (gt_otf2_events(read))
		return false;
	gt_keep_match(slice->first.keep);
	return true;
}

static bool has_room(struct slice *slice)
{
	slice->refused = slice->options->contexts && !gt_contexts_have_room(slice->contexts);
	if (slice->refused)
		fprintf(stderr,
			"%s: the numbers of the archive's calling contexts leave no room for new ones\n",
			slice->options->command);
	return !slice->refused;
}

static bool cut(struct slice *slice, const char *anchor, const char *path, FILE *text)
{
	struct gt_otf2 *read = open_reader(anchor, slice, &gt_keep_visitor);
	struct gt_otf2 *second = read ? open_reader(anchor, slice, &visitor) : NULL;

	if (!second)
		return false;
	if (!gt_part_choose(&slice->part, read, slice->options->patterns, slice->options->command))
		return false;
	slice->contexts = gt_contexts_new(second);
	if (!has_room(slice))
		return false;
	if (!find_what_stays(slice, read))
		return false;
	if (!write_copy(slice, read, second, path))
		return false;
	if (!slice->options->quiet)
		say_what(slice, read, text);
	return true;
}

int gt_slice(const char *anchor, void *argument, FILE *text)
{
	const struct gt_slice_options *options = argument;
	struct slice slice = { .options = options, .part = options->part };
	char *path = gt_output_part(options->out);
	bool done;

	signal(SIGXFSZ, SIG_IGN); /* writing fails then, and that is said */
	if (mkdir(path, 0777)) {
		complain(options, path, strerror(errno));
		return 2;
	}
	done = cut(&slice, anchor, path, text);
	if (done && !gt_output_keep(path, options->out))
		done = complain(options, options->out, strerror(errno));
	if (!done)
		gt_output_discard(options->out);
	/* The readers are not closed: the process ends, and libotf2 may be in any state. */
	return done ? 0 : slice.refused ? 1 : 2;
}

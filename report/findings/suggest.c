/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function is suggested if it is called often, takes hardly longer than recording it, and nothing happens
 * in it but calls of functions: no MPI, no lock, no file, no kernel. What the file will do is found with the
 * code that the traced process uses.
 *
 * Limits: functions that a compiler instrumented, and Python's; see suggest.h.
 */
#include "config.h"

#include "report/findings/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/memory.h"
#include "report/model/rules.h"
#include "report/sections/states.h"
#include "lib/common/demangle.h"
#include "lib/common/filter.h"
#include "lib/common/text.h"

/* Of a region; of recursive calls the outermost has the time. */
struct sums {
	uint64_t calls, leaves, inclusive;
	uint64_t inside; /* ns: what recording the calls in its calls took */
	uint64_t first;  /* calls that a thread began with */
	uint64_t open;   /* calls, now */
	uint64_t bytes;  /* of the archive: of enters and leaves */
	bool tells;      /* something else than functions happened in it */
};

/* Of a location. */
struct counting {
	struct sums *sums;
	uint64_t begin; /* ns: of the first event */
	uint64_t ticks; /* of the last one; 0: none yet */
	uint64_t states; /* events of the metric of what the scheduler did */
	bool called;    /* the thread, which may be one of many, has called something */
};

struct suggest {
	const struct gt_suggest_options *options;
	const struct gt_otf2 *read;
	struct sums *sums;       /* by region, the last one of those that are not defined */
	uint64_t events, time;   /* of all locations; ns, of threads */
	uint64_t states;         /* of the events, those that gputrace adds when a buffer is full */
	size_t *order;           /* regions that are suggested, and how many */
	size_t count;
	bool *bad;               /* by place in `order`: no rule for it can be written */
};

/* ---- counting ---------------------------------------------------------------------------------- */

/* frame->user: what recording the calls inside took, and whether it tells. */
enum { TELLS = 1, ONE_NS = 2 };

bool gt_suggest_can(const struct gt_otf2_region *region)
{
	return region->paradigm == OTF2_PARADIGM_COMPILER && region->role == OTF2_REGION_ROLE_FUNCTION;
}

/* A flush says nothing of the function in which it happens to be. */
static bool tells(const struct gt_otf2_region *region)
{
	return !gt_suggest_can(region) && region->paradigm != OTF2_PARADIGM_MEASUREMENT_SYSTEM;
}

static struct sums *sums_of(const struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	ptrdiff_t index = gt_otf2_index(at->read, GT_OTF2_REGION, region->id);
	const struct counting *counting = at->state;

	return &counting->sums[index < 0 ? (ptrdiff_t)at->read->tables[GT_OTF2_REGION].count : index];
}

static void look_at_time(struct gt_otf2_cursor *at)
{
	struct counting *counting = at->state;

	counting->begin = counting->ticks ? counting->begin : at->time;
	counting->ticks = at->ticks;
}

/* Of an enter or leave in OTF2: kind, length and bytes of the region, and the time if it is another one. */
static uint64_t bytes_of(struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	const struct counting *counting = at->state;
	uint64_t bytes = 2 + (at->ticks == counting->ticks ? 0 : 9);

	for (uint64_t id = region->id; id; id >>= 8)
		bytes++;
	look_at_time(at);
	return bytes;
}

static struct sums *new_sums(const struct gt_otf2 *read)
{
	struct sums *sums = gt_zeroed(read->tables[GT_OTF2_REGION].count + 1, sizeof(*sums));

	return sums;
}

static void on_begin(struct gt_otf2_cursor *at)
{
	((struct counting *)at->state)->sums = new_sums(at->read);
}

static void on_enter(struct gt_otf2_cursor *at)
{
	const struct gt_otf2_region *region = at->stack[at->depth - 1].region;

	struct counting *counting = at->state;
	struct sums *sums = sums_of(at, region);

	sums->calls++;
	sums->open++;
	sums->first += !counting->called;
	counting->called = true;
	sums->bytes += bytes_of(at, region);
	if (at->depth > 1 && tells(region))
		at->stack[at->depth - 2].user |= TELLS;
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct sums *sums = sums_of(at, frame->region);

	sums->leaves++;
	sums->bytes += bytes_of(at, frame->region);
	sums->open -= sums->open > 0;
	if (!sums->open) {
		sums->inclusive += gt_otf2_inclusive(at, frame);
		sums->inside += frame->user / ONE_NS;
	}
	sums->tells |= frame->user & TELLS;
	if (at->depth)
		at->stack[at->depth - 1].user = (at->stack[at->depth - 1].user | (frame->user & TELLS)) +
						(frame->user & ~(uint64_t)TELLS) +
						gt_cost_of_call(frame->region->file) * ONE_NS;
}

/* Values of counters stand beside every enter, and parameters are the function's own. */
static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	look_at_time(at);
	if (event->type == GT_OTF2_Metric &&
	    gt_is_states(at->read, gt_otf2_find_metric(at->read, event->Metric.metric)))
		((struct counting *)at->state)->states++;
	((struct counting *)at->state)->called &= event->type != GT_OTF2_ThreadBegin;
	if (at->depth && event->type != GT_OTF2_Metric && event->type != GT_OTF2_BufferFlush)
		at->stack[at->depth - 1].user |= TELLS;
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	(void)whole;
	while (at->depth) {
		sums_of(at, at->stack[at->depth - 1].region)->tells = true;
		at->depth--;
	}
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct suggest *s = at->user;
	const struct counting *counting = at->state;
	struct sums *sums = counting->sums;

	for (size_t i = 0; i <= at->read->tables[GT_OTF2_REGION].count; i++) {
		s->sums[i].calls += sums[i].calls;
		s->sums[i].leaves += sums[i].leaves;
		s->sums[i].inclusive += sums[i].inclusive;
		s->sums[i].inside += sums[i].inside;
		s->sums[i].first += sums[i].first;
		s->sums[i].bytes += sums[i].bytes;
		s->sums[i].tells |= sums[i].tells;
	}
	s->events += at->event;
	s->states += counting->states;
	if (at->location->type == OTF2_LOCATION_TYPE_CPU_THREAD)
		s->time += at->time - counting->begin;
	free(sums);
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct counting),
	.begin = on_begin,
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.end = on_end,
	.merge = on_merge,
};

/* ---- choosing ---------------------------------------------------------------------------------- */

/* Of a call, without what recording the calls in it took. */
static uint64_t mean_of(const struct sums *sums)
{
	return sums->leaves && sums->inclusive > sums->inside
		       ? (sums->inclusive - sums->inside) / sums->leaves : 0;
}

/* Functions with which threads mostly begin are not cheap: they tell the threads' purposes. */
static bool is_cheap(const struct suggest *s, size_t region)
{
	const struct sums *sums = &s->sums[region];

	return gt_suggest_can(gt_otf2_region_at(s->read, region)) && !sums->tells &&
	       sums->first <= sums->calls / 2 &&
	       sums->calls >= GT_SUGGEST_CALLS && sums->calls >= s->events / 2000 &&
	       mean_of(sums) < s->options->shorter;
}

static int more_calls(const void *a, const void *b, void *user)
{
	const struct suggest *s = user;
	uint64_t x = s->sums[*(const size_t *)a].calls, y = s->sums[*(const size_t *)b].calls;

	return (x < y) - (x > y);
}

static void choose(struct suggest *s)
{
	size_t count = s->read->tables[GT_OTF2_REGION].count;

	s->order = calloc(count + 1, sizeof(*s->order));
	s->bad = calloc(count + 1, sizeof(*s->bad));
	if (!s->order || !s->bad)
		gt_no_memory();
	for (size_t i = 0; i < count; i++)
		if (is_cheap(s, i))
			s->order[s->count++] = i;
	if (s->count)
		qsort_r(s->order, s->count, sizeof(*s->order), more_calls, s);
}

/* ---- rules ------------------------------------------------------------------------------------- */

/* Can the name stand in a rule, and mean itself? */
static bool is_plain(const char *name)
{
	return *name && *name != '@' && *name != '#' && !strpbrk(name, ";*\n\r") && !strstr(name, " -- ") &&
	       !strstr(name, " #") && strlen(name) < 4000;
}

static const char *pattern_of(const struct gt_otf2_region *region)
{
	return is_plain(region->canonical) ? region->canonical : is_plain(region->name) ? region->name : NULL;
}

/* The file's rules, a line each; those that are bad are empty lines. */
static char *rules_of(const struct suggest *s, size_t *size)
{
	char *text = NULL;
	FILE *file = gt_need(open_memstream(&text, size));

	for (size_t i = 0; i < s->count; i++) {
		const char *pattern = pattern_of(gt_otf2_region_at(s->read, s->order[i]));

		if (pattern && !s->bad[i])
			fprintf(file, "%s -- 0", pattern);
		fputc('\n', file);
	}
	if (fclose(file))
		gt_no_memory();
	return text;
}

/* The line of the rule that a region falls under, or 0. */
static uint32_t line_for(const struct gt_filter *filter, const struct gt_otf2_region *region)
{
	static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];
	struct gt_filter_names names = { .name = region->canonical, .group = "Application" };
	uint32_t rule;

	if (gt_demangle(region->canonical, full, plain)) {
		names.full = full;
		names.plain = plain;
	}
	rule = gt_filter_match(filter, &names);
	return rule == GT_RULE_NONE ? 0 : gt_filter_rule_at(filter, rule).line;
}

static bool is_chosen(const struct suggest *s, size_t region)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->order[i] == region)
			return !s->bad[i];
	return false;
}

/* Events that the rules omit. */
struct left_out {
	uint64_t calls, bytes, cost; /* calls; of the archive; ns that recording them took */
};

static uint64_t cost_in(const struct suggest *s, size_t region)
{
	return s->sums[region].calls * gt_cost_of_call(gt_otf2_region_at(s->read, region)->file);
}

/* Rules that would leave out something else, too, are bad. Returns what the others leave out. */
static struct left_out try_rules(struct suggest *s, bool *again)
{
	struct gt_filter *filter = gt_filter_new();
	struct left_out left_out = { 0 };
	size_t size = 0;
	char *text = rules_of(s, &size);

	*again = false;
	if (!filter || gt_filter_parse(filter, GT_FILTER_RULES, "suggested", text, size, NULL) < 0)
		gt_no_memory();
	for (size_t i = 0; i < s->read->tables[GT_OTF2_REGION].count; i++) {
		uint32_t line = line_for(filter, gt_otf2_region_at(s->read, i));

		if (!line || !s->sums[i].calls)
			continue;
		left_out.calls += s->sums[i].calls;
		left_out.bytes += s->sums[i].bytes;
		left_out.cost += cost_in(s, i);
		if (!is_chosen(s, i))
			*again = s->bad[line - 1] = true;
	}
	gt_filter_free(filter);
	free(text);
	return left_out;
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* Of the anchor, of the global definitions, and of the files of all locations. */
static uint64_t archive_bytes(const struct suggest *s)
{
	size_t length = strlen(s->read->anchor) - strlen(".otf2");
	char path[sizeof(s->read->anchor) + 64];
	uint64_t bytes = 0;
	struct stat of;

	for (size_t i = 0; i < 2 + 2 * s->read->tables[GT_OTF2_LOCATION].count; i++) {
		const char *ending = i % 2 ? "def" : i ? "evt" : "otf2";

		snprintf(path, sizeof(path), "%.*s", (int)length, s->read->anchor);
		if (i > 1)
			snprintf(path + length, sizeof(path) - length, "/%" PRIu64,
				 gt_otf2_location_at(s->read, i / 2 - 1)->id);
		snprintf(path + strlen(path), sizeof(path) - strlen(path), ".%s", ending);
		if (!stat(path, &of))
			bytes += (uint64_t)of.st_size;
	}
	return bytes;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

/* With fewer events there are as many fewer flushes of buffers. */
static void leave_out_flushes(const struct suggest *s, struct left_out *left_out)
{
	double part = 2 * (double)left_out->calls / (double)s->events;

	for (size_t i = 0; i < s->read->tables[GT_OTF2_REGION].count; i++) {
		const struct gt_otf2_region *region = gt_otf2_region_at(s->read, i);

		if (region->paradigm != OTF2_PARADIGM_MEASUREMENT_SYSTEM || !strstr(region->name, "FLUSH"))
			continue;
		left_out->calls += (uint64_t)(part * (double)s->sums[i].calls + 0.5);
		left_out->bytes += (uint64_t)(part * (double)s->sums[i].bytes);
		left_out->cost += (uint64_t)(part * (double)cost_in(s, i));
	}
}

static void print_prediction(const struct suggest *s, struct left_out without, const char *prefix, FILE *out)
{
	uint64_t cost = 0, bytes = archive_bytes(s), events, less;
	double part = 2 * (double)without.calls / (double)s->events;

	leave_out_flushes(s, &without);
	events = s->events - 2 * without.calls - (uint64_t)(part * (double)s->states + 0.5);
	for (size_t i = 0; i < s->read->tables[GT_OTF2_REGION].count; i++)
		cost += cost_in(s, i);
	less = bytes > without.bytes ? bytes - without.bytes : 0;
	fprintf(out, "%sevents: %" PRIu64 " now, %" PRIu64 " with this filter (%.1f %%)\n", prefix, s->events,
		events, percent(events, s->events));
	fprintf(out, "%sbytes: %" PRIu64 " now, %" PRIu64 " with this filter (%.1f %%)\n", prefix, bytes,
		less, percent(less, bytes));
	cost -= without.cost;
	fprintf(out, "%srecording: about %.6f s of the threads' %.3f s now, %.6f s with this filter\n",
		prefix, (double)(cost + without.cost) / 1e9, (double)s->time / 1e9,
		(double)(cost + without.calls * GT_COST_FILTERED) / 1e9);
}

static void print_rules(const struct suggest *s, struct left_out without, FILE *out)
{
	char name[4200];

	fprintf(out, "# gputrace filter suggest %s\n", gt_summary_word(name, sizeof(name), s->options->name));
	print_prediction(s, without, "# ", out);
	fprintf(out, "#\n#        calls      ns each  function\n");
	for (size_t i = 0; i < s->count; i++) {
		const struct gt_otf2_region *region = gt_otf2_region_at(s->read, s->order[i]);
		const struct sums *sums = &s->sums[s->order[i]];

		if (s->bad[i])
			continue;
		fprintf(out, "# %12" PRIu64 " %12" PRIu64 "  %s\n%s -- 0\n", sums->calls, mean_of(sums),
			gt_text_escape(name, sizeof(name), region->name, strlen(region->name)),
			pattern_of(region));
	}
}

static int write_file(const struct suggest *s, struct left_out without, FILE *text)
{
	FILE *file = s->options->out ? fopen(s->options->out, "w") : text;

	if (file)
		print_rules(s, without, file);
	if (!file || fflush(file) || ferror(file) || (file != text && fclose(file))) {
		fprintf(stderr, "gputrace filter suggest: %s cannot be written: %s\n",
			s->options->out ? s->options->out : "standard output", strerror(errno));
		return 2;
	}
	if (file != text)
		print_prediction(s, without, "", text);
	return 0;
}

int gt_suggest(const char *anchor, void *argument, FILE *text)
{
	struct suggest s = { .options = argument };
	struct gt_otf2 *read =
		gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &visitor, .user = &s,
								.command = "gputrace filter suggest" });
	struct left_out without;
	bool again = true;

	if (!read || gt_otf2_definitions(read))
		return 2;
	s.read = read;
	s.sums = new_sums(read);
	if (gt_otf2_events(read))
		return 2;
	choose(&s);
	for (size_t i = 0; i < s.count; i++)
		s.bad[i] = !pattern_of(gt_otf2_region_at(read, s.order[i]));
	do
		without = try_rules(&s, &again);
	while (again);
	if (without.calls)
		return write_file(&s, without, text);
	fprintf(text, "%s: no function costs more than it tells (%" PRIu64 " events)\n", s.options->name,
		s.events);
	return 1;
}

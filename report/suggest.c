/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function is suggested if it is called often, takes hardly longer than recording it, and nothing happens
 * in it but calls of functions: no MPI, no lock, no file, no kernel. What the file will do is found with the
 * code that the traced process uses.
 *
 * Limits: functions that a compiler instrumented only; see suggest.h.
 */
#include "config.h"

#include "report/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/common/demangle.h"
#include "lib/common/filter.h"
#include "lib/common/text.h"
#include "lib/read/read.h"

/* Of a region. */
struct sums {
	uint64_t calls, leaves, inclusive;
	uint64_t inside; /* calls in its calls */
	bool tells;      /* something else than functions happened in it */
};

struct suggest {
	const struct gt_suggest_options *options;
	const struct gt_otf2 *read;
	struct sums *sums;       /* by region, the last one of those that are not defined */
	uint64_t events, time;   /* of all locations; ns, of threads */
	size_t *order;           /* regions that are suggested, and how many */
	size_t count;
	bool *bad;               /* by place in `order`: no rule for it can be written */
};

/* ---- counting ---------------------------------------------------------------------------------- */

/* frame->user: calls inside, and whether it tells. */
enum { TELLS = 1, ONE_CALL = 2 };

static bool is_function(const struct gt_otf2_region *region)
{
	return region->paradigm == OTF2_PARADIGM_COMPILER && region->role == OTF2_REGION_ROLE_FUNCTION;
}

/* A flush says nothing of the function in which it happens to be. */
static bool tells(const struct gt_otf2_region *region)
{
	return !is_function(region) && region->paradigm != OTF2_PARADIGM_MEASUREMENT_SYSTEM;
}

static struct sums *sums_of(const struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	ptrdiff_t index = gt_otf2_index(at->read, GT_OTF2_REGION, region->id);
	struct sums *const *sums = at->state;

	return &(*sums)[index < 0 ? (ptrdiff_t)at->read->tables[GT_OTF2_REGION].count : index];
}

static struct sums *new_sums(const struct gt_otf2 *read)
{
	struct sums *sums = calloc(read->tables[GT_OTF2_REGION].count + 1, sizeof(*sums));

	if (!sums)
		abort();
	return sums;
}

static void on_begin(struct gt_otf2_cursor *at)
{
	*(struct sums **)at->state = new_sums(at->read);
}

static void on_enter(struct gt_otf2_cursor *at)
{
	const struct gt_otf2_region *region = at->stack[at->depth - 1].region;

	sums_of(at, region)->calls++;
	/* The outermost one says what the thread does. */
	if (at->depth == 1)
		at->stack[0].user |= TELLS;
	else if (tells(region))
		at->stack[at->depth - 2].user |= TELLS;
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct sums *sums = sums_of(at, frame->region);

	sums->leaves++;
	sums->inclusive += gt_otf2_inclusive(at, frame);
	sums->inside += frame->user / ONE_CALL;
	sums->tells |= frame->user & TELLS;
	if (at->depth)
		at->stack[at->depth - 1].user = (at->stack[at->depth - 1].user | (frame->user & TELLS)) +
						(frame->user & ~(uint64_t)TELLS) + ONE_CALL;
}

/* Values of counters stand beside every enter, and parameters are the function's own. */
static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
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
	struct sums *sums = *(struct sums **)at->state;

	for (size_t i = 0; i <= at->read->tables[GT_OTF2_REGION].count; i++) {
		s->sums[i].calls += sums[i].calls;
		s->sums[i].leaves += sums[i].leaves;
		s->sums[i].inclusive += sums[i].inclusive;
		s->sums[i].inside += sums[i].inside;
		s->sums[i].tells |= sums[i].tells;
	}
	s->events += at->event;
	if (at->location->type == OTF2_LOCATION_TYPE_CPU_THREAD)
		s->time += at->time;
	free(sums);
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct sums *),
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
	uint64_t recording = sums->inside * GT_SUGGEST_COST;

	return sums->leaves && sums->inclusive > recording ? (sums->inclusive - recording) / sums->leaves : 0;
}

static bool is_cheap(const struct suggest *s, size_t region)
{
	const struct sums *sums = &s->sums[region];

	return is_function(gt_otf2_region_at(s->read, region)) && !sums->tells &&
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
		abort();
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
	FILE *file = open_memstream(&text, size);

	if (!file)
		abort();
	for (size_t i = 0; i < s->count; i++) {
		const char *pattern = pattern_of(gt_otf2_region_at(s->read, s->order[i]));

		if (pattern && !s->bad[i])
			fprintf(file, "%s -- 0", pattern);
		fputc('\n', file);
	}
	if (fclose(file))
		abort();
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
	return rule == GT_RULE_NONE ? 0 : gt_filter_rule(filter, rule).line;
}

static bool is_chosen(const struct suggest *s, size_t region)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->order[i] == region)
			return !s->bad[i];
	return false;
}

/* Rules that would leave out something else, too, are bad. Returns how many calls the others leave out. */
static uint64_t try_rules(struct suggest *s, bool *again)
{
	struct gt_filter *filter = gt_filter_new();
	size_t size = 0;
	char *text = rules_of(s, &size);
	uint64_t calls = 0;

	*again = false;
	if (!filter || gt_filter_parse(filter, GT_FILTER_RULES, "suggested", text, size, NULL) < 0)
		abort();
	for (size_t i = 0; i < s->read->tables[GT_OTF2_REGION].count; i++) {
		uint32_t line = line_for(filter, gt_otf2_region_at(s->read, i));

		if (!line || !s->sums[i].calls)
			continue;
		calls += s->sums[i].calls;
		if (!is_chosen(s, i))
			*again = s->bad[line - 1] = true;
	}
	gt_filter_free(filter);
	free(text);
	return calls;
}

/* ---- the file ---------------------------------------------------------------------------------- */

static void print_prediction(const struct suggest *s, uint64_t without, const char *prefix, FILE *out)
{
	uint64_t calls = 0, after;
	double all = (double)s->time / 1e9;
	double cost, less;

	for (size_t i = 0; i <= s->read->tables[GT_OTF2_REGION].count; i++)
		calls += s->sums[i].calls;
	after = s->events - 2 * without;
	cost = (double)(calls * GT_SUGGEST_COST) / 1e9;
	less = (double)((calls - without) * GT_SUGGEST_COST + without * GT_SUGGEST_FILTERED) / 1e9;
	fprintf(out, "%sevents: %" PRIu64 " now, %" PRIu64 " with this filter (%.1f %%)\n", prefix, s->events,
		after, s->events ? 100.0 * (double)after / (double)s->events : 100.0);
	fprintf(out, "%srecording: about %.3f s of the threads' %.3f s now, %.3f s with this filter\n",
		prefix, cost, all, less);
}

static void print_rules(const struct suggest *s, uint64_t without, FILE *out)
{
	char name[256];

	fprintf(out, "# gputrace filter suggest %s\n",
		gt_text_escape(name, sizeof(name), s->options->name, strlen(s->options->name)));
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

static int write_file(const struct suggest *s, uint64_t without, FILE *text)
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
	uint64_t without;
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
	if (without)
		return write_file(&s, without, text);
	fprintf(text, "%s: no function costs more than it tells (%" PRIu64 " events)\n", s.options->name,
		s.events);
	return 1;
}

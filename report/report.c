/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of analyses, and the pass that they share. What they ask of it is in results.c, below them.
 *
 * Limits: see report.h.
 */
#include "config.h"

#include "report/model/conditions.h"
#include "report/waits/sync.h"

#include <stdlib.h>
#include <string.h>

/* The profile is first (report.h). */
static const struct gt_analysis *const analyses[] = {
	&gt_run_analysis,
	&gt_efficiency_analysis,
	&gt_profile_analysis,
	&gt_conditions_analysis,
	&gt_call_tree_analysis,
	&gt_callers_analysis,
	&gt_states_analysis,
	&gt_samples_analysis,
	&gt_gpu_analysis,
	&gt_gpu_counters_analysis,
	&gt_kernel_metrics_analysis,
	&gt_messages_analysis,
	&gt_locks_analysis,
	&gt_files_analysis,
	&gt_solo_analysis,
	&gt_metrics_analysis,
	&gt_losses_analysis,
	&gt_sync_analysis,
	&gt_findings_analysis, /* looks at what others have found */
};

/* The analyses of a summary: those that it shows, and those that findings use. */
static const struct gt_analysis *const summary_analyses[] = {
	&gt_run_analysis,
	&gt_efficiency_analysis,
	&gt_profile_analysis,
	&gt_conditions_analysis,
	&gt_states_analysis,
	&gt_samples_analysis,
	&gt_gpu_analysis,
	&gt_messages_analysis,
	&gt_locks_analysis,
	&gt_files_analysis,
	&gt_solo_analysis,
	&gt_losses_analysis,
	&gt_findings_analysis,
};

/* Analyses that need definitions only. */
static const struct gt_analysis *const unread_analyses[] = {
	&gt_run_analysis,
	&gt_states_analysis,
	&gt_losses_analysis,
};

enum { OURS = sizeof(analyses) / sizeof(analyses[0]), MOST = GT_ANALYSES_MOST };

/* One of the caller's, and NULL, are behind them. */
_Static_assert(OURS + 2 <= MOST, "GT_ANALYSES_MOST is too small");

/* ---- a location ---------------------------------------------------------------------------------- */

static struct gt_report *report_of(const struct gt_otf2_cursor *at)
{
	return at->user;
}

static size_t state_size(const struct gt_report *report)
{
	size_t size = 0;

	for (const struct gt_analysis *const *of = report->analyses; *of; of++)
		size += gt_state_room(*of);
	return size;
}

/* Calls a function of all analyses that have it. */
#define EACH(at, function, ...) EACH_OF(at, function, report, at, __VA_ARGS__)
#define EACH_OF(at, function, ...)                                                            \
	do {                                                                                 \
		struct gt_report *report = report_of(at);                                    \
		char *state = (at)->state;                                                   \
		const struct gt_analysis *const *of = report->analyses;                      \
											     \
		for (unsigned i = 0; of[i]; state += gt_state_room(of[i]), i++)              \
			if (report->results[i] && of[i]->function)                           \
				of[i]->function(__VA_ARGS__);                                \
	} while (0)

/* Of events there are many: for each kind of them, only what wants to see it. */
struct gt_calls {
	struct list {
		const struct gt_analysis *of[MOST];
		size_t states[MOST]; /* where their states are */
		unsigned count;
	} enter, leave, event, all_enters, all_leaves;
	size_t profile; /* where its state is */
};

static void list(struct list *list, const struct gt_analysis *analysis, size_t state, bool wanted)
{
	if (!wanted)
		return;
	list->of[list->count] = analysis;
	list->states[list->count++] = state;
}

static bool make_lists(struct gt_report *report)
{
	struct gt_calls *calls = calloc(1, sizeof(*calls));
	const struct gt_analysis *const *of = report->analyses;
	size_t state = 0;

	for (unsigned i = 0; calls && of[i]; state += gt_state_room(of[i]), i++) {
		bool enter = report->results[i] && of[i]->enter;
		bool leave = report->results[i] && of[i]->leave;

		if (of[i] == &gt_profile_analysis)
			calls->profile = state;
		list(&calls->enter, of[i], state, enter);
		list(&calls->leave, of[i], state, leave);
		list(&calls->all_enters, of[i], state, enter && !of[i]->loud_only);
		list(&calls->all_leaves, of[i], state, leave && !of[i]->loud_only);
		list(&calls->event, of[i], state, report->results[i] && of[i]->event);
	}
	report->calls = calls;
	return calls;
}

static void begin(struct gt_otf2_cursor *at)
{
	EACH(at, begin, state);
}

static void enter(struct gt_otf2_cursor *at)
{
	struct gt_report *report = report_of(at);
	const struct gt_calls *calls = report->calls;
	struct gt_profiling *profiling = (void *)((char *)at->state + calls->profile);
	const struct list *list = gt_profile_enter(profiling, at) ? &calls->enter : &calls->all_enters;

	for (unsigned i = 0; i < list->count; i++)
		list->of[i]->enter(report, at, (char *)at->state + list->states[i]);
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct gt_report *report = report_of(at);
	const struct gt_calls *calls = report->calls;
	struct gt_profiling *profiling = (void *)((char *)at->state + calls->profile);
	const struct list *list = gt_profile_leave(profiling, at, frame) ? &calls->leave : &calls->all_leaves;

	for (unsigned i = 0; i < list->count; i++)
		list->of[i]->leave(report, at, frame, (char *)at->state + list->states[i]);
}

static void calls(struct gt_otf2_cursor *at, struct gt_otf2_calls *of)
{
	gt_profile_calls((void *)((char *)at->state + report_of(at)->calls->profile), at, of);
}

static void event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct gt_report *report = report_of(at);
	const struct list *list = &report->calls->event;

	for (unsigned i = 0; i < list->count; i++)
		list->of[i]->event(report, at, event, (char *)at->state + list->states[i]);
}

static void end(struct gt_otf2_cursor *at, bool whole)
{
	(void)whole;
	EACH(at, end, state);
}

static void carry_location(struct gt_otf2_cursor *at)
{
	struct gt_carry *carry = gt_spread_carry(report_of(at)->spread, at->index);

	gt_carry_bytes(carry, &at->time, sizeof(at->time));
	gt_carry_bytes(carry, &at->event, sizeof(at->event));
	gt_carry_bytes(carry, &at->whole, sizeof(at->whole));
	EACH_OF(at, carry, report, carry, state);
}

/* A location without events needs no file. */
static bool is_damaged(const struct gt_otf2_cursor *at)
{
	return at->event < at->location->events || (!at->whole && at->event);
}

static void merge(struct gt_otf2_cursor *at)
{
	struct gt_spread *spread = report_of(at)->spread;
	bool ours = gt_spread_is_ours(spread, at->index);

	if (!ours && spread->rank) /* begin() was not called, and only rank 0 needs it */
		return;
	if (spread && ours != (spread->rank == 0)) /* one of ours for rank 0, or its of somebody else's */
		carry_location(at);
	report_of(at)->damaged += is_damaged(at);
	EACH(at, merge, state, report->results[i]); /* which frees it, too */
}

static bool elsewhere(void *user, size_t index)
{
	return !gt_spread_is_ours(((struct gt_report *)user)->spread, index);
}

static void carry_results(struct gt_report *report, struct gt_carry *carry)
{
	uint64_t faults = report->faults;

	gt_carry_bytes(carry, &faults, sizeof(faults));
	if (gt_carry_loads(carry))
		report->faults += faults;
	for (unsigned i = 0; report->analyses[i]; i++)
		if (report->results[i] && report->analyses[i]->carry_result)
			report->analyses[i]->carry_result(report, carry, report->results[i]);
}

/* After all locations. */
static void gather(struct gt_report *report)
{
	struct gt_spread *spread = report->spread;

	if (spread->rank)
		carry_results(report, gt_spread_carry(spread, 0));
	for (uint32_t i = 1; !spread->rank && i < spread->size; i++)
		carry_results(report, gt_spread_carry(spread, i));
	gt_spread_close(spread);
}

static void fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault what, const char *format,
		  va_list args)
{
	struct gt_report *report = user;

	(void)what, (void)format, (void)args;
	if (!at && report->spread && report->spread->rank)
		return; /* all ranks read the definitions, and rank 0 counts what is wrong with them */
	__atomic_add_fetch(&report->faults, 1, __ATOMIC_RELAXED);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static bool prepare(struct gt_report *report)
{
	const struct gt_analysis *const *of = report->analyses;

	report->results = calloc(MOST, sizeof(*report->results));
	if (!report->results || gt_classes_make(&report->classes, report->read))
		return false;
	for (unsigned i = 0; of[i]; i++)
		if (!of[i]->wanted || of[i]->wanted(report)) {
			report->results[i] = calloc(1, of[i]->result_size + 1);
			if (!report->results[i])
				return false;
			if (of[i]->prepare)
				of[i]->prepare(report, report->results[i]);
		}
	return make_lists(report);
}

static void write_figures(struct gt_report *report, const struct gt_analysis *analysis, void *result)
{
	if (result && analysis->figures)
		analysis->figures(report, result);
	for (unsigned i = 0; analysis->sections && analysis->sections[i]; i++)
		if (!gt_section_find(&report->figures, analysis->sections[i]->key))
			gt_section_add(&report->figures, analysis->sections[i]);
}

/* Reads what there is, for the analyses that the report has. */
static void read_events(struct gt_report *report)
{
	struct gt_spread *spread = report->spread;

	if (spread)
		gt_spread_open(spread);
	if (!report->calls->all_enters.count && !report->calls->all_leaves.count)
		report->visitor.calls = calls;
	gt_otf2_events(report->read);
	if (spread)
		gather(report);
}

/* Fills `report`, in which the caller has said what it is to have. NULL: the archive cannot be read. */
static struct gt_report *make(const char *anchor, struct gt_report *report)
{
	report->visitor = (struct gt_otf2_visitor){ .state_size = state_size(report),
						    .begin = begin,
						    .enter = enter,
						    .leave = leave,
						    .event = event,
						    .end = end,
						    .merge = merge,
						    .fault = fault };
	report->read = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &report->visitor,
									    .user = report,
									    .elsewhere = elsewhere,
									    .command = "gputrace",
									    .goes_on = true,
									    .threads = report->threads });
	if (!report->read || gt_otf2_definitions(report->read) || !prepare(report)) {
		gt_report_free(report);
		return NULL;
	}
	if (!report->unread) {
		read_events(report);
		gt_profile_settle(report);
	}
	for (unsigned i = 0; report->analyses[i] && (!report->spread || !report->spread->rank); i++)
		write_figures(report, report->analyses[i], report->results[i]);
	return report;
}

/* With these analyses and one of the caller's, or NULL. */
static struct gt_report *new_report(const struct gt_analysis *const *table, unsigned count,
				    const struct gt_analysis *more)
{
	struct gt_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	memcpy(report->analyses, table, count * sizeof(*table));
	report->analyses[count] = more;
	return report;
}

struct gt_report *gt_report_make(const char *anchor, unsigned threads)
{
	return gt_report_make_picture(anchor, threads, NULL, NULL);
}

struct gt_report *gt_report_make_picture(const char *anchor, unsigned threads,
					 const struct gt_analysis *analysis, struct gt_picture *picture)
{
	struct gt_report *report = new_report(analyses, OURS, analysis);

	if (!report)
		return NULL;
	report->threads = threads;
	report->picture = picture;
	return make(anchor, report);
}

struct gt_report *gt_report_spread(const char *anchor, unsigned threads, struct gt_spread *spread,
				   const char *const *sections)
{
	struct gt_report *report = new_report(analyses, OURS, NULL);

	if (!report)
		return NULL;
	report->threads = threads;
	report->spread = spread;
	report->sections = sections;
	return make(anchor, report);
}

struct gt_report *gt_report_whatif(const char *anchor, struct gt_whatif *whatif, const char *const *sections)
{
	struct gt_report *report = new_report(analyses, OURS, NULL);

	if (!report)
		return NULL;
	report->whatif = whatif;
	report->sections = sections;
	return make(anchor, report);
}

struct gt_report *gt_report_summary(const char *anchor, unsigned threads, const char *const *sections,
				    bool events)
{
	struct gt_report *report =
		events ? new_report(summary_analyses, sizeof(summary_analyses) / sizeof(void *), NULL)
		       : new_report(unread_analyses, sizeof(unread_analyses) / sizeof(void *), NULL);

	if (!report)
		return NULL;
	report->threads = threads;
	report->sections = sections;
	report->unread = !events;
	return make(anchor, report);
}

void gt_report_free(struct gt_report *report)
{
	for (unsigned i = 0; report->analyses[i] && report->results; i++) {
		if (report->results[i] && report->analyses[i]->free)
			report->analyses[i]->free(report->results[i]);
		free(report->results[i]);
	}
	free(report->results);
	free(report->calls);
	gt_figures_free(&report->figures);
	gt_classes_free(&report->classes);
	if (report->read)
		gt_otf2_close(report->read);
	free(report);
}

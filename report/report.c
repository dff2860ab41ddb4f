/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pass that all analyses share.
 *
 * Limits: see report.h.
 */
#include "config.h"

#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* The profile is first (report.h). */
static const struct gt_analysis *const analyses[] = {
	&gt_run_analysis,
	&gt_profile_analysis,
};

enum { COUNT = sizeof(analyses) / sizeof(analyses[0]) };

/* ---- a location ---------------------------------------------------------------------------------- */

static struct gt_report *report_of(const struct gt_otf2_cursor *at)
{
	return at->user;
}

static size_t rounded(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

static size_t state_size(void)
{
	size_t size = 0;

	for (unsigned i = 0; i < COUNT; i++)
		size += rounded(analyses[i]->state_size);
	return size;
}

/* Calls a function of all analyses that have it. */
#define EACH(at, function, ...)                                                              \
	do {                                                                                 \
		struct gt_report *report = report_of(at);                                    \
		char *state = (at)->state;                                                   \
											     \
		for (unsigned i = 0; i < COUNT; state += rounded(analyses[i]->state_size), i++) \
			if (report->results[i] && analyses[i]->function)                     \
				analyses[i]->function(report, at, __VA_ARGS__);              \
	} while (0)

static void begin(struct gt_otf2_cursor *at)
{
	EACH(at, begin, state);
}

static void enter(struct gt_otf2_cursor *at)
{
	EACH(at, enter, state);
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	EACH(at, leave, frame, state);
}

static void event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	EACH(at, event, event, state);
}

static void end(struct gt_otf2_cursor *at, bool whole)
{
	(void)whole;
	EACH(at, end, state);
}

static void merge(struct gt_otf2_cursor *at)
{
	EACH(at, merge, state, report->results[i]);
}

static void fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault what, const char *format,
		  va_list args)
{
	struct gt_report *report = user;

	(void)at;
	__atomic_add_fetch(&report->faults, 1, __ATOMIC_RELAXED);
	if (what != GT_OTF2_FILES)
		return;
	fputs("gputrace: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static bool prepare(struct gt_report *report)
{
	report->results = calloc(COUNT, sizeof(*report->results));
	if (!report->results || gt_classes_make(&report->classes, report->read))
		return false;
	for (unsigned i = 0; i < COUNT; i++)
		if (!analyses[i]->wanted || analyses[i]->wanted(report)) {
			report->results[i] = calloc(1, analyses[i]->result_size + 1);
			if (!report->results[i])
				return false;
		}
	return true;
}

struct gt_report *gt_report_make(const char *anchor, unsigned threads)
{
	struct gt_otf2_visitor visitor = { .state_size = state_size(),
					   .begin = begin,
					   .enter = enter,
					   .leave = leave,
					   .event = event,
					   .end = end,
					   .merge = merge,
					   .fault = fault };
	struct gt_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->threads = threads;
	report->read = gt_otf2_open(anchor, &(struct gt_otf2_options){ &visitor, report, threads });
	if (!report->read || gt_otf2_definitions(report->read) || !prepare(report)) {
		gt_report_free(report);
		return NULL;
	}
	gt_otf2_events(report->read);
	for (unsigned i = 0; i < COUNT; i++)
		if (report->results[i] && analyses[i]->figures)
			analyses[i]->figures(report, report->results[i]);
	return report;
}

void *gt_report_result(const struct gt_report *report, const struct gt_analysis *analysis)
{
	for (unsigned i = 0; i < COUNT; i++)
		if (analyses[i] == analysis)
			return report->results[i];
	return NULL;
}

void gt_report_free(struct gt_report *report)
{
	for (unsigned i = 0; i < COUNT && report->results; i++) {
		if (report->results[i] && analyses[i]->free)
			analyses[i]->free(report->results[i]);
		free(report->results[i]);
	}
	free(report->results);
	gt_figures_free(&report->figures);
	gt_classes_free(&report->classes);
	if (report->read)
		gt_otf2_close(report->read);
	free(report);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what locations did in given spans of time, such as all gaps of a GPU, by their samples.
 *
 * Limits: a sample is where its moment is, with all the time that it stands for; so spans that are shorter
 * than the distance of samples are right together only.
 */
#include "config.h"

#include "report/sections/samples.h"

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/shorten.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

/* By function, and by function and context. */
struct tally {
	struct gt_sums functions, contexts;
	double squares;
};

static void tally_moment(const struct gt_report *report, const struct gt_stack_moment *moment,
			 struct tally *tally)
{
	uint64_t function = gt_samples_ourselves(report) - !moment->ours;

	if (moment->context && !moment->ours)
		function = gt_samples_function(report,
					       gt_otf2_context_at(report->read, moment->context - 1));
	gt_sum_add(gt_sums_at(&tally->functions, function, 0, 0, 0), moment->ns, 0);
	gt_sum_add(gt_sums_at(&tally->contexts, function, moment->context, 0, 0), moment->ns, 0);
	tally->squares += (double)moment->ns * (double)moment->ns;
}

/* Both are in their order. */
static void tally_within(const struct gt_report *report, struct gt_spill *spill, const struct gt_log *moments,
			 const struct gt_spans *spans, struct tally *tally)
{
	struct gt_span_at at = gt_spans_first(spans);
	bool more = gt_spans_next(&at);

	for (uint64_t i = 0; i < moments->count && more; i++, gt_spill_used(spill)) {
		const struct gt_stack_moment *moment = gt_log_at(moments, i);

		while (more && at.end <= moment->time)
			more = gt_spans_next(&at);
		if (more && moment->time >= at.begin)
			tally_moment(report, moment, tally);
	}
}

static const struct gt_sum *most_of(const struct gt_sums *sums, uint64_t function, bool any)
{
	const struct gt_sum *most = NULL;

	for (uint32_t i = 0; i < sums->count; i++)
		if ((any || sums->items[i].key[0] == function) && (!most || sums->items[i].ns > most->ns))
			most = &sums->items[i];
	return most;
}

const char *gt_samples_path(struct gt_report *report, uint64_t function, uint64_t number)
{
	enum { FRAMES = 4, COLUMNS = 40 };
	const struct gt_otf2 *read = report->read;
	const struct gt_otf2_context *context = number ? gt_otf2_context_at(read, number - 1) : NULL;
	const struct gt_otf2_source *source = context ? gt_otf2_find_source(read, context->source) : NULL;
	const char *path = gt_samples_name(report, function), *name = path;
	char text[GT_SHORTEN_MAX];

	if (function == gt_samples_ourselves(report))
		return path;
	for (unsigned i = 1; context && strcmp(name, "main"); i++) {
		context = gt_otf2_caller(read, context);
		if (!context)
			break;
		name = i < FRAMES ? gt_samples_name(report, gt_samples_function(report, context)) : "...";
		path = gt_figures_text(&report->figures, "%s > %s", name, path);
		if (i == FRAMES)
			break;
	}
	path = gt_shorten_path(text, path, COLUMNS);
	return source && source->line
	       ? gt_figures_text(&report->figures, "%s (%s:%u)", path, source->file, source->line)
	       : gt_figures_text(&report->figures, "%s", path);
}

bool gt_samples_meanwhile(struct gt_report *report, const bool *locations, const struct gt_spans *spans,
			  struct gt_meanwhile *found)
{
	struct gt_stack_sums *all = gt_report_result(report, &gt_samples_analysis);
	size_t count = report->read->tables[GT_OTF2_LOCATION].count;
	struct tally tally = { .squares = 0 };
	const struct gt_sum *most;

	*found = (struct gt_meanwhile){ .samples = 0 };
	for (size_t i = 0; all && all->moments && !spans->failed && i < count; i++)
		if (locations[i])
			tally_within(report, &all->spill, &all->moments[i], spans, &tally);
	for (uint32_t i = 0; i < tally.functions.count; i++) {
		found->samples += tally.functions.items[i].count;
		found->ns += tally.functions.items[i].ns;
	}
	most = most_of(&tally.functions, 0, true);
	if (found->samples >= GT_SAMPLES_FEW && found->ns) {
		found->share = (double)most->ns / (double)found->ns;
		found->error = gt_samples_interval(found->share,
						   (double)found->ns * (double)found->ns / tally.squares);
		found->path = gt_samples_path(report, most->key[0],
					      most_of(&tally.contexts, most->key[0], false)->key[1]);
	}
	gt_sums_free(&tally.functions);
	gt_sums_free(&tally.contexts);
	return found->path;
}

#define SOMETHING 0.2 /* the share from which on one function says something */

const char *gt_meanwhile_said(struct gt_report *report, const struct gt_meanwhile *found)
{
	char time[32], samples[32];

	gt_cell_print(time, sizeof(time), (union gt_cell){ .count = found->ns }, GT_SECONDS);
	gt_cell_print(samples, sizeof(samples), (union gt_cell){ .count = found->samples }, GT_COUNT);
	if (found->share < SOMETHING)
		return gt_figures_text(&report->figures,
				       "%s of processor time (%s samples), in no function more than "
				       "%.0f %% of it", time, samples, ceil(100 * found->share));
	return gt_figures_text(&report->figures,
			       "%s of processor time (%s samples), %.0f %% (+- %.0f %%) of it in %s", time,
			       samples, 100 * found->share, ceil(found->error), found->path);
}

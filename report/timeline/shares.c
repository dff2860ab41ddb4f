/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up the shares of a window.
 *
 * Limits: see shares.h.
 */
#include "config.h"

#include "report/timeline/shares.h"

#include "lib/assemble/util/memory.h"

void gt_shares_event(struct gt_sharing *sharing, const struct gt_otf2_cursor *at,
		     const struct gt_otf2_event *event, const struct gt_part *part)
{
	if (!sharing->begun)
		sharing->begin = sharing->time = at->time;
	sharing->begun = true;
	if (event && gt_profile_follows(at, event, &sharing->ended)) {
		sharing->absent += at->time - sharing->time;
		sharing->absent_in += gt_shares_in(part, sharing->time, at->time);
	}
	sharing->time = at->time;
}

static uint64_t clipped(const struct gt_part *part, uint64_t time)
{
	return time < part->from ? part->from : time < part->to ? time : part->to;
}

static struct gt_profile_location *whole_of(struct gt_shares *shares, const struct gt_report *report,
					    const struct gt_sharing *sharing, size_t index)
{
	struct gt_profile_location *of;

	if (!shares->profile.locations)
		shares->profile.locations = gt_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1,
						      sizeof(*shares->profile.locations));
	of = &shares->profile.locations[index];
	of->begin = sharing->begin;
	of->end = sharing->time;
	of->absent = sharing->absent;
	for (unsigned class = 0; class < GT_CLASSES; class++) {
		of->classes[class] = sharing->classes[class];
		of->times[gt_class_times[class]] += sharing->classes[class];
	}
	return of;
}

static void add_thread(const struct gt_sharing *sharing, struct gt_grid *grid)
{
	struct gt_profile_location in = { .begin = clipped(&grid->part, sharing->begin),
					  .end = clipped(&grid->part, sharing->time),
					  .absent = sharing->absent_in };

	for (unsigned class = 0; class < GT_CLASSES; class++)
		if (gt_class_times[class] != GT_TIME_ON_GPU)
			grid->counted[class] += sharing->classes_in[class];
	grid->lives += gt_profile_counted(&in);
}

static void add_stream(struct gt_shares *shares, const struct gt_report *report,
		       const struct gt_sharing *sharing, size_t index, struct gt_grid *grid)
{
	uint32_t device = report->classes.locations[index].device;

	for (unsigned class = 0; class < GT_CLASSES; class++)
		if (gt_class_times[class] == GT_TIME_ON_GPU)
			grid->counted[class] += sharing->classes_in[class];
	if (!shares->devices)
		shares->devices = gt_zeroed(report->classes.device_count + 1, sizeof(*shares->devices));
	if (device != GT_NO_DEVICE)
		shares->devices[device] = true;
}

void gt_shares_add(struct gt_shares *shares, struct gt_report *report, struct gt_sharing *sharing,
		   const struct gt_otf2_cursor *at, struct gt_grid *grid)
{
	struct gt_location_class *class = &report->classes.locations[at->index];
	const struct gt_profile_location *whole = whole_of(shares, report, sharing, at->index);

	gt_conditions_merge(&shares->conditions, report, at, &sharing->waits);
	if (at->time > shares->last)
		shares->last = at->time;
	if (!gt_part_has(&grid->part, at->index))
		return;
	if (gt_profile_serves(report, whole, at->index))
		class->kind = GT_LOCATION_SERVICE;
	if (class->kind == GT_LOCATION_STREAM)
		add_stream(shares, report, sharing, at->index, grid);
	else if (gt_profile_counts(report, &shares->profile, at->index))
		add_thread(sharing, grid);
}

static void take(uint64_t *from, uint64_t part)
{
	*from -= part < *from ? part : *from;
}

/* Waits for work are no part of the whole. */
static void take_idle(struct gt_shares *shares, const struct gt_report *report, struct gt_grid *grid)
{
	struct gt_conditions *conditions = &shares->conditions;

	gt_conditions_judge(conditions, report);
	for (uint32_t i = 0; i < conditions->waits.count; i++) {
		const struct gt_sum *wait = &conditions->waits.items[i];

		if (!gt_part_has(&grid->part, wait->key[0]) ||
		    !gt_conditions_idle(conditions, report, wait->key[0], wait->key[1]) ||
		    !gt_profile_counts(report, &shares->profile, wait->key[0]))
			continue;
		take(&grid->counted[GT_CLASS_CONDITION], wait->bytes);
		take(&grid->lives, wait->bytes);
	}
}

void gt_shares_finish(struct gt_shares *shares, const struct gt_report *report, struct gt_grid *grid)
{
	uint64_t length = gt_shares_in(&grid->part, 0, shares->last);

	take_idle(shares, report, grid);
	for (uint32_t i = 0; shares->devices && i < report->classes.device_count; i++)
		grid->of_gpus += shares->devices[i] ? length : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a location spent its time with: the difference that it made to its worker's profile.
 */
#include "config.h"

#include "lib/assemble/archive/use.h"

#include "lib/assemble/archive/int.h"
#include "lib/assemble/assemblers.h"
#include "lib/assemble/archive/conversion.h"

#include <stdlib.h>
#include <string.h>

#define IDLE_PERCENT 95

void gt_use_begin(struct gt_worker *w)
{
	if (w->before_room < w->profile_room) {
		struct gt_profile *before = realloc(w->before, w->profile_room * sizeof(*before));

		if (!before) {
			gt_archive_fail(w->conv->archive, "no memory");
			return;
		}
		w->before = before;
		w->before_room = w->profile_room;
	}
	memcpy(w->before, w->profile, w->profile_room * sizeof(*w->before));
	w->before_used = w->profile_room;
}

static struct gt_profile since(const struct gt_worker *w, size_t region)
{
	struct gt_profile d = w->profile[region];

	if (region < w->before_used) {
		d.calls -= w->before[region].calls;
		d.inclusive -= w->before[region].inclusive;
		d.exclusive -= w->before[region].exclusive;
	}
	return d;
}

/* The thread is reported in one line; its waits are not among the program's. */
static void set_aside(struct gt_worker *w, const struct gt_use *use)
{
	for (size_t i = 0; i < w->profile_room; i++) {
		struct gt_profile d = since(w, i);

		w->profile[i].calls -= d.calls;
		w->profile[i].inclusive -= d.inclusive;
		w->profile[i].exclusive -= d.exclusive;
	}
	w->tally.idle_threads++;
	w->tally.idle_ns += use->wait;
}

void gt_use_end(struct gt_worker *w, struct gt_out_location *out, uint64_t span)
{
	struct gt_defs *defs = w->conv->defs;
	struct gt_use use = { .span = span };
	uint64_t others = 0;

	pthread_mutex_lock(&defs->lock);
	for (size_t i = 0; i < w->profile_room; i++) {
		const struct gt_region *region = (const struct gt_region *)defs->regions.items + i;
		struct gt_profile d = since(w, i);
		const struct gt_paradigm *paradigm;

		if (!d.calls)
			continue;
		paradigm = gt_assembler_paradigm(region->paradigm);
		if (paradigm && paradigm->time == GT_TIME_WAIT) {
			use.wait += d.exclusive;
			continue;
		}
		others += region->paradigm != OTF2_PARADIGM_MEASUREMENT_SYSTEM;
		if (!paradigm || paradigm->time != GT_TIME_COMMUNICATION)
			continue;
		use.communicates = true;
		if (paradigm->is_setup && paradigm->is_setup(gt_intern_text(&defs->strings, region->name, NULL)))
			use.start += d.exclusive;
		else
			use.comm += d.exclusive;
	}
	pthread_mutex_unlock(&defs->lock);
	use.idle = out->thread && !out->first && !others && use.wait &&
		   use.wait >= span / 100 * IDLE_PERCENT;
	if (use.idle)
		set_aside(w, &use);
	out->use = use;
}

/* ---- ranks --------------------------------------------------------------------------------------- */

/* The threads of a rank that communicated, together. */
static struct gt_use of_group(const struct gt_layout *layout, uint32_t group, uint32_t *from)
{
	struct gt_use sum = { 0 };

	for (; *from < layout->location_count && layout->locations[*from].group == group; ++*from) {
		const struct gt_use *use = &layout->locations[*from].use;

		if (!use->communicates)
			continue;
		sum.communicates = true;
		sum.span += use->span;
		sum.comm += use->comm;
		sum.start += use->start;
		sum.wait += use->wait;
	}
	return sum;
}

static void add(struct gt_balance *b, uint32_t rank, double in_comm, uint64_t work)
{
	if (!b->ranks || in_comm < b->least.in_comm)
		b->least = (struct gt_balance_of){ rank, in_comm };
	if (!b->ranks || in_comm > b->most.in_comm)
		b->most = (struct gt_balance_of){ rank, in_comm };
	if (!b->ranks || work > b->most_ns) {
		b->most_ns = work;
		b->most_rank = rank;
	}
	b->ranks++;
}

struct gt_balance gt_use_balance(const struct gt_layout *layout)
{
	struct gt_balance b = { 0 };
	uint64_t comm = 0, all = 0, work = 0;

	for (uint32_t i = 0; i < layout->location_count;) {
		uint32_t group = layout->locations[i].group;
		struct gt_use use = of_group(layout, group, &i);
		uint64_t rest = use.span > use.start ? use.span - use.start : 0;
		uint64_t busy = use.comm + use.wait < rest ? rest - use.comm - use.wait : 0;

		if (!use.communicates || group >= layout->group_count || !layout->groups[group].job || !rest)
			continue;
		comm += use.comm;
		all += rest;
		work += busy;
		add(&b, layout->groups[group].rank, (double)use.comm / (double)rest, busy);
	}
	if (b.ranks) {
		b.in_comm = (double)comm / (double)all;
		b.mean_ns = work / b.ranks;
	}
	return b;
}

/* ---- all together -------------------------------------------------------------------------------- */

void gt_tally_add(struct gt_tally *tally, const struct gt_tally *more)
{
	tally->events += more->events;
	tally->closed_frames += more->closed_frames;
	tally->dropped_leaves += more->dropped_leaves;
	tally->clamped_times += more->clamped_times;
	tally->unknown_records += more->unknown_records;
	tally->unmatched += more->unmatched;
	tally->off_at_end += more->off_at_end;
	tally->messages += more->messages;
	tally->message_bytes += more->message_bytes;
	tally->collectives += more->collectives;
	tally->flushes += more->flushes;
	tally->flush_ns += more->flush_ns;
	tally->idle_threads += more->idle_threads;
	tally->idle_ns += more->idle_ns;
	if (more->longest_flush_ns > tally->longest_flush_ns)
		tally->longest_flush_ns = more->longest_flush_ns;
	if (more->last_ns > tally->last_ns)
		tally->last_ns = more->last_ns;
}

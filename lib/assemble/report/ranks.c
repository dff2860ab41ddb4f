/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that make a run, and its ranks, compared: from what each location spent its time with.
 *
 * Limits: see brief.h.
 */
#include "config.h"

#include "lib/assemble/report/brief.h"

#include "lib/assemble/archive/use.h"

#include <stdio.h>

/* The threads of a rank that communicated, together; `first`: the one that it began with. */
static struct gt_use of_group(const struct gt_layout *layout, uint32_t group, uint32_t *from,
			      struct gt_use *first)
{
	struct gt_use sum = { 0 };

	for (; *from < layout->location_count && layout->locations[*from].group == group; ++*from) {
		const struct gt_use *use = &layout->locations[*from].use;

		if (layout->locations[*from].first)
			*first = *use;
		if (!use->communicates)
			continue;
		sum.communicates = true;
		sum.life += use->life;
		sum.comm += use->comm;
		sum.start += use->start;
		sum.poll += use->poll;
	}
	return sum;
}

static void add(struct gt_balance *b, uint32_t rank, double in_comm, uint64_t outside)
{
	if (!b->ranks || in_comm < b->least.in_comm)
		b->least = (struct gt_balance_of){ rank, in_comm };
	if (!b->ranks || in_comm > b->most.in_comm)
		b->most = (struct gt_balance_of){ rank, in_comm };
	if (!b->ranks || outside > b->most_ns) {
		b->most_ns = outside;
		b->most_rank = rank;
	}
	b->ranks++;
}

struct gt_balance gt_balance_of(const struct gt_layout *layout)
{
	struct gt_balance b = { 0 };
	uint64_t comm = 0, all = 0, work = 0;

	for (uint32_t i = 0; i < layout->location_count;) {
		uint32_t group = layout->locations[i].group;
		struct gt_use first = { 0 }, use = of_group(layout, group, &i, &first);
		uint64_t rest = use.life > use.start ? use.life - use.start : 0;
		uint64_t aside = first.start + first.measurement;
		uint64_t life = first.life > aside ? first.life - aside : 0;
		uint64_t outside = life > first.comm ? life - first.comm : 0;

		if (!use.communicates || group >= layout->group_count || !layout->groups[group].job || !rest)
			continue;
		comm += use.comm;
		all += rest;
		work += outside;
		b.polling_ns += use.poll;
		b.longest_ns = life > b.longest_ns ? life : b.longest_ns;
		add(&b, layout->groups[group].rank, (double)use.comm / (double)rest, outside);
	}
	if (b.ranks) {
		b.in_comm = (double)comm / (double)all;
		b.mean_ns = work / b.ranks;
	}
	return b;
}

bool gt_has_ranks(const struct gt_layout *layout)
{
	for (uint32_t i = 0; i < layout->group_count; i++)
		if (layout->groups[i].job)
			return true;
	return false;
}

uint64_t gt_threads_ns(const struct gt_layout *layout, uint64_t *unseen_ns)
{
	bool ranks = gt_has_ranks(layout);
	uint64_t sum = 0;

	*unseen_ns = 0;
	for (uint32_t i = 0; i < layout->location_count; i++) {
		const struct gt_use *use = &layout->locations[i].use;

		if (use->idle || (ranks && use->aside))
			continue;
		sum += use->life - use->idle_ns;
		*unseen_ns += gt_use_unseen(use);
	}
	return sum;
}

uint64_t gt_made_ns(const struct gt_layout *layout)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < layout->location_count; i++)
		sum += layout->locations[i].thread && !layout->locations[i].first
			       ? layout->locations[i].use.life : 0;
	return sum;
}

void gt_longest_flush(struct gt_summary *summary, const struct gt_layout *layout, const struct gt_defs *defs)
{
	const struct gt_out_location *most = NULL;
	const struct gt_out_group *group;

	for (uint32_t i = 0; i < layout->location_count; i++)
		if (layout->locations[i].use.flush > summary->location_flush_ns) {
			most = &layout->locations[i];
			summary->location_flush_ns = most->use.flush;
		}
	if (!most || most->group >= layout->group_count)
		return;
	group = &layout->groups[most->group];
	if (group->job && most->first)
		snprintf(summary->flushed, sizeof(summary->flushed), "rank %u", group->rank);
	else
		gt_summary_escape(summary->flushed, sizeof(summary->flushed),
				  gt_intern_text(&defs->strings, most->name, NULL), 40);
}

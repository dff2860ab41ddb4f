/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds ranks that work one after another.
 *
 * Limits: those of solo.h. Which of their work could be done at the same time is not known.
 */
#include "config.h"

#include "report/findings/findings.h"
#include "report/sections/solo.h"
#include "report/sections/states.h"

#include <stdlib.h>

enum { RANKS_SHARE = 4 }; /* one rank has at most all but that part of the time */

/* What ranks do while no other one works. */
struct turns {
	uint64_t sum, most, ranks;
	bool about; /* not all that looks like work is */
	const struct gt_solo *top;
};

/* Without the time in which it waited for a processor, as much of it as of the rest of its life. */
static uint64_t with_processor(const struct gt_report *report, const struct gt_solo *solo)
{
	struct gt_thread_states states;

	if (!gt_states_of(report, solo->location, &states) || !states.life)
		return solo->ns;
	return (uint64_t)((double)solo->ns * (1 - (double)states.ready / (double)states.life));
}

static struct turns find_turns(const struct gt_report *report, const struct gt_solos *solos)
{
	struct turns turns = { .top = NULL };

	for (size_t i = 0; i < solos->count; i++) {
		uint64_t ns = with_processor(report, &solos->items[i]);

		turns.sum += ns;
		turns.ranks += ns != 0;
		turns.about |= ns < solos->items[i].ns / 20 * 19;
		if (ns <= turns.most)
			continue;
		turns.most = ns;
		turns.top = &solos->items[i];
	}
	return turns;
}

static void say(struct gt_report *report, const struct turns *turns)
{
	const struct gt_finding finding = {
		.id = GT_FINDING_SERIALISED_RANKS,
		.gain = turns->sum - turns->most,
		.location = gt_report_location(report, turns->top->location),
		.time = turns->top->begin,
		.length = turns->top->longest,
		.advice = "let the ranks work at the same time; a file can be written by all at once "
			  "(MPI_File_write_at_all), or each can have its own",
	};

	gt_finding_add(report, &finding,
		       "Only one rank works at a time for %s%s, %.0f %% of the run, while the others are in "
		       "calls of MPI: %s ranks do so in turn, each for at most %s in all",
		       turns->about ? "about " : "", gt_said(report, turns->sum, GT_SECONDS),
		       100 * (double)turns->sum / (double)report->duration,
		       gt_said(report, turns->ranks, GT_COUNT), gt_said(report, turns->most, GT_SECONDS));
}

bool gt_findings_serialised(struct gt_report *report)
{
	struct gt_solos solos = gt_solos_of(report);
	struct turns turns = find_turns(report, &solos);
	bool found = turns.top && turns.sum - turns.most >= turns.sum / RANKS_SHARE &&
		     gt_at_least(turns.sum, gt_threshold(GT_FINDING_SERIALISED_RANKS), report->duration);

	if (found)
		say(report, &turns);
	free(solos.items);
	return found;
}

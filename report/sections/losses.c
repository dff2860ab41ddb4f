/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Losses: what the trace does not have, by cause, and what the measurement itself took.
 *
 * Limits: causes are known of archives by gputrace only, which have them as properties. A flush is a region
 * of the measurement, or OTF2's BufferFlush. Of a killed process the archive has all up to its last event:
 * that is no loss, but has a column.
 */
#include "config.h"

#include "report/sections/lacking.h"
#include "report/sections/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct losses {
	uint64_t flushes, flush_ns; /* records BufferFlush */
};

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct losses *state = memory;

	(void)report;
	if (event->type != GT_OTF2_BufferFlush)
		return;
	state->flushes++;
	if (event->BufferFlush.stop > at->ticks)
		state->flush_ns += gt_otf2_ns(at->read, event->BufferFlush.stop) -
				   gt_otf2_ns(at->read, at->ticks);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	(void)report;
	gt_carry_bytes(carry, memory, sizeof(struct losses));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct losses *state = memory, *all = result;

	(void)report, (void)at;
	all->flushes += state->flushes;
	all->flush_ns += state->flush_ns;
}

enum { COMPLETE, LOST, LEFT_OUT, UNMATCHED, KILLED, UNTRACED, FAULTS, DAMAGED, FLUSHES, FLUSH_TIME };
static const struct gt_column columns[] = {
	{ "complete", "complete", GT_TEXT },
	{ "events", "events lost", GT_COUNT },
	{ "events_left_out", "left out on request", GT_COUNT },
	{ "unmatched_messages", "messages with one end", GT_COUNT },
	{ "processes_killed", "processes killed", GT_COUNT },
	{ "programs_untraced", "programs not traced", GT_COUNT },
	{ "faults", "broken rules of OTF2", GT_COUNT },
	{ "damaged", "locations damaged", GT_COUNT },
	{ "flushes", "buffer flushes", GT_COUNT },
	{ "flush_s", "time in flushes", GT_SECONDS },
};
static const struct gt_section_kind losses_kind = GT_SECTION("losses", "Losses", GT_OBJECT, columns);

static const struct gt_column cause_columns[] = {
	{ "events", "events", GT_COUNT },
	{ "cause", "cause", GT_TEXT },
	{ "reason", "because", GT_TEXT },
};
static const struct gt_section_kind causes_kind =
	GT_SECTION("losses.causes", "Losses by cause", GT_ROWS, cause_columns);

static const struct gt_column shortfall_columns[] = {
	{ "count", "", GT_COUNT },
	{ "text", NULL, GT_TEXT },
	{ "property", NULL, GT_WORD },
	{ NULL, "", GT_TEXT }, /* what follows the number */
};
static const struct gt_section_kind shortfalls_kind =
	GT_SECTION("losses.shortfalls", "Missing or failed", GT_NOTES, shortfall_columns);

static const char *property(const struct gt_report *report, const char *name)
{
	const struct gt_otf2_property *p = gt_otf2_find_owned(report->read, GT_OTF2_KINDS, GT_OTF2_NOTHING,
							      name);

	return p && p->text ? p->text : NULL;
}

static void count_property(const struct gt_report *report, const char *name, union gt_cell *cell)
{
	const char *text = property(report, name);

	if (text)
		cell->count = strtoull(text, NULL, 10);
}

static void add_to(union gt_cell *cell, uint64_t count)
{
	cell->count = (cell->count == GT_NO_COUNT ? 0 : cell->count) + count;
}

static void causes(struct gt_report *report, union gt_cell *row)
{
	static const char prefix[] = GT_PROPERTY GT_LOST;
	struct gt_section *section = gt_section_add(&report->figures, &causes_kind);

	for (size_t i = 0; i < report->read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(report->read, i);
		const char *cause = p->name + sizeof(prefix) - 1;
		union gt_cell *at;
		uint64_t count;

		if (p->kind != GT_OTF2_KINDS || strncmp(p->name, prefix, sizeof(prefix) - 1) || !p->text)
			continue;
		count = strtoull(p->text, NULL, 10);
		add_to(&row[gt_loss_real(gt_loss_cause(cause)) ? LOST : LEFT_OUT], count);
		if (!count)
			continue;
		at = gt_row_add(section);
		at[0].count = count;
		at[1].text = cause;
		at[2].text = gt_loss_reason(gt_loss_cause(cause));
	}
	gt_rows_sort(section, 0);
}

/* True: the archive has not all that was to be recorded. */
static bool shortfalls(struct gt_report *report, union gt_cell *row)
{
	struct gt_section *section = gt_section_add(&report->figures, &shortfalls_kind);
	const struct gt_shortfall *what;
	bool missing = false;
	char text[640];

	for (size_t i = 0; (what = gt_shortfall_at(i)); i++) {
		struct gt_lacking one = gt_lacking_of(report->read, what);
		union gt_cell *at;

		if (!one.any)
			continue;
		at = gt_row_add(section);
		if (what->many)
			at[0].count = one.sum;
		at[1].text = gt_figures_text(&report->figures, "%s",
					     gt_shortfall_text(what, one.sum, one.words, text, sizeof(text)));
		at[2].text = what->property;
		at[3].text = at[1].text + (what->many ? strspn(at[1].text, "0123456789 ") : 0);
		missing |= what->kind == GT_MISSING;
		if (!strcmp(what->property, "UNKNOWN_RECORDS"))
			add_to(&row[LOST], one.sum);
	}
	return missing;
}

static bool some(union gt_cell count)
{
	return count.count && count.count != GT_NO_COUNT;
}

/* What the events tell. */
static void seen(const struct gt_report *report, const struct losses *all, union gt_cell *row)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);

	row[FAULTS].count = report->faults;
	row[DAMAGED].count = report->damaged;
	row[FLUSHES].count = all->flushes;
	row[FLUSH_TIME].count = all->flush_ns;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++)
		if (report->classes.regions[i] == GT_CLASS_MEASUREMENT &&
		    strstr(gt_report_region_name(report, i), "FLUSH")) {
			row[FLUSHES].count += profile->regions[i].calls;
			row[FLUSH_TIME].count += profile->regions[i].exclusive;
		}
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &losses_kind);
	union gt_cell *row = gt_row_add(section);
	bool missing;

	row[COMPLETE].text = property(report, GT_PROPERTY "COMPLETE");
	count_property(report, GT_PROPERTY "UNMATCHED_MESSAGES", &row[UNMATCHED]);
	count_property(report, GT_PROPERTY "PROCESSES_KILLED", &row[KILLED]);
	count_property(report, GT_PROPERTY "PROGRAMS_UNTRACED", &row[UNTRACED]);
	if (!report->unread)
		seen(report, result, row);
	causes(report, row);
	missing = shortfalls(report, row);
	if (missing || report->faults || report->damaged || some(row[LOST]))
		row[COMPLETE].text = "no";
}

bool gt_report_lacks(const struct gt_report *report)
{
	const union gt_cell *row = gt_section_find(&report->figures, losses_kind.key)->cells;

	for (unsigned i = LOST; i <= DAMAGED; i++)
		if (some(row[i]))
			return true;
	if (gt_section_find(&report->figures, shortfalls_kind.key)->rows)
		return true;
	return row[COMPLETE].text && strcmp(row[COMPLETE].text, "yes") != 0;
}

const struct gt_analysis gt_losses_analysis = {
	.name = "losses", .state_size = sizeof(struct losses), .result_size = sizeof(struct losses),
	.event = event, .carry = carry, .merge = merge, .figures = figures,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports how long each thread ran, was ready to run and waited for a processor, or was blocked, from the
 * sums that gputrace records for each thread (doc/adr/0026).
 *
 * Limits: known of archives by gputrace, and of threads; of the whole run also in a part of an archive.
 */
#include "config.h"

#include "report/sections/states.h"

#include <stdlib.h>

static const struct gt_column columns[] = {
	{ "location", "thread", GT_TEXT },
	{ "lifetime_s", "lifetime", GT_SECONDS },
	{ "running_s", "running", GT_SECONDS },
	{ "ready_s", "ready", GT_SECONDS },
	{ "blocked_s", "blocked", GT_SECONDS },
	{ "unknown_s", "unknown", GT_SECONDS },
	{ "throttled_s", NULL, GT_SECONDS },
	{ "switches", "switches", GT_COUNT },
	{ "migrations", "migrations", GT_COUNT },
};
enum { BRIEF = 20 }; /* in summary.json */
static const struct gt_section_kind states_kind =
	GT_SECTION("thread_states", "Thread states", GT_ROWS, columns,
		   .spare = "migrations,switches,unknown_s", .brief = BRIEF);
enum { LIFETIME = 1, RUNNING, READY, BLOCKED, UNKNOWN, COLUMNS = 9 };

/* The properties of the columns that have one. */
static const char *const names[] = {
	NULL, "GPUTRACE::LIFETIME_NS", "GPUTRACE::RUNNING_NS", "GPUTRACE::READY_NS", "GPUTRACE::BLOCKED_NS",
	"GPUTRACE::UNKNOWN_NS", "GPUTRACE::THROTTLED_NS", "GPUTRACE::SWITCHES",
	"GPUTRACE::MIGRATIONS",
};

static void take(const struct gt_report *report, size_t location, unsigned column, union gt_cell *row)
{
	uint64_t id = gt_otf2_location_at(report->read, location)->id;
	const struct gt_otf2_property *p =
		names[column] ? gt_otf2_find_owned(report->read, GT_OTF2_LOCATION, id, names[column]) : NULL;

	if (p)
		row[column].count = strtoull(p->text, NULL, 10);
}

bool gt_states_of(const struct gt_report *report, size_t location, struct gt_thread_states *states)
{
	union gt_cell row[COLUMNS];
	uint64_t life;

	*states = (struct gt_thread_states){ .life = 0 };
	for (unsigned column = 0; column < COLUMNS; column++)
		row[column].count = GT_NO_COUNT;
	for (unsigned column = LIFETIME; column <= UNKNOWN; column++)
		take(report, location, column, row);
	life = row[LIFETIME].count;
	if (life == GT_NO_COUNT || row[RUNNING].count > 2 * life || row[READY].count > 2 * life ||
	    row[BLOCKED].count > 2 * life || row[UNKNOWN].count > life / 10)
		return false;
	*states = (struct gt_thread_states){ life, row[RUNNING].count, row[READY].count, row[BLOCKED].count,
				      row[UNKNOWN].count };
	return true;
}

uint64_t gt_states_able(const struct gt_report *report, size_t location, uint64_t *blocked)
{
	struct gt_thread_states states;
	bool known = gt_states_of(report, location, &states);

	*blocked = states.blocked;
	return known ? states.running + states.ready + states.unknown : GT_NO_COUNT;
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &states_kind);

	(void)result;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		union gt_cell lifetime[LIFETIME + 1] = { [LIFETIME] = { .count = GT_NO_COUNT } }, *row;

		take(report, i, LIFETIME, lifetime);
		if (lifetime[LIFETIME].count == GT_NO_COUNT)
			continue;
		row = gt_row_add(section);
		row[0].text = gt_report_location(report, i);
		for (unsigned column = LIFETIME; column < COLUMNS; column++)
			take(report, i, column, row);
	}
}

static const struct gt_section_kind *const sections[] = { &states_kind, NULL };
const struct gt_analysis gt_states_analysis = { .name = "states", .figures = figures, .sections = sections };

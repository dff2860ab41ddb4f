/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who waits at pipes, pairs of sockets and eventfds for others that are late.
 *
 * Limits: as those of late writer and late reader in gputrace-waits(7). Not in a summary, which looks for no
 * waits.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the section "waits". */
enum { CLASS, TIME, COUNT, LONGEST, LOCATION, REGION, PATH, FOR, CAUSE };

/* Of one location. */
struct peer {
	const char *name;
	uint64_t ns, count;
	const union gt_cell *longest; /* its row */
};

static bool is_late(const char *class)
{
	return !strcmp(class, "late writer") || !strcmp(class, "late reader");
}

static int by_location(const void *a, const void *b)
{
	const union gt_cell *x = *(const union gt_cell *const *)a, *y = *(const union gt_cell *const *)b;

	return strcmp(x[LOCATION].text, y[LOCATION].text);
}

/* Rows of such waits, those of a location side by side. */
static const union gt_cell **rows_of(const struct gt_section *waits, size_t *count)
{
	const union gt_cell **rows = gt_resized(NULL, waits->rows + 1, sizeof(*rows));

	*count = 0;
	for (size_t i = 0; i < waits->rows; i++) {
		const union gt_cell *row = waits->cells + i * waits->kind->column_count;

		if (is_late(row[CLASS].text))
			rows[(*count)++] = row;
	}
	if (*count)
		qsort(rows, *count, sizeof(*rows), by_location);
	return rows;
}

static size_t location_named(struct gt_report *report, const char *name)
{
	size_t count = report->read->tables[GT_OTF2_LOCATION].count, i = 0;

	while (i < count && strcmp(gt_report_location(report, i), name))
		i++;
	return i;
}

/* The first thread of the process that began first, launchers of ranks left out: the run is as long as it. */
static uint32_t first_location(const struct gt_report *report)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint32_t first = GT_NO_DEVICE;

	for (uint32_t i = 0; i < report->classes.process_count; i++) {
		const struct gt_process_class *process = &report->classes.processes[i];

		if (process->main == GT_NO_DEVICE || process->launcher)
			continue;
		if (first == GT_NO_DEVICE ||
		    profile->locations[process->main].begin < profile->locations[first].begin)
			first = process->main;
	}
	return first;
}

/* Does it wait so long, and not to serve others? */
static bool is_kept(struct gt_report *report, const struct peer *peer, uint32_t first)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	size_t location;

	if (!gt_at_least(peer->ns, gt_threshold(GT_FINDING_LATE_PEER), report->duration))
		return false;
	location = location_named(report, peer->name);
	if (location == report->read->tables[GT_OTF2_LOCATION].count ||
	    report->classes.processes[report->classes.locations[location].process].launcher)
		return false;
	return location == first || !gt_serves(peer->ns, gt_profile_life(&profile->locations[location]));
}

/* "; the longest time for worker [12], which is in main > pack then" */
static const char *said_for(struct gt_report *report, const union gt_cell *row)
{
	if (!row[FOR].text)
		return "";
	if (!row[CAUSE].text)
		return gt_figures_text(&report->figures, "; the longest time for %s", row[FOR].text);
	return gt_figures_text(&report->figures, "; the longest time for %s, which is in %s then",
			       row[FOR].text, row[CAUSE].text);
}

static void say(struct gt_report *report, const struct peer *peer, uint64_t others)
{
	bool reads = !strcmp(peer->longest[CLASS].text, "late writer");
	const struct gt_finding finding = {
		.id = GT_FINDING_LATE_PEER,
		.gain = peer->ns,
		.location = peer->name,
		.where = peer->longest[PATH].text ? peer->longest[PATH].text : peer->longest[REGION].text,
		.time = GT_NO_COUNT,
		.advice = "make what the other one does then quicker, have it begin earlier, or do something "
			  "else until it is done",
	};
	const char *more = "";

	if (others)
		more = gt_figures_text(&report->figures, "; so %s %s more", others == 1 ? "does" : "do",
				       gt_said(report, others, GT_COUNT));
	gt_finding_add(report, &finding,
		       "%s waits %s %s for %s pipes and the like, together %s, %.0f %% of the run%s%s",
		       peer->name, gt_said(report, peer->count, GT_COUNT),
		       peer->count == 1 ? "time" : "times",
		       reads ? "data of others from" : "others to read what it writes into",
		       gt_said(report, peer->ns, GT_SECONDS),
		       100 * (double)peer->ns / (double)report->duration, said_for(report, peer->longest),
		       more);
}

void gt_findings_peers(struct gt_report *report)
{
	const struct gt_section *waits = gt_section_find(&report->figures, "waits");
	struct peer top = { .ns = 0 };
	const union gt_cell **rows;
	uint64_t kept = 0;
	size_t count;
	uint32_t first;

	if (!waits || !waits->rows)
		return;
	rows = rows_of(waits, &count);
	first = first_location(report);
	for (size_t i = 0; i < count;) {
		struct peer one = { .name = rows[i][LOCATION].text, .longest = rows[i] };

		for (; i < count && !strcmp(rows[i][LOCATION].text, one.name); i++) {
			one.ns += rows[i][TIME].count;
			one.count += rows[i][COUNT].count;
			if (rows[i][LONGEST].count > one.longest[LONGEST].count)
				one.longest = rows[i];
		}
		if (!is_kept(report, &one, first))
			continue;
		kept++;
		top = one.ns > top.ns ? one : top;
	}
	if (kept)
		say(report, &top, kept - 1);
	free(rows);
}

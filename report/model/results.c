/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves the analyses of a report: states and results of other analyses, and the names of locations,
 * processes and regions in figures.
 *
 * Limits: see report.h.
 */
#include "config.h"

#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gt_report_shows(const struct gt_report *report, const char *key)
{
	for (const char *const *of = report->sections; of && *of; of++)
		if (!strcmp(*of, key))
			return true;
	return !report->sections;
}

const char *gt_report_process(struct gt_report *report, uint32_t process)
{
	const struct gt_process_class *of = &report->classes.processes[process];

	if (process >= report->classes.process_count)
		return "?";
	return of->rank == GT_NO_RANK ? of->group->name
				      : gt_figures_text(&report->figures, "rank %u", of->rank);
}

double gt_report_property(const struct gt_report *report, const char *name)
{
	const struct gt_otf2_property *p = gt_otf2_find_owned(report->read, GT_OTF2_KINDS, GT_OTF2_NOTHING,
							      name);

	return p && p->text ? strtod(p->text, NULL) : NAN;
}

const char *gt_report_location(struct gt_report *report, size_t index)
{
	const struct gt_otf2_location *location = gt_otf2_location_at(report->read, index);
	const struct gt_location_class *class = &report->classes.locations[index];
	const struct gt_process_class *process = &report->classes.processes[class->process];
	bool rank = class->process < report->classes.process_count && process->rank != GT_NO_RANK;

	if (rank && class->kind == GT_LOCATION_MAIN)
		return gt_report_process(report, class->process);
	if (report->classes.process_count < 2 || (!rank && report->classes.live < 2))
		return location->name;
	return gt_figures_text(&report->figures, "%s, %s", gt_report_process(report, class->process),
			       location->name);
}

uint32_t gt_report_region(const struct gt_report *report, const struct gt_otf2_region *region)
{
	const struct gt_otf2_region *first = gt_otf2_region_at(report->read, 0);
	size_t count = report->read->tables[GT_OTF2_REGION].count;

	return region >= first && region < first + count ? report->classes.same[region - first]
							 : (uint32_t)count;
}

const char *gt_report_region_name(const struct gt_report *report, uint64_t region)
{
	return region < report->read->tables[GT_OTF2_REGION].count
	       ? gt_otf2_region_at(report->read, region)->name : "?";
}

void *gt_report_state(const struct gt_report *report, const struct gt_otf2_cursor *at,
		      const struct gt_analysis *analysis)
{
	const struct gt_analysis *const *of = report->analyses;

	for (size_t state = 0; *of; state += gt_state_room(*of++))
		if (*of == analysis)
			return (char *)at->state + state;
	return NULL;
}

void *gt_report_result(const struct gt_report *report, const struct gt_analysis *analysis)
{
	for (size_t i = 0; report->analyses[i]; i++)
		if (report->analyses[i] == analysis)
			return report->results[i];
	return NULL;
}

const char *gt_said(struct gt_report *report, uint64_t value, enum gt_unit unit)
{
	char text[64];

	return gt_figures_text(&report->figures, "%s",
			       gt_cell_print(text, sizeof(text), (union gt_cell){ .count = value }, unit));
}

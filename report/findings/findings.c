/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thresholds, the section of findings, and what rules need. The rules are above.
 *
 * Limits: see findings.h.
 */
#include "config.h"

#include "report/findings/findings.h"

#include "lib/assemble/util/shorten.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ROW(NAME, id, least, text) { id, least, text },
static struct {
	const char *id;
	double value;
	const char *text;
} thresholds[GT_FINDINGS] = { GT_FINDING_LIST(ROW) };
#undef ROW

enum { GAIN, ID, SENTENCE, LOCATION, WHERE, TIME, UNTIL, ADVICE, IN, AT, ON, TRY };

static const struct gt_column columns[] = {
	{ "seconds", "gain", GT_SECONDS },
	{ "id", "", GT_TEXT },
	{ "text", "", GT_TEXT },
	{ "location", NULL, GT_TEXT },
	{ "where", NULL, GT_TEXT },
	{ "time_s", NULL, GT_SECONDS },
	{ "until_s", NULL, GT_SECONDS },
	{ "advice", NULL, GT_TEXT },
	{ NULL, "in", GT_TEXT },
	{ NULL, "at", GT_TEXT },
	{ NULL, "on", GT_TEXT },
	{ NULL, "try", GT_TEXT },
};
const struct gt_section_kind gt_findings_kind = GT_SECTION("findings", "Findings", GT_NOTES, columns);

double gt_threshold(enum gt_finding_id id)
{
	return thresholds[id].value;
}

bool gt_threshold_set(const char *assignment)
{
	size_t n = strcspn(assignment, "=");
	double value;
	char *end;

	for (unsigned i = 0; i < GT_FINDINGS; i++) {
		if (strncmp(thresholds[i].id, assignment, n) || thresholds[i].id[n])
			continue;
		if (!assignment[n] || !assignment[n + 1])
			return false;
		value = strtod(assignment + n + 1, &end);
		if (*end || !isfinite(value) || value < 0)
			return false;
		thresholds[i].value = value;
		return true;
	}
	return false;
}

void gt_thresholds_print(FILE *out)
{
	for (unsigned i = 0; i < GT_FINDINGS; i++)
		fprintf(out, "  %-18s %6g  %s\n", thresholds[i].id, thresholds[i].value, thresholds[i].text);
}

/* The region, and where and when its longest call is. */
static void add_longest(struct gt_report *report, uint32_t region, union gt_cell *row)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	const struct gt_profile_region *of;
	const char *location;

	if (!region || region > report->read->tables[GT_OTF2_REGION].count)
		return;
	of = &profile->regions[region - 1];
	if (!row[WHERE].text)
		row[WHERE].text = gt_source_of(report, region - 1);
	if (!of->calls || row[TIME].count != GT_NO_COUNT)
		return;
	location = gt_report_location(report, of->most_on);
	if (!row[LOCATION].text)
		row[LOCATION].text = location;
	if (strcmp(row[LOCATION].text, location))
		return;
	row[TIME].count = of->most_begin;
	if (of->most)
		row[UNTIL].count = of->most_begin + of->most;
}

/* JSON and CSV have the names in full. */
static const char *short_path(struct gt_report *report, const char *path)
{
	enum { LINE = 80 };
	char text[GT_SHORTEN_MAX];

	return gt_figures_text(&report->figures, "%s", gt_shorten_path(text, path, LINE));
}

/* "in: solve (a.c:7), at 1.2 s on rank 3", or what is known of this. */
static void say_place(struct gt_report *report, union gt_cell *row)
{
	const char *where = row[WHERE].text ? short_path(report, row[WHERE].text) : NULL;
	const char *on = row[LOCATION].text, *text = on;

	if (row[TIME].count != GT_NO_COUNT)
		text = gt_figures_text(&report->figures, "%s%s%s",
				       gt_said(report, row[TIME].count, GT_SECONDS),
				       on ? " on " : "", on ? on : "");
	if (where && text)
		text = gt_figures_text(&report->figures, "%s, %s %s", where,
				       row[TIME].count != GT_NO_COUNT ? "at" : "on", text);
	row[where ? IN : row[TIME].count != GT_NO_COUNT ? AT : ON].text = text ? text : where;
}

void gt_finding_add(struct gt_report *report, const struct gt_finding *finding, const char *format, ...)
{
	struct gt_section *section = gt_section_find(&report->figures, gt_findings_kind.key);
	union gt_cell *row;
	char text[1024];
	va_list args;

	if ((double)finding->gain * 100 < gt_threshold(GT_FINDING_MINIMUM) * (double)report->duration)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	row = gt_row_add(section);
	row[GAIN].count = finding->gain < report->duration || finding->gain == GT_NO_COUNT
				  ? finding->gain : report->duration;
	row[ID].text = thresholds[finding->id].id;
	row[SENTENCE].text = gt_figures_text(&report->figures, "%s", text);
	row[LOCATION].text = finding->location;
	row[WHERE].text = finding->where;
	row[TIME].count = finding->time;
	if (finding->time != GT_NO_COUNT && finding->length)
		row[UNTIL].count = finding->time + finding->length;
	row[ADVICE].text = row[TRY].text = finding->advice;
	add_longest(report, finding->region, row);
	say_place(report, row);
}

/* ---- what rules need ----------------------------------------------------------------------------- */

static uint64_t sum(struct gt_report *report, enum gt_class class, bool calls)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint64_t all = 0;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		all += calls ? profile->locations[i].class_calls[class]
			     : profile->locations[i].classes[class];
	return all;
}

uint64_t gt_class_time(struct gt_report *report, enum gt_class class)
{
	return sum(report, class, false);
}

uint64_t gt_class_calls(struct gt_report *report, enum gt_class class)
{
	return sum(report, class, true);
}

uint32_t gt_class_top(struct gt_report *report, enum gt_class class)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count, top = count;

	for (uint32_t i = 0; i < count; i++)
		if (report->classes.regions[i] == class && profile->regions[i].calls &&
		    (top == count || profile->regions[i].exclusive > profile->regions[top].exclusive))
			top = i;
	return top;
}

const char *gt_source_of(struct gt_report *report, uint32_t region)
{
	const struct gt_otf2_region *of;

	if (region >= report->read->tables[GT_OTF2_REGION].count)
		return NULL;
	of = gt_otf2_region_at(report->read, region);
	if (!*of->file || !of->begin_line)
		return of->name;
	return gt_figures_text(&report->figures, "%s (%s:%u)", of->name, of->file, of->begin_line);
}

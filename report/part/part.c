/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and selections, as users write them.
 *
 * Limits: see part.h.
 */
#include "config.h"

#include "report/part/part.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/memory.h"
#include "report/model/classes.h"

/* ---- windows ----------------------------------------------------------------------------------- */

static bool unit_of(const char *text, size_t length, long double *ns)
{
	static const struct {
		const char *name;
		long double ns;
	} units[] = { { "", 1e9L }, { "s", 1e9L }, { "ms", 1e6L }, { "us", 1e3L }, { "ns", 1 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != length || strncmp(units[i].name, text, length))
			continue;
		*ns = units[i].ns;
		return true;
	}
	return false;
}

/* A time from `text` up to `end`; nothing at all leaves *ns as it is. */
static bool time_of(const char *text, const char *end, uint64_t *ns)
{
	long double value, unit;
	char *behind;

	if (text == end)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	value = strtold(text, &behind);
	if (behind > end || !unit_of(behind, (size_t)(end - behind), &unit) || value * unit >= 1e19L)
		return false;
	*ns = (uint64_t)(value * unit + 0.5L);
	return true;
}

bool gt_part_window(struct gt_part *part, const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && time_of(text, colon, &part->from) &&
	       time_of(colon + 1, colon + strlen(colon), &part->to) && part->to > part->from;
}

bool gt_part_time(const char *text, uint64_t *ns)
{
	return *text && time_of(text, text + strlen(text), ns);
}

/* ---- selections -------------------------------------------------------------------------------- */

struct pattern {
	const char *begin, *end;
};

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool matches_whole(struct pattern pattern, const char *name)
{
	const char *at = pattern.begin, *star = NULL, *again = NULL;

	for (;;) {
		if (at < pattern.end && *at == '*') {
			star = ++at;
			again = name;
		} else if (at < pattern.end && *name && same_letter(*at, *name)) {
			at++;
			name++;
		} else if (at == pattern.end && !*name) {
			return true;
		} else if (star && *again) {
			at = star;
			name = ++again;
		} else {
			return false;
		}
	}
}

/* A number that it begins or ends with is a whole one. */
static bool is_at(struct pattern pattern, const char *name, const char *place)
{
	size_t n = (size_t)(pattern.end - pattern.begin);

	for (size_t i = 0; i < n; i++)
		if (!place[i] || !same_letter(pattern.begin[i], place[i]))
			return false;
	return !(place > name && is_digit(*place) && is_digit(place[-1])) &&
	       !(is_digit(place[n - 1]) && is_digit(place[n]));
}

static bool matches(struct pattern pattern, const char *name)
{
	if (memchr(pattern.begin, '*', (size_t)(pattern.end - pattern.begin)))
		return matches_whole(pattern, name);
	for (const char *place = name; *place; place++)
		if (is_at(pattern, name, place))
			return true;
	return false;
}

const char *gt_part_process(const struct gt_otf2 *read, const struct gt_otf2_location *location)
{
	const struct gt_otf2_location_group *group = gt_otf2_find_location_group(read, location->group);

	return group ? group->name : "?";
}

static bool any_matches(const char *patterns, const char *name)
{
	struct pattern one;

	for (one.begin = patterns; *one.begin; one.begin = *one.end ? one.end + 1 : one.end) {
		one.end = strchrnul(one.begin, ';');
		if (one.end > one.begin && matches(one, name))
			return true;
	}
	return false;
}

static bool both_match(const char *patterns, const char *process, const char *between, const char *name)
{
	char both[1024];

	snprintf(both, sizeof(both), "%s%s%s", process, between, name);
	return any_matches(patterns, both);
}

/* Its name alone, in its process, and in the words of a report. */
static bool matches_in(const char *patterns, const char *process, const char *name)
{
	return any_matches(patterns, process) || both_match(patterns, process, "/", name) ||
	       both_match(patterns, process, ", ", name);
}

static bool selected(const struct gt_otf2 *read, const struct gt_classes *classes, size_t index,
		     const char *patterns)
{
	const struct gt_otf2_location *location = gt_otf2_location_at(read, index);
	const struct gt_location_class *class = &classes->locations[index];
	char rank[32];

	if (any_matches(patterns, location->name) ||
	    matches_in(patterns, gt_part_process(read, location), location->name) ||
	    (class->device != GT_NO_DEVICE && any_matches(patterns, classes->devices[class->device].name)))
		return true;
	if (class->process >= classes->process_count || classes->processes[class->process].rank == GT_NO_RANK)
		return false;
	snprintf(rank, sizeof(rank), "rank %u", classes->processes[class->process].rank);
	return matches_in(patterns, rank, location->name);
}

static size_t choose(struct gt_part *part, const struct gt_otf2 *read, const char *patterns)
{
	size_t count = read->tables[GT_OTF2_LOCATION].count, n = 0;
	struct gt_classes classes;

	if (!patterns)
		return count;
	part->locations = calloc(count + 1, sizeof(*part->locations));
	if (!part->locations || gt_classes_make(&classes, read))
		gt_no_memory();
	for (size_t i = 0; i < count; i++) {
		part->locations[i] = selected(read, &classes, i, patterns);
		n += part->locations[i];
	}
	gt_classes_free(&classes);
	return n;
}

/* ---- for commands ------------------------------------------------------------------------------ */

static void list_locations(const struct gt_otf2 *read)
{
	enum { SHOWN = 20 };
	size_t count = read->tables[GT_OTF2_LOCATION].count;
	char process[512], name[512];

	for (size_t i = 0; i < count && i < SHOWN; i++) {
		const struct gt_otf2_location *location = gt_otf2_location_at(read, i);

		gt_summary_escape(process, sizeof(process), gt_part_process(read, location), 100);
		fprintf(stderr, "  %s/%s\n", process,
			gt_summary_escape(name, sizeof(name), location->name, 100));
	}
	if (count > SHOWN)
		fprintf(stderr, "  ... %zu more\n", count - SHOWN);
}

bool gt_part_choose(struct gt_part *part, const struct gt_otf2 *read, const char *patterns,
		  const char *command)
{
	uint64_t end = gt_otf2_ns(read, read->end);

	if (part->from && part->from >= end) {
		fprintf(stderr, "%s: the window begins behind the end of the run (%.9g s)\n", command,
			(double)end / 1e9);
		return false;
	}
	if (choose(part, read, patterns) || !patterns)
		return true;
	fprintf(stderr, "%s: the pattern matches no location (several are separated by ;); there are:\n",
		command);
	list_locations(read);
	return false;
}

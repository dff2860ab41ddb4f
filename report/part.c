/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and selections, as users write them.
 *
 * Limits: see part.h.
 */
#include "config.h"

#include "report/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool matches(const char *pattern, const char *end, const char *name)
{
	const char *star = NULL, *again = NULL;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			again = name;
		} else if (pattern < end && *name && *pattern == *name) {
			pattern++;
			name++;
		} else if (pattern == end && !*name) {
			return true;
		} else if (star && *again) {
			pattern = star;
			name = ++again;
		} else {
			return false;
		}
	}
}

const char *gt_part_process(const struct gt_otf2 *read, const struct gt_otf2_location *location)
{
	const struct gt_otf2_location_group *group = gt_otf2_find_location_group(read, location->group);

	return group ? group->name : "?";
}

static bool any_matches(const char *patterns, const char *name)
{
	for (const char *p = patterns, *end; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ';');
		if (matches(p, end, name))
			return true;
	}
	return false;
}

static bool selected(const struct gt_otf2 *read, const struct gt_otf2_location *location,
		     const char *patterns)
{
	const char *process = gt_part_process(read, location);
	char *both;
	bool found;

	if (any_matches(patterns, location->name) || any_matches(patterns, process))
		return true;
	if (asprintf(&both, "%s/%s", process, location->name) < 0)
		abort();
	found = any_matches(patterns, both);
	free(both);
	return found;
}

size_t gt_part_select(struct gt_part *part, const struct gt_otf2 *read, const char *patterns)
{
	size_t count = read->tables[GT_OTF2_LOCATION].count, n = 0;

	if (!patterns)
		return count;
	part->locations = calloc(count + 1, sizeof(*part->locations));
	if (!part->locations)
		abort();
	for (size_t i = 0; i < count; i++) {
		part->locations[i] = selected(read, gt_otf2_location_at(read, i), patterns);
		n += part->locations[i];
	}
	return n;
}

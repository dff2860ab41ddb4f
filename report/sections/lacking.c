/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of properties; see lacking.h.
 */
#include "config.h"

#include "report/sections/lacking.h"

#include <stdio.h>
#include <string.h>

static const char *first_of(const struct gt_otf2 *read, const struct gt_otf2_property *p,
			    const struct gt_shortfall *what)
{
	const struct gt_otf2_property *first;
	char name[96];

	if (!*what->first)
		return NULL;
	snprintf(name, sizeof(name), GT_PROPERTY "%s", what->first);
	first = gt_otf2_find_owned(read, p->kind, p->owner, name);
	return first ? first->text : NULL;
}

/* Is it this property, of the archive or of a process? */
static bool fits(const struct gt_otf2_property *p, const struct gt_shortfall *what)
{
	static const size_t prefix = sizeof(GT_PROPERTY) - 1;

	return (p->kind == GT_OTF2_KINDS || p->kind == GT_OTF2_LOCATION_GROUP) && p->text &&
	       !strncmp(p->name, GT_PROPERTY, prefix) && !strcmp(p->name + prefix, what->property);
}

struct gt_lacking gt_lacking_of(const struct gt_otf2 *read, const struct gt_shortfall *what)
{
	struct gt_lacking all = { .words = NULL };

	for (size_t i = 0; i < read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);
		uint64_t count;

		if (!fits(p, what))
			continue;
		count = what->many ? gt_shortfall_count(p->text) : 0;
		all.sum += count;
		if (!all.words)
			all.words = !what->many ? p->text : count ? first_of(read, p, what) : NULL;
		all.any |= count || !what->many;
	}
	return all;
}

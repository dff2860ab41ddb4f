/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths as text: what was measured, and the functions between that a call's attribute CALL_PATH names.
 *
 * Limits: those of gt_frames_below(). JSON has no longer texts: of longer ones the innermost functions.
 */
#include "config.h"

#include "report/sections/profile.h"

#include "lib/assemble/util/memory.h"

#include <stdlib.h>
#include <string.h>

struct text {
	char bytes[4000], *at; /* written from its end on */
};

/* A caller of what is there. False: there is no room. */
static bool put_before(struct text *text, const char *name)
{
	const char *between = *text->at ? " > " : "";
	size_t n = strlen(name), gap = strlen(between);

	if (n + gap + 4 > (size_t)(text->at - text->bytes)) {
		text->at -= 4;
		memcpy(text->at, "... ", 4);
		return false;
	}
	text->at -= gap;
	memcpy(text->at, between, gap);
	text->at -= n;
	memcpy(text->at, name, n);
	return true;
}

unsigned gt_profile_open(const struct gt_report *report, const struct gt_profile *profile, uint32_t node,
			 const struct gt_otf2_region *open[GT_OPEN_MOST])
{
	const struct gt_profile_node *nodes = profile->tree.nodes;
	size_t regions = report->read->tables[GT_OTF2_REGION].count;
	unsigned count = 0;

	for (; node && nodes[node].region < regions && count < GT_OPEN_MOST; node = nodes[node].parent)
		open[count++] = gt_otf2_region_at(report->read, nodes[node].region);
	return count;
}

/* False: there is no room for more. */
static bool put_frames(struct gt_report *report, const struct gt_profile *profile, uint32_t caller,
		       uint32_t path, struct text *text)
{
	const struct gt_otf2_region *open[GT_OPEN_MOST];
	struct gt_frames *frames = gt_zeroed(1, sizeof(*frames));
	bool room = true;

	gt_call_frames(report->read, path, open, gt_profile_open(report, profile, caller, open), frames);
	for (unsigned i = 0; room && i < frames->count; i++)
		room = put_before(text, frames->regions[i]->name);
	free(frames);
	return room;
}

const char *gt_profile_call_path(struct gt_report *report, const struct gt_profile *profile, uint32_t node,
				 const struct gt_call_path *call)
{
	const struct gt_profile_node *nodes = profile->tree.nodes;
	struct text text;

	text.at = text.bytes + sizeof(text.bytes) - 1;
	*text.at = '\0';
	for (uint32_t i = node; i; i = nodes[i].parent)
		if (!put_before(&text, gt_report_region_name(report, nodes[i].region)) ||
		    (call && call->path && i == call->node &&
		     !put_frames(report, profile, nodes[i].parent, call->path, &text)))
			break;
	return gt_figures_text(&report->figures, "%s", text.at);
}

const char *gt_profile_path(struct gt_report *report, const struct gt_profile *profile, uint32_t node)
{
	return gt_profile_call_path(report, profile, node, NULL);
}

const char *gt_call_place(struct gt_report *report, const struct gt_call_path *call)
{
	const struct gt_otf2_source *source = gt_call_source(report->read, call->path);

	return source ? gt_figures_text(&report->figures, "%s:%u", source->file, source->line) : NULL;
}

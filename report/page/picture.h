/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of a run, for `gputrace html` and `gputrace view`: tiles at all levels of detail of calls,
 * samples of call stacks, waits, the critical path, counters and links, what is known of rows and regions
 * (meta, JSON), the report's JSON, and the flow graph; all in one store. It is an analysis of the report
 * (report.h): one pass computes both; the flow graph is made in another one.
 *
 * Limits: see pyramid.h, curve.h, links.h.
 */
#ifndef GT_REPORT_PAGE_PICTURE_H
#define GT_REPORT_PAGE_PICTURE_H

#include "report/model/stacks.h"
#include "report/part/match.h"
#include "report/page/curve.h"
#include "report/page/links.h"
#include "report/page/pyramid.h"
#include "report/report.h"
#include "report/model/spill.h"

/* A counter of a location. */
struct gt_picture_curve {
	uint64_t location;          /* its place in the table */
	uint64_t member;            /* metric member */
	const struct gt_otf2_metric *metric;
	struct gt_curve curve;
};

/* Of a node of a location's call tree. */
struct gt_picture_node {
	uint32_t region, parent;
	uint64_t calls, inclusive, exclusive;
};

struct gt_picture_row {
	uint32_t depth;
	unsigned levels, sum_levels, sample_levels; /* of samples 0: there are none */
	bool exact;
};

struct gt_page_marker {
	struct gt_otf2_marker of;   /* its texts are copies */
	uint64_t time, duration;    /* ns */
};

struct gt_picture {
	struct gt_store store;
	const char *anchor;
	struct gt_archive_id id;
	unsigned span_log2;
	uint64_t end;               /* ns */
	struct gt_report *report;
	struct gt_picture_row *rows; /* by location */
	struct gt_picture_curve *curves;
	size_t curve_count, curve_room;
	uint32_t next_curve;
	struct gt_page_marker *markers;
	size_t marker_count, marker_room;
	struct gt_links links;
	unsigned levels;            /* most of all */
	uint64_t correlation, mpi_error, bytes; /* attributes */
	struct gt_stack_ids stacks;
	/* pairs of ends, sorted by what belongs together */
	struct gt_spill spill;
	struct gt_sorter *ends;
	struct gt_bag collectives;
	struct gt_log path;         /* struct gt_path_part, from the end to the begin */
};

/* The critical path was at a location for a time. */
struct gt_path_part {
	uint64_t begin, end;
	uint32_t location, region;
};

/* Writes the picture of an archive into the file `fd`. 0, or 2 after a sentence on standard error. */
int gt_picture_make(const char *anchor, int fd);

extern const struct gt_analysis gt_picture_analysis;

/* After all has been read (meta.c): what the page must know, without braces. */
void gt_picture_meta(struct gt_picture *picture, struct gt_bytes *out);
/* The archive's name, as HTML. */
void gt_picture_title(const struct gt_picture *picture, struct gt_bytes *out);

#endif

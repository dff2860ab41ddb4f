/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the assembly tells about a run beside the events: archive properties, gputrace.cfg,
 * MANIFEST.md, the summary.
 *
 * Limits: uses finished definitions; single-threaded.
 */
#ifndef GT_ASSEMBLE_REPORT_H
#define GT_ASSEMBLE_REPORT_H

#include "lib/assemble/assemble.h"
#include "lib/assemble/events.h"

struct gt_report {
	const char *dir;
	int dirfd;
	const struct gt_assemble_options *options;
	const struct gt_spool *spool;
	const struct gt_layout *layout;
	const struct gt_defs *defs;
	const struct gt_clock *clock;
	const struct gt_tally *tally;
	const struct gt_profile *profile;
	size_t profile_count;
	uint64_t length_ns;
	bool truncated;         /* the disk was full: the archive lacks events */
	uint64_t lost[GT_LOSS_N];
};

/* Sums up what was lost. */
void gt_report_losses(struct gt_report *report);

/* Properties of the archive; before it is closed. */
void gt_report_properties(const struct gt_report *report, struct gt_archive *archive);

/* gputrace.cfg and MANIFEST.md. 0 or a negative errno. */
int gt_report_files(const struct gt_report *report);

/* The summary on stderr. */
void gt_report_summary(const struct gt_report *report);

/* A property that the first process has written, or NULL. */
const char *gt_report_property(const struct gt_proc *proc, const char *name);

#endif

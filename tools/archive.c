/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives that commands read.
 *
 * Limits: see archive.h.
 */
#include "config.h"

#include "tools/archive.h"

#include <inttypes.h>

#include "lib/assemble/report/summary.h"
#include "lib/read/guard.h"
#include "report/output.h"
#include "tools/cmds.h"
#include "tools/progress.h"

int gt_archive_unreadable(const struct gt_usage *usage, const char *name, const char *reason)
{
	char shown[512];

	gt_summary_escape(shown, sizeof(shown), name, 400);
	fprintf(stderr, "%s: %s cannot be read: %s\n", usage->command, shown, reason);
	return GT_RC_USAGE;
}

static void incomplete(const char *name, uint64_t damaged, size_t locations, const char *rest, FILE *out)
{
	char shown[512] = "";

	if (name)
		gt_summary_escape(shown, sizeof(shown), name, 400);
	fprintf(out,
		"INCOMPLETE: %s%sevents of %" PRIu64 " of %zu locations are missing or cannot be read; %s\n",
		shown, name ? ": " : "", damaged, locations, rest);
}

void gt_archive_incomplete(const char *name, uint64_t damaged, size_t locations, FILE *out)
{
	incomplete(name, damaged, locations, "all figures are of the rest", out);
}

int gt_archive_damage(const char *name, uint64_t damaged, size_t locations, bool compared)
{
	if (!damaged)
		return GT_RC_OK;
	incomplete(name, damaged, locations,
		   compared ? "it is compared with the rest"
			    : "the page shows the rest, without a flow graph", stderr);
	return GT_RC_BAD;
}

int gt_archive_read(const struct gt_usage *usage, const char *name, const char *output,
		    int (*function)(const char *anchor, void *argument, FILE *out), void *argument)
{
	char anchor[3500], spool[3500];
	const char *reason = gt_otf2_find_anchor(name, anchor, sizeof(anchor), spool, sizeof(spool));
	bool shown;
	int status;

	/* NAME.part is not ours yet. */
	if (reason)
		return gt_archive_unreadable(usage, name, reason);
	shown = gt_progress_begin(usage->command);
	status = gt_otf2_guarded(anchor, function, argument, &reason);
	if (shown)
		gt_progress_end();
	if (status >= 0)
		return status;
	if (output)
		gt_output_discard(output);
	return gt_archive_unreadable(usage, anchor, reason);
}

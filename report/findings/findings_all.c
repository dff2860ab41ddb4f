/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All findings as an analysis.
 *
 * Limits: see findings.h.
 */
#include "config.h"

#include "report/findings/findings.h"

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &gt_findings_kind);

	(void)result;
	if (!report->duration)
		return;
	gt_findings_host(report);
	gt_findings_files(report);
	gt_findings_peers(report);
	gt_findings_threads(report);
	gt_findings_processors(report);
	gt_findings_gpu(report);
	gt_findings_spins(report);
	gt_rows_sort(section, 0);
	if (!section->rows)
		section->note = gt_figures_text(&report->figures,
						"no rule of gputrace's fired for a gain of %g %% of the run "
						"or more (gputrace-findings(7))",
						gt_threshold(GT_FINDING_MINIMUM));
}

const struct gt_analysis gt_findings_analysis = { .name = "findings", .figures = figures };

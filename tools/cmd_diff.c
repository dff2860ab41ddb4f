/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace diff`: what became slower or faster (report/findings/diff.h). All archives are read in one child.
 *
 * Limits: at most MOST_RUNS archives; the child's limits of time and memory are those of the first one.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/guard.h"
#include "report/findings/diff.h"
#include "report/report.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/sections.h"

enum { MOST_RUNS = 64 };

struct choice {
	struct gt_sections asked;
	char anchors[MOST_RUNS][3500];
	unsigned count, before;
};

static const struct gt_option option_table[] = {
	GT_SECTIONS_OPTIONS,
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace diff",
	"[options] BEFORE AFTER, or gputrace diff [options] BEFORE... -- AFTER...",
	"Says what became slower or faster, and whether that is noise if there are several runs.",
	option_table,
	"BEFORE and AFTER are directories of archives, or their anchor files (*.otf2).\n"
	"Exit status: 0; 1 if files of an archive are damaged: the comparison is of the rest;\n"
	"2 if one cannot be read.\n",
	false};

/* ---- in the child ---------------------------------------------------------------------------- */

/* GT_RC_BAD: files are damaged. */
static int add(struct gt_diff *diff, const struct choice *choice, unsigned i, FILE *out)
{
	struct gt_report *report = gt_report_make(choice->anchors[i], 0);
	bool damaged;

	if (!report)
		return GT_RC_USAGE;
	damaged = report->damaged;
	if (damaged && !choice->asked.form)
		gt_archive_incomplete(choice->anchors[i], report->damaged,
				      report->read->tables[GT_OTF2_LOCATION].count, out);
	gt_diff_add(diff, &report->figures, i >= choice->before);
	gt_report_free(report);
	return damaged ? GT_RC_BAD : GT_RC_OK;
}

static int compare(const char *anchor, void *argument, FILE *out)
{
	const struct choice *choice = argument;
	struct gt_diff *diff = gt_diff_new();
	struct gt_figures figures = { .count = 0 };
	int rc, damaged = GT_RC_OK;

	(void)anchor;
	for (unsigned i = 0; i < choice->count; i++) {
		rc = add(diff, choice, i, out);
		if (rc == GT_RC_USAGE)
			return rc;
		damaged |= rc;
	}
	gt_diff_figures(diff, &figures);
	rc = gt_sections_print(&choice->asked, usage.command, &figures, out);
	return rc ? rc : damaged;
}

/* ---- in the parent --------------------------------------------------------------------------- */

static int find(struct choice *choice, char **names, int count)
{
	char spool[3500];

	for (int i = 0; i < count; i++) {
		const char *reason;

		gt_archive_wait(&usage, names[i]);
		reason = gt_otf2_find_anchor(names[i], choice->anchors[choice->count],
							 sizeof(choice->anchors[0]), spool, sizeof(spool));

		if (reason)
			return gt_archive_unreadable(&usage, names[i], reason);
		choice->count++;
	}
	return GT_RC_OK;
}

/* argv[dashes] is "--"; without one it is `all`, where the arguments end. */
static int find_all(struct choice *choice, char **argv, int dashes, int all)
{
	int first = dashes - optind, status;

	if (dashes == all && first == 2)
		first = 1;
	else if (dashes == all || !first || dashes + 1 == all)
		return gt_usage_error(&usage, "name two traces, or several with -- between the two sides");
	if (all - optind > MOST_RUNS)
		return gt_usage_error(&usage, "too many traces");
	choice->before = (unsigned)first;
	status = find(choice, argv + optind, dashes - optind);
	return status || dashes == all ? status : find(choice, argv + dashes + 1, all - dashes - 1);
}

static int read_all(struct choice *choice)
{
	const char *anchors[MOST_RUNS], *which, *reason;
	int status;

	for (unsigned i = 0; i < choice->count; i++)
		anchors[i] = choice->anchors[i];
	status = gt_otf2_guarded_all(anchors, choice->count, compare, choice, &which, &reason);
	if (status < 0)
		return gt_archive_unreadable(&usage, which ? which : "one of the traces", reason);
	return status;
}

int gt_cmd_diff(int argc, char **argv)
{
	struct choice *choice = calloc(1, sizeof(*choice));
	int dashes = 1, key, status;

	if (!choice)
		return GT_RC_USAGE;
	choice->asked.face = (struct gt_face){ .rows = 8, .width = gt_terminal_width(100) };
	/* getopt would take the dashes away and not say where they were. */
	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	while ((key = gt_option_next(&usage, dashes, argv)) > 0)
		gt_sections_option(&choice->asked, key);
	status = key < 0 ? GT_OPT_STATUS(key) : find_all(choice, argv, dashes, argc);
	if (key >= 0 && !status)
		status = read_all(choice);
	free(choice);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace whatif`: how long a run takes if something in it is changed (report/waits/whatif.h).
 *
 * Limits: one archive at a time.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>

#include "report/report.h"
#include "report/waits/whatif.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/sections.h"

static const struct gt_option option_table[] = {
	{'a', "all", NULL, "All rows of the critical path."},
	{GT_KEY_JSON, "json", NULL, "As JSON."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace whatif",
	"[options] DIR|FILE CHANGE...",
	"Predicts how long a run takes if something in it is changed, and its critical path then.",
	option_table,
	"CHANGE is one of these, in quotes; several are made together:\n"
	"  'REGION=0'        calls of this region, with all that is called there, take no time\n"
	"  'REGION*0.5'      they take half of it; 2 is twice as long\n"
	"  'kernel NAME*0.5' the same of a kernel, copy or other activity of a GPU\n"
	"  'rank 3=mean'     this rank works as long as ranks do on average; also 'rank 3*0.5'\n"
	"  'lock NAME free'  nobody has to wait for this lock (gputrace report -s locks)\n"
	"  'copies overlap'  a GPU's kernels run while it copies\n"
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0; 1 if files are damaged: the answer is of the rest; 2 if the archive\n"
	"cannot be read, or has no such region, rank, lock or copy.\n",
	false};

struct choice {
	struct gt_sections asked;
	struct gt_change changes[GT_CHANGES_MOST];
	struct gt_whatif whatif;
};

/* In the child. */
static int predict(const char *anchor, void *argument, FILE *out)
{
	static const char *const sections[] = { "whatif", "changes", "critical_path", NULL };
	struct choice *choice = argument;
	struct gt_report *report = gt_report_whatif(anchor, &choice->whatif, sections);
	int status;

	if (!report)
		return GT_RC_USAGE;
	if (choice->whatif.refused) {
		fprintf(stderr, "%s: %s\n", usage.command, choice->whatif.refused);
		gt_report_free(report);
		return GT_RC_USAGE;
	}
	if (report->damaged && !choice->asked.form)
		gt_archive_incomplete(NULL, report->damaged, report->read->tables[GT_OTF2_LOCATION].count,
				      out);
	choice->asked.face.sections = sections;
	status = gt_sections_print(&choice->asked, usage.command, &report->figures, out);
	if (!status && report->damaged)
		status = GT_RC_BAD;
	gt_report_free(report);
	return status;
}

static int take_changes(struct choice *choice, char **words, int count)
{
	if (count > GT_CHANGES_MOST)
		return gt_usage_error(&usage, "more than %d changes", GT_CHANGES_MOST);
	for (int i = 0; i < count; i++) {
		const char *wrong = gt_change_parse(&choice->changes[i], words[i]);

		if (wrong)
			return gt_usage_error(&usage, "'%s' %s", words[i], wrong);
	}
	choice->whatif = (struct gt_whatif){ .changes = choice->changes, .count = (unsigned)count };
	return GT_RC_OK;
}

int gt_cmd_whatif(int argc, char **argv)
{
	static struct choice choice;
	int key, status;

	choice.asked.face = (struct gt_face){ .rows = 8, .width = gt_terminal_width(100) };
	while ((key = gt_option_next(&usage, argc, argv)) > 0)
		gt_sections_option(&choice.asked, key);
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 2 > argc)
		return gt_usage_error(&usage, "name a trace and a change");
	status = take_changes(&choice, argv + optind + 1, argc - optind - 1);
	return status ? status : gt_archive_read(&usage, argv[optind], NULL, predict, &choice);
}

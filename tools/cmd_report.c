/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace report`: the summary of a run again, or figures computed from the archive (report/).
 *
 * Limits: the summary is what the assembly has written into DIR/SUMMARY.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmds.h"
#include "lib/read/guard.h"
#include "report/report.h"
#include "tools/options.h"

enum { KEY_JSON = 256, KEY_CSV, MOST_SECTIONS = 64 };

static const struct gt_option options[] = {
	{ 's', "section", "NAME", "only this section; may be given more than once" },
	{ 'a', "all", NULL, "all rows of tables" },
	{ KEY_JSON, "json", NULL, "as JSON" },
	{ KEY_CSV, "csv", NULL, "as CSV" },
	{ 0, NULL, NULL, NULL },
};

struct choice {
	enum { SUMMARY, TEXT, JSON, CSV } form;
	struct gt_face face;
	const char *sections[MOST_SECTIONS + 1];
	unsigned section_count;
};

static const struct gt_usage usage = {
	.command = "gputrace report",
	.synopsis = "[options] DIR...",
	.summary = "Prints the summary of a run, or with an option figures from its archive.",
	.options = options,
	.notes = "Exit status: 0, or 2 if there is no summary, archive or section.\n",
};

static int print_summary(const char *dir)
{
	char path[3500], text[4096];
	int fd, n;

	snprintf(path, sizeof(path), "%s/SUMMARY", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		n = errno;
		snprintf(path, sizeof(path), "%s/spool", dir);
		fprintf(stderr, access(path, F_OK)
				? "gputrace report: %s has no summary: %s\n"
				: "gputrace report: %s was not assembled yet: run 'gputrace recover' on it\n",
			dir, strerror(n));
		return GT_RC_USAGE;
	}
	while ((n = (int)read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stdout);
	close(fd);
	printf("[gputrace] trace: %s/traces.otf2\n", dir);
	return GT_RC_OK;
}

static int print_figures(const char *anchor, void *argument, FILE *out)
{
	const struct choice *choice = argument;
	struct gt_report *report = gt_report_make(anchor, 0);

	if (!report)
		return GT_RC_USAGE;
	for (unsigned i = 0; i < choice->section_count; i++)
		if (!gt_section_find(&report->figures, choice->sections[i])) {
			fprintf(stderr, "gputrace report: there is no section '%s'\n", choice->sections[i]);
			return GT_RC_USAGE;
		}
	if (choice->form == JSON && !gt_figures_json(&report->figures, &choice->face, out)) {
		fprintf(stderr, "gputrace report: --json: gputrace was built without jansson\n");
		return GT_RC_USAGE;
	}
	if (choice->form == CSV)
		gt_figures_csv(&report->figures, &choice->face, out);
	if (choice->form == TEXT)
		gt_figures_print(&report->figures, &choice->face, out);
	/* The reader is not closed: the process ends, and libotf2 may be in any state. */
	return GT_RC_OK;
}

static int report_one(const char *name, struct choice *choice)
{
	char anchor[3500], spool[3500];
	const char *reason;
	int status;

	if (choice->form == SUMMARY)
		return print_summary(name);
	reason = gt_otf2_find_anchor(name, anchor, sizeof(anchor), spool, sizeof(spool));
	status = reason ? -1 : gt_otf2_guarded(anchor, print_figures, choice, &reason);
	if (status < 0) {
		fprintf(stderr, "gputrace report: %s cannot be read: %s\n", name, reason);
		return GT_RC_USAGE;
	}
	return status;
}

static void take_option(struct choice *choice, int key)
{
	switch (key) {
	case 's':
		if (choice->section_count < MOST_SECTIONS)
			choice->sections[choice->section_count++] = optarg;
		choice->face.sections = choice->sections;
		choice->face.rows = 0;
		break;
	case 'a':
		choice->face.rows = 0;
		break;
	case KEY_JSON:
		choice->form = JSON;
		break;
	case KEY_CSV:
		choice->form = CSV;
		break;
	}
	if (choice->form == SUMMARY)
		choice->form = TEXT;
}

int gt_cmd_report(int argc, char **argv)
{
	struct choice choice = { .face.rows = 10 };
	int key, rc = GT_RC_OK;

	while ((key = gt_option_next(&usage, argc, argv)) > 0)
		take_option(&choice, key);
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind == argc)
		return gt_usage_error(&usage, "no trace was named");
	for (; optind < argc; optind++) {
		size_t length = strlen(argv[optind]);

		while (length > 1 && argv[optind][length - 1] == '/')
			argv[optind][--length] = '\0';
		if (report_one(argv[optind], &choice))
			rc = GT_RC_USAGE;
	}
	return rc;
}

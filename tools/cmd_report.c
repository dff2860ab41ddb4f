/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace report`: prints the summary of a run again.
 *
 * Limits: prints what the assembly has written into DIR/SUMMARY; reads no events.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmds.h"
#include "tools/options.h"

static const struct gt_option options[] = {{0, NULL, NULL, NULL}};

static const struct gt_usage usage = {
	.command = "gputrace report",
	.synopsis = "DIR...",
	.summary = "Prints the summary of a run, as it was printed at its end.",
	.options = options,
	.notes = "Exit status: 0, or 2 if there is no summary.\n",
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

int gt_cmd_report(int argc, char **argv)
{
	int key, rc = GT_RC_OK;

	while ((key = gt_option_next(&usage, argc, argv)) > 0)
		;
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind == argc)
		return gt_usage_error(&usage, "no trace was named");
	for (; optind < argc; optind++) {
		size_t length = strlen(argv[optind]);

		while (length > 1 && argv[optind][length - 1] == '/')
			argv[optind][--length] = '\0';
		if (print_summary(argv[optind]))
			rc = GT_RC_USAGE;
	}
	return rc;
}

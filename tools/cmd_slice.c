/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace slice`: a part of an archive as an archive (report/part/slice.h).
 *
 * Limits: one archive at a time.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>

#include "report/part/slice.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

static const struct gt_option option_table[] = {
	{'o', "output", "DIR", "Write the archive DIR, which must not exist yet."},
	{'t', "time", "FROM:TO", "Only this part of the run, in seconds from its begin (1.5:2, 20ms:)."},
	{'l', "locations", "PATTERN", "Only threads, streams and processes of these names (rank 1;gpu*)."},
	{'q', "quiet", NULL, "Do not print what the archive contains."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace slice",
	"-o DIR [options] DIR|FILE",
	"Extracts a part of a trace into a smaller archive.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0, or 2 if the archive cannot be read or the smaller one not be written.\n",
	false};

int gt_cmd_slice(int argc, char **argv)
{
	struct gt_slice_options options = { .part = { .to = UINT64_MAX }, .command = "gputrace slice" };
	struct stat st;
	int key;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		if (key == 'o') {
			options.out = optarg;
		} else if (key == 'l') {
			options.patterns = gt_patterns_and(options.patterns, optarg);
		} else if (key == 'q') {
			options.quiet = true;
		} else if (gt_part_window(&options.part, optarg)) {
			options.window = optarg;
		} else {
			return gt_usage_error(&usage, "'%s' is not a window of time (FROM:TO)", optarg);
		}
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	if (!options.out)
		return gt_usage_error(&usage, "--output is needed");
	if (!lstat(options.out, &st))
		return gt_usage_error(&usage, "%s already exists", options.out);
	return gt_archive_read(&usage, argv[optind], options.out, gt_slice, &options);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace filter suggest`: a filter file from a trace (report/findings/suggest.h).
 *
 * Limits: one archive at a time.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>

#include "report/part/part.h"
#include "report/findings/suggest.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

static const struct gt_option option_table[] = {
	{'o', "output", "FILE", "Write the filter file FILE (default: standard output)."},
	{'s', "shorter", "TIME", "Functions whose calls take less than this (default: 1us)."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace filter suggest",
	"[options] DIR|FILE",
	"Says which functions cost more to record than they tell, as a filter file.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0, 1 if there is no such function, 2 if the archive cannot be read.\n",
	false};

int gt_cmd_suggest(int argc, char **argv)
{
	struct gt_suggest_options options = { .shorter = GT_SUGGEST_SHORT };
	int key;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		if (key == 'o')
			options.out = optarg;
		else if (!gt_part_time(optarg, &options.shorter))
			return gt_usage_error(&usage, "'%s' is not a time", optarg);
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	options.name = argv[optind];
	return gt_archive_read(&usage, options.name, NULL, gt_suggest, &options);
}

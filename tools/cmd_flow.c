/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace flow`: what all processes, threads and GPU streams do, as one graph (report/flow/).
 *
 * Limits: see report/flow/flow.h.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/flow/flow.h"
#include "report/part/part.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum {
	KEY_DOT = 0x100,
	KEY_SVG,
	KEY_JSON,
	KEY_MARGIN,
	KEY_SIGNIFICANT,
	KEY_SMALLEST,
	KEY_COLUMNS,
	KEY_ROWS,
	KEY_SAFE
};

static const struct gt_option option_table[] = {
	{ KEY_SVG, "svg", NULL, "A picture." },
	{ KEY_DOT, "dot", NULL, "A graph for Graphviz." },
	{ KEY_JSON, "json", NULL, "All states, as JSON." },
	{ 'o', "output", "FILE", "Write FILE; its ending .svg, .dot or .json says what." },
	{ 't', "time", "FROM:TO", "Only this part of the run, in seconds from its begin (1.5:2, 20ms:)." },
	{ 'l', "locations", "PATTERN", "Only threads, streams and processes of these names (rank 1;gpu*)." },
	{ KEY_MARGIN, "margin", "PERCENT", "Durations that differ by less are the same (20)." },
	{ KEY_SIGNIFICANT, "significant", "PERCENT",
	  "Nor do they differ by less than this share of the run (0.5)." },
	{ KEY_SMALLEST, "smallest", "PERCENT",
	  "Call paths below this share of the run are part of their callers (0.01)." },
	{ KEY_COLUMNS, "columns", "NUMBER", "Boxes side by side in the picture (12)." },
	{ KEY_ROWS, "rows", "NUMBER", "Boxes one above the other (5)." },
	{ KEY_SAFE, "colour-blind", NULL,
	  "Blue over yellow to orange in place of green over yellow to red." },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	"gputrace flow",
	"[options] DIR|FILE",
	"Merges the control flow of all processes, threads and GPU streams; shows which differ.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0, or 2 if the archive cannot be read or the output not be written.\n",
	false
};

static bool number_of(const char *text, double least, double most, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end && *number >= least && *number <= most;
}

/* False: it is no number from `least` to `most`. */
static bool take_number(struct gt_flow_options *options, int key, const char *text)
{
	double number;
	bool count = key == KEY_COLUMNS || key == KEY_ROWS;

	if (!number_of(text, count ? 1 : 0, count ? 1000 : 100, &number))
		return false;
	if (key == KEY_MARGIN)
		options->margin = number / 100;
	else if (key == KEY_SIGNIFICANT)
		options->floor = number / 100;
	else if (key == KEY_SMALLEST)
		options->cut = number / 100;
	else if (key == KEY_COLUMNS)
		options->columns = (size_t)number;
	else
		options->rows = (size_t)number;
	return true;
}

static bool take_window(struct gt_flow_options *options, const char *text)
{
	struct gt_part part = { .to = UINT64_MAX };

	if (!gt_part_window(&part, text))
		return false;
	options->from = part.from;
	options->to = part.to;
	return true;
}

static enum gt_flow_face face_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot && !strcasecmp(dot, ".svg"))
		return GT_FLOW_SVG;
	if (dot && (!strcasecmp(dot, ".dot") || !strcasecmp(dot, ".gv")))
		return GT_FLOW_DOT;
	return dot && !strcasecmp(dot, ".json") ? GT_FLOW_JSON : GT_FLOW_TEXT;
}

int gt_cmd_flow(int argc, char **argv)
{
	struct gt_flow_options options = gt_flow_defaults;
	int key;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		if (key == 'o')
			options.out = optarg;
		else if (key == 'l')
			options.patterns = gt_patterns_and(options.patterns, optarg);
		else if (key == 't' && !take_window(&options, optarg))
			return gt_usage_error(&usage, "'%s' is not a window of time (FROM:TO)", optarg);
		else if (key == 't')
			continue;
		else if (key == KEY_SAFE)
			options.safe = true;
		else if (key <= KEY_JSON)
			options.face = GT_FLOW_DOT + (unsigned)(key - KEY_DOT);
		else if (!take_number(&options, key, optarg))
			return gt_usage_error(&usage, "'%s' is not such a number", optarg);
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	if (options.out && options.face == GT_FLOW_TEXT)
		options.face = face_of(options.out);
	return gt_archive_read(&usage, argv[optind], options.out, gt_flow_archive, &options);
}

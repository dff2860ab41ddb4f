/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace export`: an archive in the formats of other programs (report/export/).
 *
 * Limits: one format at a time.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/read/guard.h"
#include "report/export/export.h"
#include "report/part/slice.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { KEY_FACE = 0x100, KEY_AGAINST = 0x200, KEY_SPLIT, KEY_CONTEXTS };

static const struct gt_export_face *const faces[] = {
	&gt_export_chrome,
	&gt_export_speedscope,
	&gt_export_folded,
	&gt_export_csv,
#ifdef HAVE_SQLITE
	&gt_export_sqlite,
#else
	NULL,
#endif
#ifdef HAVE_PROTOBUF_C
	&gt_export_perfetto,
#else
	NULL,
#endif
	&gt_export_flame,
#ifdef HAVE_NANOARROW
	&gt_export_arrow,
#else
	NULL,
#endif
	&gt_export_pprof,
};

/* What gputrace slice writes, in another layout (report/part/contexts.h). */
static const struct gt_export_face contexts = { .option = "calling-contexts", .folder = true };

#ifdef HAVE_SQLITE
#define SQLITE_HELP ""
#else
#define SQLITE_HELP " Not in this gputrace."
#endif
#ifdef HAVE_PROTOBUF_C
#define PERFETTO_HELP ""
#else
#define PERFETTO_HELP " Not in this gputrace."
#endif
#ifdef HAVE_NANOARROW
#define ARROW_HELP ""
#else
#define ARROW_HELP " Not in this gputrace: it needs nanoarrow."
#endif

/* A format's requirement that this build may lack. */
static const char *const needs[sizeof(faces) / sizeof(faces[0])] = {
	[4] = "SQLite",
	[5] = "protobuf-c",
	[7] = "nanoarrow: build-aux/nanoarrow builds it, and configure takes it by --with-nanoarrow",
};

static const struct gt_option option_table[] = {
	{ KEY_FACE + 0, "chrome", NULL, "JSON for chrome://tracing and ui.perfetto.dev." },
	{ KEY_FACE + 1, "speedscope", NULL, "JSON for speedscope.app." },
	{ KEY_FACE + 2, "folded", NULL, "Folded call stacks, for flame graphs." },
	{ KEY_FACE + 3, "csv", NULL, "A folder of tables, a CSV file each." },
	{ KEY_FACE + 4, "sqlite", NULL, "The tables in an SQLite database." SQLITE_HELP },
	{ KEY_FACE + 5, "perfetto", NULL,
	  "A trace of Perfetto, for ui.perfetto.dev; smaller than --chrome." PERFETTO_HELP },
	{ KEY_FACE + 6, "flame", NULL, "A flame graph, SVG." },
	{ KEY_FACE + 7, "arrow", NULL,
	  "A folder of the tables, an Arrow file (IPC, Feather V2) each." ARROW_HELP },
	{ KEY_FACE + 8, "pprof", NULL, "Samples of call stacks, for pprof (protocol buffers)." },
	{ KEY_CONTEXTS, "calling-contexts", NULL,
	  "An OTF2 archive, calls and samples as Score-P has them where it samples." },
	{ KEY_AGAINST, "against", "DIR",
	  "With --flame: colours say what took longer, or less long, than in DIR." },
	{ KEY_SPLIT, "split", NULL, "With --flame: paths stand below their process and thread." },
	{ 'o', "output", "FILE", "Write FILE; without it, standard output." },
	{ 't', "time", "FROM:TO", "Only this part of the run, in seconds from its begin (1.5:2, 20ms:)." },
	{ 'l', "locations", "PATTERN", "Only threads, streams and processes of these names (rank 1;gpu*)." },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	"gputrace export",
	"--perfetto|--chrome|--speedscope|--folded|--flame|--csv|--sqlite|--arrow|--pprof|--calling-contexts"
	" [options] DIR|FILE",
	"Writes a trace in the format of another program.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0; 1 if the archive cannot have the layout of --calling-contexts;\n"
	"2 if it cannot be read or the output not be written.\n",
	false};

static int refuse(const struct gt_export_options *options)
{
	const struct gt_export_face *face = options->face;
	struct stat st;

	if (!face)
		return gt_usage_error(&usage, "no format was given");
	if (!options->out && (face->folder || face->seekable))
		return gt_usage_error(&usage, "--%s needs --output", face->option);
	if (!options->out && face->binary && isatty(STDOUT_FILENO))
		return gt_usage_error(&usage, "--%s is not for a terminal: use --output or a pipe",
				      face->option);
	if (options->out && face->folder && !lstat(options->out, &st))
		return gt_usage_error(&usage, "%s already exists", options->out);
	if (face != &gt_export_flame && (options->against || options->split))
		return gt_usage_error(&usage, "--against and --split belong to --flame");
	return GT_RC_OK;
}

static int take_face(struct gt_export_options *options, const struct gt_export_face *face, const char *need)
{
	if (options->face)
		return gt_usage_error(&usage, "one format at a time");
	options->face = face;
	return face ? GT_RC_OK : gt_usage_error(&usage, "this gputrace was built without %s", need);
}

static int take(struct gt_export_options *options, int key)
{
	if (key == KEY_AGAINST)
		options->against = optarg;
	else if (key == KEY_CONTEXTS)
		return take_face(options, &contexts, NULL);
	else if (key == KEY_SPLIT)
		options->split = true;
	else if (key >= KEY_FACE)
		return take_face(options, faces[key - KEY_FACE], needs[key - KEY_FACE]);
	else if (key == 'o')
		options->out = optarg;
	else if (key == 'l')
		options->patterns = gt_patterns_and(options->patterns, optarg);
	else if (!gt_part_window(&options->part, optarg))
		return gt_usage_error(&usage, "'%s' is not a window of time (FROM:TO)", optarg);
	else
		options->window = optarg;
	return GT_RC_OK;
}

void gt_export_list(char *list, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(faces) / sizeof(faces[0]) && n < size; i++)
		if (faces[i])
			n += (size_t)snprintf(list + n, size - n, "%s ", faces[i]->option);
	if (n < size)
		snprintf(list + n, size - n, "%s", contexts.option);
}

static int export_contexts(const struct gt_export_options *options, const char *trace)
{
	struct gt_slice_options slice = { .out = options->out,
					  .patterns = options->patterns,
					  .window = options->window,
					  .part = options->part,
					  .quiet = true,
					  .contexts = true,
					  .command = usage.command };

	return gt_archive_read(&usage, trace, options->out, gt_slice, &slice);
}

int gt_cmd_export(int argc, char **argv)
{
	struct gt_export_options options = { .part = { .to = UINT64_MAX } };
	char other[3500], spool[3500];
	const char *reason = NULL;
	int key, status;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		status = take(&options, key);
		if (status)
			return status;
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	status = refuse(&options);
	if (status)
		return status;
	if (options.against)
		reason = gt_otf2_find_anchor(options.against, other, sizeof(other), spool, sizeof(spool));
	if (reason)
		return gt_archive_unreadable(&usage, options.against, reason);
	if (options.against)
		options.against = other;
	if (options.face == &contexts)
		return export_contexts(&options, argv[optind]);
	options.title = argv[optind];
	return gt_archive_read(&usage, argv[optind], options.out, gt_export_archive, &options);
}

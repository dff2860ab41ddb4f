/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace check`: is a trace well-formed? The archive is read in a child process (lib/read/guard.h).
 *
 * Limits: the rules are those of check_report.c; that the trace tells the truth is not among them.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/format.h"
#include "lib/read/guard.h"
#include "report/print/figures.h"
#include "report/sections/lacking.h"
#include "tools/archive.h"
#include "tools/check.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { KEY_JSON = 0x100, KEY_WERROR };

struct options {
	bool json, quiet, werror;
	char spool[3500];
};

static const struct gt_option option_table[] = {
	{'q', "quiet", NULL, "Print only the last line, and nothing if no rule is broken."},
	{KEY_JSON, "json", NULL, "Print the result as JSON."},
	{KEY_WERROR, "werror", NULL, "Warnings (events that were lost) are failures."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace check",
	"[options] DIR|FILE...",
	"Says whether a trace is well-formed, or which rule it breaks, and where.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0 all are well-formed, 1 one breaks a rule, 2 one cannot be read.\n",
	false};

/* ---- in the child ---------------------------------------------------------------------------- */

static bool number_of(const char *value, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	return end != value && *end == '\0' && !errno && *value != '-';
}

static void look_at_property(struct check *check, const char *name, const char *value)
{
	static const char prefix[] = GT_PROPERTY;
	uint64_t number = 0;
	unsigned cause;

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return;
	name += sizeof(prefix) - 1;
	if (!strcmp(name, "COMPLETE") && !strcmp(value, "no")) {
		check_warn(check, "the archive is not complete");
		check->excused = true;
	}
	if (!strcmp(name, "SLICE_TIME"))
		check->part = strcmp(value, ":");
	if (!number_of(value, &number) || !number)
		return;
	if (!strcmp(name, "CLOCK_ERROR_NS"))
		check->clock_error = number; /* ticks once the resolution is known */
	if (!strcmp(name, "HOSTS"))
		check->hosts = number;
	if (!strcmp(name, "CLOCK_READING_ERROR_NS"))
		check->reading_error = number;
	if (strncmp(name, GT_LOST, sizeof(GT_LOST) - 1))
		return;
	cause = gt_loss_cause(name + sizeof(GT_LOST) - 1);
	if (gt_loss_real(cause))
		check_warn(check, "the archive lacks %s events (%s)", value, name);
	/* Of what was filtered whole regions are missing: pairs stay pairs. */
	check->excused |= cause != GT_LOSS_FILTER;
}

/* Missing events may be halves of pairs. */
static void look_at_shortfalls(struct check *check)
{
	const struct gt_shortfall *what;

	for (size_t i = 0; (what = gt_shortfall_at(i)); i++) {
		struct gt_lacking all = gt_lacking_of(check->read, what);
		char text[640];

		if (!all.any)
			continue;
		gt_shortfall_text(what, all.sum, all.words, text, sizeof(text));
		if (what->kind == GT_NOTED)
			check_tell(check, "%s", text);
		else if (!strcmp(what->property, "RANKS_MISSING"))
			check_warn(check, "%s; were they traced, and is the directory shared by all hosts?",
				   text);
		else
			check_warn(check, "%s", text);
		check->excused |= what->kind != GT_NOTED;
	}
}

static void look_at_properties(struct check *check)
{
	for (size_t i = 0; i < check->read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(check->read, i);

		if (p->kind == GT_OTF2_KINDS && p->text)
			look_at_property(check, p->name, p->text);
	}
}

#define CLOCK_FINE_NS 1000000 /* no warning below */

/* An error of more than a thousandth of the run shows in figures. It is still in nanoseconds here. */
static void look_at_clocks(struct check *check, const struct gt_otf2 *read)
{
	double run_ns = (double)(read->end - read->begin) / (double)read->resolution * 1e9;
	char text[32];

	if (check->hosts > 1 && check->clock_error > CLOCK_FINE_NS &&
	    (double)check->clock_error > run_ns / 1000)
		check_warn(check,
			   "times of different hosts may differ by up to %s (CLOCK_ERROR_NS): waits between "
			   "hosts that are not longer cannot be relied on",
			   gt_cell_print(text, sizeof(text), (union gt_cell){ .count = check->clock_error },
					 GT_SECONDS));
}

static void check_events(struct check *check, struct gt_otf2 *read)
{
	check_prepare(check);
	gt_otf2_events(read);
	gt_otf2_markers(read, NULL);
	/* Halves of pairs may be in what could not be read. */
	if (check->broken[RULE_FILES].count)
		check_warn(check, "rules that span locations were not checked");
	else
		check_pairs(check);
	if (!check->events)
		check_warn(check, "the trace has no events");
}

static int check_archive(const char *anchor, void *argument, FILE *out)
{
	const struct options *options = argument;
	struct check *check = calloc(1, sizeof(*check));
	struct gt_otf2 *read;
	int rc;

	if (!check || pthread_mutex_init(&check->lock, NULL))
		gt_no_memory();
	if (*options->spool)
		check_warn(check, "%s still holds what was recorded: run 'gputrace recover'", options->spool);
	read = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &check_visitor, .user = check });
	check->read = read;
	if (read) {
		look_at_properties(check);
		rc = gt_otf2_definitions(read);
		look_at_shortfalls(check);
		if (!rc)
			look_at_clocks(check, read);
		if (!rc)
			check_events(check, read);
	}
	/* The reader is not closed: the process ends, and libotf2 may be in any state. */
	return check_report(check, out, options->json, options->quiet, options->werror);
}

/* ---- in the parent --------------------------------------------------------------------------- */

static int unreadable(const struct options *options, const char *path, const char *reason)
{
	if (options->json)
		printf("{\"ok\": false, \"status\": 2, \"unreadable\": \"%s\"}\n", reason);
	return gt_archive_unreadable(&usage, path, reason);
}

static int check_one(const char *name, struct options *options)
{
	const char *reason;
	char anchor[3500];
	int status;

	gt_archive_wait(&usage, name);
	reason = gt_otf2_find_anchor(name, anchor, sizeof(anchor), options->spool, sizeof(options->spool));
	if (reason)
		return unreadable(options, name, reason);
	status = gt_otf2_guarded(anchor, check_archive, options, &reason);
	return status < 0 ? unreadable(options, anchor, reason) : status;
}

int gt_cmd_check(int argc, char **argv)
{
	struct options options = {false, false, false, ""};
	int key, rc = GT_RC_OK;
	bool several;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		options.quiet |= key == 'q';
		options.json |= key == KEY_JSON;
		options.werror |= key == KEY_WERROR;
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind == argc)
		return gt_usage_error(&usage, "no trace was given");
	several = optind + 1 < argc && !options.quiet && !options.json;
	for (; optind < argc; optind++) {
		int one;

		if (several)
			printf("%s:\n", argv[optind]);
		one = check_one(argv[optind], &options);
		rc = one > rc ? one : rc;
	}
	return rc;
}

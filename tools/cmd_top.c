/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace top`: what traced processes of this host are doing now.
 *
 * Limits: shows processes of runs with VT_LIVE=1, or of one run whose archive directory is given; the latter
 * reads the event buffers itself and needs nothing of the program.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/common/settings.h"
#include "live/run.h"
#include "live/show.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { KEY_PLAIN = 0x100, KEY_CSV, KEY_JSON, KEY_PROMETHEUS, KEY_PUBLISH };

static const struct gt_option options[] = {
	{ 'i', "interval", "SECONDS", "Time between two looks (default: 1)." },
	{ 'n', "count", "N", "Print N times and end; 0: until interrupted (default: once)." },
	{ 'f', "filter", "TEXT", "Only programs, locations, regions and metrics with this in their names." },
	{ 'p', "pid", "PID", "Only this process." },
	{ 's', "sort", "KEY", "By rank, rate, events, lost or name (default: rank)." },
	{ 'r', "reverse", NULL, "In the opposite order." },
	{ 'm', "metrics", NULL, "Show metrics instead of locations." },
	{ KEY_PLAIN, "plain", NULL, "Print text also to a terminal." },
	{ KEY_CSV, "csv", NULL, "Print comma-separated values, one a line." },
	{ KEY_JSON, "json", NULL, "Print one JSON object a line." },
	{ KEY_PROMETHEUS, "prometheus", NULL, "Print the text format of Prometheus." },
	{ KEY_PUBLISH, "publish", NULL,
	  "Show nothing: publish the run in DIR until it ends, as VT_LIVE=1 does." },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	.command = "gputrace top",
	.synopsis = "[options] [DIR]",
	.summary = "Shows what traced processes of this host are doing now: all that run with VT_LIVE=1,\n"
		   "or those of the run that is recorded into the archive directory DIR.",
	.options = options,
	.notes = "Exit status: 0, 1 if no process was found, 2 for wrong usage.\n",
};

static struct {
	struct gt_live_choice choice;
	enum gt_live_format format;
	bool plain, publish, counted;
	unsigned long count;
	uint64_t interval_ns;
} request = {.choice = {.filter = ""}, .count = 1, .interval_ns = 1000000000};

static volatile int interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int set_order(const char *word)
{
	for (int i = 0; i < GT_LIVE_ORDERS; i++)
		if (!strcmp(word, gt_live_order_names[i])) {
			request.choice.order = i;
			return 0;
		}
	return gt_usage_error(&usage, "--sort takes rank, rate, events, lost or name, not '%s'", word);
}

static int set_interval(const char *word)
{
	char *end;
	double seconds = strtod(word, &end);

	if (*end || end == word || !(seconds >= 0.01 && seconds <= 86400))
		return gt_usage_error(&usage, "--interval takes seconds from 0.01 to 86400, not '%s'", word);
	request.interval_ns = (uint64_t)(seconds * 1e9);
	return 0;
}

static int set_number(const char *option, const char *word, unsigned long *value)
{
	char *end;

	*value = strtoul(word, &end, 10);
	if (*end || *word < '0' || *word > '9' || *value > 4000000000ul)
		return gt_usage_error(&usage, "%s takes a number, not '%s'", option, word);
	return 0;
}

static int take(int key)
{
	unsigned long number;
	int rc = 0;

	switch (key) {
	case 'i':
		return set_interval(optarg);
	case 'n':
		request.counted = true;
		return set_number("--count", optarg, &request.count);
	case 'p':
		rc = set_number("--pid", optarg, &number);
		request.choice.pid = (unsigned)number;
		return rc;
	case 'f':
		request.choice.filter = optarg;
		return 0;
	case 's':
		return set_order(optarg);
	case 'r':
		request.choice.reverse = true;
		return 0;
	case 'm':
		request.choice.view = GT_LIVE_METRICS;
		return 0;
	case KEY_PUBLISH:
		request.publish = true;
		return 0;
	}
	request.plain = true;
	request.format = key == KEY_CSV ? GT_LIVE_CSV : key == KEY_JSON ? GT_LIVE_JSON
		       : key == KEY_PROMETHEUS ? GT_LIVE_PROMETHEUS : GT_LIVE_PLAIN;
	return 0;
}

static void pause_for(uint64_t ns)
{
	const struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&ts, NULL);
}

/* Prints `count` times. What is read from the buffers directly has rates from the second look on. */
static int print(struct gt_live_run *run)
{
	struct gt_live_set set;
	bool found = false;

	if (run) {
		gt_live_run_look(run, request.interval_ns);
		pause_for(request.interval_ns);
	}
	for (unsigned long i = 0; !interrupted && (!request.count || i < request.count); i++) {
		if (i)
			pause_for(request.interval_ns);
		gt_live_gather(&set, run, request.interval_ns);
		found |= set.count > 0;
		gt_live_print(&set, &request.choice, request.format, !i);
		gt_live_set_free(&set);
		if (ferror(stdout))
			break;
	}
	if (found)
		return GT_RC_OK;
	fprintf(stderr,
		run ? "gputrace top: no process of this run is being recorded on this host\n"
		    : "gputrace top: nothing to show: start a program with VT_LIVE=1, or name an archive "
		      "directory\n");
	return GT_RC_BAD;
}

static int publish(const char *dir)
{
	char why[512];

	if (gt_live_publish(dir, gt_settings.test_host, request.interval_ns, &interrupted, why,
			    sizeof(why))) {
		fprintf(stderr, "gputrace top: %s\n", why);
		return GT_RC_BAD;
	}
	return GT_RC_OK;
}

static int show(const char *dir)
{
	struct gt_live_run *run = NULL;
	char why[512];
	int rc;

	if (dir) {
		run = gt_live_run_open(dir, gt_settings.test_host, why, sizeof(why));
		if (!run) {
			fprintf(stderr, "gputrace top: %s\n", why);
			return GT_RC_BAD;
		}
	}
	if (!request.plain && !request.counted && gt_live_has_screen() && isatty(0) && isatty(1))
		rc = gt_live_screen(run, &request.choice, request.interval_ns);
	else
		rc = print(run);
	if (run)
		gt_live_run_close(run);
	return rc;
}

static void ignore(const char *sentence)
{
	(void)sentence;
}

int gt_cmd_top(int argc, char **argv)
{
	const struct sigaction note = {.sa_handler = note_interrupt};
	const char *dir;
	int key, rc = 0;

	while (!rc && (key = gt_option_next(&usage, argc, argv)) > 0)
		rc = take(key);
	if (rc || key < 0)
		return rc ? rc : GT_OPT_STATUS(key);
	dir = optind < argc ? argv[optind] : NULL;
	if (optind + 1 < argc)
		return gt_usage_error(&usage, "one archive directory, not %d", argc - optind);
	if (request.publish && !dir)
		return gt_usage_error(&usage, "--publish needs an archive directory");
	gt_settings_load(environ, ignore);
	sigaction(SIGINT, &note, NULL);
	sigaction(SIGTERM, &note, NULL);
	return request.publish ? publish(dir) : show(dir);
}

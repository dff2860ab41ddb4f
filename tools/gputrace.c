/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `gputrace` command: finds the sub-command in a table and calls it.
 *
 * Limits: knows nothing about traces; each sub-command parses its own options.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "gputrace/near.h"
#include "tools/anew.h"
#include "tools/cmds.h"
#include "tools/options.h"
#include "tools/run_parent.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* NULL: not listed */
} commands[] = {
	{"run", gt_cmd_run, "Run a command and record what it does."},
	{"top", gt_cmd_top, "Show what traced processes are doing now."},
	{"report", gt_cmd_report, "Show where the time of a run went, and what to try."},
	{"html", gt_cmd_html, "Write a trace as one page that any browser shows."},
	{"view", gt_cmd_view, "Show a trace in the browser, down to single events."},
	{"diff", gt_cmd_diff, "Compare runs: what became slower or faster."},
	{"whatif", gt_cmd_whatif, "Predict how long a run takes if something in it is changed."},
	{"timeline", gt_cmd_timeline, "Draw the timeline of a trace, in the terminal or as a picture."},
	{"export", gt_cmd_export, "Write a trace in the formats of other programs."},
	{"slice", gt_cmd_slice, "Extract a part of a trace into a smaller archive."},
	{"source", gt_cmd_source, "Show the source lines at which GPU kernels spend their time."},
	{"flow", gt_cmd_flow, "Merge the control flow of all streams, and show which differ."},
	{"check", gt_cmd_check, "Check whether a trace is well-formed, or which rule it breaks."},
	{"recover", gt_cmd_recover, "Create a readable archive of a run that was killed."},
	{"filter", gt_cmd_filter, "Check a filter file, and show its effect on a function."},
	{"libwrapgen", gt_cmd_libwrapgen, "Generate wrappers that record all calls of a library."},
	{"info", gt_cmd_info, "Show the version, what was found on this machine, and all settings."},
	{"assemble", gt_cmd_assemble, NULL},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct gt_duty duties[] = {
	{"parent", gt_duty_parent},
	{"watcher", gt_duty_watcher},
	{"live", gt_duty_live},
	{NULL, NULL},
};

static int print_help(void)
{
	printf("Usage: gputrace COMMAND [options] [arguments]\n"
	       "Records what threads, processes and GPUs do, into OTF2 archives.\n\nCommands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].summary)
			printf("  %-11s %s\n", commands[i].name, commands[i].summary);
	printf("\n  gputrace COMMAND --help   says more about one command\n"
	       "  gputrace --version        prints the version\n\n"
	       "Start with:  gputrace run ./program\n");
	return GT_RC_OK;
}

static int print_words(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].summary)
			printf("%s\n", commands[i].name);
	printf("--help\n--version\n");
	return GT_RC_OK;
}

static int unknown(const char *word)
{
	const char *near = NULL;
	unsigned least = gt_near_distance(word, "help", GT_UNLIKE);

	if (least < GT_UNLIKE)
		near = "help";
	for (size_t i = 0; i < COMMANDS; i++) {
		unsigned distance = gt_near_distance(word, commands[i].name, least);

		if (commands[i].summary && distance < least) {
			least = distance;
			near = commands[i].name;
		}
	}
	for (size_t i = 0; i < COMMANDS && !near; i++) /* a long word that ends otherwise */
		if (commands[i].summary && strlen(word) > 3 && !strncmp(word, commands[i].name, 3))
			near = commands[i].name;
	fprintf(stderr, "gputrace: '%s' is not a command.", word);
	if (near)
		fprintf(stderr, " Did you mean '%s'?", near);
	fprintf(stderr, "\nTry 'gputrace --help'.\n");
	return GT_RC_USAGE;
}

/* A result that never reached its reader is a failure (a full disk, for example). */
static int finish(int status)
{
	if ((fflush(stdout) || ferror(stdout)) && status == GT_RC_OK) {
		fprintf(stderr, "gputrace: standard output cannot be written: %m\n");
		return GT_RC_BAD;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	int duty = gt_anew_duty(duties, argv);

	if (duty >= 0)
		return duty;
	if (!word) {
		fprintf(stderr, "gputrace: a command is missing.\nTry 'gputrace --help'.\n");
		return GT_RC_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && argc == 2))
		return finish(print_help());
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		printf("gputrace %s\n", PACKAGE_VERSION);
		return finish(GT_RC_OK);
	}
	if (!strcmp(word, "--completion-words"))
		return finish(print_words());
	if (!strcmp(word, "help")) { /* gputrace help run */
		argv[1] = argv[2];
		argv[2] = (char *)"--help";
		word = argv[1];
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(word, commands[i].name))
			return finish(commands[i].run(argc - 1, argv + 1));
	return unknown(word);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command-line options of the tools: one table gives the parser, --help and the completion words.
 *
 * Limits: a thin layer over getopt_long, so it keeps getopt's global state (optind, optarg): one
 * command line per process.
 */
#ifndef GT_TOOLS_OPTIONS_H
#define GT_TOOLS_OPTIONS_H

#include <stdbool.h>

struct gt_option {
	int key;          /* the letter, or a number above 255 if there is none */
	const char *name; /* long name without dashes; NULL ends the table */
	const char *arg;  /* its argument for --help; "[=NAME]": it may be missing; NULL: it has none */
	const char *help; /* one line; NULL: not listed */
};

struct gt_usage {
	const char *command;              /* "gputrace run" */
	const char *synopsis;             /* "[options] [--] command [arguments]" */
	const char *summary;              /* one sentence */
	const struct gt_option *options;
	const char *notes;                /* printed below the options, or NULL */
	bool stop_at_operand;             /* options end at the first word that is none */
};

enum {
	GT_OPT_DONE = 0,  /* no options left; argv[optind] is the first operand */
	GT_OPT_HELP = -1, /* --help was asked for and has been printed */
	GT_OPT_BAD = -3,  /* wrong usage; a sentence has been printed on stderr */
};

/* The exit status for a negative answer of gt_option_next. */
#define GT_OPT_STATUS(answer) (-(answer) - 1)

/*
 * The next option's key, or one of the values above. -h, --help, --version and --completion-words are known
 * to every command and must not be in the table.
 */
int gt_option_next(const struct gt_usage *usage, int argc, char **argv);

/* Prints "gputrace run: <sentence>" and a hint at --help on stderr; returns GT_RC_USAGE. */
int gt_usage_error(const struct gt_usage *usage, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The patterns of an option that may be given more than once: NULL, or those before, and another one. */
const char *gt_patterns_and(const char *patterns, const char *more);

/* Columns of the terminal that stdout is; `otherwise` if it is none, or too narrow for a table. */
unsigned gt_terminal_width(unsigned otherwise);

/*
 * One line "[gputrace] ..." on stderr, as the traced process and the summary have it: what may stand among
 * another program's output. Only if VT_VERBOSE is at least `level`.
 */
void gt_say(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The least edit distance at which a word is none that was meant, for "did you mean". */
enum { GT_UNLIKE = 3 };

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command-line options of the tools (tools/options.h).
 *
 * Limits: at most 64 options in a table.
 */
#include "config.h"
#include "tools/options.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gputrace/near.h"
#include "lib/assemble/util/memory.h"
#include "lib/common/settings.h"
#include "tools/cmds.h"

enum { MAX_OPTIONS = 64, KEY_HELP = 'h', KEY_WORDS = 0x7000, KEY_VERSION };

static int takes(const struct gt_option *o)
{
	if (!o->arg)
		return no_argument;
	return *o->arg == '[' ? optional_argument : required_argument;
}

static void print_help(const struct gt_usage *usage)
{
	printf("Usage: %s %s\n%s\n\nOptions:\n", usage->command, usage->synopsis, usage->summary);
	for (const struct gt_option *o = usage->options; o->name; o++) {
		char left[80];
		char letter[8] = "    ";

		if (!o->help)
			continue;
		if (o->key < 256)
			snprintf(letter, sizeof(letter), "-%c, ", o->key);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name,
			 takes(o) == required_argument ? "=" : "", o->arg ? o->arg : "");
		printf(strlen(left) > 26 ? "  %s\n%29s%s\n" : "  %-26s %.0s%s\n", left, "", o->help);
	}
	printf("  %-26s %s\n", "-h, --help", "Print this help.");
	if (usage->notes)
		printf("\n%s%s", usage->notes,
		       usage->notes[strlen(usage->notes) - 1] == '\n' ? "" : "\n");
}

static void print_words(const struct gt_usage *usage)
{
	for (const struct gt_option *o = usage->options; o->name; o++)
		if (o->help)
			printf("--%s%s\n", o->name, takes(o) == required_argument ? "=" : "");
	printf("--help\n");
}

/* getopt wants its own tables; ours are small, so they are made anew at the first call. */
static const struct option *translate(const struct gt_usage *usage, const char **letters)
{
	static struct option table[MAX_OPTIONS + 4];
	static char text[3 * MAX_OPTIONS + 8];
	static const struct gt_usage *done;
	char *t = text;
	size_t n = 0;

	*letters = text;
	if (done == usage)
		return table;
	done = usage;
	*t++ = usage->stop_at_operand ? '+' : '-';
	if (!usage->stop_at_operand)
		t--;
	*t++ = 'h';
	for (const struct gt_option *o = usage->options; o->name && n < MAX_OPTIONS; o++) {
		table[n++] = (struct option){o->name, takes(o), NULL, o->key};
		if (o->key < 256) {
			*t++ = (char)o->key;
			if (o->arg)
				*t++ = ':';
		}
	}
	*t = '\0';
	table[n++] = (struct option){"help", no_argument, NULL, KEY_HELP};
	table[n++] = (struct option){"version", no_argument, NULL, KEY_VERSION};
	table[n++] = (struct option){"completion-words", no_argument, NULL, KEY_WORDS};
	table[n] = (struct option){NULL, 0, NULL, 0};
	return table;
}

/* "--jsno": the option whose name is most like it, or NULL. */
static const char *meant(const struct option *table, const char *word)
{
	char name[64];
	unsigned least = GT_UNLIKE;
	const char *found = NULL;

	if (strncmp(word, "--", 2))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (const struct option *o = table; o->name; o++) {
		unsigned distance = gt_near_distance(o->name, name, least);

		if (o->val != KEY_WORDS && distance < least && distance < strlen(name)) {
			least = distance;
			found = o->name;
		}
	}
	return found;
}

/* Behind what getopt has said. */
static int bad_option(const struct gt_usage *usage, const struct option *table, char **argv)
{
	const char *near = !optopt && optind > 0 && argv[optind - 1] ? meant(table, argv[optind - 1]) : NULL;

	if (near)
		fprintf(stderr, "Did you mean '--%s'? ", near);
	fprintf(stderr, "Try '%s --help'.\n", usage->command);
	return GT_OPT_BAD;
}

int gt_option_next(const struct gt_usage *usage, int argc, char **argv)
{
	const char *letters;
	const struct option *table = translate(usage, &letters);
	char name[128];
	int key;

	/* getopt starts its own messages with argv[0], which is only the last word of our name. */
	snprintf(name, sizeof(name), "%s", usage->command);
	char *saved = argv[0];
	argv[0] = name;
	key = getopt_long(argc, argv, letters, table, NULL);
	argv[0] = saved;

	switch (key) {
	case -1:
		return GT_OPT_DONE;
	case KEY_HELP:
		print_help(usage);
		return GT_OPT_HELP;
	case KEY_WORDS:
		print_words(usage);
		return GT_OPT_HELP;
	case KEY_VERSION:
		printf("gputrace %s\n", PACKAGE_VERSION);
		return GT_OPT_HELP;
	case '?':
		return bad_option(usage, table, argv);
	default:
		return key;
	}
}

int gt_usage_error(const struct gt_usage *usage, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", usage->command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry '%s --help'.\n", usage->command);
	return GT_RC_USAGE;
}

const char *gt_patterns_and(const char *patterns, const char *more)
{
	char *both;

	if (!patterns)
		return more;
	if (asprintf(&both, "%s;%s", patterns, more) < 0)
		gt_no_memory();
	return both; /* until the end of the process */
}

unsigned gt_terminal_width(unsigned otherwise)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 40 ? otherwise : size.ws_col;
}

void gt_say(int level, const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	if (gt_settings.verbose < level)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = '?';
	fprintf(stderr, "[gputrace] %s\n", text);
}

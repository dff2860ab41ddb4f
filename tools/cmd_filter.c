/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace filter`: checks a filter file, and says which of its rules a function falls under. `gputrace
 * filter suggest` is in cmd_suggest.c.
 *
 * Limits: reads the files with the very code that the traced process uses, so what it says is what
 * happens; what depends on the moment (limits, levels, call paths) it can only describe.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/common/demangle.h"
#include "lib/common/filter.h"
#include "lib/common/text.h"
#include "tools/cmds.h"
#include "tools/options.h"

#define NAMES_MAX 256

static const struct gt_option options[] = {
	{'c', "check", NULL, "Check the file (the default without --match)."},
	{'m', "match", "NAME", "Show which rule applies to the function; may be repeated."},
	{'g', "groups", "FILE", "Use this groups file, too (VT_GROUPS_SPEC)."},
	{'G', "group", "GROUP", "The functions' group, unless the groups file has one."},
	{'r', "rank", "N", "Apply the rules as MPI rank N (default: no rank)."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	.command = "gputrace filter",
	.synopsis = "[options] FILE, or gputrace filter suggest [options] DIR",
	.summary = "Checks a filter file, and shows its effect on a function.",
	.options = options,
	.notes = "NAME may be mangled. The exit status is 0, or 1 if the file cannot be read or has\n"
		 "lines that are ignored.\n",
};

static void complain(const char *sentence)
{
	fprintf(stderr, "%s\n", sentence);
}

static bool parse_rank(const char *text, int64_t *rank)
{
	char *end;

	errno = 0;
	*rank = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static void say_rule(const struct gt_filter_rule *rule)
{
	if (!rule->limit)
		fputs("never recorded", stdout);
	else if (rule->limit < 0)
		fputs("recorded", stdout);
	else
		printf("recorded %lld time%s in each thread", (long long)rule->limit,
		       rule->limit == 1 ? "" : "s");
	if (rule->limit && rule->max != UINT32_MAX)
		printf(", on levels %u to %u of the call stack", rule->min, rule->max);
	else if (rule->limit && rule->min > 1)
		printf(", from level %u of the call stack", rule->min);
	if (rule->recursive)
		fputs("; when it is not, nor is what it calls", stdout);
}

static void match(const struct gt_filter *filter, const char *name, const char *group)
{
	static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];
	char shown[1024], text[512];
	struct gt_filter_names names = { .name = name, .group = group };
	uint32_t index;

	if (gt_demangle(name, full, plain)) {
		names.full = full;
		names.plain = plain;
	}
	gt_text_escape(shown, sizeof(shown), name, strlen(name));
	printf("%s", shown);
	if (names.plain) {
		gt_text_escape(shown, sizeof(shown), *full ? full : plain,
			       strlen(*full ? full : plain));
		printf(" (%s)", shown);
	}
	fputs(": ", stdout);
	index = gt_filter_match(filter, &names);
	if (index == GT_RULE_NONE) {
		fputs("recorded; no rule matches", stdout);
	} else {
		struct gt_filter_rule rule = gt_filter_rule_at(filter, index);

		say_rule(&rule);
		gt_filter_rule_text(filter, index, text, sizeof(text));
		printf(" [line %u: %s]", rule.line, text);
	}
	if (gt_filter_path_word(filter, &names))
		fputs("; call-path rules name it, too", stdout);
	putchar('\n');
}

static void say_counts(const struct gt_filter *filter, const char *path, int ignored, bool off)
{
	char shown[1024];

	gt_text_escape(shown, sizeof(shown), path, strlen(path));
	printf("%s: %u rule%s", shown, gt_filter_count(filter, GT_FILTER_RULES),
	       gt_filter_count(filter, GT_FILTER_RULES) == 1 ? "" : "s");
	if (gt_filter_count(filter, GT_FILTER_GROUPS))
		printf(", %u groups", gt_filter_count(filter, GT_FILTER_GROUPS));
	if (off)
		fputs(", this rank is off", stdout);
	if (ignored)
		printf(", %d line%s ignored\n", ignored, ignored == 1 ? "" : "s");
	else
		puts(", fine");
}

int gt_cmd_filter(int argc, char **argv)
{
	const char *names[NAMES_MAX], *groups = NULL, *group = "Application";
	struct gt_filter *filter;
	int option, ignored, more = 0;
	unsigned count = 0;
	int64_t rank = -1;
	bool off;

	if (argc > 1 && !strcmp(argv[1], "suggest"))
		return gt_cmd_suggest(argc - 1, argv + 1);
	while ((option = gt_option_next(&usage, argc, argv)) > 0) {
		switch (option) {
		case 'm':
			if (count == NAMES_MAX)
				return gt_usage_error(&usage, "too many names");
			names[count++] = optarg;
			break;
		case 'g':
			groups = optarg;
			break;
		case 'G':
			group = optarg;
			break;
		case 'r':
			if (!parse_rank(optarg, &rank))
				return gt_usage_error(&usage, "'%s' is not a rank", optarg);
			break;
		}
	}
	if (option != GT_OPT_DONE)
		return GT_OPT_STATUS(option);
	if (optind != argc - 1)
		return gt_usage_error(&usage, "one filter file is needed");
	filter = gt_filter_new();
	if (!filter) {
		complain("gputrace filter: out of memory");
		return GT_RC_BAD;
	}
	gt_filter_report_all(filter);
	ignored = gt_filter_read(filter, GT_FILTER_RULES, argv[optind], complain);
	if (groups)
		more = gt_filter_read(filter, GT_FILTER_GROUPS, groups, complain);
	if (ignored < 0 || more < 0) {
		gt_filter_free(filter);
		return GT_RC_BAD;
	}
	off = !gt_filter_set_rank(filter, rank);
	for (unsigned i = 0; i < count; i++)
		match(filter, names[i], group);
	if (!count)
		say_counts(filter, argv[optind], ignored + more, off);
	gt_filter_free(filter);
	return ignored + more ? GT_RC_BAD : GT_RC_OK;
}

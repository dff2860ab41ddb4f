/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: a filter file, a groups file and names, separated by a line "%%".
 *
 * Limits: inputs of at most 16 KiB; short wildcards are compared with a naive matcher.
 *
 * fuzz-sources: lib/common/filter.c lib/common/filter_match.c lib/common/text.c
 */
#include "lib/common/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

static void complain(const char *sentence)
{
	size_t length = strlen(sentence);

	require(length > 4 && length < 512, "length of a complaint");
	for (size_t i = 0; i < length; i++)
		require(sentence[i] >= 0x20 && sentence[i] < 0x7f, "printable complaint");
}

/* The part up to the next "\n%%\n"; moves *at behind it. */
static size_t part(const char **at, const char *end)
{
	const char *begin = *at, *mark = memmem(begin, (size_t)(end - begin), "\n%%\n", 4);

	*at = mark ? mark + 4 : end;
	return (size_t)((mark ? mark : end) - begin);
}

static bool naive(const char *p, const char *n)
{
	if (!*p)
		return !*n;
	if (*p == '*')
		return naive(p + 1, n) || (*n && naive(p, n + 1));
	return *p == *n && naive(p + 1, n + 1);
}

static void check_wildcards(const char *pattern, const char *name)
{
	uint16_t table[16];
	size_t length = strlen(pattern);

	if (length > 12 || strlen(name) > 20)
		return;
	gt_wildcard_prepare(pattern, length, table);
	require(gt_wildcard_match(pattern, length, table, name, strlen(name)) == naive(pattern, name),
		"both matchers agree");
}

static void check_rule(const struct gt_filter *filter, uint32_t index)
{
	struct gt_filter_rule rule = gt_filter_rule_at(filter, index);
	char text[300];

	gt_filter_rule_text(filter, index, text, sizeof(text));
	require(strlen(text) < sizeof(text), "text of a rule");
	if (index == GT_RULE_NONE)
		return;
	require(rule.limit >= -1 && rule.min >= 1 && rule.min <= rule.max && rule.line >= 1,
		"a sane rule");
	require(gt_filter_needs(filter) & GT_FILTER_HAS_RULES, "needs tell of the rule");
}

static void check_names(const struct gt_filter *filter, char *text)
{
	uint32_t state = 0;
	char *last = (char *)"", *saved, *name;

	for (name = strtok_r(text, "\n", &saved); name; name = strtok_r(NULL, "\n", &saved)) {
		struct gt_filter_names names = { .name = name, .full = last, .group = last };
		const char *group = gt_filter_group(filter, &names);

		require(group && strlen(group) <= 16384, "a group");
		check_rule(filter, gt_filter_match(filter, &names));
		state = gt_filter_path_step(filter, state, gt_filter_path_word(filter, &names));
		check_rule(filter, gt_filter_path_rule(filter, state));
		check_wildcards(last, name);
		last = name;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size, *begin = at;
	struct gt_filter *filter = gt_filter_new();
	size_t length = part(&at, end);
	char *names;

	require(filter != NULL, "memory");
	gt_filter_parse(filter, GT_FILTER_RULES, "rules", begin, length, complain);
	begin = at;
	length = part(&at, end);
	gt_filter_parse(filter, GT_FILTER_GROUPS, "groups", begin, length, complain);
	for (int64_t rank = -1; rank < 6; rank += 3) {
		names = strndup(at, (size_t)(end - at));
		gt_filter_set_rank(filter, rank);
		check_names(filter, names);
		free(names);
	}
	gt_filter_free(filter);
	return 0;
}

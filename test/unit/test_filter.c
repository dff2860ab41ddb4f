/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/filter.c and filter_match.c: lines good and bad, wildcards, ranks,
 * groups, call paths, limits of size.
 *
 * Limits: which rule holds, not what the recording side makes of it (test_verdict.c, test_callstack.c).
 */
#include "lib/common/filter.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char complaints[64][600];
static int complaint_count;

static void note(const char *sentence)
{
	cr_assert(complaint_count < 64);
	cr_assert(strlen(sentence) < sizeof(complaints[0]));
	for (const char *c = sentence; *c; c++)
		cr_expect(*c >= 0x20 && *c < 0x7f, "byte %#x in \"%s\"", (unsigned char)*c,
			  sentence);
	strcpy(complaints[complaint_count++], sentence);
}

static struct gt_filter *parse_bytes(const char *text, size_t size)
{
	struct gt_filter *filter = gt_filter_new();

	cr_assert(filter);
	complaint_count = 0;
	gt_filter_parse(filter, GT_FILTER_RULES, "f", text, size, note);
	return filter;
}

static struct gt_filter *parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static uint32_t match(const struct gt_filter *filter, const char *name, const char *group)
{
	struct gt_filter_names names = { .name = name, .group = group };

	return gt_filter_match(filter, &names);
}

/* The line of the rule that a name matches, 0: none. */
static uint32_t line_of(const struct gt_filter *filter, const char *name)
{
	uint32_t rule = match(filter, name, NULL);

	return rule == GT_RULE_NONE ? 0 : gt_filter_rule_at(filter, rule).line;
}

static const struct {
	const char *pattern, *name;
	bool matches;
} wildcards[] = {
	{ "", "", true },
	{ "", "a", false },
	{ "*", "", true },
	{ "*", "anything at all", true },
	{ "**", "", true },
	{ "***", "x", true },
	{ "foo", "foo", true },
	{ "foo", "foobar", false },
	{ "foo", "f", false },
	{ "foo*", "foo", true },
	{ "foo*", "foobar", true },
	{ "foo*", "xfoo", false },
	{ "*foo", "foo", true },
	{ "*foo", "barfoo", true },
	{ "*foo", "foox", false },
	{ "*foo*", "a foo b", true },
	{ "*foo*", "fofoo", true },
	{ "*foo*", "f oo", false },
	{ "a*b*c", "abc", true },
	{ "a*b*c", "aXbYc", true },
	{ "a*b*c", "acb", false },
	{ "a*a", "a", false }, /* head and tail must not overlap */
	{ "ab*ab", "ab", false },
	{ "ab*ab", "aba", false },
	{ "ab*ab", "abab", true },
	{ "*ab*ab*", "abxab", true },
	{ "*ab*ab*", "aab", false },
	{ "*aab*", "aaab", true },
	{ "*ababac*", "abababac", true },
	{ "*aabaaa*", "aabaabaaa", true },
	{ "a**b", "ab", true },
	{ "operator[]", "operator[]", true }, /* no classes of characters */
	{ "f?", "fx", false },                /* and no question marks */
	{ "f?", "f?", true },
	{ "*::*", "std::f", true },
	{ "std::*<*>::push*", "std::vector<int>::push_back", true },
};

Test(filter, wildcards)
{
	for (size_t i = 0; i < sizeof(wildcards) / sizeof(wildcards[0]); i++) {
		const char *p = wildcards[i].pattern, *n = wildcards[i].name;
		uint16_t table[64];

		gt_wildcard_prepare(p, strlen(p), table);
		cr_expect_eq(gt_wildcard_match(p, strlen(p), table, n, strlen(n)),
			     wildcards[i].matches, "\"%s\" and \"%s\"", p, n);
	}
}

/* Against a matcher that is too simple to be wrong, on all short words over two letters. */
static bool simple(const char *p, const char *n)
{
	if (!*p)
		return !*n;
	if (*p == '*')
		return simple(p + 1, n) || (*n && simple(p, n + 1));
	return *p == *n && simple(p + 1, n + 1);
}

static void word(char *out, unsigned number, const char *letters)
{
	unsigned base = (unsigned)strlen(letters);

	for (; number; number = (number - 1) / base)
		*out++ = letters[(number - 1) % base];
	*out = '\0';
}

Test(filter, wildcards_exhaustive)
{
	unsigned compared = 0;

	for (unsigned i = 0; i < 1093; i++) /* up to six of "ab*" */
		for (unsigned j = 0; j < 255; j++) { /* up to seven of "ab" */
			char p[16], n[16];
			uint16_t table[16];

			word(p, i, "ab*");
			word(n, j, "ab");
			gt_wildcard_prepare(p, strlen(p), table);
			cr_assert_eq(gt_wildcard_match(p, strlen(p), table, n, strlen(n)),
				     simple(p, n), "\"%s\" and \"%s\"", p, n);
			compared++;
		}
	cr_expect_eq(compared, 1093 * 255);
}

/* The pattern that makes backtracking matchers take years. */
Test(filter, wildcards_linear, .timeout = 10)
{
	enum { N = 4000 };
	static char pattern[N + 1], name[N + 1];
	static uint16_t table[N];
	struct timespec a, b;

	for (int i = 0; i < N - 1; i++)
		pattern[i] = i % 2 ? '*' : 'a';
	pattern[N - 1] = 'b';
	memset(name, 'a', N);
	clock_gettime(CLOCK_MONOTONIC, &a);
	gt_wildcard_prepare(pattern, N, table);
	for (int i = 0; i < 1000; i++)
		cr_assert_not(gt_wildcard_match(pattern, N, table, name, N));
	memset(pattern + 1, 'a', N - 2); /* a long piece that nearly fits everywhere */
	pattern[0] = pattern[N - 1] = '*';
	pattern[N / 2] = 'b';
	gt_wildcard_prepare(pattern, N, table);
	for (int i = 0; i < 1000; i++)
		cr_assert_not(gt_wildcard_match(pattern, N, table, name, N));
	clock_gettime(CLOCK_MONOTONIC, &b);
	cr_expect_lt(b.tv_sec - a.tv_sec, 5);
}

static const struct {
	const char *line;
	int64_t limit;
	uint32_t min, max;
	bool recursive, group, path;
} good[] = {
	{ "foo -- 0", 0, 1, UINT32_MAX, false, false, false },
	{ "foo -- -1", -1, 1, UINT32_MAX, false, false, false },
	{ "foo--1000", 1000, 1, UINT32_MAX, false, false, false },
	{ "foo---1", -1, 1, UINT32_MAX, false, false, false },
	{ "  foo ;bar;; \t--\t3000000 \r", 3000000, 1, UINT32_MAX, false, false, false },
	{ "foo -- 9223372036854775807", INT64_MAX, 1, UINT32_MAX, false, false, false },
	{ "foo -- 10 S:5", 10, 1, 5, false, false, false },
	{ "foo -- 10 S:5-10", 10, 5, 10, false, false, false },
	{ "foo -- 10 s:1-1 r", 10, 1, 1, true, false, false },
	{ "foo -- 0 R", 0, 1, UINT32_MAX, true, false, false },
	{ "foo -- 0 G", 0, 1, UINT32_MAX, false, true, false },
	{ "foo -- 500 S:2-3 R G", 500, 2, 3, true, true, false },
	{ "foo -- 500 g r S:2-3", 500, 2, 3, true, true, false },
	{ "foo;bar -- 7 C", 7, 1, UINT32_MAX, false, false, true },
	{ "foo;bar -- 7 C R", 7, 1, UINT32_MAX, true, false, true },
	{ "foo -- 0# comment", 0, 1, UINT32_MAX, false, false, false },
	{ "foo -- 0 # -- 5", 0, 1, UINT32_MAX, false, false, false },
	{ "it::operator-- -- 3", 3, 1, UINT32_MAX, false, false, false },
	{ "it::operator--;foo -- 3 S:4294967295", 3, 1, UINT32_MAX, false, false, false },
	{ "\xef\xbb\xbf" "foo -- 4", 4, 1, UINT32_MAX, false, false, false },
};

Test(filter, good_lines)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct gt_filter *filter = parse(good[i].line);
		struct gt_filter_rule rule = gt_filter_rule_at(filter, 0);

		cr_expect_eq(complaint_count, 0, "%s: %s", good[i].line, complaints[0]);
		cr_expect_eq(rule.line, 1, "%s", good[i].line);
		cr_expect_eq(rule.limit, good[i].limit, "%s: %ld", good[i].line, (long)rule.limit);
		cr_expect_eq(rule.min, good[i].min, "%s", good[i].line);
		cr_expect_eq(rule.max, good[i].max, "%s", good[i].line);
		cr_expect_eq(rule.recursive, good[i].recursive, "%s", good[i].line);
		cr_expect_eq(rule.group, good[i].group, "%s", good[i].line);
		cr_expect_eq(rule.path, good[i].path, "%s", good[i].line);
		gt_filter_free(filter);
	}
}

static const struct {
	const char *line, *why;
} bad[] = {
	{ "foo", "there is no \"--\" between names and limit" },
	{ "foo - 0", "there is no \"--\" between names and limit" },
	{ "foo --", "there is no limit after \"--\"" },
	{ "foo -- # 0", "there is no limit after \"--\"" },
	{ "-- 0", "it names nothing" },
	{ " ; ; -- 0", "it names nothing" },
	{ "foo -- -2", "the limit must be -1 (all calls), 0 (none) or a number of calls" },
	{ "foo -- x", "the limit must be -1 (all calls), 0 (none) or a number of calls" },
	{ "foo -- 5x", "the limit must be -1 (all calls), 0 (none) or a number of calls" },
	{ "foo -- 1e9", "the limit must be -1 (all calls), 0 (none) or a number of calls" },
	{ "foo -- 9223372036854775808",
	  "the limit must be -1 (all calls), 0 (none) or a number of calls" },
	{ "foo -- 99999999999999999999999999",
	  "the limit must be -1 (all calls), 0 (none) or a number of calls" },
	{ "foo -- 1 S:0", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:5-4", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:5-", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:-5", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:5-6x", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:4294967296", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 S:2 S:3", "the levels must be S:max or S:min-max, 1 or more" },
	{ "foo -- 1 X", "only S:, R, G and C may follow the limit" },
	{ "foo -- 1 RG", "only S:, R, G and C may follow the limit" },
	{ "foo -- 1 -- 2", "only S:, R, G and C may follow the limit" },
	{ "a;b -- 1 C G", "C cannot be combined with G or S:" },
	{ "a;b -- 1 C S:3", "C cannot be combined with G or S:" },
	{ "@", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ -- OFF", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 1 -- ON", "only \"-- OFF\" may follow the ranks" },
	{ "@ 1 --", "only \"-- OFF\" may follow the ranks" },
	{ "@ x", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 5 - 4", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 5 -", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 1,", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 1,,2", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 1 2", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ -1", "the ranks must be like 4 - 10, 20, 34" },
	{ "@ 99999999999999999999", "the ranks must be like 4 - 10, 20, 34" },
};

Test(filter, bad_lines)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[256], expect[512], shown[128];
		struct gt_filter *filter;
		size_t length;

		snprintf(text, sizeof(text), "first -- 1\n%s\nlast -- 2\n", bad[i].line);
		filter = parse(text);
		cr_assert_eq(complaint_count > 0, true, "\"%s\" was accepted", bad[i].line);
		strcpy(shown, bad[i].line + strspn(bad[i].line, " "));
		length = strcspn(shown, "#");
		while (length && shown[length - 1] == ' ')
			length--;
		shown[length] = '\0';
		snprintf(expect, sizeof(expect), "f:2: \"%s\" is ignored: %s", shown, bad[i].why);
		cr_expect_str_eq(complaints[0], expect);
		/* The other lines hold; below a bad '@' none does. */
		cr_expect_eq(line_of(filter, "first"), 1);
		cr_expect_eq(line_of(filter, "last"), bad[i].line[0] == '@' ? 0 : 3);
		cr_expect_eq(line_of(filter, "foo"), 0);
		cr_expect_eq(complaint_count, bad[i].line[0] == '@' ? 2 : 1);
		gt_filter_free(filter);
	}
}

Test(filter, order_and_lines)
{
	struct gt_filter *filter = parse("# comment\r\n"
					 "\r\n"
					 "add;sub;mul;div -- 1000\r\n"
					 "MATH -- 500 G\r\n"
					 "  # another\n"
					 "sub* -- 7\n"
					 "* -- 3000000 S:5-10"); /* no end of line */

	cr_expect_eq(complaint_count, 0);
	cr_expect_eq(line_of(filter, "add"), 3);
	cr_expect_eq(line_of(filter, "sub"), 3);
	cr_expect_eq(line_of(filter, "subtract"), 6);
	cr_expect_eq(line_of(filter, "other"), 7);
	cr_expect_eq(line_of(filter, NULL), 7);
	cr_expect_eq(gt_filter_rule_at(filter, match(filter, "sin", "MATH")).line, 4);
	cr_expect_eq(gt_filter_rule_at(filter, match(filter, "div", "MATH")).line, 3);
	cr_expect_eq(gt_filter_needs(filter), GT_FILTER_HAS_RULES | GT_FILTER_HAS_LIMITS |
						      GT_FILTER_HAS_LEVELS);
	gt_filter_free(filter);
}

Test(filter, any_of_the_names)
{
	struct gt_filter *filter = parse("_ZN3foo3barEi -- 1\nfoo::baz -- 2\nfoo::qux(int) -- 3\n");
	struct gt_filter_names a = { "_ZN3foo3barEi", "foo::bar(int)", "foo::bar", NULL };
	struct gt_filter_names b = { "_ZN3foo3bazEi", "foo::baz(int)", "foo::baz", NULL };
	struct gt_filter_names c = { "_ZN3foo3quxEi", "foo::qux(int)", "foo::qux", NULL };
	struct gt_filter_names d = { "_ZN3foo3quxEd", "foo::qux(double)", "foo::qux", NULL };

	cr_expect_eq(gt_filter_rule_at(filter, gt_filter_match(filter, &a)).line, 1);
	cr_expect_eq(gt_filter_rule_at(filter, gt_filter_match(filter, &b)).line, 2);
	cr_expect_eq(gt_filter_rule_at(filter, gt_filter_match(filter, &c)).line, 3);
	cr_expect_eq(gt_filter_match(filter, &d), GT_RULE_NONE);
	gt_filter_free(filter);
}

Test(filter, no_name)
{
	struct gt_filter *filter = parse("a* -- 1\n*a -- 2\n** -- 3\n");

	cr_expect_eq(line_of(filter, NULL), 3);
	cr_expect_eq(line_of(filter, ""), 3);
	gt_filter_free(filter);
}

Test(filter, lambda_is_no_comment)
{
	struct gt_filter *filter = parse("run()::{lambda()#1}::operator() -- 5 # here\n"
					 "x #;y -- 0\n");

	cr_expect_eq(line_of(filter, "run()::{lambda()#1}::operator()"), 1);
	cr_expect_eq(complaint_count, 1); /* "x" alone has no limit */
	gt_filter_free(filter);
}

Test(filter, ranks)
{
	struct gt_filter *filter = parse("early -- 1\n"
					 "@ 35 - 42 -- OFF\n"
					 "all -- 2\n"
					 "@ 4 - 10, 20-29;34\n"
					 "foo;bar -- 2000\n"
					 "* -- 0\n"
					 "@ 7\n"
					 "foo -- 3 S:4\n");

	cr_expect_eq(complaint_count, 0, "%s", complaints[0]);
	cr_expect_eq(gt_filter_needs(filter),
		     GT_FILTER_HAS_RULES | GT_FILTER_HAS_LIMITS | GT_FILTER_HAS_CLAUSES);
	cr_expect_eq(line_of(filter, "foo"), 0);
	cr_expect_eq(line_of(filter, "all"), 3);
	for (int rank = 0; rank < 50; rank++) {
		bool listed = (rank >= 4 && rank <= 10) || (rank >= 20 && rank <= 29) || rank == 34;

		cr_expect_eq(gt_filter_set_rank(filter, rank), rank < 35 || rank > 42, "%d", rank);
		cr_expect_eq(line_of(filter, "early"), 1);
		cr_expect_eq(line_of(filter, "foo"), listed ? 5 : 0, "rank %d", rank);
		cr_expect_eq(line_of(filter, "else"), listed ? 6 : 0, "rank %d", rank);
		cr_expect_eq(!!(gt_filter_needs(filter) & GT_FILTER_HAS_LEVELS), rank == 7);
	}
	gt_filter_free(filter);
}

/* Follows a path of names; the line of the rule at its end, 0: none. */
static uint32_t path_line(const struct gt_filter *filter, const char *const *path)
{
	uint32_t state = 0, rule;

	for (; *path; path++) {
		struct gt_filter_names names = { .name = *path };

		state = gt_filter_path_step(filter, state, gt_filter_path_word(filter, &names));
	}
	rule = gt_filter_path_rule(filter, state);
	return rule == GT_RULE_NONE ? 0 : gt_filter_rule_at(filter, rule).line;
}

Test(filter, call_paths)
{
	struct gt_filter *filter = parse("main;a;b -- 5 C\n"
					 "main;a -- 0 C R\n"
					 "main;a;b;b -- 1 C\n"
					 "main;a;b -- 6 C\n" /* the first counts */
					 "main;* -- 7 C\n");

	cr_expect_eq(complaint_count, 0);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", NULL }), 0);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "a", NULL }), 2);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "a", "b", NULL }), 1);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "a", "b", "b", NULL }), 3);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "a", "b", "b", "b", NULL }), 0);
	cr_expect_eq(path_line(filter, (const char *[]){ "a", "b", NULL }), 0);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "x", NULL }), 0);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "x", "b", NULL }), 0);
	cr_expect_eq(path_line(filter, (const char *[]){ "main", "*", NULL }), 5);
	cr_expect_eq(match(filter, "main", NULL), GT_RULE_NONE);
	cr_expect_eq(gt_filter_needs(filter),
		     GT_FILTER_HAS_RULES | GT_FILTER_HAS_LIMITS | GT_FILTER_HAS_PATHS |
			     GT_FILTER_HAS_RECURSIVE);
	gt_filter_free(filter);
}

Test(filter, paths_and_ranks)
{
	struct gt_filter *filter = parse("@ 1\nmain;a -- 1 C\n@ 2\nmain;a -- 2 C\n");
	const char *path[] = { "main", "a", NULL };

	cr_expect_eq(path_line(filter, path), 0);
	gt_filter_set_rank(filter, 1);
	cr_expect_eq(path_line(filter, path), 2);
	gt_filter_set_rank(filter, 2);
	cr_expect_eq(path_line(filter, path), 4);
	gt_filter_set_rank(filter, 3);
	cr_expect_eq(path_line(filter, path), 0);
	gt_filter_free(filter);
}

Test(filter, groups)
{
	static const char groups[] = "# comment\n"
				     "CALC=add;sub;mul;div\r\n"
				     " USER = app_* ; \n"
				     "nonsense\n"
				     "=x\n"
				     "EMPTY=\n"
				     "LATE=add\n";
	struct gt_filter *filter = parse("CALC -- 5 G\nLIB* -- 6 G\n");
	struct gt_filter_names names = { .name = "add" };

	cr_expect_eq(gt_filter_parse(filter, GT_FILTER_GROUPS, "g", groups, strlen(groups), note), 3);
	cr_expect_eq(complaint_count, 3);
	cr_expect_str_eq(complaints[0], "g:4: \"nonsense\" is ignored: there is no \"=\" between "
					"group and functions");
	cr_expect_str_eq(complaints[1], "g:5: \"=x\" is ignored: the group has no name");
	cr_expect_str_eq(complaints[2], "g:6: \"EMPTY=\" is ignored: it names nothing");
	cr_expect_str_eq(gt_filter_group(filter, &names), "CALC");
	names.group = "Default";
	cr_expect_str_eq(gt_filter_group(filter, &names), "CALC");
	names.name = "app_main";
	cr_expect_str_eq(gt_filter_group(filter, &names), "USER");
	names.name = "other";
	cr_expect_str_eq(gt_filter_group(filter, &names), "Default");
	cr_expect_eq(gt_filter_rule_at(filter, match(filter, "mul", NULL)).line, 1);
	cr_expect_eq(gt_filter_rule_at(filter, match(filter, "x", "LIBC-I/O")).line, 2);
	cr_expect_eq(match(filter, "x", NULL), GT_RULE_NONE);
	cr_expect_eq(gt_filter_parse(filter, GT_FILTER_GROUPS, "g", "A=b", 3, note), -EALREADY);
	gt_filter_free(filter);
}

Test(filter, nul_and_control_bytes)
{
	static const char text[] = "a -- 1\nb\0c -- 2\nq -- 3\n\x1b[31m -- x\n";
	struct gt_filter *filter = parse_bytes(text, sizeof(text) - 1);

	cr_expect_eq(complaint_count, 2);
	cr_expect_str_eq(complaints[0], "f:2: \"b\\x00c -- 2\" is ignored: it contains a NUL");
	cr_expect(strstr(complaints[1], "\\x1b[31m"));
	cr_expect_eq(line_of(filter, "q"), 3);
	cr_expect_eq(line_of(filter, "b"), 0);
	gt_filter_free(filter);
}

Test(filter, long_lines_and_files)
{
	static char text[GT_FILTER_FILE_MAX + 2];
	struct gt_filter *filter;

	memset(text, 'x', 4096);
	memcpy(text + 4090, " -- 0\n", 6);
	filter = parse_bytes(text, 4096);
	cr_expect_eq(complaint_count, 0);
	gt_filter_free(filter);
	memset(text, 'x', 4097);
	memcpy(text + 4092, " -- 0\n", 6);
	filter = parse_bytes(text, 4098);
	cr_expect_eq(complaint_count, 1);
	cr_expect(strstr(complaints[0], "longer than 4,096 bytes"));
	gt_filter_free(filter);

	/* 1 MiB of the shortest rules: the caps hold, and it is told shortly. */
	for (size_t i = 0; i + 6 <= GT_FILTER_FILE_MAX; i += 6)
		memcpy(text + i, "a--00\n", 6);
	filter = parse_bytes(text, GT_FILTER_FILE_MAX / 6 * 6);
	cr_expect_eq(complaint_count, 11);
	cr_expect(strstr(complaints[10], "more lines are ignored"));
	cr_expect_eq(line_of(filter, "a"), 1);
	gt_filter_free(filter);
	filter = gt_filter_new();
	complaint_count = 0;
	cr_expect_eq(gt_filter_parse(filter, GT_FILTER_RULES, "f", text, sizeof(text), note), -EFBIG);
	cr_expect_eq(complaint_count, 1);
	cr_expect_eq(gt_filter_needs(filter), 0);
	gt_filter_free(filter);
}

Test(filter, many_paths, .timeout = 20)
{
	static char text[GT_FILTER_FILE_MAX];
	struct gt_filter *filter;
	size_t used = 0;

	for (int i = 0; used < sizeof(text) - 64 && i < 30000; i++)
		used += (size_t)sprintf(text + used, "m;f%d;f%d -- %d C\n", i % 1000, i, i + 1);
	filter = parse_bytes(text, used);
	for (int i = 0; i < 20000; i += 777) {
		char a[16], b[16];

		sprintf(a, "f%d", i % 1000);
		sprintf(b, "f%d", i);
		cr_expect_eq(path_line(filter, (const char *[]){ "m", a, b, NULL }), (uint32_t)i + 1);
	}
	gt_filter_free(filter);
}

Test(filter, files)
{
	char folder[] = "/tmp/gt-filter-XXXXXX", path[64];
	struct gt_filter *filter = gt_filter_new();
	FILE *f;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/f", folder);
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, path, note), -ENOENT);
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, folder, note), -EINVAL);
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, "/dev/zero", note), -EINVAL);
	mkfifo(path, 0600); /* must not wait for a writer */
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, path, note), -EINVAL);
	unlink(path);
	cr_expect_eq(complaint_count, 4);
	f = fopen(path, "w");
	for (int i = 0; i < 300000; i++)
		fputs("# xx\n", f);
	fclose(f);
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, path, note), -EFBIG);
	f = fopen(path, "w");
	fputs("foo -- 0\nbar\n", f);
	fclose(f);
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, path, note), 1);
	cr_expect_eq(line_of(filter, "foo"), 1);
	cr_expect_eq(gt_filter_read(filter, GT_FILTER_RULES, path, note), -EALREADY);
	unlink(path);
	rmdir(folder);
	gt_filter_free(filter);
}

Test(filter, rule_text)
{
	struct gt_filter *filter = parse("  foo;b\x01r --  3\tS:5 # x\n");
	char text[64];

	gt_filter_rule_text(filter, 0, text, sizeof(text));
	cr_expect_str_eq(text, "foo;b\\x01r --  3\\x09S:5");
	gt_filter_rule_text(filter, GT_RULE_NONE, text, sizeof(text));
	cr_expect_str_eq(text, "no rule");
	gt_filter_free(filter);
}

Test(filter, nothing)
{
	struct gt_filter *filter = parse("");

	cr_expect_eq(gt_filter_needs(filter), 0);
	cr_expect_eq(match(filter, "x", "y"), GT_RULE_NONE);
	cr_expect(gt_filter_set_rank(filter, 5));
	gt_filter_free(filter);
	gt_filter_free(NULL);
}

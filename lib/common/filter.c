/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading VampirTrace's filter file and groups file.
 *
 * Limits: each line stands alone: one that cannot be understood is reported and ignored,
 * and leaves nothing behind.
 */
#include "lib/common/filter_internal.h"

#include "lib/common/sys.h"
#include "lib/common/text.h"

#include <errno.h>
#include <string.h>

#define COMPLAINTS_MAX 10 /* lines that are reported one by one */
#define OFF_CLAUSE     UINT16_MAX /* below a broken '@' line: rules that hold for nobody */

/* One line while it is read. */
struct reader {
	struct gt_filter *filter;
	const char *path;
	gt_filter_complaint *complain;
	uint32_t line;
	uint16_t clause;
	int ignored;
};

/* A piece of the text. */
struct span {
	const char *at;
	size_t length;
};

struct gt_filter *gt_filter_new(void)
{
	struct gt_filter *filter = gt_sys_memory(sizeof(*filter));

	if (!filter)
		return NULL;
	filter->rank = -1;
	filter->clause_count = 1;
	filter->clauses[0].active = true;
	return filter;
}

void gt_filter_free(struct gt_filter *filter)
{
	if (filter)
		gt_sys_munmap(filter, sizeof(*filter));
}

void gt_filter_report_all(struct gt_filter *filter)
{
	filter->report_all = true;
}

/* ---- pieces of a line ------------------------------------------------------------------------ */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span trim(struct span s)
{
	while (s.length && is_blank(s.at[0])) {
		s.at++;
		s.length--;
	}
	while (s.length && is_blank(s.at[s.length - 1]))
		s.length--;
	return s;
}

static struct span cut(struct span s, size_t from, size_t to)
{
	struct span piece = { s.at + from, to - from };

	return trim(piece);
}

/* The piece before the next `separator` (or all); takes it and the separator off *rest. */
static struct span next_piece(struct span *rest, char separator)
{
	const char *end = memchr(rest->at, separator, rest->length);
	size_t length = end ? (size_t)(end - rest->at) : rest->length;
	struct span piece = { rest->at, length };

	rest->at += length + (end != NULL);
	rest->length -= length + (end != NULL);
	return trim(piece);
}

/* The word up to the next blank; takes it off *rest. */
static struct span next_word(struct span *rest)
{
	struct span word;

	*rest = trim(*rest);
	word = *rest;
	for (word.length = 0; word.length < rest->length && !is_blank(word.at[word.length]);)
		word.length++;
	rest->at += word.length;
	rest->length -= word.length;
	return word;
}

/* A decimal number at the front of *s; takes it off. */
static bool take_number(struct span *s, int64_t *number)
{
	int64_t sum = 0;
	size_t i = 0;

	for (; i < s->length && s->at[i] >= '0' && s->at[i] <= '9'; i++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, s->at[i] - '0', &sum))
			return false;
	s->at += i;
	s->length -= i;
	*number = sum;
	return i > 0;
}

/* A character, letters in either case; takes it off. */
static bool take_char(struct span *s, char c)
{
	char front = s->length ? s->at[0] : '\0';

	if (front >= 'A' && front <= 'Z')
		front = (char)(front - 'A' + 'a');
	if (!s->length || front != c)
		return false;
	s->at++;
	s->length--;
	return true;
}

/*
 * A comment begins with '#' at the start of the line or behind a blank: "{lambda()#1}" is part of
 * a name. Behind the limit any '#' begins one (see cut_arguments).
 */
static struct span cut_comment(struct span s)
{
	for (size_t i = 0; i < s.length; i++)
		if (s.at[i] == '#' && (!i || is_blank(s.at[i - 1])))
			return cut(s, 0, i);
	return s;
}

/*
 * Where the "--" stands that ends the names: the first between blanks (or at an end of the line),
 * else the first at all. So "operator-- -- 0" means what it should.
 */
static bool find_dashes(struct span s, size_t *at)
{
	bool found = false;

	for (size_t i = 0; i + 1 < s.length; i++) {
		if (s.at[i] != '-' || s.at[i + 1] != '-')
			continue;
		if ((!i || is_blank(s.at[i - 1])) &&
		    (i + 2 == s.length || is_blank(s.at[i + 2]))) {
			*at = i;
			return true;
		}
		if (!found)
			*at = i;
		found = true;
	}
	return found;
}

/* ---- what a line adds ------------------------------------------------------------------------ */

/* Adds a pattern; false when there is no room. The text is in filter->text already. */
static bool add_pattern(struct gt_filter *filter, struct span s, enum pattern_kind kind,
			uint32_t rule)
{
	struct pattern *pattern;

	if (filter->pattern_count == GT_FILTER_PATTERNS_MAX)
		return false;
	pattern = &filter->patterns[filter->pattern_count++];
	pattern->at = (uint32_t)(s.at - filter->text);
	pattern->length = (uint16_t)s.length;
	pattern->kind = (uint8_t)kind;
	pattern->rule = rule;
	pattern->wild = kind != PATTERN_PATH && memchr(s.at, '*', s.length);
	if (pattern->wild)
		gt_wildcard_prepare(s.at, s.length, filter->table + pattern->at);
	return true;
}

/* The patterns of a list; a sentence if it cannot be used, with nothing added. */
static const char *add_list(struct gt_filter *filter, struct span list, enum pattern_kind kind,
			    uint32_t rule)
{
	uint32_t before = filter->pattern_count;

	while (list.length) {
		struct span one = next_piece(&list, ';');

		if (one.length && !add_pattern(filter, one, kind, rule)) {
			filter->pattern_count = before;
			return "there are too many names in the file";
		}
	}
	return filter->pattern_count == before ? "it names nothing" : NULL;
}

/* Follows a call path through the automaton, making what is missing; the rule goes to its end. */
static void add_path(struct gt_filter *filter, uint32_t first_pattern, uint32_t rule)
{
	uint32_t state = 0, *link;

	for (uint32_t i = first_pattern; i < filter->pattern_count; i++) {
		const struct pattern *pattern = &filter->patterns[i];
		uint32_t place = gt_filter_word_slot(filter, filter->text + pattern->at,
						      pattern->length);
		struct edge *edge;

		if (!filter->words[place]) {
			filter->words[place] = i + 1;
			filter->spelled[i] = ++filter->word_count;
		}
		filter->spelled[i] = filter->spelled[filter->words[place] - 1];
		edge = &filter->edges[gt_filter_edge_slot(filter, state, filter->spelled[i])];
		if (!edge->word) {
			edge->state = state;
			edge->word = filter->spelled[i];
			edge->next = ++filter->state_count;
		}
		state = edge->next;
	}
	/* Of two rules for the same path and ranks the first counts. */
	for (link = &filter->state_rules[state]; *link; link = &filter->rules[*link - 1].same)
		if (filter->rules[*link - 1].clause == filter->rules[rule].clause)
			return;
	*link = rule + 1;
}

/* "S:max" or "S:min-max", behind the colon. */
static bool take_levels(struct span s, struct rule *rule)
{
	int64_t first, second;

	if (!take_number(&s, &first) || first < 1 || first > UINT32_MAX)
		return false;
	if (!s.length) {
		rule->max = (uint32_t)first;
		return true;
	}
	if (!take_char(&s, '-') || !take_number(&s, &second) || s.length || second < first ||
	    second > UINT32_MAX)
		return false;
	rule->min = (uint32_t)first;
	rule->max = (uint32_t)second;
	return true;
}

/* Parses the text after "--": the limit, then S: R G C in any order. */
static const char *read_arguments(struct span s, struct rule *rule)
{
	const char *comment = memchr(s.at, '#', s.length);
	struct span word;
	bool levels = false;

	if (comment)
		s.length = (size_t)(comment - s.at);
	word = next_word(&s);
	if (!word.length)
		return "there is no limit after \"--\"";
	if (word.length == 2 && !memcmp(word.at, "-1", 2))
		rule->limit = -1;
	else if (!take_number(&word, &rule->limit) || word.length)
		return "the limit must be -1 (all calls), 0 (none) or a number of calls";
	for (;;) {
		word = next_word(&s);
		if (!word.length)
			break;
		if (word.length > 1 && word.at[1] == ':' && take_char(&word, 's')) {
			take_char(&word, ':');
			if (levels || !take_levels(word, rule))
				return "the levels must be S:max or S:min-max, 1 or more";
			levels = true;
		} else if (word.length == 1 && take_char(&word, 'r')) {
			rule->recursive = true;
		} else if (word.length == 1 && take_char(&word, 'g')) {
			rule->group = true;
		} else if (word.length == 1 && take_char(&word, 'c')) {
			rule->path = true;
		} else {
			return "only S:, R, G and C may follow the limit";
		}
	}
	if (rule->path && (rule->group || levels))
		return "C cannot be combined with G or S:";
	return NULL;
}

static const char *read_rule(struct reader *reader, struct span line)
{
	struct gt_filter *filter = reader->filter;
	struct rule rule = { .min = 1, .max = UINT32_MAX, .line = reader->line };
	uint32_t first = filter->pattern_count;
	enum pattern_kind kind;
	const char *why;
	size_t dashes;

	if (!find_dashes(line, &dashes))
		return "there is no \"--\" between names and limit";
	why = read_arguments(cut(line, dashes + 2, line.length), &rule);
	if (why)
		return why;
	if (filter->rule_count == GT_FILTER_RULES_MAX)
		return "there are too many rules in the file";
	kind = rule.path ? PATTERN_PATH : rule.group ? PATTERN_GROUP : PATTERN_NAME;
	why = add_list(filter, cut(line, 0, dashes), kind, filter->rule_count);
	if (why)
		return why;
	if (reader->clause == OFF_CLAUSE) {
		filter->pattern_count = first;
		return "the \"@\" line above it was ignored";
	}
	rule.at = (uint32_t)(line.at - filter->text);
	rule.length = (uint16_t)line.length;
	rule.clause = reader->clause;
	filter->rules[filter->rule_count] = rule;
	if (rule.path)
		add_path(filter, first, filter->rule_count);
	filter->path_count += rule.path;
	filter->rule_count++;
	return NULL;
}

/* "4 - 10, 20, 34" into ranges; false if it is anything else. */
static bool read_ranges(struct gt_filter *filter, struct span list, struct clause *clause)
{
	clause->first = filter->range_count;
	for (;;) {
		struct range range;

		list = trim(list);
		if (clause->first + clause->count == RANGES_MAX || !take_number(&list, &range.from))
			return false;
		range.to = range.from;
		list = trim(list);
		if (take_char(&list, '-')) {
			list = trim(list);
			if (!take_number(&list, &range.to) || range.to < range.from)
				return false;
			list = trim(list);
		}
		filter->ranges[clause->first + clause->count++] = range;
		if (!list.length)
			return true;
		if (!take_char(&list, ',') && !take_char(&list, ';'))
			return false;
	}
}

/* "@ ranks" or "@ ranks -- OFF" */
static const char *read_clause(struct reader *reader, struct span line)
{
	struct gt_filter *filter = reader->filter;
	struct clause clause = { 0 };
	struct span ranks = cut(line, 1, line.length);
	const char *comment = memchr(ranks.at, '#', ranks.length);
	size_t dashes;

	reader->clause = OFF_CLAUSE;
	if (comment)
		ranks = cut(ranks, 0, (size_t)(comment - ranks.at));
	if (find_dashes(ranks, &dashes)) {
		struct span word = cut(ranks, dashes + 2, ranks.length);

		if (!take_char(&word, 'o') || !take_char(&word, 'f') || !take_char(&word, 'f') ||
		    word.length)
			return "only \"-- OFF\" may follow the ranks";
		clause.off = true;
		ranks = cut(ranks, 0, dashes);
	}
	if (!ranks.length || !read_ranges(filter, ranks, &clause))
		return "the ranks must be like 4 - 10, 20, 34";
	if (filter->clause_count == GT_FILTER_CLAUSES_MAX)
		return "there are too many \"@\" lines in the file";
	filter->range_count += clause.count;
	filter->clauses[filter->clause_count] = clause;
	/* A rank that is off needs no rules; below such a line the rules are for all others. */
	reader->clause = clause.off ? 0 : (uint16_t)filter->clause_count;
	filter->clause_count++;
	return NULL;
}

/* GROUP=f1;f2;app_* */
static const char *read_group(struct reader *reader, struct span line)
{
	struct gt_filter *filter = reader->filter;
	struct span list = line, name = next_piece(&list, '=');
	struct rule *group;
	const char *why;

	if (name.length == line.length)
		return "there is no \"=\" between group and functions";
	if (!name.length)
		return "the group has no name";
	if (filter->group_count == GT_FILTER_RULES_MAX)
		return "there are too many groups in the file";
	why = add_list(filter, list, PATTERN_MEMBER, filter->group_count);
	if (why)
		return why;
	group = &filter->groups[filter->group_count++];
	group->at = (uint32_t)(name.at - filter->text);
	group->line = reader->line;
	/* gt_filter_group() returns it as a string; the blank or '=' behind it has been read. */
	filter->text[group->at + name.length] = '\0';
	return NULL;
}

/* ---- lines and files ------------------------------------------------------------------------- */

static void complain_of_line(struct reader *reader, struct span line, const char *why)
{
	char path[160], shown[96], sentence[512];

	reader->ignored++;
	if (!reader->complain ||
	    (reader->ignored > COMPLAINTS_MAX && !reader->filter->report_all))
		return;
	gt_text_escape(path, sizeof(path), reader->path, strlen(reader->path));
	gt_text_escape(shown, sizeof(shown), line.at, line.length);
	gt_text(sentence, sizeof(sentence), "%s:%u: \"%s\" is ignored: %s", path, reader->line,
		shown, why);
	reader->complain(sentence);
}

static void complain_of_file(const char *path, const char *why, gt_filter_complaint *complain)
{
	char shown[160], sentence[512];

	if (!complain)
		return;
	gt_text_escape(shown, sizeof(shown), path, strlen(path));
	gt_text(sentence, sizeof(sentence), "%s cannot be read (%s): it is ignored", shown, why);
	complain(sentence);
}

static void read_line(struct reader *reader, enum gt_filter_kind kind, struct span line)
{
	const char *why;

	if (line.length && line.at[line.length - 1] == '\r')
		line.length--;
	line = trim(line);
	if (line.length > GT_FILTER_LINE_MAX) {
		complain_of_line(reader, line, "it is longer than 4,096 bytes");
		return;
	}
	if (memchr(line.at, '\0', line.length)) {
		complain_of_line(reader, line, "it contains a NUL");
		return;
	}
	line = cut_comment(line);
	if (!line.length)
		return;
	if (kind == GT_FILTER_GROUPS)
		why = read_group(reader, line);
	else if (line.at[0] == '@')
		why = read_clause(reader, line);
	else
		why = read_rule(reader, line);
	if (why)
		complain_of_line(reader, line, why);
}

/* Sums up the requirements of the rules that may apply to this rank. */
static void settle_needs(struct gt_filter *filter)
{
	unsigned needs = filter->group_count ? GT_FILTER_HAS_GROUPS : 0;

	if (filter->clause_count > 1)
		needs |= GT_FILTER_HAS_CLAUSES;
	for (uint32_t i = 0; i < filter->rule_count; i++) {
		const struct rule *rule = &filter->rules[i];

		if (!filter->clauses[rule->clause].active)
			continue;
		needs |= GT_FILTER_HAS_RULES;
		if (rule->limit > 0)
			needs |= GT_FILTER_HAS_LIMITS;
		if (rule->limit && (rule->min > 1 || rule->max != UINT32_MAX))
			needs |= GT_FILTER_HAS_LEVELS;
		if (rule->recursive)
			needs |= GT_FILTER_HAS_RECURSIVE;
		if (rule->path)
			needs |= GT_FILTER_HAS_PATHS;
	}
	filter->needs = needs;
}

bool gt_filter_set_rank(struct gt_filter *filter, int64_t rank)
{
	bool on = true;

	filter->rank = rank;
	for (uint32_t i = 1; i < filter->clause_count; i++) {
		struct clause *clause = &filter->clauses[i];

		clause->active = false;
		for (uint32_t r = clause->first; r < clause->first + clause->count; r++)
			if (rank >= filter->ranges[r].from && rank <= filter->ranges[r].to)
				clause->active = true;
		if (clause->off && clause->active)
			on = false;
	}
	settle_needs(filter);
	return on;
}

uint32_t gt_filter_count(const struct gt_filter *filter, enum gt_filter_kind kind)
{
	return kind == GT_FILTER_RULES ? filter->rule_count : filter->group_count;
}

unsigned gt_filter_needs(const struct gt_filter *filter)
{
	return filter->needs;
}

/* The text lies at filter->text + text_used and has room for a NUL behind it. */
static int parse_in_place(struct gt_filter *filter, enum gt_filter_kind kind, const char *path,
			  size_t size, gt_filter_complaint *complain)
{
	struct reader reader = { .filter = filter, .path = path, .complain = complain };
	char *text = filter->text + filter->text_used;
	struct span rest = { text, size };

	text[size] = '\0';
	filter->text_used += (uint32_t)size + 1;
	filter->read[kind] = true;
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		rest.at += 3;
		rest.length -= 3;
	}
	while (rest.length) {
		const char *end = memchr(rest.at, '\n', rest.length);
		struct span line = { rest.at, end ? (size_t)(end - rest.at) : rest.length };

		reader.line++;
		rest.at += line.length + (end != NULL);
		rest.length -= line.length + (end != NULL);
		read_line(&reader, kind, line);
	}
	if (complain && reader.ignored > COMPLAINTS_MAX && !filter->report_all) {
		char shown[160], sentence[512];

		gt_text_escape(shown, sizeof(shown), path, strlen(path));
		gt_text(sentence, sizeof(sentence), "%s: %d more lines are ignored", shown,
			reader.ignored - COMPLAINTS_MAX);
		complain(sentence);
	}
	gt_filter_set_rank(filter, filter->rank);
	return reader.ignored;
}

int gt_filter_parse(struct gt_filter *filter, enum gt_filter_kind kind, const char *path,
		    const char *text, size_t size, gt_filter_complaint *complain)
{
	if (filter->read[kind])
		return -EALREADY;
	if (size > GT_FILTER_FILE_MAX) {
		complain_of_file(path, "it is larger than 1 MiB", complain);
		return -EFBIG;
	}
	memcpy(filter->text + filter->text_used, text, size);
	return parse_in_place(filter, kind, path, size, complain);
}

/* Reads up to `most` bytes; returns how many, or a negative errno. */
static ssize_t read_all(int fd, char *buffer, size_t most)
{
	size_t got = 0;

	while (got < most) {
		ssize_t n = gt_sys_pread(fd, buffer + got, most - got, got);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

ssize_t gt_filter_load(struct gt_filter *filter, enum gt_filter_kind kind, const char *path)
{
	/* O_NONBLOCK: a FIFO must not make the program wait. It means nothing to a regular file. */
	struct stat st;
	int fd = gt_sys_open_own(AT_FDCWD, path, O_NONBLOCK | O_NOCTTY, &st);
	ssize_t size;

	if (fd < 0)
		return filter->read[kind] ? -EALREADY : fd;
	size = filter->read[kind] ? -EALREADY : 0;
	if (!size && !S_ISREG(st.st_mode))
		size = -EINVAL;
	if (!size)
		size = read_all(fd, filter->text + filter->text_used, GT_FILTER_FILE_MAX + 1);
	if (gt_sys_close_own(fd, &st) && size >= 0)
		size = -EBADF;
	return size > (ssize_t)GT_FILTER_FILE_MAX ? -EFBIG : size;
}

int gt_filter_take(struct gt_filter *filter, enum gt_filter_kind kind, const char *path, ssize_t size,
		   gt_filter_complaint *complain)
{
	if (size >= 0)
		return parse_in_place(filter, kind, path, (size_t)size, complain);
	if (size != -EALREADY)
		complain_of_file(path, size == -EINVAL ? "it is not a regular file" :
				 size == -EFBIG ? "it is larger than 1 MiB" : gt_text_errno((int)size),
				 complain);
	return (int)size;
}

int gt_filter_read(struct gt_filter *filter, enum gt_filter_kind kind, const char *path,
		   gt_filter_complaint *complain)
{
	return gt_filter_take(filter, kind, path, gt_filter_load(filter, kind, path), complain);
}

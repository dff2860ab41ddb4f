/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the rule of a filter that applies to a function.
 *
 * Limits: a function costs one pass over the patterns; the record side keeps the answer. Every
 * match is linear in the lengths of pattern and name (Knuth, Morris, Pratt between two stars).
 */
#include "lib/common/filter_internal.h"

#include "lib/common/text.h"

#include <string.h>

/* table[i]: length of the longest proper prefix of the piece that ends at i and is its suffix. */
void gt_wildcard_prepare(const char *pattern, size_t length, uint16_t *table)
{
	size_t begin = 0;

	while (begin < length) {
		size_t matched = 0, i;

		table[begin] = 0;
		if (pattern[begin] == '*') {
			begin++;
			continue;
		}
		for (i = begin + 1; i < length && pattern[i] != '*'; i++) {
			while (matched && pattern[i] != pattern[begin + matched])
				matched = table[begin + matched - 1];
			matched += pattern[i] == pattern[begin + matched];
			table[i] = (uint16_t)matched;
		}
		begin = i;
	}
}

/* The end of the first place at or behind `from` where the piece stands in the name, or ~0. */
static size_t find_piece(const char *piece, size_t length, const uint16_t *table, const char *name,
			 size_t from, size_t name_length)
{
	size_t matched = 0;

	for (size_t i = from; i < name_length; i++) {
		while (matched && name[i] != piece[matched])
			matched = table[matched - 1];
		matched += name[i] == piece[matched];
		if (matched == length)
			return i + 1;
	}
	return SIZE_MAX;
}

bool gt_wildcard_match(const char *pattern, size_t length, const uint16_t *table, const char *name,
		       size_t name_length)
{
	const char *star = memchr(pattern, '*', length);
	const char *last = memrchr(pattern, '*', length);
	size_t head, tail, at, end;

	if (!star)
		return length == name_length && !memcmp(pattern, name, length);
	head = (size_t)(star - pattern);
	tail = length - (size_t)(last - pattern) - 1;
	if (head + tail > name_length || memcmp(name, pattern, head) ||
	    memcmp(name + name_length - tail, pattern + length - tail, tail))
		return false;
	at = head;
	end = name_length - tail;
	while (star < last) {
		const char *piece = star + 1;
		size_t piece_length;

		star = memchr(piece, '*', (size_t)(pattern + length - piece));
		piece_length = (size_t)(star - piece);
		if (!piece_length)
			continue;
		at = find_piece(piece, piece_length, table + (piece - pattern), name, at, end);
		if (at == SIZE_MAX)
			return false;
	}
	return true;
}

static bool match_one(const struct gt_filter *filter, const struct pattern *pattern,
		      const char *name, size_t length)
{
	const char *text = filter->text + pattern->at;

	if (!pattern->wild)
		return length == pattern->length && !memcmp(text, name, length);
	return gt_wildcard_match(text, pattern->length, filter->table + pattern->at, name, length);
}

/* The names with their lengths; equal or missing ones left out. At least one, maybe empty. */
struct measured {
	const char *names[3];
	size_t lengths[3];
	unsigned count;
};

static void measure(struct measured *m, const struct gt_filter_names *names)
{
	const char *all[3] = { names->name, names->full, names->plain };

	m->count = 0;
	for (int i = 0; i < 3; i++) {
		if (!all[i] || !*all[i])
			continue;
		m->names[m->count] = all[i];
		m->lengths[m->count++] = strlen(all[i]);
	}
	if (!m->count) {
		m->names[0] = "";
		m->lengths[0] = 0;
		m->count = 1;
	}
}

static bool match_any(const struct gt_filter *filter, const struct pattern *pattern,
		      const struct measured *m)
{
	for (unsigned i = 0; i < m->count; i++)
		if (match_one(filter, pattern, m->names[i], m->lengths[i]))
			return true;
	return false;
}

uint32_t gt_filter_match(const struct gt_filter *filter, const struct gt_filter_names *names)
{
	const char *group = NULL;
	size_t group_length = 0;
	struct measured m;

	if (!(filter->needs & GT_FILTER_HAS_RULES))
		return GT_RULE_NONE;
	measure(&m, names);
	for (uint32_t i = 0; i < filter->pattern_count; i++) {
		const struct pattern *pattern = &filter->patterns[i];
		bool matches = false;

		switch (pattern->kind) {
		case PATTERN_NAME:
			matches = match_any(filter, pattern, &m);
			break;
		case PATTERN_GROUP:
			if (!group) {
				group = gt_filter_group(filter, names);
				group = group ? group : "";
				group_length = strlen(group);
			}
			matches = match_one(filter, pattern, group, group_length);
			break;
		default:
			break;
		}
		if (matches && filter->clauses[filter->rules[pattern->rule].clause].active)
			return pattern->rule;
	}
	return GT_RULE_NONE;
}

const char *gt_filter_group(const struct gt_filter *filter, const struct gt_filter_names *names)
{
	struct measured m;

	if (!(filter->needs & GT_FILTER_HAS_GROUPS))
		return names->group;
	measure(&m, names);
	for (uint32_t i = 0; i < filter->pattern_count; i++) {
		const struct pattern *pattern = &filter->patterns[i];

		if (pattern->kind == PATTERN_MEMBER && match_any(filter, pattern, &m))
			return filter->text + filter->groups[pattern->rule].at;
	}
	return names->group;
}

struct gt_filter_rule gt_filter_rule_at(const struct gt_filter *filter, uint32_t index)
{
	struct gt_filter_rule answer = { .limit = -1, .min = 1, .max = UINT32_MAX };
	const struct rule *rule;

	if (index >= filter->rule_count)
		return answer;
	rule = &filter->rules[index];
	answer.limit = rule->limit;
	answer.min = rule->min;
	answer.max = rule->max;
	answer.recursive = rule->recursive;
	answer.group = rule->group;
	answer.path = rule->path;
	answer.line = rule->line;
	return answer;
}

void gt_filter_rule_text(const struct gt_filter *filter, uint32_t index, char *buffer, size_t size)
{
	if (index < filter->rule_count)
		gt_text_escape(buffer, size, filter->text + filter->rules[index].at,
			       filter->rules[index].length);
	else
		gt_text(buffer, size, "no rule");
}

uint32_t gt_filter_path_word(const struct gt_filter *filter, const struct gt_filter_names *names)
{
	struct measured m;

	if (!filter->word_count)
		return 0;
	measure(&m, names);
	for (unsigned i = 0; i < m.count; i++) {
		uint32_t place = gt_filter_word_slot(filter, m.names[i], m.lengths[i]);

		if (filter->words[place])
			return filter->spelled[filter->words[place] - 1];
	}
	return 0;
}

uint32_t gt_filter_path_step(const struct gt_filter *filter, uint32_t state, uint32_t word)
{
	const struct edge *edge;

	if (!word || state == GT_PATH_NOWHERE)
		return GT_PATH_NOWHERE;
	edge = &filter->edges[gt_filter_edge_slot(filter, state, word)];
	return edge->word ? edge->next : GT_PATH_NOWHERE;
}

uint32_t gt_filter_path_rule(const struct gt_filter *filter, uint32_t state)
{
	if (state == GT_PATH_NOWHERE || state > filter->state_count)
		return GT_RULE_NONE;
	for (uint32_t rule = filter->state_rules[state]; rule; rule = filter->rules[rule - 1].same)
		if (filter->clauses[filter->rules[rule - 1].clause].active)
			return rule - 1;
	return GT_RULE_NONE;
}

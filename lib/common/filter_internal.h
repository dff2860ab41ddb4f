/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of a filter: shared by filter.c (reading) and filter_match.c (answering).
 *
 * Limits: nobody else includes this. All text lives in `text`; patterns and rules refer to it by
 * offset, so that the struct holds no pointers.
 */
#ifndef GT_FILTER_INTERNAL_H
#define GT_FILTER_INTERNAL_H

#include "lib/common/filter.h"

#define EDGES_MAX  (2 * GT_FILTER_PATTERNS_MAX) /* power of two: a hash table half full at most */
#define RANGES_MAX (8 * GT_FILTER_CLAUSES_MAX)

enum pattern_kind { PATTERN_NAME, PATTERN_GROUP, PATTERN_PATH, PATTERN_MEMBER };

struct pattern {
	uint32_t at;     /* offset in text */
	uint16_t length;
	uint8_t kind;
	bool wild;       /* has a '*' */
	uint32_t rule;   /* the rule, or the group */
};

struct rule {
	int64_t limit;
	uint32_t min, max;
	uint32_t line;
	uint32_t at;     /* of the line in text; for a group: of its name */
	uint16_t length;
	uint16_t clause; /* 0: holds for all ranks */
	uint32_t same;   /* index + 1 of the next rule with the same call path */
	bool recursive, group, path;
};

struct range {
	int64_t from, to;
};

struct clause {
	uint32_t first, count; /* in ranges */
	bool off;
	bool active;           /* holds for the present rank */
};

/* The automaton of the call paths: from `state` by the letter `word` to state `next`. */
struct edge {
	uint32_t state, word, next;
};

struct gt_filter {
	bool read[2]; /* by enum gt_filter_kind */
	bool report_all;
	uint32_t text_used;
	uint32_t pattern_count, rule_count, group_count;
	uint32_t clause_count, range_count; /* clause 0 is always there and active */
	uint32_t state_count, word_count, path_count;
	unsigned needs;
	int64_t rank;
	struct clause clauses[GT_FILTER_CLAUSES_MAX];
	struct range ranges[RANGES_MAX];
	struct pattern patterns[GT_FILTER_PATTERNS_MAX];
	struct rule rules[GT_FILTER_RULES_MAX];
	struct rule groups[GT_FILTER_RULES_MAX]; /* of the groups file: only `at` and `line` count */
	uint32_t words[EDGES_MAX]; /* hash table of the letters: pattern index + 1, see spelled */
	uint32_t spelled[GT_FILTER_PATTERNS_MAX];     /* by pattern: its letter */
	uint32_t state_rules[GT_FILTER_PATTERNS_MAX + 1]; /* rule index + 1, by state */
	struct edge edges[EDGES_MAX];
	char text[2 * (GT_FILTER_FILE_MAX + 1)];
	uint16_t table[2 * (GT_FILTER_FILE_MAX + 1)]; /* see gt_wildcard_prepare; as text */
};

/* Where to begin looking in a table of EDGES_MAX places. */
static inline uint32_t gt_filter_mix(uint32_t a, uint32_t b)
{
	uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca6bu;

	h ^= h >> 15;
	h *= 0x2c1b3c6du;
	return h ^ h >> 16;
}

/* The place in `words` of the letter that a name spells: taken, or free for it. */
static inline uint32_t gt_filter_word_slot(const struct gt_filter *filter, const char *name,
					    size_t length)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	for (h = gt_filter_mix(h, 0);; h++) {
		uint32_t place = h & (EDGES_MAX - 1);
		const struct pattern *pattern;

		if (!filter->words[place])
			return place;
		pattern = &filter->patterns[filter->words[place] - 1];
		if (pattern->length == length &&
		    !__builtin_memcmp(filter->text + pattern->at, name, length))
			return place;
	}
}

/* The place in `edges` of a step: taken, or free for it. */
static inline uint32_t gt_filter_edge_slot(const struct gt_filter *filter, uint32_t state,
					    uint32_t word)
{
	for (uint32_t h = gt_filter_mix(state, word);; h++) {
		uint32_t place = h & (EDGES_MAX - 1);
		const struct edge *edge = &filter->edges[place];

		if (!edge->word || (edge->state == state && edge->word == word))
			return place;
	}
}

#endif

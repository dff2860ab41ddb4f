/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The alignment of two sequences, by dynamic programming. What is the same at both ends is aligned at once:
 * with matches for nothing that is never worse.
 *
 * Limits: a byte for each cell of the table.
 */
#include "config.h"

#include "report/flow/graph.h"

struct problem {
	bool (*same)(const void *user, size_t a, size_t b);
	const void *user;
	const uint32_t *a_weights, *b_weights;
	size_t from, a, b; /* both begin at `from`, the ends are behind the last */
};

enum { MATCH, GAP_A, GAP_B }; /* GAP_A: what a has, b has not */

static uint32_t weight(const uint32_t *weights, size_t i)
{
	return weights ? weights[i] : 1;
}

/* How each cell is reached from those before it; cell (i, j) has i and j behind it. */
static unsigned char *table(const struct problem *p)
{
	size_t n = p->a - p->from, m = p->b - p->from;
	uint64_t *cost = gt_flow_zeroed(m + 1, sizeof(*cost));
	unsigned char *steps = gt_flow_zeroed((n + 1) * (m + 1), 1);

	for (size_t j = 1; j <= m; j++) {
		cost[j] = cost[j - 1] + weight(p->b_weights, p->from + j - 1);
		steps[j] = GAP_B;
	}
	for (size_t i = 1; i <= n; i++) {
		unsigned char *row = steps + i * (m + 1);
		uint32_t w = weight(p->a_weights, p->from + i - 1);
		uint64_t corner = cost[0];

		cost[0] += w;
		row[0] = GAP_A;
		for (size_t j = 1; j <= m; j++) {
			uint64_t skip_a = cost[j] + w;
			uint64_t skip_b = cost[j - 1] + weight(p->b_weights, p->from + j - 1);
			uint64_t best = skip_a <= skip_b ? skip_a : skip_b;

			row[j] = skip_a <= skip_b ? GAP_A : GAP_B;
			if (corner <= best && p->same(p->user, p->from + i - 1, p->from + j - 1)) {
				best = corner;
				row[j] = MATCH;
			}
			corner = cost[j];
			cost[j] = best;
		}
	}
	free(cost);
	return steps;
}

/* Walks back from the last cell; writes pairs from their end on. */
static size_t walk(const struct problem *p, const unsigned char *steps, struct gt_flow_pair *pairs)
{
	size_t i = p->a - p->from, j = p->b - p->from, m = j, count = 0;

	while (i || j) {
		unsigned char step = steps[i * (m + 1) + j];

		if (step == MATCH)
			pairs[count++] = (struct gt_flow_pair){ (uint32_t)(p->from + i - 1),
								(uint32_t)(p->from + j - 1) };
		i -= step != GAP_B;
		j -= step != GAP_A;
	}
	for (size_t k = 0; k < count / 2; k++) {
		struct gt_flow_pair other = pairs[k];

		pairs[k] = pairs[count - 1 - k];
		pairs[count - 1 - k] = other;
	}
	return count;
}

size_t gt_flow_align(size_t a, size_t b, const uint32_t *a_weights, const uint32_t *b_weights,
		     bool (*same)(const void *user, size_t a, size_t b), const void *user,
		     struct gt_flow_pair *pairs, uint64_t *cells)
{
	struct problem p = { same, user, a_weights, b_weights, 0, a, b };
	size_t count = 0;

	for (; p.from < p.a && p.from < p.b && same(user, p.from, p.from); p.from++)
		pairs[count++] = (struct gt_flow_pair){ (uint32_t)p.from, (uint32_t)p.from };
	while (p.a > p.from && p.b > p.from && same(user, p.a - 1, p.b - 1))
		p.a--, p.b--;
	if (p.a > p.from && p.b > p.from) {
		unsigned char *steps = table(&p);

		*cells += (p.a - p.from) * (p.b - p.from);
		count += walk(&p, steps, pairs + count);
		free(steps);
	}
	for (; p.a < a; p.a++, p.b++)
		pairs[count++] = (struct gt_flow_pair){ (uint32_t)p.a, (uint32_t)p.b };
	return count;
}

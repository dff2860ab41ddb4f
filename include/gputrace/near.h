/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The edit distance of two names, for "did you mean ...?".
 * Limits: not installed; names of up to 255 characters.
 */
#ifndef GPUTRACE_NEAR_H
#define GPUTRACE_NEAR_H

#include <stddef.h>
#include <string.h>

#define GT_NEAR_LONGEST 256u

/* The edit distance of `a` and `b`, at most `most`. [signal-safe] */
static inline unsigned gt_near_distance(const char *a, const char *b, unsigned most)
{
	size_t n = strlen(b);
	unsigned row[GT_NEAR_LONGEST], before, kept;

	if (n >= GT_NEAR_LONGEST)
		return most;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (; *a; a++) {
		before = row[0]++;
		for (size_t j = 1; j <= n; j++) {
			kept = row[j];
			row[j] = before + (*a != b[j - 1]);
			if (kept + 1 < row[j])
				row[j] = kept + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			before = kept;
		}
	}
	return row[n] < most ? row[n] : most;
}

#endif

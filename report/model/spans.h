/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans of time in their order, packed: a device's kernels, say. Those that touch or overlap are one.
 *
 * Limits: spans are added in the order of their begins. About four bytes each; where memory for them is
 * lacking `failed` says so, and they are not to be used.
 */
#ifndef GT_REPORT_SPANS_H
#define GT_REPORT_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_spans {
	unsigned char *bytes;  /* pairs: distance from the end before, length */
	size_t used, room;
	uint64_t total, count; /* ns of all, and how many they are, with the last one */
	uint64_t begin, end;   /* the last one, which is not yet in `bytes` */
	uint64_t packed;       /* end of the last one in `bytes` */
	bool any, failed;
};

struct gt_span_at {
	const struct gt_spans *spans;
	size_t next;
	uint64_t begin, end;
	bool last;
};

void gt_spans_add(struct gt_spans *spans, uint64_t begin, uint64_t end);
/* For (at = gt_spans_first(spans); gt_spans_next(&at);) at.begin, at.end. */
struct gt_span_at gt_spans_first(const struct gt_spans *spans);
bool gt_spans_next(struct gt_span_at *at);
/* Adds all of `from` to `to`, in order. */
void gt_spans_merge(struct gt_spans *to, const struct gt_spans *from);
/* The longest one. False: there is none. */
bool gt_spans_longest(const struct gt_spans *spans, struct gt_span_at *longest);
/* The parts of `a` that are not in `b`. */
struct gt_spans gt_spans_without(const struct gt_spans *a, const struct gt_spans *b);
/* ns that are in both. */
uint64_t gt_spans_common(const struct gt_spans *a, const struct gt_spans *b);
void gt_spans_free(struct gt_spans *spans);

#endif

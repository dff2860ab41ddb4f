/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans, as numbers of seven bits a byte.
 *
 * Limits: see spans.h.
 */
#include "config.h"

#include "report/model/spans.h"

#include <stdlib.h>

enum { LONGEST = 20 };

static size_t put(unsigned char *to, uint64_t n)
{
	size_t size = 0;

	for (; n >= 128; n >>= 7)
		to[size++] = (unsigned char)(n | 128);
	to[size++] = (unsigned char)n;
	return size;
}

static uint64_t get(const unsigned char *from, size_t *at)
{
	uint64_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char byte = from[(*at)++];

		n |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return n;
	}
}

static bool has_room(struct gt_spans *spans)
{
	size_t room = 2 * spans->room + 256;
	unsigned char *bytes;

	if (spans->room >= spans->used + LONGEST)
		return true;
	bytes = realloc(spans->bytes, room);
	if (!bytes)
		return false;
	spans->bytes = bytes;
	spans->room = room;
	return true;
}

static void pack(struct gt_spans *spans)
{
	if (spans->failed || !has_room(spans)) {
		spans->failed = true;
		return;
	}
	spans->used += put(spans->bytes + spans->used, spans->begin - spans->packed);
	spans->used += put(spans->bytes + spans->used, spans->end - spans->begin);
	spans->packed = spans->end;
}

void gt_spans_add(struct gt_spans *spans, uint64_t begin, uint64_t end)
{
	if (end <= begin)
		return;
	if (spans->any && begin <= spans->end) {
		if (end > spans->end) {
			spans->total += end - spans->end;
			spans->end = end;
		}
		return;
	}
	if (spans->any)
		pack(spans);
	spans->any = true;
	spans->begin = begin;
	spans->end = end;
	spans->total += end - begin;
	spans->count++;
}

struct gt_span_at gt_spans_first(const struct gt_spans *spans)
{
	return (struct gt_span_at){ .spans = spans };
}

bool gt_spans_next(struct gt_span_at *at)
{
	if (at->next < at->spans->used) {
		at->begin = at->end + get(at->spans->bytes, &at->next);
		at->end = at->begin + get(at->spans->bytes, &at->next);
		return true;
	}
	if (at->last || !at->spans->any)
		return false;
	at->last = true;
	at->begin = at->spans->begin;
	at->end = at->spans->end;
	return true;
}

void gt_spans_merge(struct gt_spans *to, const struct gt_spans *from)
{
	struct gt_spans all = {0};
	struct gt_span_at a = gt_spans_first(to), b = gt_spans_first(from);
	bool in_a = gt_spans_next(&a), in_b = gt_spans_next(&b);

	while (in_a || in_b) {
		if (in_a && (!in_b || a.begin <= b.begin)) {
			gt_spans_add(&all, a.begin, a.end);
			in_a = gt_spans_next(&a);
		} else {
			gt_spans_add(&all, b.begin, b.end);
			in_b = gt_spans_next(&b);
		}
	}
	all.failed |= to->failed || from->failed;
	gt_spans_free(to);
	*to = all;
}

bool gt_spans_longest(const struct gt_spans *spans, struct gt_span_at *longest)
{
	*longest = (struct gt_span_at){0};
	for (struct gt_span_at at = gt_spans_first(spans); gt_spans_next(&at);)
		if (at.end - at.begin > longest->end - longest->begin)
			*longest = at;
	return longest->end;
}

struct gt_spans gt_spans_without(const struct gt_spans *x, const struct gt_spans *y)
{
	struct gt_spans parts = {0};
	struct gt_span_at a = gt_spans_first(x), b = gt_spans_first(y);
	bool in_b = gt_spans_next(&b);

	while (gt_spans_next(&a)) {
		uint64_t from = a.begin;

		while (in_b && b.begin < a.end) {
			if (b.begin > from)
				gt_spans_add(&parts, from, b.begin);
			from = b.end > from ? b.end : from;
			if (b.end > a.end)
				break; /* it may cover the next one, too */
			in_b = gt_spans_next(&b);
		}
		gt_spans_add(&parts, from, a.end);
	}
	return parts;
}

uint64_t gt_spans_common(const struct gt_spans *x, const struct gt_spans *y)
{
	struct gt_span_at a = gt_spans_first(x), b = gt_spans_first(y);
	bool in_a = gt_spans_next(&a), in_b = gt_spans_next(&b);
	uint64_t ns = 0;

	while (in_a && in_b) {
		uint64_t from = a.begin > b.begin ? a.begin : b.begin, to = a.end < b.end ? a.end : b.end;

		ns += to > from ? to - from : 0;
		if (a.end < b.end)
			in_a = gt_spans_next(&a);
		else
			in_b = gt_spans_next(&b);
	}
	return ns;
}

void gt_spans_free(struct gt_spans *spans)
{
	free(spans->bytes);
	*spans = (struct gt_spans){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enters and leaves as they are in a file of events, for loops that take many of them (decode.c has the
 * format).
 *
 * Limits: up to GT_OTF2_CALL_BYTES behind the end may be read.
 */
#ifndef GT_OTF2_CALLS_H
#define GT_OTF2_CALLS_H

#include <endian.h>
#include <string.h>

#include "lib/read/read.h"

enum { GT_OTF2_RECORD_TIME = 5, GT_OTF2_RECORD_ENTER = 12, GT_OTF2_RECORD_LEAVE, GT_OTF2_CALL_BYTES = 16 };

static inline uint64_t gt_otf2_load(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

/*
 * The enter or leave at `at`, with the time before it if there is one. Returns what is behind it; NULL: it is
 * something else (`number` says what), or damaged. Most numbers have one byte; the branch for these lets the
 * processor go on to the next record before it has read this one.
 */
static inline const unsigned char *gt_otf2_take_call(const unsigned char *at, uint64_t *ticks,
						     unsigned *number, uint32_t *id)
{
	static const uint32_t masks[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff };
	uint64_t then = *ticks, record;
	unsigned size;

	if (__builtin_expect(*at == GT_OTF2_RECORD_TIME, 1)) {
		then = gt_otf2_load(at + 1);
		at += 9;
	}
	record = gt_otf2_load(at);
	*number = record & 0xff;
	*ticks = then;
	*id = (uint32_t)(record >> 16);
	if (__builtin_expect((record & 0xfffe) == (1 << 8 | GT_OTF2_RECORD_ENTER), 1)) {
		*id &= 0xff;
		return at + 3;
	}
	size = record >> 8 & 0xff;
	if ((*number & ~1U) != GT_OTF2_RECORD_ENTER)
		return NULL;
	if (size <= 4) {
		*id &= masks[size];
		return at + 2 + size;
	}
	*id = ~UINT32_C(0);
	return size == 0xff ? at + 2 : NULL;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a random program has counted itself, in a file that all its processes share and that survives them.
 * play.c and play.py write it, judge.c compares an archive with it.
 *
 * Limits: play.py knows this layout; all numbers are 64 bits.
 */
#ifndef SOAK_TRUTH_H
#define SOAK_TRUTH_H

#include <stdint.h>

enum { TRUTH_NAMES = 64 };

struct truth {
	struct {
		char name[24];
		uint64_t on;  /* calls that were recorded */
		uint64_t off; /* calls while recording was off: none of them may be in the archive */
		uint64_t may; /* calls that the program may have taken out again (VT_REWIND) */
	} of[TRUTH_NAMES];
	uint64_t depth;     /* of each call of a function f: how many of them were open; the sum */
	uint64_t depth_bad; /* not 0: depth is not known exactly */
	uint64_t slack;     /* calls that may be in the archive or not: made while a thread was killed */
	uint64_t late;      /* the program ended while threads went on: their last calls are lost, and told */
	uint64_t values, sends, receives, markers; /* by vt_user.h */
	uint64_t collectives, messages;            /* of MPI, over all ranks */
	uint64_t processes;
};

#endif

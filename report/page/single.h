/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single events of a window, read from the archive by a child: it has read the definitions, and reads events
 * from the nearest place before the window. If it ends (libotf2 crashes on some damaged files), the next
 * question makes another one.
 *
 * Limits: one question at a time; an answer that takes longer than GT_SINGLE_SECONDS is none.
 */
#ifndef GT_REPORT_PAGE_SINGLE_H
#define GT_REPORT_PAGE_SINGLE_H

#include <sys/types.h>

#include "report/page/store.h"

enum { GT_SINGLE_SECONDS = 30, GT_SINGLE_MOST = 20000 };

struct gt_single {
	const char *anchor;
	const struct gt_store *store;
	pid_t child;   /* 0: none */
	int to, from;  /* pipes */
};

/*
 * Calls and events of a row that touch the window, as JSON (doc/page-data.md). False: it cannot be read.
 */
bool gt_single_events(struct gt_single *single, uint32_t row, uint64_t from, uint64_t to,
		      struct gt_bytes *out);
/*
 * Of a region in a window: enters, ns in it, ns in it and what it calls (once if it calls itself), and bytes
 * of copies: of one that is in the window for a part of its time, that part.
 */
struct gt_single_sum {
	uint64_t calls, exclusive, inclusive, bytes;
};

/* Adds those of a row, by region: there are `regions` and one for undefined ones. */
bool gt_single_sums(struct gt_single *single, uint32_t row, uint64_t from, uint64_t to,
		    struct gt_single_sum *sums, size_t regions);
void gt_single_end(struct gt_single *single);

#endif

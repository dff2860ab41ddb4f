/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between rows: messages, launches, collectives, locks, each in the tile where it begins. A tile
 * with few links has all of them; one with many has the long ones and sums of the others by pair of rows,
 * and its children have the others.
 *
 * Limits: 48 bytes each in a temporary file. A tile has at most GT_LINK_PAIRS sums; what is not in them is
 * one more for each type, from and to nobody.
 */
#ifndef GT_REPORT_PAGE_LINKS_H
#define GT_REPORT_PAGE_LINKS_H

#include "report/page/store.h"
#include "report/model/spill.h"

enum gt_link_type { GT_LINK_MESSAGE, GT_LINK_LAUNCH, GT_LINK_COLLECTIVE, GT_LINK_CREATE, GT_LINK_LOCK };
enum { GT_LINK_FEW = 1000, GT_LINK_PAIRS = 1000 };

struct gt_link {
	uint64_t begin, end, bytes;
	uint32_t from, to;     /* rows */
	uint32_t comm;         /* its place in the table + 1, or 0 */
	uint32_t tag;
	uint32_t type;
	uint32_t done;         /* it is in a tile */
};

struct gt_links {
	struct gt_store *store;
	unsigned span_log2;
	uint32_t nobody;       /* no row */
	struct gt_spill spill;
	struct gt_sorter *sorter;
	struct gt_log log;     /* in order of their begins */
};

void gt_links_open(struct gt_links *links, struct gt_store *store, unsigned span_log2, uint32_t nobody);
void gt_links_add(struct gt_links *links, const struct gt_link *link);
/* Writes the tiles; returns how many levels there are. */
unsigned gt_links_close(struct gt_links *links);

#endif

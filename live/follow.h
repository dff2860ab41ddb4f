/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Following a process while it records, by reading its spool: the windows are files that it has mapped, so
 * all that it does is there at once and it does nothing for it. The result is an image as <gputrace/live.h>
 * has it.
 *
 * Limits: this host only; reads without any lock, so what changes while it is read is left for the next time.
 * Believes nothing about sizes.
 */
#ifndef GT_LIVE_FOLLOW_H
#define GT_LIVE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gputrace/live.h"
#include "lib/assemble/names/symbols.h"

struct gt_follow;

/* A header and its tables, in one piece of memory. */
struct gt_image {
	struct gt_live_header *header; /* NULL: nothing yet */
	size_t room;
};

static inline struct gt_live_location *gt_image_location(const struct gt_image *image, uint32_t i)
{
	const struct gt_live_header *h = image->header;

	return (struct gt_live_location *)((char *)image->header + h->locations_at +
					   (size_t)i * h->location_bytes);
}

static inline struct gt_live_metric *gt_image_metric(const struct gt_image *image, uint32_t i)
{
	const struct gt_live_header *h = image->header;

	return (struct gt_live_metric *)((char *)image->header + h->metrics_at + (size_t)i * h->metric_bytes);
}

/* Makes room for an image of that size. False: no memory, or an absurd size. */
bool gt_image_room(struct gt_image *image, uint64_t bytes);

/*
 * The process whose spool folder is `folder`, a descriptor that it keeps; NULL: there is nothing to follow
 * yet.
 */
struct gt_follow *gt_follow_open(int folder, const char *archive);
void gt_follow_close(struct gt_follow *follow);
int gt_follow_folder(const struct gt_follow *follow);

/* Looks, and makes the image. Returns false once the process has ended. */
bool gt_follow_look(struct gt_follow *follow, struct gt_symbols *symbols, uint64_t interval_ns);
const struct gt_image *gt_follow_image(const struct gt_follow *follow);

#endif

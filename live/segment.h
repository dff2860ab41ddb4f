/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments of shared memory that hold an image for everybody of the same user; <gputrace/live.h> has the
 * layout.
 *
 * Limits: one writer for each. A reader copies what it reads and believes nothing that it says about sizes.
 */
#ifndef GT_LIVE_SEGMENT_H
#define GT_LIVE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "live/follow.h"

struct gt_live_segment {
	char name[80];          /* of shm_open(); "": none */
	int fd;
	struct gt_live_header *header; /* mapped */
	size_t mapped;
	bool seen;              /* the caller's */
};

/*
 * Makes the segment of the image's process. 0, or a negative errno: -EEXIST if a living process publishes
 * it.
 */
int gt_segment_create(struct gt_live_segment *segment, const struct gt_image *image);
/* Writes it; makes it longer if need be. 0 or a negative errno. */
int gt_segment_write(struct gt_live_segment *segment, const struct gt_image *image);
void gt_segment_remove(struct gt_live_segment *segment);

/*
 * Calls the function with each segment of this user that is up to date, until it returns false. The image is
 * valid until it returns. Removes segments whose process and publisher are gone.
 */
void gt_segments_each(bool (*function)(const struct gt_image *image, void *argument), void *argument);

#endif

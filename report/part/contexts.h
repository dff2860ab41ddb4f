/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enters, leaves and samples of an archive as Score-P writes them where it samples: all of them name a node
 * of one tree of calling contexts, a call by CallingContextEnter and -Leave.
 *
 * A call's node hangs below that of the call around it. A sample's hangs below that of the innermost open
 * call, by way of the functions in between (gt_frames_below()); one in that call's own code is the call's
 * node with the line. Outside of calls samples keep the nodes that they have. Nodes that the archive has stay
 * in it, as attributes name them.
 *
 * Unwind distances are those of OTF2's CallingContext: of the nodes of an event's path, those that the path
 * before does not have, or more if the sample says that more was entered anew, and one.
 *
 * Limits: 60 to 120 bytes for each new node, 4 for each other. There are at most GT_CONTEXTS_MOST new ones,
 * and one for each region: where there would be more, a call or function has its node without line and
 * caller. One thread.
 */
#ifndef GT_REPORT_CONTEXTS_H
#define GT_REPORT_CONTEXTS_H

#include "lib/read/copy.h"
#include "report/model/stacks.h"

enum { GT_CONTEXTS_MOST = 1 << 20 };

struct gt_contexts;

/* Of one location. Zero at first; freed with gt_contexts_end(). */
struct gt_contexts_place {
	uint32_t *open;   /* nodes of the open calls */
	size_t depth, room;
	uint32_t before;  /* 1 + the innermost node of the path before the next event; 0: it has none */
};

struct gt_contexts *gt_contexts_new(const struct gt_otf2 *read);
/* False: those that the archive has have numbers so high that there might not be enough for new ones. */
bool gt_contexts_have_room(const struct gt_contexts *contexts);

/* Make the event of a call that begins or ends. False: its region is not defined, none is to be written. */
bool gt_contexts_enter(struct gt_contexts *contexts, struct gt_contexts_place *place,
		       const struct gt_otf2_region *region, struct gt_otf2_event *event);
bool gt_contexts_leave(const struct gt_contexts *contexts, struct gt_contexts_place *place,
		       const struct gt_otf2_region *region, struct gt_otf2_event *event);
/* Changes the sample of the event being visited. Of the stack of `at` all calls must have been entered. */
void gt_contexts_sample(struct gt_contexts *contexts, struct gt_contexts_place *place,
			const struct gt_otf2_cursor *at, struct gt_otf2_CallingContextSample *sample);
/* Calls of such an archive are written as Enter and Leave: the distance is from the sample before. */
void gt_contexts_plain_sample(const struct gt_contexts *contexts, struct gt_contexts_place *place,
			      struct gt_otf2_CallingContextSample *sample);
void gt_contexts_end(struct gt_contexts_place *place);

/* After all events: the copy gets the new nodes when it is closed. */
void gt_contexts_define(struct gt_contexts *contexts, struct gt_otf2_copy *copy);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks: what one stands for, and its path below the call that was open.
 *
 * A sample stands for the processor time that its attribute SAMPLE_TIME says (gputrace's archives), else for
 * the period of its interrupt generator, if that is one of time. Else nothing is known of its time.
 *
 * Limits: of a path longer than GT_FRAMES_MOST the innermost frames.
 */
#ifndef GT_REPORT_STACKS_H
#define GT_REPORT_STACKS_H

#include "lib/read/read.h"

enum { GT_FRAMES_MOST = 1024 };

/* Of an archive: ids of attributes. */
struct gt_stack_ids {
	uint64_t time, flags;
};

struct gt_stack_sample {
	const struct gt_otf2_context *context; /* NULL: it is not defined */
	uint64_t ns;
	bool known; /* else ns is 0 */
	bool ours;  /* inside of gputrace itself */
};

/* After the definitions. */
struct gt_stack_ids gt_stacks_of(const struct gt_otf2 *read);
/* What the event that is being visited says. */
struct gt_stack_sample gt_stack_sample_of(const struct gt_stack_ids *stacks, const struct gt_otf2_cursor *at,
					  const struct gt_otf2_CallingContextSample *event);

/* "[gputrace]": a function that stands for all of gputrace itself. */
extern const struct gt_otf2_region gt_stacks_ours;

struct gt_frames {
	const struct gt_otf2_region *regions[GT_FRAMES_MOST]; /* innermost first */
	unsigned count;
};

/*
 * The frames of a sample below a call: those that follow its own, the innermost one of its name, since
 * deeper ones would be open calls themselves. Where it has none, as a range of the user or a call that was
 * inlined, nobody knows which frames are outside of it, and only the innermost one is below it. NULL: no call
 * is open, and the whole path is below. Inside of gputrace only that is known.
 */
void gt_frames_below(const struct gt_otf2 *read, const struct gt_otf2_context *context, bool ours,
		     const struct gt_otf2_region *open, struct gt_frames *frames);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks: what one stands for, and its path below the call that was open.
 *
 * A sample stands for the processor time that its attribute SAMPLE_TIME says (gputrace's archives), else for
 * the period of its interrupt generator, if that is one of time. Else, or if that is more than eleven days,
 * nothing is known of its time.
 *
 * Limits: of a path longer than GT_FRAMES_MOST the innermost frames.
 */
#ifndef GT_REPORT_STACKS_H
#define GT_REPORT_STACKS_H

#include "lib/read/read.h"

enum { GT_FRAMES_MOST = 1024, GT_OPEN_MOST = 16 };

/* Of an archive: ids of attributes. */
struct gt_stack_ids {
	uint64_t time, flags, path;
};

struct gt_stack_sample {
	const struct gt_otf2_context *context; /* NULL: it is not defined */
	uint64_t ns;
	bool known; /* else ns is 0 */
	bool ours;  /* inside of gputrace itself */
};

/* After the definitions. */
struct gt_stack_ids gt_stacks_of(const struct gt_otf2 *read);
/* The sample of the event being visited. */
struct gt_stack_sample gt_stack_sample_of(const struct gt_stack_ids *stacks, const struct gt_otf2_cursor *at,
					  const struct gt_otf2_CallingContextSample *event);

/* The caller of a call that begins or ends, from its attribute CALL_PATH: 1 + index of a context, or 0. */
uint32_t gt_stack_call_path(const struct gt_otf2_cursor *at, uint64_t attribute);
/* The same of a launch: who called what the compiler has made of it, functions of the kernel's name. */
uint32_t gt_stack_launcher(const struct gt_otf2 *read, uint32_t path, const char *kernel);

/*
 * Samples divide a call's own time and never have more of it than there is: where they stand for more, all
 * get the same part less. That is so for the calls of one path on one location. Returns the part that they
 * get.
 */
static inline double gt_stack_part(uint64_t own, uint64_t sampled)
{
	return sampled > own ? (double)own / (double)sampled : 1;
}

/* "[gputrace]": a function that stands for all of gputrace itself. */
extern const struct gt_otf2_region gt_stacks_ours;

struct gt_frames {
	const struct gt_otf2_region *regions[GT_FRAMES_MOST]; /* innermost first */
	const struct gt_otf2_context *contexts[GT_FRAMES_MOST];
	unsigned count;
};

/*
 * The frames of a sample below the innermost of these open calls, of which GT_OPEN_MOST are enough, innermost
 * first: those that follow its own frame, the innermost one of its name, since deeper ones would be open
 * calls themselves. A function that the compiler has inlined is in its caller's frame where nothing says so.
 * Where there is no frame, as of a range of the user, nobody knows which ones are outside of it, and only the
 * innermost one is below it. No open call: the whole path. Inside of gputrace only that is known.
 */
void gt_frames_below(const struct gt_otf2 *read, const struct gt_otf2_context *context, bool ours,
		     const struct gt_otf2_region *const *open, unsigned count, struct gt_frames *frames);

/*
 * The same of a call with that path (gt_stack_call_path(); 0: none), which is not one of `open`: functions
 * between these and the call; without open calls from main(), or a thread's first function, on.
 */
void gt_call_frames(const struct gt_otf2 *read, uint32_t path, const struct gt_otf2_region *const *open,
		    unsigned count, struct gt_frames *frames);

/* "main > take": all of them, which have to be freed; where the call was made: its line, or NULL. */
char *gt_call_functions(const struct gt_otf2 *read, uint32_t path);
const struct gt_otf2_source *gt_call_source(const struct gt_otf2 *read, uint32_t path);

/* Objects (programs and libraries) that functions are in, numbered from 1 in the order of the archive. */
struct gt_stack_objects {
	const char **names;
	uint32_t *of;  /* by index of the region; 0: not known */
	uint32_t count;
};

struct gt_stack_objects gt_stack_objects_of(const struct gt_otf2 *read);
void gt_stack_objects_free(struct gt_stack_objects *objects);
/*
 * The source file of a function, or NULL: where nothing is known of the source, the file of its region may be
 * the object that it is in (which may be NULL).
 */
const char *gt_stack_file(const struct gt_otf2_region *region, const char *object);

#endif

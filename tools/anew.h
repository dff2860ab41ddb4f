/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of ours that stays beside the command goes on in a new image of this program: without the
 * libraries that the user preloads, which may be at work in this process (a profiler), and without the
 * descriptors of anybody.
 *
 * Limits: needs /proc. What /etc/ld.so.preload names is loaded again.
 */
#ifndef GT_TOOLS_ANEW_H
#define GT_TOOLS_ANEW_H

#include <stddef.h>

/* Called by main() in a new image; `state` is the argument of gt_anew(). Returns an exit status. */
struct gt_duty {
	const char *name; /* NULL: the end of the table */
	int (*run)(const char *state);
};

/*
 * Executes this program anew, with the same process id, arguments and signal mask, for a duty ("parent"). Of
 * the descriptors above the standard ones it has only those of `keep` (ends with -1). Returns if that fails.
 */
void gt_anew(const char *duty, const char *state, const int *keep);

/* In main(): the exit status of the duty that this image is for; -1: none, it is a command line as any. */
int gt_anew_duty(const struct gt_duty *duties, char **argv);

/* Descriptors of ours have high numbers: libraries and the user count on low ones. -1 stays -1. */
int gt_anew_high(int fd);

#endif

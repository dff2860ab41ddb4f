/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies the C library's functions by which threads and processes wait for or affect each other: one
 * table for all readers of archives.
 *
 * Limits: names, as POSIX, C11 and glibc have them.
 */
#ifndef GT_REPORT_POSIX_H
#define GT_REPORT_POSIX_H

enum gt_posix {
	GT_POSIX_NONE,
	GT_POSIX_CREATE,    /* of a thread */
	GT_POSIX_UNLOCK,    /* or wake, detach, cancel: none of them waits */
	GT_POSIX_TRY,       /* nor does this, whether or not it gets what it tries for */
	GT_POSIX_YIELD,     /* nor this, but who calls it again and again */
	/* From here on they wait. */
	GT_POSIX_JOIN,
	GT_POSIX_LOCK,      /* returns with one */
	GT_POSIX_CONDITION,
	GT_POSIX_BARRIER,
	GT_POSIX_SLEEP,     /* for time */
	GT_POSIX_AWAIT,     /* for input or a signal */
	GT_POSIX_SEMAPHORE,
	GT_POSIX_PROCESS,   /* for its end */
};

enum gt_posix gt_posix_call(const char *name);
/* Of a function as samples name it, which may be one of glibc's own names: "__poll". */
enum gt_posix gt_posix_sampled(const char *name);

#endif

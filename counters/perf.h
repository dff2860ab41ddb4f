/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perf events that are open: a thread of the program may close a descriptor of theirs, and open a file that
 * gets the number, so that the kernel's number of the event is asked for before it is used. And what perf.c
 * wants of the system, so that a test can be the kernel and the processor.
 *
 * Limits: what the program does in the microsecond between question and use is not seen; nor in the 10 of
 * GT_CN_TRUST, where the number is so high that no file gets it unless the program names it or has that many.
 */
#ifndef GT_COUNTERS_PERF_H
#define GT_COUNTERS_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "gputrace/compiler.h"

struct perf_event_attr;

struct gt_cn_perf_system {
	/* A descriptor that counts the calling thread (cpu -1) or that processor, in that group or (-1) as
	 * the leader of one; -errno. */
	int (*open)(struct perf_event_attr *attr, int cpu, int group);
	uint64_t (*id)(int fd);                         /* the event's, or 0: it is none */
	long (*read)(int fd, void *data, size_t bytes); /* as read(), or negative errno */
	void *(*map)(int fd);                           /* struct perf_event_mmap_page, NULL: none */
	void (*close)(int fd);
	void (*unmap)(void *page);
	uint64_t (*counter)(uint32_t index);            /* rdpmc; NULL: not on this processor */
};
extern GT_HIDDEN struct gt_cn_perf_system gt_cn_perf_system;

#define GT_CN_HIGH  1000   /* where gt_descriptor_away() has room it returns no lower number */
#define GT_CN_TRUST 10000u /* ns */

struct gt_cn_event {
	int fd;         /* negative: not open */
	uint64_t id;
	uint64_t trust; /* ticks for which an answer is good; 0: it has to be asked for each time */
	uint64_t asked; /* tick of the last answer */
};
/* 0 or a negative errno; `group`: its leader, NULL: it leads one. */
GT_HIDDEN int gt_cn_event_open(struct gt_cn_event *event, struct perf_event_attr *attr, int cpu,
			       const struct gt_cn_event *group);
/* As read(); -EBADF: it is not ours any more. */
GT_HIDDEN long gt_cn_event_read(struct gt_cn_event *event, void *data, size_t bytes);
GT_HIDDEN void gt_cn_event_close(struct gt_cn_event *event); /* if it is ours */

#endif

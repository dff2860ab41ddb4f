/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What perf.c wants of the system, so that a test can be the kernel and the processor.
 * Limits: none.
 */
#ifndef GT_COUNTERS_PERF_H
#define GT_COUNTERS_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "gputrace/compiler.h"

struct perf_event_attr;

struct gt_cn_perf_system {
	/* A descriptor that counts the calling thread, in that group or, -1, as the leader of one; -errno. */
	int (*open)(struct perf_event_attr *attr, int group);
	long (*read)(int fd, void *data, size_t bytes); /* as read(), or negative errno */
	void *(*map)(int fd);                           /* struct perf_event_mmap_page, NULL: none */
	void (*close)(int fd, void *page);
	uint64_t (*counter)(uint32_t index);            /* rdpmc; NULL: not on this processor */
};
extern GT_HIDDEN struct gt_cn_perf_system gt_cn_perf_system;

#endif

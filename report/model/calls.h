/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies calls of messaging and device libraries, and activities of devices, by name: one table for
 * all readers of archives.
 *
 * Limits: names, as those libraries have them (registry/classes.def); groups, as gputrace's adapters and
 * Score-P call them.
 */
#ifndef GT_REPORT_CALLS_H
#define GT_REPORT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum gt_call_kind {
	GT_CALL_NONE,
	/* of a library for messages between ranks */
	GT_CALL_SETUP,
	GT_CALL_SEND,
	GT_CALL_RECV,
	GT_CALL_SENDRECV,
	GT_CALL_START,         /* of something non-blocking */
	GT_CALL_WAIT,
	GT_CALL_TEST,
	GT_CALL_BARRIER,
	GT_CALL_COLLECTIVE,
	GT_CALL_RMA,
	GT_CALL_FILE,
	GT_CALL_OTHER,
	/* of a device's runtime */
	GT_CALL_LAUNCH,
	GT_CALL_COPY,          /* and set */
	GT_CALL_DEVICE_WAIT,
	GT_CALL_HIDDEN_WAIT,   /* a part of a call */
	GT_CALL_DEVICE_POLL,
	GT_CALL_DEVICE_MEMORY, /* allocates or frees */
	GT_CALL_DEVICE_IDLE,   /* of a device, as a region that says so */
	GT_CALL_DEVICE_OTHER,
	GT_CALLS,
};

/* Of a region of a library for messages; GT_CALL_NONE: it has not such a name. */
enum gt_call_kind gt_message_call(const char *name);
/* Of a region of a device's runtime that is no activity. */
enum gt_call_kind gt_device_call(const char *name);

/* Of one that copies or sets: does it go on meanwhile? */
bool gt_call_async(const char *name);

/* Activities of a device. */
enum gt_activity_kind { GT_ACTIVITY_NONE, GT_ACTIVITY_KERNEL, GT_ACTIVITY_COPY, GT_ACTIVITY_SET };

/* Of the regions of this group. */
enum gt_activity_kind gt_activity(const char *group);
/* Of a copy that a device does: is the host's memory pageable? */
bool gt_copy_pageable(const char *name);
/* The direction, by its name. */
enum gt_copying { GT_COPYING_NOT, GT_COPYING_IN, GT_COPYING_OUT, GT_COPYINGS }; /* _NOT: not with the host */
enum gt_copying gt_copy_way(const char *name);

/* What a parameter of this name says of a kernel: its blocks, or groups; what is in each; all items. */
enum gt_size { GT_SIZE_NONE, GT_SIZE_GRID, GT_SIZE_BLOCK, GT_SIZE_ITEMS };
enum gt_size gt_size_of(const char *parameter);
/* "(16,2,1)": 32. */
uint64_t gt_size_product(const char *text);

#endif

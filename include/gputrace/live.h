/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view of a traced process: a segment of POSIX shared memory named
 *
 *	GT_LIVE_PREFIX <uid> . <pid> . <start time, field 22 of /proc/PID/stat>
 *
 * (/dev/shm on Linux; mode 0600). It is updated at an interval while the process runs (VT_LIVE=1) and removed
 * when the process has ended. Numbers have the machine's byte order. Texts end with a NUL.
 *
 *	offset 0              struct gt_live_header
 *	       locations_at   struct gt_live_location, `locations` of them, each `location_bytes` long
 *	       metrics_at     struct gt_live_metric, `metrics` of them, each `metric_bytes` long
 *
 * To read it consistently: read `sequence`, which must be even; copy `bytes` bytes; read `sequence` again,
 * and start over if it has changed. The segment can grow, so an older mapping may be shorter than `bytes`. A
 * segment that has not been updated (updated_ns, CLOCK_MONOTONIC) for several intervals was left behind.
 *
 * Limits: plain structs, no functions. Later versions only add fields at the end of each struct, so a reader
 * uses the sizes in the header; a different `version` means a different layout.
 */
#ifndef GPUTRACE_LIVE_H
#define GPUTRACE_LIVE_H

#include <stdint.h>

#define GT_LIVE_PREFIX  "gputrace-live."
#define GT_LIVE_MAGIC   "GTLIVE1" /* eight bytes with its NUL */
#define GT_LIVE_VERSION 1u

struct gt_live_header {
	char magic[8];
	uint32_t version;        /* GT_LIVE_VERSION */
	uint32_t sequence;       /* odd while it is being written */
	uint64_t bytes;          /* of header and tables */
	uint32_t locations_at, location_bytes, locations;
	uint32_t metrics_at, metric_bytes, metrics;
	uint32_t pid, publisher; /* the traced process, and the process that writes this */
	uint64_t start_time;     /* of the traced process: field 22 of /proc/PID/stat */
	uint64_t updated_ns;     /* CLOCK_MONOTONIC */
	uint64_t real_ns;        /* the same moment by CLOCK_REALTIME */
	uint64_t interval_ns;    /* between two updates */
	int32_t rank;            /* in its parallel program; -1: none is known */
	uint32_t uid;
	uint64_t events;         /* recorded in all its locations */
	double rate;             /* events per second since the previous update */
	uint64_t lost;           /* events that will be missing from the trace */
	/* the same by cause (enum gt_loss), also those that are not losses (filtered, rewound) */
	uint64_t lost_by[16];
	uint64_t spooled;        /* slots of 16 bytes that have left the event buffers */
	char host[64];
	char program[256];
	char archive[512];       /* directory of the run */
};

#define GT_LIVE_ACTIVE 1u /* `region` is active; `depth` counts the active regions that were seen to begin */
#define GT_LIVE_LEFT   2u /* no region is known to be active; `region` is the last one that was left */
#define GT_LIVE_ENDED  4u /* its thread has ended */

struct gt_live_location {
	uint32_t id;             /* in its process */
	uint32_t kind;           /* enum gt_loc_kind: 0 thread, 1 GPU stream, 2 metrics */
	uint32_t tid;            /* kernel thread id, 0: no thread */
	uint32_t flags;          /* GT_LIVE_... */
	uint32_t depth;
	uint32_t reserved;
	uint64_t events; /* exact if at most one buffer was filled between two updates; otherwise the number
			    of 16-byte slots, of which an enter or leave takes one */
	double rate;             /* per second since the previous update */
	uint64_t lost;
	uint64_t active_ns;      /* for how long `region` has been active */
	uint64_t quiet_ns;       /* since the newest event */
	char name[64];
	char region[160];
};

#define GT_LIVE_SYNCHRONOUS 1u /* read at events of the location, not at an interval */

struct gt_live_metric {
	uint32_t location;       /* id of the location that recorded it */
	uint32_t type;           /* OTF2_Type: 4 uint64, 8 int64, 10 double */
	uint32_t mode;           /* OTF2_MetricMode */
	uint32_t flags;          /* GT_LIVE_SYNCHRONOUS */
	union {
		uint64_t u;
		int64_t i;
		double d;
	} value;                 /* the latest */
	double rate;             /* change per second between the latest values of two updates */
	uint64_t age_ns;         /* of the value */
	char name[128];
	char unit[32];
};

#endif

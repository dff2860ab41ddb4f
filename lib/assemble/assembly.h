/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An assembly: its state, and from an open spool to event files. It is led by assemble.c (a spool becomes an
 * archive) and hosts.c (a spool becomes a partial archive; partial archives become one).
 *
 * Limits: internal.
 */
#ifndef GT_ASSEMBLE_ASSEMBLY_H
#define GT_ASSEMBLE_ASSEMBLY_H

#include "lib/assemble/assemble.h"
#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/archive/defs.h"
#include "lib/assemble/archive/worker.h"
#include "lib/assemble/pair/messages.h"
#include "lib/assemble/pair/order.h"
#include "lib/assemble/defs/properties.h"
#include "lib/assemble/report/report.h"

/*
 * The whole run; the processes that are here, where others are in parts; or those of one host, which gives
 * up with -EAGAIN if only somebody who sees all hosts can do it.
 */
enum gt_how { GT_HOW_WHOLE, GT_HOW_PART, GT_HOW_ALONE };

struct gt_assembly {
	const char *dir;
	const struct gt_assemble_options *options;
	int dirfd, workfd;
	struct gt_spool spool;
	struct gt_defs defs;
	struct gt_layout layout;
	struct gt_clock clock;
	struct gt_symbolizer symbolizer;
	struct gt_messages *messages;
	void *states[GT_ASSEMBLERS_MOST]; /* of the adapters' halves */
	struct gt_conversion conv;
	struct gt_order shifts;   /* of several hosts whose events are converted at once */
	enum gt_how how;          /* not GT_HOW_WHOLE: a part of an archive */
	struct gt_origins origins;
	struct gt_facts facts;
	struct gt_properties properties;
	struct gt_worker *workers;
	unsigned worker_count;
	uint32_t *order;          /* locations, the longest streams first */
	uint32_t next;            /* atomic: place in `order` */
	uint64_t total_bytes;
	unsigned running;         /* workers, under lock */
	pthread_mutex_t lock;
	pthread_cond_t idle;
	/* freeing the spool while it is read */
	pthread_mutex_t room_lock;
	uint64_t *consumed, *freed; /* stream offsets, by location */
	bool may_eat;             /* what the spool frees will be enough for the archive */
	bool eaten;               /* something has been freed before the archive was complete */
	char why[512];
};

/* Opens DIR (dirfd -1: it cannot be); everything else is empty. */
void gt_assembly_begin(struct gt_assembly *a, const char *dir,
		       const struct gt_assemble_options *options);
void gt_assembly_free(struct gt_assembly *a);

/* From the open spool to event files, and what was counted. All: 0 or a negative errno, a->why says why. */
int gt_assembly_convert(struct gt_assembly *a);
int gt_assembly_close(struct gt_assembly *a, const struct gt_layout *layout, struct gt_defs *defs,
		      const struct gt_archive_clock *clock);

/* The archive is in its place: tells about it and tidies up. Positive: it lacks events. */
int gt_assembly_conclude(struct gt_assembly *a, struct gt_run_report *report);

/* Are several hosts converted at once, whose times messages shall correct (gt_hosts_order)? */
bool gt_assembly_orders(const struct gt_assembly *a);

/* The run's state by the spool's run headers: enum gt_run_state. */
void gt_assembly_mark(const struct gt_assembly *a, uint32_t state);

#endif

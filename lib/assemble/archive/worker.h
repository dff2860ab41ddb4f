/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who converts locations: what a worker has learned and counted, and what all of them share.
 *
 * Limits: one worker converts one location at a time; workers share only what struct gt_conversion
 * points to.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_WORKER_H
#define GT_ASSEMBLE_ARCHIVE_WORKER_H

#include "gputrace/assemble.h"
#include "lib/assemble/archive/archive.h"
#include "lib/assemble/clock/clock.h"
#include "lib/assemble/names/names.h"
#include "lib/assemble/spool/stream.h"
#include "lib/assemble/util/lookup.h"
#include "lib/assemble/util/rules.h"

struct gt_messages;
struct gt_assembly;

/* What is to be done with a kind of record; convert NULL: nobody knows it. */
struct gt_kind {
	gt_convert *convert;
	unsigned least; /* continuation slots that it has at least */
};

/* Time spent in a region, by one worker. 64 bytes: the loop of conversion.c finds it by a shift. */
struct gt_profile {
	uint64_t calls, inclusive, exclusive; /* nanoseconds */
	uint64_t most;                        /* of a call */
	uint64_t aside;                       /* of exclusive: no part of a run with ranks (use.aside) */
	uint64_t apart;                       /* of exclusive: of locations that are no threads */
	uint32_t open;                        /* frames of it on the stack now */
	uint32_t locations;                   /* that called it */
	bool on_device;                       /* a stream's: its time is none of a thread's */
	uint8_t lock;                         /* worst.c: whether it waits for locks */
	uint8_t activity;                     /* activity.c: what a device does in it */
	uint8_t call;                         /* enum gt_call, known once a location with it is done */
	uint8_t async;                        /* ties.c: whether it asks for asynchronous copies */
	uint8_t unused[3];
};
_Static_assert(sizeof(struct gt_profile) == 64, "a power of two");

/* What others, or another host's, have seen of the same region. */
static inline void gt_profile_add(struct gt_profile *profile, const struct gt_profile *more)
{
	profile->calls += more->calls;
	profile->inclusive += more->inclusive;
	profile->exclusive += more->exclusive;
	profile->aside += more->aside;
	profile->apart += more->apart;
	profile->most = more->most > profile->most ? more->most : profile->most;
	profile->locations += more->locations;
	profile->on_device |= more->on_device;
	profile->call = more->call ? more->call : profile->call;
}

/* Of a lock or file, while locations are converted: worst.c. */
struct gt_sum_of {
	uint64_t key, count, ns, bytes, address;
	uint64_t waited;         /* of a lock: waits of any length; `count` and `ns` are of short ones */
	uint64_t ns_here, ns_most; /* of the last location, and the most of one */
	uint32_t location;       /* the last one, + 1 */
	uint32_t locations, group;
};

/* The worst lock or file, by what the run could be shorter. */
struct gt_worst {
	uint64_t gain_ns;        /* 0: there is none */
	uint64_t count, ns;      /* waits or operations */
	uint64_t bytes, address; /* of the operations; of the lock */
	uint32_t threads;        /* that acquired the lock */
	bool write;              /* not reads */
	char of[107];            /* process of the lock; file */
};

/* Kernels, by their shape; times are sums over streams. */
struct gt_kernels {
	uint64_t count, ns;
	uint64_t tiny, tiny_ns;  /* of shapes that take less than GT_TINY_KERNEL on average */
	uint64_t small_ns;       /* of less than GT_FEW_BLOCKS blocks */
	bool lost;               /* there were too many shapes */
};

/* Asynchronous copies of pageable memory: calls, the host's time in them, and bytes. */
struct gt_pageable {
	uint64_t calls, ns, bytes;
};

/* An asynchronous copy, or the call that asked for it: of a process and correlation id, bytes or ns. */
struct gt_ties {
	struct gt_tie {
		uint64_t key, value;
	} *items;
	size_t count, room;
};

/* Copies in one direction, as their regions' names have it. */
struct gt_copied {
	char direction[8];
	uint64_t count, bytes;
};
#define GT_DIRECTIONS 8

/* What was found and done. */
struct gt_tally {
	uint64_t events;         /* in the archive */
	uint64_t closed_frames;  /* leaves that were added */
	uint64_t dropped_leaves; /* leaves without an enter */
	uint64_t clamped_times;
	uint64_t unknown_records;
	uint64_t unmatched;      /* messages and transfers without a partner */
	uint64_t last_ns;
	uint64_t off_at_end;     /* locations that were switched off when they ended */
	uint64_t messages, message_bytes, collectives; /* of ranks; a collective once for each rank */
	uint64_t flushes, flush_ns, longest_flush_ns;
	uint64_t idle_threads, idle_ns; /* threads that did nothing but wait */
	uint64_t serving_threads, serving_ns; /* others: gt_use.idle_ns */
	uint64_t sent, tiny_sent, tiny_bytes, sent_bytes; /* messages between threads of any kind */
	struct gt_worst lock, file;
	struct gt_kernels kernels;
	struct gt_pageable pageable;
	struct gt_copied copied[GT_DIRECTIONS]; /* the first ones; count 0: no more */
};

static inline void gt_tally_sent(struct gt_tally *tally, uint64_t bytes)
{
	bool tiny = bytes < GT_TINY_MESSAGE;

	tally->sent++;
	tally->sent_bytes += bytes;
	tally->tiny_sent += tiny;
	tally->tiny_bytes += tiny ? bytes : 0;
}

/* Adds what was copied in a direction. */
void gt_tally_copied(struct gt_tally *tally, const struct gt_copied *more);
/* Adds what another one has found. */
void gt_tally_add(struct gt_tally *tally, const struct gt_tally *more);

struct gt_conversion {
	const struct gt_spool *spool;
	struct gt_archive *archive;
	struct gt_defs *defs;
	struct gt_layout *layout;
	const struct gt_clock *clock;
	struct gt_names *names;  /* by place in spool->procs */
	struct gt_messages *messages;
	struct gt_assembly *assembly;
	const struct gt_kind *kinds; /* of records, by type */
	struct gt_order_file *order; /* for messages to other hosts; NULL: nobody wants them */
	const uint32_t *clock_of; /* by place in spool->procs; NULL: that is the clock */
	uint32_t region_off, region_flush; /* MEASUREMENT OFF, TRACE BUFFER FLUSH */
	uint32_t process_id;     /* attribute */
	int workfd;              /* folder for temporary files */
	uint64_t pipe_over;      /* a location with more bytes of slots than that gets a second thread */
	uint64_t done_bytes;     /* atomic: of all streams, for the progress */
	int read_error;          /* atomic: a negative errno, if reading again may give more */
	/* Tells how far a location's .raw file has been read (UINT64_MAX: it is done with), so that
	 * its space can be given back. May be NULL. */
	void (*consumed)(void *context, uint32_t location, uint64_t offset);
	void *context;
};

struct gt_frame {
	uint64_t word;           /* the slot's word of the enter */
	uint64_t enter_ns, child_ns;
	uint32_t region, pad;
};

struct gt_held {
	uint64_t tick;
	unsigned slots;
	struct gt_slot slot[GT_MAX_EXTRA + 1];
};
#define GT_HELD_MAX 16

struct gt_worker {
	struct gt_conversion *conv;
	struct gt_slot *buffer;
	struct gt_frame *frames; /* frames[-1] is one of no region */
	size_t frame_room;
	struct gt_lookup lookup; /* words of enters -> region; others, see records.c */
	struct gt_lookup timed;  /* address | mapping << 48 -> region */
	struct gt_lookup local;  /* what holds for one location only */
	struct gt_metric_use {   /* what a METRIC or METRICS of the location is in the archive */
		uint32_t number; /* of the class or instance */
		uint32_t types;  /* where the types of its values begin in `types` */
		bool synchronous;
	} *uses;
	uint8_t *types;          /* as OTF2_Type */
	size_t use_count, type_count;
	const struct gt_proc *proc;
	struct gt_profile *profile;
	size_t profile_room;
	struct gt_profile *before; /* the same when the location began */
	size_t before_room, before_used;
	struct gt_held *held;    /* GT_HELD_MAX */
	void *attributes;        /* OTF2_AttributeList */
	struct gt_sum_of *sums;  /* of locks and files, by place in sum_keys */
	size_t sum_count, sum_room;
	struct gt_lookup sum_keys;
	struct gt_ties async_calls, pageable;
	struct gt_hold_of *holds; /* holds.h */
	size_t hold_count, hold_room;
	struct gt_tally tally;
};

int gt_worker_init(struct gt_worker *worker, struct gt_conversion *conv);
void gt_worker_free(struct gt_worker *worker);

/* Room for more open regions; and for a region in the profile. False: no memory. */
bool gt_worker_frames(struct gt_worker *worker);
bool gt_worker_profile(struct gt_worker *worker, uint32_t region);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that convert locations: the state and counts of each worker, and the data that all share.
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

struct gt_messages;
struct gt_assembly;

/* The handler of a kind of record; convert NULL: it is unknown. */
struct gt_kind {
	gt_convert *convert;
	unsigned least; /* continuation slots that it has at least */
};

/* Counts of a conversion. */
struct gt_tally {
	uint64_t events;         /* in the archive */
	uint64_t closed_frames;  /* leaves that were added */
	uint64_t dropped_leaves; /* leaves without an enter */
	uint64_t switched;       /* leaves of calls that had been closed: the stack was switched */
	uint64_t parts;          /* leaves and enters that were added where regions are not nested */
	uint64_t clamped_times;
	uint64_t unknown_records;
	uint64_t unmatched;      /* messages and transfers without a partner */
	uint64_t last_ns;
	uint64_t off_at_end;     /* locations that were switched off when they ended */
	uint64_t flushes, flush_ns, longest_flush_ns;
	uint64_t damaged_samples;
	enum gt_paths paths;     /* of samples: the least whole */
};

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
	uint32_t region, pad;
};

struct gt_held {
	uint64_t tick;
	unsigned slots;
	bool range;              /* ranges.h: it waits for functions to return */
	struct gt_slot slot[GT_MAX_EXTRA + 1];
};
#define GT_HELD_MAX 16

/* A worker's state of samples (samples.c). */
enum gt_mark { GT_IN_LIBC = 1, GT_IN_GPUTRACE, GT_IN_RUNTIME };
struct gt_call_paths {
	/* of the process: what was learned of code */
	const struct gt_proc *proc;
	struct gt_lookup addresses; /* of code, or with (mapping + 1, ~0: none) << 48: index in `places` */
	struct gt_lookup nodes;     /* (context << 32 | number) + 1 -> the context below it */
	struct gt_place *places;
	size_t place_count, place_room;
	uint32_t generator;
	uint64_t period;            /* ns */
	/* of the location: the frames of the last sample, outermost first */
	const struct gt_loc *loc;
	uint32_t contexts[GT_SAMPLE_FRAMES + 1]; /* contexts[0]: above the root */
	uint32_t depths[GT_SAMPLE_FRAMES + 1];   /* of these in the tree */
	uint16_t roots[GT_SAMPLE_FRAMES + 1];    /* the frame where their path begins in the tree */
	uint8_t marks[GT_SAMPLE_FRAMES + 1];     /* whose code they are: enum gt_mark */
	unsigned count, number;
	unsigned same;              /* how many frames are those of the last one that has a weight */
	unsigned root;              /* where its path begins */
	uint64_t start;             /* ns before the first sample, 0: there is nothing to be said of it */
	int64_t over;               /* ns that samples stood for, and the archive does not say yet */
	uint64_t lost;              /* what the location had lost by then */
	/* of the archive */
	void *attributes;           /* OTF2_AttributeList; the worker's may wait for another event */
	uint32_t time, flags, path; /* attributes */
};

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
	uint32_t *open;          /* by region: frames of it on the stack now */
	size_t open_room;
	struct gt_call_paths *samples; /* NULL: there was none yet */
	struct gt_held *held;    /* GT_HELD_MAX */
	void *attributes;        /* OTF2_AttributeList */
	struct gt_tally tally;
};

int gt_worker_init(struct gt_worker *worker, struct gt_conversion *conv);
void gt_worker_free(struct gt_worker *worker);

/* Room for more open regions; and for counting those of a region. False: no memory. */
bool gt_worker_frames(struct gt_worker *worker);
bool gt_worker_region(struct gt_worker *worker, uint32_t region);

#endif

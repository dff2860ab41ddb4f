/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A location that is converted: what conversion.c (order, the hot loop) and the records' handlers do to it.
 *
 * Limits: internal.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_TRACK_H
#define GT_ASSEMBLE_ARCHIVE_TRACK_H

#include "lib/assemble/archive/worker.h"
#include "lib/assemble/archive/writer.h"
#include "lib/assemble/spool/deferred.h"

#define GT_LEAVE_STEP (UINT64_C(1) << GT_TYPE_SHIFT) /* word of a leave - word of its enter */
#define GT_STACK_MOST 1000000u /* deeper frames are only counted */
#define GT_TIMED      (UINT32_MAX - 1) /* lookup value: the address had several owners */
#define GT_RANGE      (UINT32_MAX - 2) /* lookup value: a range (ranges.h), whose region is in `aux` */
#define GT_OUTLIVES   (UINT64_C(1) << 48) /* in a frame's word: its range has outlived a function */
#define GT_ENDED_MOST 16u
#define GT_RANGES_ON  64u /* regions at most that go on where one around them is left */

/* Most events and attributes that a slot of an adapter's own record may become, and their bytes. */
#define GT_OWN_EVENTS 16u
#define GT_OWN_BYTES  (GT_OWN_EVENTS * 40u)

/* Ranges of the location that is converted: ranges.c. */
struct gt_ranges {
	uint64_t waits;          /* the last range's begin waits until this tick; 0: it does not */
	bool counted;            /* in uses */
	struct gt_range_use *uses; /* by place in `places`, whose keys are words of begins */
	size_t count, room;
	struct gt_lookup places;
	uint64_t ended[GT_ENDED_MOST]; /* words of those whose leave is still to come */
	unsigned ended_count;
};

struct gt_track {
	struct gt_worker *w;
	struct gt_conversion *conv;
	struct gt_stream stream;
	struct gt_loc *loc;
	struct gt_out_location *out;
	struct gt_names *names;
	struct gt_writer *writer;
	struct gt_deferred *deferred;  /* what others recorded for this location; NULL: nothing */
	uint64_t deferred_tick;    /* of the next of it; UINT64_MAX: there is none */
	unsigned deferred_slots;   /* written since space was reserved */
	uint64_t slot_bytes;   /* most that one slot can take in the archive beyond its own size */
	struct gt_scale scale;
	uint64_t last;         /* tick of the last event that was written */
	struct gt_floors floors; /* ticks below, in a half that began later, are of the turn before */
	size_t depth;          /* open frames */
	uint64_t hidden;       /* frames beyond GT_STACK_MOST */
	unsigned held;
	bool attributes;       /* the list holds some for the next event */
	uint32_t path;         /* 1 + the calling context of the next leave's call; 0: none */
	bool skip;             /* the next record is not of this location */
	bool full;             /* the disk is */
	bool outlives;         /* the range that begins has outlived a function */
	uint64_t torn, torn_marks;
	uint64_t holes;        /* slots of zeros */
	struct gt_io_open {
		uint32_t handle;
		uint64_t id;
	} io[32];              /* operations that IO_ENTER began, innermost last */
	unsigned io_depth;
	uint32_t io_ids;       /* matching ids that were given */
	unsigned own_events;   /* that the handler of a record of its own may still write */
	struct gt_ranges ranges;
	struct gt_stacks *stacks; /* stacks.c */
};

/* Writes frames' leaves down to `depth` and counts them as closed by repair. */
void gt_track_close(struct gt_track *t, size_t depth, uint64_t ns);
/* Enters a region; `word` finds it again at its leave. */
void gt_track_enter(struct gt_track *t, uint64_t word, uint32_t region, uint64_t ns);
void gt_track_leave(struct gt_track *t, uint64_t ns);

/* Gives the archive up; GT_UNDEFINED. */
uint32_t gt_track_no_memory(struct gt_track *t);

/* The list of attributes for the event that is written now, or NULL. Empties itself when used. */
OTF2_AttributeList *gt_track_attributes(struct gt_track *t);

/* An attribute of the next event. Given twice the last one counts. */
void gt_track_attribute(struct gt_track *t, uint32_t number, OTF2_Type type, OTF2_AttributeValue value);

/* The event that they belong to is left out. */
void gt_track_no_attributes(struct gt_track *t);

/* Data remembered about an object of this process, by record type and number; NULL: none yet. */
const struct gt_lookup_entry *gt_track_remembered(const struct gt_track *t, unsigned type, uint64_t id);
uint32_t gt_track_remember(struct gt_track *t, unsigned type, uint64_t id, uint32_t value, uint32_t aux);

/* The type of a value that is recorded as one of OTF2's; what it cannot be is unsigned. */
static inline OTF2_Type gt_track_value_type(uint32_t type)
{
	return type == OTF2_TYPE_INT64 || type == OTF2_TYPE_DOUBLE ? (OTF2_Type)type
								    : OTF2_TYPE_UINT64;
}

/* Time of a tick; time never goes back. */
uint64_t gt_track_time(struct gt_track *t, uint64_t tick);

void gt_track_marker(struct gt_track *t, const char *category, const char *group, uint8_t severity,
		     const char *text);

/*
 * What a piece of input may take in the archive, with the leaves that close the stack. False: the disk is
 * full.
 */
bool gt_track_reserve(struct gt_track *t);
/* The same, and what it takes to leave or enter so many more. */
bool gt_track_reserve_frames(struct gt_track *t, size_t frames);

/* Reading failed: counted as a loss in any case, and as a reason to keep the spool. */
void gt_track_read_error(struct gt_track *t, int rc);

/* Writes the next unit that others recorded for this location; there is one. */
void gt_track_foreign(struct gt_track *t);

/* Any record: by conv->kinds, if it has all of its slots. */
void gt_track_emit(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);
/* One that nobody knows, or that refers to what is not defined. */
void gt_convert_unknown(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);

/* An enter or leave by the slot's word. */
void gt_track_enter_word(struct gt_track *t, uint64_t word, uint64_t tick);
void gt_track_leave_word(struct gt_track *t, uint64_t word, uint64_t tick);
/* Of a region of the archive by its number. */
void gt_track_enter_region(struct gt_track *t, uint32_t region, uint64_t tick);
void gt_track_leave_region(struct gt_track *t, uint32_t region, uint64_t tick);

static inline bool gt_track_bad(struct gt_track *t, OTF2_ErrorCode rc, const char *what)
{
	return rc != OTF2_SUCCESS && gt_otf2_bad(t->conv->archive, rc, what);
}

/* An event of OTF2 with the attributes that wait for it: gt_track_write(t, Enter, ns, region). */
#define gt_track_write(t, event, ...)                                                              \
	gt_track_bad(t,                                                                            \
		     OTF2_EvtWriter_##event(gt_writer_evt((t)->writer), gt_track_attributes(t),     \
					    __VA_ARGS__),                                          \
		     #event)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How locations affect each other: each one's timeline as segments (calls that communicate, wait or drive
 * a GPU; on a stream everything) with a profile of the time between two of them, and who ended each wait.
 *
 *	reading   sync.c fills the timelines, and bags with the two sides of everything that spans locations
 *	after it  causes.c, devices.c: bring the sides together and note in each segment who ended its wait
 *	then      waits.c sums the waits up; path.c walks the critical path from cause to cause
 *
 * Limits: a segment has one cause, the one that came last. Timelines and bags are in temporary files
 * (spill.h): about 100 bytes for each call that counts.
 */
#ifndef GT_REPORT_SYNC_H
#define GT_REPORT_SYNC_H

#include "report/sections/profile.h"
#include "report/model/spill.h"
#include "report/model/sums.h"

/* Enumerator, name in the figures. Definitions: gputrace-waits(7). */
#define GT_WAIT_LIST(W)                                 \
	W(NONE, "")                                     \
	W(LATE_SENDER, "late sender")                   \
	W(WRONG_ORDER, "late sender, wrong order")      \
	W(LATE_RECEIVER, "late receiver")               \
	W(BARRIER, "wait at barrier")                   \
	W(NXN, "wait at N x N")                         \
	W(LATE_BROADCAST, "late broadcast")             \
	W(EARLY_REDUCE, "early reduce")                 \
	W(EARLY_SCAN, "early scan")                     \
	W(NEIGHBOUR, "late neighbour")                  \
	W(INIT, "wait at MPI_Init")                     \
	W(FINALIZE, "wait at MPI_Finalize")             \
	W(WINDOW, "wait at fence")                      \
	W(LATE_POST, "late post")                       \
	W(LATE_COMPLETE, "late complete")               \
	W(WINDOW_LOCK, "window lock")                   \
	W(FILE, "wait at collective I/O")               \
	W(LOCK, "lock contention")                      \
	W(JOIN, "thread join")                          \
	W(CHILD, "wait for child process")              \
	W(LATE_WRITER, "late writer")                   \
	W(LATE_READER, "late reader")                   \
	W(THREAD_BARRIER, "wait at thread barrier")     \
	W(OMP_BARRIER, "wait at OpenMP barrier")        \
	W(TASKS, "wait for tasks")                      \
	W(CONDITION, "condition wait")                  \
	W(SEMAPHORE, "semaphore wait")                  \
	W(SLEEP, "sleep")                               \
	W(DEVICE, "host waits for device")              \
	W(HIDDEN, "host waits for device, hidden")      \
	W(STARVED, "device starves")                    \
	W(LAUNCHES, "launch-bound")                     \
	W(COPY, "kernel waits for copy")                \
	W(STREAM, "waits for another stream")

#define GT_WAIT_ENUM(NAME, text) GT_WAIT_##NAME,
enum gt_wait { GT_WAIT_LIST(GT_WAIT_ENUM) GT_WAITS };
#undef GT_WAIT_ENUM

extern const char *const gt_wait_names[GT_WAITS];

#define GT_NO_CAUSE (~UINT32_C(0))

struct gt_wait_segment {
	uint64_t begin, end; /* ns */
	uint64_t profile;    /* where in the profile the time before it ends */
	uint64_t until;      /* its cause was there; so long it waited */
	uint64_t also_until;
	/*
	 * When the first was sent of the messages that it received; of an activity: when it was launched; of
	 * a stream that is idle: since when its whole device is. UINT64_MAX: none.
	 */
	uint64_t sent;
	uint64_t condition;  /* that it waited for, or 0 */
	uint32_t node;       /* of the location's call tree */
	uint32_t cause;      /* a location, or GT_NO_CAUSE */
	uint32_t also;       /* the same: what else it depends on, which was there earlier: at also_until */
	uint32_t launcher;   /* of an activity: the same */
	uint32_t blame;      /* node of the whole tree that made it wait most, or 0 */
	float carried;       /* ns that others waited for the same cause */
	unsigned char class; /* enum gt_class */
	unsigned char wait;  /* enum gt_wait */
	unsigned char also_wait; /* the same of `also`, if it had come later */
	bool settled;        /* it is known that it did not wait */
	bool birth;          /* between two threads of a location; its cause is who created the second one */
	bool quick;          /* an activity: shorter than the call that launched it */
	bool free;           /* of a lock that nobody has to wait for (whatif.h) */
	bool whole;          /* it waits for all streams of the only device of its process */
};

/*
 * Exclusive time of a node of the location's call tree: a word with the node and the time, which is in a word
 * of its own if it is too long, behind it in the same block of the log. There are nearly as many as calls, so
 * that their size is what a report costs in the kernel. What is too long for that, too, is there in units of
 * 2^31 ns, with GT_PART_UNITS set, and its rest as another part, so that a damaged time takes no more room
 * than others.
 */
enum { GT_PART_BITS = 12, GT_PART_LONG = (1 << GT_PART_BITS) - 1, GT_PART_SHIFT = 31 };
#define GT_PART_UNITS (UINT32_C(1) << GT_PART_SHIFT)

struct gt_part_of {
	uint64_t time; /* ns */
	uint32_t node;
};

/* A long time from its word. */
static inline uint64_t gt_part_long(uint32_t word)
{
	return word & GT_PART_UNITS ? (uint64_t)(word & ~GT_PART_UNITS) << GT_PART_SHIFT : word;
}

static inline const uint32_t *gt_part_take(const uint32_t *words, struct gt_part_of *part)
{
	part->node = *words >> GT_PART_BITS;
	part->time = *words++ & GT_PART_LONG;
	if (part->time == GT_PART_LONG)
		part->time = gt_part_long(*words++);
	return words;
}

/* Parts of a timeline's profile; those that lie one after the other in memory. */
struct gt_parts {
	const struct gt_log *profile;
	uint64_t next, end;
	const uint32_t *words, *last; /* last: behind them */
};

/*
 * for (parts = gt_parts_of(profile, from, to); gt_parts_next(&parts);)
 *	for (words = parts.words; words < parts.last;)
 *		words = gt_part_take(words, &part);
 */
static inline struct gt_parts gt_parts_of(const struct gt_log *profile, uint64_t from, uint64_t to)
{
	return (struct gt_parts){ .profile = profile, .next = from, .end = to };
}

static inline bool gt_parts_next(struct gt_parts *parts)
{
	uint64_t count;

	if (parts->next >= parts->end)
		return false;
	parts->words = gt_log_span(parts->profile, parts->next, parts->end - parts->next, &count);
	parts->last = parts->words + count;
	parts->next += count;
	return true;
}

/* The callers of the call that segments lie in. */
struct gt_wait_path {
	uint64_t first, last; /* segments */
	struct gt_call_path call; /* its node: of the location's call tree */
};

/* The last segment is empty and is where the location ends. */
struct gt_timeline {
	struct gt_log segments; /* struct gt_wait_segment */
	struct gt_log profile;  /* uint32_t: words of parts */
	struct gt_log paths;    /* struct gt_wait_path, in the order in which calls end; of few calls */
	uint64_t begin;
	uint64_t created;       /* by `creator`, or GT_NO_CAUSE */
	uint32_t creator;
};

/* The sides to be brought together after reading. */
enum gt_bag_kind {
	GT_BAG_SENDS,       /* keys: channels; ties: order */
	GT_BAG_RECEIVES,
	GT_BAG_COLLECTIVES, /* keys: space, place, process; ties: arrival */
	GT_BAG_INSTANCES,   /* keys: space, place, number */
	GT_BAG_LOCKS,       /* keys: process, lock; ties: order, release */
	GT_BAG_WINDOW_LOCKS, /* keys: window, target; ties: time */
	GT_BAG_BARRIERS,    /* keys: process, whether OpenMP's; ties: begin */
	GT_BAG_THREADS,     /* keys: number of a thread; ties: enum gt_thread_item */
	GT_BAG_PROCESSES,   /* keys: host, process id; ties: time */
	GT_BAG_LAUNCHES,    /* keys: process, correlation; ties: enum gt_launch_item */
	GT_BAG_SOCKETS,     /* keys: sockets; ties: begin */
	GT_BAG_CHANNELS,    /* the same: what is written into a pipe, one of a pair of sockets, an eventfd */
	GT_BAG_ENDS,        /* activities: keys: process; ties: end */
	GT_BAG_BEGINS,      /* the same: device; begin */
	GT_BAGS,
};

/* WOKEN: another that waited, until this one signalled it. HELD: one that waited for this one's lock. */
enum gt_thread_item {
	GT_THREAD_CREATED, GT_THREAD_BEGUN, GT_THREAD_ENDED, GT_THREAD_JOINED, GT_THREAD_WOKEN,
	GT_THREAD_HELD,
};
enum gt_launch_item { GT_LAUNCH_CALL, GT_LAUNCH_ACTIVITY };
/* Of windows: RELEASING, when the call that releases begins; USED, an access was completed before that. */
enum { GT_LOCK_ACQUIRED, GT_LOCK_RELEASED, GT_LOCK_RELEASING, GT_LOCK_USED };

/*
 * `what` of an item of a channel: an operation, and more of it. `time`: its end; `value`: bytes. PAIR:
 * `begin` is the key of the other socket.
 */
enum gt_io_item {
	GT_IO_READ, GT_IO_WRITE, GT_IO_FLUSH, GT_IO_CREATED, GT_IO_CLOSED, GT_IO_PAIR,
	GT_IO_OPERATION = 15,   /* mask of the above */
	GT_IO_STDIO = 1 << 4,   /* what it writes waits in a buffer until that is flushed */
	GT_IO_SOCKET = 1 << 5,
	GT_IO_EVENTS = 1 << 6,  /* eventfd: a counter */
	GT_IO_ASKED = 1 << 7,   /* for bytes, or for an unknown number */
};

/* Places where a collective is counted. */
enum gt_space { GT_SPACE_COMM, GT_SPACE_LATER, GT_SPACE_WINDOW, GT_SPACE_OTHER };
/* In SPACE_OTHER: I/O that is completed later than it began, begin and end of MPI. */
enum { GT_PLACE_LATER = 1 << 28, GT_PLACE_JOB = 1 << 29 };

/*
 * `what` of a collective: how its members wait, beside the class. `value`: its root; of GT_NEAR_WAIT: the
 * string of those that it waits for.
 */
enum gt_shape_of_wait {
	GT_ALL_WAIT, GT_NOBODY_WAITS, GT_ROOT_WAITS, GT_OTHERS_WAIT, GT_HIGHER_WAIT, GT_NEAR_WAIT,
};

/* The life of a process that was waited for, and is not in the archive. */
struct gt_unrecorded {
	uint64_t from, to, segment; /* segment: of who waited for it */
	uint64_t created;
	uint32_t creator, joiner;   /* locations */
};

struct gt_sync {
	struct gt_report *report;
	const struct gt_profile *profile;
	struct gt_spill spill;
	struct gt_bag bags[GT_BAGS];
	struct gt_timeline *timelines; /* by location */
	struct gt_unrecorded *unrecorded;
	size_t unrecorded_count, unrecorded_room;
	uint32_t *exits;               /* by process: the location that ended it by exit(), or GT_NO_CAUSE */
	/* attributes */
	uint64_t mpi_error, neighbours, mpi_file, correlation, woken_by, woken_ago, call_path;
	uint64_t condition, held_by;   /* of a wait: its address; of one for a lock: who had that */
	uint64_t child;                /* the parameter that names a child process */
	uint64_t unmatched;            /* messages and collectives that were left out */
	bool open_ended;               /* reads or writes waited for somebody who is not known: gt_gain() */
	struct gt_sums launches;       /* launches.c's */
	bool shows_launches;
};

extern const struct gt_analysis gt_sync_analysis;

static inline size_t gt_sync_locations(const struct gt_sync *sync)
{
	return sync->report->read->tables[GT_OTF2_LOCATION].count;
}

static inline struct gt_wait_segment *gt_segment_at(const struct gt_sync *sync, uint32_t location,
						     uint64_t index)
{
	return gt_log_at(&sync->timelines[location].segments, index);
}

static inline uint64_t gt_segment_count(const struct gt_sync *sync, uint32_t location)
{
	return sync->timelines[location].segments.count;
}

/* The callers of the call that a segment lies in; the node is the location's. path 0: unknown. */
struct gt_call_path gt_sync_path(const struct gt_sync *sync, uint32_t location, uint64_t segment);
/* The same with the node of the whole tree. */
static inline struct gt_call_path gt_sync_whole(const struct gt_sync *sync, uint32_t location,
						struct gt_call_path call)
{
	call.node = gt_profile_node_at(sync->profile, location, call.node);
	return call;
}
/* A segment waited for what its cause did until then. Nothing if it is not so, or another came later. */
void gt_sync_wait(struct gt_sync *sync, uint32_t location, uint64_t segment, enum gt_wait class,
		  uint32_t cause, uint64_t until);
/* Does a call like this one return when a time is over? */
bool gt_sync_by_time(const struct gt_sync *sync, uint32_t location, const struct gt_wait_segment *segment);
/* How long a segment waited. */
uint64_t gt_sync_waited(const struct gt_wait_segment *segment);

enum { GT_GAINS = 8, GT_GAIN_SEGMENTS = 1 << 24 };

/*
 * When each location would end if a region took no time, for `count` regions: `chosen` has their numbers by
 * index, from 1 on. All timelines are evaluated anew (gain.c). False: too many segments, or no regions.
 * `held`: waits for somebody who is not known to read or write end when they did, and are not as long as
 * they were. Only if there are any (sync->open_ended, after the first time) is that another result.
 */
bool gt_gain(struct gt_sync *sync, const unsigned char *chosen, unsigned count, bool held,
	     uint64_t (*ends)[GT_GAINS]);

/* When the run would have ended, of locations that end at `ends`: before segments get new times. */
uint64_t gt_path_new_end(const struct gt_sync *sync, uint64_t (*ends)[GT_GAINS], unsigned k);

/* The name of the region of a node of the whole tree. */
const char *gt_sync_region(const struct gt_sync *sync, uint32_t location, uint32_t node);

void gt_causes(struct gt_sync *sync);
/* Who ended each process. Then what it waited for, and the lives of those of one number, of their items. */
void gt_process_exits(struct gt_sync *sync);
void gt_process_waits(struct gt_sync *sync);
void gt_process_life(struct gt_sync *sync, const struct gt_item *items, size_t count);
/* When that is known: those that nobody is known to have created (children.c). */
void gt_children(struct gt_sync *sync);
void gt_channel_causes(struct gt_sync *sync);
void gt_device_causes(struct gt_sync *sync);

struct gt_wait_at {
	uint32_t location;
	uint64_t segment;
};

/* Waits of which the figures say who is to blame, to be freed. */
struct gt_wait_at *gt_waits_longest(struct gt_sync *sync, size_t *count);
/* Before the waits' figures: finds whom to blame, for all waits, or for some that somebody ended. */
void gt_delays_figures(struct gt_sync *sync);
void gt_delays_blame(struct gt_sync *sync, const struct gt_wait_at *waits, size_t count);
void gt_waits_figures(struct gt_sync *sync);
/* What a call launched, if somebody wants to see that; then who launched what. */
void gt_launch_add(struct gt_sync *sync, const struct gt_item *call, const struct gt_item *activity);
void gt_launches_figures(struct gt_sync *sync);
/* Once causes are known: begins to look for the critical path, in a thread of its own if there may be one. */
struct gt_path *gt_path_find(struct gt_sync *sync);
/* Waits until it has been found; frees it. */
void gt_path_figures(struct gt_path *path);

extern const struct gt_section_kind gt_wait_classes_kind, gt_waits_kind, gt_delays_kind, gt_path_kind,
	gt_path_locations_kind, gt_launches_kind;

#endif

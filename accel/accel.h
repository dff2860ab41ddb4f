/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the recording side that all accelerator adapters share: writing device activities into streams
 * and into the host threads that caused them, looking up regions and parameter sets by name, and converting
 * device time to the core's ticks. It is independent of any runtime; each adapter describes its own in
 * gt_accel_runtime.
 *
 * Limits: each adapter links its own copy, with its own state. The functions for records, names and
 * parameters must be called from one thread at a time.
 */
#ifndef GT_ACCEL_ACCEL_H
#define GT_ACCEL_ACCEL_H

#include "gputrace/accel.h"

/* ---- the runtime (record.c) ---------------------------------------------------------------------- */

struct gt_accel_info {
	const char *name;     /* "CUDA": how names of locations begin */
	const char *adapter;  /* "cuda": how names of properties begin */
	const char *comm, *window; /* of transfers as messages, and as one-sided operations */
	const char *ranges;   /* "NVTX ranges": the location of ranges that may overlap, or NULL */
	uint8_t paradigm;     /* OTF2_Paradigm */
};
/* The adapter has it. */
extern GT_HIDDEN const struct gt_accel_info gt_accel_runtime;

/* Definitions that adapters use, too. */
struct gt_accel_refs {
	gt_ref correlation, bytes; /* attributes */
	gt_ref comm, window;       /* one of them is GT_NONE */
};
extern GT_HIDDEN struct gt_accel_refs gt_accel_refs;

/* Before the first record. rma: transfers are one-sided operations (VT_GPU_TRANSFERS). */
GT_HIDDEN void gt_accel_setup(bool rma);

/* A region of the runtime; and one whose name is a symbol of C++, demangled when assembling. */
GT_HIDDEN gt_ref gt_accel_region(const char *name, const char *group, unsigned role);
GT_HIDDEN gt_ref gt_accel_region_mangled(const char *symbol, const char *group, unsigned role);

/* Says which device a number means. uuid: "GPU-..." or a label without blanks; address: on the bus. */
GT_HIDDEN void gt_accel_device(uint32_t device, const char *uuid, const char *address, const char *name);

/*
 * A call failed: the first one is kept, with the error that it returned. The account tells which it was
 * (property first_failed_call); `text`: what the error means, NULL: not known.
 */
GT_HIDDEN void gt_accel_failed(const char *function, uint32_t error);
GT_HIDDEN bool gt_accel_first_failed(uint32_t *error);
GT_HIDDEN void gt_accel_failed_account(const char *text);

/* The location group for what a device does; `context`: if it has several. */
GT_HIDDEN gt_ref gt_accel_group(const char *name, uint32_t device, uint32_t context);

/* The location of a stream, "CUDA[device:stream]", in a location group; NULL as gt_location_create(). */
GT_HIDDEN struct gt_location *gt_accel_stream(gt_ref group, uint32_t device, uint32_t stream);

/* A record of a thread of the host, by its location, that is known only now. */
GT_HIDDEN void gt_accel_defer(uint32_t location, unsigned type, uint64_t low, const uint64_t *data,
			      unsigned extra, uint64_t tick);

/* ---- what a device did (record.c) ---------------------------------------------------------------- */

enum gt_accel_direction {
	GT_ACCEL_NOWHERE = 0,
	GT_ACCEL_TO_DEVICE,   /* from the host, or from `peer`, to the stream's device */
	GT_ACCEL_FROM_DEVICE, /* from the stream's device */
	GT_ACCEL_WITHIN,      /* one device */
};

/* An activity on a stream. */
struct gt_accel_activity {
	struct gt_location *at;
	gt_ref region, params;    /* params: GT_NONE, or of gt_accel_params() */
	uint64_t start, end;      /* ticks; end is not before start */
	uint64_t correlation;     /* also the tag of its messages */
	uint64_t bytes;
	bool has_bytes;           /* the attribute BYTES is written */
	uint8_t direction;        /* enum gt_accel_direction; without an other end that is known: none */
	uint32_t host;            /* location of the thread that asked for it; UINT32_MAX: not known */
	struct gt_location *peer; /* the other end, if it is a stream, or NULL: the host */
	unsigned count;           /* further attributes; of numbers */
	struct {
		gt_ref attribute; /* GT_NONE: skipped */
		uint64_t value;
	} more[4];
};

/* All of it: attributes, ENTER, parameters, both ends of a transfer, LEAVE. */
GT_HIDDEN void gt_accel_write(const struct gt_accel_activity *a);
/* Its parts, for what an adapter puts in between. */
GT_HIDDEN void gt_accel_begin(const struct gt_accel_activity *a);
GT_HIDDEN void gt_accel_finish(const struct gt_accel_activity *a);

/* An attribute of the next record in a word of 16 bytes (GT_T_TAG), if it fits, as small numbers do. */
static inline bool gt_accel_tag(gt_ref attribute, uint64_t value, uint64_t *low)
{
	*low = (uint64_t)attribute << 32 | (uint32_t)value;
	return value <= UINT32_MAX && attribute < 1u << 24;
}

/* Records that are written together (gt_location_block()); there is room for all of an activity. */
struct gt_accel_block {
	struct gt_slot slots[32];
	unsigned count;
};
_Static_assert(sizeof(((struct gt_accel_block *)0)->slots) / GT_SLOT <= GT_BLOCK_SLOTS, "a block");

static inline void gt_accel_put(struct gt_accel_block *block, unsigned type, uint64_t low, uint64_t tick)
{
	block->slots[block->count++] = (struct gt_slot){ .time = tick, .word = GT_WORD(type, low) };
}

static inline void gt_accel_put_data(struct gt_accel_block *block, unsigned type, uint64_t low,
				     const uint64_t *data, unsigned extra, uint64_t tick)
{
	gt_accel_put(block, type, (uint64_t)extra << GT_EXTRA_SHIFT | (low & GT_LOW48), tick);
	for (unsigned i = 0; i < extra; i++)
		block->slots[block->count++] =
				(struct gt_slot){ .time = data[2 * i], .word = data[2 * i + 1] };
}

static inline void gt_accel_put_attribute(struct gt_accel_block *block, gt_ref attribute, uint64_t value,
					  uint64_t tick)
{
	uint64_t low;

	if (gt_accel_tag(attribute, value, &low))
		gt_accel_put(block, GT_T_TAG, low, tick);
	else
		gt_accel_put_data(block, GT_T_ATTR, attribute, (uint64_t[2]){ value, 0 }, 1, tick);
}

/* ---- ranges that may overlap (ranges.c); any thread ------------------------------------------------- */

struct gt_accel_range {
	gt_ref region;
	gt_ref attribute;           /* of a number, or GT_NONE */
	uint64_t value;
	gt_ref parameter, category; /* a string, or GT_NONE */
};

/* A range begins at a tick; 0: now. Returns its number, which no other one of the process has. */
GT_HIDDEN uint64_t gt_accel_range_begin(uint64_t tick, const struct gt_accel_range *range);
/* Of a number that is not known, or whose range has ended, or was not recorded: nothing. */
GT_HIDDEN void gt_accel_range_end(uint64_t number);
/* The program ends, or becomes another one (which has failed: `ends` is false). What is open ends; in a
 * confined process it is counted as lost. */
GT_HIDDEN void gt_accel_ranges_finish(bool ends);
/* In a forked child. */
GT_HIDDEN void gt_accel_ranges_forked(void);

/* ---- regions and parameters by name (names.c) ---------------------------------------------------- */

/* A launch's arguments, as parameters: two sizes in three dimensions each, and numbers. */
struct gt_accel_launch {
	uint64_t size[2][3]; /* the second one: all 0: not known */
	uint64_t number[4];
};

struct gt_accel_param_names {
	const char *size[2];   /* NULL: it is not recorded, and so are all if the first is not */
	const char *number[4]; /* NULL: nor are this one and those after it */
};

struct gt_accel_name {
	gt_ref region;
	gt_ref params;                 /* of the latest launch ... */
	struct gt_accel_launch launch; /* ... which was this */
};

/* The region of this name, made if there is none yet. mangled: it is a symbol of C++, demangled when
 * assembling. NULL: no memory. `group` is the same whenever the name is. */
GT_HIDDEN struct gt_accel_name *gt_accel_named(const char *name, bool mangled, const char *group,
					       unsigned role);

/* How many there are. */
GT_HIDDEN unsigned gt_accel_name_count(void);

GT_HIDDEN void gt_accel_params_setup(const struct gt_accel_param_names *names);
/* The set of parameters for a launch of this name; GT_NONE: none is wanted. */
GT_HIDDEN gt_ref gt_accel_params(struct gt_accel_name *name, const struct gt_accel_launch *launch);

/* ---- calls, by correlation id (table.c) ---------------------------------------------------------- */

/* One API call. */
struct gt_accel_call {
	uint32_t correlation;
	uint32_t location;  /* of the calling thread */
	uint64_t enter;     /* ticks */
	uint32_t span;      /* ticks until its end, at most UINT32_MAX; 0: not over yet */
	uint32_t flags;     /* the adapter's */
};
#define GT_ACCEL_CALLS (1u << 19) /* the latest; a call's place is its correlation id modulo this */

/* An empty table; NULL: no memory. */
GT_HIDDEN struct gt_accel_call *gt_accel_calls_make(void);
/* Has its memory made, so that the program's calls need not wait for it. On a thread of ours. */
GT_HIDDEN void gt_accel_calls_touch(struct gt_accel_call *table);
/* Copies the call with this id; false: not known (any more). */
GT_HIDDEN bool gt_accel_call_find(const struct gt_accel_call *table, uint32_t correlation,
				  struct gt_accel_call *call);
/* Adds to its flags. */
GT_HIDDEN void gt_accel_call_mark(struct gt_accel_call *table, uint32_t correlation, uint32_t flags);

/* A call begins; on its thread. Returns its place. */
static inline struct gt_accel_call *gt_accel_call_put(struct gt_accel_call *table, uint32_t correlation,
						      uint32_t location, uint64_t enter, uint32_t flags)
{
	struct gt_accel_call *c = &table[correlation % GT_ACCEL_CALLS];

	__atomic_store_n(&c->correlation, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with the fence in gt_accel_call_find() */
	c->location = location;
	c->enter = enter;
	c->span = 0;
	c->flags = flags;
	/* Pairs with gt_accel_call_find(). */
	__atomic_store_n(&c->correlation, correlation, __ATOMIC_RELEASE);
	return c;
}

/* It is over; `c` is its place, unless another has taken it. */
static inline void gt_accel_call_end(struct gt_accel_call *c, uint32_t correlation, uint64_t enter,
				     uint64_t leave)
{
	uint64_t span = leave > enter ? leave - enter : 1;

	if (gt_likely(c->correlation == correlation && c->enter == enter))
		/* Pairs with gt_accel_call_find() in accel/table.c. */
		__atomic_store_n(&c->span, span < UINT32_MAX ? (uint32_t)span : UINT32_MAX,
				 __ATOMIC_RELEASE);
}

/* ---- recorded or not, and a lock (alive.c) ------------------------------------------------------- */

/* Is the runtime recorded, in this process and not in one that it was forked from? */
GT_HIDDEN bool gt_accel_alive(void);
GT_HIDDEN void gt_accel_set_alive(bool is);
/* Takes the lock of an adapter's objects and commands, and guards (gt_guard()) the thread until
 * gt_accel_unlock(). False: the runtime is no longer recorded, or `try` is set and the lock is held. Not
 * recursive. */
GT_HIDDEN bool gt_accel_lock(bool try);
GT_HIDDEN void gt_accel_unlock(void);

/* ---- another clock and ours (clock.c) ------------------------------------------------------------ */

/* A clock that has the nanoseconds of read() and may run on its own: pairs of readings are taken. */
GT_HIDDEN void gt_accel_clock_setup(uint64_t (*read)(void));
/* Takes one, unless there is a new one already. From time to time, on any thread. */
GT_HIDDEN void gt_accel_clock_note(void);
/* The tick of a time of that clock, and the time of a tick. */
GT_HIDDEN uint64_t gt_accel_ticks(uint64_t ns);
GT_HIDDEN uint64_t gt_accel_ns(uint64_t tick);

/* ---- threads of ours (threads.c) ----------------------------------------------------------------- */

/* Starts one that is unseen by the program's signals and by the other adapters. */
GT_HIDDEN bool gt_accel_start_hidden(void *(*run)(void *));
/* The same for one that works all the time, and otherwise waits for *word (gt_accel_wake()). In each round
 * it asks whether it stays, and waits for the word to be no longer *seen; the last that it does is `ends`. */
GT_HIDDEN bool gt_accel_thread_start(void *(*run)(void *), uint32_t *word);
GT_HIDDEN bool gt_accel_thread_stays(uint32_t *word, uint32_t *seen);
GT_HIDDEN void gt_accel_thread_ends(void);
/* They have ended when this returns. False: one hangs in the runtime. */
GT_HIDDEN bool gt_accel_threads_end(void);
/* All of them begin again; false: they cannot, and have ended. */
GT_HIDDEN bool gt_accel_threads_again(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface to gputrace's core: adapters and the user API turn calls of other libraries into events
 * through these functions. Functions that only some adapters need have headers of their own:
 *
 *   thread.h   thread libraries: creation, end and join
 *   ranks.h    parallel programs: ranks, groups, communicators, windows and files in common, hosts, messages
 *   accel.h    accelerators: attributes of calls, sets of parameters, the calling thread's location
 *   io.h       I/O: handles and operations on them
 *
 * Limits: C linkage; nothing here knows OTF2, MPI or CUDA.
 *
 * Rules for every caller:
 *  - No function here blocks for long, ends the program, or changes errno.
 *  - Functions marked [signal-safe] may be called from signal handlers. So may the definition functions:
 *    they wait for a lock that is held with all signals blocked, never by what the handler interrupted.
 *  - Ids (gt_ref) are valid in this process and in the children it forks.
 *  - A struct whose first member is `bytes` holds its own size (sizeof) there. It may grow at its end in
 *    later versions: the core accepts longer structs than it knows, and structs as short as in release 0.1,
 *    whose missing members it takes as zero. Any other size is refused with one line on stderr, and counted
 *    (GT_LOSS_DEFINITION).
 *  - An adapter's wrapper calls gt_active() first; if that returns false it forwards the call untouched.
 */
#ifndef GPUTRACE_ADAPTER_H
#define GPUTRACE_ADAPTER_H

#include "gputrace/compiler.h"
#include "gputrace/otf2_numbers.h"
#include "gputrace/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GT_ADAPTER_ABI 1u

/* Handle of a definition; 0 means "none" and is accepted by every function that takes one. */
typedef uint32_t gt_ref;
#define GT_NONE ((gt_ref)0)

struct gt_location; /* one stream of events: a thread or a GPU stream */

/* ---- registration -------------------------------------------------------------------------- */

/*
 * Describes an adapter. Callbacks may be NULL. They run outside of all locks of the core. From registration
 * on, the objects that hold `name` and the callbacks stay in memory, even after dlclose().
 */
struct gt_adapter {
	size_t bytes;
	uint32_t abi;            /* GT_ADAPTER_ABI */
	const char *name;        /* "pthread", "mpi" ...: shown by `gputrace info` and in properties */
	void (*fork_child)(void);/* in a forked child, after the core has reset itself */
	/* The process is about to end its recording (enum gt_end_how), or, with GT_END_EXEC, to try to
	 * execute another program. If that fails the process continues, and this is called again with
	 * GT_END_NONE. In a confined process (gt_is_confined()) it makes no system call. */
	void (*end)(int how);
	/* Is the calling thread inside a call of the library that this adapter records? If so, the library's
	 * own use of threads and locks is not recorded. */
	bool (*inside)(void);
	/* The calling thread jumps (longjmp) to a frame whose stack pointer is `stack`, which ends calls that
	 * began below it. Returns whether any other call is still open. [signal-safe] */
	bool (*jumps)(const void *stack);
	/*
	 * `on` is false: ends the adapter's own threads before it returns, because the program is about to do
	 * something that only a single-threaded process can do (unshare) or that would kill those threads (a
	 * filter of system calls for all threads), or because its last thread ends. `on` is true: that has
	 * been done or refused, and they may run again. Called by one thread at a time, with all signals
	 * blocked.
	 */
	void (*threads)(bool on);
	/*
	 * In a forked child, when fork() is about to return: the handlers of all libraries have run, and
	 * memory can be allocated and threads created again. Not called in children that were made by other
	 * means (clone, _Fork, forkpty).
	 */
	void (*fork_returns)(void);
	/* Is `address` memory of a device that this adapter records? Called often, on any thread. */
	bool (*holds)(const void *address);
	/* The calling thread is recorded from now on (true), or is about to record its end (false). The first
	 * may be called more than once, and in a signal handler. [signal-safe] */
	void (*thread)(bool begins);
	/* end() records nothing, so a child without other records need not be recorded for it. */
	bool ends_silently;
};

/*
 * Registers an adapter; call it from the adapter's constructor. Returns 0, -EALREADY if a copy of
 * this adapter is registered, -EPROTO on an ABI mismatch, -ENOSPC when there are too many.
 */
GT_API int gt_adapter_register(const struct gt_adapter *adapter);

/* ---- state ----------------------------------------------------------------------------------- */

/*
 * Is this thread being recorded now? Sets the core up if need be, such as for a call from another library's
 * constructor. False if that fails or is under way, after the process has ended its recording, while VT_OFF
 * is in force, and inside gputrace's own code. [signal-safe]
 */
GT_API bool gt_active(void);
/* Has the process confined itself (seccomp)? Then an adapter must make no system call of its own, which might
 * kill the process. */
GT_API bool gt_is_confined(void);

/*
 * Allocates `bytes` of zeroed memory from the kernel; NULL if there is none. A process that has confined
 * itself takes it from a reserve (1 MiB in all) that was mapped before. Preserves errno. [signal-safe]
 */
GT_API void *gt_memory(size_t bytes);
/* Frees it. [signal-safe] */
GT_API void gt_memory_free(void *memory, size_t bytes);
/*
 * Call it in a copy of the process that the adapter has made by a system call of its own (clone): the copy is
 * not recorded.
 */
GT_API void gt_copy_unrecorded(void);
/* Is recording switched on (VT_ON, VT_OFF)? gt_active() checks more. */
GT_API bool gt_is_on(void);

/*
 * Brackets code of an adapter whose calls would be intercepted: gt_active() is false on this thread until the
 * matching gt_unguard(), or until the thread jumps (longjmp) to the frame of gt_guard()'s caller or above.
 * Nests. [signal-safe]
 */
GT_API void gt_guard(void);
GT_API void gt_unguard(void);

/* Is this thread inside a library call, as some adapter says (gt_adapter.inside)? */
GT_API bool gt_inside(void);

/* Is `address` in the memory of a device, as some adapter says (gt_adapter.holds)? gt_devices is false as
 * long as no adapter can say yes. */
GT_API extern bool gt_devices;
GT_API bool gt_on_device(const void *address);

/* The present time in ticks of the process's clock. [signal-safe] */
GT_API uint64_t gt_now(void);

/* CLOCK_MONOTONIC in nanoseconds, directly from the kernel: libraries that show the program a different or
 * frozen time have no effect. [signal-safe] */
GT_API uint64_t gt_monotonic(void);

/*
 * The value of a setting by its variable's name ("VT_PTHREAD_LOCKS"), as text; NULL if there is no such
 * setting, or settings cannot be read yet (before the C library is set up). Numbers and sizes are decimal,
 * booleans "yes" or "no". The string stays valid.
 */
GT_API const char *gt_setting(const char *name);

/* Writes one line "[gputrace] ..." to stderr if VT_VERBOSE is at least `level`. Supports only
 * %s %d %u %lu %lx %p %%. [signal-safe] */
GT_API void gt_message(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Counts an adapter's own threads. A process whose main() has left by pthread_exit() ends with its last
 * thread, which must not be one of these. So the adapter calls gt_own_thread(1) after creating a thread (not
 * before, or one of the program's threads would be taken for it), and the thread calls gt_own_thread(-1) as
 * its last action. Such threads end (gt_adapter.threads) when the program's last thread does. Because that is
 * not always seen, each of them calls gt_own_threads_only() whenever it wakes up, at least once a second, and
 * ends if it returns true. It may then be the thread that runs the program's exit handlers, so before it
 * returns it undoes what it has blocked and guarded.
 */
GT_API void gt_own_thread(int change);
GT_API bool gt_own_threads_only(void);

/*
 * Moves a descriptor of an adapter (which must be closed on exec) out of the program's way: to a number
 * above the program's soft limit (RLIMIT_NOFILE), or else into an eighth of the numbers below it, from 1,000
 * on if there are that many. Returns the new number; -EMFILE if all of these are taken, and the descriptor
 * is closed.
 */
GT_API int gt_descriptor_away(int fd);

/* ---- definitions (each is written once to the journal) ------------------------------------------ */

/* A string; equal texts have equal ids. Cut at 4,096 bytes. */
GT_API gt_ref gt_def_string(const char *text);

struct gt_region_info {
	size_t bytes;            /* sizeof(struct gt_region_info) */
	const char *name;        /* NULL: `canonical`, demangled when assembling */
	const char *canonical;   /* mangled name; NULL: the same */
	const char *group;       /* "Pthreads", "MPI", ... or NULL */
	const char *file;
	uint32_t begin_line, end_line;
	uint8_t role;            /* enum gt_region_role */
	uint8_t paradigm;        /* enum gt_region_paradigm */
	bool internal;           /* not subject to the user's filter */
	bool brief;              /* `canonical` is C++: shown without template arguments and parameters */
	bool phase;              /* a phase that the program has named (OTF2_REGION_FLAG_PHASE) */
	/* The code that the region stands for (for a call: one byte before the return address), or NULL. The
	 * assembly takes file and line from it and appends the location to the name: "NAME @file.c:12". */
	const void *address;
	/* With `address`: the variable of the program that the region concerns, or NULL. If its symbol is
	 * known the name becomes "NAME (variable) @file.c:12". */
	const void *variable;
};

/*
 * Defines a region. Applies the user's filter by name and group: for a filtered region it returns GT_NONE,
 * and gt_enter(GT_NONE) records nothing, so a wrapper needs no test of its own.
 */
GT_API gt_ref gt_def_region(const struct gt_region_info *info);

/*
 * OTF2_Type. The last two are for attributes only: their values are results of gt_def_string(), or of
 * gt_def_shared() for GT_SHARED_FILE (ranks.h).
 */
enum gt_value {
	GT_VALUE_UINT = 4,
	GT_VALUE_INT = 8,
	GT_VALUE_DOUBLE = 10,
	GT_VALUE_STRING = 11,
	GT_VALUE_FILE = 24,
};

struct gt_metric_info {
	size_t bytes;
	const char *name, *unit, *group, *description;
	enum gt_value value;
	uint8_t mode;            /* enum gt_metric_mode */
	uint8_t scope;           /* 0 this location, 1 the process, 2 the location group scope_id */
	uint8_t kind;            /* enum gt_metric_type */
	uint32_t scope_id;
	int32_t exponent;        /* the value times 10^exponent, or 2^exponent, is in `unit` */
	bool binary;
};
GT_API gt_ref gt_def_metric(const struct gt_metric_info *info);

/*
 * Counters of a thread that are read together whenever it enters or leaves a region; the values directly
 * precede that event and have its time. Events of gt_enter_at() and gt_repeat() have none, because their
 * times lie in the past.
 */
#define GT_SOURCE_METRICS 64u
struct gt_metric_source {
	size_t bytes;            /* sizeof(struct gt_metric_source) */
	/* `count` of them (1 to GT_SOURCE_METRICS); not used after the call */
	const struct gt_metric_info *metrics;
	uint32_t count;
	/* Called on each thread before its first reading, with signals blocked; may be NULL. Returns 0, and
	 * in *state the argument of the other two; or a negative errno: the thread has no readings. */
	int (*open)(void **state);
	/* Fills in `n` (equal to `count`) values. Returns 0; -EAGAIN if there is nothing to record now; any
	 * other negative errno if the readings of this event are lost, which is counted. It may interrupt
	 * anything, including the library's own code; it calls nothing that adapters intercept. */
	int (*read)(void *state, uint64_t *values, unsigned n);
	/* The thread ends; may be NULL. Not called in a process that has confined itself. A forked child
	 * opens its own counters; those inherited from its parent are the business of
	 * gt_adapter.fork_child. */
	void (*close)(void *state);
};

/*
 * Registers a source for all threads until the process ends; from then on every event takes the slow path. A
 * reading that fails, or that cannot be made (in a signal handler that interrupts another reading, or after
 * the process has confined itself), is counted as lost. Returns 0; -EPROTO for an unusable struct, -EINVAL,
 * -ENOSPC if there are too many sources, -ECANCELED if the process is not recorded.
 */
GT_API int gt_metric_source_register(const struct gt_metric_source *source);

/*
 * Watches the regions of the user API (VT_USER_START and the like) that recorded threads enter and leave: for
 * an adapter that acts at their borders.
 */
struct gt_user_watch {
	size_t bytes;                     /* sizeof(struct gt_user_watch) */
	bool (*wanted)(const char *name); /* called at each enter until it has returned true */
	void (*enter)(const char *name);  /* before the enter is recorded */
	void (*leave)(void);              /* before the leave of the innermost such region is recorded */
};
/*
 * Starts watching; regions that are not wanted cost no more than before. Returns 0; -EPROTO for an unusable
 * struct, -EBUSY if another adapter watches already. The struct is copied; its functions stay in use until
 * the process ends.
 */
GT_API int gt_user_watch(const struct gt_user_watch *watch);

/* severity: 1 error, 2 warning, 3 hint. */
GT_API gt_ref gt_def_marker(const char *name, const char *group, unsigned severity);
GT_API gt_ref gt_def_attribute(const char *name, const char *description, enum gt_value value);
GT_API gt_ref gt_def_parameter(const char *name, enum gt_value value);
/* A kind of record of the adapter's own: gt_record(GT_T_OWN, id, data, extra) writes one, and the adapter's
 * assembling half (<gputrace/assemble.h>) recognises it by `name`. `adapter` is the registered name. Without
 * that half such records are skipped and counted. */
GT_API gt_ref gt_def_record(const char *adapter, const char *name);
/* A communicator for messages, whose members are all locations that use it; parent may be GT_NONE. key:
 * equal in all processes for the same communicator; 0: it is identified by its name. Communicators of given
 * processes are in ranks.h. */
GT_API gt_ref gt_def_comm(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key);
GT_API void gt_def_property(const char *key, const char *value);

/* ---- events of the calling thread ------------------------------------------------------------------ */

/* Enter and leave a region. [signal-safe] */
GT_API void gt_enter(gt_ref region);
GT_API void gt_leave(gt_ref region);

/* gt_active() and, if that says yes, gt_enter(), in one call. [signal-safe] */
GT_API bool gt_enter_if_active(gt_ref region);
/* The same, followed by gt_record() with the same time. The record is written even if the filter omits the
 * region. [signal-safe] */
GT_API bool gt_enter_record(gt_ref region, unsigned type, uint64_t low, const uint64_t *data, unsigned extra);
/* Enter and leave with a time that gt_now() returned earlier on this thread, so that a wrapper can decide
 * afterwards whether to record. Times before the last recorded event are set to its time. */
GT_API void gt_enter_at(gt_ref region, uint64_t tick);
GT_API void gt_leave_at(gt_ref region, uint64_t tick);
/* gt_enter_at() with an attribute, which may be GT_NONE; tick 0: now. False: the filter omits this call, and
 * the caller must omit everything that would be inside the region. [signal-safe] */
GT_API bool gt_enter_attribute(gt_ref region, gt_ref attribute, uint64_t value, uint64_t tick);
/* Writes a record of records.def: `type` with `low` (48 bits) and `extra` (at most 255) continuation slots of
 * two words each, taken from `data`. A record too long for the thread's buffer (VT_BUFFER_SIZE,
 * VT_THREAD_BUFFER_SIZE) is counted as lost; 120 slots always fit. [signal-safe] */
GT_API void gt_record(unsigned type, uint64_t low, const uint64_t *data, unsigned extra);
GT_API void gt_record_at(unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
			 uint64_t tick);

/* State of gt_repeat() between calls, one for each thread; zero it first. */
struct gt_repeated {
	uint64_t end;            /* of the stream, behind the last span */
	gt_ref region;
};

/*
 * Records a call of `region` from `begin` (gt_now()) to now that returned without a result, in a polling
 * loop. If nothing was recorded on this thread since the last such call, and the time since then is not
 * longer than this call took, the two are merged: the span is extended, and its parameter `counter` gives
 * the number of calls that it stands for.
 */
GT_API void gt_repeat(struct gt_repeated *last, gt_ref region, gt_ref counter, uint64_t begin);

/* Counts events that the adapter had to omit, by cause (enum gt_loss). A negative number, as uint64_t, takes
 * back a count made before an exec that failed. [signal-safe] */
GT_API void gt_lost(unsigned cause, uint64_t events);

/* Convenience for the common ones. */
GT_API void gt_metric_uint(gt_ref metric, uint64_t value);
GT_API void gt_metric_int(gt_ref metric, int64_t value);
GT_API void gt_metric_double(gt_ref metric, double value);
GT_API void gt_attribute(gt_ref attribute, uint64_t value); /* of the next event, if that is recorded */
GT_API void gt_marker(gt_ref marker, const char *text);

/* Names the thread from now on. kernel_tid 0: the calling thread. */
GT_API void gt_thread_name(uint32_t kernel_tid, const char *name);

/* ---- locations that are not threads -------------------------------------------------------------------- */

struct gt_location_info {
	size_t bytes;
	const char *name;
	uint32_t kind;           /* enum gt_loc_kind */
	uint32_t flags;          /* GT_LOC_* */
	uint32_t group;          /* a location group from gt_def_locgroup, 0: the process */
	uint64_t key;
};
GT_API gt_ref gt_def_locgroup(const char *name, uint32_t kind, uint64_t key);
/* NULL when no memory or disk space is left (counted). The caller serialises writes to a location. The
 * functions below accept NULL: its id is UINT32_MAX, and records are counted as lost. */
GT_API struct gt_location *gt_location_create(const struct gt_location_info *info);
GT_API uint32_t gt_location_id(const struct gt_location *location);
/* Renames it from now on. */
GT_API void gt_location_name(const struct gt_location *location, const char *name);
GT_API void gt_location_record(struct gt_location *location, unsigned type, uint64_t low56,
			       const uint64_t *data, unsigned extra, uint64_t tick);
/*
 * Writes records that belong together, given as slots (records.h), such as an activity of a device from its
 * attributes to its leave. In a location with GT_LOC_COMMITS a killed process leaves all of them or none.
 * Blocks longer than GT_BLOCK_SLOTS slots are written record by record. Losses are counted by record.
 */
#define GT_BLOCK_SLOTS 64u
GT_API void gt_location_block(struct gt_location *location, const struct gt_slot *slots, unsigned count);

/* ---- interception ---------------------------------------------------------------------------- */

/*
 * The next definition of `symbol` after gputrace's own in the search order (dlsym RTLD_NEXT), or NULL. Call
 * it once for each symbol, in the constructor: it may allocate.
 */
GT_API void *gt_next_symbol(const char *symbol);

/*
 * Keeps the object that contains `address` in memory even after dlclose(), for functions and data that an
 * adapter continues to use. Does nothing for objects that can never be unloaded (the program, the C library,
 * objects linked with -z nodelete); may allocate otherwise.
 */
GT_API void gt_pin(const void *address);

#ifdef __cplusplus
}
#endif
#endif

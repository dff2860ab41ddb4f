/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door into gputrace's core: adapters and the user API turn foreign calls into events through these
 * functions. What only some adapters need has a header of its own:
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
 *  - A struct that begins with `bytes` has its own size there, sizeof. It may grow at its end in later
 *    versions: the core takes longer ones than it knows, and ones as short as in release 0.1, and what they
 *    lack is zero. A smaller or a random number is refused with one line on stderr, and counted
 *    (GT_LOSS_DEFINITION).
 *  - An adapter's wrapper first asks gt_active(); if that says no it forwards the call untouched.
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
 * What an adapter tells the core. Callbacks may be NULL. They run outside of all locks of the core. The
 * objects that hold `name` and the callbacks stay in memory from then on, whatever dlclose() is told.
 */
struct gt_adapter {
	size_t bytes;
	uint32_t abi;            /* GT_ADAPTER_ABI */
	const char *name;        /* "pthread", "mpi" ... : appears in `gputrace info` and properties */
	void (*fork_child)(void);/* in a forked child, after the core has reset itself */
	/* The process is about to end its recording (enum gt_end_how), or, GT_END_EXEC, to try to
	 * become another program. If that fails it goes on, and this is called with GT_END_NONE. In a
	 * confined process (gt_is_confined()) it makes no system call. */
	void (*end)(int how);
	/* Is the calling thread inside a call of the library that this adapter records? Says yes to leave out
	 * what the library itself does there with threads and locks. */
	bool (*inside)(void);
	/* The calling thread jumps (longjmp) to a frame whose stack pointer is `stack`: a call that began
	 * below it is over. Returns whether one that did not is still open. [signal-safe] */
	bool (*jumps)(const void *stack);
	/*
	 * Threads of the adapter's own have ended when this returns (`on` is false): the program is about to
	 * do what only a process of one thread can do (unshare), or what would kill them (a filter of system
	 * calls for all threads), or is its last thread and ends. Or it is done, or was refused, and they may
	 * go on. One thread at a time calls this, with all signals blocked.
	 */
	void (*threads)(bool on);
	/*
	 * In a forked child when fork() is about to return there: the handlers of all libraries have run, and
	 * memory can be had and threads be made again. Not in children that were made by other means (clone,
	 * _Fork, forkpty).
	 */
	void (*fork_returns)(void);
	/* Is `address` memory of a device that this adapter records? On any thread, often. */
	bool (*holds)(const void *address);
	/* The calling thread is recorded from now on, or is about to record its end. The first may come
	 * more than once, and in a signal handler. [signal-safe] */
	void (*thread)(bool begins);
	/* end() records nothing: a child that has recorded nothing need not be recorded for it. */
	bool ends_silently;
};

/*
 * Registers an adapter; call it from the adapter's constructor. Returns 0, -EALREADY if a copy of
 * this adapter is registered, -EPROTO on an ABI mismatch, -ENOSPC when there are too many.
 */
GT_API int gt_adapter_register(const struct gt_adapter *adapter);

/* ---- state ----------------------------------------------------------------------------------- */

/*
 * Is this thread being recorded now? Sets the core up if that has not been done, for a call out of
 * another library's constructor. False where that fails or is under way, after the process ended its
 * recording, while VT_OFF is in force, and inside gputrace's own code. [signal-safe]
 */
GT_API bool gt_active(void);
/* Has the process confined itself (seccomp)? Then an adapter makes no system call of its own: it may kill. */
GT_API bool gt_is_confined(void);

/*
 * Zeroed memory, of the kernel's: `bytes` of it, NULL if there is none. In a process that has confined itself
 * it comes from a reserve (1 MiB in all) that was mapped before. Keeps errno. [signal-safe]
 */
GT_API void *gt_memory(size_t bytes);
/* Gives it back. [signal-safe] */
GT_API void gt_memory_free(void *memory, size_t bytes);
/*
 * In a copy of the process that the adapter has made by a system call of its own (clone): it is not
 * recorded.
 */
GT_API void gt_copy_unrecorded(void);
/* Is recording switched on (VT_ON, VT_OFF)? gt_active() asks more. */
GT_API bool gt_is_on(void);

/*
 * Brackets code of an adapter that itself makes calls the adapters intercept: until the matching
 * gt_unguard() gt_active() is false on this thread, or until the thread jumps (longjmp) to where it was
 * called or further up. Nests. [signal-safe]
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

/* Nanoseconds of CLOCK_MONOTONIC as the kernel has them: a library that shows the program another time, or a
 * time that stands still, does not come in between. [signal-safe] */
GT_API uint64_t gt_monotonic(void);

/*
 * The value of a setting by its variable's name ("VT_PTHREAD_LOCKS"), as text, or NULL if there is
 * no such setting, or (before the C library is set up) none can be read yet. Numbers and sizes are decimal,
 * booleans "yes" or "no". The string stays valid.
 */
GT_API const char *gt_setting(const char *name);

/* Writes one line "[gputrace] ..." to stderr, if VT_VERBOSE is at least `level`. Understands
 * %s %d %u %lu %lx %p %% only. [signal-safe] */
GT_API void gt_message(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Threads of an adapter's own. A process whose main() has left by pthread_exit() ends with its last thread,
 * and theirs would be threads, too: so the adapter counts them, by 1 once it has made one (not before: one of
 * the program's would be taken for it), and by -1 as the last that the thread does. They end
 * (gt_adapter.threads) when the program's last thread does. Where that is not seen they find out: whenever
 * such a thread wakes up, at least each second, it asks whether only such threads are left, and if so ends.
 * It may be the one that runs the program's exit handlers then: it gives back what it has blocked and guarded
 * before it returns.
 */
GT_API void gt_own_thread(int change);
GT_API bool gt_own_threads_only(void);

/*
 * Moves a descriptor of an adapter's, which is closed on exec, out of the program's way: to a number above
 * its soft limit (RLIMIT_NOFILE), which it can neither get nor count, or else to one of an eighth of the
 * numbers below, from 1,000 on if there are so many. Returns where it is; -EMFILE: all of those are taken,
 * and it is closed.
 */
GT_API int gt_descriptor_away(int fd);

/* ---- definitions (each is written once to the journal) ------------------------------------------ */

/* A string; the same text gives the same id. Cut at 4,096 bytes. */
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
	bool brief;              /* `canonical` is of C++: shown without template arguments and parameters */
	bool phase;              /* a phase of the program, which it has named (OTF2_REGION_FLAG_PHASE) */
	/* Code that the region stands for (a call in it: one byte before the return address), or NULL. When
	 * assembling, file and line become those of this code, and the name "NAME @file.c:12". */
	const void *address;
	/* With `address`: a variable of the program that the region is about, or NULL. If its symbol is
	 * known the name becomes "NAME (variable) @file.c:12". */
	const void *variable;
};

/*
 * A region. Applies the user's filter by name and group: a filtered region returns GT_NONE, and
 * gt_enter(GT_NONE) records nothing, so a wrapper needs no test of its own.
 */
GT_API gt_ref gt_def_region(const struct gt_region_info *info);

/*
 * OTF2_Type. The last two are of attributes alone: the value is what gt_def_string() returned, or
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
 * Counters of a thread that are read together when it enters or leaves a region; the values stand directly
 * before that event and have its time. Not at gt_enter_at() and gt_repeat(): nobody read them then.
 */
#define GT_SOURCE_METRICS 64u
struct gt_metric_source {
	size_t bytes;            /* sizeof(struct gt_metric_source) */
	/* `count` (1 to GT_SOURCE_METRICS); not needed after the call */
	const struct gt_metric_info *metrics;
	uint32_t count;
	/* On each thread before its first reading, with signals blocked. NULL: there is nothing to do.
	 * Returns 0, and in *state what the others are given; a negative errno: the thread goes without. */
	int (*open)(void **state);
	/* Fills in `n` values, which is `count`. Returns 0; -EAGAIN: there is nothing to record now; another
	 * negative errno: this event goes without, which is a loss. It may interrupt anything, the library's
	 * own code included; it calls nothing that adapters intercept. */
	int (*read)(void *state, uint64_t *values, unsigned n);
	/* The thread ends; NULL: there is nothing to do. Not called in a process that has confined itself. A
	 * forked child opens its own: what it has of its parent's is for gt_adapter.fork_child. */
	void (*close)(void *state);
};

/*
 * Registers a source for all threads, until the process ends; from then on every event takes the slow path.
 * A reading that fails, or that cannot be made (in a signal handler that interrupts one, or when the process
 * has confined itself), is counted as lost. Returns 0, -EPROTO for a struct that cannot be used, -EINVAL,
 * -ENOSPC when there are too many, -ECANCELED if the process is not recorded.
 */
GT_API int gt_metric_source_register(const struct gt_metric_source *source);

/*
 * Regions of the user API (VT_USER_START and the like) by name, as they are entered and left by threads that
 * are recorded: for an adapter that does something at their borders.
 */
struct gt_user_watch {
	size_t bytes;                     /* sizeof(struct gt_user_watch) */
	bool (*wanted)(const char *name); /* asked at each enter that was not answered with yes before */
	void (*enter)(const char *name);  /* before the enter is recorded */
	void (*leave)(void);              /* before the leave is; of the innermost such region */
};
/*
 * From now on. Regions that are not wanted cost what they did. Returns 0, -EPROTO for a struct that
 * cannot be used, -EBUSY if an adapter watches already. It is copied; the functions stay in use until the
 * process ends.
 */
GT_API int gt_user_watch(const struct gt_user_watch *watch);

/* severity: 1 error, 2 warning, 3 hint. */
GT_API gt_ref gt_def_marker(const char *name, const char *group, unsigned severity);
GT_API gt_ref gt_def_attribute(const char *name, const char *description, enum gt_value value);
GT_API gt_ref gt_def_parameter(const char *name, enum gt_value value);
/* A kind of record that no other adapter has: gt_record(GT_T_OWN, id, data, extra) writes one, and the
 * adapter's assembling half (<gputrace/assemble.h>) knows it by `name`. `adapter` is the name that was
 * registered. Without that half such records are skipped and counted. */
GT_API gt_ref gt_def_record(const char *adapter, const char *name);
/* A communicator for messages, of all locations that use it; parent may be GT_NONE. key: the same in all
 * processes that mean the same one, 0: by its name. That of a group of processes is in ranks.h. */
GT_API gt_ref gt_def_comm(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key);
GT_API void gt_def_property(const char *key, const char *value);

/* ---- events of the calling thread ------------------------------------------------------------------ */

/* Enter and leave a region. [signal-safe] */
GT_API void gt_enter(gt_ref region);
GT_API void gt_leave(gt_ref region);

/* gt_active() and, if that says yes, gt_enter(), in one call. [signal-safe] */
GT_API bool gt_enter_if_active(gt_ref region);
/* The same, and then gt_record(), at one time. If the filter leaves the region out the record is written
 * all the same. [signal-safe] */
GT_API bool gt_enter_record(gt_ref region, unsigned type, uint64_t low, const uint64_t *data, unsigned extra);
/* Enter and leave with a time that gt_now() gave earlier on this thread: a wrapper can look at the clock
 * first and decide afterwards. Times that lie before the last recorded event are set to it. */
GT_API void gt_enter_at(gt_ref region, uint64_t tick);
GT_API void gt_leave_at(gt_ref region, uint64_t tick);
/* Any record of records.def: `type` with `low` (48 bits) and `extra` continuation slots of two
 * words each taken from `data`, at most 255. A record too long for the thread's buffer (VT_BUFFER_SIZE,
 * VT_THREAD_BUFFER_SIZE) is counted as lost; one of 120 slots always fits. [signal-safe] */
GT_API void gt_record(unsigned type, uint64_t low, const uint64_t *data, unsigned extra);
GT_API void gt_record_at(unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
			 uint64_t tick);

/* What gt_repeat() needs to remember between calls; zero it first. One for each thread. */
struct gt_repeated {
	uint64_t end;            /* of the stream, behind the last span */
	gt_ref region;
};

/*
 * A call of `region` from `begin` (gt_now()) to now that had no result, in a loop that polls. If
 * nothing was recorded on this thread since the last one, and that is not longer ago than this one
 * took, they become one: the span is made longer, and the parameter `counter` in it says how many
 * calls it stands for.
 */
GT_API void gt_repeat(struct gt_repeated *last, gt_ref region, gt_ref counter, uint64_t begin);

/* Counts events that the adapter had to leave out, by cause (enum gt_loss). A number
 * below 0, as uint64_t, takes back what was counted before an exec that failed.
 * [signal-safe] */
GT_API void gt_lost(unsigned cause, uint64_t events);

/* Convenience for the common ones. */
GT_API void gt_metric_uint(gt_ref metric, uint64_t value);
GT_API void gt_metric_int(gt_ref metric, int64_t value);
GT_API void gt_metric_double(gt_ref metric, double value);
GT_API void gt_attribute(gt_ref attribute, uint64_t value); /* of the next event, if that is recorded */
GT_API void gt_marker(gt_ref marker, const char *text);

/* The thread's name from now on. kernel_tid 0: the calling thread. */
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
/* NULL when no memory or disk is left (counted). The caller serialises writes to a location. The functions
 * below take NULL: the id is UINT32_MAX then, and records are counted as lost. */
GT_API struct gt_location *gt_location_create(const struct gt_location_info *info);
GT_API uint32_t gt_location_id(const struct gt_location *location);
/* Its name from now on. */
GT_API void gt_location_name(const struct gt_location *location, const char *name);
GT_API void gt_location_record(struct gt_location *location, unsigned type, uint64_t low56,
			       const uint64_t *data, unsigned extra, uint64_t tick);
/*
 * Records that belong together, in the slots that they take (records.h), such as an activity of a device from
 * its attributes to its leave. Of a location with GT_LOC_COMMITS a killed process leaves all of them or none.
 * Longer ones than GT_BLOCK_SLOTS slots are written record by record. What is lost counts for each record.
 */
#define GT_BLOCK_SLOTS 64u
GT_API void gt_location_block(struct gt_location *location, const struct gt_slot *slots, unsigned count);

/* ---- interception ---------------------------------------------------------------------------- */

/*
 * The next definition of `symbol` after gputrace's own in the search order (dlsym RTLD_NEXT), or
 * NULL. Call it once per symbol, in the constructor: it may allocate.
 */
GT_API void *gt_next_symbol(const char *symbol);

/*
 * Keeps the object that holds `address` in memory whatever dlclose() is asked for: for functions and data
 * that an adapter goes on to use. Does nothing for what can never be unloaded (the program, the C library,
 * objects linked with -z nodelete); may allocate otherwise.
 */
GT_API void gt_pin(const void *address);

#ifdef __cplusplus
}
#endif
#endif

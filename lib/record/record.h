/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal interfaces of the recording side. Each file uses only those above it in this list, which
 * test/tree/layers.test enforces; the sections below are in the same order:
 *
 *   lock       a lock that signal handlers may wait for (lock.h)
 *   state      the current state of the process, its run, threads and locations
 *   message    messages to the user
 *   files      descriptors that the program may close, and the process's folder in the spool
 *   journal    the file of definitions
 *   adapters   registered adapters and their callbacks
 *   clock      ticks, and readings of the kernel's clocks beside them
 *   sched      each thread's states in the scheduler
 *   elfsym, verdict_name, verdict, callstack   the filter (their own headers)
 *   modules    the files mapped in memory
 *   metrics    counters that are read at enters and leaves (metrics.h)
 *   launch     the assembly as a process of its own
 *   run        joining the run and leaving it; the last process assembles
 *   buffer     events of an existing location: changes halves and spools them; kept (kept.h)
 *   location   makes locations, passes them from thread to thread
 *   process    sets the process up, and again after a fork
 *   define, verdict_first   the definitions of adapter.h; the verdict on a function at its first call
 *   patch      hooks that are no longer called (patch.h)
 *   thread     the first event of a thread, and the slow half of all of them
 *   events     the events and switches of adapter.h
 *   finish, ranks   the end of a process, exec, confinement; parallel programs
 *
 * Limits: included by lib/record and instrument only; adapters use include/gputrace/adapter.h.
 * No malloc, no stdio, no locale, no errno in anything declared here.
 */
#ifndef GT_RECORD_H
#define GT_RECORD_H

#include "gputrace/adapter.h"
#include "gputrace/hash.h"
#include "lib/common/settings.h"
#include "lib/format.h"
#include "lib/record/hot.h"
#include "lib/record/lock.h"
#include "lib/record/metrics.h"

#include <errno.h>

/* For functions that may run before anything is set up, including a sanitizer's own runtime. */
#if defined(__clang__) && __has_attribute(disable_sanitizer_instrumentation)
#define GT_EARLY __attribute__((disable_sanitizer_instrumentation))
#else
#define GT_EARLY __attribute__((no_sanitize("thread", "address", "undefined")))
#endif

/* ---- state ------------------------------------------------------------------------------------------ */

enum gt_state {
	GT_COLD = 0,     /* nothing has happened yet */
	GT_STARTING = 1, /* one thread is setting up */
	GT_READY = 2,
	GT_FORKED = 3,   /* a child that has recorded nothing yet: it is set up at its first event */
	GT_CLOSING = 4,
	GT_CLOSED = 5,   /* the process has ended its recording */
	GT_DEAD = 6,     /* never records: switched off, privileged, or no directory */
};
/* enum gt_state; atomic. Stored with release: a thread that loads it with gt_state_now() sees what was set up
 * before. */
extern GT_HIDDEN int gt_state;
extern GT_HIDDEN int gt_pid;

static inline int gt_state_now(void)
{
	return __atomic_load_n(&gt_state, __ATOMIC_ACQUIRE);
}

/* Is this a process of the run whose end or exec will be noticed? */
static inline bool gt_takes_part(void)
{
	int state = gt_state_now();

	return state == GT_READY || state == GT_FORKED;
}

/* Reasons to send every event through the slow path. Atomic bits. */
enum gt_attention {
	GT_ATT_OFF = 1,     /* VT_OFF */
	GT_ATT_CLOCK = 4,   /* the clock is not the one that the hot path reads */
	GT_ATT_CLOSING = 8,
	GT_ATT_METRICS = 16, /* counters are read at each enter and leave */
};
extern GT_HIDDEN unsigned gt_attention;
extern GT_HIDDEN GT_TLS bool gt_thread_off; /* this thread alone is switched off */
GT_HIDDEN void gt_attention_set(unsigned bits); /* and takes every thread off the hot path */
GT_HIDDEN void gt_attention_clear(unsigned bits);

extern GT_HIDDEN GT_TLS int gt_depth; /* > 0: inside gputrace's own code */
/* The frame of the outermost gt_guard(); NULL: none. */
extern GT_HIDDEN GT_TLS const char *gt_guard_frame;

/* The process's header: in mapped memory, or in a page of its own before its file is mapped. Never NULL. */
extern GT_HIDDEN struct gt_proc_header *gt_proc, gt_proc_early;
extern GT_HIDDEN char gt_proc_folder[1024];   /* absolute path of the process's spool folder */
extern GT_HIDDEN char gt_run_dir[1024];       /* absolute path of the archive directory */
extern GT_HIDDEN struct gt_run_header *gt_run; /* shared by this host's processes; NULL: never joined */
extern GT_HIDDEN struct gt_location *gt_locations; /* by ascending id; atomic; entries are never removed */
GT_HIDDEN bool gt_is_our_process(void);       /* false in a vfork child */
GT_HIDDEN void gt_memory_reserve(void);       /* before the process confines itself (gt_memory()) */

/* Why a thread has no location; atomic. */
extern GT_HIDDEN unsigned gt_no_location;

/* Called before a loss is counted: a child whose record is in its parent's folder counts it there. */
extern GT_HIDDEN void (*gt_counts_late)(void);

static inline void gt_count_lost(unsigned cause, uint64_t n)
{
	if (gt_unlikely(gt_state_now() == GT_CLOSED) && gt_counts_late)
		gt_counts_late();
	__atomic_fetch_add(&gt_proc->lost[cause], n, __ATOMIC_RELAXED);
}

/* States of a thread without a location of its own. */
extern GT_HIDDEN struct gt_hot gt_hot_new;    /* not seen yet */
extern GT_HIDDEN struct gt_hot gt_hot_gone;   /* has ended (late destructors) */
extern GT_HIDDEN struct gt_hot gt_hot_closed; /* the process has ended its recording */
extern GT_HIDDEN struct gt_hot gt_hot_lost;   /* no buffer was available */

/* Slots of a half, stream offsets, in which an interrupted record will still be written. */
struct gt_kept {
	uint64_t from, to; /* to 0: none */
	uint64_t passed;   /* slots that were reserved in this turn and given up */
	unsigned turns;    /* of the window until they are used again */
};
#define GT_KEPT_LEAST 8 /* slots that the first may go on for: one reservation's, but for gt_note_length() */

/* A file that the program may close and replace by another one (files.c). */
struct gt_file {
	int fd; /* -1: not open */
	uint64_t dev, ino;
};

struct gt_location {
	struct gt_hot *hot;
	struct gt_win_header *win;
	uint64_t limit;        /* end of the half that is being filled: stream offset */
	uint64_t turn;         /* stream offset of the window's beginning in this turn */
	uint64_t half;         /* bytes */
	uint32_t id, kind, flags;
	volatile int busy;     /* the writer is changing halves */
	volatile int attending;/* the writer is handling GT_ATT_* bits */
	int stopped;           /* 0, or 1 + enum gt_loss: why nothing is recorded any more */
	bool off_marked;       /* an OFF record is the last thing in the stream */
	bool failed;           /* the last attempt to spool failed */
	bool confined;         /* that was not made, because the thread was confined */
	bool mark_set;
	bool in_use;           /* by a thread, or by one that ended unnoticed */
	bool end_missing;      /* of the previous thread, whose number is `sequence` */
	uint8_t scans_left;    /* scans of the memory map due at the next events */
	uint8_t end_how;       /* enum gt_thread_end, as announced by gt_thread_end */
	uint64_t mark;         /* VT_SET_REWIND_MARK: stream offset */
	uint64_t cut_to;       /* VT_REWIND has removed, or may have removed, records before it */
	uint64_t flushes;
	uint64_t nested_marked, space_marked, sandbox_marked; /* part of lost[GT_LOSS_...] in GAP records */
	struct gt_kept kept[2];/* one for each half */
	uint64_t longest;      /* bytes of the longest reservation */
	uint64_t retry;        /* stopped: events until the next attempt, 0: none */
	uint64_t sequence;     /* of the writing thread; 0: unannounced */
	uint64_t since;        /* when it began to write: tick */
	uint64_t attr_from, attr_to; /* the last attributes, and where their event must begin */
	uint64_t created;      /* the last thread that this one created, and its record in the stream */
	uint64_t created_from, created_to;
	struct gt_file raw;    /* open while a half is being written; ino 0: not made yet */
	uint32_t *ring_counts; /* events in each half of the ring */
	struct gt_readings readings; /* of the counters that are read at enters and leaves */
	void *callstack;       /* struct gt_callstack of the filter, or NULL */
	struct gt_location *next, *next_free;
};

/* Call it before a reservation of so many bytes: an unfinished one does not show its size. */
static inline void gt_note_length(struct gt_location *loc, uint64_t bytes)
{
	if (bytes > loc->longest)
		loc->longest = bytes;
}

/* The next record takes the slow path. */
static inline void gt_hot_stop(struct gt_hot *hot)
{
	__atomic_store_n(&hot->limit, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&hot->counted, 0, __ATOMIC_RELAXED);
}

/* The lowest time that a finished slot of this half can have. */
static inline uint64_t gt_lower_bound(const struct gt_location *loc, uint64_t offset)
{
	return loc->win->half_tick[(offset & loc->half) != 0];
}

/* Has the thread that records here switched itself off? Locations of GPUs are written by other threads. */
static inline bool gt_location_off(const struct gt_location *loc)
{
	return gt_thread_off && loc->hot == gt_self;
}

/* The present end of the location's stream, as an offset since the location began. */
static inline uint64_t gt_stream_end(const struct gt_location *loc)
{
	uint64_t turn, cur;

	do { /* a handler may begin the next turn in between */
		turn = __atomic_load_n(&loc->turn, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		cur = __atomic_load_n(&loc->hot->cur, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (turn != __atomic_load_n(&loc->turn, __ATOMIC_RELAXED));
	return turn + (cur - (uint64_t)(uintptr_t)loc->hot->base);
}

/* Marks all reserved slots as written. */
static inline void gt_committed(const struct gt_location *loc)
{
	if (loc->flags & GT_LOC_COMMITS)
		/* Pairs with read_half() in live/windows.c. */
		__atomic_store_n(&loc->win->committed, gt_stream_end(loc), __ATOMIC_RELEASE);
}

/* Writes a record into slots reserved for it in the location. */
static inline void gt_commit_in(const struct gt_location *loc, struct gt_slot *slot, uint64_t word,
				const uint64_t *data, unsigned extra, uint64_t tick)
{
	gt_commit(slot, word, data, extra, tick);
	gt_committed(loc);
}

/* ---- messages --------------------------------------------------------------------------------------- */

/* The program's stderr, or the original one if the program has closed it. */
GT_HIDDEN void gt_stderr_keep(void);
GT_HIDDEN void gt_stderr_drop(void);
GT_HIDDEN int gt_stderr_open(void); /* for gt_stderr_close() */
GT_HIDDEN void gt_stderr_close(int fd);

/* Prints a message once per run and kind; GT_WARN_USER: once per process. */
GT_HIDDEN void gt_warn_once(unsigned kind, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum { GT_WARN_SPACE, GT_WARN_THREADS, GT_WARN_DIRECTORY, GT_WARN_LIMIT, GT_WARN_USER, GT_WARN_TOOL,
       GT_WARN_COPY };

/* ---- files that the program may close behind our back ----------------------------------------------- */

/* Moves fd to a high number, out of the program's way, and remembers its file. Returns 0 or -errno. */
GT_HIDDEN int gt_file_keep(struct gt_file *file, int fd);
/* Moves it to that number or a free one above it, if there is one. */
#define GT_FILE_HIGH 1000
GT_HIDDEN void gt_file_move(struct gt_file *file, int number);
/* Is the descriptor still ours? Another thread may have closed it and opened something else. */
GT_HIDDEN bool gt_file_valid(const struct gt_file *file);
GT_HIDDEN void gt_file_close(struct gt_file *file); /* if it is ours */
/* Writes everything at `offset`. 0 or -errno. */
GT_HIDDEN int gt_file_pwrite(int fd, const void *data, size_t bytes, uint64_t offset);
/* Allocates room in the file, in whole pages, so that no store to a mapping of it can fail. 0 or -errno. */
GT_HIDDEN int gt_file_reserve(int fd, uint64_t offset, uint64_t bytes);

/* A descriptor of ours for the process's spool folder, or -errno. */
GT_HIDDEN int gt_folder(void);
GT_HIDDEN int gt_folder_keep(int fd);
GT_HIDDEN void gt_folder_close(void);
GT_HIDDEN void gt_folder_give_up(void); /* closes it; it may be opened again by its path */
GT_HIDDEN struct gt_file gt_folder_forked(void); /* in a child: detaches from the parent's and returns it */
GT_HIDDEN void gt_folder_adopt(const struct gt_file *parents); /* uses it again, to read there */
/* The cause (GT_LOSS_...) of a file that could not be made, opened or written; `memory` if that was short. */
GT_HIDDEN unsigned gt_folder_loss(int error, unsigned memory);
/* Reopens the parent's folder by gt_proc_folder if the program has closed it. Is it there? */
GT_HIDDEN bool gt_folder_of_parent(struct gt_file *parents);
/* Opens the file `name` in it, which *file identifies; file->ino 0: creates it, for its owner only. 0 or
 * -errno. */
GT_HIDDEN int gt_folder_open(const char *name, struct gt_file *file);
GT_HIDDEN size_t gt_page_size(void); /* a mapping begins where a page does; up to 64 KiB on aarch64 */
/* gt_folder_open(); then allocates room in the file, maps it (shared), and closes it. 0 or -errno. */
GT_HIDDEN int gt_folder_map(const char *name, struct gt_file *file, uint64_t offset, uint64_t bytes,
			    void **memory);
/*
 * Calls the function. If it returns -EMFILE or -EFBIG, because the program has no descriptor left or may not
 * write so long a file, calls it again in a process that shares all memory with this one but has its own
 * limits and descriptors: stderr, the folder and `other`, with the same numbers, and some free ones. Returns
 * the function's result. That process has another pid, and files that the function leaves open are not open
 * here.
 */
GT_HIDDEN int gt_folder_apart(int (*function)(void *), void *argument, int other);

/* ---- journal ---------------------------------------------------------------------------------------- */

struct gt_piece {
	const void *data;
	size_t bytes;
};

extern GT_HIDDEN struct gt_file gt_proc_file; /* the process's header, then its journal */
GT_HIDDEN int gt_journal_open(void);
GT_HIDDEN int gt_journal_copy(int folder, uint64_t bytes); /* the parent's, after fork */
GT_HIDDEN void gt_journal_forget(void);
GT_HIDDEN void gt_journal_make_room(void); /* before the process confines itself: 64 KiB */

/* gt_def_property() without checking whether the process is recorded. */
GT_HIDDEN void gt_put_property(const char *key, const char *value);
GT_HIDDEN void gt_put_settings(void); /* each as "setting:<name>" */
/* Appends one definition made of pieces. Returns 0 or a negative errno. */
GT_HIDDEN int gt_journal_put(unsigned type, uint32_t id, const struct gt_piece *pieces, unsigned n);
GT_HIDDEN int gt_journal_put_locked(unsigned type, uint32_t id, const struct gt_piece *pieces,
				    unsigned n);

/* ---- adapters --------------------------------------------------------------------------------------- */

/* Calls of the adapters' callbacks (adapters.c). gt_adapters_list() writes the names of new ones as
 * properties. */
GT_HIDDEN void gt_adapters_list(void);
GT_HIDDEN bool gt_adapters_have(const char *name);
GT_HIDDEN void gt_adapters_forked(void);
GT_HIDDEN void gt_adapters_fork_returns(void);
GT_HIDDEN void gt_adapters_end(int how); /* enum gt_end_how */
GT_HIDDEN void gt_adapters_end_silently(int how); /* only those whose end() records nothing */
GT_HIDDEN bool gt_adapters_record_end(void); /* may end() of any of them record something? */
GT_HIDDEN void gt_adapters_threads(bool on);
GT_HIDDEN void gt_adapters_thread(bool begins); /* the calling thread is recorded from now on, or no longer */
/* One of the program's threads is about to end. */
GT_HIDDEN void gt_adapters_thread_ends(void);
extern GT_HIDDEN bool gt_jumps_matter;      /* an adapter has a callback for them */
GT_HIDDEN void gt_jumps(const void *stack); /* before a jump to that stack pointer */

/* ---- clock ------------------------------------------------------------------------------------------ */

extern GT_HIDDEN uint32_t gt_clock_kind; /* enum gt_clock_kind */
/* A moment on both clocks, taken before the process has chosen its own. */
struct gt_moment {
	uint64_t tick;
	int64_t mono_ns;
};
GT_HIDDEN void gt_clock_now(struct gt_moment *moment);
/* Chooses the clock, after joining the run; returns that moment as a tick. */
GT_HIDDEN uint64_t gt_clock_setup(const struct gt_moment *begin);
GT_HIDDEN uint64_t gt_clock_read(void);
GT_HIDDEN void gt_clock_forbid(void); /* stops reading the counter */
GT_HIDDEN void gt_clock_calibrate(struct gt_calib *calib);
GT_HIDDEN void gt_clock_begin(void); /* gt_proc->first */
/* Checks the counter against the kernel's clocks; gt_clock_note() keeps gt_proc->last recent. */
GT_HIDDEN void gt_clock_check(void);
GT_HIDDEN void gt_clock_note(void);

/* ---- states in the scheduler ------------------------------------------------------------------------ */

/* Reads the sums of a thread of this process. False: unknown; `to` has the time in any case. */
GT_HIDDEN bool gt_states_read(uint32_t tid, struct gt_sched *to);
/* A thread begins with these sums. */
GT_HIDDEN void gt_states_begin(struct gt_states *states, const struct gt_sched *now, bool known);
/* The same for a thread whose sums were 0 at that time (gt_monotonic()). */
GT_HIDDEN void gt_states_born(struct gt_states *states, uint64_t at);
/* A thread of this number is about to be created. gt_states_creation() gives the new thread that time; 0:
 * unknown. */
GT_HIDDEN void gt_states_created(uint64_t thread);
GT_HIDDEN uint64_t gt_states_creation(uint64_t thread);
/* Reads its sums again, for the last time if it ends. */
GT_HIDDEN void gt_states_note(struct gt_states *states, uint32_t tid, bool ends);
/* Another thread takes over: adds this one to the totals. */
GT_HIDDEN void gt_states_next(struct gt_states *states);
/* gt_states_note() of a location's thread. */
GT_HIDDEN void gt_location_states(struct gt_location *loc, bool ends);
/* The data of a GT_T_STATES, from the last reading; while nobody notes another one. False: unknown. */
GT_HIDDEN bool gt_location_sums(const struct gt_location *loc, uint64_t sums[4]);
/* The same from a new reading, if the last one is old enough: for a half that was spooled, or `apart` ns. */
GT_HIDDEN bool gt_location_spooled(struct gt_location *loc, uint64_t sums[4]);
GT_HIDDEN bool gt_location_again(struct gt_location *loc, uint64_t apart, uint64_t sums[4]);
/* Records the processor time limits of the process's cgroups, at its beginning and end (gt_proc->quotas). */
GT_HIDDEN void gt_quotas_begin(void);
GT_HIDDEN void gt_quotas_end(void);

/* ---- memory map ------------------------------------------------------------------------------------- */

struct gt_module_range {
	uint64_t start, end, offset;
	const char *path;
	bool shared;
};

GT_HIDDEN bool gt_modules_scan(void); /* true: it found a new file */
extern GT_HIDDEN int gt_modules_dirty;
extern GT_HIDDEN bool gt_modules_apart; /* dlmopen() has been used, or has loaded us; atomic */
GT_HIDDEN bool gt_modules_find(uintptr_t address, struct gt_module_range *out);
GT_HIDDEN void gt_modules_changed(void);
GT_HIDDEN bool gt_is_libgputrace(const char *path); /* of whatever version */

/* ---- assembly and run ------------------------------------------------------------------------------- */

/*
 * Runs `gputrace assemble` on `dir` and waits for its end. The tool inherits `lock_fd`, which holds the
 * exclusive lock on the run in the folder `home`. part: only converts what this host has recorded. Returns 0
 * if the tool was started, or a negative errno.
 */
GT_HIDDEN int gt_launch_assembly(const char *dir, const char *home, int lock_fd, bool part);
/* May this process, which is about to end, wait for it? Some launchers would kill it. */
GT_HIDDEN bool gt_may_wait(void);

/* `parent`: the spool folder of the process that this one was forked from, or NULL. */
GT_HIDDEN int gt_run_join(const char *program, const struct gt_file *parent, uint32_t *seq, char *why,
			  size_t why_size);
/*
 * This process cannot record after all, because of that error: it removes what it had begun to write, is
 * counted, and leaves, so that nobody waits for it. Does nothing if it has not joined.
 */
GT_HIDDEN void gt_run_withdraw(int error);
GT_HIDDEN bool gt_run_withdrawn(void);
GT_HIDDEN void gt_run_forked_absent(void); /* in a child: counts it if its parent has withdrawn */
/* Counts n processes of the run that cannot be recorded: enum gt_absent, or by the error. */
GT_HIDDEN void gt_run_absent(unsigned cause, int n);
GT_HIDDEN unsigned gt_absent_cause(int error);
GT_HIDDEN void gt_run_waiting(int n); /* a forked child begins or ends to have recorded nothing */
/* Would a program that this process starts be missing from the trace? Why (enum gt_absent); -1: no. */
GT_HIDDEN int gt_next_absent(void);
GT_HIDDEN void gt_run_leave(void);  /* and assembles, if this was the last process */

/* ---- buffer ----------------------------------------------------------------------------------------- */

/*
 * The slow path of a reservation of `slots` slots that began at `address` of `hot` and did not fit below its
 * limit. Returns the first slot; NULL if the event is dropped and counted, or there is no location. *tick is
 * raised to the lowest time that is valid for the slot.
 */
GT_HIDDEN struct gt_slot *gt_reserve_in(struct gt_hot *hot, uint64_t address, unsigned slots, uint64_t *tick);

/*
 * The same for the record of an enter or leave, or for records that end with one: also reads the counters
 * that are due there, and writes their records before it. `now`: *tick is set to the time of the reading.
 */
GT_HIDDEN struct gt_slot *gt_reserve_event_in(struct gt_hot *hot, uint64_t address, unsigned slots,
					      uint64_t *tick, bool now);

/*
 * Its quick path, for `slots` slots that were reserved at `address` of the calling thread's `hot`, if only
 * its counters keep the hot path from writing them. With `now`, *tick may be 0. NULL: nothing was done, and
 * gt_reserve_event_in() must be called.
 */
GT_HIDDEN struct gt_slot *gt_reserve_counted(struct gt_hot *hot, uint64_t address, unsigned slots,
					     uint64_t *tick, bool now);

/* Writes a rare record into an existing location. */
GT_HIDDEN void gt_write_in(struct gt_location *loc, uint64_t word, const uint64_t *data, unsigned extra,
			   uint64_t tick);

GT_HIDDEN void gt_buffers_forked(void); /* in a forked child */
/* Removes the records in [from, to) of the calling thread's stream, which are its last ones. */
GT_HIDDEN void gt_take_back(struct gt_location *loc, uint64_t from, uint64_t to);

/* Spools the calling thread's window without waiting for it to fill up. */
GT_HIDDEN void gt_spool_now(struct gt_location *loc);

/* ---- locations -------------------------------------------------------------------------------------- */

/*
 * Gives the calling thread a location, a new one or that of an ended thread; or returns one of gt_hot_*.
 */
GT_HIDDEN struct gt_hot *gt_location_attach(void);
GT_HIDDEN void gt_location_announced(struct gt_location *loc); /* its thread's number is known now */
extern GT_HIDDEN GT_TLS uint64_t gt_announced; /* sequence number of a thread that is about to attach, or 0 */
GT_HIDDEN struct gt_location *gt_location_make(const struct gt_location_info *info, gt_ref name);
GT_HIDDEN void gt_locations_setup(void);
GT_HIDDEN void gt_locations_states(void); /* gt_location_states() of each thread */
GT_HIDDEN void gt_locations_forget(void); /* in a forked child */

/* ---- process ---------------------------------------------------------------------------------------- */

/* Sets up if that has not been done yet. Returns true if the process records. */
GT_HIDDEN bool gt_start(void);
GT_HIDDEN int gt_state_begun(void); /* the state, after gt_start() if nothing has happened yet */
GT_HIDDEN void gt_child_executes(bool begins); /* for a child that has recorded nothing yet */
GT_HIDDEN bool gt_child_ends(int how, int status); /* the same; false: record it as any other process */
/* Warns about settings whose wrapper `gputrace run` would have preloaded, if the program has none. */
GT_HIDDEN void gt_complain_of_start(void);
GT_HIDDEN void gt_fork_handlers(void); /* registers ours, once */
GT_HIDDEN void gt_forked_raw(void);    /* in a child of a call that runs no handlers */
GT_HIDDEN bool gt_fork_unmarked(void); /* in such a child, before gt_forked_raw()? */
GT_HIDDEN void gt_fork_returns(void);  /* in a child of fork(), when all handlers have run */

/* ---- channels of messages (define.c) ---------------------------------------------------------------- */

/* Hash table of the channels that this process has defined; it has twice as many places as needed. */
#define GT_CHANNEL_SLOTS (2 * GT_MESSAGE_CHANNELS)
struct gt_channel {
	uint64_t key;
	uint32_t tag;
	gt_ref id; /* 0: free */
};
extern GT_HIDDEN struct gt_channel gt_channels[GT_CHANNEL_SLOTS];

static inline uint64_t gt_channel_key(gt_ref comm, uint32_t peer)
{
	return (uint64_t)comm << 32 | peer;
}

/* Its id; if GT_NONE, *place is the place for it. */
static inline gt_ref gt_channel_find(gt_ref comm, uint32_t peer, uint32_t tag, struct gt_channel **place)
{
	uint64_t key = gt_channel_key(comm, peer);
	uint32_t at = (uint32_t)(gt_hash_word(key ^ (uint64_t)tag << 20) >> 32);

	for (;; at++) {
		struct gt_channel *c = &gt_channels[at % GT_CHANNEL_SLOTS];
		gt_ref id = __atomic_load_n(&c->id, __ATOMIC_ACQUIRE);

		*place = c;
		if (!id || (c->key == key && c->tag == tag))
			return id;
	}
}

/* Defines it; GT_NONE: there are too many. */
GT_HIDDEN gt_ref gt_def_channel(gt_ref comm, uint32_t peer, uint32_t tag);

/* ---- thread ----------------------------------------------------------------------------------------- */

/* The calling thread's location, made if need be; NULL if it has none. */
GT_HIDDEN struct gt_location *gt_own_location(void);

/* gt_reserve_in() and gt_reserve_event_in() for the calling thread, which gets a location if it has none:
 * *hot changes. */
GT_HIDDEN struct gt_slot *gt_reserve_slow(struct gt_hot **hot, uint64_t address, unsigned slots,
					  uint64_t *tick);
GT_HIDDEN struct gt_slot *gt_reserve_event(struct gt_hot **hot, uint64_t address, unsigned slots,
					   uint64_t *tick, bool now);

/* Writes a record with continuation slots into `hot` (NULL: the calling thread's). */
GT_HIDDEN void gt_write(struct gt_hot *hot, uint64_t word, const uint64_t *data, unsigned extra,
			uint64_t tick);

/* The same for an enter or leave of the calling thread, like gt_reserve_event(). */
GT_HIDDEN void gt_write_event(uint64_t word, const uint64_t *data, unsigned extra, uint64_t tick);

/* ---- end -------------------------------------------------------------------------------------------- */

GT_HIDDEN void gt_finish(int how, int status);
GT_HIDDEN void gt_note_quick_exit(int status); /* for gt_finish() */
GT_HIDDEN void gt_exec_begin(const char *path);
GT_HIDDEN void gt_exec_failed(void);
/* Before the program becomes another user ((uid_t)-1: stays the same), or changes its root. */
GT_HIDDEN void gt_user_changes(uid_t user);
GT_HIDDEN void gt_root_changes(void);
GT_HIDDEN void gt_thread_user_changes(uid_t user); /* of the calling thread only */
/* Before the calling thread restricts itself with that Landlock ruleset. */
GT_HIDDEN void gt_landlock_restricts(int ruleset);
/* Before the program makes its own user namespace, as sandboxes do, and after it has or has failed to. */
GT_HIDDEN void gt_namespace_changes(void);
GT_HIDDEN void gt_namespace_changed(void);
/* Before the program forbids itself to read the processor's counter (PR_SET_TSC). */
GT_HIDDEN void gt_counter_forbidden(void);
/* Before the program confines itself with a seccomp filter (true), and if that has failed (false). */
GT_HIDDEN void gt_confine(bool confined);
/*
 * A child that shares our memory (vfork) has confined itself, but not us, by one filter more or less. Before
 * it executes a program or ends it calls gt_confined_leaves(true), so that gt_confined_here() answers for
 * the parent again; false: that has failed.
 */
GT_HIDDEN void gt_confined_child(int more);
GT_HIDDEN void gt_confined_leaves(bool leaves);

#endif

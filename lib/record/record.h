/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The internal interfaces of the recording side. Each file uses only those above it in this list, which
 * test/tree/layers.test enforces; the sections below are in the same order:
 *
 *   lock       a lock that signal handlers may wait for (lock.h)
 *   state      what the process, its run, its threads and locations are just now
 *   message    messages to the user
 *   files      descriptors that the program may close, and the process's folder in the spool
 *   journal    the file of definitions
 *   adapters   who has registered, and is called back
 *   clock      ticks, and readings of the kernel's clocks beside them
 *   sched      what the scheduler did with each thread
 *   elfsym, verdict_name, verdict, callstack   the filter (their own headers)
 *   modules    which file lies where in memory
 *   metrics    counters that are read at enters and leaves (metrics.h)
 *   launch     the assembly as a process of its own
 *   run        joining the run, leaving it, who is the last
 *   buffer     events of a location that is there: changes halves and spools them; kept (kept.h)
 *   location   makes locations, hands them from thread to thread
 *   process    sets the process up, and once more after a fork
 *   define, verdict_first   the definitions of adapter.h; the verdict on a function at its first call
 *   patch      hooks that are no longer called (patch.h)
 *   thread     the first event of a thread, and the slow half of all of them
 *   events     the events and switches of adapter.h
 *   finish, ranks   the end of a process, exec, confinement; what parallel programs ask for
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

/* What may run before anything is set up, a sanitizer's own runtime included. */
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
	GT_FORKED = 3,   /* a child that has not recorded anything yet: sets up at its first event */
	GT_CLOSING = 4,
	GT_CLOSED = 5,   /* the process ended its recording */
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

/* Is this a process of the run, one that will be seen to end or to become another program? */
static inline bool gt_takes_part(void)
{
	int state = gt_state_now();

	return state == GT_READY || state == GT_FORKED;
}

/* Reasons to send every event through the slow path. Atomic bits. */
enum gt_attention {
	GT_ATT_OFF = 1,     /* VT_OFF */
	GT_ATT_CLOCK = 4,   /* the clock is not the one the hot path reads */
	GT_ATT_CLOSING = 8,
	GT_ATT_METRICS = 16, /* counters are read at each enter and leave */
};
extern GT_HIDDEN unsigned gt_attention;
extern GT_HIDDEN GT_TLS bool gt_thread_off; /* this thread alone is switched off */
GT_HIDDEN void gt_attention_set(unsigned bits); /* and takes every thread off the hot path */
GT_HIDDEN void gt_attention_clear(unsigned bits);

extern GT_HIDDEN GT_TLS int gt_depth; /* > 0: inside gputrace's own code */
/* Where gt_guard() was called first; NULL: nowhere. */
extern GT_HIDDEN GT_TLS const char *gt_guard_frame;

/* What the process says of itself: a page of its own in memory before its file is mapped, never NULL. */
extern GT_HIDDEN struct gt_proc_header *gt_proc, gt_proc_early;
extern GT_HIDDEN char gt_proc_folder[1024];   /* absolute path of the process's spool folder */
extern GT_HIDDEN char gt_run_dir[1024];       /* absolute path of the archive directory */
extern GT_HIDDEN struct gt_run_header *gt_run; /* shared by this host's processes; NULL: never joined */
extern GT_HIDDEN struct gt_location *gt_locations; /* in the order of their ids; atomic; none ever goes */
GT_HIDDEN bool gt_is_our_process(void);       /* false in a vfork child */
GT_HIDDEN void gt_memory_reserve(void);       /* before the process confines itself (gt_memory()) */

/* Why a thread has no location; atomic. */
extern GT_HIDDEN unsigned gt_no_location;

/* Before something is counted as lost: a child whose record is in its parent's folder counts it there. */
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
extern GT_HIDDEN struct gt_hot gt_hot_closed; /* the process ended its recording */
extern GT_HIDDEN struct gt_hot gt_hot_lost;   /* no buffer could be had */

/* Slots of a half, stream offsets, in which an interrupted record will still be written. */
struct gt_kept {
	uint64_t from, to; /* to 0: none */
	uint64_t passed;   /* slots that were reserved in this turn, and given up */
	unsigned turns;    /* of the window, until they are used again */
};
#define GT_KEPT_LEAST 8 /* slots that the first may go on for: one reservation's, but for gt_note_length() */

/* A file that the program may close, and put another one in the place of (files.c). */
struct gt_file {
	int fd; /* -1: not open */
	uint64_t dev, ino;
};

struct gt_location {
	struct gt_hot *hot;
	struct gt_win_header *win;
	uint64_t limit;        /* end of the half that is being filled: stream offset */
	uint64_t turn;         /* stream offset of the window's begin, this time around */
	uint64_t half;         /* bytes */
	uint32_t id, kind, flags;
	volatile int busy;     /* the writer is changing halves */
	volatile int attending;/* the writer is looking after GT_ATT_* bits */
	int stopped;           /* 0, or 1 + enum gt_loss: why nothing is recorded any more */
	bool off_marked;       /* an OFF record is the last thing in the stream */
	bool failed;           /* the last attempt to spool failed */
	bool confined;         /* it was not made, because the thread was confined */
	bool mark_set;
	bool in_use;           /* a thread has it, or had when it ended without a word */
	bool end_missing;      /* of the thread before, whose number is `sequence` */
	uint8_t scans_left;    /* looks at the memory map that the next events take */
	uint8_t end_how;       /* enum gt_thread_end, as announced by gt_thread_end */
	uint64_t mark;         /* VT_SET_REWIND_MARK: stream offset */
	uint64_t cut_to;       /* what lies before it was removed, or may have been, by VT_REWIND */
	uint64_t flushes;
	uint64_t nested_marked, space_marked, sandbox_marked; /* of lost[GT_LOSS_...], what GAP has said */
	struct gt_kept kept[2];/* of both halves */
	uint64_t longest;      /* bytes of the longest reservation */
	uint64_t retry;        /* stopped: events until the next attempt, 0: none */
	uint64_t sequence;     /* of the thread that writes, 0: unannounced */
	uint64_t since;        /* when it began to: tick */
	uint64_t attr_from, attr_to; /* the last attributes, and where their event must begin */
	uint64_t created;      /* the last thread this one created, and where the stream says so */
	uint64_t created_from, created_to;
	struct gt_file raw;    /* open while a half is being written; ino 0: not made yet */
	uint32_t *ring_counts; /* events in each half of the ring */
	struct gt_readings readings; /* of the counters that are read at enters and leaves */
	void *callstack;       /* struct gt_callstack of the filter, or NULL */
	struct gt_location *next, *next_free;
};

/* Before so many bytes are reserved in one: who finds it unfinished cannot see how many it were. */
static inline void gt_note_length(struct gt_location *loc, uint64_t bytes)
{
	if (bytes > loc->longest)
		loc->longest = bytes;
}

/* The next record asks the slow path. */
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

/* Has the thread that records here switched itself off? Others record for GPUs' locations. */
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

/* All that was reserved so far has been written. */
static inline void gt_committed(const struct gt_location *loc)
{
	if (loc->flags & GT_LOC_COMMITS)
		/* Pairs with read_half() in live/windows.c. */
		__atomic_store_n(&loc->win->committed, gt_stream_end(loc), __ATOMIC_RELEASE);
}

/* Writes a record into slots of the location that were reserved for it. */
static inline void gt_commit_in(const struct gt_location *loc, struct gt_slot *slot, uint64_t word,
				const uint64_t *data, unsigned extra, uint64_t tick)
{
	gt_commit(slot, word, data, extra, tick);
	gt_committed(loc);
}

/* ---- messages --------------------------------------------------------------------------------------- */

/* The program's stderr, or where it led when the program began if it has closed it. */
GT_HIDDEN void gt_stderr_keep(void);
GT_HIDDEN void gt_stderr_drop(void);
GT_HIDDEN int gt_stderr_open(void); /* to be given back */
GT_HIDDEN void gt_stderr_close(int fd);

/* Tells the user something once per run and kind; GT_WARN_USER: once per process. */
GT_HIDDEN void gt_warn_once(unsigned kind, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum { GT_WARN_SPACE, GT_WARN_THREADS, GT_WARN_DIRECTORY, GT_WARN_LIMIT, GT_WARN_USER, GT_WARN_TOOL,
       GT_WARN_COPY };

/* ---- files that the program may close behind our back ----------------------------------------------- */

/* Moves fd up, out of the program's way, and remembers what it is. Returns 0 or -errno. */
GT_HIDDEN int gt_file_keep(struct gt_file *file, int fd);
/* Moves it to that number or one above it, if there is any. */
#define GT_FILE_HIGH 1000
GT_HIDDEN void gt_file_move(struct gt_file *file, int number);
/* Is the descriptor still ours? Another thread may have closed it and opened something else. */
GT_HIDDEN bool gt_file_valid(const struct gt_file *file);
GT_HIDDEN void gt_file_close(struct gt_file *file); /* if it is ours */
/* Writes everything at `offset`. 0 or -errno. */
GT_HIDDEN int gt_file_pwrite(int fd, const void *data, size_t bytes, uint64_t offset);
/* Makes room in the file, in whole pages, so that no store to a mapping of it can fail. 0 or -errno. */
GT_HIDDEN int gt_file_reserve(int fd, uint64_t offset, uint64_t bytes);

/* The process's spool folder: a descriptor of it that is ours, or -errno. */
GT_HIDDEN int gt_folder(void);
GT_HIDDEN int gt_folder_keep(int fd);
GT_HIDDEN void gt_folder_close(void);
GT_HIDDEN void gt_folder_give_up(void); /* closes it; it may be found again by its path */
GT_HIDDEN struct gt_file gt_folder_forked(void); /* in a child: gives up the parent's, and returns it */
GT_HIDDEN void gt_folder_adopt(const struct gt_file *parents); /* takes it back, to look around there */
/* Why a file in it could not be made, opened or written: a GT_LOSS_...; `memory`, if that was short. */
GT_HIDDEN unsigned gt_folder_loss(int error, unsigned memory);
/* The program may have closed that: finds it again by gt_proc_folder. Is it there? */
GT_HIDDEN bool gt_folder_of_parent(struct gt_file *parents);
/* Opens the file in it that *file names, for its owner alone; file->ino 0: makes it. 0 or -errno. */
GT_HIDDEN int gt_folder_open(const char *name, struct gt_file *file);
GT_HIDDEN size_t gt_page_size(void); /* a mapping begins where a page does; up to 64 KiB on aarch64 */
/* The same as gt_folder_open(), makes room in it, maps that (shared), and closes it again. 0 or -errno. */
GT_HIDDEN int gt_folder_map(const char *name, struct gt_file *file, uint64_t offset, uint64_t bytes,
			    void **memory);
/*
 * Calls the function; if the program has no descriptor left or may not make a file so long (it returns
 * -EMFILE or -EFBIG), once more in a process that shares all memory with this one and has limits and
 * descriptors of its own: stderr, the folder and `other`, at the same numbers, and some free ones. Returns
 * what the function returns. That process has another pid; what the function opens for good is not open here.
 */
GT_HIDDEN int gt_folder_apart(int (*function)(void *), void *argument, int other);

/* ---- journal ---------------------------------------------------------------------------------------- */

struct gt_piece {
	const void *data;
	size_t bytes;
};

extern GT_HIDDEN struct gt_file gt_proc_file; /* the process's header, then its journal */
GT_HIDDEN int gt_journal_open(void);
GT_HIDDEN int gt_journal_copy(int folder, uint64_t bytes); /* a parent's, after fork */
GT_HIDDEN void gt_journal_forget(void);
GT_HIDDEN void gt_journal_make_room(void); /* before the process confines itself: 64 KiB */

/* gt_def_property without asking whether the process records. */
GT_HIDDEN void gt_put_property(const char *key, const char *value);
GT_HIDDEN void gt_put_settings(void); /* "setting:<name>", each */
/* Appends one definition made of pieces. Returns 0 or a negative errno. */
GT_HIDDEN int gt_journal_put(unsigned type, uint32_t id, const struct gt_piece *pieces, unsigned n);
GT_HIDDEN int gt_journal_put_locked(unsigned type, uint32_t id, const struct gt_piece *pieces,
				    unsigned n);

/* ---- adapters --------------------------------------------------------------------------------------- */

/* What the adapters are told (adapters.c); and puts the names of new ones among the properties. */
GT_HIDDEN void gt_adapters_list(void);
GT_HIDDEN bool gt_adapters_have(const char *name);
GT_HIDDEN void gt_adapters_forked(void);
GT_HIDDEN void gt_adapters_fork_returns(void);
GT_HIDDEN void gt_adapters_end(int how); /* enum gt_end_how */
GT_HIDDEN void gt_adapters_end_silently(int how); /* those that record nothing then */
GT_HIDDEN bool gt_adapters_record_end(void); /* may any of them record something then? */
GT_HIDDEN void gt_adapters_threads(bool on);
GT_HIDDEN void gt_adapters_thread(bool begins); /* the calling one is recorded from now on, or no longer */
/* One of the program's threads is about to be gone. */
GT_HIDDEN void gt_adapters_thread_ends(void);
extern GT_HIDDEN bool gt_jumps_matter;      /* an adapter wants to know of them */
GT_HIDDEN void gt_jumps(const void *stack); /* before a jump to that stack pointer */

/* ---- clock ------------------------------------------------------------------------------------------ */

extern GT_HIDDEN uint32_t gt_clock_kind; /* enum gt_clock_kind */
/* A moment on both clocks, before the process knows which is its own. */
struct gt_moment {
	uint64_t tick;
	int64_t mono_ns;
};
GT_HIDDEN void gt_clock_now(struct gt_moment *moment);
/* Chooses, when it has joined the run; returns that moment as a tick. */
GT_HIDDEN uint64_t gt_clock_setup(const struct gt_moment *begin);
GT_HIDDEN uint64_t gt_clock_read(void);
GT_HIDDEN void gt_clock_forbid(void); /* the counter is not read any more */
GT_HIDDEN void gt_clock_calibrate(struct gt_calib *calib);
GT_HIDDEN void gt_clock_begin(void); /* gt_proc->first */
/* Checks the counter with the kernel's clocks; and keeps gt_proc->last young. */
GT_HIDDEN void gt_clock_check(void);
GT_HIDDEN void gt_clock_note(void);

/* ---- what the scheduler did ------------------------------------------------------------------------- */

/* Reads where a thread of this process stands. False: it is not known; `to` has the time in any case. */
GT_HIDDEN bool gt_states_read(uint32_t tid, struct gt_sched *to);
/* A thread began there. */
GT_HIDDEN void gt_states_begin(struct gt_states *states, const struct gt_sched *now, bool known);
/* The same of one that had been given nothing at that time (gt_monotonic()). */
GT_HIDDEN void gt_states_born(struct gt_states *states, uint64_t at);
/* A thread of this number is about to be created; when that was, for who begins as it; 0: it is not known. */
GT_HIDDEN void gt_states_created(uint64_t thread);
GT_HIDDEN uint64_t gt_states_creation(uint64_t thread);
/* Reads again what it has been given, for the last time if it ends. */
GT_HIDDEN void gt_states_note(struct gt_states *states, uint32_t tid, bool ends);
/* Another thread will take its place: adds it to the sums. */
GT_HIDDEN void gt_states_next(struct gt_states *states);
/* gt_states_note() of the thread that a location is of. */
GT_HIDDEN void gt_location_states(struct gt_location *loc, bool ends);
GT_HIDDEN void gt_location_spooled(struct gt_location *loc); /* the same, now and then */
/* Limits of processor time of the groups that the process is in, as it begins and ends (gt_proc->quotas). */
GT_HIDDEN void gt_quotas_begin(void);
GT_HIDDEN void gt_quotas_end(void);

/* ---- memory map ------------------------------------------------------------------------------------- */

struct gt_module_range {
	uint64_t start, end, offset;
	const char *path;
	bool shared;
};

GT_HIDDEN bool gt_modules_scan(void); /* true: found something new */
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
/* Or would a launcher kill this process, which is about to end, for waiting? */
GT_HIDDEN bool gt_may_wait(void);

/* `parent`: the spool folder of the process that this one was forked from, or NULL. */
GT_HIDDEN int gt_run_join(const char *program, const struct gt_file *parent, uint32_t *seq, char *why,
			  size_t why_size);
/*
 * This process cannot record after all, for that error: what it had begun to write goes, it is counted,
 * and it leaves, so that nobody waits for it. Nothing happens if it has not joined.
 */
GT_HIDDEN void gt_run_withdraw(int error);
GT_HIDDEN bool gt_run_withdrawn(void);
GT_HIDDEN void gt_run_forked_absent(void); /* in a child: counts it if its parent has withdrawn */
/* Counts n processes of the run that cannot be recorded: enum gt_absent, or by the error. */
GT_HIDDEN void gt_run_absent(unsigned cause, int n);
GT_HIDDEN unsigned gt_absent_cause(int error);
GT_HIDDEN void gt_run_waiting(int n); /* a forked child begins or ends to have recorded nothing */
/* Would a program that this process starts be missing from the trace? An enum gt_absent, -1: no. */
GT_HIDDEN int gt_next_absent(void);
GT_HIDDEN void gt_run_leave(void);  /* and assemble, if this was the last process */

/* ---- buffer ----------------------------------------------------------------------------------------- */

/*
 * The slow half of a reservation of `slots` slots that began at `address` of `hot` and did not fit
 * below its limit. Returns the first slot, or NULL: the event is dropped and accounted for, or there is no
 * location. *tick is raised to the lowest time that is valid for the slot.
 */
GT_HIDDEN struct gt_slot *gt_reserve_in(struct gt_hot *hot, uint64_t address, unsigned slots, uint64_t *tick);

/*
 * The same for the record, or the records that end with it, of an enter or leave: the counters that are to be
 * read there are read, and their records put before it. `now`: *tick is set to when that was.
 */
GT_HIDDEN struct gt_slot *gt_reserve_event_in(struct gt_hot *hot, uint64_t address, unsigned slots,
					      uint64_t *tick, bool now);

/*
 * The quick half of it for `slots` slots that were reserved at `address` of the calling thread's `hot`, where
 * nothing but its counters keeps the hot path from writing them. With `now`, *tick may be 0. NULL: nothing
 * was done, and the slow one is to be asked.
 */
GT_HIDDEN struct gt_slot *gt_reserve_counted(struct gt_hot *hot, uint64_t address, unsigned slots,
					     uint64_t *tick, bool now);

/* Writes a record that is rare into a location that is there. */
GT_HIDDEN void gt_write_in(struct gt_location *loc, uint64_t word, const uint64_t *data, unsigned extra,
			   uint64_t tick);

GT_HIDDEN void gt_buffers_forked(void); /* in a forked child */
/* Takes back the records in [from, to) of the calling thread's stream, the last that there are. */
GT_HIDDEN void gt_take_back(struct gt_location *loc, uint64_t from, uint64_t to);

/* Spools what the calling thread has in its window without waiting for it to fill up. */
GT_HIDDEN void gt_spool_now(struct gt_location *loc);

/* ---- locations -------------------------------------------------------------------------------------- */

/*
 * Gives the calling thread a location, of a thread that has ended or a new one; or returns one of gt_hot_*.
 */
GT_HIDDEN struct gt_hot *gt_location_attach(void);
GT_HIDDEN void gt_location_announced(struct gt_location *loc); /* it is known now who the thread is */
extern GT_HIDDEN GT_TLS uint64_t gt_announced; /* sequence number of a thread that is about to attach, or 0 */
GT_HIDDEN struct gt_location *gt_location_make(const struct gt_location_info *info, gt_ref name);
GT_HIDDEN void gt_locations_setup(void);
GT_HIDDEN void gt_locations_states(void); /* notes what the scheduler did with each thread */
GT_HIDDEN void gt_locations_forget(void); /* in a forked child */

/* ---- process ---------------------------------------------------------------------------------------- */

/* Sets up if that was not done yet. Returns true if the process records. */
GT_HIDDEN bool gt_start(void);
GT_HIDDEN int gt_state_begun(void); /* the state, after gt_start() if nothing has happened yet */
GT_HIDDEN void gt_child_executes(bool begins); /* for a child that has recorded nothing yet */
GT_HIDDEN bool gt_child_ends(int how, int status); /* the same; false: it must be recorded as any process */
/* What `gputrace run` would have preloaded a library for, if the program has it not. */
GT_HIDDEN void gt_complain_of_start(void);
GT_HIDDEN void gt_fork_handlers(void); /* registers ours, once */
GT_HIDDEN void gt_forked_raw(void);    /* in a child of what runs no handlers */
GT_HIDDEN bool gt_fork_unmarked(void); /* are we such a child, and gt_forked_raw() has not been called yet? */
GT_HIDDEN void gt_fork_returns(void);  /* in a child of fork(), when all handlers have run */

/* ---- channels of messages (define.c) ---------------------------------------------------------------- */

/* The channels that this process has defined, by what they are; twice as many places as there can be. */
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

/* Its id; GT_NONE: *place is where it would be. */
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

/* The same two of buffer.c for the calling thread, which gets a location if it has none: *hot changes. */
GT_HIDDEN struct gt_slot *gt_reserve_slow(struct gt_hot **hot, uint64_t address, unsigned slots,
					  uint64_t *tick);
GT_HIDDEN struct gt_slot *gt_reserve_event(struct gt_hot **hot, uint64_t address, unsigned slots,
					   uint64_t *tick, bool now);

/* Writes a record with continuation slots into `hot` (NULL: the calling thread's). */
GT_HIDDEN void gt_write(struct gt_hot *hot, uint64_t word, const uint64_t *data, unsigned extra,
			uint64_t tick);

/* The same for an enter or leave of the calling thread, as gt_reserve_event(). */
GT_HIDDEN void gt_write_event(uint64_t word, const uint64_t *data, unsigned extra, uint64_t tick);

/* ---- end -------------------------------------------------------------------------------------------- */

GT_HIDDEN void gt_finish(int how, int status);
GT_HIDDEN void gt_note_quick_exit(int status); /* what gt_finish() shall say then */
GT_HIDDEN void gt_exec_begin(const char *path);
GT_HIDDEN void gt_exec_failed(void);
/* Before the program becomes another user, (uid_t)-1: stays who it is; before it changes its root. */
GT_HIDDEN void gt_user_changes(uid_t user);
GT_HIDDEN void gt_root_changes(void);
GT_HIDDEN void gt_thread_user_changes(uid_t user); /* of the calling thread alone */
/* Before the calling thread restricts itself by that Landlock ruleset. */
GT_HIDDEN void gt_landlock_restricts(int ruleset);
/* Before it makes a user namespace of its own, as sandboxes do. */
GT_HIDDEN void gt_namespace_changes(void);
GT_HIDDEN void gt_namespace_changed(void); /* or not */
/* Before it forbids the processor's counter to itself (PR_SET_TSC). */
GT_HIDDEN void gt_counter_forbidden(void);
/* Before the program confines itself by a seccomp filter, and when that has failed. */
GT_HIDDEN void gt_confine(bool confined);
/*
 * A child that shares our memory (vfork) has confined itself, but not us, once more or less. Before it is
 * gone, by exec or its end, it says so: who then asks gt_confined_here() is the parent. It takes that back if
 * it has failed.
 */
GT_HIDDEN void gt_confined_child(int more);
GT_HIDDEN void gt_confined_leaves(bool leaves);

#endif

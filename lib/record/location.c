/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locations: making them, and handing them from threads that ended to threads that begin.
 *
 * Limits: memory comes from mmap and is never given back; a location's window lives as long as the
 * process.
 */
#include "gputrace/accel.h"
#include "gputrace/thread.h"
#include "lib/common/text.h"
#include "lib/record/callstack.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

GT_HIDDEN GT_TLS uint64_t gt_announced;

static struct gt_lock *const lock = &gt_locks[GT_LOCK_LOCATIONS];
static uint32_t made;
static struct gt_location **last = &gt_locations; /* where the next one is noted */
static struct gt_location *free_list;
static struct gt_location *long_list; /* free, too, but their last thread lived for long */
static struct gt_location *mains; /* kept for the main thread, which has recorded nothing yet, or NULL */

/*
 * A thread that lives for longer than a second is one by itself in pictures and tables, with a name: its
 * location is not continued by another one, unless there are many.
 */
#define SEPARATE 64u
static uint64_t long_life(void)
{
	return gt_proc->nominal_hz ? gt_proc->nominal_hz : UINT64_C(1) << 30; /* of 1 GHz or more */
}

static uint64_t window_bytes;
static pthread_key_t key;
static bool have_key;

#define CHUNK 16384u
struct arena {
	char *at, *end;
	int advice;
};
static struct arena hots = { .advice = MADV_WIPEONFORK }, plain;

/* Zeroed memory, aligned to 64 bytes; NULL on failure. Under the lock. */
static void *arena_take(struct arena *arena, size_t bytes)
{
	bytes = (bytes + 63) / 64 * 64;
	if ((size_t)(arena->end - arena->at) < bytes) {
		size_t size = bytes > CHUNK ? bytes : CHUNK;
		char *chunk = gt_sys_memory(size);

		if (!chunk)
			return NULL;
		if (arena->advice)
			gt_sys_madvise(chunk, size, arena->advice);
		arena->at = chunk;
		arena->end = chunk + size;
	}
	arena->at += bytes;
	return arena->at - bytes;
}

/* VT_MAX_THREADS, and as many streams again. */
static uint32_t most_locations(void)
{
	return (uint32_t)gt_settings.max_threads * 2;
}

static void put_free(struct gt_location *loc)
{
	struct gt_location **list;

	loc->in_use = false;
	loc->mark_set = false;
	if (!gt_settings.thread_reuse || !loc->id || loc->stopped)
		return;
	list = gt_clock_read() - loc->since > long_life() ? &long_list : &free_list;
	loc->next_free = *list;
	*list = loc;
}

/* Under the lock. One that has ended, for a thread that begins; NULL: there is none for it. */
static struct gt_location *take_free(void)
{
	bool many = made >= SEPARATE || made >= (uint32_t)gt_settings.max_threads || gt_sys_refused();
	struct gt_location **list = free_list ? &free_list : many ? &long_list : NULL;
	struct gt_location *loc = list ? *list : NULL;

	if (!loc)
		return NULL;
	*list = loc->next_free;
	if (list == &long_list)
		loc->win->flags |= GT_LOC_MIXED;
	return loc;
}

static void record_end(struct gt_location *loc)
{
	gt_write_in(loc, GT_WORDX(GT_T_THREAD_END, 1, 0), (uint64_t[2]){ loc->sequence, loc->end_how }, 1,
		    gt_clock_read());
}

void gt_locations_states(void)
{
	uint64_t mask = gt_lock(lock);

	gt_states_note(&gt_proc->states, (uint32_t)gt_pid, false);
	for (struct gt_location *loc = gt_locations; loc && mask != GT_LOCK_REFUSED; loc = loc->next)
		if (loc->in_use && loc->kind == GT_LOC_THREAD && loc->win->tid != (uint32_t)gt_pid)
			gt_location_states(loc, false);
	gt_unlock(lock, mask);
}

static void release(void)
{
	struct gt_location *loc = gt_self->loc;
	uint64_t mask;

	if (!loc || gt_state_now() != GT_READY) {
		gt_self = &gt_hot_gone;
		return;
	}
	gt_adapters_thread(false);
	gt_thread_off = false; /* its end is recorded in any case */
	if (loc->id || loc->sequence)
		record_end(loc);
	gt_metrics_close(loc);
	mask = gt_lock(lock);
	gt_location_states(loc, true); /* who reads those of all threads has the lock, too */
	gt_self = &gt_hot_gone;
	if (mask != GT_LOCK_REFUSED)
		put_free(loc);
	gt_unlock(lock, mask);
}

/*
 * The thread's last destructor: asks to be called again until the last round that the C library
 * grants, so that other destructors' events are still recorded.
 */
static void thread_exit(void *value)
{
	uintptr_t round = (uintptr_t)value;

	if (round < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    !pthread_setspecific(key, (void *)(round + 1)))
		return;
	release();
	gt_adapters_thread_ends();
}

void gt_locations_setup(void)
{
	if (!have_key && !pthread_key_create(&key, thread_exit)) {
		/* The first 32 keys live in the thread itself; later ones would call malloc. */
		have_key = key < 32;
		if (!have_key)
			pthread_key_delete(key);
	}
}

/* Linux's own limit of what may be locked. */
#define USUAL_LOCK (UINT64_C(8) << 20)

/*
 * What the windows may take together: VT_BUFFER_SIZE, but a small part only of what the program may map.
 * If it calls mlockall() all that is mapped has to fit into what it may lock; less than a MiB is too
 * little for any program.
 */
static uint64_t choose_budget(void)
{
	uint64_t locked = gt_sys_limit(RLIMIT_MEMLOCK);
	uint64_t map = gt_sys_limit(RLIMIT_AS) / 32;
	uint64_t budget = gt_settings.buffer_size;

	if (locked >= USUAL_LOCK / 8 && locked < USUAL_LOCK && locked / 2 < budget)
		budget = locked / 2;
	return map < budget ? map : budget;
}

/* Half a window: large for few threads, small for many, within the budget in all. */
static uint64_t choose_half(void)
{
	uint64_t budget = choose_budget();
	uint64_t half = gt_settings.thread_buffer_size / 2;

	if (!half) {
		half = budget / 64; /* 256 KiB of 16 MiB */
		while (half > GT_PAGE && window_bytes + 16 * half > budget)
			half /= 2;
	}
	if (half < GT_PAGE)
		half = GT_PAGE;
	if (half > 64u << 20)
		half = 64u << 20;
	return UINT64_C(1) << (63 - __builtin_clzll(half));
}

static uint64_t ring_size(uint64_t half)
{
	uint64_t halves = 16;

	if (gt_settings.buffer_policy != GT_POLICY_RING)
		return 0;
	if (gt_settings.max_flushes)
		halves = (uint64_t)gt_settings.max_flushes;
	else if (gt_settings.max_bytes)
		halves = gt_settings.max_bytes / half;
	return (halves ? halves : 1) * half;
}

/*
 * What is packed is written when the stage is full: in pieces for which the kernel takes its large pages.
 * Where there are so many threads that windows are small, these have none. Rings are not packed.
 */
static uint64_t stage_size(uint64_t half)
{
	return half > GT_PAGE && gt_settings.buffer_policy != GT_POLICY_RING ? half / 2 : 0;
}

static uint64_t file_size(uint64_t half)
{
	return GT_PAGE + 2 * half + stage_size(half);
}

static void drop_window(struct gt_location *loc)
{
	char name[24];

	gt_text(name, sizeof(name), "l%u.win", loc->id);
	gt_sys_unlinkat(gt_folder(), name, 0);
	gt_sys_munmap(loc->win, file_size(loc->half));
	loc->win = NULL;
}

/* Makes, reserves and maps the window file. Reserved space means that no store can fail later. */
static int map_window(void *location)
{
	struct gt_location *loc = location;
	uint64_t bytes = file_size(loc->half);
	struct gt_file file = { .fd = -1 };
	void *memory = NULL;
	char name[24];
	int rc;

	gt_text(name, sizeof(name), "l%u.win", loc->id);
	rc = gt_folder_map(name, &file, 0, bytes, &memory);
	if (!rc)
		loc->win = memory;
	return rc;
}

static void fill_window(struct gt_location *loc, uint64_t tick)
{
	struct gt_win_header *win = loc->win;

	win->version = GT_FORMAT_VERSION;
	win->header_bytes = GT_PAGE;
	win->half_bytes = (uint32_t)loc->half;
	win->id = loc->id;
	win->kind = loc->kind;
	win->begin = tick;
	win->ring_bytes = ring_size(loc->half);
	win->stage_bytes = (uint32_t)stage_size(loc->half);
	win->flags = loc->flags | (win->ring_bytes ? 0 : GT_LOC_PACKED);
	win->half_base[0] = 0;
	win->half_tick[0] = tick;
	win->half_base[1] = UINT64_MAX;
	win->committed = loc->flags & GT_LOC_COMMITS ? 0 : UINT64_MAX;
	__atomic_store_n(&win->magic, GT_MAGIC_WIN, __ATOMIC_RELEASE);
}

static struct gt_location *spare; /* of an attempt that has failed */

static struct gt_location *take_location(void)
{
	if (!spare)
		spare = arena_take(&plain, sizeof(*spare));
	if (spare && !spare->hot)
		spare->hot = arena_take(&hots, sizeof(*spare->hot));
	return spare && spare->hot ? spare : NULL;
}

/* Under the lock. Returns NULL, counted, when there is no room for one more. */
static struct gt_location *make(uint32_t kind, uint32_t flags, gt_ref name, uint32_t group,
				uint64_t adapter_key)
{
	struct gt_location *loc;
	struct gt_def_location def = { name, kind, group, flags, gt_clock_read(), adapter_key };
	int rc = -ENOMEM;

	if (made >= most_locations() ||
	    (kind == GT_LOC_THREAD && made >= (uint32_t)gt_settings.max_threads)) {
		gt_warn_once(GT_WARN_THREADS, "more than %lu threads (VT_MAX_THREADS): the others "
			     "are not recorded", (unsigned long)gt_settings.max_threads);
		goto lost;
	}
	loc = take_location();
	if (!loc)
		goto lost;
	loc->id = made;
	loc->kind = kind;
	loc->flags = flags;
	loc->raw.fd = -1;
	loc->half = choose_half();
	do {
		rc = gt_folder_apart(map_window, loc, -1);
	} while ((rc == -ENOMEM || rc == -EAGAIN) && (loc->half /= 2) >= GT_PAGE);
	if (rc) {
		__atomic_store_n(&gt_no_location, gt_folder_loss(rc, GT_LOSS_NO_LOCATION), __ATOMIC_RELAXED);
		goto lost;
	}
	fill_window(loc, def.tick);
	if (loc->win->ring_bytes) {
		loc->ring_counts = arena_take(&plain, loc->win->ring_bytes / loc->half *
							      sizeof(*loc->ring_counts));
		if (!loc->ring_counts) {
			loc->win->ring_bytes = 0;
			loc->win->flags |= GT_LOC_PACKED;
		}
	}
	rc = gt_journal_put(GT_D_LOCATION, loc->id, &(struct gt_piece){ &def, sizeof(def) }, 1);
	if (rc) {
		drop_window(loc);
		goto lost;
	}
	spare = NULL;
	window_bytes += file_size(loc->half) - GT_PAGE;
	loc->limit = loc->half;
	loc->hot->base = (unsigned char *)loc->win + GT_PAGE;
	loc->hot->mask = 2 * loc->half - 1;
	loc->hot->cur = (uint64_t)(uintptr_t)loc->hot->base;
	loc->hot->loc = loc;
	__atomic_store_n(&loc->hot->limit, loc->hot->cur + loc->half, __ATOMIC_RELAXED);
	__atomic_store_n(last, loc, __ATOMIC_RELEASE);
	last = &loc->next;
	made++;
	/* Pairs with gt_attention_set: either it finds us in the list, or we see its bit. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&gt_attention, __ATOMIC_RELAXED))
		gt_hot_stop(loc->hot);
	__atomic_store_n(&gt_proc->locations, made, __ATOMIC_RELAXED);
	return loc;
lost:
	if (rc != -ENOMEM && gt_state_now() == GT_READY)
		gt_warn_once(GT_WARN_SPACE, "cannot make an event buffer in %s: %s", gt_proc_folder,
			     gt_text_errno(rc));
	return NULL;
}

/*
 * Threads that ended without a word: their first event came out of the last round of destructors, or they
 * ended by a system call. Looked for when as many have come as there are locations for half of them.
 */
static void find_ended(void)
{
	static uint32_t since;

	if (++since < (made + 1) / 2)
		return;
	since = 0;
	for (struct gt_location *loc = gt_locations; loc; loc = loc->next) {
		if (!loc->id || !loc->in_use || loc->kind != GT_LOC_THREAD ||
		    GT_SYS3(SYS_tgkill, gt_pid, loc->win->tid, 0) != -ESRCH)
			continue;
		loc->end_missing = true;
		put_free(loc);
	}
}

/*
 * The first location is the main thread's. A process that records nothing has none, as its file costs more
 * than all that such a process does; so who comes before the main thread leaves a place for it.
 */
static void keep_first(void)
{
	if (made || gt_sys_refused())
		return;
	mains = make(GT_LOC_THREAD, 0, GT_NONE, 0, 0);
	if (!mains)
		return;
	mains->in_use = true;
	mains->win->tid = (uint32_t)gt_pid;
}

static struct gt_location *take_or_make(uint32_t tid)
{
	struct gt_location *loc;

	if (tid == (uint32_t)gt_pid && mains) {
		loc = mains;
		mains = NULL;
		return loc;
	}
	if (tid != (uint32_t)gt_pid)
		keep_first();
	if (!free_list)
		find_ended();
	loc = take_free();
	return loc ? loc : make(GT_LOC_THREAD, 0, GT_NONE, 0, 0);
}

static struct gt_hot *attach_locked(void)
{
	/* In a vfork child we are the thread that waits for it. */
	uint32_t tid = (uint32_t)(gt_is_our_process() ? gt_sys_gettid() : gt_pid);
	struct gt_location *loc = take_or_make(tid);

	if (!loc) {
		gt_self = &gt_hot_lost;
		return gt_self;
	}
	loc->in_use = true;
	loc->since = gt_clock_read();
	loc->win->tid = tid;
	loc->win->incarnation++;
	gt_states_next(&loc->win->states);
	if (loc->callstack)
		gt_callstack_reset(loc->callstack);
	else if (gt_verdicts.mode & GT_VERDICT_TRACK)
		loc->callstack = gt_callstack_new();
	gt_self = loc->hot;
	return gt_self;
}

/* The thread before, if that did not say so, has ended, and this one begins. */
static void record_begin(struct gt_location *loc)
{
	if (loc->end_missing)
		record_end(loc);
	loc->end_missing = false;
	loc->sequence = gt_announced;
	loc->end_how = GT_THREAD_END_UNKNOWN;
	if (loc->id || gt_announced) /* the main thread begins with the program */
		gt_write_in(loc, GT_WORDX(GT_T_THREAD_BEGIN, 1, 0),
			    (uint64_t[2]){ gt_announced, loc->win->tid }, 1, gt_clock_read());
}

void gt_location_announced(struct gt_location *loc)
{
	if (loc->sequence != gt_announced)
		record_begin(loc);
}

/* The main thread's are with the process. */
static void begin_states(struct gt_win_header *win)
{
	uint64_t created = gt_states_creation(gt_announced);
	struct gt_sched now;
	bool known;

	if (win->tid == (uint32_t)gt_pid)
		return;
	if (created) {
		gt_states_born(&win->states, created);
		return;
	}
	known = gt_states_read(win->tid, &now);
	gt_states_begin(&win->states, &now, known);
}

struct gt_hot *gt_location_attach(void)
{
	uint64_t mask = gt_lock(lock);
	struct gt_hot *hot;
	bool others;

	if (mask == GT_LOCK_REFUSED) { /* gt_sys_refused() will say so at the next event */
		gt_count_lost(GT_LOSS_SANDBOX, 1);
		return &gt_hot_new;
	}
	/* A handler's that has come between: it has attached us, and recorded our begin. */
	others = gt_self->loc;
	hot = others ? gt_self : attach_locked();
	gt_unlock(lock, mask);
	if (others)
		return hot;
	if (!hot->loc) {
		gt_count_lost(__atomic_load_n(&gt_no_location, __ATOMIC_RELAXED), 1);
		return hot;
	}
	if (have_key)
		pthread_setspecific(key, (void *)1);
	begin_states(hot->loc->win);
	record_begin(hot->loc);
	gt_adapters_thread(true);
	if (__atomic_load_n(&gt_modules_dirty, __ATOMIC_RELAXED))
		gt_modules_scan();
	return hot;
}

void gt_thread_end(unsigned how)
{
	struct gt_location *loc = gt_self->loc;

	if (loc)
		loc->end_how = (uint8_t)how; /* written by the last destructor */
	if (loc && !have_key)
		release();
}

struct gt_location *gt_location_make(const struct gt_location_info *info, gt_ref name)
{
	uint64_t mask = gt_lock(lock);
	struct gt_location *loc;

	if (mask == GT_LOCK_REFUSED)
		return NULL;
	keep_first();
	loc = make(info->kind, info->flags, name, info->group, info->key);
	gt_unlock(lock, mask);
	if (!loc)
		gt_count_lost(GT_LOSS_NO_LOCATION, 1);
	return loc;
}

void gt_locations_forget(void)
{
	/* The windows belong to the parent; unmap them, so that nothing here can write to them. */
	for (struct gt_location *loc = gt_locations; loc; loc = loc->next) {
		gt_file_close(&loc->raw);
		gt_sys_munmap(loc->win, file_size(loc->half));
	}
	made = 0;
	gt_locations = NULL;
	last = &gt_locations;
	free_list = NULL;
	long_list = NULL;
	mains = NULL;
	window_bytes = 0;
	hots.at = hots.end = NULL;
	spare = NULL;
	gt_self = &gt_hot_new;
	gt_announced = 0;
}

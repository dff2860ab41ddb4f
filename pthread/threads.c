/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of threads: blocks that carry a start routine into a new thread, the table that tells
 * which thread a pthread_t is, the last moment of a thread, names.
 *
 * Limits: a fixed number of threads can be on their way at once (BLOCKS); one more is not announced
 * and is found by the core at its first event. The largest table holds TABLE threads that were not joined;
 * beyond it the oldest is forgotten and its join is a region only. Threads that a runtime starts outside of
 * its calls are known by the name of its library (GT_OWN_THREADS), with a C library from 2.35 on. A join of
 * such a thread that has not begun yet is recorded.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gputrace/syscall.h"
#include "gputrace/thread.h"
#include "pthread/events.h"

#define BLOCKS 4096u /* multiple of 64 */
#define FEW    256u  /* blocks that are there from the start; multiple of 64 */
#define TABLE  65536u
#define TABLES 3u
#define PROBES 16u

/* A bit in `taken` is owned by whoever set it. */
static struct gt_pt_start few_blocks[FEW], *more_blocks;
static uint64_t taken[BLOCKS / 64];
static uint32_t next_word;

/*
 * Key is the pthread_t, 0 for a free slot, BUSY while it is being filled. A thread's slot lies
 * within PROBES of its hash, so that removing one needs no mark.
 */
#define BUSY     ((uintptr_t)1)
#define DETACHED 1u
#define ENDED    2u
#define QUIET    4u /* a runtime's own: of no interest to the program */
#define FLAGS    8u /* the flags make up a number below this; the generation is a multiple of it */
struct slot {
	uintptr_t key;
	uint64_t sequence;
	uint32_t tid;
	uint32_t flags; /* and the generation in which it was made */
};
/* Entries that do not fit into one table go to the next, which is then mapped. */
static struct slot first_table[TABLE >> 7];
static struct slot *tables[TABLES] = { first_table };
static const uint32_t places[TABLES] = { TABLE >> 7, TABLE >> 4, TABLE };
static uint64_t newest;     /* sequence */
static uint32_t generation; /* grows in a forked child: the threads in the table are not there */

static pthread_t main_thread;
static uint32_t main_tid;
static pthread_key_t key;
static bool have_key;

/* The memory that the pointer at `part` means, mapped by whoever comes first; NULL: there is none. */
static void *part_of(void *part, size_t bytes)
{
	void **at = part, *there = __atomic_load_n(at, __ATOMIC_ACQUIRE), *mine;

	if (there || gt_is_confined())
		return there;
	mine = gt_memory(bytes);
	if (mine &&
	    !__atomic_compare_exchange_n(at, &there, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		gt_memory_free(mine, bytes);
		mine = there;
	}
	return mine;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static void give_place(uint32_t i)
{
	/* Pairs with take_block(). */
	__atomic_fetch_and(&taken[i / 64], ~(UINT64_C(1) << i % 64), __ATOMIC_RELEASE);
}

/* The block of a place that is taken; without memory there is none, and the place is free again. */
static struct gt_pt_start *block_at(uint32_t i)
{
	struct gt_pt_start *more;

	if (i < FEW)
		return &few_blocks[i];
	more = part_of(&more_blocks, (BLOCKS - FEW) * sizeof(*more));
	if (!more)
		give_place(i);
	return more ? &more[i - FEW] : NULL;
}

static struct gt_pt_start *take_block(void)
{
	uint32_t first = __atomic_load_n(&next_word, __ATOMIC_RELAXED);

	for (uint32_t n = 0; n < BLOCKS / 64; n++) {
		uint32_t w = (first + n) % (BLOCKS / 64);
		uint64_t free_bits = ~__atomic_load_n(&taken[w], __ATOMIC_RELAXED);

		while (free_bits) {
			uint64_t bit = free_bits & -free_bits;

			/* Pairs with the release in give_place(). */
			if (!(__atomic_fetch_or(&taken[w], bit, __ATOMIC_ACQUIRE) & bit)) {
				__atomic_store_n(&next_word, w, __ATOMIC_RELAXED);
				return block_at(w * 64 + (uint32_t)__builtin_ctzll(bit));
			}
			free_bits &= ~bit;
		}
	}
	return NULL;
}

static void give_block(struct gt_pt_start *block)
{
	bool few = block >= few_blocks && block < few_blocks + FEW;

	give_place(few ? (uint32_t)(block - few_blocks) : FEW + (uint32_t)(block - more_blocks));
}

/* ---- table ----------------------------------------------------------------------------------------- */

static struct slot *probe(uint32_t table, uintptr_t thread, uint32_t i)
{
	uint64_t hash = gt_hash_word((uint64_t)thread) >> 32;

	return &tables[table][(hash + i) % places[table]];
}

/* The slot of a thread, or NULL. */
static struct slot *lookup(uintptr_t thread)
{
	for (uint32_t n = 0; n < TABLES && __atomic_load_n(&tables[n], __ATOMIC_ACQUIRE); n++) {
		for (uint32_t i = 0; i < PROBES; i++) {
			struct slot *s = probe(n, thread, i);

			/* Pairs with the release in insert(); in one order with the setting of names. */
			if (__atomic_load_n(&s->key, __ATOMIC_SEQ_CST) == thread)
				return s;
		}
	}
	return NULL;
}

static void clear(struct slot *s, uintptr_t thread)
{
	/* Pairs with find_free() and claim(). */
	__atomic_compare_exchange_n(&s->key, &thread, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* A free slot for the thread in that table, or NULL and the oldest that could have been it. */
static struct slot *find_free(uint32_t table, uintptr_t thread, struct slot **oldest)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct slot *s = probe(table, thread, i);
		uintptr_t expected = 0;

		if (__atomic_compare_exchange_n(&s->key, &expected, BUSY, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return s;
		if (expected != BUSY &&
		    (!*oldest || __atomic_load_n(&s->sequence, __ATOMIC_RELAXED) <
					 __atomic_load_n(&(*oldest)->sequence, __ATOMIC_RELAXED)))
			*oldest = s;
	}
	return NULL;
}

/* Claims a slot: that of an earlier thread with the same pthread_t, a free one, or the oldest. */
static struct slot *claim(uintptr_t thread)
{
	struct slot *oldest = NULL, *s;
	uintptr_t expected;

	s = lookup(thread);
	expected = thread;
	if (s && __atomic_compare_exchange_n(&s->key, &expected, BUSY, false, __ATOMIC_ACQUIRE,
					     __ATOMIC_RELAXED))
		return s;
	for (uint32_t n = 0; n < TABLES && part_of(&tables[n], places[n] * sizeof(*s)); n++) {
		s = find_free(n, thread, &oldest);
		if (s)
			return s;
	}
	if (!oldest)
		return NULL;
	expected = __atomic_load_n(&oldest->key, __ATOMIC_RELAXED);
	if (expected == BUSY ||
	    !__atomic_compare_exchange_n(&oldest->key, &expected, BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return NULL;
	return oldest;
}

static void insert(uintptr_t thread, uint64_t sequence, uint32_t tid, uint32_t flags)
{
	struct slot *s = claim(thread);

	if (!s)
		return;
	__atomic_store_n(&s->sequence, sequence, __ATOMIC_RELAXED);
	__atomic_store_n(&s->tid, tid, __ATOMIC_RELAXED);
	__atomic_store_n(&s->flags, generation | flags, __ATOMIC_RELAXED);
	/* Sequentially consistent: against the name, see gt_pt_thread_named(). */
	__atomic_store_n(&s->key, thread, __ATOMIC_SEQ_CST);
}

static void add_flag(uintptr_t thread, uint32_t flag)
{
	struct slot *s = lookup(thread);
	uint32_t before;

	if (!s)
		return;
	before = __atomic_fetch_or(&s->flags, flag, __ATOMIC_ACQ_REL);
	/* Nobody can join it any more. */
	if (((before | flag) & (DETACHED | ENDED)) == (DETACHED | ENDED) || before & QUIET)
		clear(s, thread);
}

/*
 * What is known of a thread. An entry may be left over from an earlier thread with the same pthread_t:
 * one that was detached before it began, or joined where we do not see it. That one has ended.
 */
struct gt_pt_target gt_pt_join_begin(pthread_t thread)
{
	struct gt_pt_target target = { .thread = thread,
				       .newest = __atomic_load_n(&newest, __ATOMIC_RELAXED) };
	struct slot *s = lookup((uintptr_t)thread);
	uint32_t flags = s ? __atomic_load_n(&s->flags, __ATOMIC_ACQUIRE) : 0;

	if (s && flags / FLAGS * FLAGS == generation) {
		target.sequence = __atomic_load_n(&s->sequence, __ATOMIC_RELAXED);
		target.ended = flags & ENDED;
		target.quiet = flags & QUIET;
	}
	return target;
}

bool gt_pt_enter_for(enum gt_pt_region region, pthread_t thread)
{
	return !gt_pt_join_begin(thread).quiet && gt_pt_enter(region);
}

static void joined(const struct gt_pt_target *target)
{
	struct gt_pt_target now = gt_pt_join_begin(target->thread);
	uint64_t sequence = target->sequence;
	struct slot *s;

	/*
	 * The thread has ended by now. If nothing was known of it, or of an ended one only, it may
	 * have begun meanwhile. But what was created since the join began is another thread that has
	 * the pthread_t already.
	 */
	if ((sequence == 0 || target->ended) && now.ended && now.sequence <= target->newest)
		sequence = now.sequence;
	if (sequence == 0 && !now.quiet)
		return;
	if (sequence != 0 && gt_active())
		gt_thread_join(sequence);
	s = lookup((uintptr_t)target->thread);
	if (s && __atomic_load_n(&s->sequence, __ATOMIC_RELAXED) == sequence)
		clear(s, (uintptr_t)target->thread);
}

void gt_pt_join_end(struct gt_pt_wait *wait)
{
	if (wait->rc == 0)
		joined(wait->target);
	gt_pt_wait_end(wait);
}

void gt_pt_tryjoined(const struct gt_pt_target *target, uint64_t begin)
{
	bool recorded = !target->quiet && gt_pt_enter_at(GT_PT_R_pthread_tryjoin_np, begin);

	joined(target);
	if (recorded)
		gt_pt_leave(GT_PT_R_pthread_tryjoin_np);
}

void gt_pt_thread_detached(pthread_t thread)
{
	add_flag((uintptr_t)thread, DETACHED);
}

/* ---- creation ------------------------------------------------------------------------------------ */

static void note_newest(uint64_t sequence)
{
	uint64_t before = __atomic_load_n(&newest, __ATOMIC_RELAXED);

	while (before < sequence && !__atomic_compare_exchange_n(&newest, &before, sequence, true,
								 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * A thread that a runtime makes for itself: it is not announced, and this adapter is silent on it. If it
 * calls something else that is recorded, as a host function that the program has put on a stream does, the
 * core finds it then.
 */
static struct gt_pt_start *quiet_block(struct gt_pt_creation *creation)
{
	struct gt_pt_start *block = take_block();

	if (!block)
		return NULL;
	block->sequence = creation->sequence = 0;
	block->detached = false;
	block->quiet = true;
	creation->block = block;
	return block;
}

/*
 * Does it begin with code of a runtime whose threads are all its own? Some start outside of any call: in a
 * constructor, or before their adapter can know of a call. _dl_find_object() takes no lock: a library's
 * constructor may be waiting for this thread.
 */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
static const char *const own_libraries[] = {
#define GT_OWN_THREADS(library) library,
#include "registry/adapters.def"
};

static bool of_runtime(uintptr_t start)
{
	struct dl_find_object object;
	const char *path, *name;

	if (_dl_find_object((void *)start, &object) || !object.dlfo_link_map ||
	    !object.dlfo_link_map->l_name)
		return false;
	path = object.dlfo_link_map->l_name;
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < sizeof(own_libraries) / sizeof(own_libraries[0]); i++)
		if (!strncmp(name, own_libraries[i], strlen(own_libraries[i])))
			return true;
	return false;
}
#else
static bool of_runtime(uintptr_t start)
{
	(void)start;
	return false;
}
#endif

struct gt_pt_start *gt_pt_create_begin(struct gt_pt_creation *creation)
{
	struct gt_pt_start *block;

	creation->recorded = false;
	creation->block = NULL;
	if (gt_pt_mode == GT_PT_UNREADY)
		return NULL;
	if (!gt_active())
		return gt_is_on() ? quiet_block(creation) : NULL;
	if (gt_inside() || of_runtime(creation->start))
		return quiet_block(creation);
	creation->recorded = gt_pt_enter(creation->region);
	block = take_block();
	if (!block) {
		gt_message(2, "too many concurrent thread starts: one creation event is lost");
		gt_pt_no_memory(1);
		return NULL;
	}
	memset(block->creator, 0, sizeof(block->creator));
	if (!gt_is_confined())
		gt_raw(SYS_prctl, PR_GET_NAME, block->creator, 0, 0, 0);
	block->detached = false;
	block->quiet = false;
	block->sequence = creation->sequence = gt_thread_number();
	note_newest(block->sequence);
	gt_thread_created(creation->sequence, gt_now());
	creation->block = block;
	return block;
}

void gt_pt_create_end(const struct gt_pt_creation *creation, bool failed)
{
	if (creation->block && failed) {
		if (creation->sequence)
			gt_thread_not_created(creation->sequence);
		give_block(creation->block);
	}
	if (creation->recorded)
		gt_pt_leave(creation->region);
}

/* ---- names ----------------------------------------------------------------------------------------- */

void gt_pt_thread_named(pthread_t thread, const char *name)
{
	struct slot *s;
	uint32_t tid = 0;

	if (gt_pt_mode == GT_PT_UNREADY || gt_pt_self.quiet || !gt_active())
		return;
	if (!pthread_equal(thread, pthread_self())) {
		/*
		 * A thread that has not begun yet is not in the table. It looks at its name in the
		 * kernel after it has entered itself, and the caller has set that before.
		 */
		s = lookup((uintptr_t)thread);
		if (s && __atomic_load_n(&s->flags, __ATOMIC_RELAXED) / FLAGS * FLAGS == generation)
			tid = __atomic_load_n(&s->tid, __ATOMIC_RELAXED);
		else if (pthread_equal(thread, main_thread))
			tid = main_tid;
		if (tid == 0)
			return;
	}
	gt_thread_name(tid, name);
}

/* ---- begin and end --------------------------------------------------------------------------------- */

void gt_pt_thread_begin(struct gt_pt_start *block, struct gt_pt_start *start)
{
	struct gt_pt_self *self = &gt_pt_self;
	bool confined = gt_is_confined();
	uint32_t tid = confined ? 0 : (uint32_t)gt_raw(SYS_gettid);
	char name[GT_PT_COMM] = "";
	int state;

	*start = *block;
	give_block(block);
	gt_pt_note_number(tid, start->quiet || !start->sequence ? 0 : start->sequence + 1);
	if (start->quiet) {
		self->quiet = true;
		/* Only for those who join it. Of a detached thread nobody asks, or sees the end. */
		if (!start->detached)
			insert((uintptr_t)pthread_self(), 0, 0, QUIET);
		return;
	}
	/* A thread that is cancelled early must still find its way into the program's routine. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	gt_thread_begin(start->sequence);
	self->sequence = start->sequence;
	self->how = GT_THREAD_END_CANCEL; /* unless it returns or calls pthread_exit */
	insert((uintptr_t)pthread_self(), start->sequence, tid, start->detached ? DETACHED : 0);
	if (!confined)
		gt_raw(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
	if (!confined && strncmp(name, start->creator, sizeof(name)) != 0)
		gt_thread_name(0, name);
	if (have_key)
		pthread_setspecific(key, (void *)1);
	pthread_setcancelstate(state, NULL);
}

void gt_pt_thread_ending(unsigned how)
{
	gt_pt_self.how = how;
	if (gt_pt_self.first && have_key) /* others have it from their begin */
		pthread_setspecific(key, (void *)1);
	if (!have_key)
		gt_pt_thread_end();
}

void gt_pt_thread_end(void)
{
	struct gt_pt_self *self = &gt_pt_self;

	if (self->sequence) {
		add_flag((uintptr_t)pthread_self(), ENDED);
		gt_thread_end(self->how);
		self->sequence = 0;
	} else if (self->first && self->how == GT_THREAD_END_EXIT) { /* it goes on until all others end */
		gt_pt_enter(GT_PT_R_pthread_exit);
	}
	self->held = 0;
	if (self->capacity) {
		struct gt_pt_held *list = self->list;
		size_t bytes = self->capacity * sizeof(*list);

		self->list = self->few;
		self->capacity = 0;
		gt_memory_free(list, bytes);
	}
}

/*
 * Destructor of the key. The destructors of the program's keys and their like may lock mutexes, so
 * it asks for another round until the last but one that POSIX promises; in the last one the core,
 * which has a key of its own, ends the thread's stream.
 */
static void last_moment(void *round)
{
	uintptr_t n = (uintptr_t)round;

	if (n < PTHREAD_DESTRUCTOR_ITERATIONS - 1 && pthread_setspecific(key, (void *)(n + 1)) == 0)
		return;
	gt_pt_thread_end();
}

void gt_pt_threads_init(void)
{
	have_key = pthread_key_create(&key, last_moment) == 0;
	/* The first 32 keys live in the thread itself; later ones would call malloc. */
	if (have_key && key >= 32) {
		pthread_key_delete(key);
		have_key = false;
	}
	main_thread = pthread_self();
	gt_pt_self.first = true;
	main_tid = (uint32_t)gt_raw(SYS_gettid);
	gt_pt_note_number(main_tid, 1);
}

void gt_pt_threads_child(void)
{
	/* The threads that these were for did not come along. */
	memset(taken, 0, sizeof(taken));
	generation += FLAGS;
	/* This thread is the child's main thread now; the core has begun it. */
	gt_pt_self.sequence = 0;
	main_thread = pthread_self();
	gt_pt_self.first = true;
	main_tid = (uint32_t)gt_raw(SYS_gettid);
	gt_pt_note_number(main_tid, 1);
}

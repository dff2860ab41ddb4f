/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start/end ranges (NVTX, roctx). They may overlap, and end on another thread than they began on, so they
 * cannot be regions of a thread. They become regions of a location of their own, "NVTX ranges"; the assembly
 * moves overlapping ones to further lanes ("NVTX ranges lane 2").
 *
 * An open range has an entry, whose place is part of the range's number, so nothing is searched; free entries
 * are a stack that is changed by one instruction. A range is written when it ends, by the thread that holds
 * the location. Holding it takes no system call: signals are not blocked. A handler that interrupts the
 * holder writes to a second location ("NVTX ranges, apart") under the core's lock. So does everybody if the
 * holder has not let go within PATIENCE milliseconds, as one that was left by longjmp() never will, until it
 * does.
 *
 * Limits: MOST ranges may be open. One that is still open when the program ends is closed there; one that is
 * open when the process is killed is lost. A forked child drops the ranges that it inherited.
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel.h"
#include "accel/wait.h"
#include "gputrace/lock.h"

#define PLACE_BITS 24u
#define MOST       ((1u << PLACE_BITS) - 1)
#define CHUNK      1024u
#define ENDING     (UINT64_C(1) << 63) /* in an entry's number: it is being written */

static struct entry {
	uint64_t number; /* 0: free; atomic */
	uint64_t begin;
	struct gt_accel_range what;
	uint32_t next;   /* the place of the next free one, or 0; atomic */
} *chunks[(MOST + 1) / CHUNK];
static uint32_t chunk_count;
static uint64_t unused; /* the place of the first free entry, changes << 32; atomic */
static struct gt_lock ranges_lock;

enum { HELD, APART };
static struct gt_location *rows[2];
static bool tried[2];

/* ---- entries ---------------------------------------------------------------------------------------- */

static struct entry *entry_at(uint32_t place)
{
	struct entry *chunk = place ? __atomic_load_n(&chunks[(place - 1) / CHUNK], __ATOMIC_ACQUIRE) : NULL;

	return chunk ? &chunk[(place - 1) % CHUNK] : NULL;
}

/* NULL: none is free. */
static struct entry *pop(uint32_t *place)
{
	uint64_t head = __atomic_load_n(&unused, __ATOMIC_ACQUIRE), next; /* pairs with push() */
	struct entry *e;

	do {
		*place = (uint32_t)head;
		e = entry_at(*place);
		if (!e)
			return NULL;
		next = ((head >> 32) + 1) << 32 | __atomic_load_n(&e->next, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&unused, &head, next, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return e;
}

/* Entries that follow each other, up to `last`. */
static void push(uint32_t place, struct entry *last)
{
	uint64_t head = __atomic_load_n(&unused, __ATOMIC_RELAXED), next;

	do {
		__atomic_store_n(&last->next, (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | place;
		/* Pairs with pop(). */
	} while (!__atomic_compare_exchange_n(&unused, &head, next, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

/* Under the lock. */
static bool add_chunk(void)
{
	uint32_t first = chunk_count * CHUNK + 1;
	struct entry *chunk;

	if (chunk_count == sizeof(chunks) / sizeof(chunks[0]))
		return false;
	chunk = gt_memory(CHUNK * sizeof(*chunk));
	if (!chunk)
		return false;
	for (uint32_t i = 0; i < CHUNK; i++)
		chunk[i].next = first + i + 1;
	__atomic_store_n(&chunks[chunk_count++], chunk, __ATOMIC_RELEASE); /* pairs with entry_at() */
	/* The last place of the last chunk has no room in a number. */
	push(first, &chunk[first + CHUNK - 1 > MOST ? CHUNK - 2 : CHUNK - 1]);
	return true;
}

/* NULL: no memory. */
static struct entry *take(uint32_t *place)
{
	struct entry *e = pop(place);
	uint64_t mask;

	if (gt_likely(e))
		return e;
	mask = gt_lock(&ranges_lock);
	while (mask != GT_LOCK_REFUSED && !(e = pop(place)) && add_chunk())
		;
	gt_unlock(&ranges_lock, mask);
	return e;
}

/* ---- the locations ---------------------------------------------------------------------------------- */

#define LOOKS     2000u
#define PATIENCE  20u
#define GIVEN_UP  1u
static uint32_t holder; /* of rows[HELD]: its number, GIVEN_UP; 0: nobody */

static uint32_t own_number(void)
{
	static GT_TLS char here;

	return ((uint32_t)((uintptr_t)&here >> 4) | 2) & ~GIVEN_UP;
}

/* Under the lock, but for rows[HELD] while there is none. */
static struct gt_location *row(int which)
{
	struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = gt_accel_runtime.ranges,
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS | GT_LOC_ASIDE,
		.key = GT_KEY_NO_DEVICE,
	};
	char name[80];

	if (rows[which] || tried[which])
		return rows[which];
	tried[which] = true;
	if (which == APART) {
		snprintf(name, sizeof(name), "%s, apart", gt_accel_runtime.ranges);
		info.name = name;
	}
	/* Pairs with have_row(). */
	__atomic_store_n(&rows[which], gt_location_create(&info), __ATOMIC_RELEASE);
	return rows[which];
}

static bool have_row(void)
{
	uint64_t mask;
	bool have = __atomic_load_n(&rows[HELD], __ATOMIC_ACQUIRE) != NULL;

	if (gt_likely(have))
		return true;
	mask = gt_lock(&ranges_lock);
	have = mask != GT_LOCK_REFUSED && row(HELD);
	gt_unlock(&ranges_lock, mask);
	return have;
}

/* Becomes the holder of rows[HELD]. False: another one does not let go, or it is what we have interrupted. */
static bool hold(void)
{
	uint32_t self = own_number(), word = 0;

	/* Pairs with let_go(). */
	for (unsigned i = 0; !__atomic_compare_exchange_n(&holder, &word, self, false, __ATOMIC_ACQUIRE,
							  __ATOMIC_RELAXED); i++) {
		if (word == self || word & GIVEN_UP)
			return false;
		if (i >= LOOKS + PATIENCE) {
			__atomic_compare_exchange_n(&holder, &word, word | GIVEN_UP, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
			return false;
		}
		if (i >= LOOKS)
			gt_accel_wait(&holder, word, 1);
		word = 0;
	}
	return true;
}

static void let_go(void)
{
	__atomic_store_n(&holder, 0, __ATOMIC_RELEASE); /* pairs with hold() */
}

static void lose_one(void)
{
	gt_lost(gt_is_confined() ? GT_LOSS_SANDBOX : GT_LOSS_NO_LOCATION, 2);
}

/* The records of one that ends. */
static void put_range(struct gt_accel_block *block, const struct entry *e, uint64_t end)
{
	const struct gt_accel_range *r = &e->what;

	block->count = 0;
	if (r->attribute)
		gt_accel_put_attribute(block, r->attribute, r->value, e->begin);
	gt_accel_put(block, GT_T_ENTER, r->region, e->begin);
	if (r->category)
		gt_accel_put_data(block, GT_T_PARAM_STR, r->parameter, (uint64_t[2]){ r->category, 0 }, 1,
				  e->begin);
	gt_accel_put(block, GT_T_LEAVE, r->region, end > e->begin ? end : e->begin);
}

/* By who may write there; NULL: it is lost. */
static void write_block(struct gt_location *at, const struct gt_accel_block *block)
{
	if (at)
		gt_location_block(at, block->slots, block->count);
	else
		lose_one();
}

/* ---- ranges ----------------------------------------------------------------------------------------- */

uint64_t gt_accel_range_begin(uint64_t tick, const struct gt_accel_range *range)
{
	static uint64_t last;
	uint64_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) << PLACE_BITS & ~ENDING;
	struct entry *e;
	uint32_t place;

	if (!gt_active() || !range->region)
		return number;
	e = have_row() ? take(&place) : NULL;
	if (!e) {
		lose_one();
		return number;
	}
	e->begin = tick ? tick : gt_now();
	e->what = *range;
	number |= place;
	__atomic_store_n(&e->number, number, __ATOMIC_RELEASE); /* pairs with write_ended(), is_open() */
	return number;
}

/*
 * By who may write there. False: somebody else has ended it. A handler that jumps away from here leaves it
 * ENDING, and its records begun but not finished, which the assembly counts.
 */
static bool write_ended(struct gt_location *at, struct entry *e, uint64_t number, uint64_t end)
{
	struct gt_accel_block block;

	/* Pairs with gt_accel_range_begin(). */
	if (__atomic_load_n(&e->number, __ATOMIC_ACQUIRE) != number)
		return false;
	put_range(&block, e, end);
	if (!__atomic_compare_exchange_n(&e->number, &number, number | ENDING, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	write_block(at, &block);
	__atomic_store_n(&e->number, 0, __ATOMIC_RELAXED);
	return true;
}

static bool write_apart(struct entry *e, uint64_t number, uint64_t end)
{
	uint64_t mask = gt_lock(&ranges_lock);
	bool done = mask != GT_LOCK_REFUSED && write_ended(row(APART), e, number, end);

	gt_unlock(&ranges_lock, mask);
	return done;
}

void gt_accel_range_end(uint64_t number)
{
	uint32_t place = (uint32_t)number & MOST;
	struct entry *e = entry_at(place);
	uint64_t now;
	bool done;

	if (!e || __atomic_load_n(&e->number, __ATOMIC_RELAXED) != number)
		return;
	now = gt_now();
	if (gt_likely(hold())) {
		done = write_ended(rows[HELD], e, number, now);
		let_go();
	} else {
		done = write_apart(e, number, now);
	}
	if (done)
		push(place, e);
}

static bool is_open(uint32_t place)
{
	uint64_t number = __atomic_load_n(&entry_at(place)->number, __ATOMIC_ACQUIRE);

	return number && !(number & ENDING);
}

/* The end of a confined process, or not: what is open has not been ended, or could not be. */
static void lose_open(bool ends)
{
	static uint64_t reported;
	uint64_t lost = 0;

	for (uint32_t i = 1; ends && i <= chunk_count * CHUNK; i++)
		lost += is_open(i) ? 2 : 0;
	gt_lost(GT_LOSS_SANDBOX, lost - reported);
	reported = lost;
}

/* By who may write there, under the lock. */
static void close_all(struct gt_location *at, uint64_t now)
{
	struct gt_accel_block block;

	for (uint32_t i = 1; i <= chunk_count * CHUNK; i++) {
		if (!is_open(i))
			continue;
		put_range(&block, entry_at(i), now);
		write_block(at, &block);
		entry_at(i)->begin = now; /* exec may fail: then it goes on */
	}
}

void gt_accel_ranges_finish(bool ends)
{
	uint64_t mask;

	if (gt_is_confined())
		lose_open(ends);
	if (gt_is_confined() || !ends || !rows[HELD])
		return;
	mask = gt_lock(&ranges_lock);
	if (mask != GT_LOCK_REFUSED) {
		bool held = hold();

		close_all(held ? rows[HELD] : row(APART), gt_now());
		if (held)
			let_go();
	}
	gt_unlock(&ranges_lock, mask);
}

void gt_accel_ranges_forked(void)
{
	memset(chunks, 0, chunk_count * sizeof(chunks[0]));
	chunk_count = 0;
	unused = 0;
	holder = 0;
	ranges_lock = (struct gt_lock){ 0 };
	memset(rows, 0, sizeof(rows));
	memset(tried, 0, sizeof(tried));
}

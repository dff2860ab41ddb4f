/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function is found by the 256 bytes of code that an address lies in: a bucket of four functions. Its rows
 * and itself are written before its number is published in a bucket, and never again, but for the generation
 * in which its object was last seen. An object that is gone never comes back with the same id, so its
 * functions are never found again.
 */
#include "sampling/rows.h"

#include "gputrace/syscall.h"
#include "sampling/peek.h"
#include "sampling/tables.h"

#define ROWS        (1u << 19)
#define FUNCTIONS   (1u << 15)
#define BUCKET_BITS 14
#define IN_BUCKET   4u
#define GRANULE     256u /* bytes */
#define GRANULES    64u  /* of a function, that lead to it; in larger ones those that were seen */

struct function {
	uint64_t low, high;
	uint32_t row, rows, object;
	uint32_t seen; /* the object's generation */
};

struct tables {
	struct gt_cached cache[1 << GT_CACHE_BITS];
	uint32_t rows_used, functions, turn;
	uint32_t bucket[1 << BUCKET_BITS][IN_BUCKET];
	struct function function[FUNCTIONS];
	struct gt_row row[ROWS];
};

GT_HIDDEN struct gt_cached *gt_cache;

/* They begin with the cache. */
static struct tables *all(void)
{
	return (struct tables *)gt_cache;
}

static uint32_t *bucket_of(uint64_t address)
{
	return all()->bucket[gt_hash_word(address / GRANULE) >> (64 - BUCKET_BITS)];
}

/* Is the function's object still there? */
static bool still_there(struct gt_walker *walker, struct function *f)
{
	uint32_t now = gt_objects_generation();

	if (__atomic_load_n(&f->seen, __ATOMIC_RELAXED) == now)
		return true;
	if (!gt_objects_find(walker, f->low) || walker->object.id != f->object)
		return false;
	__atomic_store_n(&f->seen, now, __ATOMIC_RELAXED);
	return true;
}

static __attribute__((noinline)) struct function *find(struct gt_walker *walker, uint64_t address)
{
	uint32_t *bucket = bucket_of(address);

	for (unsigned i = 0; i < IN_BUCKET; i++) {
		uint32_t id = __atomic_load_n(&bucket[i], __ATOMIC_ACQUIRE); /* pairs with into_bucket() */
		struct function *f = &all()->function[id];

		if (id && address >= f->low && address < f->high && still_there(walker, f))
			return f;
	}
	return NULL;
}

static uint64_t row_at(const struct function *f, uint64_t address)
{
	const struct gt_row *row = &all()->row[f->row];
	uint32_t off = (uint32_t)(address - f->low);

	for (uint32_t n = f->rows; n > 1;) {
		uint32_t half = n / 2;

		if (row[half].off <= off) {
			row += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return row->rule;
}

static void into_bucket(uint64_t address, uint32_t id)
{
	uint32_t *bucket = bucket_of(address);
	unsigned i = 0;

	while (i < IN_BUCKET && __atomic_load_n(&bucket[i], __ATOMIC_RELAXED))
		i++;
	if (i == IN_BUCKET)
		i = __atomic_fetch_add(&all()->turn, 1, __ATOMIC_RELAXED) % IN_BUCKET;
	__atomic_store_n(&bucket[i], id, __ATOMIC_RELEASE); /* pairs with find() */
}

static void publish(const struct gt_walker *walker, uint64_t address, uint32_t row, uint32_t now)
{
	const struct gt_walk_function *read = &walker->function;
	uint32_t id = __atomic_add_fetch(&all()->functions, 1, __ATOMIC_RELAXED);
	uint64_t from = read->low / GRANULE, to = (read->high - 1) / GRANULE;

	if (id >= FUNCTIONS) {
		__atomic_store_n(&all()->functions, FUNCTIONS, __ATOMIC_RELAXED);
		return;
	}
	all()->function[id] = (struct function){ read->low, read->high, row,
						 walker->run.n, walker->object.id, now };
	if (to - from >= GRANULES)
		from = to = address / GRANULE;
	for (; from <= to; from++)
		into_bucket(from * GRANULE, id);
}

/* Room for `most` rows; ROWS: there is none. */
static uint32_t take_rows(unsigned most)
{
	uint32_t at = __atomic_load_n(&all()->rows_used, __ATOMIC_RELAXED);

	do
		if (most > ROWS - at || all()->functions >= FUNCTIONS)
			return ROWS;
	while (!__atomic_compare_exchange_n(&all()->rows_used, &at, at + most, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return at;
}

/* Runs the function's program: each of its bytes makes a row at most. */
static __attribute__((noinline)) uint64_t make(struct gt_walker *walker, uint64_t address, uint32_t now)
{
	unsigned most = (unsigned)(walker->function.own_end - walker->function.own) + 1;
	uint32_t at = take_rows(most), end = at + most;

	gt_tables_run(walker, address, &all()->row[at], at == ROWS ? 0 : most);
	if (at == ROWS)
		return walker->run.answer;
	/* What is not needed goes back, unless somebody has taken more meanwhile. */
	__atomic_compare_exchange_n(&all()->rows_used, &end, at + walker->run.n, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	if (walker->run.n && gt_objects_generation() == now)
		publish(walker, address, at, now);
	return walker->run.answer;
}

static bool is_sigreturn(const uint8_t *at)
{
	static const uint8_t code[] = GT_CPU_SIGRETURN;
	unsigned same = 0;

	while (same < sizeof(code) && at[same] == code[same])
		same++;
	return same == sizeof(code);
}

/* Recognises the code at `address` (which may be the byte before a return address) if no table describes
 * it. */
static uint64_t without_table(struct gt_walker *walker, uint64_t address)
{
	size_t n = gt_peek(walker->window, address, 10);

	walker->window_bytes = 0;
	return n == 10 && (is_sigreturn(walker->window) || is_sigreturn(walker->window + 1)) ? GT_RULE_SIGNAL
											      : GT_RULE_NONE;
}

static uint64_t read_rule(struct gt_walker *walker, uint64_t address, uint32_t now)
{
	const struct function *known = find(walker, address);

	if (known)
		return row_at(known, address);
	if (!gt_objects_find(walker, address))
		return GT_RULE_NOWHERE;
	if (walker->object.table == GT_OBJECT_NO_FILE) /* an emulator's signals return by such memory */
		return GT_CPU_LINKS && without_table(walker, address) == GT_RULE_SIGNAL ? GT_RULE_SIGNAL
											: GT_RULE_JIT;
	if (!walker->object.table || !gt_tables_find(walker, address))
		return without_table(walker, address);
	return make(walker, address, now);
}

GT_HIDDEN uint64_t gt_rows_rule(struct gt_walker *walker, uintptr_t address)
{
	struct gt_cached *entry = &gt_cache[gt_hash_word(address) >> (64 - GT_CACHE_BITS)];
	uint32_t now = gt_objects_generation();
	uint64_t rule;

	walker->window_bytes = 0;
	rule = read_rule(walker, address, now);
	if (rule != GT_RULE_NOWHERE && gt_objects_generation() == now) {
		__atomic_store_n(&entry->rule, rule, __ATOMIC_RELAXED);
		__atomic_store_n(&entry->check, address ^ gt_hash_word(now) ^ gt_hash_word(rule),
				 __ATOMIC_RELAXED);
	}
	return rule;
}

GT_HIDDEN bool gt_rows_ready(void)
{
	return gt_objects_memory((void **)&gt_cache, sizeof(struct tables));
}

GT_HIDDEN bool gt_unwind_ready(void)
{
	return gt_objects_ready() && gt_rows_ready();
}

GT_HIDDEN void gt_unwind_changed(void)
{
	gt_objects_changed();
}

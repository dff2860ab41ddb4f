/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the waits for locks, the operations on files, and what devices do. A location is converted by one
 * worker and in one go, so that the last location of a sum tells whether another one begins.
 */
#include "config.h"

#include "lib/assemble/archive/worst.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/archive/holds.h"
#include "lib/assemble/util/array.h"
#include "lib/assemble/util/calls.h"
#include "lib/assemble/util/rules.h"

#include <stdio.h>
#include <string.h>

#define MOST_SUMS 65536u
#define FILES     (UINT64_C(1) << 63) /* in a key: not of a lock */
#define KERNELS   (UINT64_C(1) << 62) /* nor these */
#define COPIES    (UINT64_C(1) << 61)

/* What a gt_profile.lock says. */
enum { UNKNOWN = 0, WAITS, OTHER };

/* ---- while locations are converted ----------------------------------------------------------------- */

static struct gt_sum_of *sum_at(struct gt_worker *w, uint64_t key)
{
	const struct gt_lookup_entry *entry = w->sum_keys.entries ? gt_lookup_find(&w->sum_keys, key) : NULL;

	if (entry)
		return &w->sums[entry->value];
	if (w->sum_count == MOST_SUMS || (!w->sum_keys.entries && gt_lookup_init(&w->sum_keys)) ||
	    !gt_array_has_room(w->sums, w->sum_count, &w->sum_room) ||
	    !gt_lookup_put(&w->sum_keys, key, (uint32_t)w->sum_count, 0))
		return NULL;
	w->sums[w->sum_count] = (struct gt_sum_of){ .key = key };
	return &w->sums[w->sum_count++];
}

/* The sum, which is now of this location, too. NULL: there are too many. */
static struct gt_sum_of *sum_here(struct gt_track *t, uint64_t key)
{
	struct gt_sum_of *sum = sum_at(t->w, key);
	uint32_t here = (uint32_t)(t->out - t->conv->layout->locations) + 1;

	if (!sum || sum->location == here)
		return sum;
	sum->location = here;
	sum->locations++;
	sum->ns_here = 0;
	return sum;
}

/* Does a function of this region wait for a lock? */
static bool waits_for_lock(struct gt_track *t, uint32_t number)
{
	struct gt_profile *profile = &t->w->profile[number];
	struct gt_defs *defs = t->conv->defs;
	const struct gt_region *region;
	const struct gt_paradigm *paradigm;

	if (profile->lock != UNKNOWN)
		return profile->lock == WAITS;
	pthread_mutex_lock(&defs->lock);
	region = (const struct gt_region *)defs->regions.items + number;
	paradigm = gt_assembler_paradigm(region->paradigm);
	profile->lock = region->role == OTF2_REGION_ROLE_CRITICAL ||
			region->role == OTF2_REGION_ROLE_ORDERED ||
			(paradigm && paradigm->part &&
			 paradigm->part(gt_intern_text(&defs->strings, region->name, NULL)) == GT_PART_LOCK)
				? WAITS : OTHER;
	pthread_mutex_unlock(&defs->lock);
	return profile->lock == WAITS;
}

static void add_time(struct gt_sum_of *sum, uint64_t ns)
{
	sum->count++;
	sum->ns += ns;
	sum->ns_here += ns;
	if (sum->ns_here > sum->ns_most)
		sum->ns_most = sum->ns_here;
}

static uint64_t key_of_lock(uint8_t paradigm, uint32_t lock)
{
	return (uint64_t)paradigm << 32 | lock;
}

void gt_worst_lock(struct gt_track *t, uint8_t paradigm, uint32_t lock, uint64_t address, uint64_t ns)
{
	const struct gt_frame *top = t->depth ? &t->w->frames[t->depth - 1] : NULL;
	uint64_t key = key_of_lock(paradigm, lock);
	struct gt_sum_of *sum = sum_here(t, key);
	uint64_t wait = top && waits_for_lock(t, top->region) ? ns - top->enter_ns : 0;

	gt_holds_acquired(t, key, ns - wait, ns);
	if (!sum)
		return;
	sum->address = address;
	sum->group = t->out->group;
	sum->waited += wait;
	if (wait >= GT_LEAST_WAIT && wait < GT_SHORT_WAIT)
		add_time(sum, wait);
}

void gt_worst_unlock(struct gt_track *t, uint8_t paradigm, uint32_t lock, uint64_t ns)
{
	gt_holds_released(t, key_of_lock(paradigm, lock), ns);
}

void gt_worst_io(struct gt_track *t, const struct gt_io_open *io, uint64_t bytes, uint64_t ns)
{
	struct gt_sum_of *sum;

	if (io->file == GT_NO_FILE ||
	    (io->mode != OTF2_IO_OPERATION_MODE_READ && io->mode != OTF2_IO_OPERATION_MODE_WRITE))
		return;
	sum = sum_here(t, FILES | (uint64_t)io->mode << 32 | io->file);
	if (!sum)
		return;
	sum->bytes += bytes == UINT64_MAX ? 0 : bytes;
	add_time(sum, ns - io->ns);
}

/* Of two that have the same key by chance, once in 2^61 shapes, one is taken for the other. */
static uint64_t key_of(uint32_t region, uint64_t grid, uint64_t block)
{
	const uint64_t parts[] = { region, grid, block };
	uint64_t h = 0;

	for (unsigned i = 0; i < 3; i++) {
		h = (h ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return KERNELS | h >> 3;
}

void gt_worst_kernel(struct gt_track *t, uint32_t region, uint64_t grid, uint64_t block, uint64_t ns)
{
	struct gt_sum_of *sum = sum_here(t, key_of(region, grid, block));

	if (!sum) {
		t->w->tally.kernels.lost = true;
		return;
	}
	sum->address = grid;
	add_time(sum, ns);
}

void gt_worst_copy(struct gt_track *t, uint32_t region, enum gt_activity what, uint64_t bytes, uint64_t ns)
{
	struct gt_sum_of *sum = sum_here(t, COPIES | region);

	if (!sum)
		return;
	sum->address = what;
	sum->bytes += bytes;
	add_time(sum, ns);
}

/* ---- when all are ------------------------------------------------------------------------------------ */

static void add_sums(struct gt_worker *to, const struct gt_worker *from)
{
	for (size_t i = 0; i < from->sum_count; i++) {
		const struct gt_sum_of *one = &from->sums[i];
		struct gt_sum_of *sum = sum_at(to, one->key);

		if (!sum) {
			to->tally.kernels.lost |= (one->key & KERNELS) != 0;
			continue;
		}
		sum->count += one->count;
		sum->ns += one->ns;
		sum->bytes += one->bytes;
		sum->waited += one->waited;
		sum->locations += one->locations;
		sum->ns_most = one->ns_most > sum->ns_most ? one->ns_most : sum->ns_most;
		sum->address = one->address;
		sum->group = one->group;
	}
}

/* Many short waits; or those of threads that take turns, which are looked at only if they can be enough. */
static bool find_convoy(const struct gt_worker *workers, unsigned count, uint64_t run,
			const struct gt_sum_of *sum, struct gt_worst *worst)
{
	struct gt_turns_found turns;

	if (gt_is_convoy(sum->count, GT_MANY_WAITS, sum->locations, sum->ns, GT_CONVOY, run)) {
		*worst = (struct gt_worst){ .count = sum->count, .ns = sum->ns, .threads = sum->locations };
		return true;
	}
	if (!gt_at_least(sum->waited / 2, GT_CONVOY, run))
		return false;
	turns = gt_holds_turns(workers, count, sum->key);
	*worst = (struct gt_worst){ .count = turns.waits, .ns = turns.ns,
				    .threads = (uint32_t)turns.threads };
	return gt_is_convoy(turns.waits, GT_SOME_TURNS, turns.threads, turns.ns, GT_CONVOY, run);
}

static struct gt_worst lock_of(const struct gt_worker *workers, unsigned count, uint64_t run,
			       const struct gt_sum_of *sum)
{
	const struct gt_conversion *conv = workers->conv;
	const struct gt_out_group *group;
	struct gt_worst worst;

	if (sum->group >= conv->layout->group_count || !find_convoy(workers, count, run, sum, &worst))
		return (struct gt_worst){ .gain_ns = 0 };
	group = &conv->layout->groups[sum->group];
	worst.address = sum->address;
	worst.gain_ns = worst.ns / worst.threads;
	if (group->job)
		snprintf(worst.of, sizeof(worst.of), "rank %u", group->rank);
	else
		snprintf(worst.of, sizeof(worst.of), "%s",
			 gt_intern_text(&conv->defs->strings, group->name, NULL));
	return worst;
}

static struct gt_worst file_of(const struct gt_conversion *conv, const struct gt_sum_of *sum)
{
	const uint32_t *names = conv->defs->files.items;
	uint32_t file = (uint32_t)sum->key;
	struct gt_worst worst = { .count = sum->count, .ns = sum->ns, .bytes = sum->bytes,
				  .write = ((sum->key & ~FILES) >> 32) == OTF2_IO_OPERATION_MODE_WRITE };

	if (sum->count < GT_MANY_OPERATIONS || sum->bytes / sum->count >= GT_TINY_BYTES ||
	    (file == GT_PIPES && sum->bytes <= sum->count))
		return worst;
	worst.gain_ns = sum->ns_most;
	snprintf(worst.of, sizeof(worst.of), "%s",
		 file == GT_PIPES ? "pipes" : gt_intern_text(&conv->defs->strings, names[file], NULL));
	return worst;
}

static void add_kernel(const struct gt_sum_of *sum, struct gt_kernels *kernels)
{
	bool tiny = sum->ns < UINT64_C(1000) * GT_TINY_KERNEL * sum->count;

	kernels->count += sum->count;
	kernels->ns += sum->ns;
	kernels->tiny += tiny ? sum->count : 0;
	kernels->tiny_ns += tiny ? sum->ns : 0;
	kernels->small_ns += sum->address && sum->address < GT_FEW_BLOCKS ? sum->ns : 0;
}

/* Its direction is the second word of the region's name; what is set has none. */
static void add_copy(const struct gt_defs *defs, const struct gt_sum_of *sum, struct gt_tally *tally)
{
	const struct gt_region *region = (const struct gt_region *)defs->regions.items + (uint32_t)sum->key;
	const char *word = strchr(gt_intern_text(&defs->strings, region->name, NULL), ' ');
	struct gt_copied copied = { .count = sum->count, .bytes = sum->bytes };

	if (!word || sum->address == GT_ACTIVITY_SET)
		return;
	snprintf(copied.direction, sizeof(copied.direction), "%.*s", (int)strcspn(word + 1, " "), word + 1);
	gt_tally_copied(tally, &copied);
}

void gt_worst_choose(struct gt_worker *workers, unsigned count, uint64_t run, struct gt_tally *tally)
{
	const struct gt_conversion *conv = workers->conv;

	for (unsigned i = 1; i < count; i++)
		add_sums(workers, &workers[i]);
	tally->kernels.lost |= workers->tally.kernels.lost;
	for (size_t i = 0; i < workers->sum_count; i++) {
		const struct gt_sum_of *sum = &workers->sums[i];
		struct gt_worst one, *worst = sum->key & FILES ? &tally->file : &tally->lock;

		if (sum->key & KERNELS)
			add_kernel(sum, &tally->kernels);
		else if (sum->key & COPIES)
			add_copy(conv->defs, sum, tally);
		if (sum->key & (KERNELS | COPIES))
			continue;
		one = sum->key & FILES ? file_of(conv, sum) : lock_of(workers, count, run, sum);
		if (one.gain_ns > worst->gain_ns)
			*worst = one;
	}
}

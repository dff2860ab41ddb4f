/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls and copies are kept apart while locations are converted, in any order, and meet when all are.
 *
 * Limits: see ties.h.
 */
#include "config.h"

#include "lib/assemble/archive/ties.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/util/array.h"
#include "lib/assemble/util/calls.h"

/* What a gt_profile.async says. */
enum { UNKNOWN = 0, ASYNC, OTHER };

/* Is it a call that asks for an asynchronous copy? */
static bool is_async_copy(struct gt_track *t, uint32_t number)
{
	struct gt_profile *profile = &t->w->profile[number];
	struct gt_defs *defs = t->conv->defs;
	const struct gt_region *region;
	const struct gt_paradigm *paradigm;
	const char *name;

	if (profile->async != UNKNOWN)
		return profile->async == ASYNC;
	pthread_mutex_lock(&defs->lock);
	region = (const struct gt_region *)defs->regions.items + number;
	paradigm = gt_assembler_paradigm(region->paradigm);
	name = gt_intern_text(&defs->strings, region->name, NULL);
	profile->async = paradigm && paradigm->kind == OTF2_PARADIGM_CLASS_ACCELERATOR &&
			 gt_device_call(name) == GT_CALL_COPY && gt_call_async(name) ? ASYNC : OTHER;
	pthread_mutex_unlock(&defs->lock);
	return profile->async == ASYNC;
}

/* Ids are of a process. */
static uint64_t key_of(const struct gt_track *t, uint64_t correlation)
{
	uint64_t process = (uint64_t)(t->loc->proc - t->conv->spool->procs) + 1;

	return process << 40 | (correlation & ((UINT64_C(1) << 40) - 1));
}

static void add(struct gt_ties *ties, uint64_t key, uint64_t value)
{
	if (ties->count < GT_TIES_MOST && gt_array_has_room(ties->items, ties->count, &ties->room))
		ties->items[ties->count++] = (struct gt_tie){ key, value };
}

void gt_ties_enter(struct gt_track *t, uint64_t correlation)
{
	if (t->tied || !is_async_copy(t, t->w->frames[t->depth - 1].region))
		return;
	t->tied = t->depth;
	t->tied_to = correlation;
}

void gt_ties_leave(struct gt_track *t, const struct gt_frame *frame, uint64_t ns)
{
	t->tied = 0;
	add(&t->w->async_calls, key_of(t, t->tied_to), ns - frame->enter_ns);
}

void gt_ties_copy(struct gt_track *t, uint64_t correlation, uint64_t bytes)
{
	if (correlation)
		add(&t->w->pageable, key_of(t, correlation), bytes);
}

/* The bytes of all copies of one call. `sums`: by what their values are in `ids`. */
static bool sum_copies(const struct gt_ties *copies, struct gt_lookup *ids, struct gt_ties *sums)
{
	for (size_t i = 0; i < copies->count; i++) {
		const struct gt_tie *copy = &copies->items[i];
		const struct gt_lookup_entry *entry = gt_lookup_find(ids, copy->key);

		if (entry) {
			sums->items[entry->value].value += copy->value;
			continue;
		}
		if (!gt_array_has_room(sums->items, sums->count, &sums->room) ||
		    !gt_lookup_put(ids, copy->key, (uint32_t)sums->count, 0))
			return false;
		sums->items[sums->count++] = *copy;
	}
	return true;
}

static void sum_calls(const struct gt_ties *calls, const struct gt_lookup *ids, const struct gt_ties *sums,
		      struct gt_pageable *pageable)
{
	for (size_t i = 0; i < calls->count; i++) {
		const struct gt_lookup_entry *entry = gt_lookup_find(ids, calls->items[i].key);

		if (!entry)
			continue;
		pageable->calls++;
		pageable->ns += calls->items[i].value;
		pageable->bytes += sums->items[entry->value].value;
	}
}

void gt_ties_sum(const struct gt_worker *workers, unsigned count, struct gt_tally *tally)
{
	struct gt_lookup ids = { 0 };
	struct gt_ties sums = { 0 };
	uint64_t copies = 0;
	bool fits;

	for (unsigned i = 0; i < count; i++)
		copies += workers[i].pageable.count;
	fits = copies && !gt_lookup_init(&ids);
	for (unsigned i = 0; fits && i < count; i++)
		fits = sum_copies(&workers[i].pageable, &ids, &sums);
	for (unsigned i = 0; fits && i < count; i++)
		sum_calls(&workers[i].async_calls, &ids, &sums, &tally->pageable);
	free(ids.entries);
	free(sums.items);
}

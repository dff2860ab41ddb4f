/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the threads of a lock, and over pairs of them.
 *
 * Limits: see turns.h.
 */
#include "config.h"

#include "report/model/turns.h"

#include "lib/assemble/util/array.h"
#include "report/model/rules.h"

#define NOBODY UINT32_MAX

/* Of a thread, for whom is known, or for one that has the lock. */
struct gt_turns_wait {
	uint32_t location, holder; /* holder NOBODY: any */
	uint64_t count, ns, longest, begin;
	uint64_t turns;            /* of a thread: ns that others wait for it, too */
};

static uint64_t key_of(uint32_t location, uint32_t holder)
{
	return (uint64_t)(location + 1) << 32 | (uint32_t)(holder + 1);
}

static struct gt_turns_wait *find(const struct gt_turns *turns, uint32_t location, uint32_t holder)
{
	const struct gt_lookup_entry *entry =
		turns->places.entries ? gt_lookup_find(&turns->places, key_of(location, holder)) : NULL;

	return entry ? &turns->waits[entry->value] : NULL;
}

/* NULL: no memory. */
static struct gt_turns_wait *at(struct gt_turns *turns, uint32_t location, uint32_t holder)
{
	struct gt_turns_wait *wait = find(turns, location, holder);

	if (wait)
		return wait;
	if ((!turns->places.entries && gt_lookup_init(&turns->places)) ||
	    !gt_array_has_room(turns->waits, turns->count, &turns->room) ||
	    !gt_lookup_put(&turns->places, key_of(location, holder), (uint32_t)turns->count, 0)) {
		turns->failed = true;
		return NULL;
	}
	turns->threads += holder == NOBODY;
	turns->waits[turns->count] = (struct gt_turns_wait){ .location = location, .holder = holder };
	return &turns->waits[turns->count++];
}

static void add_known(struct gt_turns *turns, const struct gt_hold *waiter, uint64_t known)
{
	struct gt_turns_wait *thread = at(turns, waiter->location, NOBODY);

	if (!thread || known < GT_LEAST_WAIT)
		return;
	thread->count++;
	thread->ns += known;
	if (known <= thread->longest)
		return;
	thread->longest = known;
	thread->begin = waiter->wanted;
}

uint64_t gt_turns_add(struct gt_turns *turns, const struct gt_hold *holds, size_t i, gt_turns_charge *charge,
		      void *context)
{
	const struct gt_hold *waiter = &holds[i];
	uint64_t known = 0;

	for (size_t k = i; k--;) {
		uint64_t from = holds[k].acquired > waiter->wanted ? holds[k].acquired : waiter->wanted;
		uint64_t to = holds[k].released < waiter->acquired ? holds[k].released : waiter->acquired;

		if (to > from && holds[k].location != waiter->location) {
			struct gt_turns_wait *pair = at(turns, waiter->location, holds[k].location);

			if (charge)
				charge(context, &holds[k], to - from);
			if (pair)
				pair->ns += to - from;
			known += to - from;
		}
		if (holds[k].acquired <= waiter->wanted)
			break; /* it had the lock when the wait began */
	}
	add_known(turns, waiter, known);
	return known;
}

struct gt_turns_found gt_turns_find(struct gt_turns *turns)
{
	struct gt_turns_found found = { 0 };

	for (size_t i = 0; i < turns->count; i++) {
		const struct gt_turns_wait *pair = &turns->waits[i], *back;
		struct gt_turns_wait *thread = find(turns, pair->location, NOBODY);

		back = pair->holder == NOBODY ? NULL : find(turns, pair->holder, pair->location);
		if (back && thread)
			thread->turns += pair->ns < back->ns ? pair->ns : back->ns;
	}
	for (size_t i = 0; i < turns->count; i++) {
		const struct gt_turns_wait *thread = &turns->waits[i];

		if (!thread->count || !thread->turns)
			continue;
		found.threads++;
		found.waits += thread->count;
		found.ns += thread->turns;
		if (thread->longest <= found.longest)
			continue;
		found.longest = thread->longest;
		found.begin = thread->begin;
	}
	return found;
}

void gt_turns_free(struct gt_turns *turns)
{
	free(turns->places.entries);
	free(turns->waits);
	*turns = (struct gt_turns){ .count = 0 };
}

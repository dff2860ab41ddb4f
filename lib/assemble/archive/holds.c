/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acquisitions, in the order in which their locations are converted.
 *
 * Limits: see holds.h.
 */
#include "config.h"

#include "lib/assemble/archive/holds.h"

#include "gputrace/compiler.h"
#include "lib/assemble/util/array.h"
#include "lib/assemble/util/rules.h"

struct gt_hold_of {
	uint64_t key;
	struct gt_hold hold;
};

/* A lock is given back. */
static void keep(struct gt_track *t, const struct gt_hold_open *open, uint64_t ns)
{
	struct gt_worker *w = t->w;

	if (ns - open->wanted < GT_LEAST_WAIT || w->hold_count == GT_HOLDS_MOST ||
	    !gt_array_has_room(w->holds, w->hold_count, &w->hold_room))
		return;
	w->holds[w->hold_count++] = (struct gt_hold_of){
		open->key, { .wanted = open->wanted, .acquired = open->acquired, .released = ns,
			     .location = (uint32_t)(t->out - t->conv->layout->locations) } };
}

void gt_holds_acquired(struct gt_track *t, uint64_t key, uint64_t wanted, uint64_t ns)
{
	if (t->has_count == GT_HOLDS_OPEN)
		memmove(&t->has[0], &t->has[1], --t->has_count * sizeof(t->has[0]));
	t->has[t->has_count++] = (struct gt_hold_open){ key, wanted, ns };
}

void gt_holds_released(struct gt_track *t, uint64_t key, uint64_t ns)
{
	for (unsigned i = t->has_count; i--;) {
		if (t->has[i].key != key)
			continue;
		keep(t, &t->has[i], ns);
		t->has_count--;
		if (gt_unlikely(i < t->has_count))
			memmove(&t->has[i], &t->has[i + 1], (t->has_count - i) * sizeof(t->has[0]));
		return;
	}
}

void gt_holds_end(struct gt_track *t, uint64_t ns)
{
	while (t->has_count)
		keep(t, &t->has[--t->has_count], ns);
}

static int by_time(const void *a, const void *b)
{
	const struct gt_hold *x = a, *y = b;

	return (x->acquired > y->acquired) - (x->acquired < y->acquired);
}

/* Those of one lock, in their order; none if there is no memory for them. */
static struct gt_hold *collect(const struct gt_worker *workers, unsigned count, uint64_t key, size_t *n)
{
	struct gt_hold *holds = NULL;
	size_t room = 0;

	for (unsigned i = 0; i < count; i++)
		for (size_t k = 0; k < workers[i].hold_count; k++) {
			if (workers[i].holds[k].key != key)
				continue;
			if (!gt_array_has_room(holds, *n, &room)) {
				*n = 0;
				return holds;
			}
			holds[(*n)++] = workers[i].holds[k].hold;
		}
	if (*n)
		qsort(holds, *n, sizeof(*holds), by_time);
	return holds;
}

struct gt_turns_found gt_holds_turns(const struct gt_worker *workers, unsigned count, uint64_t key)
{
	struct gt_turns turns = { .count = 0 };
	struct gt_turns_found found;
	size_t n = 0;
	struct gt_hold *holds = collect(workers, count, key, &n);

	for (size_t i = 0; i < n; i++)
		gt_turns_add(&turns, holds, i, NULL, NULL);
	found = turns.failed ? (struct gt_turns_found){ .waits = 0 } : gt_turns_find(&turns);
	gt_turns_free(&turns);
	free(holds);
	return found;
}

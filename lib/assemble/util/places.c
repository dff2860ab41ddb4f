/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of the items of one hash, by their places.
 *
 * Limits: see places.h.
 */
#include "lib/assemble/util/places.h"

#include <stdlib.h>

#include "gputrace/hash.h"
#include "lib/assemble/util/memory.h"

static uint32_t *head_of(const struct gt_places *places, unsigned what, uint64_t number)
{
	uint64_t hash = gt_hash_mix(gt_hash_mix(GT_HASH_START, number), what);

	return &places->heads[hash & (places->room - 1)];
}

static void put(struct gt_places *places, size_t place)
{
	struct gt_place *entry = &places->entries[place];
	uint32_t *head = head_of(places, entry->what, entry->number);

	entry->next = *head;
	*head = (uint32_t)place + 1;
}

/* Puts those of a list, of which the first was added last, so that it is the first again. */
static void put_all(struct gt_places *places, uint32_t first)
{
	uint32_t at, next, reversed = 0;

	for (at = first; at; at = next) {
		next = places->entries[at - 1].next;
		places->entries[at - 1].next = reversed;
		reversed = at;
	}
	for (at = reversed; at; at = next) {
		next = places->entries[at - 1].next;
		put(places, at - 1);
	}
}

static void grow(struct gt_places *places)
{
	uint32_t *old = places->heads;
	size_t count = places->room;

	places->room = count ? 2 * count : 64;
	places->entries = reallocarray(places->entries, places->room, sizeof(*places->entries));
	places->heads = calloc(places->room, sizeof(*places->heads));
	if (!places->entries || !places->heads)
		gt_no_memory();
	for (size_t i = 0; i < count; i++)
		put_all(places, old[i]);
	free(old);
}

void gt_places_add(struct gt_places *places, unsigned what, uint64_t number)
{
	if (places->count == places->room)
		grow(places);
	places->entries[places->count] = (struct gt_place){ .number = number, .what = what };
	put(places, places->count++);
}

/* What says that the next one is `place`. */
static uint32_t *link_to(struct gt_places *places, size_t place)
{
	const struct gt_place *entry = &places->entries[place];
	uint32_t *link = head_of(places, entry->what, entry->number);

	while (*link != place + 1)
		link = &places->entries[*link - 1].next;
	return link;
}

size_t gt_places_take(struct gt_places *places, unsigned what, uint64_t number)
{
	size_t place, last;
	uint32_t *link;

	if (!places->count)
		return GT_NO_PLACE;
	for (link = head_of(places, what, number); *link; link = &places->entries[*link - 1].next) {
		const struct gt_place *entry = &places->entries[*link - 1];

		if (entry->number == number && entry->what == what)
			break;
	}
	if (!*link)
		return GT_NO_PLACE;
	place = *link - 1;
	*link = places->entries[place].next;
	last = --places->count;
	if (place != last) {
		*link_to(places, last) = (uint32_t)place + 1;
		places->entries[place] = places->entries[last];
	}
	return place;
}

void gt_places_free(struct gt_places *places)
{
	free(places->entries);
	free(places->heads);
	*places = (struct gt_places){ .count = 0 };
}

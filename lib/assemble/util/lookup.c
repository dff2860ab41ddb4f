/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables that grow when they are half full.
 */
#include "config.h"

#include "lib/assemble/util/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 10

int gt_lookup_init(struct gt_lookup *lookup)
{
	lookup->bits = FIRST_BITS;
	lookup->used = 0;
	lookup->entries = calloc((size_t)1 << FIRST_BITS, sizeof(*lookup->entries));
	return lookup->entries ? 0 : -ENOMEM;
}

void gt_lookup_clear(struct gt_lookup *lookup)
{
	if (lookup->used)
		memset(lookup->entries, 0, sizeof(*lookup->entries) << lookup->bits);
	lookup->used = 0;
}

static void insert(struct gt_lookup_entry *entries, unsigned bits, struct gt_lookup_entry entry)
{
	size_t mask = ((size_t)1 << bits) - 1;
	size_t i = gt_hash_word(entry.word) >> (64 - bits);

	while (entries[i].word)
		i = (i + 1) & mask;
	entries[i] = entry;
}

const struct gt_lookup_entry *gt_lookup_put(struct gt_lookup *lookup, uint64_t word, uint32_t value,
					    uint32_t aux)
{
	size_t size = (size_t)1 << lookup->bits;

	if (2 * (lookup->used + 1) > size) {
		struct gt_lookup_entry *entries = calloc(2 * size, sizeof(*entries));

		if (!entries)
			return NULL;
		for (size_t i = 0; i < size; i++)
			if (lookup->entries[i].word)
				insert(entries, lookup->bits + 1, lookup->entries[i]);
		free(lookup->entries);
		lookup->entries = entries;
		lookup->bits++;
	}
	insert(lookup->entries, lookup->bits,
	       (struct gt_lookup_entry){ .word = word, .value = value, .aux = aux });
	lookup->used++;
	return gt_lookup_find(lookup, word);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables from a word to a number: what a worker has learned about the process it converts.
 *
 * Limits: the word 0 cannot be a key; entries are not removed one by one; one thread.
 */
#ifndef GT_ASSEMBLE_UTIL_LOOKUP_H
#define GT_ASSEMBLE_UTIL_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "gputrace/hash.h"

struct gt_lookup_entry {
	uint64_t word;           /* 0: free */
	uint32_t value, aux;
};

/* Open addressing. */
struct gt_lookup {
	struct gt_lookup_entry *entries;
	unsigned bits;
	size_t used;
};

/* 0, or -ENOMEM. The entries are freed with free(). */
int gt_lookup_init(struct gt_lookup *lookup);
void gt_lookup_clear(struct gt_lookup *lookup);

/* The entry of `word`, or NULL; valid until something is put. */
static inline const struct gt_lookup_entry *gt_lookup_find(const struct gt_lookup *lookup, uint64_t word)
{
	size_t mask = ((size_t)1 << lookup->bits) - 1;
	size_t i = gt_hash_word(word) >> (64 - lookup->bits);

	for (;; i = (i + 1) & mask) {
		if (lookup->entries[i].word == word)
			return &lookup->entries[i];
		if (!lookup->entries[i].word)
			return NULL;
	}
}

/* Adds a word that is not there yet. NULL: no memory. */
const struct gt_lookup_entry *gt_lookup_put(struct gt_lookup *lookup, uint64_t word, uint32_t value,
					    uint32_t aux);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree's hash functions: of words, by multiplication (use the upper bits); of keys of several words; and
 * of bytes (FNV-1a).
 *
 * Limits: not installed; not safe against a program that provokes collisions. Keys that the recording side
 * passes to the assembly are made by gt_hash_mix() and gt_hash_bytes(): changing these changes the format.
 */
#ifndef GPUTRACE_HASH_H
#define GPUTRACE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define GT_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t gt_hash_word(uint64_t word)
{
	return word * UINT64_C(0x9e3779b97f4a7c15);
}

/* A key of several words, one after the other; from any `hash`. */
static inline uint64_t gt_hash_mix(uint64_t hash, uint64_t word)
{
	hash = gt_hash_word(hash ^ word);
	return hash ^ hash >> 29;
}

/* From GT_HASH_START, or the hash of what came before. */
static inline uint64_t gt_hash_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t gt_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	for (const unsigned char *at = (const unsigned char *)data; bytes--; at++)
		hash = gt_hash_byte(hash, *at);
	return hash;
}

static inline uint64_t gt_hash_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = gt_hash_byte(hash, (unsigned char)*text++);
	return hash;
}

#endif

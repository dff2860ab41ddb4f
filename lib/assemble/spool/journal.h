/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's journal of definitions, read back: records by type and id, strings.
 *
 * Limits: read-only and held in memory as a whole; reading stops at the first record whose check
 * does not fit, everything before it is used.
 */
#ifndef GT_ASSEMBLE_SPOOL_JOURNAL_H
#define GT_ASSEMBLE_SPOOL_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/format.h"

#define GT_JOURNAL_TYPES 32u
#define GT_JOURNAL_MAX   (UINT64_C(1) << 30) /* bytes of one journal that are read at most */

struct gt_journal_entry {
	uint32_t id;
	uint32_t order; /* position among the records of its type, as written */
	uint64_t at;    /* offset of the record in `data` */
};

struct gt_journal {
	unsigned char *data;
	uint64_t mapped;  /* its bytes, if it is the file itself; 0: a copy */
	uint64_t bytes;   /* of complete records */
	uint64_t unread;  /* bytes behind them that make no sense */
	struct gt_journal_type {
		struct gt_journal_entry *entries; /* sorted by id, then order */
		size_t count, room;
	} types[GT_JOURNAL_TYPES];
};

/*
 * Reads the definitions of the process whose folder `dirfd` is. A missing or damaged file gives an empty or
 * shorter journal (`unread`); the result is 0, or a negative errno for want of memory or a failed read.
 */
int gt_journal_read(struct gt_journal *journal, int dirfd);
void gt_journal_free(struct gt_journal *journal);

/* The payload of the (last) definition `id` of `type`, or NULL. `bytes` may be NULL. */
const void *gt_journal_find(const struct gt_journal *journal, unsigned type, uint32_t id,
			    size_t *bytes);

/* The n-th (from 0) record of a type by id; NULL behind the last. */
const void *gt_journal_nth(const struct gt_journal *journal, unsigned type, size_t n, uint32_t *id,
			   size_t *bytes);
size_t gt_journal_count(const struct gt_journal *journal, unsigned type);

/* A string definition's text, always with a NUL; NULL if there is none. */
const char *gt_journal_string(const struct gt_journal *journal, uint32_t id);

/* The value of the first PROPERTY with this key, or NULL. */
const char *gt_journal_property(const struct gt_journal *journal, const char *key);

/* FNV-1a, 32 bit; start with GT_FNV_START. The check of a record covers its first twelve bytes,
 * then the payload. */
#define GT_FNV_START 2166136261u
uint32_t gt_fnv32(uint32_t hash, const void *data, size_t bytes);

#endif

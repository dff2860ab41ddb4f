/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing of full halves on their way to the spool file: 16-byte slots become 2 to 4 bytes, because
 * what a spool costs is page cache, and page cache is paid by the byte (doc/adr/0003).
 * Limits: no malloc; a block holds at most GT_PACK_UNIT bytes of slots; blocks do not cross halves.
 *
 * A block is a struct gt_pack_header and tokens of 32 bits. Both sides keep `last`, the last time,
 * and a table of 2,048 words, empty (0) at the beginning of a block. For a slot (time, word) with
 * d = time - last and h = gt_pack_hash(word):
 *
 *   d << 11 | h              the table has `word` at h, d < 2^21, h < 2047
 *   2047 | 0 << 11 | h << 16, d (64 bits)          the same with d < 2^40
 *   2047 | 1 << 11, time (64 bits), word (64 bits) anything; table[h] = word
 *   2047 | 2 << 11 | h << 16, d << 11 | n          a word whose low half counts: the table has it at h
 *                                                with a low half that is less by n < 2^11; d < 2^21
 *   2047 | 3 << 11 | k << 16 | m << 24, d (32 bits), values
 *                                                a record of metrics with the word of base k, and its
 *                                                continuation slots
 *   2047 | 4 << 11 | n << 16, n times d << 7 | i (16 bits)
 *                                                n slots, a multiple of 4, of words of `near`: d < 2^9
 *
 * `near`, behind the table, has the first 128 words that stood in the block as `anything`, but for those
 * that count and those of bases: i is where. Small functions call each other that quickly.
 *
 * Words of type GT_T_TAG count; for them h = gt_pack_hash(word without its low half).
 *
 * The bases are the last records of metrics, one for each word of the first GT_PACK_BASES; such a word that
 * stands in the block as `anything` becomes one, or replaces that of the same word, and is not in the table
 * then. Of the data of the record the block has the differences to that of its base, which lies before it
 * whole: m has two bits for each of the first four words, from the lowest: the difference takes 0, 2, 4 or 8
 * bytes, with its sign. Before each further four words stands a byte like m.
 *
 * `last` becomes `time` unless d >= 2^40 (continuation slots hold data, not times). Continuation
 * slots of all other records go through like slots.
 */
#ifndef GT_PACK_H
#define GT_PACK_H

#include "gputrace/records.h"

#include <stddef.h>
#include <stdint.h>

#define GT_MAGIC_PACK   0x4b50544741524721ull
#define GT_PACK_UNIT    (256u << 10)              /* most bytes of slots in one block */
#define GT_PACK_ROOM(n) ((size_t)(n) / 16 * 20 + sizeof(struct gt_pack_header)) /* for n bytes */
#define GT_PACK_NEAR    2048u                     /* words of the table; here `near` begins */
#define GT_PACK_WORDS   (GT_PACK_NEAR + 385u)     /* of both */
#define GT_PACK_BASES   16u

struct gt_pack_header {
	uint64_t magic;
	uint64_t offset;   /* stream offset of the first slot */
	uint32_t slots;
	uint32_t bytes;    /* that follow this header; 16 * slots: the slots as they were */
	uint64_t last;     /* `last` at the beginning */
	uint64_t check;    /* gt_pack_check of what follows */
	uint64_t low;      /* ticks: slots with an older time were never finished; 0: not known */
};

/* Enter and leave of one function differ in bits 56 and 57, so their products part for sure. */
static inline uint32_t gt_pack_hash(uint64_t word)
{
	return (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 53);
}

#define GT_PACK_COUNTS(word) ((word) >> 56 == GT_T_TAG)
#define GT_PACK_LOW          UINT64_C(0xffffffff)

/* A record of metrics? */
#define GT_PACK_VALUES(word) ((word) >> 57 == GT_T_METRICS >> 1) /* or METRIC */

/* Where in the table a word is looked for that is not there as it is. */
static inline uint32_t gt_pack_family(uint64_t word)
{
	return gt_pack_hash(GT_PACK_COUNTS(word) ? word & ~GT_PACK_LOW : word);
}

/*
 * Packs `slots` slots into `out` (room for GT_PACK_ROOM(16 * slots) bytes), header included; `table`
 * is scratch of GT_PACK_WORDS words. Returns the size of the block.
 */
size_t gt_pack(const void *slots_at, uint32_t slots, uint64_t offset, void *out, uint64_t *table);

/* Only the header, for slots that are written as they are. */
void gt_pack_raw_header(struct gt_pack_header *header, const void *slots_at, uint32_t slots,
			uint64_t offset);

/*
 * Unpacks the `header->bytes` bytes behind a header into `out` (room for header->slots slots).
 * Believes nothing: returns 0, or -EPROTO if they are not what gt_pack made.
 */
int gt_unpack(const struct gt_pack_header *header, const void *bytes, void *out, uint64_t *table);

uint64_t gt_pack_check(const void *data, size_t bytes);

#endif

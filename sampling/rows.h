/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that lead from a frame to its caller's, one word for each instruction. Rules of a function are
 * made once, from its table, and kept as rows in an arena that only grows; which row an address has is
 * kept in a cache. All threads write these at once, without a lock.
 *
 * Limits: registers rsp, rbp and rbx are followed, or those of aarch64 that cpu.h has for them; frames up to
 * 2 GB, saved registers up to 8 kB (on aarch64 16 MB, if they lie next to each other) from the frame's end.
 * When the arena is full, functions that are new are read again each time the cache forgets them.
 */
#ifndef SAMPLING_ROWS_H
#define SAMPLING_ROWS_H

#include "gputrace/hash.h"
#include "sampling/cpu.h"
#include "sampling/objects.h"
#include "sampling/unwind.h"

/*
 * Bits 0..4: the kind; 5, 6: where rbp is saved, 7, 8: where rbx is (GT_SAVED_...); 9..19, 20..30: at which
 * word; 32..63: an offset. CFA: the stack pointer's value in the caller, below which the return address is.
 */
enum {
	GT_RULE_NOWHERE = 0,     /* no executable memory that is known */
	GT_RULE_NONE = 1,        /* code of a file, but no table says more */
	GT_RULE_END = 2,         /* the thread's beginning */
	GT_RULE_SIGNAL = 3,      /* a signal's frame: the kernel has saved all registers */
	GT_RULE_PLT = 4,         /* a word is pushed in the middle of the stub of 16 bytes */
	GT_RULE_JIT = 5,         /* code in no file: by frame pointer */
	GT_RULE_AT_SP = 6,       /* CFA = *(rsp + 24 bits of the offset) + its upper 8 */
	GT_RULE_AT_BP = 7,       /* the same by rbp: the stack was aligned */
	/*
	 * Before a jump to the caller (longjmp(), exceptions): the offset's bits 0..4 are the register with
	 * its address; 5..9, 10..14: plus 1, those with rsp and rbp. 0: rsp + bits 16..31, and the same.
	 */
	GT_RULE_JUMP = 8,
	GT_RULE_REGISTER = 16,   /* + DWARF's number of a register: CFA = register + offset */
	GT_RULE_BX = 16 + 3,
	GT_RULE_BP = 16 + 6,
	GT_RULE_SP = 16 + 7,
};

/* GT_SAVED_NEXT: by CFA, behind rbp if that is saved, too; then bits 9..30 are the word before (aarch64 saves
 * both at the frame's low end, which is far from its high one). */
enum { GT_SAVED_NOT, GT_SAVED_BY_CFA, GT_SAVED_BY_BP, GT_SAVED_NEXT };

static inline unsigned gt_rule_kind(uint64_t rule)
{
	return rule & 31;
}

/* At which word rbp (0) or rbx (1) is saved. */
static inline intptr_t gt_rule_slot(uint64_t rule, unsigned which)
{
	if (GT_CPU_LINKS && (rule >> 7 & 3) == GT_SAVED_NEXT)
		return ((intptr_t)(rule >> 9 & 0x3fffff) ^ 0x200000) - 0x200000 + which;
	return ((intptr_t)(rule >> (9 + 11 * which) & 2047) ^ 1024) - 1024;
}

static inline int32_t gt_rule_offset(uint64_t rule)
{
	return (int32_t)(rule >> 32);
}

/* A function's rules, from the instruction at `off` bytes of it on. */
struct gt_row {
	uint64_t rule;
	uint32_t off;
};

enum { GT_CACHE_BITS = 16 };

struct gt_cached {
	uint64_t check, rule; /* check: of address, generation and rule, so that half an entry fits none */
};

/* NULL: not yet made. */
GT_HIDDEN extern struct gt_cached *gt_cache;

/* Makes the rule, or finds it among the rows. [signal-safe] */
GT_HIDDEN uint64_t gt_rows_rule(struct gt_walker *walker, uintptr_t address);
GT_HIDDEN bool gt_rows_ready(void);

/* walker->stamp: gt_rows_stamp() at the walk's beginning. */
static inline uint64_t gt_rows_stamp(void)
{
	return gt_hash_word(gt_objects_generation());
}

/* The rule of the instruction at `address`. [signal-safe] */
static inline uint64_t gt_rule(struct gt_walker *walker, uintptr_t address)
{
	struct gt_cached *entry = &gt_cache[gt_hash_word(address) >> (64 - GT_CACHE_BITS)];
	uint64_t rule = __atomic_load_n(&entry->rule, __ATOMIC_RELAXED);
	uint64_t check = __atomic_load_n(&entry->check, __ATOMIC_RELAXED);

	if (gt_likely(check == (address ^ walker->stamp ^ gt_hash_word(rule))))
		return rule;
	return gt_rows_rule(walker, address);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The filter as the hooks see it: is this function recorded, dropped, or to be asked for each call?
 *
 * Budget: without a filter one load and a test. With one, for a function that is dropped, seven
 * instructions more: its place in gt_dropped and a comparison; no thread-local access, no clock, no
 * lock. Two functions that share a place there take turns: one of them is found by its hash in the
 * table, for about 20 instructions. The names are looked up at the first call of each function.
 *
 * How it is safe without a lock: an entry is one word, written at once, and holds the whole answer.
 * A reader who misses one that is being moved goes to the slow path, which waits for the lock and
 * looks again. Entries of a module that is gone are set to 0.
 *
 * Limits: three quarters of GT_VERDICTS_MAX functions; those beyond are recorded. Functions whose
 * file has no symbol for them have no name: only patterns of nothing but '*' match them.
 */
#ifndef GT_VERDICT_H
#define GT_VERDICT_H

#include "gputrace/hash.h"
#include "lib/common/filter.h"
#include "lib/record/hot.h"

#include <stdint.h>

#define GT_VERDICTS_MAX (1u << 20)

enum gt_verdict {
	GT_VERDICT_RECORD = 0,
	GT_VERDICT_DROP = 1,
	GT_VERDICT_ASK = 2, /* gt_callstack_enter() and gt_callstack_leave() know (callstack.h) */
};

/* Properties of the whole filter; 0: everything is recorded and nothing else is needed. Bits of
 * gt_verdicts.mode. */
enum {
	GT_VERDICT_UNSET = 1,  /* gt_verdict_setup() has not run yet: the first call makes it run */
	GT_VERDICT_TABLE = 2,  /* look into the table */
	GT_VERDICT_TRACK = 4,  /* ASK is possible: each location needs a gt_callstack_new() */
	GT_VERDICT_DEPTH = 8,  /* levels or call paths matter: every function is asked for */
	GT_VERDICT_CALLEES = 16, /* R: everything that is not dropped anyway is asked for */
	GT_VERDICT_PATHS = 32, /* no filter: calls of adapters may have call paths (call_paths.h) */
};

struct gt_verdicts {
	unsigned mode;
	uint64_t mask;   /* of the part of the table that is in use */
	uint64_t *table; /* key << 2 | enum gt_verdict; 0: free. Never NULL */
} __attribute__((aligned(64)));
extern GT_HIDDEN struct gt_verdicts gt_verdicts;

/* Addresses of functions that are dropped, each at gt_dropped_slot() or nowhere. 0: none. */
#define GT_DROPPED_PLACES (1u << 14)
extern GT_HIDDEN uint64_t gt_dropped[GT_DROPPED_PLACES];

/* The key of a function is its address; of a region of the adapters and the user API: */
#define GT_VERDICT_REGION(ref) (UINT64_C(1) << 61 | (ref))

/*
 * Dropped functions are not plainly so until their hooks' calls are switched off, or will not be (patch.c);
 * atomic. False: everything that is dropped is plainly dropped.
 */
extern GT_HIDDEN bool gt_verdict_patches;
/* A dropped function is plainly dropped from now on. [signal-safe] */
GT_HIDDEN void gt_verdict_settle(uint64_t key);

GT_HIDDEN enum gt_verdict gt_verdict_slow(uint64_t key);

static inline uint64_t gt_verdict_hash(uint64_t key)
{
	return gt_hash_word(key) >> 44;
}

/* GT_VERDICT_* bits, 0: there is nothing to do but to record. */
static inline unsigned gt_verdict_mode(void)
{
	return __atomic_load_n(&gt_verdicts.mode, __ATOMIC_RELAXED);
}

/* Is there a filter, or may there be one? */
static inline bool gt_verdict_filters(void)
{
	return gt_verdict_mode() & ~(unsigned)GT_VERDICT_PATHS;
}

/* Code is aligned to 16 bytes: neighbours have places of their own in 256 KiB of it. */
static inline uint64_t gt_dropped_slot(uint64_t key)
{
	return key >> 4 & (GT_DROPPED_PLACES - 1);
}

/* Is it plain that the function is dropped? When there is a filter. [signal-safe] */
static inline bool gt_plainly_dropped(uint64_t key)
{
	return __atomic_load_n(&gt_dropped[gt_dropped_slot(key)], __ATOMIC_RELAXED) == key;
}

/* The verdict on a function's address or on GT_VERDICT_REGION(ref), when there is a filter. Most are
 * in the first place of their key's chain. */
static inline enum gt_verdict gt_verdict_look(uint64_t key)
{
	uint64_t mask = __atomic_load_n(&gt_verdicts.mask, __ATOMIC_RELAXED);
	uint64_t place = gt_verdict_hash(key) & mask;
	uint64_t verdict = __atomic_load_n(&gt_verdicts.table[place], __ATOMIC_RELAXED) ^ key << 2;

	return gt_likely(verdict < 4) ? (enum gt_verdict)verdict : gt_verdict_slow(key);
}

/* The same whether there is one or not. [signal-safe] */
static inline enum gt_verdict gt_verdict_of(uint64_t key)
{
	if (gt_likely(!gt_verdict_filters()))
		return GT_VERDICT_RECORD;
	return gt_verdict_look(key);
}

/*
 * Reads VT_FILTER_SPEC, VT_GROUPS_SPEC and VT_MAX_STACK_DEPTH from gt_settings. Call it once, from
 * the set-up of the process, before anything is recorded; it never fails: without memory or with a
 * bad file everything is recorded, and `complain` has been called. Children of fork inherit it all.
 */
GT_HIDDEN void gt_verdict_setup(gt_filter_complaint *complain);
/* From now on the mode has GT_VERDICT_PATHS. */
GT_HIDDEN void gt_verdict_ask_paths(void);

/*
 * The rank is known now (-1: this is no rank). Returns false if the filter file switches the
 * rank off: the caller then calls gt_switch(false).
 */
GT_HIDDEN bool gt_verdict_set_rank(int64_t rank);

/*
 * A region is about to be defined: its verdict, and in *ticket what gt_verdict_region_made() wants
 * to know. `name` NULL: it has only its linker's name. GT_VERDICT_DROP: do not define it. May wait for a
 * lock.
 */
GT_HIDDEN enum gt_verdict gt_verdict_region(const char *name, const char *canonical,
					    const char *group, uint32_t *ticket);
/* It has been defined as `ref` (only needed for GT_VERDICT_ASK). */
GT_HIDDEN void gt_verdict_region_made(uint32_t ref, uint32_t ticket);

/* The group of a region or function as the groups file has it, else `group`. Stays valid. */
GT_HIDDEN const char *gt_verdict_group(const char *name, const char *canonical, const char *group);

/* Nothing of what lay in [start, end) is there any more. The lock of modules.c may be held. */
GT_HIDDEN void gt_verdict_forget(uint64_t start, uint64_t end);

/* How many functions have been looked up, and how many of them are dropped (for tests). */
GT_HIDDEN void gt_verdict_counts(uint32_t *functions, uint32_t *dropped);

/* ---- for verdict_first.c ------------------------------------------------------------------------- */

struct gt_module_range;

/* Is it in the table, or no use to look? */
GT_HIDDEN bool gt_verdict_known(uint64_t key, enum gt_verdict *verdict);
/* Judges a function that is not in the table by the name that the file there (or NULL) has for it. */
GT_HIDDEN enum gt_verdict gt_verdict_judge(uint64_t key, const struct gt_module_range *range);

/* ---- for patch.c --------------------------------------------------------------------------------- */

/* How many bytes of code a function has that lies in that range; 0: that is not known. */
GT_HIDDEN uint32_t gt_verdict_bytes(uint64_t key, const struct gt_module_range *range);
/* Does the code at an address of that range belong to the function, or to a part or copy made of it? */
GT_HIDDEN bool gt_verdict_owns(uint64_t key, const struct gt_module_range *range, uint64_t address);

/* ---- for callstack.c ----------------------------------------------------------------------------- */

/* What is known of one function or region that must be asked for. Never moves, never changes once
 * its key is set, except through gt_verdict_set_rank(). */
struct gt_verdict_info {
	uint64_t key;
	int64_t limit;        /* -1: none */
	uint32_t min, max;    /* levels */
	uint32_t word;        /* letter in the call paths, 0: in none */
	uint32_t names;       /* offset in the pool of names, + 1; 0: not kept */
	uint32_t bytes;       /* size of the function's code, 0: unknown */
	bool recursive;
};
#define GT_VERDICT_INFOS_MAX GT_VERDICTS_MAX

extern GT_HIDDEN struct gt_filter *gt_verdict_filter;
extern GT_HIDDEN struct gt_verdict_info *gt_verdict_infos; /* 0 is not used */
/* The index in gt_verdict_infos, 0: none. */
GT_HIDDEN uint32_t gt_verdict_info_of(uint64_t key);

#endif

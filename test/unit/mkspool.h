/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes spools without a recorder: what a process would have left on disk, step by step, including
 * what it leaves when it is killed in the middle of a step.
 *
 * Limits: for tests; ends the test program when the disk or the memory is full.
 */
#ifndef GT_TEST_MKSPOOL_H
#define GT_TEST_MKSPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/format.h"

#define MK_HZ UINT64_C(2000000000) /* ticks per second: two ticks are a nanosecond */

struct mk_proc {
	char path[600];
	struct gt_proc_header header;
	uint32_t last_id[32];
	int defs;
};

struct mk_loc {
	struct mk_proc *proc;
	struct gt_win_header win;
	unsigned char *window; /* two halves */
	uint64_t cur, limit;
	int raw;
};

/* An archive directory with an empty spool, in a fresh folder below TMPDIR. Returns its path. */
const char *mk_run(void);
/* Removes a directory made by mk_run and all in it. */
void mk_remove(const char *dir);

/* A process that began at `begin` ticks; origin as in gt_proc_header, parent_seq ~0: none. */
struct mk_proc *mk_proc(const char *dir, uint32_t seq, uint32_t pid, const char *program,
			uint64_t begin);
/* Writes the header as it is now. */
void mk_proc_write(struct mk_proc *proc);
/* The process ends its recording at `tick`. */
void mk_proc_end(struct mk_proc *proc, enum gt_end_how how, uint32_t status, uint64_t tick);
void mk_proc_free(struct mk_proc *proc);

/* Definitions. id 0: the next one of the type. Return the id. */
uint32_t mk_def(struct mk_proc *proc, unsigned type, uint32_t id, const void *payload,
		size_t bytes);
uint32_t mk_string(struct mk_proc *proc, const char *text);
uint32_t mk_region(struct mk_proc *proc, const char *name);
/* A region that the program begins and ends itself (OTF2_REGION_ROLE_CODE). */
uint32_t mk_range(struct mk_proc *proc, const char *name, const char *group);
void mk_module(struct mk_proc *proc, uint64_t tick, uint64_t start, uint64_t end, uint64_t offset,
	       const char *path);
void mk_property(struct mk_proc *proc, const char *key, const char *value);

/* A location with halves of `half` bytes; `ring` bytes of ring, or 0. */
struct mk_loc *mk_loc(struct mk_proc *proc, uint32_t id, uint32_t half, uint64_t ring,
		      uint64_t begin);
/* The same for a GPU's stream in a location group, or one that carries records for others; `name` may
 * be NULL. */
struct mk_loc *mk_loc_kind(struct mk_proc *proc, uint32_t id, enum gt_loc_kind kind, const char *name,
			   uint32_t group);
/* Records with the rules of the recorder: padding at the end of a half, spooling of full ones. */
void mk_slot(struct mk_loc *loc, uint64_t tick, uint64_t word);
void mk_record(struct mk_loc *loc, uint64_t tick, unsigned type, uint64_t low,
	       const uint64_t *data, unsigned extra);
/* The two halves of recording: reserving slots, and finishing the record later or never. */
uint64_t mk_reserve(struct mk_loc *loc, uint64_t tick, unsigned slots);
void mk_finish(struct mk_loc *loc, uint64_t offset, uint64_t tick, uint64_t word);

static inline void mk_enter(struct mk_loc *loc, uint64_t tick, uint32_t region)
{
	mk_slot(loc, tick, GT_WORD(GT_T_ENTER, region));
}

static inline void mk_leave(struct mk_loc *loc, uint64_t tick, uint32_t region)
{
	mk_slot(loc, tick, GT_WORD(GT_T_LEAVE, region));
}

/* Writes the window file and frees the location. */
void mk_loc_close(struct mk_loc *loc);

#endif

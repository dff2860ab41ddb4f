/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call stacks, walked in a signal handler: by the tables that compilers make for exceptions (.eh_frame),
 * which are read when a function is first seen and kept as rows (rows.h). Nothing here allocates, locks or
 * waits, calls a function of libc or loads from memory that may be gone: of the program only stacks are read
 * by plain loads, all else by a system call that fails softly (peek.h).
 *
 * Limits: x86-64 and aarch64; elsewhere a walk is the interrupted instruction. Code that is replaced by other
 * code without gt_unwind_changed() may be walked by what was there before. Not in a process that has confined
 * itself.
 */
#ifndef SAMPLING_UNWIND_H
#define SAMPLING_UNWIND_H

#include "gputrace/compiler.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
	GT_WALK_FRAMES = 254, /* of a walk at most */
	GT_WALK_OUTER = 54,   /* of them stay next to the thread's beginning if others are left out */
	GT_WALK_WINDOW = 2048,/* bytes that are copied from elsewhere at once */
};

/* Where a frame stands: what its caller's place is computed from. */
struct gt_walk_place {
	uintptr_t sp, bp, bx;
};

/* The registers at the frame that a walk has come to. */
struct gt_walk_cpu {
	uintptr_t pc, sp, bp, bx;
	const long long *all; /* all of them, if this is where a thread was interrupted: then pc is exact */
	bool guessed;
};

/* The candidate entries of a search table; from, to: their range of addresses. */
struct gt_walk_range {
	uint64_t low, high;
	int64_t from, to;
};

/* State while the rows of a function are made (tables.c). */
struct gt_walk_state {
	int32_t cfa;
	int32_t slot[2]; /* where rbp and rbx are saved, in words */
	uint8_t kind, saved[2], ends;
	uint8_t in[3]; /* which register, plus 1, has the return address, the caller's rsp and rbp */
};

/* An executable mapping (objects.h). */
struct gt_walk_object {
	uint64_t low, high;
	uint64_t base;  /* where the file's beginning lies; + 1: mapped by the segment that has the code */
	uint64_t table; /* .eh_frame_hdr; 0: there is none; GT_OBJECT_NO_FILE: a JIT's memory */
	uint64_t what;  /* of the headers, as a check */
	uint32_t id;    /* no other object has had it */
};

/* A function, as its table has it (tables.h). */
struct gt_walk_function {
	uint64_t low, high; /* its instructions */
	/* The instructions to run: the common ones of a kind of functions, then the function's own. */
	uint64_t common, common_end, own, own_end;
	uint64_t code_unit;
	int64_t data_unit;
	uint8_t encoding; /* of addresses */
	bool signal;      /* the kernel's frame of a signal */
	bool sized;       /* its entry says where its program begins */
};

/* A reader: the next byte, the end; bad: it ran past the end. */
struct gt_walk_cursor {
	uint64_t at, end;
	bool bad;
};

struct gt_row;

/* A program that runs: its rows go into row[0..most); the row that it is in began at `start`. */
struct gt_walk_run {
	struct gt_row *row;
	unsigned most, n, depth;
	uint64_t start, wanted, answer; /* answer: the rule at `wanted` */
};

/* A line of /proc/self/maps, as it is read. */
struct gt_walk_line {
	uint64_t value[7];
	uint64_t file; /* where the beginning of a file was last seen */
	unsigned field, letters;
};

/*
 * One a thread, zeroed first. `frames`: the walk's, innermost first, words of GT_FRAME_WORD(); `kept`: how
 * many of the outermost are those of the walk before; `flags`: GT_SAMPLE_CUT, GT_SAMPLE_BROKEN. All else is
 * the unwinder's own.
 */
struct gt_walker {
	const uint64_t *frames;
	unsigned n, kept, flags;

	uintptr_t low, high;     /* the thread's stack */
	uintptr_t from, extent;  /* words that start in [from, from + extent) can be read */
	uint64_t stamp;          /* of the tables' generation */
	unsigned cut;            /* frames of the walk before that lie outside of those left out */
	unsigned hopeless;       /* walks to come that do not go on for long */
	/* The walk before, its outermost frame last; the frames of this one, innermost first. */
	uint64_t word[GT_WALK_FRAMES], fresh_word[GT_WALK_FRAMES];
	struct gt_walk_place place[GT_WALK_FRAMES], fresh_place[GT_WALK_FRAMES];

	/* Memory of what is called, because the program's stack may be small. */
	struct gt_walk_cpu cpu;
	struct gt_walk_range range;
	struct gt_walk_state state, initial, remembered[8];
	struct gt_walk_object object;
	struct gt_walk_function function;
	struct gt_walk_cursor cursor;
	struct gt_walk_run run;
	struct gt_walk_line line;
	/* The object that was left out last, as of a generation. */
	uintptr_t out_low, out_high;
	uint32_t out_seen;
	uintptr_t window_at;
	unsigned window_bytes;
	uint8_t window[GT_WALK_WINDOW] __attribute__((aligned(8)));
};

/* The thread's stack is [low, high): nothing at `high` or above is read. [signal-safe] */
GT_HIDDEN void gt_walker_begin(struct gt_walker *walker, uintptr_t low, uintptr_t high);
/* Walks the stack of the thread, interrupted at `context`; returns walker->n. [signal-safe] */
GT_HIDDEN unsigned gt_walk(struct gt_walker *walker, const ucontext_t *context);
/* The same from where the caller stands. [signal-safe] */
GT_HIDDEN unsigned gt_walk_here(struct gt_walker *walker);
/* Forgets the innermost frames of the walk up to the one that returns to `address`, and those that follow it
 * in the same object; all of them if there is no such frame. [signal-safe] */
GT_HIDDEN void gt_walk_leave_out(struct gt_walker *walker, uintptr_t address);
/* Makes the process's tables, in each process once; false: there is no memory. [signal-safe] */
GT_HIDDEN bool gt_unwind_ready(void);
/* Objects were loaded or unloaded: what is known of them is looked at again. [signal-safe] */
GT_HIDDEN void gt_unwind_changed(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples of an archive (DIR/gpu/pcsamples.*, doc/cuda.md), of all its processes: by function, instruction
 * and stall reason, and by launch; and counts of instructions (DIR/gpu/sass.*), by metric.
 *
 * Limits: what is no line of that format is counted and left out. Memory that cannot be had ends the process,
 * as in report/print/figures.h.
 */
#ifndef GT_REPORT_SOURCE_SAMPLES_H
#define GT_REPORT_SOURCE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_PC_REASONS 64u
#define GT_PC_METRICS 33u /* of instructions, floating-point operations among them */
#define GT_PC_NAME    4097u /* the longest name that is kept (GT_NAME_MAX), and a NUL */

struct gt_pc_reason {
	char *name;       /* "long_scoreboard"; NULL: there is none of this number */
	bool not_issued;  /* counted once more under another: `base` */
	unsigned base;    /* the reason that it is the unissued part of; else its own number */
};

struct gt_pc_instruction {
	uint64_t offset;
	uint64_t all;     /* samples: reasons that are not not_issued */
	uint64_t reasons[GT_PC_REASONS];
	uint64_t metrics[GT_PC_METRICS];
};

struct gt_pc_function {
	uint64_t crc;
	uint32_t index;   /* in the cubin's symbol table */
	char *name;       /* as the linker knows it */
	char *shown;      /* demangled */
	struct gt_pc_instruction *items; /* by offset */
	size_t count, room;
	uint64_t all;
	uint64_t reasons[GT_PC_REASONS];
	uint64_t metrics[GT_PC_METRICS];
};

struct gt_pc_process {
	uint32_t pid;
	int rank;
	char *host, *program, *sampling; /* the way: of sampling, or of counting */
};

/* The samples of one function by one launch. */
struct gt_pc_launch {
	size_t process, function;
	uint32_t correlation;
	uint64_t samples;
};

struct gt_pc_samples {
	struct gt_pc_reason reasons[GT_PC_REASONS];
	char *metrics[GT_PC_METRICS];     /* "smsp__sass_inst_executed" */
	unsigned metric_count;
	bool counted, sampled;            /* there are files of counts, of samples */
	struct gt_pc_function *functions; /* most samples first, or most of the first metric */
	size_t function_count;
	struct gt_pc_process *processes;
	size_t process_count;
	struct gt_pc_launch *launches;    /* by process and correlation; none: not serialized */
	size_t launch_count, launch_room;
	uint64_t all;                     /* in the functions */
	uint64_t total, dropped, others, interrupted;
	unsigned period;                  /* the shortest one; samples of longer ones count as often */
	bool mixed, merged;
	uint64_t bad;                     /* lines */
};

/* Reads DIR/gpu; `dir` is a descriptor of DIR. 0, -ENOENT: there are no samples, or a negative errno. */
int gt_pc_samples_read(struct gt_pc_samples *samples, int dir);
/* One file's text, which is changed. For tests. */
void gt_pc_samples_parse(struct gt_pc_samples *samples, char *text);
/* Sums, order, names: when all is parsed. */
void gt_pc_samples_finish(struct gt_pc_samples *samples);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows where kernels spend their time: PC samples or instruction counts by line and instruction, with the
 * call paths of the launches. As figures (report/print/figures.h), as annotated source in a terminal, and
 * as HTML.
 *
 * Limits: as samples.h and cubin.h. Source is shown if the file is where the compiler found it; nothing is
 * read but files whose name ends as that of a source.
 */
#ifndef GT_REPORT_SOURCE_H
#define GT_REPORT_SOURCE_H

#include <stdio.h>

#include "report/print/figures.h"
#include "report/source/cubin.h"
#include "report/source/samples.h"

/* Samples of a line of a function: its own, and with what was inlined there. */
struct gt_src_line {
	const char *file;   /* "": not known */
	unsigned line;
	uint64_t self, all;
	uint64_t reasons[GT_PC_REASONS]; /* its own */
	uint64_t metrics[GT_PC_METRICS]; /* its own */
};

/* The user's request, for one function. */
struct gt_src_function {
	struct gt_pc_function *samples;
	struct gt_cubin *cubin;     /* NULL: it is not in the archive */
	struct gt_src_line *lines;  /* by file and line */
	size_t line_count, line_room;
};

struct gt_src_path {
	char *path;                 /* "main > step > cuLaunchKernel" */
	size_t function;            /* of samples.functions */
	uint64_t samples, launches;
};

struct gt_src {
	struct gt_pc_samples samples;
	struct gt_src_function *functions;
	size_t count;
	struct gt_cubin **cubins;   /* of the functions; those of one cubin share it */
	size_t cubin_count;
	struct gt_src_path *paths;  /* most samples first */
	size_t path_count, path_room;
	bool no_text;               /* there is no nvdisasm */
	bool flops;                 /* they are known */
	int folder;                 /* DIR/gpu */
};

/*
 * The samples in DIR (a descriptor) of kernels whose name holds `kernel` (NULL: all). `text`: that of
 * instructions, too. 0, -ENOENT: there are none, -ESRCH: none of such a kernel, or a negative errno.
 */
int gt_src_open(struct gt_src *src, int dir, const char *kernel, bool text);
/* The call paths of serialized launches, from the archive's events. 0 or a negative errno. */
int gt_src_paths(struct gt_src *src, const char *anchor);

/* The reasons of a line or instruction, most first: "long_scoreboard 71 %, wait 12 %". Returns buffer. */
const char *gt_src_reasons(const struct gt_src *src, const uint64_t *reasons, uint64_t all, unsigned most,
			   char *buffer, size_t size);

/* ---- counts of instructions (counts.c) ----------------------------------------------------------- */

/* A metric: floating-point operations, from the threads and the text of each instruction. */
#define GT_SRC_FLOPS (GT_PC_METRICS - 1)
void gt_src_add_flops(struct gt_src *src, struct gt_pc_function *function, const struct gt_cubin *cubin);
/* The metrics that there are, in the order in which they are shown. Returns how many. */
unsigned gt_src_metrics(const struct gt_src *src, unsigned *metrics);
/* A metric's name; `brief`: without what all of them begin with. */
const char *gt_src_metric(const struct gt_src *src, unsigned metric, bool brief);
/* Why some are not there, or NULL. */
const char *gt_src_count_note(const struct gt_src *src);
void gt_src_count_figures(const struct gt_src *src, struct gt_figures *figures);

/* ---- faces --------------------------------------------------------------------------------------- */

void gt_src_figures(const struct gt_src *src, struct gt_figures *figures);
/* Annotated source of each function, and with `instructions` these, too. */
void gt_src_annotate(const struct gt_src *src, FILE *out, bool instructions, unsigned width);
void gt_src_html(const struct gt_src *src, const char *title, FILE *out);

/* The lines of a source file, or NULL: one by one from 1. */
struct gt_src_text;
struct gt_src_text *gt_src_text_open(const char *file);
const char *gt_src_text_line(const struct gt_src_text *text, unsigned line);
void gt_src_text_close(struct gt_src_text *text);

#endif

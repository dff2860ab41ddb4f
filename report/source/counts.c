/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of instructions as figures, and the floating-point operations among them: CUPTI counts the threads
 * of each instruction, and the name that nvdisasm gives it says what a thread does by it.
 *
 * Limits: of floating point, additions and multiplications; a fused pair counts two, as is usual, and
 * comparisons, conversions, functions (MUFU) and constants that are loaded by HFMA2 none. Products of
 * matrices count as dense ones.
 */
#include "config.h"

#include "report/source/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define THREADS "smsp__sass_thread_inst_executed_pred_on"

/* ---- floating-point operations --------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned count;
} known[] = {
	{ "FADD", 1 },	{ "FMUL", 1 },	{ "FFMA", 2 },	{ "FADD32I", 1 }, { "FMUL32I", 1 }, { "FFMA32I", 2 },
	{ "DADD", 1 },	{ "DMUL", 1 },	{ "DFMA", 2 },	{ "HADD2", 2 },	  { "HMUL2", 2 },   { "HFMA2", 4 },
	{ "FADD2", 2 }, { "FMUL2", 2 }, { "FFMA2", 4 }, { "HADD2_32I", 2 }, { "HMUL2_32I", 2 },
	{ "HFMA2_32I", 4 },
};

/*
 * m x n x k of a product: "16816" (of digits where there are one or two for each), "1688", "884", "8x8x4",
 * "64x128x16". 0: something else.
 */
static uint64_t size_of_product(const char *text)
{
	static const struct {
		const char *text;
		uint64_t size;
	} packed[] = { { "16816", 16 * 8 * 16 }, { "1688", 16 * 8 * 8 }, { "1684", 16 * 8 * 4 },
		       { "16832", 16 * 8 * 32 }, { "884", 8 * 8 * 4 } };
	size_t n = strspn(text, "0123456789x");
	uint64_t size = 1;

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (strlen(packed[i].text) == n && !strncmp(packed[i].text, text, n))
			return packed[i].size;
	if (!memchr(text, 'x', n))
		return 0;
	for (char *end; isdigit((unsigned char)*text); text = *end == 'x' ? end + 1 : end)
		size *= strtoull(text, &end, 10) & 0xffff;
	return size;
}

/* HMMA of a warp, HGMMA of four. */
static uint64_t of_product(const char *name, size_t length, const char *rest)
{
	bool group = length == 5 && !strncmp(name + 1, "GMMA", 4);
	bool warp = length == 4 && !strncmp(name + 1, "MMA", 3);

	if ((!group && !warp) || !strchr("HDQ", *name) || *rest != '.')
		return 0;
	return 2 * size_of_product(rest + 1) / (group ? 128 : 32);
}

static uint64_t flops_of(const char *text)
{
	size_t n;

	if (!text)
		return 0;
	if (*text == '@') /* "@!P0 FADD ..." */
		text += strcspn(text, " ");
	text += strspn(text, " ");
	n = strcspn(text, ". ");
	if (strstr(text, "-RZ, RZ,")) /* HFMA2.MMA R1, -RZ, RZ, 0, 0: the compiler's way to load a constant */
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == n && !strncmp(known[i].name, text, n))
			return known[i].count;
	return of_product(text, n, text + n);
}

void gt_src_add_flops(struct gt_src *src, struct gt_pc_function *f, const struct gt_cubin *cubin)
{
	const struct gt_pc_samples *s = &src->samples;
	unsigned threads = 0;

	while (threads < s->metric_count && strcmp(s->metrics[threads], THREADS))
		threads++;
	for (size_t i = 0; cubin && threads < s->metric_count && i < f->count; i++) {
		struct gt_pc_instruction *at = &f->items[i];
		const char *text = gt_cubin_text(cubin, f->name, at->offset);

		src->flops |= text != NULL;
		at->metrics[GT_SRC_FLOPS] = at->metrics[threads] * flops_of(text);
		f->metrics[GT_SRC_FLOPS] += at->metrics[GT_SRC_FLOPS];
	}
}

/* ---- which there are ------------------------------------------------------------------------------ */

unsigned gt_src_metrics(const struct gt_src *src, unsigned *metrics)
{
	unsigned n = 0;

	if (src->flops)
		metrics[n++] = GT_SRC_FLOPS;
	for (unsigned i = 0; i < src->samples.metric_count; i++)
		metrics[n++] = i;
	return n;
}

const char *gt_src_metric(const struct gt_src *src, unsigned metric, bool brief)
{
	static const char common[] = "smsp__sass_";
	const char *name = metric == GT_SRC_FLOPS ? "flops" : src->samples.metrics[metric];
	size_t n = brief && !strncmp(name, common, strlen(common)) ? strlen(common) : 0;

	return name + n;
}

const char *gt_src_count_note(const struct gt_src *src)
{
	if (src->flops || !src->no_text)
		return NULL;
	return "There is no nvdisasm (of the CUDA toolkit): floating-point operations are not known.";
}

/* ---- figures -------------------------------------------------------------------------------------- */

static const struct gt_column way_columns[] = {
	{ "counting", "way", GT_TEXT },
	{ "processes", "processes", GT_COUNT },
};
static const struct gt_column kernel_columns[] = {
	{ "kernel", "kernel", GT_TEXT }, { "metric", "metric", GT_TEXT }, { "value", "value", GT_COUNT },
	{ "canonical", NULL, GT_TEXT },	 { "cubin", NULL, GT_TEXT },
};
static const struct gt_column line_columns[] = {
	{ "kernel", "kernel", GT_TEXT }, { "file", "file", GT_TEXT },	{ "line", "line", GT_COUNT },
	{ "metric", "metric", GT_TEXT }, { "value", "value", GT_COUNT }, { "share", "share", GT_SHARE },
};
static const struct gt_column instruction_columns[] = {
	{ "kernel", "kernel", GT_TEXT },	   { "offset", "offset", GT_TEXT },
	{ "instruction", "instruction", GT_TEXT }, { "metric", "metric", GT_TEXT },
	{ "value", "value", GT_COUNT },
};
static const struct gt_section_kind way_kind =
	GT_SECTION("sass", "Counts of instructions", GT_OBJECT, way_columns);
static const struct gt_section_kind kernel_kind =
	GT_SECTION("sass.kernels", "Counts of instructions, by kernel", GT_ROWS, kernel_columns);
static const struct gt_section_kind line_kind =
	GT_SECTION("sass.lines", "Counts of instructions, by line", GT_ROWS, line_columns);
static const struct gt_section_kind instruction_kind =
	GT_SECTION("sass.instructions", "Counts of instructions", GT_ROWS, instruction_columns);

static void add_way(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &way_kind);
	const struct gt_pc_samples *s = &src->samples;
	union gt_cell *row = gt_row_add(section);

	row[0].text = s->process_count ? s->processes[0].sampling : NULL;
	row[1].count = s->process_count;
}

static void add_kernel(const struct gt_src *src, struct gt_section *section, const struct gt_pc_function *f,
		       struct gt_figures *figures)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(src, metrics);

	for (unsigned i = 0; i < n; i++) {
		union gt_cell *row = gt_row_add(section);

		row[0].text = f->shown;
		row[1].text = gt_src_metric(src, metrics[i], false);
		row[2].count = f->metrics[metrics[i]];
		row[3].text = f->name;
		row[4].text = gt_figures_text(figures, "%016llx", (unsigned long long)f->crc);
	}
}

static void add_line(const struct gt_src *src, struct gt_section *section, const struct gt_src_function *f,
		     const struct gt_src_line *line)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(src, metrics);

	for (unsigned i = 0; i < n; i++) {
		uint64_t all = f->samples->metrics[metrics[i]];
		union gt_cell *row;

		if (!line->metrics[metrics[i]])
			continue;
		row = gt_row_add(section);
		row[0].text = f->samples->shown;
		row[1].text = *line->file ? line->file : NULL;
		row[2].count = line->line ? line->line : GT_NO_COUNT;
		row[3].text = gt_src_metric(src, metrics[i], false);
		row[4].count = line->metrics[metrics[i]];
		row[5].number = (double)line->metrics[metrics[i]] / (double)all;
	}
}

static void add_instruction(const struct gt_src *src, struct gt_section *section,
			    const struct gt_src_function *f, const struct gt_pc_instruction *at,
			    struct gt_figures *figures)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(src, metrics);

	for (unsigned i = 0; i < n; i++) {
		union gt_cell *row;

		if (!at->metrics[metrics[i]])
			continue;
		row = gt_row_add(section);
		row[0].text = f->samples->shown;
		row[1].text = gt_figures_text(figures, "0x%llx", (unsigned long long)at->offset);
		row[2].text = f->cubin ? gt_cubin_text(f->cubin, f->samples->name, at->offset) : NULL;
		row[3].text = gt_src_metric(src, metrics[i], false);
		row[4].count = at->metrics[metrics[i]];
	}
}

void gt_src_count_figures(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *kernels, *lines, *instructions;

	add_way(src, figures);
	kernels = gt_section_add(figures, &kernel_kind);
	kernels->note = gt_src_count_note(src);
	lines = gt_section_add(figures, &line_kind);
	instructions = gt_section_add(figures, &instruction_kind);
	for (size_t i = 0; i < src->count; i++) {
		const struct gt_src_function *f = &src->functions[i];

		add_kernel(src, kernels, f->samples, figures);
		for (size_t k = 0; k < f->line_count; k++)
			add_line(src, lines, f, &f->lines[k]);
		for (size_t k = 0; k < f->samples->count; k++)
			add_instruction(src, instructions, f, &f->samples->items[k], figures);
	}
}

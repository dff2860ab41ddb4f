/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotated source in a terminal. What an archive or a source file says is escaped.
 *
 * Limits: see source.h.
 */
#include "config.h"

#include "report/source/source.h"

#include "lib/assemble/report/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 3u /* of counts, each of COUNT_WIDTH characters */
#define COUNT_WIDTH 16
#define AROUND 2u /* lines without samples that are shown beside those with some */

struct page {
	const struct gt_src *src;
	FILE *out;
	unsigned width;
};

static const char *shown(char *buffer, size_t size, const char *text, unsigned columns)
{
	return gt_summary_escape(buffer, size, text, columns);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Blanks for tabs, cut to the columns. */
static const char *code(char *buffer, size_t size, const char *text, unsigned columns)
{
	char plain[512];
	size_t n = 0;

	for (; text && *text && *text != '\r' && n < sizeof(plain) - 8; text++) {
		if (*text != '\t') {
			plain[n++] = *text;
			continue;
		}
		do
			plain[n++] = ' ';
		while (n % 4);
	}
	plain[n] = 0;
	return shown(buffer, size, plain, columns);
}

static unsigned code_columns(const struct page *p)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(p->src, metrics);
	unsigned left = 28 + 30 + (n < COLUMNS ? n : COLUMNS) * (COUNT_WIDTH + 1);

	return p->width > left + 24 ? p->width - left : 24;
}

/* Each with a blank behind it; NULL: none. */
static void put_counts(const struct page *p, const uint64_t *counts)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(p->src, metrics);
	char text[64];

	for (unsigned i = 0; i < n && i < COLUMNS; i++) {
		const union gt_cell cell = { .count = counts ? counts[metrics[i]] : 0 };

		fprintf(p->out, "%*s ", COUNT_WIDTH,
			cell.count ? gt_cell_print(text, sizeof(text), cell, GT_COUNT) : "");
	}
}

static void put_count_heads(const struct page *p)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(p->src, metrics);

	for (unsigned i = 0; i < n && i < COLUMNS; i++)
		fprintf(p->out, "%*.*s ", COUNT_WIDTH, COUNT_WIDTH, gt_src_metric(p->src, metrics[i], true));
}

/* Writes the text before the line's number; line NULL: none. */
static void put_numbers(const struct page *p, const struct gt_src_function *f, const struct gt_src_line *line)
{
	fputc(' ', p->out);
	if (p->src->samples.sampled && line)
		fprintf(p->out, " %6.1f %6.1f ", percent(line->self, f->samples->all),
			percent(line->all, f->samples->all));
	else if (p->src->samples.sampled)
		fprintf(p->out, " %6s %6s ", "", "");
	else
		fputc(' ', p->out);
	put_counts(p, line ? line->metrics : NULL);
}

static void put_heads(const struct page *p)
{
	fprintf(p->out, p->src->samples.sampled ? "  %6s %6s " : "  ", "self %", "all %");
	put_count_heads(p);
	fprintf(p->out, "%7s\n", "line");
}

static void put_line(const struct page *p, const struct gt_src_function *f, const struct gt_src_line *line,
		     const char *source)
{
	char reasons[128], text[1200], stalls[600];
	unsigned columns = code_columns(p);

	gt_src_reasons(p->src, line->reasons, line->self, 2, reasons, sizeof(reasons));
	put_numbers(p, f, line);
	fprintf(p->out, "%7u  %-*s  %s\n", line->line, (int)columns,
		code(text, sizeof(text), source, columns), shown(stalls, sizeof(stalls), reasons, 120));
}

static void put_context(const struct page *p, const struct gt_src_text *source, unsigned from, unsigned to)
{
	char text[1200];

	for (unsigned n = from; n < to && gt_src_text_line(source, n); n++) {
		put_numbers(p, NULL, NULL);
		fprintf(p->out, "%7u  %s\n", n,
			code(text, sizeof(text), gt_src_text_line(source, n), code_columns(p)));
	}
}

/* Lines of one file, with those between them if they are few. Returns how many. */
static size_t put_file(const struct page *p, const struct gt_src_function *f, size_t first)
{
	const char *file = f->lines[first].file;
	struct gt_src_text *source = gt_src_text_open(file);
	unsigned next = 0;
	char text[1200];
	size_t i = first;

	fprintf(p->out, "\n  %s%s\n", *file ? shown(text, sizeof(text), file, 100) : "no line known",
		source || !*file ? "" : " (not found here)");
	put_heads(p);
	for (; i < f->line_count && !strcmp(f->lines[i].file, file); i++) {
		const struct gt_src_line *line = &f->lines[i];
		unsigned from = line->line > AROUND ? line->line - AROUND : 1;

		if (next && from > next)
			put_context(p, source, next, next + AROUND < from ? next + AROUND : from);
		if (next && from > next + AROUND)
			fprintf(p->out, "  %23s\n", "...");
		put_context(p, source, next > from ? next : from, line->line);
		put_line(p, f, line, gt_src_text_line(source, line->line));
		next = line->line + 1;
	}
	put_context(p, source, next, next + AROUND);
	gt_src_text_close(source);
	return i - first;
}

static void put_instructions(const struct page *p, const struct gt_src_function *f)
{
	fprintf(p->out, "\n  %8s ", "offset");
	if (p->src->samples.sampled)
		fprintf(p->out, "%10s %6s ", "samples", "%");
	put_count_heads(p);
	fprintf(p->out, "%7s  %-50s%s\n", "line", "instruction",
		p->src->samples.sampled ? "  stall reasons" : "");
	for (size_t i = 0; i < f->samples->count; i++) {
		const struct gt_pc_instruction *at = &f->samples->items[i];
		struct gt_cubin_frame frames[GT_CUBIN_FRAMES] = { { "", 0, NULL } };
		const char *instruction = NULL;
		char reasons[256], text[300], stalls[800];

		if (f->cubin) {
			gt_cubin_frames(f->cubin, f->samples->index, f->samples->name, at->offset, frames);
			instruction = gt_cubin_text(f->cubin, f->samples->name, at->offset);
		}
		gt_src_reasons(p->src, at->reasons, at->all, 3, reasons, sizeof(reasons));
		fprintf(p->out, "  %8" PRIx64 " ", at->offset);
		if (p->src->samples.sampled)
			fprintf(p->out, "%10" PRIu64 " %6.1f ", at->all, percent(at->all, f->samples->all));
		put_counts(p, at->metrics);
		fprintf(p->out, "%7u  %-50s  %s\n", frames[0].line,
			shown(text, sizeof(text), instruction ? instruction : "", 50),
			shown(stalls, sizeof(stalls), reasons, 120));
	}
}

void gt_src_annotate(const struct gt_src *src, FILE *out, bool instructions, unsigned width)
{
	const struct page page = { src, out, width ? width : 80 };
	char text[1200];

	for (size_t i = 0; i < src->count; i++) {
		const struct gt_src_function *f = &src->functions[i];

		fprintf(out, "\n%s", shown(text, sizeof(text), f->samples->shown, 100));
		if (src->samples.sampled)
			fprintf(out, ": %" PRIu64 " samples", f->samples->all);
		fputc('\n', out);
		if (!f->cubin)
			fprintf(out, "  (the archive has no cubin of it)\n");
		else if (!gt_cubin_has_lines(f->cubin))
			fprintf(out, "  (compiled without -lineinfo: no source lines)\n");
		for (size_t k = 0; k < f->line_count;)
			k += put_file(&page, f, k);
		if (instructions)
			put_instructions(&page, f);
	}
	if (instructions && src->no_text)
		fprintf(out, "\nThere is no nvdisasm (of the CUDA toolkit): instructions have no text.\n");
}

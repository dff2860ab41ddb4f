/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples by line: each instruction's go to the line that it is of, and, as "all", once to every line of the
 * inlined calls that it is in.
 */
#include "config.h"

#include "report/source/source.h"

#include "lib/assemble/names/symbols.h"
#include "lib/assemble/util/io.h"
#include "lib/assemble/util/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct gt_src_line *find_line(struct gt_src_function *f, const char *file, unsigned line)
{
	for (size_t i = 0; i < f->line_count; i++)
		if (f->lines[i].line == line && !strcmp(f->lines[i].file, file))
			return &f->lines[i];
	if (f->line_count == f->line_room) {
		f->line_room = f->line_room ? 2 * f->line_room : 32;
		f->lines = gt_resized(f->lines, f->line_room, sizeof(*f->lines));
	}
	f->lines[f->line_count] = (struct gt_src_line){ .file = file, .line = line };
	return &f->lines[f->line_count++];
}

static bool seen(const struct gt_cubin_frame *frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i].line == frames[at].line && !strcmp(frames[i].file, frames[at].file))
			return true;
	return false;
}

static size_t frames_of(const struct gt_src_function *f, uint64_t offset, struct gt_cubin_frame *frames)
{
	const struct gt_pc_function *s = f->samples;

	return f->cubin ? gt_cubin_frames(f->cubin, s->index, s->name, offset, frames) : 0;
}

static void add_instruction(struct gt_src_function *f, const struct gt_pc_instruction *at)
{
	struct gt_cubin_frame frames[GT_CUBIN_FRAMES] = { { "", 0, NULL } };
	size_t n = frames_of(f, at->offset, frames);
	struct gt_src_line *line = find_line(f, frames[0].file, frames[0].line);

	line->self += at->all;
	for (unsigned k = 0; k < GT_PC_REASONS; k++)
		line->reasons[k] += at->reasons[k];
	for (unsigned k = 0; k < GT_PC_METRICS; k++)
		line->metrics[k] += at->metrics[k];
	for (size_t i = 0; i < (n ? n : 1); i++)
		if (!seen(frames, i))
			find_line(f, frames[i].file, frames[i].line)->all += at->all;
}

static int by_place(const void *va, const void *vb)
{
	const struct gt_src_line *a = va, *b = vb;
	int files = strcmp(a->file, b->file);

	return files ? files : a->line < b->line ? -1 : a->line > b->line;
}

static bool is_wanted(const struct gt_pc_function *f, const char *kernel)
{
	return !kernel || strstr(f->shown, kernel) || strstr(f->name, kernel);
}

/* Each cubin once. */
static struct gt_cubin *cubin_of(struct gt_src *src, uint64_t crc, bool text)
{
	struct gt_cubin *c;

	for (size_t i = 0; i < src->count; i++)
		if (src->functions[i].samples->crc == crc)
			return src->functions[i].cubin;
	c = gt_cubin_open(src->folder, crc);
	if (!c)
		return NULL;
	src->cubins = gt_resized(src->cubins, src->cubin_count + 1, sizeof(struct gt_cubin *));
	src->cubins[src->cubin_count++] = c;
	if (text && !gt_cubin_disassemble(c))
		src->no_text = true;
	return c;
}

static void add_function(struct gt_src *src, struct gt_pc_function *samples, bool text)
{
	struct gt_cubin *cubin = cubin_of(src, samples->crc, text);
	struct gt_src_function *f = &src->functions[src->count++];

	gt_src_add_flops(src, samples, cubin);

	*f = (struct gt_src_function){ .samples = samples, .cubin = cubin };
	for (size_t i = 0; i < samples->count; i++)
		add_instruction(f, &samples->items[i]);
	if (f->line_count)
		qsort(f->lines, f->line_count, sizeof(*f->lines), by_place);
}

int gt_src_open(struct gt_src *src, int dir, const char *kernel, bool text)
{
	int rc;

	*src = (struct gt_src){ .no_text = false };
	rc = gt_pc_samples_read(&src->samples, dir);
	if (rc)
		return rc;
	src->folder = gt_folder_open(dir, "gpu");
	if (src->folder < 0)
		return src->folder;
	src->functions = calloc(src->samples.function_count + 1, sizeof(*src->functions));
	if (!src->functions)
		return -ENOMEM;
	text |= src->samples.counted;
	for (size_t i = 0; i < src->samples.function_count; i++)
		if (is_wanted(&src->samples.functions[i], kernel))
			add_function(src, &src->samples.functions[i], text);
	return kernel && !src->count ? -ESRCH : 0;
}

/* ---- reasons ------------------------------------------------------------------------------------- */

struct reason {
	unsigned index;
	uint64_t samples;
};

static int by_samples(const void *va, const void *vb)
{
	const struct reason *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (int)a->index - (int)b->index;
}

static unsigned sort_reasons(const struct gt_src *src, const uint64_t *samples, struct reason *sorted)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GT_PC_REASONS; i++)
		if (samples[i] && !src->samples.reasons[i].not_issued)
			sorted[n++] = (struct reason){ i, samples[i] };
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_samples);
	return n;
}

static const char *name_of(const struct gt_src *src, unsigned reason)
{
	return src->samples.reasons[reason].name ? src->samples.reasons[reason].name : "?";
}

const char *gt_src_reasons(const struct gt_src *src, const uint64_t *reasons, uint64_t all, unsigned most,
			   char *buffer, size_t size)
{
	struct reason sorted[GT_PC_REASONS];
	unsigned n = sort_reasons(src, reasons, sorted);
	size_t used = 0;

	*buffer = 0;
	for (unsigned i = 0; i < n && i < most && used < size; i++)
		used += (size_t)snprintf(buffer + used, size - used, "%s%s %.0f %%", i ? ", " : "",
					 name_of(src, sorted[i].index),
					 100.0 * (double)sorted[i].samples / (double)(all ? all : 1));
	return buffer;
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column summary_columns[] = {
	{ "samples", "samples", GT_COUNT },
	{ "of_kernels", "of these in the program's kernels", GT_COUNT },
	{ "dropped", "dropped by the hardware", GT_COUNT },
	{ "of_others", "in other kernels (copies, sets)", GT_COUNT },
	{ "interrupted", "times that sampling was interrupted", GT_COUNT },
	{ "period_cycles", "cycles between samples of a multiprocessor", GT_COUNT },
	{ "processes", "processes", GT_COUNT },
	{ "sampling", "way", GT_TEXT },
};
static const struct gt_column kernel_columns[] = {
	{ "kernel", "kernel", GT_TEXT },
	{ "samples", "samples", GT_COUNT },
	{ "share", "share", GT_SHARE },
	{ "stalls", "stall reasons", GT_TEXT },
	{ "canonical", NULL, GT_TEXT },
	{ "cubin", NULL, GT_TEXT },
};
static const struct gt_column stall_columns[] = {
	{ "stall", "stall reason", GT_TEXT },
	{ "samples", "samples", GT_COUNT },
	{ "share", "share", GT_SHARE },
	{ "not_issued", "nothing issued", GT_COUNT },
	{ "kernel", "kernel", GT_TEXT },
};
static const struct gt_column line_columns[] = {
	{ "kernel", "kernel", GT_TEXT }, { "file", "file", GT_TEXT }, { "line", "line", GT_COUNT },
	{ "samples", "samples", GT_COUNT }, { "share", "share", GT_SHARE },
	{ "share_with_inlined", "with inlined", GT_SHARE }, { "stalls", "stall reasons", GT_TEXT },
};
static const struct gt_column instruction_columns[] = {
	{ "kernel", "kernel", GT_TEXT }, { "offset", "offset", GT_TEXT }, { "samples", "samples", GT_COUNT },
	{ "share", "share", GT_SHARE }, { "not_issued", "nothing issued", GT_COUNT },
	{ "instruction", "instruction", GT_TEXT }, { "lines", "lines", GT_TEXT },
	{ "stalls", "stall reasons", GT_TEXT },
};
static const struct gt_column path_columns[] = {
	{ "path", "call path", GT_TEXT }, { "kernel", "kernel", GT_TEXT },
	{ "launches", "launches", GT_COUNT }, { "samples", "samples", GT_COUNT },
	{ "share", "share", GT_SHARE },
};
static const struct gt_section_kind summary_kind =
	GT_SECTION("pc_sampling", "PC samples", GT_OBJECT, summary_columns);
static const struct gt_section_kind kernel_kind = GT_SECTION("kernels", "Kernels", GT_ROWS, kernel_columns);
static const struct gt_section_kind stall_kind =
	GT_SECTION("stalls", "Stall reasons", GT_ROWS, stall_columns);
static const struct gt_section_kind line_kind = GT_SECTION("lines", "Lines", GT_ROWS, line_columns);
static const struct gt_section_kind instruction_kind =
	GT_SECTION("instructions", "Instructions", GT_ROWS, instruction_columns);
static const struct gt_section_kind path_kind = GT_SECTION("paths", "Launched from", GT_ROWS, path_columns);

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static void add_summary(const struct gt_src *src, struct gt_figures *figures)
{
	const struct gt_pc_samples *s = &src->samples;
	struct gt_section *section = gt_section_add(figures, &summary_kind);
	union gt_cell *row = gt_row_add(section);

	row[0].count = s->total;
	row[1].count = s->all;
	row[2].count = s->dropped;
	row[3].count = s->others;
	row[4].count = s->interrupted;
	row[5].count = UINT64_C(1) << s->period;
	row[6].count = s->process_count;
	row[7].text = s->process_count ? s->processes[0].sampling : NULL;
	if (s->mixed)
		section->note = "Periods differ: samples of longer ones count as often as they are longer.";
	else if (s->bad)
		section->note = "The file of samples is damaged: some lines could not be read.";
}

static void add_kernels(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &kernel_kind);
	char text[512];

	for (size_t i = 0; i < src->count; i++) {
		const struct gt_pc_function *f = src->functions[i].samples;
		union gt_cell *row = gt_row_add(section);

		row[0].text = f->shown;
		row[1].count = f->all;
		row[2].number = share(f->all, src->samples.all);
		row[3].text = gt_figures_text(figures, "%s", gt_src_reasons(src, f->reasons, f->all, 3, text,
									   sizeof(text)));
		row[4].text = f->name;
		row[5].text = gt_figures_text(figures, "%016llx", (unsigned long long)f->crc);
	}
}

static uint64_t not_issued(const struct gt_src *src, const uint64_t *reasons, unsigned base)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < GT_PC_REASONS; i++)
		if (src->samples.reasons[i].not_issued &&
		    (base == GT_PC_REASONS || src->samples.reasons[i].base == base))
			n += reasons[i];
	return n;
}

static void add_stalls(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &stall_kind);

	for (size_t i = 0; i < src->count; i++) {
		const struct gt_pc_function *f = src->functions[i].samples;
		struct reason sorted[GT_PC_REASONS];
		unsigned n = sort_reasons(src, f->reasons, sorted);

		for (unsigned k = 0; k < n; k++) {
			union gt_cell *row = gt_row_add(section);

			row[0].text = name_of(src, sorted[k].index);
			row[1].count = sorted[k].samples;
			row[2].number = share(sorted[k].samples, f->all);
			row[3].count = not_issued(src, f->reasons, sorted[k].index);
			row[4].text = f->shown;
		}
	}
}

static void add_lines(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &line_kind);
	char text[512];

	for (size_t i = 0; i < src->count; i++)
		for (size_t k = 0; k < src->functions[i].line_count; k++) {
			const struct gt_src_function *f = &src->functions[i];
			const struct gt_src_line *line = &f->lines[k];
			union gt_cell *row = gt_row_add(section);

			row[0].text = f->samples->shown;
			row[1].text = *line->file ? line->file : NULL;
			row[2].count = line->line ? line->line : GT_NO_COUNT;
			row[3].count = line->self;
			row[4].number = share(line->self, f->samples->all);
			row[5].number = share(line->all, f->samples->all);
			row[6].text = gt_figures_text(figures, "%s",
						      gt_src_reasons(src, line->reasons, line->self,
								     GT_PC_REASONS, text, sizeof(text)));
		}
}

/* An inlined function's name; what nvcc puts before that of a static one is left out. */
static const char *inlined(const char *function, char *full)
{
	const char *name = gt_demangled(function, full) ? full : function;
	const char *rest = strncmp(name, "_INTERNAL_", 10) ? NULL : strstr(name, "::");

	return rest ? rest + 2 : name;
}

/* "poly(float) at kern.h:4, kern.h:10": innermost first. */
static const char *frames_text(const struct gt_src_function *f, uint64_t offset, char *text, size_t size)
{
	struct gt_cubin_frame frames[GT_CUBIN_FRAMES];
	size_t n = frames_of(f, offset, frames);
	char full[GT_PC_NAME];
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s:%u", i ? ", " : "",
					 frames[i].function ? inlined(frames[i].function, full) : "",
					 frames[i].function ? " at " : "", frames[i].file, frames[i].line);
	return n ? text : NULL;
}

static void add_instructions(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &instruction_kind);
	char text[4096];

	for (size_t i = 0; i < src->count; i++)
		for (size_t k = 0; k < src->functions[i].samples->count; k++) {
			const struct gt_src_function *f = &src->functions[i];
			const struct gt_pc_instruction *at = &f->samples->items[k];
			union gt_cell *row = gt_row_add(section);

			row[0].text = f->samples->shown;
			row[1].text = gt_figures_text(figures, "0x%llx", (unsigned long long)at->offset);
			row[2].count = at->all;
			row[3].number = share(at->all, f->samples->all);
			row[4].count = not_issued(src, at->reasons, GT_PC_REASONS);
			row[5].text = f->cubin ? gt_cubin_text(f->cubin, f->samples->name, at->offset) : NULL;
			if (frames_text(f, at->offset, text, sizeof(text)))
				row[6].text = gt_figures_text(figures, "%s", text);
			row[7].text = gt_figures_text(figures, "%s",
						      gt_src_reasons(src, at->reasons, at->all, GT_PC_REASONS,
								     text, sizeof(text)));
		}
}

static void add_paths(const struct gt_src *src, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &path_kind);

	for (size_t i = 0; i < src->path_count; i++) {
		const struct gt_src_path *path = &src->paths[i];
		union gt_cell *row = gt_row_add(section);

		row[0].text = path->path;
		row[1].text = src->samples.functions[path->function].shown;
		row[2].count = path->launches;
		row[3].count = path->samples;
		row[4].number = share(path->samples, src->samples.all);
	}
}

void gt_src_figures(const struct gt_src *src, struct gt_figures *figures)
{
	if (src->samples.sampled) {
		add_summary(src, figures);
		add_kernels(src, figures);
		add_stalls(src, figures);
		add_lines(src, figures);
		add_instructions(src, figures);
	}
	if (src->samples.counted)
		gt_src_count_figures(src, figures);
	if (src->path_count)
		add_paths(src, figures);
}

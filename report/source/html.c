/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotated source, and maps of blocks, as one page of HTML: no script, nothing from elsewhere, and a policy
 * that forbids both. Whatever an archive or a source file says is text.
 *
 * Limits: see source.h.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/source/blocks.h"
#include "report/source/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" "
	"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
static const char style[] =
	"</title>\n<style>\n"
	":root { color-scheme: light dark }\n"
	"body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5em; max-width: 110em }\n"
	"table { border-collapse: collapse; margin: .6em 0 1.5em }\n"
	"caption { text-align: left; font-weight: 600 }\n"
	"th, td { padding: .1em .7em; text-align: left; vertical-align: top }\n"
	"th { border-bottom: 1px solid #8888 } .n { text-align: right; font-variant-numeric: tabular-nums;\n"
	"white-space: nowrap }\n"
	"code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; tab-size: 4 }\n"
	"h2 code { font-size: 17px }\n"
	"meter { width: 6em } tr:hover { background: #8882 } small { opacity: .75 }\n"
	"</style></head><body>\n";

/* Text, also of an attribute in quotes. Control characters and bytes that are not UTF-8 become visible. */
static void put(FILE *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; at && *at; at++) {
		unsigned more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : *at >= 0xe0 && *at < 0xf0 ? 2
				: *at >= 0xf0 && *at < 0xf5 ? 3 : 4;
		bool whole = more < 4;

		for (unsigned i = 1; whole && i <= more; i++)
			whole = (at[i] & 0xc0) == 0x80;
		if (strchr("&<>\"'", *at) || (*at < ' ' && *at != '\t') || *at == 0x7f)
			fprintf(out, *at < ' ' || *at == 0x7f ? "\\x%02x" : "&#%u;", *at);
		else if (!whole)
			fprintf(out, "\\x%02x", *at);
		else
			fwrite(at, 1, 1 + more, out);
		at += whole ? more : 0;
	}
}

static void put_share(FILE *out, uint64_t part, uint64_t all)
{
	double share = all ? (double)part / (double)all : 0;

	fprintf(out, "<td class=n>%.1f %%<td><meter min=0 max=1 value=%.4f></meter>", 100 * share, share);
}

static void put_stalls(const struct gt_src *src, const uint64_t *reasons, uint64_t all, FILE *out)
{
	char text[1024];

	fputs("<td><small>", out);
	put(out, gt_src_reasons(src, reasons, all, 5, text, sizeof(text)));
	fputs("</small>\n", out);
}

static void put_count_heads(const struct gt_src *src, FILE *out)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(src, metrics);

	for (unsigned i = 0; i < n; i++) {
		fputs("<th class=n>", out);
		put(out, gt_src_metric(src, metrics[i], true));
	}
}

static void put_counts(const struct gt_src *src, const uint64_t *counts, FILE *out)
{
	unsigned metrics[GT_PC_METRICS], n = gt_src_metrics(src, metrics);

	for (unsigned i = 0; i < n; i++)
		fprintf(out, "<td class=n>%" PRIu64, counts[metrics[i]]);
}

static void put_kernels(const struct gt_src *src, FILE *out)
{
	fputs("<table><caption>Kernels</caption>"
	      "<tr><th>kernel<th>samples<th>share<th><th>stall reasons", out);
	put_count_heads(src, out);
	fputc('\n', out);
	for (size_t i = 0; i < src->count; i++) {
		const struct gt_pc_function *f = src->functions[i].samples;

		fprintf(out, "<tr><td><a href=\"#k%zu\"><code>", i);
		put(out, f->shown);
		fprintf(out, "</code></a><td class=n>%" PRIu64, f->all);
		put_share(out, f->all, src->samples.all);
		put_stalls(src, f->reasons, f->all, out);
		put_counts(src, f->metrics, out);
	}
	fputs("</table>\n", out);
}

static void put_paths(const struct gt_src *src, FILE *out)
{
	if (!src->path_count)
		return;
	fputs("<table><caption>Launched from</caption>"
	      "<tr><th>call path<th>kernel<th>launches<th>share<th>\n", out);
	for (size_t i = 0; i < src->path_count; i++) {
		fputs("<tr><td><code>", out);
		put(out, src->paths[i].path);
		fputs("</code><td><code>", out);
		put(out, src->samples.functions[src->paths[i].function].shown);
		fprintf(out, "</code><td class=n>%" PRIu64, src->paths[i].launches);
		put_share(out, src->paths[i].samples, src->samples.all);
		fputc('\n', out);
	}
	fputs("</table>\n", out);
}

static void put_lines(const struct gt_src *src, const struct gt_src_function *f, FILE *out)
{
	struct gt_src_text *source = NULL;
	const char *file = NULL;

	fputs("<table><tr><th>line<th>share<th><th>with inlined<th><th>source<th>stall reasons", out);
	put_count_heads(src, out);
	fputc('\n', out);
	for (size_t i = 0; i < f->line_count; i++) {
		const struct gt_src_line *line = &f->lines[i];

		if (!file || strcmp(file, line->file)) {
			file = line->file;
			gt_src_text_close(source);
			source = gt_src_text_open(file);
			fputs("<tr><th colspan=40><code>", out);
			put(out, *file ? file : "no line known");
			fputs("</code>\n", out);
		}
		fprintf(out, "<tr><td class=n>%u", line->line);
		put_share(out, line->self, f->samples->all);
		put_share(out, line->all, f->samples->all);
		fputs("<td><code>", out);
		put(out, gt_src_text_line(source, line->line));
		fputs("</code>", out);
		put_stalls(src, line->reasons, line->self, out);
		put_counts(src, line->metrics, out);
	}
	gt_src_text_close(source);
	fputs("</table>\n", out);
}

static void put_instructions(const struct gt_src *src, const struct gt_src_function *f, FILE *out)
{
	fputs("<details><summary>Instructions</summary><table>"
	      "<tr><th>offset<th>samples<th>share<th><th>line<th>instruction<th>stall reasons", out);
	put_count_heads(src, out);
	fputc('\n', out);
	for (size_t i = 0; i < f->samples->count; i++) {
		const struct gt_pc_instruction *at = &f->samples->items[i];
		struct gt_cubin_frame frames[GT_CUBIN_FRAMES] = { { "", 0, NULL } };

		if (f->cubin)
			gt_cubin_frames(f->cubin, f->samples->index, f->samples->name, at->offset, frames);
		fprintf(out, "<tr><td class=n>%" PRIx64 "<td class=n>%" PRIu64, at->offset, at->all);
		put_share(out, at->all, f->samples->all);
		fprintf(out, "<td class=n>%u<td><code>", frames[0].line);
		put(out, f->cubin ? gt_cubin_text(f->cubin, f->samples->name, at->offset) : NULL);
		fputs("</code>", out);
		put_stalls(src, at->reasons, at->all, out);
		put_counts(src, at->metrics, out);
	}
	fputs("</table></details>\n", out);
}

static void put_head(const char *title, FILE *out)
{
	fputs(head, out);
	put(out, title);
	fputs(style, out);
	fputs("<h1>", out);
	put(out, title);
	fputs("</h1>\n<p>", out);
}

void gt_src_html(const struct gt_src *src, const char *title, FILE *out)
{
	const struct gt_pc_samples *s = &src->samples;

	put_head(title, out);
	if (s->sampled)
		fprintf(out, "%" PRIu64 " samples of %zu process%s, %" PRIu64 " dropped, %" PRIu64
			" in other kernels. ", s->total, s->process_count, s->process_count == 1 ? "" : "es",
			s->dropped, s->others);
	put(out, s->process_count ? s->processes[0].sampling : NULL);
	if (s->counted && gt_src_count_note(src))
		fprintf(out, "<br>%s", gt_src_count_note(src));
	fputs("\n", out);
	put_kernels(src, out);
	put_paths(src, out);
	for (size_t i = 0; i < src->count; i++) {
		fprintf(out, "<h2 id=\"k%zu\"><code>", i);
		put(out, src->functions[i].samples->shown);
		fputs("</code></h2>\n", out);
		put_lines(src, &src->functions[i], out);
		put_instructions(src, &src->functions[i], out);
	}
	fputs("</body></html>\n", out);
}

/* ---- blocks -------------------------------------------------------------------------------------- */

#define MAP_WIDTH 1000u
#define MAP_EACH  10000u /* blocks that are drawn one by one */
#define MAP_CELLS 250u
#define MAP_ROWS  200u

static void put_time(FILE *out, uint64_t ns)
{
	char text[64];

	put(out, gt_cell_print(text, sizeof(text), (union gt_cell){ .count = ns }, GT_SECONDS));
}

static void put_rectangle(FILE *out, double x, double y, double width, double height)
{
	fprintf(out, "<rect x=%.2f y=%.2f width=%.2f height=%.2f", x, y, width, height);
}

/* Each block; where several run at a time they cover each other. */
static void put_each_block(const struct gt_block_launch *l, uint64_t span, double row, FILE *out)
{
	unsigned most = gt_blocks_most(l);

	fprintf(out, "<g stroke=Canvas stroke-width=.4 fill-opacity=%.3f>\n", most > 1 ? 1.0 / most : 0.8);
	for (size_t i = 0; i < l->count; i++) {
		const struct gt_block *b = &l->blocks[i];
		double scale = (double)MAP_WIDTH / (double)span;

		put_rectangle(out, (double)b->begin * scale, (b->sm - l->blocks[0].sm) * row,
			      (double)(b->end - b->begin) * scale, row);
		fprintf(out, "><title>block %" PRIu64 ", SM %u, ", b->number, b->sm);
		put_time(out, b->begin);
		fputs(" to ", out);
		put_time(out, b->end);
		fputs("</title></rect>\n", out);
	}
	fputs("</g>\n", out);
}

/* How many there are at a time, of the most. */
static void put_cells(const struct gt_block_launch *l, unsigned rows, double row, FILE *out)
{
	double *map = gt_blocks_cells(l, rows, MAP_CELLS), most = 0;

	for (size_t i = 0; i < (size_t)rows * MAP_CELLS; i++)
		most = map[i] > most ? map[i] : most;
	for (unsigned r = 0; r < rows; r++)
		for (unsigned c = 0, next; c < MAP_CELLS; c = next) {
			int shade = (int)(20 * map[r * MAP_CELLS + c] / most);

			for (next = c + 1; next < MAP_CELLS; next++)
				if ((int)(20 * map[r * MAP_CELLS + next] / most) != shade)
					break;
			if (!shade && map[r * MAP_CELLS + c] <= 0)
				continue;
			put_rectangle(out, (double)c * MAP_WIDTH / MAP_CELLS, r * row,
				      (double)(next - c) * MAP_WIDTH / MAP_CELLS, row);
			fprintf(out, " fill-opacity=%.3f></rect>\n", (shade + 1) / 21.0);
		}
	free(map);
}

static void put_launch(const struct gt_block_launch *l, FILE *out)
{
	unsigned sms = l->count ? l->blocks[l->count - 1].sm - l->blocks[0].sm + 1 : 0;
	unsigned rows = sms < MAP_ROWS ? sms : MAP_ROWS;
	double row = rows > 60 ? 5 : 300.0 / (rows + 1);
	uint64_t span = gt_blocks_span(l);

	fputs("<h2><code>", out);
	put(out, l->kernel);
	fprintf(out, "</code></h2>\n<p>%" PRIu64 " blocks", l->launched);
	if (l->count != l->launched)
		fprintf(out, ", of which %zu are known", l->count);
	fputs(", in ", out);
	put_time(out, span);
	if (l->place.region) {
		fputs(". In the trace: <code>", out);
		put(out, l->place.region);
		fputs("</code> on ", out);
		put(out, l->place.stream);
		fprintf(out, ", correlation %" PRIu64 "; the first block began at %.6f s, at most ",
			l->place.correlation, (double)gt_blocks_begin(l) / 1e9);
		put_time(out, gt_blocks_error(l));
		fputs(" off", out);
	}
	fputs(".\n", out);
	if (!span)
		return;
	fprintf(out, "<p>SM %u (top) to %u, 0 to ", l->blocks[0].sm, l->blocks[l->count - 1].sm);
	put_time(out, span);
	fprintf(out, ":<br><svg viewBox=\"0 0 %u %.0f\" width=\"100%%\" fill=\"#d9480f\" role=img>"
		"<rect width=%u height=%.0f fill=\"#8882\" />\n",
		MAP_WIDTH, rows * row, MAP_WIDTH, rows * row);
	if (l->count <= MAP_EACH && rows == sms)
		put_each_block(l, span, row, out);
	else
		put_cells(l, rows, row, out);
	fputs("</svg>\n", out);
}

void gt_blocks_html(const struct gt_block_launches *launches, const char *title, size_t most, FILE *out)
{
	bool *shown = gt_zeroed(launches->count + 1, sizeof(*shown));

	put_head(title, out);
	fprintf(out, "Blocks of %zu launch%s%s.\n", launches->count, launches->count == 1 ? "" : "es",
		most && launches->count > most ? ", of which the longest are shown" : "");
	for (size_t n = 0; n < launches->count && (!most || n < most); n++) {
		size_t best = launches->count;

		for (size_t i = 0; i < launches->count; i++)
			if (!shown[i] && (best == launches->count ||
					  gt_blocks_span(&launches->items[i]) >
						  gt_blocks_span(&launches->items[best])))
				best = i;
		shown[best] = true;
		put_launch(&launches->items[best], out);
	}
	fputs("</body></html>\n", out);
	free(shown);
}

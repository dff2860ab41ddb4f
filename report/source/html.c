/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotated source as one page of HTML: no script, nothing from elsewhere, and a policy that forbids both.
 * Whatever an archive or a source file says is text.
 */
#include "config.h"

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
	"th { border-bottom: 1px solid #8888 } .n { text-align: right; font-variant-numeric: tabular-nums }\n"
	"code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; tab-size: 4 }\n"
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
		struct gt_frame frames[GT_CUBIN_FRAMES] = { { "", 0, NULL } };

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

void gt_src_html(const struct gt_src *src, const char *title, FILE *out)
{
	const struct gt_pc_samples *s = &src->samples;

	fputs(head, out);
	put(out, title);
	fputs(style, out);
	fputs("<h1>", out);
	put(out, title);
	fputs("</h1>\n<p>", out);
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

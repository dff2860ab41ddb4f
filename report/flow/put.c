/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output that all forms share: names, also escaped for XML, DOT and JSON, and colours.
 *
 * Limits: none.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <string.h>

#include "lib/assemble/util/utf8.h"

/* One line of well-formed UTF-8, of `most` characters at most. To be freed. */
static char *clean(const char *text, size_t most)
{
	size_t size = 4 * strlen(text) + 8, count = 0;
	char *line = gt_flow_zeroed(size, 1), *at = line;

	gt_utf8_line(line, size, text);
	while (*at && (!most || count < most)) {
		at++;
		at += strspn(at, "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f"
				 "\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f"
				 "\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae\xaf"
				 "\xb0\xb1\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xbb\xbc\xbd\xbe\xbf");
		count++;
	}
	if (*at)
		strcpy(at, "…");
	return line;
}

void gt_flow_put_xml(FILE *out, const char *text, size_t most)
{
	char *line = clean(text, most);

	for (const char *c = line; *c; c++) {
		if (!strncmp(c, "\xef\xbf\xbe", 3) || !strncmp(c, "\xef\xbf\xbf", 3)) {
			fputs("\xef\xbf\xbd", out); /* XML has no such characters */
			c += 2;
		} else if (strchr("&<>\"'", *c)) {
			fprintf(out, "&#%d;", *c);
		} else {
			fputc(*c, out);
		}
	}
	free(line);
}

void gt_flow_put_quoted(FILE *out, const char *text, bool dot)
{
	char *line;

	if (!dot) {
		gt_utf8_json_put(out, text);
		return;
	}
	line = clean(text, 0);
	for (const char *c = line; *c; c++)
		fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	free(line);
}

const char *gt_flow_colour(const struct gt_flow *flow, double alike, char buffer[8])
{
	/* ColorBrewer's red, yellow, green; Okabe and Ito's vermilion, yellow, sky blue. */
	static const unsigned char scales[2][3][3] = {
		{ { 215, 48, 39 }, { 254, 224, 139 }, { 92, 184, 92 } },
		{ { 213, 94, 0 }, { 240, 228, 66 }, { 86, 180, 233 } }
	};
	const unsigned char(*scale)[3] = scales[flow->options->safe];
	double at = alike <= 0 ? 0 : alike >= 1 ? 2 : 2 * alike;
	int low = at >= 1;
	unsigned colour[3];

	for (int i = 0; i < 3; i++)
		colour[i] =
			(unsigned)(scale[low][i] + (at - low) * (scale[low + 1][i] - scale[low][i]) + 0.5) &
			0xff;
	snprintf(buffer, 8, "#%02x%02x%02x", colour[0], colour[1], colour[2]);
	return buffer;
}

/* ---- of streams and states ------------------------------------------------------------------------- */

const char *const gt_flow_kind_names[] = { "ranks", "processes", "threads", "GPU streams" };

const char *gt_flow_kind_text(unsigned kind, size_t count, char buffer[48])
{
	static const char *const single[] = { "rank", "process", "thread", "GPU stream" };

	snprintf(buffer, 48, "%zu %s", count, count == 1 ? single[kind] : gt_flow_kind_names[kind]);
	return buffer;
}

const char *gt_flow_region(const struct gt_flow *flow, uint32_t region)
{
	return region == GT_FLOW_CODE ? "(code)" : gt_report_region_name(&flow->report, region);
}

const char *gt_flow_stream_name(struct gt_flow *flow, unsigned kind, uint32_t stream)
{
	return gt_report_location(&flow->report, flow->locations[kind][stream]);
}

size_t gt_flow_kept(const struct gt_flow_graph *graph)
{
	size_t kept = 0;

	for (size_t i = 0; i < graph->count; i++)
		kept += graph->streams[i].kept;
	return kept;
}

const char *gt_flow_seconds(double ns, char buffer[32])
{
	return gt_cell_print(buffer, 32, (union gt_cell){ .count = (uint64_t)(ns + 0.5) }, GT_SECONDS);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow as the page of `gputrace html` draws it: laid out as in the picture (svg.c), and each box that
 * stands for several states laid out once more by itself, the outer ones first. doc/page-data.md has the
 * layout.
 *
 * Limits: MOST_BYTES and MOST_DRAWS bound each graph; boxes beyond that do not open. Only the streams that
 * differ most have their differences listed.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <inttypes.h>
#include <string.h>

enum {
	MOST_BYTES = 1 << 20,
	MOST_DRAWS = 1 << 12,
	MOST_BRANCHES = 400,
	MOST_DIFFERING = 32, /* streams, of each kind */
	MOST_DIFFERENCES = 8,
	MOST_COMPARED = 1 << 12, /* streams whose work is compared with that of all others */
	MOST_CALLERS = 6,
	ROWS_INSIDE = 8
};

/* The part of a graph that is to be laid out. */
struct job {
	unsigned kind;
	struct gt_flow_part part;
};

struct page {
	struct gt_flow *flow;
	FILE *out;
	struct gt_flow_draw draws[GT_FLOW_KINDS];
	uint32_t *places; /* by stream of the graph at hand: its place in the order */
	struct job *jobs;
	size_t count, room;
	long begin; /* of the graph at hand, in the file */
};

/* A region of the page's table; -1: the code between calls. */
static int64_t region_of(uint32_t region)
{
	return region == GT_FLOW_CODE ? -1 : (int64_t)region;
}

static uint64_t ns_of(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* ---- what is in a box ----------------------------------------------------------------------------- */

struct range {
	size_t first, end; /* columns */
};

static struct range columns_of(const struct gt_flow_draw *draw, uint32_t segment)
{
	struct range range = { draw->part.end, draw->part.first };

	for (size_t c = draw->part.first; c < draw->part.end; c++)
		if (draw->segments[c] == segment) {
			range.first = c < range.first ? c : range.first;
			range.end = c + 1;
		}
	return range;
}

/* Do its members have more than one state there? */
static bool opens(const struct gt_flow_draw *draw, const struct gt_flow_box *box, struct range columns)
{
	uint32_t state = GT_FLOW_NONE;

	for (uint32_t i = 0; i < box->members; i++) {
		uint32_t stream = draw->members[box->first + i];
		const struct gt_flow_stream *s = &draw->graph->streams[stream];

		for (size_t k = gt_flow_item_at(draw->graph, stream, columns.first);
		     k < s->count && draw->graph->states[s->items[k].state].column < columns.end; k++) {
			if (state != GT_FLOW_NONE && state != s->items[k].state)
				return true;
			state = s->items[k].state;
		}
	}
	return false;
}

/* The first call of the box's region by its first member: where, when, and the regions that it is in. */
static void put_first(const struct page *p, unsigned kind, const struct gt_flow_draw *draw,
		      const struct gt_flow_box *box, struct range columns)
{
	uint32_t stream = draw->members[box->first];
	const struct gt_flow_stream *s = &draw->graph->streams[stream];
	size_t at = gt_flow_item_at(draw->graph, stream, columns.first);
	uint32_t depth;

	while (at + 1 < s->count && s->items[at].region != box->region)
		at++;
	fprintf(p->out, "%" PRIu32 ",%" PRIu64 ",[", p->flow->locations[kind][stream], s->items[at].begin);
	depth = s->items[at].depth;
	for (unsigned n = 0; n < MOST_CALLERS && depth && at; n++) {
		while (at && s->items[at].depth >= depth)
			at--;
		depth = s->items[at].depth;
		fprintf(p->out, "%s%" PRId64, n ? "," : "", region_of(s->items[at].region));
	}
	fputs("]", p->out);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Places of the members as ranges: alike streams are beside each other. */
static void put_members(const struct page *p, const struct gt_flow_draw *draw, const struct gt_flow_box *box)
{
	uint32_t *places = gt_flow_zeroed(box->members, sizeof(*places));

	for (uint32_t i = 0; i < box->members; i++)
		places[i] = p->places[draw->members[box->first + i]];
	qsort(places, box->members, sizeof(*places), by_number);
	fputs("[", p->out);
	for (uint32_t i = 0, end; i < box->members; i = end) {
		for (end = i + 1; end < box->members && places[end] == places[end - 1] + 1; end++)
			;
		fprintf(p->out, "%s%" PRIu32 ",%" PRIu32, i ? "," : "", places[i], places[end - 1]);
	}
	fputs("]", p->out);
	free(places);
}

/* ---- boxes and edges ------------------------------------------------------------------------------ */

static bool is_full(const struct page *p)
{
	return p->count >= MOST_DRAWS || ftell(p->out) - p->begin >= MOST_BYTES;
}

static void add_job(struct page *p, unsigned kind, struct range columns, const bool *selected)
{
	p->jobs = gt_grown(p->jobs, p->count, &p->room, sizeof(*p->jobs));
	p->jobs[p->count++] = (struct job){ kind, { columns.first, columns.end, selected } };
}

/* The draw that shows the inside of a box; -1: there is nothing more in it, -2: it has no room. */
static int64_t inside(struct page *p, unsigned kind, const struct gt_flow_draw *draw,
		      const struct gt_flow_box *box, struct range columns)
{
	bool *selected;

	if (!opens(draw, box, columns))
		return -1;
	if (is_full(p))
		return -2;
	selected = gt_flow_zeroed(draw->graph->count, sizeof(*selected));
	for (uint32_t i = 0; i < box->members; i++)
		selected[draw->members[box->first + i]] = true;
	add_job(p, kind, columns, selected);
	return (int64_t)p->count - 1;
}

static void put_box(struct page *p, unsigned kind, const struct gt_flow_draw *draw,
		    const struct gt_flow_box *box)
{
	struct range columns = columns_of(draw, box->segment);

	fprintf(p->out,
		"[%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%.1f,%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRId64 ",",
		box->segment, box->row, region_of(box->region), box->others, box->members, box->calls,
		ns_of(box->time_min), ns_of(box->time_mean), ns_of(box->time_max),
		inside(p, kind, draw, box, columns));
	put_first(p, kind, draw, box, columns);
	fputs(",", p->out);
	put_members(p, draw, box);
	fputs("]", p->out);
}

static void put_end(const struct page *p, uint32_t box)
{
	if (box == GT_FLOW_NONE)
		fputs("-1,", p->out);
	else
		fprintf(p->out, "%" PRIu32 ",", box);
}

static void put_draw(struct page *p, unsigned kind, const struct gt_flow_draw *draw)
{
	fprintf(p->out, "{\"columns\":%zu,\"rows\":%zu,\"boxes\":[", draw->segment_count, draw->row_count);
	for (size_t b = 0; b < draw->box_count; b++) {
		fputs(b ? ",\n" : "\n", p->out);
		put_box(p, kind, draw, &draw->boxes[b]);
	}
	fputs("],\"edges\":[", p->out);
	for (size_t e = 0; e < draw->edge_count; e++) {
		fputs(e ? ",[" : "[", p->out);
		put_end(p, draw->edges[e].from);
		put_end(p, draw->edges[e].to);
		fprintf(p->out, "%" PRIu32 "]", draw->edges[e].members);
	}
	fputs("]}", p->out);
}

static void put_draws(struct page *p, unsigned kind)
{
	const struct gt_flow_graph *graph = &p->flow->graphs[kind];
	const struct gt_flow_options *options = p->flow->options;

	p->count = 0;
	fputs("\"draws\":[", p->out);
	gt_flow_draw_graph(&p->draws[kind], graph, options->columns, options->rows);
	add_job(p, kind, (struct range){ 0, graph->column_count }, NULL);
	put_draw(p, kind, &p->draws[kind]);
	for (size_t i = 1; i < p->count; i++) {
		struct job job = p->jobs[i];
		struct gt_flow_draw draw;

		fputs(",\n", p->out);
		gt_flow_draw_part(&draw, graph, &job.part, options->columns, ROWS_INSIDE);
		put_draw(p, kind, &draw);
		gt_flow_draw_free(&draw);
		free((void *)job.part.selected);
	}
	fputs("]", p->out);
}

/* ---- streams -------------------------------------------------------------------------------------- */

static void put_differences(const struct page *p, const struct gt_flow_graph *graph, uint32_t stream)
{
	struct gt_flow_difference d[MOST_DIFFERENCES];
	size_t count = gt_flow_differences(graph, stream, d, MOST_DIFFERENCES);

	for (size_t i = 0; i < count; i++)
		fprintf(p->out, "%s[%" PRId64 ",%.0f,%" PRIu64 ",%.1f,%" PRIu64 "]", i ? "," : "",
			region_of(d[i].region), d[i].calls, ns_of(d[i].work), d[i].other_calls,
			ns_of(d[i].other_work));
}

static int by_likeness(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Up to that similarity, streams have their differences listed. */
static double most_alike(const struct gt_flow_graph *graph)
{
	double *alike = gt_flow_zeroed(graph->count, sizeof(*alike)), most;
	size_t count = 0;

	for (size_t i = 0; i < graph->count; i++)
		if (graph->streams[i].kept)
			alike[count++] = graph->streams[i].alike;
	qsort(alike, count, sizeof(*alike), by_likeness);
	most = alike[count > MOST_DIFFERING ? MOST_DIFFERING - 1 : count - 1];
	free(alike);
	return most;
}

static void put_streams(struct page *p, unsigned kind)
{
	const struct gt_flow_graph *graph = &p->flow->graphs[kind];
	double most = most_alike(graph);
	uint32_t place = 0, listed = 0;

	fputs("\"streams\":[", p->out);
	for (size_t i = 0; i < graph->count; i++) {
		uint32_t stream = graph->order[i];
		const struct gt_flow_stream *s = &graph->streams[stream];

		if (!s->kept)
			continue;
		p->places[stream] = place++;
		fprintf(p->out, "%s[%" PRIu32 ",%.4f,%" PRIu32 ",%zu,%" PRIu64 ",%" PRIu64 ",%.0f,[",
			place > 1 ? ",\n" : "\n", p->flow->locations[kind][stream], s->alike, s->cluster,
			s->count, ns_of(s->time), ns_of(s->work),
			graph->count <= MOST_COMPARED ? gt_flow_longer(graph, stream) : 0.0);
		if (s->alike <= most && listed++ < MOST_DIFFERING)
			put_differences(p, graph, stream);
		fputs("]]", p->out);
	}
	fprintf(p->out, "],\"centre\":%" PRIu32 ",\"clusters\":%zu,\n", p->places[graph->centre],
		graph->cluster_count);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static void put_branches(const struct page *p)
{
	struct gt_flow_link *links = gt_flow_zeroed(p->flow->branch_count, sizeof(*links));
	size_t count = gt_flow_links(p->flow, p->draws, links);

	fputs("\"branches\":[", p->out);
	for (size_t i = 0; i < count && i < MOST_BRANCHES; i++)
		fprintf(p->out,
			"%s[\"%s\",%" PRIu32 ",\"%s\",%" PRIu32 ",%d,%d,%" PRIu64 "]", i ? ",\n" : "\n",
			gt_flow_kind_names[links[i].from_kind], links[i].from,
			gt_flow_kind_names[links[i].to_kind], links[i].to, links[i].joins, links[i].dashed,
			links[i].count);
	fputs("]", p->out);
	free(links);
}

void gt_flow_page(struct gt_flow *flow, FILE *out)
{
	struct page p = { .flow = flow, .out = out };
	const char *comma = "";

	fprintf(out, "{\"margin\":%.4f,\"significant\":%" PRIu64 ",\"graphs\":[", flow->rule.margin,
		(uint64_t)flow->rule.floor);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		const struct gt_flow_graph *graph = &flow->graphs[k];

		if (!gt_flow_kept(graph))
			continue;
		fprintf(out, "%s\n{\"kind\":\"%s\",\"smallest\":%" PRIu64 ",", comma, gt_flow_kind_names[k],
			graph->cut);
		p.places = gt_flow_zeroed(graph->count, sizeof(*p.places));
		p.begin = ftell(out);
		put_streams(&p, k);
		put_draws(&p, k);
		fputs("}", out);
		free(p.places);
		comma = ",";
	}
	fputs("],\n", out);
	put_branches(&p);
	fputs("}\n", out);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		gt_flow_draw_free(&p.draws[k]);
	free(p.jobs);
}

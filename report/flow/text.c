/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow in a terminal: the course of each kind of streams in a few lines, and which streams behave
 * differently, where, and how much longer they take.
 *
 * Limits: MOST_STREAMS streams that differ are listed of each kind, with MOST_WHERE places each.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <inttypes.h>
#include <string.h>

#include "lib/assemble/report/summary.h"

enum { MOST_STREAMS = 8, MOST_WHERE = 3, MOST_LINES = 12 };

static const char *shown(const char *text, char buffer[400])
{
	return gt_summary_escape(buffer, 400, text, 60);
}

static void print_course(const struct gt_flow *flow, const struct gt_flow_graph *graph, FILE *out)
{
	struct gt_flow_draw draw;
	size_t kept = gt_flow_kept(graph);

	gt_flow_draw_graph(&draw, graph, MOST_LINES, 3);
	for (size_t b = 0; b < draw.box_count; b++) {
		const struct gt_flow_box *box = &draw.boxes[b];
		char name[400], time[32], most[32];

		fprintf(out, "  %s%10s", box->row ? "| " : "", gt_flow_seconds(box->time_mean, time));
		if (box->members > 1 && box->time_max > 1.05 * box->time_mean)
			fprintf(out, " (at most %s)", gt_flow_seconds(box->time_max, most));
		fprintf(out, "  %s", shown(gt_flow_region(flow, box->region), name));
		if (box->calls > 1.5)
			fprintf(out, " x %.0f", box->calls);
		if (box->others)
			fprintf(out, ", and %u more", box->others);
		if (box->members < kept)
			fprintf(out, "   [%u of %zu]", box->members, kept);
		fputc('\n', out);
	}
	gt_flow_draw_free(&draw);
}

static void print_calls(double calls, FILE *out)
{
	fprintf(out, calls < 1.5 ? " in %.0f call" : " in %.0f calls", calls < 1 ? 1 : calls);
}

/* Who calls it; of what is outside of calls, which has no name, what is called behind it. */
static void print_where(const struct gt_flow *flow, const struct gt_flow_stream *s,
			const struct gt_flow_difference *d, FILE *out)
{
	char name[400];
	size_t at = 0, caller;

	while (at < s->count && s->items[at].state != d->state)
		at++;
	for (caller = at; at < s->count && caller && s->items[caller].depth >= s->items[at].depth;)
		caller--;
	fputs("      ", out);
	if (at < s->count && s->items[caller].depth < s->items[at].depth)
		fprintf(out, "%s > ", shown(gt_flow_region(flow, s->items[caller].region), name));
	fputs(shown(gt_flow_region(flow, d->region), name), out);
	if (d->region == GT_FLOW_CODE && at + 1 < s->count)
		fprintf(out, " before %s", shown(gt_flow_region(flow, s->items[at + 1].region), name));
	fputs(": ", out);
}

static void print_difference(const struct gt_flow *flow, const struct gt_flow_stream *s,
			     const struct gt_flow_difference *d, FILE *out)
{
	char mine[32], others[32];

	print_where(flow, s, d, out);
	if (d->state == GT_FLOW_NONE) {
		fprintf(out, "not there; the others are in it for %s",
			gt_flow_seconds(d->other_time, others));
		print_calls(d->other_calls, out);
	} else if (d->other_calls > 0) {
		fputs(gt_flow_seconds(d->work, mine), out);
		print_calls(d->calls, out);
		fprintf(out, ", the others %s", gt_flow_seconds(d->other_work, others));
		print_calls(d->other_calls, out);
	} else {
		fputs(gt_flow_seconds(d->time, mine), out);
		print_calls(d->calls, out);
		fputs(", the others do not do that", out);
	}
	fputc('\n', out);
}

struct listed {
	uint32_t stream;
	double more; /* ns */
	size_t count;
	struct gt_flow_difference differences[MOST_WHERE];
};

static int by_time(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->more < y->more || x->more > y->more)
		return x->more > y->more ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static size_t find_listed(const struct gt_flow_graph *graph, struct listed *listed)
{
	size_t count = 0;

	for (size_t i = 0; i < graph->count; i++) {
		struct listed *l = &listed[count];

		if (!graph->streams[i].kept)
			continue;
		*l = (struct listed){ .stream = (uint32_t)i };
		l->count = gt_flow_differences(graph, l->stream, l->differences, MOST_WHERE);
		l->more = gt_flow_longer(graph, l->stream);
		count += l->count > 0;
	}
	if (count)
		if (count > 1)
			qsort(listed, count, sizeof(*listed), by_time);
	return count;
}

static void print_differences(struct gt_flow *flow, unsigned kind, FILE *out)
{
	const struct gt_flow_graph *graph = &flow->graphs[kind];
	struct listed *listed = gt_flow_zeroed(graph->count, sizeof(*listed));
	size_t count = find_listed(graph, listed);
	char name[400], more[32];

	if (!count)
		fputs("  None differs from the others.\n", out);
	for (size_t i = 0; i < count && i < MOST_STREAMS; i++) {
		const struct listed *l = &listed[i];

		fprintf(out, "  %s", shown(gt_flow_stream_name(flow, kind, l->stream), name));
		if (l->stream != graph->centre)
			fprintf(out, " is %.0f %% like %s", 100 * graph->streams[l->stream].alike,
				shown(gt_flow_stream_name(flow, kind, graph->centre), name));
		else
			fputs(" differs from the others", out);
		if (l->more > (double)graph->rule.floor || -l->more > (double)graph->rule.floor)
			fprintf(out, ", and works %s %s",
				gt_flow_seconds(l->more < 0 ? -l->more : l->more, more),
				l->more < 0 ? "less" : "longer");
		fputs(":\n", out);
		for (size_t k = 0; k < l->count; k++)
			print_difference(flow, &graph->streams[l->stream], &l->differences[k], out);
	}
	if (count > MOST_STREAMS)
		fprintf(out, "  ... and %zu more that differ (--json has all)\n", count - MOST_STREAMS);
	free(listed);
}

static void print_kind(struct gt_flow *flow, unsigned kind, FILE *out)
{
	const struct gt_flow_graph *graph = &flow->graphs[kind];
	size_t kept = gt_flow_kept(graph), states = 0;
	char name[400], what[48];

	for (size_t s = 0; s < graph->state_count; s++)
		states += graph->states[s].members > 0;
	fprintf(out, "%s, %zu states, %zu %s", gt_flow_kind_text(kind, kept, what), states,
		graph->cluster_count, graph->cluster_count == 1 ? "way" : "ways");
	if (graph->clusters[graph->streams[graph->centre].cluster].members > 1)
		fprintf(out, "; %u are like %s",
			graph->clusters[graph->streams[graph->centre].cluster].members,
			shown(gt_flow_stream_name(flow, kind, graph->centre), name));
	fputs("\n", out);
	print_course(flow, graph, out);
	if (kept > 1)
		print_differences(flow, kind, out);
	fputc('\n', out);
}

void gt_flow_text(struct gt_flow *flow, FILE *out)
{
	char time[32];

	for (unsigned k = 0; k < GT_FLOW_KINDS; k++)
		if (gt_flow_kept(&flow->graphs[k]))
			print_kind(flow, k, out);
	if (flow->summed_count)
		fprintf(out,
			"The call graphs of %zu locations are too large: calls of a function that are all "
			"different are summed.\n",
			flow->summed_count);
	if (flow->raised_count)
		fprintf(out, "Calls below %s are part of their callers in %zu of them.\n",
			gt_flow_seconds((double)flow->raised, time), flow->raised_count);
	if (gt_flow_sampled(flow) > 1)
		fprintf(out,
			"Of launches, teams and waits one in %" PRIu64 " is looked at: there are too many.\n",
			gt_flow_sampled(flow));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow as JSON: all states, not joined to any space. gputrace-flow(1) describes it.
 *
 * Limits: times are seconds.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <inttypes.h>

static void put_streams(struct gt_flow *flow, unsigned kind, FILE *out)
{
	const struct gt_flow_graph *graph = &flow->graphs[kind];
	const char *comma = "";

	fputs("\"streams\": [", out);
	for (size_t i = 0; i < graph->count; i++) {
		const struct gt_flow_stream *s = &graph->streams[graph->order[i]];

		if (!s->kept)
			continue;
		fprintf(out, "%s\n{\"location\": %" PRIu64 ", \"name\": ", comma,
			gt_otf2_location_at(flow->report.read, flow->locations[kind][graph->order[i]])->id);
		gt_flow_put_quoted(out, gt_flow_stream_name(flow, kind, graph->order[i]), false);
		fprintf(out,
			", \"cluster\": %u, \"similarity\": %.4f, \"states\": %zu, \"time_s\": %.9f, "
			"\"work_s\": %.9f, \"longer_s\": %.9f, \"differences\": [",
			s->cluster, s->alike, s->count, s->time / 1e9, s->work / 1e9,
			gt_flow_longer(graph, graph->order[i]) / 1e9);
		comma = ",";
		struct gt_flow_difference d[16];
		size_t n = gt_flow_differences(graph, graph->order[i], d, 16);

		for (size_t k = 0; k < n; k++) {
			fprintf(out, "%s{\"region\": ", k ? ", " : "");
			gt_flow_put_quoted(out, gt_flow_region(flow, d[k].region), false);
			if (d[k].state == GT_FLOW_NONE)
				fputs(", \"state\": null", out);
			else
				fprintf(out, ", \"state\": %u", d[k].state);
			fprintf(out,
				", \"calls\": %.0f, \"work_s\": %.9f, \"others_calls\": %.1f, "
				"\"others_work_s\": %.9f}",
				d[k].calls, d[k].work / 1e9, d[k].other_calls, d[k].other_work / 1e9);
		}
		fputs("]}", out);
	}
	fputs("]", out);
}

static void put_clusters(struct gt_flow *flow, unsigned kind, FILE *out)
{
	const struct gt_flow_graph *graph = &flow->graphs[kind];

	fputs("\"clusters\": [", out);
	for (size_t c = 0; c < graph->cluster_count; c++)
		fprintf(out, "%s{\"members\": %u, \"representative\": %" PRIu64 "}", c ? ", " : "",
			graph->clusters[c].members,
			gt_otf2_location_at(flow->report.read,
					    flow->locations[kind][graph->clusters[c].leader])
				->id);
	fputs("]", out);
}

static void put_figure(const char *name, const double figures[3], FILE *out)
{
	fprintf(out, ", \"%s\": {\"min\": %.9f, \"mean\": %.9f, \"max\": %.9f}", name, figures[0] / 1e9,
		figures[1] / 1e9, figures[2] / 1e9);
}

static void add_figure(double figures[3], double value, size_t i, size_t count)
{
	figures[0] = !i || value < figures[0] ? value : figures[0];
	figures[1] += value / (double)count;
	figures[2] = value > figures[2] ? value : figures[2];
}

static void put_state(struct gt_flow *flow, unsigned kind, uint32_t s, FILE *out)
{
	const struct gt_flow_graph *graph = &flow->graphs[kind];
	const struct gt_flow_state *state = &graph->states[s];
	double time[3] = { 0 }, own[3] = { 0 }, work[3] = { 0 }, calls = 0;

	fprintf(out, "{\"id\": %u, \"column\": %u, \"depth\": %u, \"region\": ", s, state->column,
		state->depth);
	gt_flow_put_quoted(out, gt_flow_region(flow, state->region), false);
	fputs(", \"members\": [", out);
	for (size_t i = 0; i < state->members; i++) {
		const struct gt_flow_member *m = &graph->members[state->first + i];
		const struct gt_flow_item *item = &graph->streams[m->stream].items[m->item];

		fprintf(out, "%s%" PRIu64, i ? ", " : "",
			gt_otf2_location_at(flow->report.read, flow->locations[kind][m->stream])->id);
		add_figure(time, item->time, i, state->members);
		add_figure(own, item->own, i, state->members);
		add_figure(work, item->work, i, state->members);
		calls += item->calls / (double)state->members;
	}
	fprintf(out, "], \"calls\": %.1f", calls);
	put_figure("time_s", time, out);
	put_figure("self_s", own, out);
	put_figure("work_s", work, out);
	fputs("}", out);
}

static void put_states(struct gt_flow *flow, unsigned kind, FILE *out)
{
	const struct gt_flow_graph *graph = &flow->graphs[kind];
	const char *comma = "";

	fputs("\"states\": [", out);
	for (size_t c = 0; c < graph->column_count; c++)
		for (uint32_t s = graph->columns[c]; s != GT_FLOW_NONE; s = graph->states[s].sibling) {
			if (!graph->states[s].members)
				continue;
			fprintf(out, "%s\n", comma);
			put_state(flow, kind, s, out);
			comma = ",";
		}
	fputs("]", out);
}

struct way {
	uint32_t from, to;
};

static int by_ends(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* From state to state, and how many streams go there. */
static void put_edges(const struct gt_flow_graph *graph, FILE *out)
{
	struct way *ways;
	size_t count = 0, all = 0;
	const char *comma = "";

	for (size_t i = 0; i < graph->count; i++)
		all += graph->streams[i].count;
	ways = gt_flow_zeroed(all, sizeof(*ways));
	for (size_t i = 0; i < graph->count; i++)
		for (size_t k = 1; graph->streams[i].kept && k < graph->streams[i].count; k++)
			ways[count++] = (struct way){ graph->streams[i].items[k - 1].state,
						      graph->streams[i].items[k].state };
	if (count > 1)
		qsort(ways, count, sizeof(*ways), by_ends);
	fputs("\"edges\": [", out);
	for (size_t i = 0, end; i < count; i = end, comma = ", ") {
		for (end = i + 1; end < count && !by_ends(&ways[i], &ways[end]);)
			end++;
		fprintf(out, "%s{\"from\": %u, \"to\": %u, \"members\": %zu}", comma, ways[i].from,
			ways[i].to, end - i);
	}
	fputs("]", out);
	free(ways);
}

static void put_branches(const struct gt_flow *flow, FILE *out)
{
	const char *comma = "";

	fputs("\"branches\": [", out);
	for (size_t i = 0; i < flow->branch_count; i++) {
		const struct gt_flow_branch *b = &flow->branches[i];

		fprintf(out,
			"%s\n{\"kind\": \"%s\", \"from\": {\"graph\": \"%s\", \"state\": %u}, "
			"\"to\": {\"graph\": \"%s\", \"state\": %u}, \"count\": %" PRIu64 "}",
			comma, gt_branch_names[b->what], gt_flow_kind_names[flow->places[b->from].kind],
			b->from_state, gt_flow_kind_names[flow->places[b->to].kind], b->to_state, b->count);
		comma = ",";
	}
	fputs("]", out);
}

void gt_flow_json(struct gt_flow *flow, FILE *out)
{
	const struct gt_otf2 *read = flow->report.read;
	uint64_t end = gt_otf2_ns(read, read->end), to = flow->options->to < end ? flow->options->to : end;
	const char *comma = "";

	fprintf(out, "{\"version\": 1, \"from_s\": %.9f, \"to_s\": %.9f, ", (double)flow->options->from / 1e9,
		(double)to / 1e9);
	fprintf(out, "\"margin\": %.4f, \"significant_s\": %.9f, \"graphs\": [",
		flow->rule.margin, (double)flow->rule.floor / 1e9);
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		if (!gt_flow_kept(&flow->graphs[k]))
			continue;
		fprintf(out, "%s\n{\"name\": \"%s\", \"smallest_s\": %.9f, ", comma, gt_flow_kind_names[k],
			(double)flow->graphs[k].cut / 1e9);
		put_streams(flow, k, out);
		fputs(",\n", out);
		put_clusters(flow, k, out);
		fputs(",\n", out);
		put_states(flow, k, out);
		fputs(",\n", out);
		put_edges(&flow->graphs[k], out);
		fputs("}", out);
		comma = ",";
	}
	fputs("],\n", out);
	put_branches(flow, out);
	fprintf(out,
		",\n\"calls_left_out\": {\"shorter_than_s\": %.9f, \"streams\": %zu}, "
		"\"streams_summed\": %zu, \"branches_sampled\": %" PRIu64 "}\n",
		(double)flow->raised / 1e9, flow->raised_count, flow->summed_count,
		gt_flow_sampled(flow));
}

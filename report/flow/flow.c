/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The visitor that builds call graphs, and the course of gputrace flow.
 *
 * Limits: see flow.h.
 */
#include "config.h"

#include "report/flow/flow.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "report/print/output.h"
#include "report/part/part.h"

/* Nodes and calls of all call graphs together, of one at most and at least; columns of a graph / 4. */
enum { MOST_ALL = 1 << 22, MOST_OF_ONE = 1 << 14, LEAST_OF_ONE = 1 << 10, MOST_ITEMS = 1 << 12 };
/* Activities of all streams together; half as many waits. */
enum { MOST_SYNCS = 1 << 21 };

const struct gt_flow_options gt_flow_defaults = {
	.margin = 0.2, .floor = 0.005, .cut = 0.0001, .columns = 12, .rows = 5, .to = UINT64_MAX
};

/* ---- locations ------------------------------------------------------------------------------------ */

struct location {
	struct gt_flow_tree tree;
	struct gt_flow_ends ends;
	bool any;
	bool inside, behind; /* the part of the run that is looked at */
};

static uint32_t kind_of(const struct gt_flow *flow, const struct gt_otf2_cursor *at)
{
	const struct gt_classes *classes = &flow->report.classes;
	uint32_t process = classes->locations[at->index].process;

	switch (classes->locations[at->index].kind) {
	case GT_LOCATION_MAIN:
		return process < classes->process_count && classes->processes[process].rank != GT_NO_RANK
			       ? GT_FLOW_RANKS
			       : GT_FLOW_PROCESSES;
	case GT_LOCATION_THREAD:
	case GT_LOCATION_SERVICE:
		return GT_FLOW_THREADS;
	case GT_LOCATION_STREAM:
		return GT_FLOW_STREAMS;
	default:
		return GT_FLOW_KINDS;
	}
}

static void on_begin(struct gt_otf2_cursor *at)
{
	struct gt_flow *flow = at->user;
	struct location *location = at->state;

	/*
	 * Within a stream iterations may differ by more: one that is kept apart breaks a loop, elsewhere in
	 * each stream. What streams have together is compared by the rule itself.
	 */
	location->tree.rule = (struct gt_flow_rule){ fmax(flow->rule.margin, 0.5), 50 * flow->rule.floor };
	location->tree.limit = flow->limit;
	location->tree.code = at->location->type == OTF2_LOCATION_TYPE_CPU_THREAD; /* a GPU is idle there */
	location->ends.off = flow->options->from > 0;
	location->ends.syncs = (struct gt_flow_syncs){ .stream = GT_FLOW_NONE };
}

/* How often a thread waits for others, or a GPU has nothing to do, is not the program's flow. */
static bool by_chance(const struct gt_flow *flow, const struct gt_otf2_region *region)
{
	enum gt_class class = gt_class_of(&flow->report.classes, region);

	return class == GT_CLASS_LOCK || class == GT_CLASS_UNLOCK || class == GT_CLASS_CONDITION ||
	       class == GT_CLASS_GPU_HIDDEN_WAIT || class == GT_CLASS_GPU_IDLE ||
	       class == GT_CLASS_MEASUREMENT;
}

/* Waits and communication are not work: their durations depend on other streams. */
static bool waits(const struct gt_flow *flow, const struct gt_otf2_region *region)
{
	switch (gt_class_times[gt_class_of(&flow->report.classes, region)]) {
	case GT_TIME_MPI:
	case GT_TIME_WAIT:
	case GT_TIME_DEVICE:
	case GT_TIME_MEASUREMENT:
	case GT_TIME_NOTHING:
		return true;
	default:
		return false;
	}
}

static void enter(const struct gt_flow *flow, struct location *location, const struct gt_otf2_frame *frame,
		  uint64_t time)
{
	if (!by_chance(flow, frame->region))
		gt_flow_enter(&location->tree, gt_report_region(&flow->report, frame->region), time);
	location->any = true;
}

static void leave(const struct gt_flow *flow, struct location *location, const struct gt_otf2_frame *frame,
		  uint64_t time)
{
	uint64_t begin = frame->begin > flow->options->from ? frame->begin : flow->options->from;

	if (by_chance(flow, frame->region))
		gt_flow_add_wait(&location->tree, begin, time);
	else
		gt_flow_leave(&location->tree, time, waits(flow, frame->region));
}

/* ---- a part of the run ---------------------------------------------------------------------------- */

/* Calls that are open at its begin begin there: those in the stack, and perhaps one that ends now. */
static void go_inside(struct gt_otf2_cursor *at, size_t depth, const struct gt_otf2_frame *left)
{
	const struct gt_flow *flow = at->user;
	struct location *location = at->state;

	location->inside = true;
	location->ends.off = false;
	if (!flow->options->from || at->event <= 1)
		return;
	gt_flow_start(&location->tree, flow->options->from);
	location->any = true;
	for (size_t i = 0; i < depth; i++)
		enter(flow, location, &at->stack[i], flow->options->from);
	if (left)
		enter(flow, location, left, flow->options->from);
}

/* Calls that are open at its end end there. */
static void go_out(struct gt_otf2_cursor *at, size_t depth, const struct gt_otf2_frame *left)
{
	const struct gt_flow *flow = at->user;
	struct location *location = at->state;

	location->behind = location->ends.off = true;
	if (left)
		leave(flow, location, left, flow->options->to);
	while (depth--)
		leave(flow, location, &at->stack[depth], flow->options->to);
	if (location->any)
		gt_flow_finish(&location->tree, flow->options->to);
}

/* Whether an event is in it; `depth` calls were open before it, without the one that it leaves. */
static bool is_inside(struct gt_otf2_cursor *at, size_t depth, const struct gt_otf2_frame *left)
{
	const struct gt_flow_options *options = ((struct gt_flow *)at->user)->options;
	struct location *location = at->state;

	if (at->time < options->from || location->behind)
		return false;
	if (!location->inside)
		go_inside(at, depth, left);
	if (at->time < options->to)
		return true;
	go_out(at, depth, left);
	return false;
}

/* ---- events --------------------------------------------------------------------------------------- */

static void on_enter(struct gt_otf2_cursor *at)
{
	struct gt_flow *flow = at->user;
	struct location *location = at->state;
	struct gt_otf2_frame *frame = &at->stack[at->depth - 1];
	bool inside = is_inside(at, at->depth - 1, NULL);

	frame->user = gt_flow_path(at->depth > 1 ? frame[-1].user : 0,
				   gt_report_region(&flow->report, frame->region));
	if (!inside)
		return;
	gt_flow_end_enter(flow, &location->ends, at);
	enter(flow, location, frame, at->time);
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct gt_flow *flow = at->user;
	struct location *location = at->state;

	if (!is_inside(at, at->depth, frame))
		return;
	gt_flow_end_leave(flow, &location->ends, at, frame);
	leave(flow, location, frame, at->time);
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct location *location = at->state;
	bool inside = is_inside(at, at->depth, NULL);

	gt_flow_end_event(&location->ends, at, event);
	if (inside && (event->type == GT_OTF2_ThreadBegin || event->type == GT_OTF2_ProgramBegin)) {
		gt_flow_start(&location->tree, at->time);
		location->any = true;
	}
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	struct location *location = at->state;

	(void)whole;
	if (location->any && !location->behind)
		gt_flow_finish(&location->tree, at->time);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct gt_flow *flow = at->user;
	struct location *location = at->state;
	struct gt_flow_place *place = &flow->places[at->index];
	struct gt_flow_graph *graph;

	place->kind = location->any ? kind_of(flow, at) : GT_FLOW_KINDS;
	gt_flow_end_merge(flow, &location->ends, at->index);
	if (place->kind == GT_FLOW_KINDS) {
		gt_flow_tree_free(&location->tree);
		return;
	}
	graph = &flow->graphs[place->kind];
	place->stream = (uint32_t)graph->count;
	flow->locations[place->kind][graph->count] = (uint32_t)at->index;
	flow->summed_count += location->tree.sum_count > 0;
	flow->raised_count += location->tree.small > 0;
	flow->raised = location->tree.small > flow->raised ? location->tree.small : flow->raised;
	gt_flow_add(graph, &location->tree);
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct location),
	.begin = on_begin,
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.end = on_end,
	.merge = on_merge,
};

/* ---- the course ----------------------------------------------------------------------------------- */

/* One location's share of what `count` of them have together, within bounds. */
static size_t share_of(size_t all, size_t count, size_t least, size_t most)
{
	size_t share = count ? all / count : all;

	return share < least ? least : share > most ? most : share;
}

static bool prepare(struct gt_flow *flow)
{
	const struct gt_otf2 *read = flow->report.read;
	const struct gt_flow_options *options = flow->options;
	size_t count = read->tables[GT_OTF2_LOCATION].count;
	uint64_t end = gt_otf2_ns(read, read->end), to = options->to < end ? options->to : end;
	double duration = to > options->from ? (double)(to - options->from) : 0;

	if (gt_classes_make(&flow->report.classes, read))
		gt_no_memory();
	flow->rule = (struct gt_flow_rule){ options->margin, (uint64_t)(options->floor * duration) };
	flow->limit = share_of(MOST_ALL, count, LEAST_OF_ONE, MOST_OF_ONE);
	flow->correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	flow->stream = gt_otf2_attribute_named(read, "CUDA_STREAM");
	flow->most_syncs = share_of(MOST_SYNCS, count, MOST_SYNCS / 512, MOST_SYNCS / 16);
	flow->sync_slice = 1 + (uint64_t)duration / flow->most_syncs;
	flow->syncs = gt_flow_zeroed(count, sizeof(*flow->syncs));
	flow->places = gt_flow_zeroed(count, sizeof(*flow->places));
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		flow->locations[k] = gt_flow_zeroed(count, sizeof(*flow->locations[k]));
		flow->graphs[k] = (struct gt_flow_graph){ .rule = flow->rule,
							  .shared = &flow->shared,
							  .cut = (uint64_t)(options->cut * duration),
							  .most = MOST_ITEMS };
	}
	return count > 0;
}

/* The graphs are of all streams, so that states are the same ones whatever is selected. */
static void merge(struct gt_flow *flow, const struct gt_part *part)
{
	for (unsigned k = 0; k < GT_FLOW_KINDS; k++) {
		struct gt_flow_graph *graph = &flow->graphs[k];
		bool *kept = gt_flow_zeroed(graph->count, sizeof(*kept));

		for (size_t i = 0; i < graph->count; i++)
			kept[i] = gt_part_has(part, flow->locations[k][i]);
		gt_flow_merge(graph);
		gt_flow_keep(graph, kept);
		free(kept);
	}
	gt_flow_branches(flow);
}

static bool compute(struct gt_flow *flow)
{
	struct gt_part part = { .from = flow->options->from, .to = UINT64_MAX };

	prepare(flow);
	if (!gt_part_choose(&part, flow->report.read, flow->options->patterns, "gputrace flow"))
		return false;
	if (gt_otf2_events(flow->report.read))
		return false;
	merge(flow, &part);
	return true;
}

static bool complain(const char *path)
{
	fprintf(stderr, "gputrace flow: %s cannot be written: %m\n", path);
	return false;
}

static bool write_file(struct gt_flow *flow, const char *path)
{
	static void (*const faces[])(struct gt_flow *flow, FILE *out) = { gt_flow_text, gt_flow_dot,
									    gt_flow_svg, gt_flow_json };
	FILE *out = path ? gt_output_open(path, flow->options->out) : stdout;

	if (!out)
		return complain(path);
	faces[flow->options->face](flow, out);
	if (fflush(out) || ferror(out))
		return !path && errno == EPIPE ? false : complain(path ? path : "standard output");
	return true;
}

static bool write_out(struct gt_flow *flow)
{
	const char *out = flow->options->out;
	char *part;
	bool done;

	if (flow->options->page) {
		gt_flow_page(flow, flow->options->page);
		return true;
	}
	if (!out)
		return write_file(flow, NULL);
	part = gt_output_part(out);
	done = write_file(flow, part) && (gt_output_keep(part, out) || complain(out));
	if (!done)
		gt_output_discard(out);
	free(part);
	return done;
}

int gt_flow_archive(const char *anchor, void *argument, FILE *unused)
{
	struct gt_flow flow = { .options = argument };

	(void)unused;
	signal(SIGPIPE, SIG_IGN); /* writing fails then, and that is said */
	signal(SIGXFSZ, SIG_IGN);
	flow.report.read =
		gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &visitor, .user = &flow,
								.command = "gputrace flow" });
	if (!flow.report.read || gt_otf2_definitions(flow.report.read))
		return 2;
	/* Nothing is freed: the process ends. */
	return compute(&flow) && write_out(&flow) ? 0 : 2;
}

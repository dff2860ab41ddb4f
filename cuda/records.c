/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates activity records: kernels, copies and sets on their streams, messages between the stream and
 * the thread that asked for the copy, and the host's waiting, each at the device's own times.
 *
 * Invariant: every record is counted, and becomes an event or a counted loss. Nothing is left out
 * because its times look odd: such records are counted and reported.
 *
 * Limits: only the reading thread comes here. An activity is written as one block, from its attributes
 * to its leave, which the assembly puts into order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"
#include "gputrace/syscall.h"

#define PENDING 4096u

/* ---- definitions --------------------------------------------------------------------------------- */

static gt_ref marker_untimed;

void gt_cu_records_setup(void)
{
	gt_accel_setup(gt_cu_options.rma);
	gt_cu_refs.calls = gt_def_parameter("calls", GT_VALUE_UINT); /* as MPI's */
	gt_cu_refs.result = gt_def_attribute("CUDA_ERROR", "What the call returned", GT_VALUE_UINT);
	gt_cu_refs.stream = gt_def_attribute(
		"CUDA_STREAM", "Number of the stream, as in the names of locations", GT_VALUE_UINT);
	gt_cu_refs.graph = gt_def_attribute("CUDA_GRAPH_ID", "The graph that this was part of",
					    GT_VALUE_UINT);
	gt_cu_refs.graph_node = gt_def_attribute("CUDA_GRAPH_NODE_ID", "The node of the graph",
						 GT_VALUE_UINT);
	if (gt_cu_options.host_idle)
		gt_cu_refs.host_idle = gt_accel_region("HOST_IDLE", "CUDA_SYNC",
						       GT_REGION_ROLE_IMPLICIT_BARRIER);
	gt_cu_params_setup();
	marker_untimed = gt_def_marker("CUDA_UNTIMED", "CUDA", 2);
}

/*
 * Of a program with times of blocks (gputrace/blocks.cuh), which makes a file before it launches what it
 * times, launches get CUPTI's number of the grid: the device has written it beside the times.
 */
static void number_grids(void)
{
	const char *run = getenv("VT_RUN_DIR");
	struct utsname host;
	char path[4096];

	if (gt_cu_refs.grid || !run || gt_raw(SYS_uname, &host) ||
	    (size_t)snprintf(path, sizeof(path), "%s/gpu/blocks.%s.%d", run, host.nodename,
			     (int)gt_raw(SYS_getpid)) >=
		    sizeof(path) ||
	    gt_raw(SYS_faccessat, AT_FDCWD, path, F_OK))
		return;
	gt_cu_refs.grid = gt_def_attribute(
		"CUDA_GRID_ID", "The launch's number on the device, as %gridid has it", GT_VALUE_UINT);
}

/* ---- one activity of the device ---------------------------------------------------------------------- */

struct activity {
	struct gt_accel_activity out;
	uint32_t device, context, stream;
	uint64_t graph_node;
	uint32_t graph;
	struct gt_accel_call call;
	bool has_call;
	bool replayed; /* the times are the host's */
};

/* Members common to all records. */
#define ACTIVITY_OF(r)                                                                             \
	.out.correlation = (r)->correlation, .out.start = gt_cu_ticks((r)->start),                 \
	.out.end = gt_cu_ticks((r)->end), .device = (r)->device, .context = (r)->context,          \
	.stream = (r)->stream, .graph = (r)->graph

static void put_attribute(struct activity *a, gt_ref attribute, uint64_t value)
{
	a->out.more[a->out.count].attribute = attribute;
	a->out.more[a->out.count++].value = value;
}

/* A record without times: it is reported where its call was made. */
static void put_untimed(struct activity *a, const char *name)
{
	struct gt_cu_stream *place = gt_cu_stream_of(a->device, a->context, a->stream);

	gt_cu_count(&gt_cu_counts.zero_time, 1);
	if (!place || !a->has_call)
		return;
	gt_location_record(place->location, GT_T_MARKER, marker_untimed,
			   (uint64_t[2]){ gt_def_string(name), 0 }, 1, a->call.enter);
}

/* Where it goes, and its attributes. */
static bool find_place(struct activity *a)
{
	const struct gt_cu_stream *place = gt_cu_stream_of(a->device, a->context, a->stream);

	if (!place) {
		gt_cu_count(&gt_cu_counts.no_location, 1);
		return false;
	}
	a->out.at = place->location;
	a->out.host = a->has_call ? a->call.location : UINT32_MAX;
	if (gt_cu_options.stream_reuse)
		put_attribute(a, gt_cu_refs.stream, a->stream);
	if (a->graph_node) {
		put_attribute(a, gt_cu_refs.graph, a->graph);
		put_attribute(a, gt_cu_refs.graph_node, a->graph_node);
	}
	return true;
}

/*
 * Finds the call and the place of an activity and makes its times usable. False: there is nothing to
 * write; why is counted.
 */
static bool prepare(struct activity *a, const char *name)
{
	a->has_call = gt_accel_call_find(gt_cu_hot.calls, a->out.correlation, &a->call);
	if (!a->has_call)
		gt_cu_count(&gt_cu_counts.no_parent, 1);
	else if (a->call.flags & GT_CU_CALL_OFF) {
		gt_cu_count(&gt_cu_counts.off, 1);
		return false;
	}
	if (!a->out.start || !a->out.end) {
		put_untimed(a, name);
		return false;
	}
	if (a->out.end < a->out.start)
		a->out.end = a->out.start;
	if (a->has_call && a->out.start < a->call.enter) {
		gt_cu_count(&gt_cu_counts.early, 1);
		gt_cu_align_early(a->context, a->call.enter - a->out.start);
		if (a->out.end <= a->call.enter) /* all of it: it is moved */
			a->out.end += a->call.enter - a->out.start;
		a->out.start = a->call.enter;
	} else if (a->has_call && !a->graph_node && !a->replayed) {
		gt_cu_align_start(a->context, a->out.start - a->call.enter);
	}
	if (a->has_call && !a->replayed)
		gt_cu_align_end(a->context, &a->call, a->out.end);
	gt_cu_implicit_activity(a->context, a->out.start, a->out.end);
	return find_place(a);
}

/* ---- the host's side of it --------------------------------------------------------------------------- */

/* Waits of calls that were not over when their record came. */
static struct pending {
	uint32_t correlation;
	uint64_t start, end;
} pending[PENDING];
static unsigned pending_count;

/*
 * The call waited for its transfer if that was over when the call was: then the time until it began
 * is not the transfer's but the wait for what went before it on the device.
 */
static void put_wait(const struct gt_accel_call *call, uint64_t start, uint64_t end)
{
	uint64_t exit = call->enter + call->span;
	uint64_t from = call->enter + 1, to = start;

	if (call->flags & GT_CU_CALL_IDLE)
		return;
	gt_accel_call_mark(gt_cu_hot.calls, call->correlation, GT_CU_CALL_IDLE);
	if (end > exit || start <= from)
		return;
	if (to >= exit) {
		to = exit - 1;
		gt_cu_count(&gt_cu_counts.clamped, 1);
	}
	if (to <= from)
		return;
	gt_accel_defer(call->location, GT_T_ENTER, gt_cu_refs.host_idle, NULL, 0, from);
	gt_accel_defer(call->location, GT_T_LEAVE, gt_cu_refs.host_idle, NULL, 0, to);
}

static void host_wait(const struct activity *a)
{
	if (!gt_cu_refs.host_idle || !a->has_call || !(a->call.flags & GT_CU_CALL_REGION) ||
	    a->graph_node)
		return;
	if (a->call.span)
		put_wait(&a->call, a->out.start, a->out.end);
	else if (pending_count < PENDING)
		pending[pending_count++] = (struct pending){ a->out.correlation, a->out.start, a->out.end };
}

void gt_cu_records_settle(bool all)
{
	unsigned kept = 0;

	gt_cu_streams_name();
	gt_cu_implicit_settle(all);
	for (unsigned i = 0; i < pending_count; i++) {
		struct pending *p = &pending[i];
		struct gt_accel_call call;

		if (!gt_accel_call_find(gt_cu_hot.calls, p->correlation, &call))
			continue;
		if (call.span)
			put_wait(&call, p->start, p->end);
		else
			pending[kept++] = *p;
	}
	pending_count = kept;
}

/* ---- the kinds ---------------------------------------------------------------------------------------- */

static bool is_hidden(const struct cu_kernel *k)
{
	GT_CU_EACH_HOOK(h)
		if (h->hides && k->name && h->hides(k->name))
			return true;
	return false;
}

/* Who has measured this kernel: its record may have no times then. NULL: nobody. */
static const struct gt_cu_hooks *measured_by(struct activity *a, uint64_t ns)
{
	uint64_t begin, end;

	GT_CU_EACH_HOOK(h) {
		if (!h->kernel || !h->kernel((uint32_t)a->out.correlation, ns, &begin, &end))
			continue;
		if (!a->out.start) {
			a->replayed = true;
			a->out.start = begin;
			a->out.end = end;
		}
		return h;
	}
	return NULL;
}

static void read_kernel(const struct cu_record *record)
{
	const struct cu_kernel *k = (const struct cu_kernel *)record;
	struct activity a = {
		ACTIVITY_OF(k),
		.graph_node = k->graph_node,
	};
	struct gt_accel_launch launch = {
		.number = { (uint32_t)k->static_shared, (uint32_t)k->dynamic_shared, k->local_per_thread,
			    k->registers },
	};
	const struct gt_cu_hooks *measured;
	struct gt_accel_name *name;

	if (is_hidden(k))
		return;
	measured = measured_by(&a, k->end - k->start);
	gt_cu_count(k->graph_node ? &gt_cu_counts.graph_kernels : &gt_cu_counts.kernels, 1);
	if (!prepare(&a, k->name ? k->name : "kernel"))
		return;
	if (!k->graph_node && a.call.flags & GT_CU_CALL_CAPTURE)
		gt_cu_count(&gt_cu_counts.capture_kernels, 1);
	name = gt_cu_kernel(k->name);
	if (!name || !name->region)
		return;
	for (unsigned i = 0; i < 3; i++) {
		launch.size[0][i] = (uint32_t)k->grid[i];
		launch.size[1][i] = (uint32_t)k->block[i];
	}
	put_attribute(&a, gt_cu_refs.grid, (uint64_t)k->grid_id);
	a.out.region = name->region;
	a.out.params = gt_accel_params(name, &launch);
	if (gt_likely(!measured)) {
		gt_accel_write(&a.out);
		return;
	}
	gt_accel_begin(&a.out);
	measured->values(a.out.at, a.out.end);
	gt_accel_finish(&a.out);
}

static enum gt_accel_direction direction_of(unsigned copy)
{
	switch (copy) {
	case CU_COPY_HTOD:
	case CU_COPY_HTOA:
		return GT_ACCEL_TO_DEVICE;
	case CU_COPY_DTOH:
	case CU_COPY_ATOH:
		return GT_ACCEL_FROM_DEVICE;
	case CU_COPY_DTOD:
		return GT_ACCEL_WITHIN;
	default:
		return GT_ACCEL_NOWHERE;
	}
}

static void write_as(struct activity *a, gt_ref region)
{
	a->out.region = region;
	gt_accel_write(&a->out);
}

static void read_memcpy(const struct cu_record *record)
{
	const struct cu_memcpy *m = (const struct cu_memcpy *)record;
	struct activity a = {
		ACTIVITY_OF(m),
		.out.bytes = m->bytes, .out.has_bytes = true,
		.graph_node = m->graph_node,
	};
	gt_ref region = gt_cu_copy_region(m->copy, m->source, m->destination);

	gt_cu_count(&gt_cu_counts.copies, 1);
	if (!prepare(&a, "cudaMemcpy") || !region)
		return;
	a.out.direction = direction_of(m->copy);
	write_as(&a, region);
	host_wait(&a);
}

/* A stream of the other context. */
static struct gt_cu_stream *peer_of(const struct cu_memcpy2 *m, bool gets)
{
	uint32_t context = gets ? m->source_context : m->destination_context;
	uint32_t device = gets ? m->source_device : m->destination_device;
	struct gt_cu_stream *place;

	if (m->source_context == m->destination_context)
		return NULL;
	place = gt_cu_stream_of_context(context);
	return place ? place : gt_cu_stream_of(device, context, GT_CU_DEFAULT_STREAM);
}

/* A copy between contexts: the stream that does it belongs to one of them. */
static void read_memcpy2(const struct cu_record *record)
{
	const struct cu_memcpy2 *m = (const struct cu_memcpy2 *)record;
	struct activity a = {
		ACTIVITY_OF(m),
		.out.bytes = m->bytes, .out.has_bytes = true,
		.graph_node = m->graph_node,
	};
	bool gets = m->source_context != m->context;
	gt_ref region = gt_cu_copy_region(m->copy, m->source, m->destination);
	struct gt_cu_stream *peer;

	gt_cu_count(&gt_cu_counts.copies, 1);
	if (!prepare(&a, "cudaMemcpyPeer") || !region)
		return;
	peer = peer_of(m, gets);
	if (peer) {
		a.out.peer = peer->location;
		a.out.direction = gets ? GT_ACCEL_TO_DEVICE : GT_ACCEL_FROM_DEVICE;
	}
	write_as(&a, region);
	host_wait(&a);
}

static void read_memset(const struct cu_record *record)
{
	const struct cu_memset *m = (const struct cu_memset *)record;
	struct activity a = {
		ACTIVITY_OF(m),
		.out.bytes = m->bytes, .out.has_bytes = true,
		.graph_node = m->graph_node,
	};
	gt_ref region = gt_cu_set_region();

	gt_cu_count(&gt_cu_counts.sets, 1);
	if (!prepare(&a, "cudaMemset") || !region)
		return;
	write_as(&a, region);
	host_wait(&a);
}

static void read_graph(const struct cu_record *record)
{
	const struct cu_graph *g = (const struct cu_graph *)record;
	static gt_ref region;
	struct activity a = {
		ACTIVITY_OF(g),
	};

	gt_cu_count(&gt_cu_counts.graphs, 1);
	if (!region)
		region = gt_accel_region("CUDA graph", "CUDA_KERNEL", GT_REGION_ROLE_FUNCTION);
	if (!prepare(&a, "CUDA graph") || !region)
		return;
	put_attribute(&a, gt_cu_refs.graph, a.graph);
	write_as(&a, region);
}

static void read_one(const struct cu_record *record)
{
	gt_cu_count(&gt_cu_counts.records, 1);
	switch (record->kind) {
	case CU_KIND_CONCURRENT_KERNEL:
	case CU_KIND_KERNEL:
		read_kernel(record);
		break;
	case CU_KIND_MEMCPY:
		read_memcpy(record);
		break;
	case CU_KIND_MEMCPY2:
		read_memcpy2(record);
		break;
	case CU_KIND_MEMSET:
		read_memset(record);
		break;
	case CU_KIND_GRAPH_TRACE:
		read_graph(record);
		break;
	default:
		if (!gt_cu_extra(record))
			gt_cu_count(&gt_cu_counts.unknown, 1);
	}
}

void gt_cu_records_read(uint8_t *buffer, size_t valid)
{
	struct cu_record *record = NULL;

	gt_cu_implicit_take();
	number_grids();
	while (valid && !gt_cu_api.next_record(buffer, valid, &record) && record)
		read_one(record);
}

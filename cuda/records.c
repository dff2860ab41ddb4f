/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What activity records mean: kernels, copies and sets on their streams, messages between the stream
 * and the thread that asked for the copy, and the host's waiting, each at the device's own times.
 *
 * Invariant: every record is counted, and becomes an event or a counted loss. Nothing is left out
 * because its times look odd: such records are counted and reported.
 *
 * Limits: only the reading thread comes here. An activity is written as one block, from its attributes
 * to its leave, which the assembly puts into order.
 */
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/exact.h"

#define PENDING 4096u

/* ---- definitions --------------------------------------------------------------------------------- */

static gt_ref marker_untimed;

void gt_cu_records_setup(void)
{
	gt_cu_refs.correlation = gt_def_attribute("CORRELATION_ID",
						  "The same for an API call and what it made the device do",
						  GT_VALUE_UINT);
	gt_cu_refs.bytes = gt_def_attribute("BYTES", "Bytes that were copied or set", GT_VALUE_UINT);
	gt_cu_refs.calls = gt_def_parameter("calls", GT_VALUE_UINT); /* as MPI's */
	gt_cu_refs.result = gt_def_attribute("CUDA_ERROR", "What the call returned", GT_VALUE_UINT);
	gt_cu_refs.stream = gt_def_attribute(
		"CUDA_STREAM", "Number of the stream, as in the names of locations", GT_VALUE_UINT);
	gt_cu_refs.graph = gt_def_attribute("CUDA_GRAPH_ID", "The graph that this was part of",
					    GT_VALUE_UINT);
	gt_cu_refs.graph_node = gt_def_attribute("CUDA_GRAPH_NODE_ID", "The node of the graph",
						 GT_VALUE_UINT);
	if (gt_cu_options.rma)
		gt_cu_refs.window = gt_def_window("CUDA_WINDOW", GT_NONE, GT_CU_PARADIGM, 0);
	else
		gt_cu_refs.comm = gt_def_comm("GPU_COMM_GLOBAL", GT_NONE, GT_CU_PARADIGM, 0);
	if (gt_cu_options.host_idle)
		gt_cu_refs.host_idle = gt_cu_region("HOST_IDLE", "CUDA_SYNC", GT_CU_ROLE_BARRIER);
	gt_cu_params_setup();
	marker_untimed = gt_def_marker("CUDA_UNTIMED", "CUDA", 2);
}

/* ---- one activity of the device ---------------------------------------------------------------------- */

struct activity {
	uint32_t device, context, stream, correlation;
	uint64_t start, end; /* ticks */
	uint64_t bytes, graph_node;
	uint32_t graph;
	bool has_bytes;
	struct gt_cu_call call;
	bool has_call;
	bool replayed; /* the times are the host's */
	struct gt_cu_stream *place;
};

/* What all records have. */
#define ACTIVITY_OF(r)                                                                             \
	.device = (r)->device, .context = (r)->context, .stream = (r)->stream,                     \
	.correlation = (r)->correlation, .start = gt_cu_ticks((r)->start),                         \
	.end = gt_cu_ticks((r)->end), .graph = (r)->graph

static void put_attribute(const struct activity *a, gt_ref attribute, uint64_t value)
{
	struct gt_location *location = a->place->location;
	uint64_t low;

	if (!attribute)
		return;
	if (gt_cu_tag(attribute, value, &low))
		gt_location_record(location, GT_T_TAG, low, NULL, 0, a->start);
	else
		gt_location_record(location, GT_T_ATTR, attribute, (uint64_t[2]){ value, 0 }, 1,
				   a->start);
}

static void begin(const struct activity *a, gt_ref region)
{
	put_attribute(a, gt_cu_refs.correlation, a->correlation);
	if (gt_cu_options.stream_reuse)
		put_attribute(a, gt_cu_refs.stream, a->stream);
	if (a->has_bytes)
		put_attribute(a, gt_cu_refs.bytes, a->bytes);
	if (a->graph_node) {
		put_attribute(a, gt_cu_refs.graph, a->graph);
		put_attribute(a, gt_cu_refs.graph_node, a->graph_node);
	}
	gt_location_record(a->place->location, GT_T_ENTER, region, NULL, 0, a->start);
}

static void finish(const struct activity *a, gt_ref region)
{
	gt_location_record(a->place->location, GT_T_LEAVE, region, NULL, 0, a->end);
}

/* A record without times: it is reported where its call was made. */
static void put_untimed(struct activity *a, const char *name)
{
	struct gt_cu_stream *place = gt_cu_stream(a->device, a->context, a->stream);

	gt_cu_count(&gt_cu_counts.zero_time, 1);
	if (!place || !a->has_call)
		return;
	gt_location_record(place->location, GT_T_MARKER, marker_untimed,
			   (uint64_t[2]){ gt_def_string(name), 0 }, 1, a->call.enter);
}

/*
 * Finds the call and the place of an activity and makes its times usable. False: there is nothing to
 * write; why is counted.
 */
static bool prepare(struct activity *a, const char *name)
{
	a->has_call = gt_cu_call_find(a->correlation, &a->call);
	if (!a->has_call)
		gt_cu_count(&gt_cu_counts.no_parent, 1);
	else if (a->call.flags & GT_CU_CALL_OFF) {
		gt_cu_count(&gt_cu_counts.off, 1);
		return false;
	}
	if (!a->start || !a->end) {
		put_untimed(a, name);
		return false;
	}
	if (a->end < a->start)
		a->end = a->start;
	if (a->has_call && a->start < a->call.enter) {
		gt_cu_count(&gt_cu_counts.early, 1);
		gt_cu_align_early(a->context, a->call.enter - a->start);
		if (a->end <= a->call.enter) /* all of it: it is moved */
			a->end += a->call.enter - a->start;
		a->start = a->call.enter;
	} else if (a->has_call && !a->graph_node && !a->replayed) {
		gt_cu_align_start(a->context, a->start - a->call.enter);
	}
	if (a->has_call && !a->replayed)
		gt_cu_align_end(a->context, &a->call, a->end);
	gt_cu_implicit_activity(a->context, a->start, a->end);
	a->place = gt_cu_stream(a->device, a->context, a->stream);
	if (!a->place)
		gt_cu_count(&gt_cu_counts.no_location, 1);
	return a->place;
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
static void put_wait(const struct gt_cu_call *call, uint64_t start, uint64_t end)
{
	uint64_t exit = call->enter + call->span;
	uint64_t from = call->enter + 1, to = start;

	if (call->flags & GT_CU_CALL_IDLE)
		return;
	gt_cu_call_mark(call->correlation, GT_CU_CALL_IDLE);
	if (end > exit || start <= from)
		return;
	if (to >= exit) {
		to = exit - 1;
		gt_cu_count(&gt_cu_counts.clamped, 1);
	}
	if (to <= from)
		return;
	gt_cu_defer(call->location, GT_T_ENTER, gt_cu_refs.host_idle, NULL, 0, from);
	gt_cu_defer(call->location, GT_T_LEAVE, gt_cu_refs.host_idle, NULL, 0, to);
}

static void host_wait(const struct activity *a)
{
	if (!gt_cu_refs.host_idle || !a->has_call || !(a->call.flags & GT_CU_CALL_REGION) ||
	    a->graph_node)
		return;
	if (a->call.span)
		put_wait(&a->call, a->start, a->end);
	else if (pending_count < PENDING)
		pending[pending_count++] = (struct pending){ a->correlation, a->start, a->end };
}

void gt_cu_records_settle(bool all)
{
	unsigned kept = 0;

	gt_cu_streams_name();
	gt_cu_implicit_settle(all);
	for (unsigned i = 0; i < pending_count; i++) {
		struct pending *p = &pending[i];
		struct gt_cu_call call;

		if (!gt_cu_call_find(p->correlation, &call))
			continue;
		if (call.span)
			put_wait(&call, p->start, p->end);
		else
			pending[kept++] = *p;
	}
	pending_count = kept;
}

/* One end of a message; `at` NULL: the host. */
static void message_end(const struct activity *a, unsigned type, const struct gt_cu_stream *at,
			const struct gt_cu_stream *other)
{
	uint64_t far = other ? other->id : a->call.location;
	uint64_t data[2] = { far | (uint64_t)a->correlation << 32, a->bytes };
	uint64_t tick = type == GT_T_XFER_SEND ? a->start : a->end;

	if (at)
		gt_location_record(at->location, type, gt_cu_refs.comm, data, 1, tick);
	else
		gt_cu_defer(a->call.location, type, gt_cu_refs.comm, data, 1, tick);
}

/* The same as a one-sided operation of the stream. */
static void one_sided(const struct activity *a, unsigned type, uint32_t remote)
{
	uint64_t data[4] = { remote, a->bytes, a->correlation, 0 };

	gt_location_record(a->place->location, type, gt_cu_refs.window, data, 2, a->start);
	gt_location_record(a->place->location, GT_T_XFER_COMPLETE, gt_cu_refs.window, data, 2, a->end);
}

/* The stream's end of a transfer to or from `peer`, NULL: the host. Inside of the activity. */
static void put_transfer(const struct activity *a, bool to_device, const struct gt_cu_stream *peer)
{
	uint32_t remote = peer ? peer->id : a->call.location;

	if (!peer && (!a->has_call || remote == UINT32_MAX))
		return;
	if (gt_cu_options.rma)
		one_sided(a, to_device ? GT_T_XFER_GET : GT_T_XFER_PUT, remote);
	else
		message_end(a, to_device ? GT_T_XFER_RECV : GT_T_XFER_SEND, a->place, peer);
}

/* The far end, on another location, after the activity. */
static void put_far_end(const struct activity *a, bool to_device, const struct gt_cu_stream *peer)
{
	if (gt_cu_options.rma || (!peer && (!a->has_call || a->call.location == UINT32_MAX)))
		return;
	message_end(a, to_device ? GT_T_XFER_SEND : GT_T_XFER_RECV, peer, a->place);
}

/* ---- the kinds ---------------------------------------------------------------------------------------- */

/* For each range that it measures CUPTI launches a kernel of its own (13.0). */
static bool is_cuptis(const struct cu_kernel *k)
{
	bool it_is = gt_cu_options.exact == GT_CU_EXACT_USER && k->name && !strcmp(k->name, "WaitNs");

	gt_cu_count(&gt_cu_counts.cuptis, it_is);
	return it_is;
}

/* The kernel was measured: its record has no times, unless it was measured by events. */
static void take_measured(struct activity *a, uint64_t ns, struct gt_cu_measured *m)
{
	if (!gt_cu_exact_take(a->correlation, ns, m) || a->start)
		return;
	a->replayed = true;
	a->start = m->begin;
	a->end = m->end;
}

static void read_kernel(const struct cu_record *record)
{
	const struct cu_kernel *k = (const struct cu_kernel *)record;
	struct activity a = {
		ACTIVITY_OF(k),
		.graph_node = k->graph_node,
	};
	struct gt_cu_launch launch = {
		.static_shared = (uint32_t)k->static_shared,
		.dynamic_shared = (uint32_t)k->dynamic_shared,
		.local = k->local_per_thread,
		.registers = k->registers,
	};
	struct gt_cu_measured measured;
	struct gt_cu_kernel_name *name;

	measured.count = 0;
	if (gt_unlikely(gt_cu_options.exact && is_cuptis(k)))
		return;
	if (gt_unlikely(gt_cu_options.exact))
		take_measured(&a, k->end - k->start, &measured);
	gt_cu_count(k->graph_node ? &gt_cu_counts.graph_kernels : &gt_cu_counts.kernels, 1);
	if (!prepare(&a, k->name ? k->name : "kernel"))
		return;
	if (!k->graph_node && a.call.flags & GT_CU_CALL_CAPTURE)
		gt_cu_count(&gt_cu_counts.capture_kernels, 1);
	name = gt_cu_kernel(k->name);
	if (!name || !name->region)
		return;
	memcpy(launch.grid, k->grid, sizeof(k->grid));
	memcpy(launch.block, k->block, sizeof(k->block));
	if (!name->params || memcmp(&launch, &name->launch, sizeof(launch))) {
		name->launch = launch;
		name->params = gt_cu_params(&launch);
	}
	begin(&a, name->region);
	if (name->params)
		gt_location_record(a.place->location, GT_T_PARAMS, name->params, NULL, 0, a.start);
	if (gt_unlikely(measured.count))
		gt_cu_exact_record(&measured, a.place->location, a.end);
	finish(&a, name->region);
}

static bool from_host(unsigned copy)
{
	return copy == CU_COPY_HTOD || copy == CU_COPY_HTOA;
}

static bool to_host(unsigned copy)
{
	return copy == CU_COPY_DTOH || copy == CU_COPY_ATOH;
}

static void read_memcpy(const struct cu_record *record)
{
	const struct cu_memcpy *m = (const struct cu_memcpy *)record;
	struct activity a = {
		ACTIVITY_OF(m),
		.bytes = m->bytes, .has_bytes = true,
		.graph_node = m->graph_node,
	};
	gt_ref region = gt_cu_copy_region(m->copy, m->source, m->destination);

	gt_cu_count(&gt_cu_counts.copies, 1);
	if (!prepare(&a, "cudaMemcpy") || !region)
		return;
	begin(&a, region);
	if (from_host(m->copy) || to_host(m->copy)) {
		put_transfer(&a, from_host(m->copy), NULL);
	} else if (m->copy == CU_COPY_DTOD && !gt_cu_options.rma) {
		message_end(&a, GT_T_XFER_SEND, a.place, a.place);
		message_end(&a, GT_T_XFER_RECV, a.place, a.place);
	} else if (m->copy == CU_COPY_DTOD) {
		one_sided(&a, GT_T_XFER_GET, a.place->id);
	}
	finish(&a, region);
	if (from_host(m->copy) || to_host(m->copy))
		put_far_end(&a, from_host(m->copy), NULL);
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
	return place ? place : gt_cu_stream(device, context, GT_CU_DEFAULT_STREAM);
}

/* A copy between contexts: the stream that does it belongs to one of them. */
static void read_memcpy2(const struct cu_record *record)
{
	const struct cu_memcpy2 *m = (const struct cu_memcpy2 *)record;
	struct activity a = {
		ACTIVITY_OF(m),
		.bytes = m->bytes, .has_bytes = true,
		.graph_node = m->graph_node,
	};
	bool gets = m->source_context != m->context;
	gt_ref region = gt_cu_copy_region(m->copy, m->source, m->destination);
	struct gt_cu_stream *peer;

	gt_cu_count(&gt_cu_counts.copies, 1);
	if (!prepare(&a, "cudaMemcpyPeer") || !region)
		return;
	peer = peer_of(m, gets);
	begin(&a, region);
	if (peer)
		put_transfer(&a, gets, peer);
	finish(&a, region);
	if (peer)
		put_far_end(&a, gets, peer);
	host_wait(&a);
}

static void read_memset(const struct cu_record *record)
{
	const struct cu_memset *m = (const struct cu_memset *)record;
	struct activity a = {
		ACTIVITY_OF(m),
		.bytes = m->bytes, .has_bytes = true,
		.graph_node = m->graph_node,
	};
	gt_ref region = gt_cu_set_region();

	gt_cu_count(&gt_cu_counts.sets, 1);
	if (!prepare(&a, "cudaMemset") || !region)
		return;
	begin(&a, region);
	finish(&a, region);
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
		region = gt_cu_region("CUDA graph", "CUDA_KERNEL", GT_CU_ROLE_FUNCTION);
	if (!prepare(&a, "CUDA graph") || !region)
		return;
	put_attribute(&a, gt_cu_refs.graph, a.graph);
	begin(&a, region);
	finish(&a, region);
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
	while (valid && !gt_cu_api.next_record(buffer, valid, &record) && record)
		read_one(record);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates activity records: kernels and copies on their streams, messages between a stream and the
 * thread that asked for the copy, each at the device's own times.
 *
 * Invariant: every record is counted, and becomes an event or a counted loss. Nothing is left out because its
 * times look odd: such records are counted and shown where their call was made.
 *
 * Limits: buffers are delivered on a thread of rocprofiler-sdk's; the lock is held meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "hip/hip.h"

enum { BUCKETS = 1024 };

static struct gt_hip_counts *const counts = &gt_hip_counts;
static uint32_t kernel_kind, copy_kind, memory_kind;
static gt_ref marker_untimed;

void gt_hip_records_setup(uint32_t kernels, uint32_t copies, uint32_t allocations)
{
	struct gt_accel_param_names names = { { NULL }, { NULL } };
	const char *wanted = gt_setting("VT_GPUTRACE_KERNEL");

	kernel_kind = kernels;
	copy_kind = copies;
	memory_kind = allocations;
	marker_untimed = gt_def_marker("HIP_UNTIMED", "HIP", 2);
	if (!wanted || strcmp(wanted, "no") != 0) {
		names.size[0] = "grid";
		names.size[1] = "block";
	}
	if (!wanted || !strcmp(wanted, "2")) {
		names.number[0] = "shared memory";
		names.number[1] = "local memory per thread";
	}
	gt_accel_params_setup(&names);
}

/* ---- kernels by their numbers ------------------------------------------------------------------- */

static struct symbol {
	uint64_t kernel;
	struct gt_accel_name *name;
	struct symbol *next;
} *symbols[BUCKETS];

static struct symbol *find_symbol(uint64_t kernel)
{
	struct symbol *s = symbols[kernel % BUCKETS];

	while (s && s->kernel != kernel)
		s = s->next;
	return s;
}

/* Symbols of kernels end with ".kd", which stands for the descriptor. With the lock. */
static struct gt_accel_name *name_of(const char *symbol)
{
	char text[4096];
	size_t n = strnlen(symbol, sizeof(text) - 1);

	memcpy(text, symbol, n);
	text[n] = 0;
	if (n > 3 && !strcmp(text + n - 3, ".kd"))
		text[n - 3] = 0;
	return gt_accel_named(*text ? text : "kernel without a name", true, "HIP_KERNEL",
			      GT_REGION_ROLE_FUNCTION);
}

static void add_symbol(uint64_t kernel, const char *name)
{
	struct symbol *s = find_symbol(kernel);

	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return;
		s->kernel = kernel;
		s->next = symbols[kernel % BUCKETS];
		symbols[kernel % BUCKETS] = s;
	}
	s->name = name_of(name);
}

void gt_hip_code_object(struct rocp_call call, union rocp_user *user, void *data)
{
	const struct rocp_symbol *symbol = call.payload;
	uint64_t mask;

	(void)user;
	(void)data;
	if (call.operation != ROCP_SYMBOL_REGISTER || call.phase != ROCP_PHASE_ENTER || !gt_hip_ready() ||
	    !symbol || symbol->size < sizeof(*symbol))
		return;
	gt_guard();
	mask = gt_lock(&gt_hip_lock);
	if (mask != GT_LOCK_REFUSED)
		add_symbol(symbol->kernel, symbol->name ? symbol->name : "");
	gt_unlock(&gt_hip_lock, mask);
	gt_unguard();
}

/* ---- one activity of the device ------------------------------------------------------------------ */

/* A record without times: it is reported where its call was made. */
static void put_untimed(const struct gt_accel_activity *a, const struct gt_accel_call *call)
{
	gt_hip_count(&counts->zero_time);
	if (call)
		gt_location_record(a->at, GT_T_MARKER, marker_untimed,
				   (uint64_t[2]){ gt_def_string("HIP"), 0 }, 1, call->enter);
}

/*
 * Finds the call of an activity and makes its times usable. False: there is nothing to write; why is counted.
 */
static bool prepare(struct gt_accel_activity *a, uint64_t start, uint64_t end)
{
	struct gt_accel_call call;
	bool known = gt_accel_call_find(gt_hip_calls, (uint32_t)a->correlation, &call);

	if (!a->at) {
		gt_hip_count(&counts->no_location);
		return false;
	}
	if (!known)
		gt_hip_count(&counts->no_parent);
	else if (call.flags & GT_HIP_CALL_OFF) {
		gt_hip_count(&counts->off);
		return false;
	}
	a->host = known ? call.location : UINT32_MAX;
	if (!start || !end) {
		put_untimed(a, known ? &call : NULL);
		return false;
	}
	a->start = gt_accel_ticks(start);
	a->end = gt_accel_ticks(end > start ? end : start);
	if (known && a->start < call.enter) {
		gt_hip_count(&counts->early);
		if (a->end <= call.enter) /* all of it: it is moved */
			a->end += call.enter - a->start;
		a->start = call.enter;
	}
	return true;
}

static void read_kernel(const struct rocp_kernel *k)
{
	const struct rocp_dispatch *d = &k->dispatch;
	const struct rocp_dim3 *grid = &d->grid, *block = &d->workgroup;
	const struct symbol *symbol = find_symbol(d->kernel);
	struct gt_accel_name *name = symbol ? symbol->name : name_of("");
	struct gt_accel_activity a = {
		.at = gt_hip_place(d->agent.handle, k->correlation.external.value, d->queue.handle),
		.region = name ? name->region : GT_NONE,
		.correlation = k->correlation.internal,
	};
	const struct gt_accel_launch launch = {
		.size = { { block->x ? grid->x / block->x : grid->x, block->y ? grid->y / block->y : grid->y,
			    block->z ? grid->z / block->z : grid->z },
			  { block->x, block->y, block->z } },
		.number = { d->group_segment, d->private_segment },
	};

	gt_hip_count(&counts->kernels);
	if (!prepare(&a, k->start, k->end) || !a.region)
		return;
	a.params = gt_accel_params(name, &launch);
	gt_accel_write(&a);
}

static gt_ref copy_region(int32_t operation)
{
	static const char *const names[] = { "hipMemcpy", "hipMemcpy H2H", "hipMemcpy H2D", "hipMemcpy D2H",
					     "hipMemcpy D2D" };
	bool known = operation > 0 && operation <= ROCP_COPY_DEVICES;
	const struct gt_accel_name *name =
		gt_accel_named(names[known ? operation : 0], false, "HIP_MEMCPY",
			       GT_REGION_ROLE_DATA_TRANSFER);

	return name ? name->region : GT_NONE;
}

/* Where a copy is shown: on the device, on that which it comes from if there are two. */
static uint64_t agent_of(const struct rocp_copy *c)
{
	if (c->operation == ROCP_COPY_TO_DEVICE || !gt_hip_is_gpu(c->source.handle))
		return c->destination.handle;
	return c->source.handle;
}

static void read_copy(const struct rocp_copy *c)
{
	uint64_t agent = agent_of(c), stream = c->correlation.external.value;
	struct gt_accel_activity a = {
		.at = gt_hip_place(agent, stream, 0),
		.region = copy_region(c->operation),
		.correlation = c->correlation.internal,
		.bytes = c->bytes,
		.has_bytes = true,
	};

	if (c->operation == ROCP_COPY_TO_DEVICE) {
		a.direction = GT_ACCEL_TO_DEVICE;
	} else if (c->operation == ROCP_COPY_TO_HOST) {
		a.direction = GT_ACCEL_FROM_DEVICE;
	} else if (c->operation == ROCP_COPY_DEVICES) {
		a.direction = GT_ACCEL_WITHIN;
		if (c->source.handle != c->destination.handle) {
			a.direction = GT_ACCEL_FROM_DEVICE;
			a.peer = gt_hip_place(c->destination.handle, stream, 0);
		}
	}
	gt_hip_count(&counts->copies);
	if (prepare(&a, c->start, c->end) && a.region)
		gt_accel_write(&a);
}

/* ---- buffers ------------------------------------------------------------------------------------ */

static void read_one(const struct rocp_header *header)
{
	const uint64_t *size = header ? header->payload : NULL;

	gt_hip_count(&counts->records);
	if (!size || header->category != ROCP_CATEGORY_TRACING || !header->kind ||
	    (header->kind != kernel_kind && header->kind != copy_kind && header->kind != memory_kind))
		gt_hip_count(&counts->unknown);
	else if (header->kind == kernel_kind && *size >= offsetof(struct rocp_kernel, dispatch.reserved))
		read_kernel(header->payload);
	else if (header->kind == copy_kind && *size >= sizeof(struct rocp_copy))
		read_copy(header->payload);
	else if (header->kind == memory_kind && *size >= sizeof(struct rocp_allocation))
		gt_hip_memory(header->payload);
	else
		gt_hip_count(&counts->wrong_size);
}

void gt_hip_buffer(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers, size_t count,
		   void *data, uint64_t dropped)
{
	uint64_t mask;

	(void)context;
	(void)buffer;
	(void)data;
	if (!gt_hip_ready() || !headers)
		return; /* what is missing then is pending in the account */
	gt_guard();
	gt_accel_clock_note();
	mask = gt_lock(&gt_hip_lock);
	for (size_t i = 0; mask != GT_LOCK_REFUSED && i < count; i++)
		read_one(headers[i]);
	if (mask != GT_LOCK_REFUSED && dropped > counts->dropped)
		counts->dropped = dropped; /* of all the time */
	gt_unlock(&gt_hip_lock, mask);
	gt_unguard();
}

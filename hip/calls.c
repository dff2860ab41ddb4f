/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks on the program's threads: a region for each call of HIP's runtime, an entry in the table of calls
 * under its correlation id, and the stream that a kernel or copy is for.
 *
 * Limits: FRAMES calls inside of each other on a thread, and STREAMS streams; further ones are not recorded.
 * A call that its thread leaves by longjmp() ends with the call around it.
 */
#include <stdio.h>
#include <string.h>

#include "hip/hip.h"

enum { OPERATIONS = 2048, FRAMES = 8, STREAMS = 8 };

struct gt_accel_call *gt_hip_calls;

static struct operation {
	bool made;  /* atomic */
	bool status; /* its result says whether it failed */
	gt_ref region;
} operations[OPERATIONS];
static uint32_t hip_kind;
static gt_ref attribute_error;

static GT_TLS struct {
	uint32_t depth, streams;
	struct frame {
		uint64_t correlation, enter;
		gt_ref region;
	} frames[FRAMES];
	uint64_t stream[STREAMS];
} self;

bool gt_hip_calls_setup(uint32_t kind)
{
	hip_kind = kind;
	attribute_error = gt_def_attribute("HIP_ERROR", "What the call returned", GT_VALUE_UINT);
	gt_hip_calls = gt_accel_calls_make();
	return gt_hip_calls;
}

bool gt_hip_inside(void)
{
	return self.depth;
}

void gt_hip_calls_forked(void)
{
	self.depth = self.streams = 0;
}

/* ---- operations --------------------------------------------------------------------------------- */

/* By how names begin, without "hip". */
static unsigned role_of(const char *name)
{
	static const struct {
		const char *prefix;
		unsigned role;
	} rules[] = {
		{ "Memcpy", GT_REGION_ROLE_DATA_TRANSFER },
		{ "Memset", GT_REGION_ROLE_DATA_TRANSFER },
		{ "CtxSynchronize", GT_REGION_ROLE_IMPLICIT_BARRIER },
		{ "DeviceSynchronize", GT_REGION_ROLE_IMPLICIT_BARRIER },
		{ "StreamSynchronize", GT_REGION_ROLE_IMPLICIT_BARRIER },
		{ "EventSynchronize", GT_REGION_ROLE_IMPLICIT_BARRIER },
		{ "Malloc", GT_REGION_ROLE_ALLOCATE },
		{ "ExtMalloc", GT_REGION_ROLE_ALLOCATE },
		{ "HostMalloc", GT_REGION_ROLE_ALLOCATE },
		{ "HostAlloc", GT_REGION_ROLE_ALLOCATE },
		{ "MemAlloc", GT_REGION_ROLE_ALLOCATE },
		{ "Free", GT_REGION_ROLE_DEALLOCATE },
		{ "HostFree", GT_REGION_ROLE_DEALLOCATE },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strncmp(name, rules[i].prefix, strlen(rules[i].prefix)))
			return rules[i].role;
	return GT_REGION_ROLE_FUNCTION;
}

/* Calls without a result, or whose result does not mean failure. */
static bool has_status(const char *name)
{
	static const char *const without[] = { "Get",	     "Peek",		  "StreamQuery", "EventQuery",
					       "ApiName", "CreateChannelDesc", "KernelName" };

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (!strncmp(name, without[i], strlen(without[i])))
			return false;
	return true;
}

static void define(struct operation *op, int32_t number)
{
	const char *name = NULL, *plain;
	uint64_t length = 0, mask;
	char made_up[32];

	if (gt_hip_api.operation(hip_kind, number, &name, &length) || !name) {
		snprintf(made_up, sizeof(made_up), "hip call %d", (int)number);
		name = made_up;
	}
	plain = strncmp(name, "hip", 3) ? name : name + 3;
	mask = gt_lock(&gt_hip_lock);
	if (mask != GT_LOCK_REFUSED && !op->made) {
		op->region = gt_accel_region(name, "HIP", role_of(plain));
		op->status = name != made_up && has_status(plain);
		__atomic_store_n(&op->made, true, __ATOMIC_RELEASE); /* pairs with find() */
	}
	gt_unlock(&gt_hip_lock, mask);
}

static const struct operation *find(int32_t number)
{
	static const struct operation none;
	struct operation *op = number >= 0 && number < OPERATIONS ? &operations[number] : NULL;

	if (!op)
		return &none;
	if (!__atomic_load_n(&op->made, __ATOMIC_ACQUIRE)) {
		gt_guard();
		define(op, number);
		gt_unguard();
	}
	return op;
}

/* ---- calls -------------------------------------------------------------------------------------- */

static void enter(const struct rocp_call *call)
{
	uint32_t id = (uint32_t)call->correlation.internal, flags = GT_HIP_CALL_OFF;
	struct frame *f;
	uint64_t now;
	gt_ref region;

	if (self.depth >= FRAMES)
		return;
	f = &self.frames[self.depth++];
	*f = (struct frame){ call->correlation.internal, 0, GT_NONE };
	now = gt_now();
	if (gt_active()) {
		gt_hip_count(&gt_hip_counts.calls);
		region = find(call->operation)->region;
		flags = 0;
		if (gt_enter_attribute(region, gt_accel_refs.correlation, call->correlation.internal, now))
			f->region = region;
	}
	f->enter = now;
	if (id)
		gt_accel_call_put(gt_hip_calls, id, gt_self_location(), now, flags);
}

/* The result of a call, if it says that it has failed; else 0. */
static uint32_t error_of(const struct rocp_call *call)
{
	const struct rocp_api *api = call->payload;
	int32_t result;

	if (!api || api->size < sizeof(api->size) + ROCP_HIP_RESULT_BYTES || !find(call->operation)->status)
		return 0;
	memcpy(&result, (const char *)api + api->size - ROCP_HIP_RESULT_BYTES, sizeof(result));
	return result > 0 ? (uint32_t)result : 0;
}

static void failed(const struct rocp_call *call, uint32_t error)
{
	const char *name = NULL;
	uint64_t length;

	gt_hip_count(&gt_hip_counts.failed);
	if (gt_accel_first_failed(NULL) || gt_hip_api.operation(hip_kind, call->operation, &name, &length))
		name = NULL;
	gt_accel_failed(name, error);
}

static void leave(const struct rocp_call *call)
{
	uint32_t id = (uint32_t)call->correlation.internal, at = self.depth, error;
	const struct frame *f;

	while (at && self.frames[at - 1].correlation != call->correlation.internal)
		at--;
	if (!at) {
		gt_hip_count(&gt_hip_counts.unmatched);
		return;
	}
	for (; self.depth > at; self.depth--) /* never ended */
		gt_leave(self.frames[self.depth - 1].region);
	f = &self.frames[--self.depth];
	error = error_of(call);
	if (error)
		failed(call, error);
	if (error && f->region)
		gt_attribute(attribute_error, error);
	gt_leave(f->region);
	if (id)
		gt_accel_call_end(&gt_hip_calls[id % GT_ACCEL_CALLS], id, f->enter, gt_now());
}

void gt_hip_call(struct rocp_call call, union rocp_user *user, void *data)
{
	(void)user;
	(void)data;
	if (!gt_hip_ready())
		return;
	if (call.phase == ROCP_PHASE_ENTER)
		enter(&call);
	else if (call.phase == ROCP_PHASE_EXIT)
		leave(&call);
}

/* ---- streams ------------------------------------------------------------------------------------ */

static void created(const struct rocp_stream *s)
{
	uint64_t mask;

	if (!s || s->size < sizeof(*s))
		return;
	gt_guard();
	mask = gt_lock(&gt_hip_lock);
	if (mask != GT_LOCK_REFUSED)
		gt_hip_stream_handle(s->stream.handle, s->value);
	gt_unlock(&gt_hip_lock, mask);
	gt_unguard();
}

void gt_hip_stream(struct rocp_call call, union rocp_user *user, void *data)
{
	const struct rocp_stream *s = call.payload;

	(void)user;
	(void)data;
	if (!gt_hip_ready())
		return;
	if (call.operation == ROCP_STREAM_CREATE)
		created(s);
	if (call.operation != ROCP_STREAM_SET)
		return;
	if (call.phase == ROCP_PHASE_ENTER && s && s->size >= offsetof(struct rocp_stream, value)) {
		if (self.streams < STREAMS)
			self.stream[self.streams] = s->stream.handle;
		self.streams++;
	} else if (call.phase == ROCP_PHASE_EXIT && self.streams) {
		self.streams--;
	}
}

/* A kernel or copy is about to be enqueued: its record will have the number of its stream, + 1. */
int gt_hip_request(uint64_t thread, struct rocp_id context, uint32_t kind, int32_t operation,
		   uint64_t internal, union rocp_user *external, void *data)
{
	(void)thread;
	(void)context;
	(void)operation;
	(void)internal;
	(void)data;
	(void)kind; /* only those that have records */
	gt_hip_count(&gt_hip_counts.requested);
	external->value = self.streams && self.streams <= STREAMS ? self.stream[self.streams - 1] + 1 : 0;
	return 0;
}

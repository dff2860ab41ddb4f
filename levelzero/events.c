/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of ours, with timestamps, from pools of each context. They flush what the program's may be made to
 * flush: all that the host can see.
 *
 * Limits: pools are given back when the program destroys the context, their memory here never: a list of that
 * context may be left.
 */
#include <stdlib.h>

#include "levelzero/levelzero.h"

enum { EVENTS = 256 };

struct gt_ze_pool_of_ours {
	void *handle;
	struct gt_ze_own events[EVENTS];
	struct gt_ze_pool_of_ours *next;
};

static bool fill(struct gt_ze_context *context)
{
	const struct gt_ze_abi_pool desc = {
		.stype = GT_ZE_ABI_EVENT_POOL,
		.flags = GT_ZE_POOL_HOST_VISIBLE | GT_ZE_POOL_TIMESTAMPS,
		.count = EVENTS,
	};
	struct gt_ze_abi_event event = {
		.stype = GT_ZE_ABI_EVENT, .signal = GT_ZE_SCOPE_HOST, .wait = GT_ZE_SCOPE_HOST,
	};
	struct gt_ze_pool_of_ours *pool = calloc(1, sizeof(*pool));

	if (!pool || gt_ze.EventPoolCreate(context->object.handle, &desc, 0, NULL, &pool->handle)) {
		free(pool);
		return false;
	}
	pool->next = context->pools;
	context->pools = pool;
	for (; event.index < EVENTS; event.index++) {
		struct gt_ze_own *own = &pool->events[event.index];

		if (gt_ze.EventCreate(pool->handle, &event, &own->handle) != GT_ZE_SUCCESS) {
			own->handle = NULL;
			break;
		}
		own->context = context;
		own->next = context->unused;
		context->unused = own;
	}
	return event.index;
}

struct gt_ze_context *gt_ze_context_of(void *handle)
{
	struct gt_ze_context *context = gt_ze_find(GT_ZE_CONTEXT, handle);

	return context ? context : gt_ze_put(GT_ZE_CONTEXT, handle, sizeof(*context));
}

struct gt_ze_own *gt_ze_own_take(void *handle)
{
	struct gt_ze_context *context = gt_ze_context_of(handle);
	struct gt_ze_own *own;

	if (!context)
		return NULL;
	if (!context->unused && !context->failed && !fill(context)) {
		context->failed = true;
		gt_message(1, "Level Zero provides no events with timestamps: "
			      "device activity in this context is not in the trace");
	}
	own = context->unused;
	if (own)
		context->unused = own->next;
	return own;
}

void gt_ze_own_give(struct gt_ze_own *own, bool signaled)
{
	if (!own || !own->handle || (signaled && gt_ze.EventHostReset(own->handle) != GT_ZE_SUCCESS))
		return;
	own->next = own->context->unused;
	own->context->unused = own;
}

bool gt_ze_is_signaled(void *event)
{
	return event && gt_ze.EventQueryStatus(event) == GT_ZE_SUCCESS;
}

void gt_ze_context_end(void *handle)
{
	struct gt_ze_context *context = gt_ze_take(GT_ZE_CONTEXT, handle);

	for (struct gt_ze_pool_of_ours *pool = context ? context->pools : NULL; pool; pool = pool->next) {
		for (unsigned i = 0; i < EVENTS && pool->events[i].handle; i++) {
			gt_ze.EventDestroy(pool->events[i].handle);
			pool->events[i].handle = NULL;
		}
		gt_ze.EventPoolDestroy(pool->handle);
	}
}

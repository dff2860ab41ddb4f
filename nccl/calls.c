/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles each kind of event on the calling thread. Its regions are a call, the end of a group of calls,
 * and a launch. NCCL puts a group around each single call, too: that one is the call's own region, so that
 * it lasts until the kernel is launched. A group as a whole is none: NCCL's NVTX ranges of the calls in it
 * would not be nested with it.
 *
 * What was called is kept until its group ends: what NCCL starts for it names it. NCCL 2.30 says of a
 * Broadcast that it was called, and no more: it becomes an operation when its group ends.
 *
 * Limits: a call that ends on another thread than it began on is closed when its thread ends.
 */
#include <string.h>

#include "nccl/nccl.h"

/* ---- calls, on the thread that makes them -------------------------------------------------------------- */

static void enter(struct gt_nccl_event *event, gt_ref region, uint64_t tick)
{
	event->region = region;
	event->thread = gt_self_location();
	gt_enter_at(region, tick);
}

static void leave(const struct gt_nccl_event *event, gt_ref region)
{
	if (region && event->thread == gt_self_location())
		gt_leave(region);
}

static void say(enum gt_nccl_parameter which, uint64_t value, bool text)
{
	const uint64_t data[2] = { value, 0 };

	gt_record(text ? GT_T_PARAM_STR : GT_T_PARAM_UINT, gt_nccl_parameters[which], data, 1);
}

/* A collective or message is asked for: in NCCL's own group it is the group's region. */
static void call_started(struct gt_nccl_event *event, const struct gt_nccl_about *about)
{
	struct gt_nccl_event *group = gt_nccl_event_find(about->parent);
	const struct gt_nccl_comm *comm = gt_nccl_comm_find(event->comm);
	gt_ref region;

	event->function = (uint8_t)gt_nccl_function_number(about->function);
	event->bytes = gt_nccl_bytes(about->datatype, about->count);
	event->params = gt_nccl_params(about);
	region = gt_nccl_function_at(event->function)->api;
	if (group && group->implicit && group->region == region)
		return;
	if (group && group->implicit && !group->region)
		enter(group, region, group->begin);
	else
		enter(event, region, event->begin);
	if (!region)
		return;
	say(GT_NCCL_BYTES, event->bytes, false);
	if (comm && comm->text)
		say(GT_NCCL_COMM, comm->text, true);
}

static void group_started(struct gt_nccl_event *event, const struct gt_nccl_about *about)
{
	event->implicit = about->depth <= 1;
}

static bool broadcasts_start; /* NCCL says of a Broadcast what it starts; atomic */

/* The call has ended: its group keeps it. */
static bool keep(struct gt_nccl_event *event)
{
	struct gt_nccl_event *group = gt_nccl_event_find(event->parent);
	struct gt_nccl_event *last;
	uint32_t place = gt_nccl_event_place(event);

	if (!group || group->type != GT_NCCL_GROUP_API)
		return false;
	last = gt_nccl_event_at(group->last_call);
	if (last)
		last->next = place;
	else
		group->calls = place;
	group->last_call = place;
	return true;
}

/* The group has ended. */
static void forget_calls(const struct gt_nccl_event *group)
{
	struct gt_nccl_event *call = gt_nccl_event_at(group->calls), *next;

	for (; call; call = next) {
		struct gt_nccl_comm *comm = gt_nccl_comm_find(call->comm);
		bool lonely = call->type == GT_NCCL_COLL_API && !call->done && !call->captured;

		next = gt_nccl_event_at(call->next);
		call->next = 0;
		if (!comm || !lonely || strcmp(gt_nccl_function_at(call->function)->name, "Broadcast") ||
		    __atomic_load_n(&broadcasts_start, __ATOMIC_RELAXED)) {
			gt_nccl_event_free(call);
			continue;
		}
		call->type = GT_NCCL_COLL;
		call->region = gt_nccl_function_at(call->function)->operation;
		gt_nccl_operation_started(comm, call);
		call->launch = 0; /* it has one, which is not known */
		gt_nccl_operation_stopped(comm, call);
	}
}

static void launch_started(struct gt_nccl_event *event)
{
	struct gt_nccl_comm *comm = gt_nccl_comm_find(event->comm);

	enter(event, gt_nccl_regions[GT_NCCL_R_LAUNCH], event->begin);
	if (!comm)
		return;
	gt_nccl_launched(comm);
	if (event->region)
		say(GT_NCCL_LAUNCH, comm->launch, false);
}

/* ---- what NCCL calls ---------------------------------------------------------------------------------- */

static bool is_call(uint64_t type)
{
	return type == GT_NCCL_GROUP_API || type == GT_NCCL_COLL_API || type == GT_NCCL_P2P_API ||
	       type == GT_NCCL_KERNEL_LAUNCH;
}

static bool is_proxy(uint64_t type)
{
	return type == GT_NCCL_PROXY_OP || type == GT_NCCL_PROXY_STEP || type == GT_NCCL_PROXY_CTRL ||
	       type == GT_NCCL_NET_PLUGIN;
}

static bool wanted(const struct gt_nccl_about *about)
{
	if (gt_nccl_mode == GT_NCCL_NO || !(about->type & (uint64_t)gt_nccl_mask()))
		return false;
	return is_call(about->type) || about->type == GT_NCCL_PROXY_CTRL ? gt_active() : gt_is_on();
}

static void operation_started(struct gt_nccl_event *event, const struct gt_nccl_about *about)
{
	struct gt_nccl_comm *comm = gt_nccl_comm_find(event->comm);
	struct gt_nccl_event *call = gt_nccl_event_find(about->parent);

	if (call && (call->type == GT_NCCL_COLL_API || call->type == GT_NCCL_P2P_API)) {
		call->done = 1;
		event->captured = call->captured;
	}
	if (about->function && !strcmp(about->function, "Broadcast"))
		__atomic_store_n(&broadcasts_start, true, __ATOMIC_RELAXED);
	event->function = (uint8_t)gt_nccl_function_number(about->function);
	event->region = gt_nccl_function_at(event->function)->operation;
	event->bytes = gt_nccl_bytes(about->datatype, about->count);
	event->params = gt_nccl_params(about);
	event->send = about->function && !strcmp(about->function, "Send");
	if (!comm)
		return;
	gt_nccl_comm_is(comm, about);
	gt_nccl_operation_started(comm, event);
}

uint64_t gt_nccl_start(uint64_t comm, const struct gt_nccl_about *about)
{
	struct gt_nccl_event *event;

	if (!wanted(about))
		return 0;
	event = gt_nccl_event_new(comm, about);
	if (!event)
		return 0;
	if (about->type == GT_NCCL_GROUP_API)
		group_started(event, about);
	else if (about->type == GT_NCCL_COLL_API || about->type == GT_NCCL_P2P_API)
		call_started(event, about);
	else if (about->type == GT_NCCL_KERNEL_LAUNCH)
		launch_started(event);
	else if (about->type == GT_NCCL_COLL || about->type == GT_NCCL_P2P)
		operation_started(event, about);
	else if (about->type == GT_NCCL_KERNEL_CH)
		gt_nccl_kernel_started(event);
	else
		gt_nccl_proxy_started(event, about);
	return event->handle;
}

void gt_nccl_state(uint64_t handle, int state, uint64_t value)
{
	struct gt_nccl_event *event = gt_nccl_event_find(handle);

	if (!event)
		return;
	if (event->type == GT_NCCL_GROUP_API && state == GT_NCCL_GROUP_END_BEGINS && !event->implicit &&
	    !event->region) {
		enter(event, gt_nccl_regions[GT_NCCL_R_GROUP_END], gt_now());
	} else if (event->type == GT_NCCL_KERNEL_CH && state == GT_NCCL_KERNEL_CH_STOP) {
		event->duration = value > event->timer ? value - event->timer : 0;
	} else if (is_proxy(event->type)) {
		gt_nccl_proxy_state(event, state, value);
	}
}

void gt_nccl_stop(uint64_t handle)
{
	struct gt_nccl_event *event = gt_nccl_event_find(handle);
	struct gt_nccl_comm *comm;

	if (!event)
		return;
	if (event->type == GT_NCCL_COLL || event->type == GT_NCCL_P2P) {
		comm = gt_nccl_comm_find(event->comm);
		if (comm)
			gt_nccl_operation_stopped(comm, event);
		else
			gt_nccl_event_free(event);
		return;
	}
	if (is_call(event->type)) {
		leave(event, event->region);
		if (event->type == GT_NCCL_GROUP_API)
			forget_calls(event);
		else if (event->type != GT_NCCL_KERNEL_LAUNCH && keep(event))
			return;
	} else if (event->type == GT_NCCL_KERNEL_CH) {
		gt_nccl_kernel_stopped(event);
	} else {
		gt_nccl_proxy_stopped(event);
	}
	gt_nccl_event_free(event);
}

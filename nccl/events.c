/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events that NCCL has begun: where they are kept. No lock: a place is taken by one instruction.
 *
 * Limits: EVENTS at a time; what has no room is not recorded, and counted.
 */
#include <string.h>

#include "nccl/nccl.h"

enum { EVENTS = 16384, PROBES = 256 };

static struct gt_nccl_event events[EVENTS];
static uint32_t next_event; /* atomic */

enum gt_nccl_mode gt_nccl_mode;

int gt_nccl_mask(void)
{
	int mask = GT_NCCL_COLL | GT_NCCL_P2P | GT_NCCL_GROUP_API | GT_NCCL_COLL_API | GT_NCCL_P2P_API |
		   GT_NCCL_KERNEL_LAUNCH | GT_NCCL_CE_COLL;

	if (gt_nccl_mode == GT_NCCL_NO)
		return 0;
	if (gt_nccl_mode >= GT_NCCL_KERNELS)
		mask |= GT_NCCL_KERNEL_CH;
	if (gt_nccl_mode == GT_NCCL_DETAIL)
		mask |= GT_NCCL_PROXY_OP | GT_NCCL_PROXY_STEP | GT_NCCL_PROXY_CTRL | GT_NCCL_NET_PLUGIN;
	return mask;
}

/* ---- places ------------------------------------------------------------------------------------------- */

struct gt_nccl_event *gt_nccl_event_at(uint32_t place)
{
	return place && place <= EVENTS ? &events[place - 1] : NULL;
}

uint32_t gt_nccl_event_place(const struct gt_nccl_event *event)
{
	return (uint32_t)(event - events) + 1;
}

struct gt_nccl_event *gt_nccl_event_find(uint64_t handle)
{
	struct gt_nccl_event *event = gt_nccl_event_at((uint32_t)(handle & 0xffff));

	return event && __atomic_load_n(&event->handle, __ATOMIC_ACQUIRE) == handle ? event : NULL;
}

static struct gt_nccl_event *take(void)
{
	for (unsigned i = 0; i < PROBES; i++) {
		uint32_t place = __atomic_fetch_add(&next_event, 1, __ATOMIC_RELAXED) % EVENTS, none = 0;

		if (__atomic_compare_exchange_n(&events[place].used, &none, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return &events[place];
	}
	return NULL;
}

struct gt_nccl_event *gt_nccl_event_new(uint64_t comm, const struct gt_nccl_about *about)
{
	struct gt_nccl_event *event = take();
	uint32_t turn;

	if (!event) {
		gt_lost(GT_LOSS_NO_LOCATION, 1);
		return NULL;
	}
	turn = event->turn + 1;
	memset(event, 0, sizeof(*event));
	event->used = 1;
	event->turn = turn;
	event->type = about->type;
	event->comm = comm;
	event->parent = about->parent;
	event->thread = UINT32_MAX;
	event->root = about->root;
	event->step = about->step;
	event->sequence = about->sequence;
	event->channels = (uint16_t)about->channels;
	event->channel = (uint16_t)about->channel;
	event->timer = about->timer;
	event->send = about->send;
	event->captured = about->captured;
	event->begin = gt_now();
	__atomic_store_n(&event->handle, (uint64_t)turn << 16 | gt_nccl_event_place(event), __ATOMIC_RELEASE);
	return event;
}

void gt_nccl_event_free(struct gt_nccl_event *event)
{
	__atomic_store_n(&event->handle, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&event->used, 0, __ATOMIC_RELEASE); /* pairs with take() */
}

void gt_nccl_events_drop(uint64_t comm)
{
	for (unsigned i = 0; i < EVENTS; i++)
		if (events[i].handle && events[i].comm == comm)
			gt_nccl_event_free(&events[i]);
}

void gt_nccl_events_forked(void)
{
	for (unsigned i = 0; i < EVENTS; i++)
		if (events[i].used)
			gt_nccl_event_free(&events[i]);
}

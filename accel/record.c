/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the activities of a device: each is written as one block, from its attributes to its leave,
 * which the assembly puts into order; a transfer's end on a thread goes to a deferred location.
 *
 * Limits: for one thread at a time.
 */
#include <stdio.h>

#include "accel/accel.h"

struct gt_accel_refs gt_accel_refs;
static struct gt_location *deferred;

void gt_accel_setup(bool rma)
{
	const struct gt_accel_info *r = &gt_accel_runtime;

	gt_accel_refs.correlation = gt_def_attribute(
		"CORRELATION_ID", "The same for an API call and what it made the device do", GT_VALUE_UINT);
	gt_accel_refs.bytes = gt_def_attribute("BYTES", "Bytes that were copied or set", GT_VALUE_UINT);
	if (rma)
		gt_accel_refs.window = gt_def_window(r->window, GT_NONE, r->paradigm, 0);
	else
		gt_accel_refs.comm = gt_def_comm(r->comm, GT_NONE, r->paradigm, 0);
}

gt_ref gt_accel_region(const char *name, const char *group, unsigned role)
{
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = name,
		.group = group,
		.role = (uint8_t)role,
		.paradigm = gt_accel_runtime.paradigm,
	};

	return gt_def_region(&info);
}

gt_ref gt_accel_region_mangled(const char *symbol, const char *group, unsigned role)
{
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.canonical = symbol,
		.group = group,
		.role = (uint8_t)role,
		.paradigm = gt_accel_runtime.paradigm,
	};

	return gt_def_region(&info);
}

void gt_accel_device(uint32_t device, const char *uuid, const char *address, const char *name)
{
	char key[64], text[400];

	snprintf(key, sizeof(key), "%s:device %u", gt_accel_runtime.adapter, device);
	snprintf(text, sizeof(text), "%s %s %s", uuid, address, name);
	gt_def_property(key, text);
}

gt_ref gt_accel_group(const char *name, uint32_t device, uint32_t context)
{
	uint64_t key = (uint64_t)gt_accel_runtime.paradigm << 56 | (uint64_t)(device & 0xffffff) << 32;

	return gt_def_locgroup(name, 1, key | context);
}

struct gt_location *gt_accel_stream(gt_ref group, uint32_t device, uint32_t stream)
{
	struct gt_location_info info = {
		.bytes = sizeof(info),
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
		.group = group,
		.key = (uint64_t)device << 32 | stream,
	};
	char name[80];

	snprintf(name, sizeof(name), "%s[%u:%u]", gt_accel_runtime.name, device, stream);
	info.name = name;
	return gt_location_create(&info);
}

void gt_accel_defer(uint32_t location, unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
		    uint64_t tick)
{
	const struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = gt_accel_runtime.name,
		.kind = GT_LOC_DEFERRED,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
	};
	static bool tried;

	if (!deferred && !tried) {
		tried = true;
		deferred = gt_location_create(&info);
	}
	if (!deferred) {
		gt_lost(GT_LOSS_NO_LOCATION, 1);
		return;
	}
	gt_location_record(deferred, GT_T_FOR_LOCATION, location, NULL, 0, tick);
	gt_location_record(deferred, type, low, data, extra, tick);
}

/* ---- one activity ------------------------------------------------------------------------------- */

static void put_attribute(struct gt_accel_block *block, gt_ref attribute, uint64_t value, uint64_t tick)
{
	if (attribute)
		gt_accel_put_attribute(block, attribute, value, tick);
}

static void put_begin(struct gt_accel_block *block, const struct gt_accel_activity *a)
{
	put_attribute(block, gt_accel_refs.correlation, a->correlation, a->start);
	if (a->has_bytes)
		put_attribute(block, gt_accel_refs.bytes, a->bytes, a->start);
	for (unsigned i = 0; i < a->count; i++)
		put_attribute(block, a->more[i].attribute, a->more[i].value, a->start);
	gt_accel_put(block, GT_T_ENTER, a->region, a->start);
	if (a->params)
		gt_accel_put(block, GT_T_PARAMS, a->params, a->start);
}

static void put_end(struct gt_accel_block *block, const struct gt_accel_activity *a)
{
	gt_accel_put(block, GT_T_LEAVE, a->region, a->end);
	gt_location_block(a->at, block->slots, block->count);
}

void gt_accel_begin(const struct gt_accel_activity *a)
{
	struct gt_accel_block block = { .count = 0 };

	put_begin(&block, a);
	gt_location_block(a->at, block.slots, block.count);
}

void gt_accel_finish(const struct gt_accel_activity *a)
{
	struct gt_accel_block block = { .count = 0 };

	put_end(&block, a);
}

/* ---- transfers ---------------------------------------------------------------------------------- */

/* One end of a message, at the other one's location. */
struct message_end {
	unsigned type;
	uint64_t data[2], tick;
};

static struct message_end message_end(const struct gt_accel_activity *a, bool send, uint32_t far)
{
	return (struct message_end){
		.type = send ? GT_T_XFER_SEND : GT_T_XFER_RECV,
		.data = { far | (uint64_t)(uint32_t)a->correlation << 32, a->bytes },
		.tick = send ? a->start : a->end,
	};
}

static void put_message(struct gt_accel_block *block, const struct gt_accel_activity *a, bool send,
			uint32_t far)
{
	struct message_end end = message_end(a, send, far);

	gt_accel_put_data(block, end.type, gt_accel_refs.comm, end.data, 1, end.tick);
}

/* `peer` NULL: on the host. */
static void send_far_end(const struct gt_accel_activity *a, bool send)
{
	struct message_end end = message_end(a, send, gt_location_id(a->at));

	if (a->peer)
		gt_location_record(a->peer, end.type, gt_accel_refs.comm, end.data, 1, end.tick);
	else
		gt_accel_defer(a->host, end.type, gt_accel_refs.comm, end.data, 1, end.tick);
}

/* The same as a one-sided operation of the stream. */
static void put_one_sided(struct gt_accel_block *block, const struct gt_accel_activity *a, bool get,
			  uint32_t remote)
{
	uint64_t data[4] = { remote, a->bytes, a->correlation, 0 };

	gt_accel_put_data(block, get ? GT_T_XFER_GET : GT_T_XFER_PUT, gt_accel_refs.window, data, 2,
			  a->start);
	gt_accel_put_data(block, GT_T_XFER_COMPLETE, gt_accel_refs.window, data, 2, a->end);
}

static void put_within(struct gt_accel_block *block, const struct gt_accel_activity *a)
{
	uint32_t here = gt_location_id(a->at);

	if (gt_accel_refs.window) {
		put_one_sided(block, a, true, here);
		return;
	}
	put_message(block, a, true, here);
	put_message(block, a, false, here);
}

/* The far end is on another location, and comes after the activity. */
void gt_accel_write(const struct gt_accel_activity *a)
{
	uint32_t remote = a->peer ? gt_location_id(a->peer) : a->host;
	bool to_device = a->direction == GT_ACCEL_TO_DEVICE;
	bool transfer = a->direction && a->direction != GT_ACCEL_WITHIN && remote != UINT32_MAX;
	struct gt_accel_block block = { .count = 0 };

	put_begin(&block, a);
	if (a->direction == GT_ACCEL_WITHIN)
		put_within(&block, a);
	else if (transfer && gt_accel_refs.window)
		put_one_sided(&block, a, to_device, remote);
	else if (transfer)
		put_message(&block, a, !to_device, remote);
	put_end(&block, a);
	if (transfer && !gt_accel_refs.window)
		send_far_end(a, to_device);
}

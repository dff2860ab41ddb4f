/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes of pipes, pairs of sockets and eventfds, while locations are read: each is a segment, and
 * an item of its channel.
 *
 * A channel is known by the name of its handle: "pipe:[123]", "socket:[456]" and "eventfd:[7]" are one object
 * on a host, whichever process has it open. Both sockets that one call creates are a pair.
 *
 * Limits: other sockets, and pipes that have a name in the file system (mkfifo), are no channels.
 */
#include "config.h"

#include "report/waits/sync_int.h"

#include <stdlib.h>
#include <string.h>

/* The channel of a handle, in `what`: GT_IO_SOCKET, GT_IO_EVENTS, or 0 for a pipe; false: it is none. */
static bool channel_of(const struct gt_otf2_cursor *at, uint64_t id, uint64_t *key, uint32_t *what)
{
	static const struct { const char *prefix; uint32_t what; } kinds[] = {
		{ "pipe:[", 0 }, { "socket:[", GT_IO_SOCKET }, { "eventfd:[", GT_IO_EVENTS },
	};
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(at->read, id);
	const struct gt_otf2_location_group *group;
	const struct gt_otf2_io_paradigm *paradigm;

	for (unsigned i = 0; handle && i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i].prefix);

		if (strncmp(handle->name, kinds[i].prefix, length))
			continue;
		group = gt_otf2_find_location_group(at->read, at->location->group);
		paradigm = gt_otf2_find_io_paradigm(at->read, handle->paradigm);
		*what = kinds[i].what;
		if (paradigm && !strcmp(paradigm->identification, "ISOC"))
			*what |= GT_IO_STDIO;
		*key = gt_sync_mixed(gt_sync_mixed(8 + i, group ? group->parent : 0),
				     strtoull(handle->name + length, NULL, 10));
		return true;
	}
	return false;
}

static void put(struct gt_sync *sync, struct gt_syncing *state, const struct gt_item *item)
{
	gt_sync_put(sync, state, item->what & GT_IO_SOCKET ? GT_BAG_SOCKETS : GT_BAG_CHANNELS, item);
}

static void begin_operation(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			    const struct gt_otf2_IoOperationBegin *e, uint64_t key, uint32_t what)
{
	if (state->is_open || e->mode > OTF2_IO_OPERATION_MODE_FLUSH)
		return;
	gt_profile_spend(state->profiling, at->time);
	gt_sync_open_segment(sync, state, at->time, gt_sync_node(at), GT_CLASS_FILE_IO);
	what |= e->mode == OTF2_IO_OPERATION_MODE_READ ? GT_IO_READ
	      : e->mode == OTF2_IO_OPERATION_MODE_WRITE ? GT_IO_WRITE : GT_IO_FLUSH;
	if (e->bytes)
		what |= GT_IO_ASKED;
	state->io = (struct gt_item){ .key = key, .tie = at->time, .begin = at->time, .what = what,
				      .location = (uint32_t)at->index,
				      .segment = (uint32_t)state->timeline.segments.count };
	state->io_matching = e->matching;
	state->io_asked = e->bytes;
	state->io_open = true;
}

static uint32_t bytes_of(uint64_t bytes)
{
	return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void end_operation(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			  uint64_t bytes)
{
	gt_profile_spend(state->profiling, at->time);
	if (state->is_open && state->open.class == GT_CLASS_FILE_IO && state->open.begin == state->io.begin)
		gt_sync_close_segment(sync, state, at->time);
	state->io_open = false;
	state->io.time = at->time;
	state->io.value = bytes_of(bytes);
	put(sync, state, &state->io);
}

/* A descriptor is opened or closed. Two sockets of one call are a pair. */
static void turn_handle(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
			uint64_t key, uint32_t what)
{
	uint64_t begin = at->depth ? at->stack[at->depth - 1].begin : at->time;
	struct gt_item item;

	if ((what & GT_IO_OPERATION) == GT_IO_CLOSED)
		gt_sync_part_at_entry(sync, state, at);
	item = gt_sync_item(sync, state, at);
	item.key = key;
	item.begin = item.tie = begin;
	item.time = at->time;
	item.what = what;
	put(sync, state, &item);
	if ((what & GT_IO_OPERATION) != GT_IO_CREATED || !(what & GT_IO_SOCKET))
		return;
	if (state->socket_begin == begin && state->socket && state->socket != key) {
		for (unsigned i = 0; i < 2; i++) {
			item.key = i ? key : state->socket;
			item.begin = i ? state->socket : key; /* the other one */
			item.tie = 0; /* before all others of its key */
			item.what = GT_IO_PAIR | GT_IO_SOCKET;
			put(sync, state, &item);
		}
		key = 0;
	}
	state->socket = key;
	state->socket_begin = begin;
}

void gt_sync_io(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		const struct gt_otf2_event *e)
{
	uint64_t key;
	uint32_t what;

	if (e->undefined)
		return;
	switch (e->type) {
	case GT_OTF2_IoOperationBegin:
		if (channel_of(at, e->IoOperationBegin.handle, &key, &what))
			begin_operation(sync, state, at, &e->IoOperationBegin, key, what);
		return;
	case GT_OTF2_IoOperationComplete:
		if (state->io_open && state->io_matching == e->IoOperationComplete.matching)
			end_operation(sync, state, at, e->IoOperationComplete.bytes);
		return;
	case GT_OTF2_IoCreateHandle:
		if (channel_of(at, e->IoCreateHandle.handle, &key, &what))
			turn_handle(sync, state, at, key, what | GT_IO_CREATED);
		return;
	case GT_OTF2_IoDestroyHandle:
		if (channel_of(at, e->IoDestroyHandle.handle, &key, &what))
			turn_handle(sync, state, at, key, what | GT_IO_CLOSED);
		return;
	default:
		return;
	}
}

/* What was being written when the location ended may have been read. */
void gt_sync_io_end(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at)
{
	if (state->io_open)
		end_operation(sync, state, at,
			      (state->io.what & GT_IO_OPERATION) == GT_IO_WRITE ? state->io_asked : 0);
}

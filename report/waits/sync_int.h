/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by sync.c and sync_mpi.c: the state of a location while it is read (sync_state.c).
 *
 * Limits: see sync.h.
 */
#ifndef GT_REPORT_SYNC_INT_H
#define GT_REPORT_SYNC_INT_H

#include "lib/assemble/util/places.h"
#include "report/waits/sync.h"

struct gt_sync_pending {
	struct gt_item *items;
	unsigned count;
};

/* A send, a receive, a non-blocking collective or an access epoch that is not complete. */
struct gt_sync_request {
	unsigned what; /* enum gt_otf2_type that began it */
	struct gt_item item;
};

struct gt_syncing {
	struct gt_sync *sync;
	struct gt_timeline timeline;
	struct gt_wait_segment open;      /* if it is */
	bool is_open, begun, stream, other;
	struct gt_profiling *profiling; /* its parts are the time since the last segment */
	struct gt_sync_pending pending[GT_BAGS];
	struct gt_sync_request *requests;
	size_t request_room;
	struct gt_places waiting;    /* of requests, by their ids */
	struct gt_item send;         /* of the call that is open */
	bool sent;
	bool matched;                /* the call that is open is a probe that has begun a receive */
	uint64_t collective_begin;
	uint64_t process_id;         /* of a first thread, or 0 */
	uint64_t probe_begin;        /* of the probe before this call, with its segment */
	uint32_t probe;
	uint32_t window_locks;       /* that it holds, or has asked for */
	uint64_t used_lock;          /* of which there is an item of the call that is open */
	uint32_t used_in;            /* its segment */
	uint64_t own_comm, own;
	struct gt_item io;           /* the operation on a channel that is open, if one is */
	uint64_t io_matching, io_asked;
	bool io_open;
	uint64_t socket, socket_begin; /* the last one that was created, by a call that began then; 0: none */
};

void gt_sync_open_segment(struct gt_sync *sync, struct gt_syncing *state, uint64_t now, uint32_t node,
			  enum gt_class class);
void gt_sync_close_segment(struct gt_sync *sync, struct gt_syncing *state, uint64_t now);
/* The region that is open, as a node of the profile. */
uint32_t gt_sync_node(const struct gt_otf2_cursor *at);
/* When the open call began. */
uint64_t gt_sync_entry(const struct gt_syncing *state, const struct gt_otf2_cursor *at);
/* The number of the segment that the event is in. */
uint32_t gt_sync_here(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at);
/* Is a node of the location's tree another one, or below it? */
static inline bool gt_sync_is_in(const struct gt_syncing *state, uint32_t node, uint32_t outer)
{
	while (node && node != outer)
		node = state->profiling->tree.nodes[node].parent;
	return node == outer;
}

/*
 * An empty segment where the call begins that is open: so it is known of one that does not count, but turns
 * out to matter.
 */
void gt_sync_part_at_entry(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at);
/* An item of this event, which waits from the begin of its call on. */
struct gt_item gt_sync_item(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at);
void gt_sync_put(struct gt_sync *sync, struct gt_syncing *state, enum gt_bag_kind bag,
		 const struct gt_item *item);
/* Sides that gt_sync_put() has kept for the bag. */
void gt_sync_hand_over(struct gt_sync *sync, struct gt_syncing *state, enum gt_bag_kind bag);
uint64_t gt_sync_mixed(uint64_t hash, uint64_t value);
void gt_sync_begin_request(struct gt_syncing *state, unsigned what, uint64_t id, const struct gt_item *item);
/* False: there is no such request. */
bool gt_sync_end_request(struct gt_syncing *state, unsigned what, uint64_t id, struct gt_item *item);

/* MPI's events (sync_mpi.c). */
void gt_sync_mpi(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		 const struct gt_otf2_event *e);
/* The end of MPI_Init or MPI_Finalize. */
void gt_sync_setup(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		   const struct gt_otf2_region *region);
/* The end of a call that all members of a file's communicator make. */
void gt_sync_file(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		  uint64_t file);

/* Pipes, pairs of sockets, eventfds (sync_io.c). */
void gt_sync_io(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at,
		const struct gt_otf2_event *e);
void gt_sync_io_end(struct gt_sync *sync, struct gt_syncing *state, const struct gt_otf2_cursor *at);

#endif

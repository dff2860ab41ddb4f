/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the work of NCCL's proxy threads, for VT_NCCL=detail: an operation of a proxy is on the row of
 * its communicator's channel, "NCCL NAME rank 1 proxy 3"; its transfers, which overlap, are on another one
 * beside it, "... steps 3", with what each waits for. What a proxy thread does between operations is on
 * the thread.
 *
 * A proxy may work for a rank in another process (PXN): that one's context and events are numbers of another
 * process, and are not looked at. Such operations are counted as left out.
 *
 * Limits: GT_NCCL_ROWS channels; at most six states of a step.
 */
#include <unistd.h>

#include "gputrace/syscall.h"
#include "nccl/nccl.h"

static unsigned wait_region(unsigned state)
{
	switch (state) {
	case GT_NCCL_STEP_SEND_GPU_WAIT:
	case GT_NCCL_STEP_RECV_GPU_WAIT:
		return GT_NCCL_R_GPU_WAIT;
	case GT_NCCL_STEP_SEND_PEER_WAIT:
		return GT_NCCL_R_PEER_WAIT;
	case GT_NCCL_STEP_SEND_WAIT:
	case GT_NCCL_STEP_RECV_WAIT:
		return GT_NCCL_R_NET_WAIT;
	case GT_NCCL_STEP_RECV_FLUSH_WAIT:
		return GT_NCCL_R_FLUSH_WAIT;
	case GT_NCCL_CTRL_IDLE:
		return GT_NCCL_R_IDLE;
	case GT_NCCL_CTRL_ACTIVE:
		return GT_NCCL_R_ACTIVE;
	case GT_NCCL_CTRL_SLEEP:
		return GT_NCCL_R_SLEEP;
	case GT_NCCL_CTRL_WAKEUP:
		return GT_NCCL_R_WAKEUP;
	case GT_NCCL_CTRL_APPEND:
	case GT_NCCL_CTRL_APPEND_END:
		return GT_NCCL_R_APPEND;
	default:
		return GT_NCCL_R_COUNT;
	}
}

void gt_nccl_proxy_started(struct gt_nccl_event *event, const struct gt_nccl_about *about)
{
	const struct gt_nccl_event *parent;

	event->thread = gt_self_location();
	if (event->type == GT_NCCL_PROXY_CTRL)
		return;
	if (event->type == GT_NCCL_PROXY_OP) {
		event->step = about->steps;
		event->region = gt_nccl_regions[event->send ? GT_NCCL_R_SEND : GT_NCCL_R_RECV];
		if (about->pid != (int)gt_raw(SYS_getpid)) {
			event->comm = event->parent = 0;
			gt_lost(GT_LOSS_NO_LOCATION, 1);
		}
		return;
	}
	/* The communicator is that of its operation, whatever the context says. */
	parent = gt_nccl_event_find(event->parent);
	event->comm = parent ? parent->comm : 0;
	event->channel = parent ? parent->channel : 0;
	event->send = parent && parent->send;
	event->region = event->type == GT_NCCL_NET_PLUGIN ? gt_nccl_regions[GT_NCCL_R_NET]
			: event->send			  ? gt_nccl_regions[GT_NCCL_R_SEND_STEP]
							  : gt_nccl_regions[GT_NCCL_R_RECV_STEP];
}

void gt_nccl_proxy_state(struct gt_nccl_event *event, int state, uint64_t value)
{
	unsigned region = wait_region((unsigned)state);

	if (event->type == GT_NCCL_PROXY_STEP && value)
		event->bytes = value;
	if (region == GT_NCCL_R_COUNT)
		return;
	if (event->type == GT_NCCL_PROXY_CTRL && !event->state)
		event->state = (uint8_t)region;
	if (event->type != GT_NCCL_PROXY_STEP || event->wait_count == 6)
		return;
	event->kinds[event->wait_count] = (uint8_t)region;
	event->waits[event->wait_count++] = gt_now();
}

/* The waits of a step, one after the other. */
static void write_waits(struct gt_location *row, const struct gt_nccl_event *e, uint64_t end)
{
	for (unsigned i = 0; i < e->wait_count; i++) {
		gt_ref region = gt_nccl_regions[e->kinds[i]];

		if (!region)
			continue;
		gt_location_record(row, GT_T_ENTER, region, NULL, 0, e->waits[i]);
		gt_location_record(row, GT_T_LEAVE, region, NULL, 0,
				   i + 1u < e->wait_count ? e->waits[i + 1] : end);
	}
}

/* Under the communicator's lock. */
static void write_block(struct gt_nccl_comm *comm, const struct gt_nccl_event *e, uint64_t end)
{
	bool operation = e->type == GT_NCCL_PROXY_OP;
	size_t kind = operation ? offsetof(struct gt_nccl_rows, proxy) : offsetof(struct gt_nccl_rows, steps);
	struct gt_location **row = gt_nccl_rows_of(comm, kind, e->channel);

	if (!row || !e->region)
		return;
	if (!*row)
		*row = gt_nccl_row(comm, operation ? " proxy " : " steps ", e->channel, GT_LOC_GPU_STREAM,
				   GT_LOC_UNSORTED | GT_LOC_COMMITS | GT_LOC_ASIDE);
	gt_location_record(*row, GT_T_ENTER, e->region, NULL, 0, e->begin);
	if (operation)
		gt_nccl_write_parameter(*row, GT_NCCL_PEER, (uint64_t)(unsigned)e->root, e->begin);
	if (e->type != GT_NCCL_NET_PLUGIN)
		gt_nccl_write_parameter(*row, operation ? GT_NCCL_STEPS : GT_NCCL_STEP,
					(uint64_t)(unsigned)e->step, e->begin);
	if (e->type == GT_NCCL_PROXY_STEP)
		gt_nccl_write_parameter(*row, GT_NCCL_BYTES, e->bytes, e->begin);
	write_waits(*row, e, end);
	gt_location_record(*row, GT_T_LEAVE, e->region, NULL, 0, end);
}

void gt_nccl_proxy_stopped(struct gt_nccl_event *event)
{
	struct gt_nccl_comm *comm = gt_nccl_comm_find(event->comm);
	uint64_t mask, now = gt_now();

	if (event->type == GT_NCCL_PROXY_CTRL) {
		if (event->state && event->thread == gt_self_location() && gt_active()) {
			gt_enter_at(gt_nccl_regions[event->state], event->begin);
			gt_leave_at(gt_nccl_regions[event->state], now);
		}
		return;
	}
	if (!comm)
		return;
	mask = gt_lock(&comm->lock);
	if (mask == GT_LOCK_REFUSED)
		gt_lost(GT_LOSS_SANDBOX, 1);
	else
		write_block(comm, event, now);
	gt_unlock(&comm->lock, mask);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and collectives between processes, as OTF2 has them.
 *
 * Limits: records that name a communicator without a definition are counted as unknown, messages to
 * processes that were not recorded as unmatched.
 */
#include "config.h"

#include "lib/assemble/archive/records.h"
#include "lib/assemble/pair/order.h"
#include "mpi/assemble/mpi.h"

static const struct gt_mpi_view *view_of(const struct gt_track *t, const struct gt_slot *slot)
{
	return gt_track_view(t, (uint32_t)GT_WORD_LOW(slot->word));
}

/* Between two hosts: what it proves of their clocks. */
static void note_order(struct gt_track *t, const struct gt_mpi_view *view, uint32_t place, uint32_t tag,
		       uint64_t ns, bool send)
{
	const struct gt_proc *proc = t->loc->proc;
	uint64_t peer, who, pair = gt_hash_mix(view->comm->key, tag);
	uint32_t clock = (uint32_t)(proc - t->conv->spool->procs);

	if (!gt_mpi_elsewhere(gt_mpi_of(t->conv->assembly), t->conv->layout, view, place, proc, &peer))
		return;
	who = gt_mpi_who_is(gt_mpi_of(t->conv->assembly), proc);
	if (t->conv->clock_of)
		clock = t->conv->clock_of[clock];
	pair = gt_hash_mix(gt_hash_mix(pair, send ? who : peer), send ? peer : who);
	gt_order_put(t->conv->order,
		     &(struct gt_order_endpoint){ .pair = pair, .ns = ns, .send = send,
					     .clock = clock });
}

void gt_convert_mpi_message(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_mpi_view *view = view_of(t, slot);
	uint32_t tag = (uint32_t)(slot[1].time >> 32), peer, comm;
	uint64_t ns = gt_track_time(t, tick);

	if (!view) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	peer = gt_mpi_return(view, (uint32_t)slot[1].time);
	if (peer == GT_UNDEFINED) {
		t->w->tally.unmatched++;
		return;
	}
	comm = view->comm->number;
	if (t->conv->order)
		note_order(t, view, peer, tag, ns,
			   GT_WORD_TYPE(slot->word) == GT_T_MPI_SEND ||
				   GT_WORD_TYPE(slot->word) == GT_T_MPI_ISEND);
	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_MPI_SEND:
		gt_track_write(t, MpiSend, ns, peer, comm, tag, slot[1].word);
		break;
	case GT_T_MPI_RECV:
		gt_track_write(t, MpiRecv, ns, peer, comm, tag, slot[1].word);
		break;
	case GT_T_MPI_ISEND:
		gt_track_write(t, MpiIsend, ns, peer, comm, tag, slot[1].word, slot[2].time);
		break;
	default:
		gt_track_write(t, MpiIrecv, ns, peer, comm, tag, slot[1].word, slot[2].time);
		break;
	}
}

/* The message that a word with a CHANNEL stands for. */
static void from_channel(struct gt_track *t, uint64_t word, uint64_t tick)
{
	const struct gt_def_channel *def = gt_proc_find(t->loc->proc, GT_D_CHANNEL, GT_MESSAGE_CHANNEL(word),
							NULL);
	unsigned type = GT_WORD_TYPE(word) == GT_T_MPI_SEND_ENTER ? GT_T_MPI_SEND : GT_T_MPI_RECV;

	if (def)
		gt_convert_mpi_message(t,
				       (struct gt_slot[2]){ { tick, GT_WORDX(type, 1, def->comm) },
							    { def->peer | (uint64_t)def->tag << 32,
							      GT_MESSAGE_BYTES(word) } },
				       tick);
	else
		t->w->tally.unknown_records++;
}

void gt_convert_mpi_send_enter(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_track_enter_word(t, GT_WORD(GT_T_ENTER, GT_MESSAGE_REGION(slot->word)), tick);
	from_channel(t, slot->word, tick);
}

void gt_convert_mpi_recv_leave(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	from_channel(t, slot->word, tick);
	gt_track_leave_word(t, GT_WORD(GT_T_LEAVE, GT_MESSAGE_REGION(slot->word)), tick);
}

void gt_convert_mpi_request(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint64_t ns = gt_track_time(t, tick), id = slot[1].time;

	if (!id)
		return;
	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_MPI_ISEND_COMPLETE:
		gt_track_write(t, MpiIsendComplete, ns, id);
		break;
	case GT_T_MPI_IRECV_REQUEST:
		gt_track_write(t, MpiIrecvRequest, ns, id);
		break;
	case GT_T_MPI_REQUEST_CANCELLED:
		gt_track_write(t, MpiRequestCancelled, ns, id);
		break;
	default:
		gt_track_write(t, NonBlockingCollectiveRequest, ns, id);
		break;
	}
}

/* Rooted operations name a rank, or one of OTF2's words for the sides of an inter-communicator. */
static uint32_t root_of(const struct gt_mpi_view *view, uint32_t root)
{
	return root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? root : gt_mpi_return(view, root);
}

void gt_convert_mpi_collective(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_mpi_view *view = view_of(t, slot);
	OTF2_CollectiveOp op = (OTF2_CollectiveOp)slot[1].time;
	uint64_t ns = gt_track_time(t, tick), sent = slot[1].word, received = slot[2].time;
	uint32_t root;

	if (!view) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	root = root_of(view, (uint32_t)(slot[1].time >> 32));
	if (GT_WORD_TYPE(slot->word) == GT_T_COLL_END)
		gt_track_write(t, MpiCollectiveEnd, ns, op, view->comm->number, root, sent, received);
	else
		gt_track_write(t, NonBlockingCollectiveComplete, ns, op, view->comm->number, root, sent,
			       received, slot[2].word);
}

void gt_convert_mpi_begin(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	gt_track_write(t, MpiCollectiveBegin, gt_track_time(t, tick));
}

void gt_convert_mpi_comm(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_mpi_view *view = view_of(t, slot);
	uint64_t ns;

	if (!view) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	ns = gt_track_time(t, tick);
	if (GT_WORD_TYPE(slot->word) == GT_T_COMM_CREATE)
		gt_track_write(t, CommCreate, ns, view->comm->number);
	else
		gt_track_write(t, CommDestroy, ns, view->comm->number);
}

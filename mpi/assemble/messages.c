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
	OTF2_EvtWriter *evt = gt_writer_evt(t->writer);
	uint32_t tag = (uint32_t)(slot[1].time >> 32), peer, comm;
	uint64_t ns = gt_track_time(t, tick);
	OTF2_AttributeList *list;
	OTF2_ErrorCode rc;

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
	list = gt_track_attributes(t);
	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_MPI_SEND:
		rc = OTF2_EvtWriter_MpiSend(evt, list, ns, peer, comm, tag, slot[1].word);
		break;
	case GT_T_MPI_RECV:
		rc = OTF2_EvtWriter_MpiRecv(evt, list, ns, peer, comm, tag, slot[1].word);
		break;
	case GT_T_MPI_ISEND:
		rc = OTF2_EvtWriter_MpiIsend(evt, list, ns, peer, comm, tag, slot[1].word,
					     slot[2].time);
		break;
	default:
		rc = OTF2_EvtWriter_MpiIrecv(evt, list, ns, peer, comm, tag, slot[1].word,
					     slot[2].time);
		break;
	}
	if (GT_WORD_TYPE(slot->word) == GT_T_MPI_SEND || GT_WORD_TYPE(slot->word) == GT_T_MPI_ISEND) {
		t->w->tally.messages++;
		t->w->tally.message_bytes += slot[1].word;
	}
	gt_track_bad(t, rc, "message");
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
	OTF2_EvtWriter *evt = gt_writer_evt(t->writer);
	OTF2_AttributeList *list = gt_track_attributes(t);
	uint64_t ns = gt_track_time(t, tick), id = slot[1].time;
	OTF2_ErrorCode rc;

	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_MPI_ISEND_COMPLETE:
		rc = OTF2_EvtWriter_MpiIsendComplete(evt, list, ns, id);
		break;
	case GT_T_MPI_IRECV_REQUEST:
		rc = OTF2_EvtWriter_MpiIrecvRequest(evt, list, ns, id);
		break;
	case GT_T_MPI_REQUEST_CANCELLED:
		rc = OTF2_EvtWriter_MpiRequestCancelled(evt, list, ns, id);
		break;
	default:
		rc = OTF2_EvtWriter_NonBlockingCollectiveRequest(evt, list, ns, id);
		break;
	}
	gt_track_bad(t, rc, "request");
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
	t->w->tally.collectives += op < OTF2_COLLECTIVE_OP_CREATE_HANDLE; /* others make or free something */
	if (GT_WORD_TYPE(slot->word) == GT_T_COLL_END)
		gt_track_bad(t,
			     OTF2_EvtWriter_MpiCollectiveEnd(gt_writer_evt(t->writer), gt_track_attributes(t),
							     ns, op, view->comm->number, root, sent,
							     received),
			     "collective");
	else
		gt_track_bad(t,
			     OTF2_EvtWriter_NonBlockingCollectiveComplete(
				     gt_writer_evt(t->writer), gt_track_attributes(t), ns, op,
				     view->comm->number, root, sent, received, slot[2].word),
			     "collective");
}

void gt_convert_mpi_begin(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	gt_track_bad(t,
		     OTF2_EvtWriter_MpiCollectiveBegin(gt_writer_evt(t->writer), gt_track_attributes(t),
						       gt_track_time(t, tick)),
		     "collective");
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
	gt_track_bad(t,
		     GT_WORD_TYPE(slot->word) == GT_T_COMM_CREATE
			     ? OTF2_EvtWriter_CommCreate(gt_writer_evt(t->writer), gt_track_attributes(t), ns,
							 view->comm->number)
			     : OTF2_EvtWriter_CommDestroy(gt_writer_evt(t->writer), gt_track_attributes(t),
							  ns, view->comm->number),
		     "communicator");
}

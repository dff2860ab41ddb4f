/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and collectives between processes, as OTF2 has them.
 *
 * Limits: records that name a communicator without a definition are counted as unknown, messages to
 * processes that were not recorded as unmatched.
 */
#include "config.h"

#include "lib/assemble/archive_track.h"
#include "lib/assemble/mpi.h"

const struct gt_mpi_view *gt_track_view(const struct gt_track *t, uint32_t id)
{
	return gt_mpi_view(t->conv->mpi, (size_t)(t->loc->proc - t->conv->spool->procs), id);
}

static const struct gt_mpi_view *view_of(const struct gt_track *t, const struct gt_slot *slot)
{
	return gt_track_view(t, (uint32_t)GT_WORD_LOW(slot->word));
}

static void message(struct gt_track *t, const struct gt_slot *slot, uint64_t ns)
{
	const struct gt_mpi_view *view = view_of(t, slot);
	OTF2_EvtWriter *evt = gt_writer_evt(t->writer);
	uint32_t tag = (uint32_t)(slot[1].time >> 32), peer, comm;
	OTF2_AttributeList *list;
	OTF2_ErrorCode rc;

	if (!view) {
		t->w->tally.unknown_records++;
		return;
	}
	peer = gt_mpi_place(view, (uint32_t)slot[1].time);
	if (peer == GT_UNDEFINED) {
		t->w->tally.unmatched++;
		return;
	}
	comm = view->comm->number;
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
	gt_track_bad(t, rc, "message");
}

static void request(struct gt_track *t, const struct gt_slot *slot, uint64_t ns)
{
	OTF2_EvtWriter *evt = gt_writer_evt(t->writer);
	OTF2_AttributeList *list = gt_track_attributes(t);
	uint64_t id = slot[1].time;
	OTF2_ErrorCode rc;

	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_MPI_ISEND_COMPLETE:
		rc = OTF2_EvtWriter_MpiIsendComplete(evt, list, ns, id);
		break;
	case GT_T_MPI_IRECV_REQUEST:
		rc = OTF2_EvtWriter_MpiIrecvRequest(evt, list, ns, id);
		break;
	case GT_T_MPI_REQUEST_TEST:
		rc = OTF2_EvtWriter_MpiRequestTest(evt, list, ns, id);
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
	return root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? root : gt_mpi_place(view, root);
}

static void collective(struct gt_track *t, const struct gt_slot *slot, uint64_t ns)
{
	const struct gt_mpi_view *view = view_of(t, slot);
	OTF2_CollectiveOp op = (OTF2_CollectiveOp)slot[1].time;
	uint64_t sent = slot[1].word, received = slot[2].time;
	uint32_t root;

	if (!view) {
		t->w->tally.unknown_records++;
		return;
	}
	root = root_of(view, (uint32_t)(slot[1].time >> 32));
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

static void life(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct gt_mpi_view *view = view_of(t, slot);
	uint64_t ns;

	if (!view) {
		t->w->tally.unknown_records++;
		return;
	}
	ns = gt_track_time(t, tick);
	gt_track_bad(t,
		     GT_WORD_TYPE(slot->word) == GT_T_COMM_CREATE
			     ? OTF2_EvtWriter_CommCreate(gt_writer_evt(t->writer), gt_track_attributes(t), ns,
							 view->comm->number)
			     : OTF2_EvtWriter_CommDestroy(gt_writer_evt(t->writer), gt_track_attributes(t), ns,
							  view->comm->number),
		     "communicator");
}

bool gt_track_mpi(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	unsigned type = GT_WORD_TYPE(slot->word), extra = GT_WORD_EXTRA(slot->word);
	unsigned least = type == GT_T_COLL_BEGIN ? 0 : 1;

	if (type < GT_T_MPI_SEND || type > GT_T_COMM_DESTROY)
		return false;
	if (type >= GT_T_COMM_CREATE) {
		life(t, slot, tick);
		return true;
	}
	if (type == GT_T_MPI_ISEND || type == GT_T_MPI_IRECV || type == GT_T_COLL_END ||
	    type == GT_T_NBCOLL_COMPLETE)
		least = 2;
	if (extra < least) {
		t->w->tally.unknown_records++;
		return true;
	}
	switch (type) {
	case GT_T_MPI_SEND:
	case GT_T_MPI_RECV:
	case GT_T_MPI_ISEND:
	case GT_T_MPI_IRECV:
		message(t, slot, gt_track_time(t, tick));
		break;
	case GT_T_COLL_BEGIN:
		gt_track_bad(t,
			     OTF2_EvtWriter_MpiCollectiveBegin(gt_writer_evt(t->writer),
							       gt_track_attributes(t),
							       gt_track_time(t, tick)),
			     "collective");
		break;
	case GT_T_COLL_END:
	case GT_T_NBCOLL_COMPLETE:
		collective(t, slot, gt_track_time(t, tick));
		break;
	default:
		request(t, slot, gt_track_time(t, tick));
		break;
	}
	return true;
}

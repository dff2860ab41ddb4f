/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers between the locations of a process (GPU streams and host threads): as messages, or as
 * one-sided operations on a window; and merging what arrived late for a location into its stream.
 *
 * Limits: only in streams of GPUs and for locations named by streams of kind GT_LOC_DEFERRED; elsewhere
 * transfers are counted as unknown records. Endpoints without the other one are left out and counted.
 */
#include "config.h"

#include "accel/assemble/scan.h"
#include "lib/assemble/archive/records.h"

/* The communicator or window of a record, or NULL. */
static const struct gt_gpu_comm *find_comm(struct gt_track *t, const struct gt_slot *slot,
					   bool window, unsigned *place)
{
	uint64_t word = GT_WORD(window ? GT_T_XFER_PUT : GT_T_XFER_SEND, GT_WORD_LOW(slot->word));
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);

	if (!entry) {
		*place = gt_gpu_find(gt_gpu_of(t->conv->assembly), t->conv->defs, t->loc->proc,
				     (uint32_t)GT_WORD_LOW(slot->word), window);
		entry = gt_lookup_put(&t->w->lookup, word, *place, 0);
		if (!entry)
			gt_archive_fail(t->conv->archive, "no memory");
	} else {
		*place = entry->value;
	}
	return *place < GT_GPU_COMMS ? &gt_gpu_of(t->conv->assembly)->comms[*place] : NULL;
}

static uint32_t rank_of(struct gt_track *t, const struct gt_gpu_comm *comm, uint32_t local)
{
	const struct gt_loc *loc = gt_proc_loc(t->loc->proc, local);

	return loc && loc->number != GT_NOT_WRITTEN ? comm->rank[loc->number] : GT_NO_PEER;
}

void gt_convert_transfer(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	struct gt_xfer x = {
		.at = t->loc,
		.tick = slot->time,
		.send = GT_WORD_TYPE(slot->word) == GT_T_XFER_SEND,
		.other = (uint32_t)slot[1].time,
		.tag = (uint32_t)(slot[1].time >> 32),
		.bytes = slot[1].word,
	};
	const struct gt_gpu_comm *comm = find_comm(t, slot, false, &x.comm);
	uint64_t ns = gt_track_time(t, tick);
	uint32_t peer;

	if (!comm || comm->rank[t->loc->number] == GT_NO_PEER) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	peer = rank_of(t, comm, x.other);
	if (peer == GT_NO_PEER || !gt_gpu_paired(gt_gpu_of(t->conv->assembly), &x)) {
		t->w->tally.unmatched++;
		return;
	}
	if (x.send)
		gt_track_write(t, MpiSend, ns, peer, comm->number, x.tag, x.bytes);
	else
		gt_track_write(t, MpiRecv, ns, peer, comm->number, x.tag, x.bytes);
}

void gt_convert_one_sided(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	unsigned type = GT_WORD_TYPE(slot->word), place;
	const struct gt_gpu_comm *window = find_comm(t, slot, true, &place);
	uint64_t ns = gt_track_time(t, tick), bytes = slot[1].word, matching = slot[2].time;
	uint32_t peer;

	if (!window || window->rank[t->loc->number] == GT_NO_PEER) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	if (type == GT_T_XFER_COMPLETE) {
		gt_track_write(t, RmaOpCompleteBlocking, ns, window->number, matching);
		return;
	}
	peer = rank_of(t, window, (uint32_t)slot[1].time);
	if (peer == GT_NO_PEER) {
		t->w->tally.unmatched++;
		return;
	}
	if (type == GT_T_XFER_PUT)
		gt_track_write(t, RmaPut, ns, window->number, peer, bytes, matching);
	else
		gt_track_write(t, RmaGet, ns, window->number, peer, bytes, matching);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations of MPI on windows.
 *
 * Limits: a window is known by the key that its processes gave it; records on windows whose
 * communicator is not known are counted as unknown, those that name a rank that was not recorded as
 * unmatched.
 */
#include "config.h"

#include "lib/assemble/archive/records.h"
#include "mpi/assemble/mpi.h"

struct window {
	uint32_t number;
	const struct gt_mpi_view *view;
};

/* ---- windows --------------------------------------------------------------------------------- */

static bool find_window(struct gt_track *t, uint32_t id, struct window *window)
{
	uint64_t word = GT_WORD(GT_T_RMA_SYNC, id);
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);
	const struct gt_def_shared *def;
	struct gt_window item;
	const char *name;

	if (entry) {
		window->number = entry->value;
		window->view = gt_track_view(t, entry->aux);
		return window->view != NULL;
	}
	def = gt_proc_find(t->loc->proc, GT_D_WINDOW, id, NULL);
	window->view = def ? gt_track_view(t, def->parent) : NULL;
	if (!window->view)
		return false;
	name = gt_proc_string(t->loc->proc, def->name);
	item = (struct gt_window){ .name = gt_defs_string(t->conv->defs, name ? name : ""),
				   .comm = window->view->comm->number, .events = true };
	window->number = gt_defs_window_of(t->conv->defs, gt_mpi_key(window->view, def->key), &item);
	if (!gt_lookup_put(&t->w->lookup, word, window->number, def->parent))
		gt_archive_fail(t->conv->archive, "no memory");
	return true;
}

/* ---- records --------------------------------------------------------------------------------- */

static void operation(struct gt_track *t, const struct gt_slot *slot, uint64_t ns, uint32_t win,
		      uint32_t remote)
{
	uint64_t bytes = slot[1].word, id = slot[2].time;

	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_RMA_PUT:
		gt_track_write(t, RmaPut, ns, win, remote, bytes, id);
		break;
	case GT_T_RMA_GET:
		gt_track_write(t, RmaGet, ns, win, remote, bytes, id);
		break;
	default:
		gt_track_write(t, RmaAtomic, ns, win, remote, (OTF2_RmaAtomicType)(slot[1].time >> 32), bytes,
			       slot[2].word, id);
		break;
	}
}

static void completion(struct gt_track *t, const struct gt_slot *slot, uint64_t ns, uint32_t win)
{

	switch (slot[1].time >> 32) {
	case 0:
		gt_track_write(t, RmaOpCompleteBlocking, ns, win, slot[2].time);
		break;
	case 1:
		gt_track_write(t, RmaOpCompleteNonBlocking, ns, win, slot[2].time);
		break;
	default:
		gt_track_write(t, RmaOpCompleteRemote, ns, win, slot[2].time);
		break;
	}
}

static void synchronisation(struct gt_track *t, const struct gt_slot *slot, uint64_t ns, uint32_t win,
			    uint32_t remote)
{
	uint32_t kind = (uint32_t)(slot[1].time >> 32);
	OTF2_LockType lock = kind & 1 ? OTF2_LOCK_SHARED : OTF2_LOCK_EXCLUSIVE;

	switch (GT_WORD_TYPE(slot->word)) {
	case GT_T_RMA_SYNC:
		gt_track_write(t, RmaSync, ns, win, remote, (OTF2_RmaSyncType)kind);
		break;
	case GT_T_RMA_LOCK:
		if (kind >> 8)
			gt_track_write(t, RmaAcquireLock, ns, win, remote, 0, lock);
		else
			gt_track_write(t, RmaRequestLock, ns, win, remote, 0, lock);
		break;
	default:
		gt_track_write(t, RmaReleaseLock, ns, win, remote, 0);
		break;
	}
}

void gt_convert_rma_begin(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)slot;
	gt_track_write(t, RmaCollectiveBegin, gt_track_time(t, tick));
}

void gt_convert_rma_window(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint64_t low = GT_WORD_LOW(slot->word);
	struct window window;
	uint64_t ns;

	if (!find_window(t, (uint32_t)(low >> 1), &window)) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	ns = gt_track_time(t, tick);
	if (low & 1)
		gt_track_write(t, RmaWinDestroy, ns, window.number);
	else
		gt_track_write(t, RmaWinCreate, ns, window.number);
}

static void on_window(struct gt_track *t, const struct gt_slot *slot, uint64_t ns,
		      const struct window *window)
{
	unsigned type = GT_WORD_TYPE(slot->word);
	uint32_t remote = (uint32_t)slot[1].time;

	if (type == GT_T_RMA_COMPLETE) {
		completion(t, slot, ns, window->number);
		return;
	}
	if (type == GT_T_RMA_COLL_END) {
		gt_track_write(t, RmaCollectiveEnd, ns, (OTF2_CollectiveOp)remote,
			       (OTF2_RmaSyncLevel)(slot[1].time >> 32), window->number,
			       OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
		return;
	}
	if (remote != UINT32_MAX || type < GT_T_RMA_LOCK) {
		remote = gt_mpi_return(window->view, remote);
		if (remote == GT_UNDEFINED) {
			t->w->tally.unmatched++;
			return;
		}
	}
	if (type < GT_T_RMA_COMPLETE)
		operation(t, slot, ns, window->number, remote);
	else
		synchronisation(t, slot, ns, window->number, remote);
}

void gt_convert_rma(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	struct window window;

	if (find_window(t, (uint32_t)GT_WORD_LOW(slot->word), &window))
		on_window(t, slot, gt_track_time(t, tick), &window);
	else
		gt_convert_unknown(t, slot, tick);
}

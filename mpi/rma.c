/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication: windows, accesses, synchronisation, completion.
 *
 * MPI completes accesses all at once, when an epoch ends or is flushed: each then gets the record
 * that its buffer is free (or filled), and, unless it only reads, that it has arrived at its target.
 *
 * Limits: posts and waits name each partner (RmaSync), as their groups are no definitions. The lock
 * of a whole window is one record.
 */
#include <string.h>

#include "gputrace/ranks.h"
#include "mpi/comms.h"
#include "mpi/handles.h"
#include "mpi/rma.h"

#define CHUNK         128u
#define TARGETS       16u
enum { BARRIER = 0, CREATE = 17, DESTROY = 18, CREATE_AND_ALLOCATE = 21 }; /* OTF2_CollectiveOp */
enum { COMPLETE_HERE = 1, COMPLETE_THERE = 2 };
enum { SYNC_MEMORY, NOTIFY_IN, NOTIFY_OUT }; /* OTF2_RmaSyncType */
enum { LEVEL_PROCESS = 1, LEVEL_MEMORY = 2 };
enum { ACCUMULATE = 0, SWAP = 4, FETCH_AND_ADD = 5, FETCH_AND_ACCUMULATE = 7 };

static struct gt_mpi_pending *spare;
static uint32_t spare_lock;

static struct gt_mpi_handle *find(MPI_Win win)
{
	struct gt_mpi_handle *w = gt_mpi_handle_find(GT_MPI_WINDOW, GT_MPI_BITS(win));

	return w && w->ref ? w : NULL;
}

static bool has_target(const struct gt_mpi_handle *w, int target)
{
	return target == GT_MPI_ALL_TARGETS || (target >= 0 && target < w->size);
}

/* As records have it: all ones for the whole window. */
static uint32_t number_of(int target)
{
	return target == GT_MPI_ALL_TARGETS ? UINT32_MAX : (uint32_t)target;
}

/* ---- windows -------------------------------------------------------------------------------- */

static void begin_at(uint64_t tick)
{
	gt_record_at(GT_T_RMA_COLL_BEGIN, 0, NULL, 0, tick);
}

static void end(gt_ref ref, uint32_t op, uint32_t level)
{
	gt_record(GT_T_RMA_COLL_END, ref, (uint64_t[2]){ op | (uint64_t)level << 32, 0 }, 1);
}

static void define(struct gt_mpi_handle *w, const char *name)
{
	struct gt_shared_info info = { .bytes = sizeof(info), .name = name, .parent = w->comm,
				     .paradigm = GT_PARADIGM_MPI, .key = w->key };

	w->ref = gt_def_shared(GT_SHARED_WINDOW, &info, w->ref);
}

void gt_mpi_win_made(uint64_t begin, MPI_Comm comm, bool memory, const MPI_Win *win)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(comm);
	struct gt_mpi_handle *w = c && c->ref ? gt_mpi_handle_add(GT_MPI_WINDOW, GT_MPI_BITS(*win))
					      : NULL;

	if (!w)
		return;
	w->ref = GT_NONE;
	w->key = gt_mpi_comm_child(c);
	w->comm = c->ref;
	w->size = c->size;
	w->me = c->me;
	define(w, "");
	if (!begin || !w->ref)
		return;
	begin_at(begin);
	gt_record(GT_T_RMA_WIN, (uint64_t)w->ref << 1, NULL, 0);
	end(w->ref, memory ? CREATE_AND_ALLOCATE : CREATE, LEVEL_PROCESS);
}

void gt_mpi_win_named(MPI_Win win, const char *name)
{
	struct gt_mpi_handle *w = find(win);

	if (w)
		define(w, name);
}

static void forget_ranks(struct gt_mpi_ranks *ranks)
{
	if (ranks->list)
		gt_memory_free(ranks->list, (size_t)ranks->room * sizeof(int));
	memset(ranks, 0, sizeof(*ranks));
}

static void release(struct gt_mpi_pending *p)
{
	gt_mpi_lock(&spare_lock);
	p->next = spare;
	spare = p;
	gt_mpi_unlock(&spare_lock);
}

void *gt_mpi_win_leaves(const MPI_Win *win)
{
	return win ? gt_mpi_handle_leaves(GT_MPI_WINDOW, GT_MPI_BITS(*win)) : NULL;
}

void gt_mpi_win_left(uint64_t begin, void *window, int rc)
{
	struct gt_mpi_handle *w = window;

	if (!w)
		return;
	if (rc == MPI_SUCCESS) {
		if (begin && w->ref) {
			begin_at(begin);
			gt_record(GT_T_RMA_WIN, (uint64_t)w->ref << 1 | 1, NULL, 0);
			end(w->ref, DESTROY, LEVEL_PROCESS);
		}
		for (unsigned i = 0; i < TARGETS; i++)
			while (w->pending[i]) {
				struct gt_mpi_pending *p = w->pending[i];

				w->pending[i] = p->next;
				release(p);
			}
		forget_ranks(&w->access);
		forget_ranks(&w->exposure);
	}
	gt_mpi_handle_left(GT_MPI_WINDOW, w, rc == MPI_SUCCESS);
}

/* ---- accesses ------------------------------------------------------------------------------- */

static struct gt_mpi_pending *fresh(void)
{
	struct gt_mpi_pending *p;

	gt_mpi_lock(&spare_lock);
	if (!spare) {
		p = gt_memory(CHUNK * sizeof(*p));
		for (unsigned i = 0; p && i < CHUNK; i++) {
			p[i].next = spare;
			spare = &p[i];
		}
	}
	p = spare;
	if (p)
		spare = p->next;
	gt_mpi_unlock(&spare_lock);
	return p;
}

/* here: it is completed on this side with the window, not by a request. */
static void remember(struct gt_mpi_handle *w, int target, uint64_t id, bool here, bool there)
{
	struct gt_mpi_pending *p = here || there ? fresh() : NULL, **at;

	if (!p && (here || there))
		gt_mpi_lost(1);
	if (!p)
		return;
	*p = (struct gt_mpi_pending){ .id = id, .target = target, .here = here, .there = there };
	gt_mpi_lock(&w->lock);
	at = w->pending[(unsigned)target % TARGETS] ? w->tail[(unsigned)target % TARGETS]
						    : &w->pending[(unsigned)target % TARGETS];
	*at = p;
	w->tail[(unsigned)target % TARGETS] = &p->next;
	gt_mpi_unlock(&w->lock);
}

struct gt_mpi_op gt_mpi_access(bool on, MPI_Win win, int target, unsigned kind, uint64_t bytes,
			       uint64_t received)
{
	struct gt_mpi_handle *w = on ? find(win) : NULL;
	unsigned type = kind == GT_MPI_PUT ? GT_T_RMA_PUT : kind == GT_MPI_GET ? GT_T_RMA_GET
									      : GT_T_RMA_ATOMIC;
	uint32_t atomic = kind > GT_MPI_ATOMIC ? kind - GT_MPI_ATOMIC : ACCUMULATE;
	struct gt_mpi_op op = { .kind = GT_MPI_NOTHING };

	if (!w || target < 0 || target >= w->size)
		return op;
	op = (struct gt_mpi_op){ .kind = GT_MPI_RMA, .active = true, .comm = w->ref,
				 .id = gt_mpi_new_id(), .peer = (uint32_t)target, .tag = kind };
	gt_record(type, w->ref,
		  (uint64_t[4]){ (uint32_t)target | (uint64_t)atomic << 32, bytes, op.id, received }, 2);
	return op;
}

void gt_mpi_accessed(const struct gt_mpi_op *op, MPI_Win win, bool later)
{
	struct gt_mpi_handle *w = op->kind != GT_MPI_NOTHING ? find(win) : NULL;

	if (w)
		remember(w, (int)op->peer, op->id, !later, op->tag != GT_MPI_GET);
}

unsigned gt_mpi_fetch_kind(MPI_Op op)
{
	return GT_MPI_ATOMIC + (op == MPI_SUM	    ? FETCH_AND_ADD
				: op == MPI_REPLACE ? SWAP
						    : FETCH_AND_ACCUMULATE);
}

static void complete(gt_ref ref, uint64_t id, unsigned how)
{
	const uint64_t data[4] = { (uint64_t)how << 32, 0, id, 0 };

	gt_record(GT_T_RMA_COMPLETE, ref, data, 2);
}

void gt_mpi_win_done(const struct gt_mpi_op *op)
{
	complete(op->comm, op->id, COMPLETE_HERE);
}

static void flush_bucket(struct gt_mpi_handle *w, unsigned bucket, int target, bool remote)
{
	struct gt_mpi_pending **at = &w->pending[bucket], *done = NULL, **last = &done;

	/* What other threads add meanwhile is not complete; it waits for the lock. */
	gt_mpi_lock(&w->lock);
	while (*at) {
		struct gt_mpi_pending *p = *at;

		if (target != GT_MPI_ALL_TARGETS && p->target != target) {
			at = &p->next;
			continue;
		}
		if (p->here)
			complete(w->ref, p->id, COMPLETE_HERE);
		p->here = false;
		if (p->there && !remote) {
			at = &p->next;
			continue;
		}
		if (p->there)
			complete(w->ref, p->id, COMPLETE_THERE);
		*at = p->next;
		*last = p;
		p->next = NULL;
		last = &p->next;
	}
	w->tail[bucket] = at;
	gt_mpi_unlock(&w->lock);
	while (done) {
		struct gt_mpi_pending *p = done;

		done = p->next;
		release(p);
	}
}

static void flush(struct gt_mpi_handle *w, int target, bool remote)
{
	for (unsigned i = 0; i < TARGETS; i++)
		if (target == GT_MPI_ALL_TARGETS || (unsigned)target % TARGETS == i)
			flush_bucket(w, i, target, remote);
}

void gt_mpi_win_flushed(MPI_Win win, int target, bool remote)
{
	struct gt_mpi_handle *w = find(win);

	if (w && has_target(w, target))
		flush(w, target, remote);
}

/* ---- synchronisation ------------------------------------------------------------------------ */

void gt_mpi_win_fenced(uint64_t begin, MPI_Win win)
{
	struct gt_mpi_handle *w = find(win);

	if (!w)
		return;
	begin_at(begin);
	flush(w, GT_MPI_ALL_TARGETS, true);
	end(w->ref, BARRIER, LEVEL_PROCESS | LEVEL_MEMORY);
}

static void record(unsigned type, const struct gt_mpi_handle *w, uint32_t remote, uint32_t kind)
{
	gt_record(type, w->ref, (uint64_t[2]){ remote | (uint64_t)kind << 32, 0 }, 1);
}

void gt_mpi_win_lock(MPI_Win win, int target, int type, bool acquired)
{
	const struct gt_mpi_handle *w = find(win);

	if (w && has_target(w, target))
		record(GT_T_RMA_LOCK, w, number_of(target),
		       (type == MPI_LOCK_SHARED) | (uint32_t)acquired << 8);
}

void gt_mpi_win_unlock(MPI_Win win, int target)
{
	struct gt_mpi_handle *w = find(win);

	if (!w || !has_target(w, target))
		return;
	flush(w, target, true);
	record(GT_T_RMA_UNLOCK, w, number_of(target), 0);
}

/* The group's processes as ranks of the window. */
static void note_ranks(MPI_Win win, struct gt_mpi_ranks *ranks, MPI_Group group)
{
	MPI_Group all;
	int n = 0;

	ranks->count = 0;
	if (gt_mpi_Group_size()(group, &n) != MPI_SUCCESS || n <= 0)
		return;
	if (ranks->room < 2 * n) {
		forget_ranks(ranks);
		ranks->list = gt_memory(2 * (size_t)n * sizeof(int));
		ranks->room = ranks->list ? 2 * n : 0;
		if (!ranks->list)
			gt_mpi_lost((uint64_t)n);
	}
	if (!ranks->list || gt_mpi_Win_get_group()(win, &all) != MPI_SUCCESS)
		return;
	for (int i = 0; i < n; i++)
		ranks->list[n + i] = i;
	if (gt_mpi_Group_translate_ranks()(group, n, ranks->list + n, all, ranks->list) == MPI_SUCCESS)
		ranks->count = n;
	gt_mpi_Group_free()(&all);
}

static void notify(const struct gt_mpi_handle *w, const struct gt_mpi_ranks *ranks, uint32_t kind)
{
	for (int i = 0; i < ranks->count; i++)
		if (ranks->list[i] >= 0 && ranks->list[i] < w->size)
			record(GT_T_RMA_SYNC, w, (uint32_t)ranks->list[i], kind);
}

void gt_mpi_win_start(MPI_Win win, MPI_Group group)
{
	struct gt_mpi_handle *w = find(win);

	if (!w)
		return;
	note_ranks(win, &w->access, group);
	notify(w, &w->access, NOTIFY_IN);
}

void gt_mpi_win_complete(MPI_Win win)
{
	struct gt_mpi_handle *w = find(win);

	if (!w)
		return;
	flush(w, GT_MPI_ALL_TARGETS, true);
	notify(w, &w->access, NOTIFY_OUT);
	w->access.count = 0;
}

void gt_mpi_win_post(MPI_Win win, MPI_Group group)
{
	struct gt_mpi_handle *w = find(win);

	if (!w)
		return;
	note_ranks(win, &w->exposure, group);
	notify(w, &w->exposure, NOTIFY_OUT);
}

void gt_mpi_win_wait(MPI_Win win)
{
	struct gt_mpi_handle *w = find(win);

	if (!w)
		return;
	notify(w, &w->exposure, NOTIFY_IN);
	w->exposure.count = 0;
}

void gt_mpi_win_sync(MPI_Win win)
{
	const struct gt_mpi_handle *w = find(win);

	if (w)
		record(GT_T_RMA_SYNC, w, (uint32_t)w->me, SYNC_MEMORY);
}

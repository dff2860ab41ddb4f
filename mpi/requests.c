/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations that are under way; see requests.h.
 *
 * Limits: request handles that the program copies and gives to two threads are matched as MPI does.
 */
#include "mpi/requests.h"

#define SHARDS      64u
#define CHUNK       128u
#define BUCKETS     64u
#define MATCHED_BIT (UINT64_C(1) << 63) /* messages of MPI_Mprobe are kept beside requests */

struct entry {
	uint64_t bits;           /* never changes while the entry is in the table */
	struct entry *next;
	struct gt_mpi_op op;
};

static struct shard {
	uint32_t lock;
	uint32_t used;           /* entries in all buckets */
	struct entry *buckets[BUCKETS];
	struct entry *freed;     /* receives that were freed: nobody looks for them before MPI ends */
	struct entry *spare;
} __attribute__((aligned(64))) shards[SHARDS];

uint64_t gt_mpi_live;
static uint64_t last_id;

uint64_t gt_mpi_new_id(void)
{
	return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
}

static struct shard *shard_of(uint64_t bits)
{
	return &shards[gt_hash_word(bits) >> 58];
}

static struct entry **bucket_of(struct shard *shard, uint64_t bits)
{
	return &shard->buckets[gt_hash_word(bits) >> 52 & (BUCKETS - 1)];
}

static struct entry **place_of(struct shard *shard, uint64_t bits)
{
	struct entry **at = bucket_of(shard, bits);

	while (*at && (*at)->bits != bits)
		at = &(*at)->next;
	return at;
}

/* In the table, or, bits 0, among the receives that were freed. */
static void put(uint64_t bits, const struct gt_mpi_op *op)
{
	struct shard *shard = shard_of(bits);
	struct entry **at, *e;

	gt_mpi_lock(&shard->lock);
	if (!shard->spare) {
		e = gt_memory(CHUNK * sizeof(*e));
		for (unsigned i = 0; e && i < CHUNK; i++) {
			e[i].next = shard->spare;
			shard->spare = &e[i];
		}
	}
	e = shard->spare;
	if (e) {
		/* In front of one with the same handle, which another thread is just completing. */
		at = bits ? bucket_of(shard, bits) : &shard->freed;
		shard->spare = e->next;
		e->next = *at;
		e->bits = bits;
		e->op = *op;
		*at = e;
		__atomic_add_fetch(&gt_mpi_live, 1, __ATOMIC_RELAXED);
	}
	gt_mpi_unlock(&shard->lock);
	if (!e)
		gt_mpi_lost(1);
}

static void remove_at(struct shard *shard, struct entry **at)
{
	struct entry *e = *at;

	*at = e->next;
	e->bits = 0;
	e->next = shard->spare;
	shard->spare = e;
	__atomic_sub_fetch(&gt_mpi_live, 1, __ATOMIC_RELAXED);
}

static struct entry *look(uint64_t bits)
{
	struct shard *shard = shard_of(bits);
	struct entry *e;

	if (!__atomic_load_n(&gt_mpi_live, __ATOMIC_RELAXED))
		return NULL;
	gt_mpi_lock(&shard->lock);
	e = *place_of(shard, bits);
	gt_mpi_unlock(&shard->lock);
	return e;
}

void *gt_mpi_look_up(MPI_Request request)
{
	return request == MPI_REQUEST_NULL ? NULL : look(GT_MPI_BITS(request));
}

struct gt_mpi_op gt_mpi_take(void *was)
{
	struct gt_mpi_op op = { 0 };
	struct entry *e = was;
	struct shard *shard;
	struct entry **at;

	if (!e)
		return op;
	shard = shard_of(e->bits);
	gt_mpi_lock(&shard->lock);
	op = e->op;
	e->op.active = e->op.cancel = false;
	for (at = bucket_of(shard, e->bits); *at && *at != e;)
		at = &(*at)->next;
	if (*at && !op.persistent)
		remove_at(shard, at);
	gt_mpi_unlock(&shard->lock);
	return op;
}

void gt_mpi_insert(MPI_Request request, const struct gt_mpi_op *op)
{
	if (request != MPI_REQUEST_NULL)
		put(GT_MPI_BITS(request), op);
}

void gt_mpi_insert_matched(MPI_Message message, const struct gt_mpi_op *op)
{
	put(GT_MPI_BITS(message) ^ MATCHED_BIT, op);
}

struct gt_mpi_op gt_mpi_take_matched(MPI_Message message)
{
	return gt_mpi_take(look(GT_MPI_BITS(message) ^ MATCHED_BIT));
}

struct gt_mpi_op gt_mpi_restart(MPI_Request request, bool active)
{
	uint64_t bits = GT_MPI_BITS(request);
	struct shard *shard = shard_of(bits);
	struct gt_mpi_op op = { 0 };
	struct entry *e;

	gt_mpi_lock(&shard->lock);
	e = *place_of(shard, bits);
	if (e && e->op.persistent) {
		e->op.active = active;
		e->op.id = gt_mpi_new_id();
		op = e->op;
	}
	gt_mpi_unlock(&shard->lock);
	return op;
}

struct gt_mpi_op gt_mpi_drop(MPI_Request request)
{
	uint64_t bits = GT_MPI_BITS(request);
	struct shard *shard = shard_of(bits);
	struct gt_mpi_op op = { 0 };
	struct entry **at;

	gt_mpi_lock(&shard->lock);
	at = place_of(shard, bits);
	if (*at) {
		op = (*at)->op;
		remove_at(shard, at);
	}
	gt_mpi_unlock(&shard->lock);
	return op;
}

void gt_mpi_cancel(const MPI_Request *request)
{
	uint64_t bits = request ? GT_MPI_BITS(*request) : 0;
	struct shard *shard = shard_of(bits);
	struct entry *e;

	if (!request)
		return;
	gt_mpi_lock(&shard->lock);
	e = *place_of(shard, bits);
	if (e)
		e->op.cancel = true;
	gt_mpi_unlock(&shard->lock);
}

void gt_mpi_keep_freed(const struct gt_mpi_op *op)
{
	put(0, op);
}

bool gt_mpi_next_freed(struct gt_mpi_op *op)
{
	struct shard *shard = shard_of(0);
	bool found;

	gt_mpi_lock(&shard->lock);
	found = shard->freed != NULL;
	if (found) {
		*op = shard->freed->op;
		remove_at(shard, &shard->freed);
	}
	gt_mpi_unlock(&shard->lock);
	return found;
}

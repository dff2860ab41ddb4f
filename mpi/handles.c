/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and files by their handles.
 *
 * Limits: entries stay where they are until their handle is freed, which MPI allows only when nobody
 * uses it any more.
 */
#include <string.h>

#include "mpi/handles.h"

#define BUCKETS 64u
#define CHUNK   32u

static struct gt_mpi_handle *buckets[2][BUCKETS], *spare;
static uint32_t lock;

static struct gt_mpi_handle **bucket_of(enum gt_mpi_handle_kind kind, uint64_t bits)
{
	return &buckets[kind][gt_hash_word(bits) >> 58];
}

static struct gt_mpi_handle **place_of(enum gt_mpi_handle_kind kind, uint64_t bits)
{
	struct gt_mpi_handle **at = bucket_of(kind, bits);

	while (*at && ((*at)->bits != bits || (*at)->leaving))
		at = &(*at)->next;
	return at;
}

struct gt_mpi_handle *gt_mpi_handle_find(enum gt_mpi_handle_kind kind, uint64_t bits)
{
	struct gt_mpi_handle *h;

	gt_mpi_lock(&lock);
	h = *place_of(kind, bits);
	gt_mpi_unlock(&lock);
	return h;
}

struct gt_mpi_handle *gt_mpi_handle_add(enum gt_mpi_handle_kind kind, uint64_t bits)
{
	struct gt_mpi_handle *h, **at;

	gt_mpi_lock(&lock);
	if (!spare) {
		h = gt_memory(CHUNK * sizeof(*h));
		for (unsigned i = 0; h && i < CHUNK; i++) {
			h[i].next = spare;
			spare = &h[i];
		}
	}
	at = place_of(kind, bits);
	h = *at ? *at : spare;
	if (h && !*at) {
		spare = h->next;
		memset(h, 0, sizeof(*h));
		h->bits = bits;
		*at = h;
	}
	gt_mpi_unlock(&lock);
	if (!h)
		gt_mpi_lost(1);
	return h;
}

struct gt_mpi_handle *gt_mpi_handle_leaves(enum gt_mpi_handle_kind kind, uint64_t bits)
{
	struct gt_mpi_handle *h;

	gt_mpi_lock(&lock);
	h = *place_of(kind, bits);
	if (h)
		h->leaving = true;
	gt_mpi_unlock(&lock);
	return h;
}

void gt_mpi_handle_left(enum gt_mpi_handle_kind kind, struct gt_mpi_handle *h, bool gone)
{
	struct gt_mpi_handle **at;

	gt_mpi_lock(&lock);
	for (at = bucket_of(kind, h->bits); *at && *at != h;)
		at = &(*at)->next;
	if (!gone) {
		h->leaving = false;
	} else if (*at) {
		*at = h->next;
		h->next = spare;
		spare = h;
	}
	gt_mpi_unlock(&lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that arrive late, for a location that others write.
 */
#include "config.h"

#include "lib/assemble/spool/deferred.h"

#include "lib/assemble/util/array.h"
#include "lib/assemble/util/io.h"
#include "lib/assemble/spool/sort.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SORT_RUN (4u << 20)

/*
 * With few locations, each reads the deferred streams of its process and takes what is its own. With more,
 * whoever comes first spreads them into one temporary file, in pieces that are of one location each.
 */
#define FEW 3

struct piece {
	uint64_t at;
	uint32_t slots;
};

struct share {
	struct gt_slot *slots;   /* not yet in the file; each unit has a slot before it: its size and time */
	uint32_t used;
	struct piece *pieces;
	size_t count, room;
};

struct gt_deferred_spread {
	int fd;
	uint64_t end;
	struct share *shares;    /* as proc->locs */
	size_t count, left;      /* locations; those that have not read their share */
	bool failed;             /* or all is read: everyone reads for himself */
};

#define PIECE (2 * GT_UNIT_SLOTS)

static int flush_share(struct gt_deferred_spread *spread, struct share *share)
{
	uint64_t bytes = share->used * sizeof(*share->slots);

	if (!share->used)
		return 0;
	if (!gt_array_has_room(share->pieces, share->count, &share->room))
		return -ENOMEM;
	if (pwrite(spread->fd, share->slots, bytes, (off_t)spread->end) != (ssize_t)bytes)
		return -EIO;
	share->pieces[share->count++] = (struct piece){ spread->end, share->used };
	share->used = 0;
	spread->end += bytes;
	return 0;
}

static int share_unit(struct gt_deferred_spread *spread, const struct gt_proc *proc,
		      const struct gt_units *units)
{
	const struct gt_loc *loc = gt_proc_loc(proc, units->location);
	struct share *share = loc && loc->deferred ? &spread->shares[loc - proc->locs] : NULL;
	int rc = 0;

	if (!share)
		return 0;
	if (!share->slots && !(share->slots = malloc(PIECE * sizeof(*share->slots))))
		return -ENOMEM;
	if (share->used + 1 + units->used > PIECE)
		rc = flush_share(spread, share);
	if (rc)
		return rc;
	share->slots[share->used++] = (struct gt_slot){ .word = units->used, .time = units->start };
	memcpy(share->slots + share->used, units->slots, units->used * sizeof(*share->slots));
	share->used += units->used;
	return 0;
}

/* What one deferred stream holds: of one location to `side`, or of all to `spread`. */
static int read_stream(struct gt_deferred *deferred, uint32_t location, struct gt_deferred_spread *spread,
		       struct gt_units *units, const struct gt_loc *from, struct gt_slot *buffer)
{
	struct gt_stream stream;
	int rc = gt_stream_open(&stream, from, buffer);

	if (rc)
		return gt_spool_try_again(rc) ? rc : 0;
	gt_units_open(units, &stream);
	while ((rc = gt_units_next(units)) > 0) {
		if (spread)
			rc = share_unit(spread, from->proc, units);
		else if (units->location == location)
			rc = gt_sorter_add(deferred->sorter, units->start, 0, units->slots, units->used);
		if (rc < 0)
			break;
	}
	gt_stream_close(&stream);
	return rc < 0 ? rc : 0;
}

static int read_streams(const struct gt_proc *proc, struct gt_deferred *deferred, uint32_t location,
			struct gt_deferred_spread *spread)
{
	struct gt_units *units = malloc(sizeof(*units));
	struct gt_slot *buffer = malloc(GT_STREAM_BUFFER);
	int rc = units && buffer ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < proc->loc_count; i++)
		if (proc->locs[i].win.kind == GT_LOC_DEFERRED && proc->locs[i].begin < proc->locs[i].end)
			rc = read_stream(deferred, location, spread, units, &proc->locs[i], buffer);
	free(units);
	free(buffer);
	return rc;
}

static void free_shares(struct gt_deferred_spread *spread)
{
	for (size_t i = 0; spread->shares && i < spread->count; i++) {
		free(spread->shares[i].slots);
		free(spread->shares[i].pieces);
	}
	free(spread->shares);
	spread->shares = NULL;
	if (spread->fd >= 0)
		close(spread->fd);
}

static void make_spread(struct gt_proc *proc, size_t left, int dirfd)
{
	struct gt_deferred_spread *spread = calloc(1, sizeof(*spread));
	int rc = -ENOMEM;

	if (!spread)
		return;
	spread->count = proc->loc_count;
	spread->left = left;
	spread->shares = calloc(spread->count, sizeof(*spread->shares));
	spread->fd = gt_sorter_file(dirfd);
	if (spread->shares)
		rc = spread->fd < 0 ? spread->fd : read_streams(proc, NULL, 0, spread);
	for (size_t i = 0; !rc && i < spread->count; i++) {
		rc = flush_share(spread, &spread->shares[i]);
		free(spread->shares[i].slots);
		spread->shares[i].slots = NULL;
	}
	spread->failed = rc != 0;
	if (rc)
		free_shares(spread);
	proc->spread = spread;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* workers come at the same time */

/* NULL: read for yourself. */
static struct gt_deferred_spread *spread_of(struct gt_proc *proc, int dirfd)
{
	bool failed;
	size_t n = 0;

	for (size_t i = 0; i < proc->loc_count; i++)
		n += proc->locs[i].deferred;
	if (n <= FEW)
		return NULL;
	pthread_mutex_lock(&lock);
	if (!proc->spread)
		make_spread(proc, n, dirfd);
	failed = !proc->spread || proc->spread->failed;
	pthread_mutex_unlock(&lock);
	return failed ? NULL : proc->spread;
}

static int read_share(struct gt_deferred *deferred, struct gt_deferred_spread *spread,
		      const struct share *share)
{
	struct gt_slot *slots = malloc(PIECE * sizeof(*slots));
	int rc = slots ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < share->count; i++) {
		const struct piece *piece = &share->pieces[i];
		size_t bytes = piece->slots * sizeof(*slots);
		ssize_t n = gt_read_at(spread->fd, slots, bytes, piece->at);

		if (n != (ssize_t)bytes)
			rc = n < 0 ? (int)n : -EIO;
		for (uint32_t k = 0; !rc && k < piece->slots; k += 1 + (uint32_t)slots[k].word)
			rc = gt_sorter_add(deferred->sorter, slots[k].time, 0, &slots[k + 1],
					   (unsigned)slots[k].word);
	}
	free(slots);
	pthread_mutex_lock(&lock);
	if (!--spread->left) {
		free_shares(spread);
		spread->failed = true;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int gt_deferred_open(struct gt_deferred **result, const struct gt_loc *loc, int dirfd)
{
	struct gt_deferred_spread *spread;
	struct gt_deferred *deferred;
	int rc = 0;

	*result = NULL;
	if (!loc->deferred && !loc->added)
		return 0;
	deferred = calloc(1, sizeof(*deferred));
	if (!deferred)
		return -ENOMEM;
	deferred->sorter = loc->added ? loc->added : gt_sorter_new(dirfd, SORT_RUN);
	if (!deferred->sorter)
		rc = -ENOMEM;
	if (!rc && !loc->added) {
		spread = spread_of(loc->proc, dirfd);
		rc = spread ? read_share(deferred, spread, &spread->shares[loc - loc->proc->locs])
			    : read_streams(loc->proc, deferred, loc->id, NULL);
		if (!rc)
			rc = gt_sorter_finish(deferred->sorter);
	}
	if (!rc)
		rc = gt_deferred_next(deferred);
	if (rc) {
		gt_deferred_close(deferred);
		return rc;
	}
	*result = deferred;
	return 0;
}

void gt_deferred_forget(struct gt_proc *proc)
{
	if (proc->spread && !proc->spread->failed)
		free_shares(proc->spread);
	free(proc->spread);
	proc->spread = NULL;
}

void gt_deferred_close(struct gt_deferred *deferred)
{
	if (!deferred)
		return;
	gt_sorter_free(deferred->sorter); /* what was added can be read once only */
	free(deferred);
}

int gt_deferred_next(struct gt_deferred *deferred)
{
	long n = gt_sorter_unit(deferred->sorter, deferred->slots, GT_UNIT_SLOTS);
	unsigned i = 0;

	deferred->time = UINT64_MAX;
	deferred->used = 0;
	if (n <= 0)
		return (int)n;
	deferred->used = (unsigned)n;
	while (i + gt_slots_of(&deferred->slots[i]) < deferred->used)
		i += gt_slots_of(&deferred->slots[i]);
	deferred->time = deferred->slots[i].time;
	deferred->enter = GT_WORD_TYPE(deferred->slots[i].word) == GT_T_ENTER;
	deferred->region = deferred->enter || GT_WORD_TYPE(deferred->slots[i].word) == GT_T_LEAVE;
	return 0;
}

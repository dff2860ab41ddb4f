/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs and bags in a temporary file.
 *
 * A block of the file that is full is dropped from memory; the kernel keeps it.
 *
 * Limits: see spill.h.
 */
#include "config.h"

#include "report/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/assemble/spool/sort.h"

enum { PAGE = 4096, CHUNK = 64 << 20, RUN_BYTES = 8 << 20, MOST_EQUAL = 1 << 16 };
enum { SLOTS = sizeof(struct gt_item) / sizeof(struct gt_slot) };

struct gt_spill_chunk {
	char *memory;
	size_t used;
	bool in_file;
};

static void *need(void *memory)
{
	if (!memory || memory == MAP_FAILED) {
		fputs("gputrace report: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

void gt_spill_open(struct gt_spill *spill)
{
	const char *dir = getenv("TMPDIR");

	*spill = (struct gt_spill){ .file = -1 };
	pthread_mutex_init(&spill->lock, NULL);
	spill->dir = open(dir && *dir ? dir : P_tmpdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spill->dir >= 0)
		spill->file = gt_sorter_file(spill->dir);
	if (spill->file < 0)
		spill->file = -1;
}

void gt_spill_close(struct gt_spill *spill)
{
	for (unsigned i = 0; i < spill->count; i++)
		munmap(spill->chunks[i].memory, CHUNK);
	free(spill->chunks);
	if (spill->file >= 0)
		close(spill->file);
	if (spill->dir >= 0)
		close(spill->dir);
	pthread_mutex_destroy(&spill->lock);
}

/* ---- logs ---------------------------------------------------------------------------------------- */

static void add_chunk(struct gt_spill *spill)
{
	off_t at = (off_t)spill->count * CHUNK;
	void *memory = MAP_FAILED;

	if (spill->file >= 0 && !ftruncate(spill->file, at + CHUNK))
		memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, at);
	if (memory == MAP_FAILED) {
		spill->file = -1;
		memory = need(mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	}
	spill->chunks = need(reallocarray(spill->chunks, spill->count + 1, sizeof(*spill->chunks)));
	spill->chunks[spill->count++] = (struct gt_spill_chunk){ memory, 0, spill->file >= 0 };
}

void gt_spill_drop(struct gt_spill *spill)
{
	for (unsigned i = 0; i < spill->count; i++)
		if (spill->chunks[i].in_file)
			madvise(spill->chunks[i].memory, CHUNK, MADV_DONTNEED);
}

/* Room in the file is taken before it is used: a full disk is an error here and a SIGBUS later. */
static char *take(struct gt_spill *spill, size_t bytes)
{
	struct gt_spill_chunk *chunk;

	bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	if (!spill->count || spill->chunks[spill->count - 1].used + bytes > CHUNK)
		add_chunk(spill);
	chunk = &spill->chunks[spill->count - 1];
	if (spill->file >= 0 &&
	    posix_fallocate(spill->file, (off_t)(spill->count - 1) * CHUNK + (off_t)chunk->used,
			    (off_t)bytes)) {
		spill->file = -1;
		add_chunk(spill);
		chunk = &spill->chunks[spill->count - 1];
	}
	chunk->used += bytes;
	return chunk->memory + chunk->used - bytes;
}

static void add_block(struct gt_spill *spill, struct gt_log *log)
{
	log->blocks = need(reallocarray(log->blocks, log->block_count + 1, sizeof(*log->blocks)));
	pthread_mutex_lock(&spill->lock);
	if (log->block_count && spill->file >= 0)
		madvise(log->blocks[log->block_count - 1],
			gt_log_elements(log->block_count - 1) * log->size / PAGE * PAGE, MADV_DONTNEED);
	log->blocks[log->block_count] = take(spill, gt_log_elements(log->block_count) * log->size);
	pthread_mutex_unlock(&spill->lock);
	log->block_count++;
}

void *gt_log_add_some(struct gt_spill *spill, struct gt_log *log, uint64_t *count)
{
	uint64_t offset;
	void *new;

	if (gt_log_block(log->count, &offset) == log->block_count)
		add_block(spill, log);
	new = gt_log_span(log, log->count, *count, count);
	log->count += *count;
	return new;
}

void *gt_log_add(struct gt_spill *spill, struct gt_log *log)
{
	uint64_t one = 1;

	return gt_log_add_some(spill, log, &one);
}

/* ---- bags ---------------------------------------------------------------------------------------- */

union sorted {
	struct gt_item item;
	struct gt_slot slots[SLOTS];
};

static void failed(void)
{
	fputs("gputrace report: no temporary file can be written\n", stderr);
	exit(2);
}

void gt_bag_add(struct gt_spill *spill, struct gt_bag *bag, const struct gt_item *item)
{
	union sorted one = { .item = *item };

	if (!bag->sorter)
		bag->sorter = need(gt_sorter_new(dup(spill->dir), RUN_BYTES)); /* keeps it */
	if (gt_sorter_add(bag->sorter, item->key, item->tie, one.slots, SLOTS))
		failed();
}

static int compare(const void *a, const void *b)
{
	const struct gt_item *x = a, *y = b;

	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

/* False: there is no other one. */
static bool read_item(struct gt_bag *bag)
{
	union sorted one;
	long n = gt_sorter_unit(bag->sorter, one.slots, SLOTS);

	if (n < 0)
		failed();
	bag->behind = one.item;
	bag->read = n > 0;
	return bag->read;
}

/* There may be too many with one key and tie to be sorted: then the rest comes as it was added. */
static void read_equals(struct gt_bag *bag)
{
	bag->at = bag->count = 0;
	do {
		if (bag->count == bag->room) {
			bag->room = bag->room ? 2 * bag->room : 16;
			bag->ahead = need(reallocarray(bag->ahead, bag->room, sizeof(*bag->ahead)));
		}
		bag->ahead[bag->count++] = bag->behind;
	} while (read_item(bag) && bag->count < MOST_EQUAL && bag->behind.key == bag->ahead->key &&
		 bag->behind.tie == bag->ahead->tie);
	qsort(bag->ahead, bag->count, sizeof(*bag->ahead), compare);
}

const struct gt_item *gt_bag_next(struct gt_bag *bag)
{
	if (!bag->sorter)
		return NULL;
	if (!bag->finished) {
		if (gt_sorter_finish(bag->sorter))
			failed();
		bag->finished = true;
		read_item(bag);
	}
	if (bag->at == bag->count && bag->read)
		read_equals(bag);
	return bag->at < bag->count ? &bag->ahead[bag->at] : NULL;
}

struct gt_item gt_bag_take(struct gt_bag *bag)
{
	return bag->ahead[bag->at++];
}

void gt_bag_free(struct gt_bag *bag)
{
	gt_sorter_free(bag->sorter);
	free(bag->ahead);
	*bag = (struct gt_bag){ .sorter = NULL };
}

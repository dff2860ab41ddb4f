/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs and bags in a temporary file.
 *
 * The first chunks are plain memory, which costs less than pages of a file. No large pages are asked for: a
 * virtual machine may have given free ones back to its host, and to get them again costs more than they save.
 * What comes then is written to the file when a block is full, and mapped there.
 *
 * Limits: see spill.h.
 */
#include "config.h"

#include "report/model/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/assemble/spool/sort.h"
#include "lib/assemble/util/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, CHUNK = 64 << 20, PLAIN_CHUNKS = 2, RUN_BYTES = 8 << 20, MOST_EQUAL = 1 << 16 };
enum { SLOTS = sizeof(struct gt_item) / sizeof(struct gt_slot) };

struct gt_spill_chunk {
	char *memory;
	size_t used;
	bool in_file;
};

void gt_spill_open(struct gt_spill *spill)
{
	const char *dir = getenv("TMPDIR");

	*spill = (struct gt_spill){ .file = -1 };
	pthread_mutex_init(&spill->lock, NULL);
	spill->dir = open(dir && *dir ? dir : P_tmpdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spill->dir >= 0)
		spill->file = gt_sorter_file(spill->dir);
	spill->full = spill->file < 0;
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

/* ---- room ---------------------------------------------------------------------------------------- */

static void *plain_chunk(void)
{
	void *memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return gt_need(memory == MAP_FAILED ? NULL : memory);
}

static void add_chunk(struct gt_spill *spill)
{
	off_t at = (off_t)spill->count * CHUNK;
	void *memory = MAP_FAILED;
	bool in_file = !spill->full && spill->count >= PLAIN_CHUNKS;

	if (in_file && !ftruncate(spill->file, at + CHUNK))
		memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, at);
	if (memory == MAP_FAILED) {
		spill->full |= in_file;
		in_file = false;
		memory = plain_chunk();
	}
	spill->chunks = gt_resized(spill->chunks, spill->count + 1, sizeof(*spill->chunks));
	spill->chunks[spill->count++] = (struct gt_spill_chunk){ memory, 0, in_file };
}

void gt_spill_drop(struct gt_spill *spill)
{
	for (unsigned i = 0; i < spill->count; i++)
		if (spill->chunks[i].in_file)
			madvise(spill->chunks[i].memory, CHUNK, MADV_DONTNEED);
}

/* Sets `at` to where it is in the file; -1: it is in memory. */
static char *take(struct gt_spill *spill, size_t bytes, off_t *at)
{
	struct gt_spill_chunk *chunk;
	char *place;

	bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	pthread_mutex_lock(&spill->lock);
	chunk = spill->count ? &spill->chunks[spill->count - 1] : NULL;
	if (!chunk || chunk->used + bytes > CHUNK || (chunk->in_file && spill->full)) {
		add_chunk(spill);
		chunk = &spill->chunks[spill->count - 1];
	}
	place = chunk->memory + chunk->used;
	*at = chunk->in_file ? (off_t)(spill->count - 1) * CHUNK + (off_t)chunk->used : -1;
	chunk->used += bytes;
	pthread_mutex_unlock(&spill->lock);
	return place;
}

static bool write_all(int file, const char *data, size_t bytes, off_t at)
{
	while (bytes) {
		ssize_t n = pwrite(file, data, bytes, at);

		if (n <= 0)
			return false;
		data += n;
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

/* All its pages at once, which costs less than a fault for each. */
static void populate(char *place, size_t bytes)
{
	if (bytes > PAGE)
		madvise(place, (bytes + PAGE - 1) / PAGE * PAGE, MADV_POPULATE_WRITE); /* Linux 5.14 */
}

/*
 * To a place of its own. It is written, not stored into the mapping: a page of a file that is touched first
 * costs as much as copying ten. A full disk is an error here, and would be a SIGBUS there.
 */
static char *put(struct gt_spill *spill, const char *data, size_t bytes)
{
	off_t at;
	char *place = take(spill, bytes, &at);

	if (at >= 0 && !write_all(spill->file, data, bytes, at)) {
		pthread_mutex_lock(&spill->lock);
		spill->full = true;
		pthread_mutex_unlock(&spill->lock);
		place = take(spill, bytes, &at);
	}
	if (at < 0) {
		populate(place, bytes);
		memcpy(place, data, bytes);
	}
	return place;
}

/* ---- logs ---------------------------------------------------------------------------------------- */

static void put_last(struct gt_spill *spill, struct gt_log *log, uint64_t elements)
{
	if (elements)
		log->blocks[log->block_count - 1] = put(spill, log->open, elements * log->size);
}

static void add_block(struct gt_spill *spill, struct gt_log *log)
{
	uint64_t next = gt_log_elements(log->block_count);
	uint64_t last = log->block_count ? gt_log_elements(log->block_count - 1) : 0;

	put_last(spill, log, last);
	if (next != last)
		log->open = gt_resized(log->open, next, log->size);
	log->blocks = gt_resized(log->blocks, log->block_count + 1, sizeof(*log->blocks));
	log->blocks[log->block_count++] = log->open;
}

void *gt_log_room(struct gt_spill *spill, struct gt_log *log, uint64_t *count)
{
	uint64_t offset;

	if (gt_log_block(log->count, &offset) == log->block_count)
		add_block(spill, log);
	return gt_log_span(log, log->count, *count, count);
}

void *gt_log_add_some(struct gt_spill *spill, struct gt_log *log, uint64_t *count)
{
	void *new = gt_log_room(spill, log, count);

	log->count += *count;
	return new;
}

void *gt_log_add(struct gt_spill *spill, struct gt_log *log)
{
	uint64_t one = 1;

	return memset(gt_log_add_some(spill, log, &one), 0, log->size);
}

void gt_log_end(struct gt_spill *spill, struct gt_log *log)
{
	uint64_t last = 0;

	if (log->count)
		gt_log_block(log->count - 1, &last);
	put_last(spill, log, log->count ? last + 1 : 0);
	free(log->open);
	log->open = NULL;
}

void gt_log_free(struct gt_log *log)
{
	free(log->open);
	free(log->blocks);
}

void gt_log_carry(struct gt_spill *spill, struct gt_carry *carry, struct gt_log *log, uint32_t size)
{
	uint64_t count = log->count, n;

	log->size = size;
	gt_carry_bytes(carry, &count, sizeof(count));
	for (uint64_t i = 0; i < count; i += n) {
		void *items;

		n = count - i;
		if (gt_carry_loads(carry))
			items = gt_log_add_some(spill, log, &n);
		else
			items = gt_log_span(log, i, n, &n);
		gt_carry_bytes(carry, items, n * size);
	}
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
		bag->sorter = gt_need(gt_sorter_new(dup(spill->dir), RUN_BYTES)); /* keeps it */
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
			bag->ahead = gt_resized(bag->ahead, bag->room, sizeof(*bag->ahead));
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * External sorting of records by time.
 *
 * A run in the file is a sequence of units: two slots as a head (time and tie; number of slots), then the
 * slots.
 */
#include "config.h"

#include "lib/assemble/spool/sort.h"

#include "lib/assemble/util/array.h"
#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_LEAST (16u << 10) /* of each run while merging */
#define WINDOW_ALL   (16u << 20)
#define HEAD         2u          /* slots before each unit in a run */

struct unit {
	uint64_t time, tie;
	uint64_t at; /* slot in `slots` where its head is */
};

/* A part of the file that is in order. */
struct run {
	uint64_t at, end;    /* bytes in the file that have not been read into the window */
	struct gt_slot *window;
	size_t from, to;     /* slots in the window that have not been handed out */
};

struct gt_sorter {
	int dirfd, fd;
	struct gt_slot *slots; /* the run that is being filled */
	size_t used, room;     /* slots */
	struct unit *units;
	size_t unit_count, unit_room;
	struct run *runs;
	size_t run_count, run_room;
	size_t window_slots;
	uint64_t file_bytes;
	size_t *heap;          /* runs by the time of their next unit */
	size_t heap_count;
	size_t next_unit;      /* everything fitted into one run: the next of `units` */
};

struct gt_sorter *gt_sorter_new(int dirfd, size_t run_bytes)
{
	struct gt_sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->dirfd = dirfd;
	s->fd = -1;
	s->room = run_bytes / sizeof(*s->slots);
	s->slots = malloc(s->room * sizeof(*s->slots));
	if (!s->slots) {
		free(s);
		return NULL;
	}
	return s;
}

void gt_sorter_free(struct gt_sorter *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->run_count; i++)
		free(s->runs[i].window);
	free(s->runs);
	free(s->heap);
	free(s->units);
	free(s->slots);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* Slots of the unit behind its head. */
static size_t count_of(const struct gt_slot *head)
{
	return (size_t)head[1].word;
}

static int by_time(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->tie != y->tie)
		return x->tie < y->tie ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int gt_sorter_file(int dirfd)
{
	static unsigned number; /* atomic: several workers sort */
	char name[48];
	int fd;

	snprintf(name, sizeof(name), ".sort.%d.%u", (int)getpid(),
		 __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(dirfd, name, 0);
	return fd;
}

static int write_all(int fd, const void *data, size_t bytes, uint64_t at)
{
	const char *from = data;

	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Writes the units in order through a small buffer. */
static int write_run(struct gt_sorter *s, struct run *run)
{
	struct gt_slot *buffer = malloc(WINDOW_LEAST * 4);
	size_t room = WINDOW_LEAST * 4 / sizeof(*buffer), used = 0;
	int rc = buffer ? 0 : -ENOMEM;

	run->at = s->file_bytes;
	for (size_t i = 0; !rc && i < s->unit_count; i++) {
		const struct gt_slot *unit = &s->slots[s->units[i].at];
		size_t n = HEAD + count_of(unit);

		if (used + n > room) {
			rc = write_all(s->fd, buffer, used * sizeof(*buffer), s->file_bytes);
			s->file_bytes += used * sizeof(*buffer);
			used = 0;
		}
		memcpy(buffer + used, unit, n * sizeof(*unit));
		used += n;
	}
	if (!rc)
		rc = write_all(s->fd, buffer, used * sizeof(*buffer), s->file_bytes);
	s->file_bytes += used * sizeof(*buffer);
	run->end = s->file_bytes;
	free(buffer);
	return rc;
}

static int end_run(struct gt_sorter *s)
{
	int rc = 0;

	qsort(s->units, s->unit_count, sizeof(*s->units), by_time);
	if (s->fd < 0)
		rc = (s->fd = gt_sorter_file(s->dirfd)) < 0 ? s->fd : 0;
	if (!rc && !gt_array_has_room(s->runs, s->run_count, &s->run_room))
		rc = -ENOMEM;
	if (rc)
		return rc;
	memset(&s->runs[s->run_count], 0, sizeof(*s->runs));
	rc = write_run(s, &s->runs[s->run_count]);
	s->run_count++;
	s->used = 0;
	s->unit_count = 0;
	return rc;
}

int gt_sorter_add(struct gt_sorter *s, uint64_t time, uint64_t tie, const struct gt_slot *slots,
		  unsigned count)
{
	if (!count || (HEAD + count) * sizeof(*slots) > WINDOW_LEAST)
		return -E2BIG;
	if (s->used + HEAD + count > s->room) {
		int rc = end_run(s);

		if (rc)
			return rc;
	}
	if (!gt_array_has_room(s->units, s->unit_count, &s->unit_room))
		return -ENOMEM;
	s->units[s->unit_count++] = (struct unit){ .time = time, .tie = tie, .at = s->used };
	s->slots[s->used] = (struct gt_slot){ .time = time, .word = tie };
	s->slots[s->used + 1] = (struct gt_slot){ .word = count };
	memcpy(&s->slots[s->used + HEAD], slots, count * sizeof(*slots));
	s->used += HEAD + count;
	return 0;
}

/* ---- merging -------------------------------------------------------------------------------------- */

/* Makes sure that the run's next unit is whole in its window, unless the run is at its end. */
static int refill(struct gt_sorter *s, struct run *run)
{
	size_t have = run->to - run->from, bytes;
	ssize_t n;

	if (have >= HEAD && have >= HEAD + count_of(&run->window[run->from]))
		return 0;
	memmove(run->window, run->window + run->from, have * sizeof(*run->window));
	run->from = 0;
	run->to = have;
	bytes = (s->window_slots - have) * sizeof(*run->window);
	if (bytes > run->end - run->at)
		bytes = run->end - run->at;
	n = gt_read_at(s->fd, run->window + run->to, bytes, run->at);
	if (n != (ssize_t)bytes)
		return n < 0 ? (int)n : -EIO;
	run->at += bytes;
	run->to += bytes / sizeof(*run->window);
	return 0;
}

static bool before(const struct gt_sorter *s, size_t a, size_t b)
{
	const struct gt_slot *x = &s->runs[a].window[s->runs[a].from];
	const struct gt_slot *y = &s->runs[b].window[s->runs[b].from];

	if (x->time != y->time)
		return x->time < y->time;
	if (x->word != y->word)
		return x->word < y->word;
	return a < b; /* an earlier run was written earlier */
}

static void sink(struct gt_sorter *s, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, swap;

		if (left < s->heap_count && before(s, s->heap[left], s->heap[least]))
			least = left;
		if (left + 1 < s->heap_count && before(s, s->heap[left + 1], s->heap[least]))
			least = left + 1;
		if (least == i)
			return;
		swap = s->heap[i];
		s->heap[i] = s->heap[least];
		s->heap[least] = swap;
		i = least;
	}
}

int gt_sorter_finish(struct gt_sorter *s)
{
	int rc = 0;

	if (!s->run_count) {
		if (s->unit_count)
			qsort(s->units, s->unit_count, sizeof(*s->units), by_time);
		return 0;
	}
	if (s->unit_count)
		rc = end_run(s);
	free(s->slots);
	free(s->units);
	s->slots = NULL;
	s->units = NULL;
	s->heap = malloc(s->run_count * sizeof(*s->heap));
	if (!s->heap)
		rc = rc ? rc : -ENOMEM;
	s->window_slots = WINDOW_ALL / s->run_count / sizeof(struct gt_slot);
	if (s->window_slots * sizeof(struct gt_slot) < WINDOW_LEAST)
		s->window_slots = WINDOW_LEAST / sizeof(struct gt_slot);
	for (size_t i = 0; !rc && i < s->run_count; i++) {
		s->runs[i].window = malloc(s->window_slots * sizeof(struct gt_slot));
		rc = s->runs[i].window ? refill(s, &s->runs[i]) : -ENOMEM;
		if (!rc)
			s->heap[s->heap_count++] = i;
	}
	for (size_t i = s->heap_count; i-- > 0;)
		sink(s, i);
	return rc;
}

/* The head of the unit that comes next, or NULL at the end. */
static const struct gt_slot *peek(const struct gt_sorter *s)
{
	if (!s->run_count)
		return s->next_unit < s->unit_count ? &s->slots[s->units[s->next_unit].at] : NULL;
	return s->heap_count ? s->runs[s->heap[0]].window + s->runs[s->heap[0]].from : NULL;
}

static int consume(struct gt_sorter *s, size_t count)
{
	struct run *run;
	int rc;

	if (!s->run_count) {
		s->next_unit++;
		return 0;
	}
	run = &s->runs[s->heap[0]];
	run->from += HEAD + count;
	rc = refill(s, run);
	if (rc)
		return rc;
	if (run->from == run->to)
		s->heap[0] = s->heap[--s->heap_count];
	sink(s, 0);
	return 0;
}

static long take(struct gt_sorter *s, struct gt_slot *slots, size_t room, size_t most)
{
	const struct gt_slot *unit;
	size_t used = 0;

	while (most-- && (unit = peek(s))) {
		size_t count = count_of(unit);
		int rc;

		if (used + count > room)
			return used ? (long)used : -E2BIG;
		memcpy(slots + used, unit + HEAD, count * sizeof(*unit));
		used += count;
		rc = consume(s, count);
		if (rc)
			return rc;
	}
	return (long)used;
}

long gt_sorter_next(struct gt_sorter *s, struct gt_slot *slots, size_t room)
{
	return take(s, slots, room, SIZE_MAX);
}

long gt_sorter_unit(struct gt_sorter *s, struct gt_slot *slots, size_t room)
{
	return take(s, slots, room, 1);
}

bool gt_sorter_time(const struct gt_sorter *s, uint64_t *time)
{
	const struct gt_slot *unit = peek(s);

	if (unit)
		*time = unit->time;
	return unit;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files in which ranks hand over what they have read: DIR/<rank>.part, read while it grows. Its time of
 * change shows that its rank lives; DIR/<rank>.failed says that it does not.
 *
 * Limits: see spread.h.
 */
#include "config.h"

#include "report/model/spread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"

enum { ROOM = 1 << 16, POLL_NS = 5000000, BEAT_S = 5 };

struct gt_carry {
	const struct gt_spread *spread;
	uint32_t rank;        /* whose file it is */
	int fd;               /* -1: not open yet */
	size_t at, used;
	struct timespec seen; /* its time of change, */
	time_t since;         /* and since when we know that */
	char bytes[ROOM];
};

static _Noreturn void give_up(const struct gt_spread *spread, uint32_t rank, const char *why)
{
	fprintf(stderr, "%s: rank %u of %u: %s\n", spread->name, rank, spread->size, why);
	exit(2);
}

static const char *path_of(const struct gt_spread *spread, uint32_t rank, const char *suffix, char path[4096])
{
	snprintf(path, 4096, "%s/%u.%s", spread->dir, rank, suffix);
	return path;
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* ---- life ----------------------------------------------------------------------------------------- */

static void *beat(void *argument)
{
	const struct gt_carry *carry = argument;

	for (;;) {
		futimens(carry->fd, NULL);
		sleep(BEAT_S);
	}
	return NULL;
}

/* A rank that has no file yet, or whose file does not grow. */
static void wait_for(struct gt_carry *carry)
{
	const struct gt_spread *spread = carry->spread;
	struct timespec pause = { .tv_nsec = POLL_NS };
	struct stat st = { .st_size = 0 };
	char path[4096];

	if (!access(path_of(spread, carry->rank, "failed", path), F_OK))
		give_up(spread, carry->rank, "it has failed");
	if (carry->fd < 0)
		carry->fd = open(path_of(spread, carry->rank, "part", path), O_RDONLY | O_CLOEXEC);
	if (carry->fd >= 0 && !fstat(carry->fd, &st) &&
	    memcmp(&st.st_mtim, &carry->seen, sizeof(carry->seen)) != 0) {
		carry->seen = st.st_mtim;
		carry->since = seconds();
	}
	if (seconds() - carry->since > GT_SPREAD_PATIENCE)
		give_up(spread, carry->rank, carry->fd < 0 ? "it has not come" : "it has gone");
	nanosleep(&pause, NULL);
}

/* ---- opening -------------------------------------------------------------------------------------- */

void gt_spread_open(struct gt_spread *spread)
{
	uint32_t count = spread->rank ? 1 : spread->size;
	struct gt_carry *carry;
	pthread_t thread;
	char path[4096];

	spread->carries = calloc(count, sizeof(*spread->carries));
	if (!spread->carries || (mkdir(spread->dir, 0700) && errno != EEXIST))
		give_up(spread, spread->rank, strerror(errno));
	for (uint32_t i = 0; i < count; i++) {
		spread->carries[i].spread = spread;
		spread->carries[i].rank = spread->rank ? spread->rank : i;
		spread->carries[i].fd = -1;
		spread->carries[i].since = seconds();
	}
	if (!spread->rank)
		return;
	carry = spread->carries;
	carry->fd = open(path_of(spread, spread->rank, "part", path),
			 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (carry->fd < 0)
		give_up(spread, spread->rank, strerror(errno));
	if (!pthread_create(&thread, NULL, beat, carry))
		pthread_detach(thread);
}

static void remove_files(const struct gt_spread *spread)
{
	char path[4096];

	for (uint32_t i = 1; i < spread->size; i++) {
		unlink(path_of(spread, i, "part", path));
		unlink(path_of(spread, i, "failed", path));
	}
	rmdir(spread->dir);
}

void gt_spread_fail(const struct gt_spread *spread)
{
	char path[4096];
	int fd;

	if (!spread->rank) {
		remove_files(spread);
		return;
	}
	mkdir(spread->dir, 0700);
	fd = open(path_of(spread, spread->rank, "failed", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

static void write_out(struct gt_carry *carry)
{
	for (size_t at = 0; at < carry->used;) {
		ssize_t n = write(carry->fd, carry->bytes + at, carry->used - at);

		if (n <= 0)
			give_up(carry->spread, carry->rank, strerror(errno));
		at += (size_t)n;
	}
	carry->used = 0;
}

void gt_spread_close(struct gt_spread *spread)
{
	if (spread->rank)
		write_out(spread->carries);
	else
		remove_files(spread);
}

/* ---- carrying ------------------------------------------------------------------------------------- */

struct gt_carry *gt_spread_carry(const struct gt_spread *spread, size_t location)
{
	return spread->rank ? spread->carries : &spread->carries[location % spread->size];
}

bool gt_carry_loads(const struct gt_carry *carry)
{
	return !carry->spread->rank;
}

static void load_more(struct gt_carry *carry)
{
	ssize_t n;

	while (carry->fd < 0 || (n = read(carry->fd, carry->bytes, ROOM)) == 0)
		wait_for(carry);
	if (n < 0)
		give_up(carry->spread, carry->rank, strerror(errno));
	carry->at = 0;
	carry->used = (size_t)n;
}

static size_t some(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void load(struct gt_carry *carry, char *to, size_t size)
{
	while (size) {
		size_t n = some(size, carry->used - carry->at);

		memcpy(to, carry->bytes + carry->at, n);
		carry->at += n;
		to += n;
		size -= n;
		if (size)
			load_more(carry);
	}
}

static void save(struct gt_carry *carry, const char *from, size_t size)
{
	while (size) {
		size_t n = some(size, ROOM - carry->used);

		memcpy(carry->bytes + carry->used, from, n);
		carry->used += n;
		from += n;
		size -= n;
		if (carry->used == ROOM)
			write_out(carry);
	}
}

void gt_carry_bytes(struct gt_carry *carry, void *data, size_t size)
{
	if (gt_carry_loads(carry))
		load(carry, data, size);
	else
		save(carry, data, size);
}

void *gt_carry_array(struct gt_carry *carry, void *items, size_t count, size_t size)
{
	if (gt_carry_loads(carry))
		items = count ? gt_resized(NULL, count, size) : NULL;
	if (count)
		gt_carry_bytes(carry, items, count * size);
	return items;
}

void gt_carry_sums(struct gt_carry *carry, struct gt_sums *sums)
{
	gt_carry_bytes(carry, &sums->count, sizeof(sums->count));
	sums->items = gt_carry_array(carry, sums->items, sums->count, sizeof(*sums->items));
	if (gt_carry_loads(carry))
		sums->room = sums->count; /* to be merged and freed, not to be looked up */
}

void gt_carry_spans(struct gt_carry *carry, struct gt_spans *spans)
{
	unsigned char *bytes = spans->bytes;

	gt_carry_bytes(carry, spans, sizeof(*spans));
	spans->bytes = gt_carry_array(carry, bytes, spans->used, 1);
}

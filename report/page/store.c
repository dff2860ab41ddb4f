/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of tiles.
 *
 * Limits: see store.h.
 */
#include "config.h"

#include "report/page/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"

enum { MUCH = 1 << 20, FORMAT = 6 };

struct head {
	char magic[8];
	uint32_t version, tile_size;
	char producer[32];
	struct gt_archive_id id;
	uint64_t directory, count, size;
};

static const char magic[8] = "GTTILES";

/* ---- writing ------------------------------------------------------------------------------------- */

void gt_store_begin(struct gt_store *store, int fd)
{
	const struct head empty = { .version = 0 };

	*store = (struct gt_store){ .fd = fd, .lock = PTHREAD_MUTEX_INITIALIZER, .size = sizeof(empty) };
	gt_bytes_add(&store->ahead, &empty, sizeof(empty));
}

static void write_ahead(struct gt_store *store)
{
	for (size_t done = 0; done < store->ahead.count && !store->error;) {
		ssize_t n = write(store->fd, store->ahead.data + done, store->ahead.count - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			store->error = n ? errno : ENOSPC;
	}
	store->ahead.count = 0;
}

static void add_tile(struct gt_store *store, const struct gt_tile *tile)
{
	if (store->count == store->room) {
		store->room = store->room ? 2 * store->room : 1024;
		store->tiles = gt_resized(store->tiles, store->room, sizeof(*store->tiles));
	}
	store->tiles[store->count++] = *tile;
}

void gt_store_add(struct gt_store *store, enum gt_tile_kind kind, uint32_t row, unsigned level, uint64_t tile,
		  const struct gt_bytes *bytes)
{
	pthread_mutex_lock(&store->lock);
	add_tile(store, &(struct gt_tile){ .tile = tile, .offset = store->size, .kind = kind, .row = row,
					   .level = level, .length = (uint32_t)bytes->count });
	gt_bytes_add(&store->ahead, bytes->data, bytes->count);
	store->size += bytes->count;
	if (store->ahead.count >= MUCH)
		write_ahead(store);
	pthread_mutex_unlock(&store->lock);
}

static int compare(const void *va, const void *vb)
{
	const struct gt_tile *a = va, *b = vb;

#define BY(field)                                                                                  \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1
	BY(level);
	BY(kind);
	BY(row);
	BY(tile);
#undef BY
	return 0;
}

int gt_store_finish(struct gt_store *store, const struct gt_archive_id *id)
{
	static const unsigned char zero[8];
	struct head head = { .version = FORMAT, .tile_size = sizeof(struct gt_tile),
			     .producer = PACKAGE_VERSION, .id = *id, .count = store->count };

	gt_bytes_add(&store->ahead, zero, -store->size & 7);
	store->size += -store->size & 7;
	head.directory = store->size;
	head.size = store->size + store->count * sizeof(struct gt_tile);
	memcpy(head.magic, magic, sizeof(magic));
	if (store->count)
		qsort(store->tiles, store->count, sizeof(*store->tiles), compare);
	gt_bytes_add(&store->ahead, store->tiles, store->count * sizeof(*store->tiles));
	write_ahead(store);
	if (!store->error && pwrite(store->fd, &head, sizeof(head), 0) != sizeof(head))
		store->error = errno;
	free(store->tiles);
	free(store->ahead.data);
	pthread_mutex_destroy(&store->lock);
	return -store->error;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Whoever can write the file could make it any: what is out of its bounds is found here. */
static bool is_sound(const struct gt_store *store, const struct head *head, const struct gt_archive_id *id)
{
	if (memcmp(head->magic, magic, sizeof(magic)) || head->version != FORMAT ||
	    head->tile_size != sizeof(struct gt_tile) || head->size != store->map_size ||
	    strncmp(head->producer, PACKAGE_VERSION, sizeof(head->producer)) ||
	    (id && memcmp(id, &head->id, sizeof(*id))))
		return false;
	if (head->directory > head->size || head->directory % 8 ||
	    head->count != (head->size - head->directory) / sizeof(struct gt_tile))
		return false;
	for (size_t i = 0; i < head->count; i++) {
		const struct gt_tile *tile = (const struct gt_tile *)(store->map + head->directory) + i;

		if (tile->offset > head->directory || tile->length > head->directory - tile->offset ||
		    (i && compare(tile - 1, tile) > 0))
			return false;
	}
	return true;
}

bool gt_store_open(struct gt_store *store, int fd, const struct gt_archive_id *id)
{
	const struct head *head;
	struct stat st;

	*store = (struct gt_store){ .fd = fd };
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(*head))
		return false;
	store->map_size = (size_t)st.st_size;
	store->map = mmap(NULL, store->map_size, PROT_READ, MAP_SHARED, fd, 0);
	if (store->map == MAP_FAILED)
		return false;
	head = (const struct head *)store->map;
	if (!is_sound(store, head, id)) {
		gt_store_close(store);
		return false;
	}
	store->tiles = (struct gt_tile *)(store->map + head->directory);
	store->count = head->count;
	return true;
}

void gt_store_close(struct gt_store *store)
{
	munmap(store->map, store->map_size);
	store->map = NULL;
	store->count = 0;
}

size_t gt_store_find(const struct gt_store *store, unsigned level, enum gt_tile_kind kind, uint32_t row,
		     uint64_t tile)
{
	const struct gt_tile wanted = { .level = level, .kind = kind, .row = row, .tile = tile };
	size_t from = 0, to = store->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (compare(&store->tiles[middle], &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* ---- which archive ------------------------------------------------------------------------------- */

static void mix(struct gt_archive_id *id, const char *name, const struct stat *st)
{
	uint64_t time = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	hash = (hash ^ (uint64_t)st->st_size) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ time) * UINT64_C(0x9e3779b97f4a7c15);
	id->hash += hash ^ hash >> 29; /* in any order */
	id->files++;
	id->bytes += (uint64_t)st->st_size;
	id->newest = time > id->newest ? time : id->newest;
}

/* The files of the archive: anchor.*, and those in the folder `anchor`. */
static bool mix_folder(struct gt_archive_id *id, const char *path, const char *stem)
{
	size_t length = strlen(stem);
	DIR *dir = opendir(path);
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, stem, length) && !strstr(e->d_name, ".index") &&
		    !fstatat(dirfd(dir), e->d_name, &st, 0) && S_ISREG(st.st_mode))
			mix(id, e->d_name, &st);
	if (dir)
		closedir(dir);
	return dir;
}

bool gt_archive_identify(const char *anchor, struct gt_archive_id *id)
{
	const char *slash = strrchr(anchor, '/'), *name = slash ? slash + 1 : anchor;
	int stem = (int)(strrchr(name, '.') ? strrchr(name, '.') - name : (ptrdiff_t)strlen(name));
	char path[4096], first[256];

	*id = (struct gt_archive_id){ .files = 0 };
	snprintf(first, sizeof(first), "%.*s.", stem, name);
	snprintf(path, sizeof(path), "%.*s", slash ? (int)(slash - anchor) : 1, slash ? anchor : ".");
	if (!mix_folder(id, *path ? path : "/", first))
		return false;
	snprintf(path, sizeof(path), "%.*s%.*s", (int)(name - anchor), anchor, stem, name);
	mix_folder(id, path, "");
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of tiles: what a picture is made of, by kind, row, level and place. It is written once, tiles in any
 * order by several threads, and then mapped: its directory is sorted, so that a range of it is found at once.
 *
 *	head        magic, version, which archive it was made of, where the directory is
 *	tiles       bytes
 *	directory   struct gt_tile, sorted by level, kind, row, tile
 *
 * Limits: made and read on machines of one byte order and one version of gputrace; others make it anew.
 */
#ifndef GT_REPORT_PAGE_STORE_H
#define GT_REPORT_PAGE_STORE_H

#include <pthread.h>
#include <stdbool.h>

#include "report/page/bytes.h"

enum gt_tile_kind {
	GT_TILE_CALLS,
	GT_TILE_WAITS,
	GT_TILE_PATH,
	GT_TILE_TRACK,
	GT_TILE_LINKS,
	GT_TILE_TREE,
	GT_TILE_SAMPLES,
	GT_TILE_SEEN,   /* kinds before this one are for the page */
	GT_TILE_PLACE = GT_TILE_SEEN, /* where reading can begin; tile: the time */
	GT_TILE_TEXT,   /* rows: enum gt_text_row */
};

enum gt_text_row {
	GT_TEXT_META,   /* what the page must know, JSON without braces */
	GT_TEXT_REPORT, /* the report's JSON */
	GT_TEXT_TITLE,  /* the archive's name, HTML */
	GT_TEXT_FLOW,   /* gt_flow_page() */
	GT_TEXT_ROWS,   /* numbers of rows, of regions, span_log2, levels with sums of each row */
	GT_TEXT_DAMAGE, /* numbers of locations that are damaged, and of all */
};

struct gt_tile {
	uint64_t tile, offset;
	uint32_t length, row;
	uint32_t level, kind;
};

/* An archive as it was when the tiles were made. */
struct gt_archive_id {
	uint64_t files, bytes, newest, hash;
};

struct gt_store {
	/* writing */
	int fd;
	int error;              /* errno of the first write that failed */
	pthread_mutex_t lock;
	struct gt_bytes ahead;  /* not yet written */
	uint64_t size;
	struct gt_tile *tiles;  /* reading: in the map */
	size_t count, room;
	/* reading */
	unsigned char *map;
	size_t map_size;
};

/* Begins to write into an empty file. The descriptor stays the caller's. */
void gt_store_begin(struct gt_store *store, int fd);
void gt_store_add(struct gt_store *store, enum gt_tile_kind kind, uint32_t row, unsigned level, uint64_t tile,
		  const struct gt_bytes *bytes);
/* 0 or a negative errno. */
int gt_store_finish(struct gt_store *store, const struct gt_archive_id *id);

/* Maps what is in the file. False: it is none, of another version, or (id not NULL) of another archive. */
bool gt_store_open(struct gt_store *store, int fd, const struct gt_archive_id *id);
void gt_store_close(struct gt_store *store);
/* The place in the directory of the first tile that is not before this one. */
size_t gt_store_find(const struct gt_store *store, unsigned level, enum gt_tile_kind kind, uint32_t row,
		     uint64_t tile);

static inline const unsigned char *gt_store_data(const struct gt_store *store, const struct gt_tile *tile)
{
	return store->map + tile->offset;
}

/* The same files, of the same size and age. Of the anchor file's folder; false: it cannot be read. */
bool gt_archive_identify(const char *anchor, struct gt_archive_id *id);

#endif

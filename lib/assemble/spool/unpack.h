/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a packed spool file (GT_LOC_PACKED, lib/common/pack.h) as if it held bare slots.
 *
 * Limits: forward only; one reader; memory of one block. Blocks that are damaged or missing end what
 * can be read.
 */
#ifndef GT_ASSEMBLE_SPOOL_UNPACK_H
#define GT_ASSEMBLE_SPOOL_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a packed spool file: its last ones may be in the stage, in the window file (lib/format.h). */
struct gt_packed {
	int raw, win;         /* files; -1: nothing is in it */
	uint64_t size;        /* in all, as far as they are valid */
	uint64_t written;     /* bytes below are in `raw` */
	uint64_t stage;       /* where it begins in `win` */
	uint64_t stage_bytes;
};

struct gt_win_header;
struct gt_packed gt_packed_of(const struct gt_win_header *win, int raw_fd, int win_fd);

struct gt_unpacker {
	struct gt_packed from;
	uint64_t place;      /* where the next block begins */
	uint64_t begin, end; /* stream offsets of the block in `slots` */
	uint64_t low;        /* of the block that was read last: see struct gt_pack_header */
	char *slots, *bytes; /* allocated at the first block */
	uint64_t *table;
};

void gt_unpacker_open(struct gt_unpacker *unpacker, const struct gt_packed *from);
void gt_unpacker_close(struct gt_unpacker *unpacker);

/*
 * Copies the slots of [pos, pos + bytes) of the stream to `to`. `pos` never goes back. Returns 0;
 * -ENODATA if the file has no block there; another negative errno.
 */
int gt_unpacker_read(struct gt_unpacker *unpacker, uint64_t pos, void *to, size_t bytes);

/*
 * The stream offset up to which the blocks follow each other without a fault, looking at their headers
 * only, and at most up to `limit`. Returns 0 or a negative errno.
 */
int gt_unpack_extent(const struct gt_packed *from, uint64_t limit, uint64_t *extent);

#endif

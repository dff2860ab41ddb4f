/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading packed spool files; see unpack.h.
 * Limits: see unpack.h.
 */
#include "config.h"

#include "lib/assemble/spool/unpack.h"

#include "lib/assemble/util/io.h"
#include "lib/common/pack.h"
#include "lib/format.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct gt_packed gt_packed_of(const struct gt_win_header *win, int raw_fd, int win_fd)
{
	return (struct gt_packed){
		.raw = raw_fd,
		.win = win_fd,
		.size = win->packed_bytes,
		.written = win->stage_bytes ? win->written : UINT64_MAX,
		.stage = win->header_bytes + 2 * (uint64_t)win->half_bytes,
		.stage_bytes = win->stage_bytes,
	};
}

static int read_all(const struct gt_packed *from, char *data, size_t bytes, uint64_t place)
{
	while (bytes) {
		bool staged = place >= from->written;
		uint64_t at = staged ? place & (from->stage_bytes - 1) : place;
		uint64_t there = staged ? from->stage_bytes - at : from->written - at;
		size_t size = bytes < there ? bytes : (size_t)there;
		ssize_t n = gt_read_at(staged ? from->win : from->raw, data, size,
				       staged ? from->stage + at : at);

		if (n < 0)
			return (int)n;
		if ((size_t)n < size)
			return -ENODATA;
		data += size;
		bytes -= size;
		place += size;
	}
	return 0;
}

/* The header at `place`, if it can be right and its block ends within what is there. */
static int read_header(const struct gt_packed *from, uint64_t place, struct gt_pack_header *header)
{
	uint64_t size = from->size;
	int rc;

	if (size < sizeof(*header) || place > size - sizeof(*header))
		return -ENODATA;
	rc = read_all(from, (char *)header, sizeof(*header), place);
	if (rc)
		return rc;
	if (header->magic != GT_MAGIC_PACK || !header->slots ||
	    header->slots > GT_PACK_UNIT / 16 || header->bytes > 16 * (uint64_t)header->slots ||
	    header->offset > UINT64_C(1) << 56 || header->offset % 16 ||
	    header->bytes > size - place - sizeof(*header))
		return -ENODATA;
	return 0;
}

void gt_unpacker_open(struct gt_unpacker *unpacker, const struct gt_packed *from)
{
	*unpacker = (struct gt_unpacker){ .from = *from };
}

void gt_unpacker_close(struct gt_unpacker *unpacker)
{
	free(unpacker->slots);
	free(unpacker->bytes);
	free(unpacker->table);
	unpacker->slots = unpacker->bytes = NULL;
	unpacker->table = NULL;
}

static int prepare(struct gt_unpacker *u)
{
	if (u->table)
		return 0;
	u->slots = malloc(GT_PACK_UNIT);
	u->bytes = malloc(GT_PACK_UNIT);
	u->table = malloc(GT_PACK_WORDS * sizeof(*u->table));
	return u->slots && u->bytes && u->table ? 0 : -ENOMEM;
}

/* Unpacks the next block into `to`, which has room for it; skips blocks that end before `pos`. */
static int next_block(struct gt_unpacker *u, uint64_t pos, void *to, size_t room, bool *direct)
{
	struct gt_pack_header header;
	uint64_t end;
	int rc;

	for (;;) {
		rc = read_header(&u->from, u->place, &header);
		if (rc)
			return rc;
		end = header.offset + 16 * (uint64_t)header.slots;
		if (end > pos)
			break;
		u->place += sizeof(header) + header.bytes;
	}
	if (header.offset > pos)
		return -ENODATA;
	rc = read_all(&u->from, u->bytes, header.bytes, u->place + sizeof(header));
	if (rc)
		return rc;
	*direct = header.offset == pos && 16 * (size_t)header.slots <= room;
	if (gt_unpack(&header, u->bytes, *direct ? to : u->slots, u->table))
		return -ENODATA;
	u->low = header.low;
	u->place += sizeof(header) + header.bytes;
	u->begin = *direct ? end : header.offset;
	u->end = end;
	return 0;
}

int gt_unpacker_read(struct gt_unpacker *unpacker, uint64_t pos, void *to, size_t bytes)
{
	char *at = to;
	int rc = prepare(unpacker);

	while (!rc && bytes) {
		size_t n;
		bool direct = false;

		if (pos >= unpacker->end || pos < unpacker->begin) {
			rc = next_block(unpacker, pos, at, bytes, &direct);
			if (rc)
				break;
		}
		n = unpacker->end - pos < bytes ? (size_t)(unpacker->end - pos) : bytes;
		if (!direct)
			memcpy(at, unpacker->slots + (pos - unpacker->begin), n);
		at += n;
		pos += n;
		bytes -= n;
	}
	return rc;
}

int gt_unpack_extent(const struct gt_packed *from, uint64_t limit, uint64_t *extent)
{
	struct gt_pack_header header;
	uint64_t place = 0, end = 0;
	int rc = 0;

	while (end < limit) {
		rc = read_header(from, place, &header);
		if (rc || header.offset != end)
			break;
		end += 16 * (uint64_t)header.slots;
		place += sizeof(header) + header.bytes;
	}
	*extent = end < limit ? end : limit;
	return rc == -ENODATA ? 0 : rc;
}

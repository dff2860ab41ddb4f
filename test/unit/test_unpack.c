/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/assemble/spool/unpack.c: packed blocks of which the last bytes are in the stage of the
 * window file.
 *
 * Limits: what blocks hold is test_pack.c's.
 */
#include "lib/assemble/spool/unpack.h"
#include "lib/common/pack.h"
#include "lib/format.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 40, SLOTS = 500, HALF = 4096, STAGE = 8192 };

static uint64_t slots[BLOCKS * SLOTS * 2], back[BLOCKS * SLOTS * 2];
static char file[GT_PACK_ROOM(BLOCKS * SLOTS * 16) + BLOCKS * 64];

/* Slots of some blocks, packed one behind the other: how many bytes these are. */
static uint64_t make_file(unsigned blocks)
{
	static uint64_t table[GT_PACK_WORDS];
	uint64_t bytes = 0, time = 1000;

	srand(blocks);
	for (uint32_t i = 0; i < blocks * SLOTS; i++) {
		slots[2 * i] = time += (uint64_t)rand() % 4000;
		slots[2 * i + 1] = GT_WORD(GT_T_ENTER, (unsigned)rand() % 700);
	}
	for (unsigned i = 0; i < blocks; i++)
		bytes += gt_pack(slots + 2 * (size_t)i * SLOTS, SLOTS, 16 * (uint64_t)i * SLOTS, file + bytes,
				 table);
	return bytes;
}

static int temporary(void)
{
	char name[] = "/tmp/unpack.XXXXXX";
	int fd = mkstemp(name);

	cr_assert(fd >= 0 && !unlink(name));
	return fd;
}

/* As a process leaves it that has written the first bytes; what is behind them in the file is rubbish. */
static struct gt_packed leave(uint64_t bytes, uint64_t written, int raw, int win)
{
	const struct gt_win_header header = { .header_bytes = GT_PAGE, .half_bytes = HALF,
					      .packed_bytes = bytes, .written = written,
					      .stage_bytes = STAGE };
	static const char rubbish[STAGE] = "rubbish";

	cr_assert_eq(pwrite(raw, file, written, 0), (ssize_t)written);
	cr_assert_eq(pwrite(raw, rubbish, STAGE, (off_t)written), STAGE);
	for (uint64_t at = written; at < bytes; at++)
		cr_assert_eq(pwrite(win, file + at, 1, (off_t)(GT_PAGE + 2 * HALF + at % STAGE)), 1);
	return gt_packed_of(&header, raw, win);
}

Test(unpack, blocks_come_back_from_file_and_stage)
{
	for (unsigned blocks = 1; blocks <= BLOCKS; blocks += 3) {
		uint64_t bytes = make_file(blocks), all = 16 * (uint64_t)blocks * SLOTS, extent;
		int raw = temporary(), win = temporary();
		struct gt_packed packed = leave(bytes, bytes / STAGE * STAGE, raw, win);
		struct gt_unpacker unpacker;

		cr_assert_eq(gt_unpack_extent(&packed, all, &extent), 0);
		cr_assert_eq(extent, all, "%u blocks", blocks);
		gt_unpacker_open(&unpacker, &packed);
		memset(back, 0, sizeof(back));
		for (uint64_t at = 0; at < all; at += 1600)
			cr_assert_eq(gt_unpacker_read(&unpacker, at, (char *)back + at, 1600), 0);
		cr_assert_eq(memcmp(slots, back, all), 0, "%u blocks", blocks);
		gt_unpacker_close(&unpacker);
		close(raw);
		close(win);
	}
}

/* A half was to be written, and only a part of it could be: the file has more than is valid. */
Test(unpack, more_may_be_written_than_is_valid)
{
	uint64_t bytes = make_file(BLOCKS), extent, valid = 0;
	int raw = temporary(), win = temporary();
	struct gt_packed packed = leave(bytes, bytes / STAGE * STAGE, raw, win);
	struct gt_pack_header header;

	memcpy(&header, file, sizeof(header));
	valid = sizeof(header) + header.bytes;
	packed.size = valid;
	cr_assert_eq(gt_unpack_extent(&packed, 16 * SLOTS * BLOCKS, &extent), 0);
	cr_assert_eq(extent, 16 * SLOTS);
	close(raw);
	close(win);
}

Test(unpack, without_a_stage_all_is_in_the_file)
{
	uint64_t bytes = make_file(5), extent;
	int raw = temporary();
	const struct gt_win_header header = { .header_bytes = GT_PAGE, .half_bytes = HALF,
					      .packed_bytes = bytes };
	struct gt_packed packed = gt_packed_of(&header, raw, -1);

	cr_assert_eq(pwrite(raw, file, bytes, 0), (ssize_t)bytes);
	cr_assert_eq(gt_unpack_extent(&packed, 16 * 5 * SLOTS, &extent), 0);
	cr_assert_eq(extent, 16 * 5 * SLOTS);
	close(raw);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the live view reads of a window with a late record, which lies where it was begun in an earlier turn.
 *
 * Limits: nobody writes meanwhile.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#include "live/windows.h"

enum { HALF = GT_PAGE, SLOTS = HALF / GT_SLOT };

static union {
	struct gt_win_header win;
	char bytes[GT_PAGE + 2 * HALF];
} file;
static struct gt_live_window window;

static void put(unsigned slot, uint64_t tick)
{
	struct gt_slot *slots = (struct gt_slot *)(file.bytes + GT_PAGE);

	slots[slot] = (struct gt_slot){ tick, GT_WORD(GT_T_ENTER, 1) };
}

/* Records in the first half, up to the slot; and a late one in that slot. */
static void begin(unsigned late)
{
	memset(&file, 0, sizeof(file));
	memset(&window, 0, sizeof(window));
	file.win = (struct gt_win_header){
		.half_bytes = HALF,
		.half_base = { 0, HALF },
		.half_tick = { 10, 10 },
		.kept_from = { late * GT_SLOT },
		.kept_to = { (late + 1) * GT_SLOT },
	};
	window.win = &file.win;
	for (unsigned i = 0; i <= late; i++)
		put(i, 20);
}

Test(windows, late_record_ends_a_half)
{
	begin(SLOTS - 1);
	put(SLOTS, 30);
	gt_live_window_look(&window, 100);
	cr_expect(eq(u64, window.events, SLOTS));
	cr_expect(eq(u64, window.last_tick, 30));
	cr_expect(eq(u64, window.at, (SLOTS + 1) * GT_SLOT));
}

/* The record was reserved, and lies before one that is there already. */
Test(windows, late_record_lies_ahead)
{
	begin(9);
	put(8, 0);
	gt_live_window_look(&window, 100);
	cr_expect(eq(u64, window.events, 8));
	put(8, 40);
	put(10, 50);
	gt_live_window_look(&window, 100);
	cr_expect(eq(u64, window.events, 10));
	cr_expect(eq(u64, window.last_tick, 50));
}

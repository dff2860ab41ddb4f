/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the pairing of user messages: sorting in place, and who belongs to whom.
 * Limits: the file itself is included, for its inner functions; reading streams is user.test's.
 */
#include <criterion/criterion.h>

#include "lib/assemble/pair/messages.c"

static uint64_t state = 1;

static uint32_t rnd(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void check_sort(struct gt_pair_message *list, size_t n, unsigned depth)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		list[i].order = (uint32_t)i;
		sum += list[i].ns * (i + 1);
	}
	sort(list, n, depth, by_pair);
	for (size_t i = 0; i < n; i++)
		sum -= list[i].ns * (list[i].order + 1);
	cr_expect_eq(sum, 0, "the same messages");
	for (size_t i = 1; i < n; i++)
		cr_assert_lt(by_pair(&list[i - 1], &list[i]), 0, "place %zu of %zu", i, n);
}

Test(sort, all_orders_and_depths)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 15, 16, 17, 100, 5000 };
	static const unsigned depths[] = { 0, 1, 3, 40 }; /* 0: heapsort at once */
	static struct gt_pair_message list[5000];

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		for (size_t d = 0; d < sizeof(depths) / sizeof(*depths); d++)
			for (unsigned order = 0; order < 5; order++) {
				for (size_t i = 0; i < sizes[s]; i++)
					list[i] = (struct gt_pair_message){
						.name = order == 3 ? rnd(2) : 0,
						.tag = order == 4 ? 0 : rnd(order == 2 ? 3 : 1000),
						.ns = order == 0   ? i
						      : order == 1 ? sizes[s] - i
								   : rnd(50),
					};
				check_sort(list, sizes[s], depths[d]);
			}
}

static struct gt_pair_message at(uint64_t ns, uint32_t location, bool send)
{
	return (struct gt_pair_message){ .ns = ns, .location = location, .send = send, .peer = GT_NO_PEER };
}

Test(pair, nth_with_nth)
{
	/* A receive may seem earlier than its send: the clocks of two hosts do not agree better. */
	struct gt_pair_message list[] = { at(1, 9, false), at(2, 5, true), at(3, 6, true), at(4, 8, false),
				  at(5, 7, true) };

	pair(list, 5);
	cr_expect_eq(list[0].peer, 5);
	cr_expect_eq(list[1].peer, 9);
	cr_expect_eq(list[2].peer, 8);
	cr_expect_eq(list[3].peer, 6);
	cr_expect_eq(list[4].peer, GT_NO_PEER);
}

Test(pair, nobody)
{
	struct gt_pair_message list[] = { at(1, 1, false), at(2, 2, false) };

	pair(list, 2);
	pair(list, 0);
	cr_expect_eq(list[0].peer, GT_NO_PEER);
	cr_expect_eq(list[1].peer, GT_NO_PEER);
}

/* Messages as they come from the streams, to the answers that the conversion gets. */
Test(pair, ranks_in_two_communicators)
{
	struct gt_layout layout = { .location_count = 10 };
	struct gt_messages m = { .fd = -1 };
	struct gt_pair_message list[] = {
		{ .tick = 10, .ns = 10, .name = 3, .tag = 7, .location = 8, .send = 1 },
		{ .tick = 20, .ns = 20, .name = 3, .tag = 7, .location = 2, .send = 0 },
		{ .tick = 10, .ns = 10, .name = 4, .tag = 7, .location = 2, .send = 1 },
		{ .tick = 15, .ns = 15, .name = 4, .tag = 7, .location = 5, .send = 0 },
		{ .tick = 16, .ns = 16, .name = 4, .tag = 9, .location = 5, .send = 0 },
	};
	struct gt_defs defs;
	struct gt_peer peer;

	for (size_t i = 0; i < 5; i++)
		list[i].peer = GT_NO_PEER;
	m.list = list;
	m.count = 5;
	cr_assert_eq(gt_defs_init(&defs), 0);
	cr_assert_eq(pair_all(&m, &layout, &defs), 0);
	cr_expect_eq(gt_table_count(&defs.comms), 2);
	peer = gt_messages_peer(&m, 8, 10, true, 7);
	cr_expect(peer.comm == 0 && peer.rank == 0, "%u %u", peer.comm, peer.rank);
	peer = gt_messages_peer(&m, 2, 20, false, 7);
	cr_expect(peer.comm == 0 && peer.rank == 1, "%u %u", peer.comm, peer.rank);
	peer = gt_messages_peer(&m, 2, 10, true, 7);
	cr_expect(peer.comm == 1 && peer.rank == 1, "%u %u", peer.comm, peer.rank);
	peer = gt_messages_peer(&m, 5, 15, false, 7);
	cr_expect(peer.comm == 1 && peer.rank == 0, "%u %u", peer.comm, peer.rank);
	cr_expect_eq(gt_messages_peer(&m, 5, 16, false, 9).rank, GT_NO_PEER);
	cr_expect_eq(gt_messages_peer(&m, 5, 15, true, 7).rank, GT_NO_PEER, "no such message");
	cr_expect_eq(gt_messages_peer(&m, 9, 99, true, 7).rank, GT_NO_PEER, "beyond the last");
	gt_defs_free(&defs);
}

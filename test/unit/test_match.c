/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report/match.h: the ends of one channel, one after the other: the n-th send has the n-th receive,
 * whichever comes first, and what is done leaves the memory. report/spill.h: what a log has in its file reads
 * as written.
 *
 * Limits: the order of ends is given here; test/export and test/page compare whole archives.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "report/match.h"
#include "report/spill.h"

enum { MOST = 400 };

struct seen {
	uint64_t from[MOST], to[MOST], alone[MOST];
	size_t pairs, singles;
};

static void on_pair(void *user, const struct gt_end *from, const struct gt_end *to)
{
	struct seen *seen = user;

	cr_assert_lt(seen->pairs, MOST);
	seen->from[seen->pairs] = from->event;
	seen->to[seen->pairs++] = to->event;
}

static void on_single(void *user, const struct gt_end *end)
{
	struct seen *seen = user;

	seen->alone[seen->singles++] = end->event;
}

static int by_number(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static void put(struct gt_channel *channel, enum gt_end_what what, bool retracted, uint64_t event,
		const struct gt_matched *to)
{
	const struct gt_end end = { .what = what, .event = event, .order = event, .retracted = retracted };

	gt_channel_end(channel, &end, to);
}

Test(match, messages)
{
	for (unsigned seed = 0; seed < 3000; seed++) {
		uint64_t sends[MOST], receives[MOST], alone[MOST];
		size_t send_count = 0, count = 0, singles = 0, n = (size_t)(seed % MOST);
		struct gt_channel channel = { .first = 0 };
		struct seen seen = { .pairs = 0 };
		const struct gt_matched to = { &seen, on_pair, on_single };

		srand(seed);
		for (uint64_t i = 0; i < n; i++) {
			bool send = rand() % 2, retracted = send && rand() % 10 == 0;

			put(&channel, send ? GT_END_SEND : GT_END_RECEIVE, retracted, i, &to);
			if (retracted)
				alone[singles++] = i;
			else if (send)
				sends[send_count++] = i;
			else
				receives[count++] = i;
		}
		gt_channel_close(&channel, &to);
		for (size_t i = 0; i < send_count || i < count; i++)
			if (i < send_count && i < count)
				cr_assert(seen.from[i] == sends[i] && seen.to[i] == receives[i], "seed %u",
					  seed);
			else
				alone[singles++] = i < count ? receives[i] : sends[i];
		cr_assert_eq(seen.pairs, send_count < count ? send_count : count);
		cr_assert_eq(seen.singles, singles);
		qsort(alone, singles, sizeof(*alone), by_number);
		qsort(seen.alone, seen.singles, sizeof(*alone), by_number);
		for (size_t i = 0; i < singles; i++)
			cr_assert_eq(seen.alone[i], alone[i], "seed %u", seed);
		free(channel.waiting.items);
	}
}

/* Of the call before it, or of the first one. */
Test(match, launches)
{
	static const struct {
		enum gt_end_what what;
		uint64_t call; /* of an activity */
	} ends[] = { { GT_END_ACTIVITY, 2 }, { GT_END_ACTIVITY, 2 }, { GT_END_CALL, 0 },
		     { GT_END_ACTIVITY, 2 }, { GT_END_CALL, 0 }, { GT_END_CALL, 0 }, { GT_END_ACTIVITY, 5 } };
	struct gt_channel channel = { .first = 0 };
	struct seen seen = { .pairs = 0 };
	const struct gt_matched to = { &seen, on_pair, on_single };
	size_t n = sizeof(ends) / sizeof(ends[0]);

	for (size_t i = 0; i < n; i++)
		put(&channel, ends[i].what, false, i, &to);
	cr_assert_eq(seen.pairs, 4);
	for (size_t i = 0; i < seen.pairs; i++)
		cr_assert_eq(seen.from[i], ends[seen.to[i]].call);
	gt_channel_close(&channel, &to);
	put(&channel, GT_END_ACTIVITY, false, n, &to); /* of another number: the calls are forgotten */
	gt_channel_close(&channel, &to);
	cr_assert(seen.pairs == 4 && seen.singles == 1 && seen.alone[0] == n);
	free(channel.waiting.items);
}

/* A ping-pong of a million messages, one or two under way. */
Test(match, memory)
{
	struct gt_channel channel = { .first = 0 };
	struct seen seen = { .pairs = 0 };
	const struct gt_matched to = { &seen, on_pair, on_single };

	for (uint64_t i = 0; i < 1000000; i++) {
		seen.pairs = 0;
		put(&channel, GT_END_SEND, false, i, &to);
		if (i)
			put(&channel, GT_END_RECEIVE, false, i, &to);
	}
	cr_assert_leq(channel.waiting.room, 64);
	gt_channel_close(&channel, &to);
	cr_assert_eq(seen.singles, 1);
	free(channel.waiting.items);
}

/* ---- logs ---------------------------------------------------------------------------------------- */

/* More than what stays in memory, 128 MiB, by a half. Returns the size of the file. */
static off_t log_beyond_memory(void)
{
	const uint64_t n = (uint64_t)24 << 20;
	struct gt_log log = { .size = sizeof(uint64_t) };
	struct gt_spill spill;
	struct stat st;

	gt_spill_open(&spill);
	cr_assert_geq(spill.file, 0);
	for (uint64_t i = 0; i < n; i++)
		*(uint64_t *)gt_log_add(&spill, &log) = i * 3;
	gt_log_end(&spill, &log);
	gt_spill_drop(&spill);
	for (uint64_t i = 0; i < n; i++)
		cr_assert_eq(*(uint64_t *)gt_log_at(&log, i), i * 3, "element %lu", (unsigned long)i);
	cr_assert_eq(fstat(spill.file, &st), 0);
	gt_log_free(&log);
	gt_spill_close(&spill);
	return (off_t)st.st_blocks * 512;
}

Test(match, log_goes_on_in_a_file)
{
	cr_assert_geq(log_beyond_memory(), (off_t)60 << 20);
}

/* The file cannot grow to its first chunk: all stays in memory. */
Test(match, log_without_room_in_the_file)
{
	const struct rlimit most = { (rlim_t)150 << 20, (rlim_t)150 << 20 };

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
	cr_assert_eq(log_beyond_memory(), 0);
}

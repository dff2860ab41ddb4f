/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report/part/match.h: the ends of one channel, one after the other: the n-th send has the n-th receive,
 * whichever comes first, and what is done leaves the memory. report/model/spill.h: what a log has in its file
 * reads as written. places.h: what is open is found as in a list that is searched.
 * report/sections/profile.h: calls for which a call tree has no room count for their callers.
 *
 * Limits: the order of ends is given here; test/export and test/page compare whole archives.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/assemble/util/places.h"
#include "report/part/match.h"
#include "report/sections/profile.h"
#include "report/model/spill.h"

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

static void put(struct gt_match_channel *channel, enum gt_end_what what, bool retracted, uint64_t event,
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
		struct gt_match_channel channel = { .first = 0 };
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
	struct gt_match_channel channel = { .first = 0 };
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
	struct gt_match_channel channel = { .first = 0 };
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

/* ---- places --------------------------------------------------------------------------------------- */

enum { OPEN = 3000, NUMBERS = 500 };

/* The newest of `open` that has this number. */
static size_t newest(const struct gt_end *open, size_t count, uint64_t number, unsigned kind)
{
	size_t found = GT_NO_PLACE;

	for (size_t i = 0; i < count; i++)
		if (open[i].order == number && open[i].what == kind &&
		    (found == GT_NO_PLACE || open[i].event > open[found].event))
			found = i;
	return found;
}

Test(places, as_a_list)
{
	static struct gt_end open[OPEN]; /* order: its number; event: its age */
	struct gt_places places = { .count = 0 };
	size_t count = 0;

	srandom(4711);
	for (uint64_t age = 0; age < 30000; age++) {
		enum gt_end_what kind = random() % 2 ? GT_END_SEND : GT_END_RECEIVE;
		uint64_t number = (uint64_t)random() % NUMBERS;
		size_t place;

		if (count < OPEN && random() % 100 < (age < 15000 ? 65 : 35)) {
			open[count++] = (struct gt_end){ .what = kind, .order = number, .event = age };
			gt_places_add(&places, kind, number);
			continue;
		}
		place = gt_places_take(&places, kind, number);
		cr_assert_eq(place, newest(open, count, number, kind), "step %lu", (unsigned long)age);
		if (place != GT_NO_PLACE)
			open[place] = open[--count];
		cr_assert_eq(places.count, count);
	}
	gt_places_free(&places);
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

/* ---- call trees that are too large ---------------------------------------------------------------- */

enum { REGIONS = 1100, CALLS = 1000, PER_CALL = 10 };

static void call(struct gt_profiling *p, struct gt_otf2_cursor *at, size_t region, bool enters)
{
	struct gt_otf2_frame *frame;

	if (enters) {
		at->stack[at->depth++] = (struct gt_otf2_frame){
			.region = gt_otf2_region_at(at->read, region), .begin = at->time,
		};
		gt_profile_enter(p, at);
		return;
	}
	frame = &at->stack[--at->depth];
	if (at->depth)
		frame[-1].inside += gt_otf2_inclusive(at, frame);
	gt_profile_leave(p, at, frame);
}

/* 0 calls 1, 2, 3 ... once each, and each of these 1, 2, 3 ... CALLS, each of which takes PER_CALL ns. */
static void wide(struct gt_report *report, struct gt_otf2_cursor *at, struct gt_profile *profile)
{
	struct gt_profiling p = { .begun = false };

	gt_profile_analysis.begin(report, at, &p);
	call(&p, at, 0, true);
	for (size_t i = 1; i < REGIONS; i++) {
		call(&p, at, i, true);
		for (size_t k = 1; k <= CALLS; k++) {
			call(&p, at, k, true);
			at->time += PER_CALL;
			call(&p, at, k, false);
		}
		call(&p, at, i, false);
	}
	call(&p, at, 0, false);
	gt_profile_analysis.end(report, at, &p);
	gt_profile_analysis.merge(report, at, &p, profile);
}

Test(profile, tree_without_room)
{
	static struct gt_otf2 read;
	static struct gt_otf2_region regions[REGIONS];
	static struct gt_location_class locations[1];
	static struct gt_process_class processes[1];
	static unsigned char classes[REGIONS + 1];
	static uint32_t same[REGIONS + 1];
	static struct gt_profile profile;
	static struct gt_report report = { .read = &read };
	struct gt_otf2_frame stack[4];
	struct gt_otf2_cursor at = { .read = &read, .stack = stack, .room = 4 };
	uint64_t calls = 0, exclusive = 0;

	read.tables[GT_OTF2_REGION] =
		(struct gt_otf2_table){ .items = regions, .count = REGIONS, .dense = true };
	read.tables[GT_OTF2_LOCATION].count = 1;
	report.classes.regions = classes;
	report.classes.locations = locations;
	report.classes.processes = processes;
	report.classes.process_count = 1;
	report.classes.same = same;
	for (uint32_t i = 0; i < REGIONS; i++) {
		regions[i] = (struct gt_otf2_region){ .id = i, .name = "", .file = "" };
		same[i] = i;
	}
	wide(&report, &at, &profile);
	cr_assert_eq(profile.tree.count, GT_PROFILE_NODES);
	for (uint32_t i = 1; i < profile.tree.count; i++) {
		const struct gt_profile_node *node = &profile.tree.nodes[i];

		calls += node->calls;
		exclusive += node->exclusive;
		cr_assert_eq(node->calls, 1, "node %u of region %u: %llu calls", i, node->region,
			     (unsigned long long)node->calls);
	}
	cr_expect_eq(calls, GT_PROFILE_NODES - 1);
	cr_expect_eq(exclusive, (uint64_t)(REGIONS - 1) * CALLS * PER_CALL);
	cr_expect_eq(profile.regions[1].calls, REGIONS);
	cr_expect_eq(profile.regions[1].exclusive, (uint64_t)(REGIONS - 1) * PER_CALL);
}

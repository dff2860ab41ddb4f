/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits, summed up by class, location and call path.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "gputrace/hash.h"
#include "lib/assemble/util/memory.h"
#include "report/model/conditions.h"
#include "report/model/sums.h"
#include "report/waits/sync.h"

#include <stdlib.h>

/* Waits of one class, of one call path of a location. */
struct row {
	uint64_t key; /* node << 8 | class */
	struct gt_call_path call; /* who made it, as far as it is known */
	uint64_t time, count, longest;
	uint64_t idle; /* of time: for work */
	uint32_t cause, blame; /* of the longest */
	uint64_t segment;      /* the longest */
};

struct rows {
	struct row *items; /* a hash table */
	uint32_t count, room;
};

static const struct gt_column class_columns[] = {
	{ "class", "wait", GT_WORD },
	{ "seconds", "time", GT_SECONDS },
	{ "share", "of run", GT_SHARE },
	{ "idle_s", "idle", GT_SECONDS },
	{ "count", "waits", GT_COUNT },
	{ "locations", "locations", GT_COUNT },
	{ "longest_s", "longest", GT_SECONDS },
	{ "longest_location", "of", GT_TEXT },
};
const struct gt_section_kind gt_wait_classes_kind =
	GT_SECTION("wait_classes", "Waits by class", GT_ROWS, class_columns, .ahead = "waits");

static const struct gt_column columns[] = {
	{ "class", "wait", GT_WORD },
	{ "seconds", "time", GT_SECONDS },
	{ "count", "waits", GT_COUNT },
	{ "longest_s", "longest", GT_SECONDS },
	{ "location", "location", GT_TEXT },
	{ "region", "in", GT_TEXT },
	{ "path", "call path", GT_TEXT },
	{ "cause_location", "longest for", GT_TEXT },
	{ "cause", "caused in", GT_TEXT },
	{ "idle_s", NULL, GT_SECONDS },
	{ "called_at", "called at", GT_TEXT },
};
const struct gt_section_kind gt_waits_kind =
	GT_SECTION("waits", "Waits", GT_ROWS, columns, .spare = "longest_s,count",
		   .below = "path+called_at+cause", .sinks = "cause_location");

/* Of all locations. */
struct sum {
	uint64_t time, idle, count, locations, longest;
	uint32_t longest_location;
	bool on_streams;
};

static struct row *find(struct rows *rows, uint64_t key, struct gt_call_path call)
{
	uint64_t hash = gt_hash_word(key ^ gt_hash_word(call.path));
	uint32_t i = (uint32_t)(hash >> 32) & (rows->room - 1);
	struct row *row = &rows->items[i];

	while (row->count &&
	       !(row->key == key && row->call.path == call.path && row->call.node == call.node)) {
		i = (i + 1) & (rows->room - 1);
		row = &rows->items[i];
	}
	return row;
}

static void grow(struct rows *rows)
{
	struct rows old = *rows;

	rows->room = old.room ? 2 * old.room : 64;
	rows->items = gt_zeroed(rows->room, sizeof(*rows->items));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.items[i].count)
			*find(rows, old.items[i].key, old.items[i].call) = old.items[i];
	free(old.items);
}

static void add(struct rows *rows, const struct gt_wait_segment *segment, uint64_t index, uint64_t time,
		bool idle, struct gt_call_path call)
{
	uint64_t key = (uint64_t)segment->node << 8 | segment->wait;
	struct row *row;

	if (2 * rows->count >= rows->room)
		grow(rows);
	row = find(rows, key, call);
	if (!row->count++) {
		rows->count++;
		row->key = key;
		row->call = call;
		row->cause = GT_NO_CAUSE;
	}
	row->time += time;
	row->idle += idle ? time : 0;
	if (time <= row->longest)
		return;
	row->longest = time;
	row->cause = segment->cause;
	row->blame = segment->blame;
	row->segment = index;
}

const char *gt_sync_region(const struct gt_sync *sync, uint32_t location, uint32_t node)
{
	if (!node)
		return sync->report->classes.locations[location].kind == GT_LOCATION_STREAM
		       ? "(GPU idle)" : "(no region)";
	return gt_report_region_name(sync->report, sync->profile->tree.nodes[node].region);
}

static void write_row(struct gt_sync *sync, struct gt_section *section, uint32_t location,
		      const struct row *from)
{
	uint32_t node = gt_profile_node_at(sync->profile, location, from->key >> 8);
	struct gt_call_path call = gt_sync_whole(sync, location, from->call);
	union gt_cell *row = gt_row_add(section);

	row[0].text = gt_wait_names[from->key & 0xff];
	row[1].count = from->time;
	row[2].count = from->count;
	row[3].count = from->longest;
	row[4].text = gt_report_location(sync->report, location);
	row[5].text = gt_sync_region(sync, location, node);
	row[6].text = gt_profile_call_path(sync->report, sync->profile, node, &call);
	if (from->cause != GT_NO_CAUSE)
		row[7].text = gt_report_location(sync->report, from->cause);
	if (from->idle)
		row[9].count = from->idle;
	row[10].text = gt_call_place(sync->report, &call);
	if (from->blame)
		row[8].text = gt_profile_path(sync->report, sync->profile, from->blame);
}

static void add_sums(const struct gt_sync *sync, struct sum *sums, uint32_t location, const struct rows *rows)
{
	bool stream = sync->report->classes.locations[location].kind == GT_LOCATION_STREAM;
	bool seen[GT_WAITS] = { false };

	for (uint32_t i = 0; i < rows->room; i++) {
		const struct row *row = &rows->items[i];
		struct sum *sum = &sums[row->key & 0xff];

		if (!row->count)
			continue;
		sum->time += row->time;
		sum->idle += row->idle;
		sum->count += row->count;
		sum->locations += !seen[row->key & 0xff];
		sum->on_streams = sum->on_streams || stream;
		seen[row->key & 0xff] = true;
		if (row->longest <= sum->longest)
			continue;
		sum->longest = row->longest;
		sum->longest_location = location;
	}
}

static struct rows rows_of(struct gt_sync *sync, uint32_t location)
{
	const struct gt_conditions *conditions = gt_report_result(sync->report, &gt_conditions_analysis);
	struct rows rows = { .count = 0 };

	for (uint64_t i = 0; i < gt_segment_count(sync, location); i++) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, location, i);
		uint64_t time = gt_sync_waited(segment);

		if (time)
			add(&rows, segment, i, time,
			    gt_conditions_idle(conditions, sync->report, location, segment->condition),
			    gt_sync_path(sync, location, i));
		gt_spill_used(&sync->spill);
	}
	return rows;
}

static void location_waits(struct gt_sync *sync, struct gt_section *section, struct sum *sums,
			   uint32_t location)
{
	struct rows rows = rows_of(sync, location);

	for (uint32_t i = 0; i < rows.room; i++)
		if (rows.items[i].count)
			write_row(sync, section, location, &rows.items[i]);
	add_sums(sync, sums, location, &rows);
	free(rows.items);
}

/* The share is that of regions: of the lives of all threads. */
static void write_sums(struct gt_sync *sync, struct gt_section *section, const struct sum *sums)
{
	uint64_t whole = gt_profile_whole(sync->report, sync->profile);

	for (unsigned i = 0; i < GT_WAITS; i++) {
		union gt_cell *row = sums[i].count ? gt_row_add(section) : NULL;

		if (!row)
			continue;
		row[0].text = gt_wait_names[i];
		row[1].count = sums[i].time;
		if (!sums[i].on_streams && whole)
			row[2].number = (double)(sums[i].time - sums[i].idle) / (double)whole;
		if (sums[i].idle)
			row[3].count = sums[i].idle;
		row[4].count = sums[i].count;
		row[5].count = sums[i].locations;
		row[6].count = sums[i].longest;
		row[7].text = gt_report_location(sync->report, sums[i].longest_location);
	}
	gt_rows_sort_without(section, 1, 3);
}

struct gt_wait_at *gt_waits_longest(struct gt_sync *sync, size_t *count)
{
	struct gt_wait_at *waits = NULL;
	size_t room = 0;

	*count = 0;
	for (uint32_t i = 0; i < gt_sync_locations(sync); i++) {
		struct rows rows = rows_of(sync, i);

		for (uint32_t k = 0; k < rows.room; k++) {
			if (!rows.items[k].count || rows.items[k].cause == GT_NO_CAUSE)
				continue;
			if (*count == room) {
				room = room ? 2 * room : 64;
				waits = gt_resized(waits, room, sizeof(*waits));
			}
			waits[(*count)++] = (struct gt_wait_at){ i, rows.items[k].segment };
		}
		free(rows.items);
	}
	return waits;
}

void gt_waits_figures(struct gt_sync *sync)
{
	struct gt_section *classes = gt_section_add(&sync->report->figures, &gt_wait_classes_kind);
	struct gt_section *section = gt_section_add(&sync->report->figures, &gt_waits_kind);
	struct sum sums[GT_WAITS] = { { .count = 0 } };

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		location_waits(sync, section, sums, i);
	gt_rows_sort_without(section, 1, 9);
	write_sums(sync, classes, sums);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files: operations, bytes and time of each.
 *
 * Limits: what OTF2's I/O records say; an operation that is not complete at the end is not counted.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"
#include "report/model/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPENS = GT_FILES_OPENS, SEEKS };

struct files {
	struct gt_sums sums; /* file, mode of operation or the above, buffered; gt_files_sums() */
	/*
	 * The same keys: `most` is the longest operation, and `bytes` is when it began. In the result of the
	 * location that spent most time, and `count` is its index.
	 */
	struct gt_sums places;
	struct pending {
		uint64_t handle, matching, begin, bytes;
		OTF2_IoOperationMode mode;
	} *pending;
	size_t count, room;
	uint64_t channels;  /* ns in reads and writes of pipes, sockets and eventfds */
	uint64_t *by_location; /* of a result: the same of each */
};

static uint64_t file_of(const struct gt_otf2 *read, uint64_t id)
{
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(read, id);

	if (!handle || handle->file != OTF2_UNDEFINED_IO_FILE)
		return handle ? handle->file : GT_FILES_OTHERS;
	return !strncmp(handle->name, "socket", 6) ? GT_FILES_SOCKETS
	       : !strncmp(handle->name, "pipe", 4) ? GT_FILES_PIPES
						   : GT_FILES_OTHERS;
}

/* Who reads or writes such waits for others to do the same. */
static bool is_channel(const struct gt_otf2 *read, uint64_t id)
{
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(read, id);

	return handle && handle->file == OTF2_UNDEFINED_IO_FILE &&
	       (!strncmp(handle->name, "pipe:[", 6) || !strncmp(handle->name, "socket:[", 8) ||
		!strncmp(handle->name, "eventfd:[", 9));
}

/* By stdio: such an operation is not one of the system's. */
static bool buffered(const struct gt_otf2 *read, uint64_t id)
{
	const struct gt_otf2_io_handle *handle = gt_otf2_find_io_handle(read, id);
	const struct gt_otf2_io_paradigm *of;

	of = handle ? gt_otf2_find_io_paradigm(read, handle->paradigm) : NULL;
	return of && !strcmp(of->identification, "ISOC");
}

static void begun(struct gt_otf2_cursor *at, const struct gt_otf2_IoOperationBegin *e, struct files *state)
{
	if (state->count == state->room) {
		state->room = state->room ? 2 * state->room : 16;
		state->pending = gt_resized(state->pending, state->room, sizeof(*state->pending));
	}
	state->pending[state->count++] =
		(struct pending){ e->handle, e->matching, at->time, e->bytes, e->mode };
}

static void place(struct gt_sum *at, uint64_t begin, uint64_t end)
{
	at->ns += end - begin;
	if (end - begin <= at->most)
		return;
	at->most = end - begin;
	at->bytes = begin;
}

static void over(struct gt_otf2_cursor *at, uint64_t handle, uint64_t matching, uint64_t bytes, bool count,
		 struct files *state)
{
	for (size_t i = state->count; i--;) {
		struct pending *one = &state->pending[i];

		if (one->handle != handle || one->matching != matching)
			continue;
		if (count) {
			gt_sum_add(gt_sums_at(&state->sums, file_of(at->read, handle), one->mode,
					      buffered(at->read, handle), 0),
				   at->time - one->begin, bytes == OTF2_UNDEFINED_UINT64 ? 0 : bytes);
			place(gt_sums_at(&state->places, file_of(at->read, handle), one->mode,
					 buffered(at->read, handle), 0),
			      one->begin, at->time);
			if (is_channel(at->read, handle))
				state->channels += at->time - one->begin;
		}
		state->pending[i] = state->pending[--state->count];
		return;
	}
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct files *state = memory;

	(void)report;
	switch (event->type) {
	case GT_OTF2_IoCreateHandle:
		gt_sum_add(gt_sums_at(&state->sums, file_of(at->read, event->IoCreateHandle.handle), OPENS, 0,
				      0),
			   0, 0);
		break;
	case GT_OTF2_IoSeek:
		gt_sum_add(gt_sums_at(&state->sums, file_of(at->read, event->IoSeek.handle), SEEKS, 0, 0), 0,
			   0);
		break;
	case GT_OTF2_IoOperationBegin:
		begun(at, &event->IoOperationBegin, state);
		break;
	case GT_OTF2_IoOperationComplete:
		over(at, event->IoOperationComplete.handle, event->IoOperationComplete.matching,
		     event->IoOperationComplete.bytes, true, state);
		break;
	case GT_OTF2_IoOperationCancelled:
		over(at, event->IoOperationCancelled.handle, event->IoOperationCancelled.matching, 0, false,
		     state);
		break;
	default:
		break;
	}
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct files *state = memory;

	(void)report;
	gt_carry_sums(carry, &state->sums);
	gt_carry_sums(carry, &state->places);
	gt_carry_bytes(carry, &state->channels, sizeof(state->channels));
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct files *state = memory, *all = result;

	if (!all->by_location)
		all->by_location = gt_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1,
					     sizeof(*all->by_location));
	all->by_location[at->index] = state->channels;
	gt_sums_merge(&all->sums, &state->sums);
	for (uint32_t i = 0; i < state->places.count; i++) {
		const struct gt_sum *one = &state->places.items[i];
		struct gt_sum *most = gt_sums_at(&all->places, one->key[0], one->key[1], one->key[2], 0);

		if (one->ns < most->ns || (one->ns == most->ns && most->bytes))
			continue;
		*most = *one;
		most->count = at->index;
	}
	gt_sums_free(&state->sums);
	gt_sums_free(&state->places);
	free(state->pending);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "seconds", "time", GT_SECONDS },
	{ "opens", "opens", GT_COUNT },
	{ "reads", "reads", GT_COUNT },
	{ "read_bytes", "read", GT_BYTES },
	{ "read_s", NULL, GT_SECONDS },
	{ "writes", "writes", GT_COUNT },
	{ "written_bytes", "written", GT_BYTES },
	{ "write_s", NULL, GT_SECONDS },
	{ "flushes", NULL, GT_COUNT },
	{ "seeks", NULL, GT_COUNT },
	{ "bandwidth", "rate", GT_RATE },
	{ "name", "file", GT_TEXT },
};
static const struct gt_section_kind files_kind =
	GT_SECTION("files", "Files", GT_ROWS, columns, .spare = "bandwidth,opens");

static void add(union gt_cell *row, const struct gt_sum *sum)
{
	row[0].count += sum->ns;
	switch (sum->key[1]) {
	case OPENS:
		row[1].count += sum->count;
		break;
	case SEEKS:
		row[9].count += sum->count;
		break;
	case OTF2_IO_OPERATION_MODE_READ:
		row[2].count += sum->count;
		row[3].count += sum->bytes;
		row[4].count += sum->ns;
		break;
	case OTF2_IO_OPERATION_MODE_WRITE:
		row[5].count += sum->count;
		row[6].count += sum->bytes;
		row[7].count += sum->ns;
		break;
	case OTF2_IO_OPERATION_MODE_FLUSH:
		row[8].count += sum->count;
		break;
	}
}

static const char *name_of(uint64_t none)
{
	return none == GT_FILES_SOCKETS ? "sockets" : none == GT_FILES_PIPES ? "pipes" : "?";
}

/* Sums of one file stand side by side. */
static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &files_kind);
	struct files *all = result;
	union gt_cell *row = NULL;

	gt_sums_sort(&all->sums, GT_SUMS_BY_KEY);
	for (uint32_t i = 0; i < all->sums.count; i++) {
		const struct gt_sum *sum = &all->sums.items[i];
		const struct gt_otf2_io_file *file = gt_otf2_find_io_file(report->read, sum->key[0]);

		if (!row || sum->key[0] != sum[-1].key[0]) {
			row = gt_row_add(section);
			for (unsigned c = 0; c < 10; c++)
				row[c].count = 0;
			row[11].text = file ? file->name : name_of(sum->key[0]);
		}
		add(row, sum);
		if (row[4].count + row[7].count)
			row[10].number = (double)(row[3].count + row[6].count) * 1e9 /
					 (double)(row[4].count + row[7].count);
	}
	gt_rows_sort(section, 0);
}

const struct gt_sums *gt_files_sums(struct gt_report *report)
{
	const struct files *all = gt_report_result(report, &gt_files_analysis);

	return all ? &all->sums : NULL;
}

uint64_t gt_files_channels(struct gt_report *report, size_t location)
{
	const struct files *all = gt_report_result(report, &gt_files_analysis);

	return all && all->by_location ? all->by_location[location] : 0;
}

struct gt_file_place gt_files_place(struct gt_report *report, const struct gt_sum *sum)
{
	struct files *all = gt_report_result(report, &gt_files_analysis);
	const struct gt_sum *at = gt_sums_at(&all->places, sum->key[0], sum->key[1], sum->key[2], 0);

	return (struct gt_file_place){
		.ns = at->ns, .time = at->bytes, .length = at->most, .location = at->count
	};
}

static void release(void *result)
{
	gt_sums_free(&((struct files *)result)->sums);
	gt_sums_free(&((struct files *)result)->places);
	free(((struct files *)result)->by_location);
}

const struct gt_analysis gt_files_analysis = {
	.name = "files", .state_size = sizeof(struct files), .result_size = sizeof(struct files),
	.event = event, .carry = carry, .merge = merge, .figures = figures, .free = release,
};

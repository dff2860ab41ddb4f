/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers.
 *
 * Limits: see answer.h.
 */
#include "config.h"

#include "report/page/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "report/page/page.h"
#include "report/page/pyramid.h"

enum { OK = 200, BAD = 400, MISSING = 404, TOO_LARGE = 413, FAILED = 500, MOST_RANGES = 4096, LEVELS = 64 };

struct request {
	struct gt_serve *serve;
	gt_parameter *parameter;
	void *of;
	struct gt_bytes *out;
};

static unsigned refuse(struct gt_bytes *out, unsigned status, const char *reason)
{
	out->count = 0;
	gt_bytes_print(out, "%s\n", reason);
	return status;
}

/* ---- parameters ---------------------------------------------------------------------------------- */

static bool digits(const char **text, uint64_t *n)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*n = strtoull(*text, &end, 10);
	*text = end;
	return !errno;
}

/* False: it is not there, or no number. */
static bool number(const struct request *request, const char *name, uint64_t *n)
{
	const char *text = request->parameter(request->of, name);

	return text && digits(&text, n) && !*text;
}

struct ranges {
	struct range {
		uint64_t from, to;
	} *items;
	size_t count;
};

/* "3-7,9". Without the parameter: all. Callers free the items. */
static bool ranges(const struct request *request, const char *name, uint64_t most, struct ranges *all)
{
	const char *text = request->parameter(request->of, name);

	*all = (struct ranges){ .items = calloc(MOST_RANGES, sizeof(*all->items)) };
	if (!all->items)
		gt_no_memory();
	if (!text) {
		all->items[all->count++] = (struct range){ 0, most };
		return true;
	}
	while (all->count < MOST_RANGES) {
		struct range *one = &all->items[all->count++];

		if (!digits(&text, &one->from))
			return false;
		one->to = one->from;
		if (*text == '-' && (text++, !digits(&text, &one->to)))
			return false;
		if (!*text)
			return true;
		if (*text++ != ',')
			return false;
	}
	return false;
}

/* "3,4,5": so many; 0: they are not there, too many, or no numbers. */
static size_t numbers(const struct request *request, const char *name, uint64_t all[LEVELS])
{
	const char *text = request->parameter(request->of, name);

	for (size_t count = 0; text && count < LEVELS; text++) {
		if (!digits(&text, &all[count++]))
			return 0;
		if (!*text)
			return count;
		if (*text != ',')
			return 0;
	}
	return 0;
}

/* ---- tiles --------------------------------------------------------------------------------------- */

struct wanted {
	uint64_t level, from, to;
	struct ranges rows, tracks, kinds;
};

static bool has(const struct ranges *all, uint64_t n)
{
	for (size_t i = 0; i < all->count; i++)
		if (n >= all->items[i].from && n <= all->items[i].to)
			return true;
	return false;
}

/* Tiles of one kind in the rows of a range. False: they are too much. */
static bool put_range(const struct request *request, const struct wanted *wanted, enum gt_tile_kind kind,
		      const struct range *rows)
{
	const struct gt_store *store = request->serve->store;
	uint64_t row = rows->from;

	while (row <= rows->to && row <= UINT32_MAX) {
		size_t i = gt_store_find(store, (unsigned)wanted->level, kind, (uint32_t)row, wanted->from);
		const struct gt_tile *tile = &store->tiles[i];

		if (i == store->count || tile->level != wanted->level || tile->kind != kind)
			return true;
		for (; i < store->count && tile->level == wanted->level && tile->kind == kind &&
		       tile->row == row && tile->tile <= wanted->to; i++, tile++) {
			gt_page_tile(request->out, store, tile);
			if (request->out->count > GT_SERVE_MOST)
				return false;
		}
		if (i == store->count || tile->level != wanted->level || tile->kind != kind)
			return true;
		row = tile->row > row ? tile->row : row + 1;
	}
	return true;
}

static bool put_kind(const struct request *request, const struct wanted *wanted, enum gt_tile_kind kind)
{
	static const struct range first = { 0, 0 };
	const struct ranges *of = kind == GT_TILE_TRACK ? &wanted->tracks : &wanted->rows;

	if (!has(&wanted->kinds, kind))
		return true;
	if (kind == GT_TILE_LINKS)
		return put_range(request, wanted, kind, &first);
	for (size_t i = 0; i < of->count; i++)
		if (!put_range(request, wanted, kind, &of->items[i]))
			return false;
	return true;
}

/* What is wanted of some levels, of each its own tiles. */
static unsigned tiles(const struct request *request)
{
	uint64_t levels[LEVELS], from[LEVELS], to[LEVELS];
	size_t count = numbers(request, "level", levels);
	struct wanted wanted = { .level = 0 };
	unsigned status = OK;

	if (!count || numbers(request, "from", from) != count || numbers(request, "to", to) != count ||
	    !ranges(request, "rows", UINT32_MAX, &wanted.rows) ||
	    !ranges(request, "tracks", UINT32_MAX, &wanted.tracks) ||
	    !ranges(request, "kinds", GT_TILE_SEEN - 1, &wanted.kinds))
		status = refuse(request->out, BAD, "level, from, to, rows, tracks or kinds are wrong");
	for (size_t i = 0; status == OK && i < count; i++) {
		wanted.level = levels[i];
		wanted.from = from[i];
		wanted.to = to[i];
		if (wanted.level > GT_SPAN_MOST)
			status = refuse(request->out, BAD, "there is no such level");
		for (unsigned kind = 0; status == OK && kind < GT_TILE_SEEN; kind++)
			if (!put_kind(request, &wanted, (enum gt_tile_kind)kind))
				status = refuse(request->out, TOO_LARGE, "that is too much for one answer");
	}
	free(wanted.rows.items);
	free(wanted.tracks.items);
	free(wanted.kinds.items);
	return status;
}

/* ---- single events ------------------------------------------------------------------------------- */

static unsigned events(const struct request *request)
{
	uint64_t row, from, to;

	if (!number(request, "row", &row) || !number(request, "from", &from) || !number(request, "to", &to) ||
	    row >= request->serve->rows)
		return refuse(request->out, BAD, "row, from or to are wrong");
	if (!gt_single_events(&request->serve->single, (uint32_t)row, from, to, request->out))
		return refuse(request->out, FAILED, "the events cannot be read");
	return OK;
}

/* ---- profiles ------------------------------------------------------------------------------------ */

/* Skips spans and buckets; then come the sums. */
static bool find_sums(const unsigned char *data, size_t size, size_t *at)
{
	uint64_t n, depths, skipped;

	if (!gt_bytes_read(data, size, at, &n))
		return false;
	for (uint64_t i = 0; i < 4 * n; i++)
		if (!gt_bytes_read(data, size, at, &skipped))
			return false;
	if (!gt_bytes_read(data, size, at, &depths))
		return false;
	for (uint64_t d = 0; d < depths; d++) {
		if (!gt_bytes_read(data, size, at, &skipped) || !gt_bytes_read(data, size, at, &n))
			return false;
		for (uint64_t i = 0; i < 4 * n; i++)
			if (!gt_bytes_read(data, size, at, &skipped))
				return false;
	}
	return true;
}

static void add_tile(const struct gt_serve *serve, const struct gt_tile *tile, struct gt_single_sum *sums)
{
	const unsigned char *data = gt_store_data(serve->store, tile);
	uint64_t n, region = 0, values[5];
	size_t at = 0;

	if (!find_sums(data, tile->length, &at) || !gt_bytes_read(data, tile->length, &at, &n))
		return;
	for (uint64_t i = 0; i < n; i++) {
		for (unsigned v = 0; v < 5; v++)
			if (!gt_bytes_read(data, tile->length, &at, &values[v]))
				return;
		region += values[0];
		if (region > serve->regions)
			return;
		sums[region].calls += values[1];
		sums[region].exclusive += values[2];
		sums[region].inclusive += values[2] + values[4];
		sums[region].bytes += values[3];
	}
}

static const struct gt_tile *tile_at(const struct gt_store *store, unsigned level, uint32_t row,
				     uint64_t number)
{
	size_t i = gt_store_find(store, level, GT_TILE_CALLS, row, number);
	const struct gt_tile *tile = &store->tiles[i];

	return i < store->count && tile->level == level && tile->kind == GT_TILE_CALLS && tile->row == row &&
			       tile->tile == number ? tile : NULL;
}

struct window {
	struct gt_serve *serve;
	uint32_t row;
	unsigned span_log2, levels; /* that have sums */
	uint64_t from, to;
	struct gt_single_sum *sums; /* by region */
};

/* Adds the part of the tile that is in the window: all of it, its halves, or (on the last level) single
 * events. */
static bool add_part(const struct window *w, unsigned level, uint64_t number)
{
	uint64_t begin = number << (w->span_log2 - level), end = (number + 1) << (w->span_log2 - level);
	const struct gt_tile *tile;

	if (end <= w->from || begin >= w->to)
		return true;
	if (begin >= w->from && end <= w->to) {
		tile = tile_at(w->serve->store, level, w->row, number);
		if (tile)
			add_tile(w->serve, tile, w->sums);
		return true;
	}
	if (level + 1 < w->levels)
		return add_part(w, level + 1, 2 * number) && add_part(w, level + 1, 2 * number + 1);
	return gt_single_sums(&w->serve->single, w->row, begin > w->from ? begin : w->from,
			      end < w->to ? end : w->to, w->sums, w->serve->regions);
}

static bool put_profile(const struct request *request, struct window *w)
{
	struct gt_bytes *out = request->out;
	bool first = true, well;

	memset(w->sums, 0, (w->serve->regions + 1) * sizeof(*w->sums));
	well = add_part(w, 0, 0);
	gt_bytes_print(out, "{\"row\":%u,\"regions\":[", w->row);
	for (uint64_t i = 0; i <= w->serve->regions; i++) {
		const struct gt_single_sum *sum = &w->sums[i];

		if (!sum->calls && !sum->inclusive && !sum->bytes)
			continue;
		gt_bytes_print(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
			       first ? "" : ",", i, sum->calls, sum->exclusive, sum->inclusive, sum->bytes);
		first = false;
	}
	gt_bytes_print(out, "]}");
	return well;
}

static unsigned profile(const struct request *request)
{
	struct gt_serve *serve = request->serve;
	struct window w = { .serve = serve, .span_log2 = (unsigned)serve->span_log2 };
	struct ranges rows = { .items = NULL };
	bool well = true, first = true;

	if (!number(request, "from", &w.from) || !number(request, "to", &w.to) ||
	    !ranges(request, "rows", serve->rows - 1, &rows)) {
		free(rows.items);
		return refuse(request->out, BAD, "from, to or rows are wrong");
	}
	w.sums = gt_zeroed(serve->regions + 1, sizeof(*w.sums));
	gt_bytes_print(request->out, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"rows\":[", w.from, w.to);
	for (uint64_t row = 0; well && row < serve->rows; row++) {
		if (!has(&rows, row))
			continue;
		w.row = (uint32_t)row;
		w.levels = (unsigned)serve->sum_levels[row];
		gt_bytes_print(request->out, "%s", first ? "" : ",");
		first = false;
		well = put_profile(request, &w);
	}
	gt_bytes_print(request->out, "]}\n");
	free(w.sums);
	free(rows.items);
	return well ? OK : refuse(request->out, FAILED, "the events cannot be read");
}

bool gt_answer_prepare(struct gt_serve *serve)
{
	const struct gt_tile *text = gt_page_text(serve->store, GT_TEXT_ROWS);
	const unsigned char *data = text ? gt_store_data(serve->store, text) : NULL;
	size_t at = 0;

	if (!text || !gt_bytes_read(data, text->length, &at, &serve->rows) ||
	    !gt_bytes_read(data, text->length, &at, &serve->regions) ||
	    !gt_bytes_read(data, text->length, &at, &serve->span_log2) || serve->rows > text->length ||
	    serve->regions > UINT32_MAX || serve->span_log2 > GT_SPAN_MOST)
		return false;
	serve->sum_levels = gt_zeroed(serve->rows + 1, sizeof(*serve->sum_levels));
	for (uint64_t i = 0; i < serve->rows; i++)
		if (!gt_bytes_read(data, text->length, &at, &serve->sum_levels[i]) ||
		    serve->sum_levels[i] > serve->span_log2)
			return false;
	return true;
}

/* ---- all ----------------------------------------------------------------------------------------- */

static unsigned text(const struct request *request, enum gt_text_row row)
{
	const struct gt_tile *text = gt_page_text(request->serve->store, row);

	if (!text)
		return refuse(request->out, MISSING, "the index does not have it");
	gt_bytes_add(request->out, gt_store_data(request->serve->store, text), text->length);
	return OK;
}

unsigned gt_answer(struct gt_serve *serve, const char *what, gt_parameter *parameter, void *of,
		   struct gt_bytes *out, const char **type)
{
	const struct request request = { serve, parameter, of, out };
	unsigned status = OK;

	*type = "application/json";
	if (!*what) {
		*type = "text/html; charset=utf-8";
		gt_page_served(serve->store, serve->against, out);
	} else if (!strcmp(what, "tiles")) {
		*type = "application/octet-stream";
		status = tiles(&request);
	} else if (!strcmp(what, "report")) {
		status = text(&request, GT_TEXT_REPORT);
	} else if (!strcmp(what, "flow")) {
		status = text(&request, GT_TEXT_FLOW);
	} else if (!strcmp(what, "events")) {
		status = events(&request);
	} else if (!strcmp(what, "profile")) {
		status = profile(&request);
	} else {
		status = refuse(out, MISSING, "there is nothing of that name");
	}
	if (status != OK)
		*type = "text/plain; charset=utf-8";
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading an archive into a grid.
 *
 * Limits: see grid.h.
 */
#include "config.h"

#include "report/timeline/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/model/stacks.h"
#include "report/part/match.h"
#include "report/report.h"
#include "report/timeline/shares.h"

enum { NAME_MAX_BYTES = 4096, NO_ROW = -1, NAME_MIN = 3, NAME_CUT = 8 };

/*
 * The cell of a row that is being filled. Regions are those of the archive's table, their number is one that
 * is not defined; behind it follow the same as functions of samples, and gputrace itself.
 */
struct lane {
	struct tally {
		uint32_t region;
		uint64_t ns;
	} *tallies;
	uint32_t count, room;
	uint32_t *places; /* by region: of its tally, if that is the region's; never cleared */
	unsigned column;
	uint64_t end;   /* where the column ends */
	uint64_t inside; /* ns in any region, or of samples */
};

struct reading {
	struct gt_grid *grid;
	struct gt_report report; /* the archive, its classes and names of locations */
	unsigned lanes;          /* of a location, at least 1 */
	unsigned each;           /* its rows: lanes, and samples */
	struct gt_stack_ids stacks;
	int32_t *first_rows;     /* by location: its first row, or NO_ROW */
	uint32_t *region_of;     /* by region: its place in the grid + 1 */
	struct gt_ends ends;
	struct gt_shares shares;
	uint64_t correlation, mpi_error;
};

/* Of a location. */
struct place {
	struct lane *lanes;
	uint64_t last;                /* until here all is counted */
	struct gt_sharing sharing;
	struct gt_match match;
};

/* ---- cells ------------------------------------------------------------------------------------- */

static unsigned column_of(const struct gt_grid *grid, uint64_t time)
{
	uint64_t length = grid->part.to - grid->part.from;
	unsigned column = (unsigned)((unsigned __int128)(time - grid->part.from) * grid->columns / length);

	/* Columns begin at rounded times. */
	while (column + 1 < grid->columns && gt_grid_time(grid, column + 1) <= time)
		column++;
	return column < grid->columns ? column : grid->columns - 1;
}

static void close_cell(struct gt_grid *grid, unsigned row, struct lane *lane)
{
	struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, lane->column);
	uint64_t length = lane->end - gt_grid_time(grid, lane->column);
	const struct tally *most = lane->tallies;

	for (uint32_t i = 1; i < lane->count; i++)
		if (lane->tallies[i].ns > most->ns)
			most = &lane->tallies[i];
	if (lane->inside) {
		unsigned __int128 share = (unsigned __int128)lane->inside * GT_GRID_FULL / length;

		cell->region = most->region;
		cell->share = share < GT_GRID_FULL ? (uint8_t)share : GT_GRID_FULL;
		cell->share += !cell->share; /* there was something */
	}
	lane->count = 0;
	lane->inside = 0;
}

static void open_cell(const struct gt_grid *grid, struct lane *lane, uint64_t time)
{
	lane->column = column_of(grid, time);
	lane->end = gt_grid_time(grid, lane->column + 1);
}

static void tally(struct lane *lane, uint32_t region, uint64_t ns)
{
	uint32_t place = lane->places[region];

	lane->inside += ns;
	if (place < lane->count && lane->tallies[place].region == region) {
		lane->tallies[place].ns += ns;
		return;
	}
	if (lane->count == lane->room) {
		lane->room = lane->room ? 2 * lane->room : 16;
		lane->tallies = gt_resized(lane->tallies, lane->room, sizeof(*lane->tallies));
	}
	lane->places[region] = lane->count;
	lane->tallies[lane->count++] = (struct tally){ region, ns };
}

/* Spans of a row come one after the other. */
static void add_span(struct gt_grid *grid, unsigned row, struct lane *lane, uint32_t region, uint64_t from,
		     uint64_t to)
{
	if (from < grid->part.from)
		from = grid->part.from;
	if (to > grid->part.to)
		to = grid->part.to;
	while (from < to) {
		uint64_t part;

		if (from >= lane->end) {
			if (lane->end)
				close_cell(grid, row, lane);
			open_cell(grid, lane, from);
		}
		part = (to < lane->end ? to : lane->end) - from;
		tally(lane, region, part);
		from += part;
	}
}

/* ---- the visitor ------------------------------------------------------------------------------- */

static struct reading *reading_of(const struct gt_otf2_cursor *at)
{
	return at->user;
}

static int32_t first_row(const struct gt_otf2_cursor *at)
{
	return reading_of(at)->first_rows[at->index];
}

/* Of regions of calls and, behind them, of samples. */
static size_t keys_of(const struct reading *reading)
{
	return 2 * reading->report.read->tables[GT_OTF2_REGION].count + 3;
}

static void on_begin(struct gt_otf2_cursor *at)
{
	struct reading *reading = reading_of(at);
	struct place *place = at->state;

	if (first_row(at) == NO_ROW)
		return;
	place->lanes = gt_zeroed(reading->each, sizeof(*place->lanes));
	for (unsigned i = 0; i < reading->each; i++)
		place->lanes[i].places = gt_zeroed(keys_of(reading), sizeof(*place->lanes[i].places));
}

static void spend(const struct reading *reading, struct place *place, const struct gt_otf2_region *region,
		  uint64_t now)
{
	enum gt_class class = gt_class_of(&reading->report.classes, region);

	place->sharing.classes[class] += now - place->last;
	place->sharing.classes_in[class] += gt_shares_in(&reading->grid->part, place->last, now);
}

/* Until now the stack was `depth` deep. */
static void innermost(struct gt_otf2_cursor *at, size_t depth)
{
	struct reading *reading = reading_of(at);
	struct gt_grid *grid = reading->grid;
	struct place *place = at->state;
	uint64_t from = place->last < grid->part.from ? grid->part.from : place->last;
	uint64_t to = at->time < grid->part.to ? at->time : grid->part.to;
	const struct gt_otf2_region *region;

	gt_shares_event(&place->sharing, at, NULL, &grid->part);
	if (depth)
		spend(reading, place, at->stack[depth - 1].region, at->time);
	place->last = at->time;
	if (!place->lanes || !depth || from >= to || grid->lanes)
		return;
	region = at->stack[depth - 1].region;
	if (grid->depth && depth > grid->depth)
		region = at->stack[grid->depth - 1].region;
	add_span(grid, (unsigned)first_row(at), place->lanes, gt_report_region(&reading->report, region),
		 from, to);
}

/* A call that was `depth` deep in the stack. */
static void whole_call(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame, size_t depth)
{
	struct reading *reading = reading_of(at);
	struct place *place = at->state;

	if (reading->grid->lanes && depth <= reading->lanes)
		add_span(reading->grid, (unsigned)first_row(at) + (unsigned)depth - 1,
			 &place->lanes[depth - 1], gt_report_region(&reading->report, frame->region),
			 frame->begin, at->time);
}

static void on_enter(struct gt_otf2_cursor *at)
{
	struct reading *reading = reading_of(at);
	struct place *place = at->state;

	innermost(at, at->depth - 1);
	gt_conditions_enter(&reading->shares.conditions, &reading->report, at, &place->sharing.waits);
	if (reading->grid->with_lines)
		gt_match_enter(&place->match, at, reading->correlation, 0);
}

/* What was left lies behind the end of the stack, where the reader keeps it. */
static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct reading *reading = reading_of(at);
	struct place *place = at->state;

	innermost(at, at->depth + 1);
	gt_conditions_leave(&reading->shares.conditions, &reading->report, at, frame, &place->sharing.waits,
			    reading->grid->part.from, reading->grid->part.to);
	if (place->lanes)
		whole_call(at, frame, at->depth + 1);
	if (reading->grid->with_lines)
		gt_match_leave(&place->match, at, reading->mpi_error);
}

static uint32_t regions_of(const struct reading *reading)
{
	return (uint32_t)reading->report.read->tables[GT_OTF2_REGION].count;
}

/* A point in time: all that it stands for is in one cell. */
static void add_sample(struct gt_otf2_cursor *at, const struct gt_otf2_CallingContextSample *event)
{
	struct reading *reading = reading_of(at);
	struct gt_grid *grid = reading->grid;
	struct lane *lane = &((struct place *)at->state)->lanes[reading->lanes];
	struct gt_stack_sample sample = gt_stack_sample_of(&reading->stacks, at, event);
	const struct gt_otf2_region *region =
		sample.context ? gt_otf2_find_region(at->read, sample.context->region) : NULL;
	uint32_t count = regions_of(reading),
		 function = region ? gt_report_region(&reading->report, region) : count;

	if (!gt_part_at(&grid->part, at->time))
		return;
	if (at->time >= lane->end) {
		if (lane->end)
			close_cell(grid, (unsigned)first_row(at) + reading->lanes, lane);
		open_cell(grid, lane, at->time);
	}
	tally(lane, count + 1 + (sample.ours ? count + 1 : function), sample.ns ? sample.ns : 1);
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct place *place = at->state;

	gt_shares_event(&place->sharing, at, event, &reading_of(at)->grid->part);
	gt_conditions_event(at, event, &place->sharing.waits);
	if (event->type == GT_OTF2_CallingContextSample && place->lanes &&
	    reading_of(at)->each > reading_of(at)->lanes)
		add_sample(at, &event->CallingContextSample);
	if (reading_of(at)->grid->with_lines)
		gt_match_event(&place->match, at, event, 0);
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	struct reading *reading = reading_of(at);
	struct place *place = at->state;

	(void)whole;
	innermost(at, at->depth);
	gt_conditions_end(&reading->shares.conditions, &reading->report, at, &place->sharing.waits,
			  reading->grid->part.from, reading->grid->part.to);
	if (!place->lanes)
		return;
	for (size_t depth = at->depth; depth; depth--)
		whole_call(at, &at->stack[depth - 1], depth);
	for (unsigned i = 0; i < reading->each; i++) {
		if (place->lanes[i].end)
			close_cell(reading->grid, (unsigned)first_row(at) + i, &place->lanes[i]);
		free(place->lanes[i].tallies);
		free(place->lanes[i].places);
	}
	free(place->lanes);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct reading *reading = reading_of(at);
	struct place *place = at->state;

	for (unsigned i = 0; i < GT_CLASSES && gt_part_has(&reading->grid->part, at->index); i++)
		reading->grid->times[i] += place->sharing.classes_in[i];
	gt_shares_add(&reading->shares, &reading->report, &place->sharing, at, reading->grid);
	if (reading->grid->with_lines)
		gt_match_end(&place->match, &reading->ends);
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct place),
	.begin = on_begin,
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.end = on_end,
	.merge = on_merge,
};

/* ---- before and after -------------------------------------------------------------------------- */

/* A name without control characters; one that has no room any more is "?", which is the first. */
static uint32_t add_text(struct gt_grid *grid, const char *text)
{
	size_t place = grid->text_count, size = 4 * strlen(text) + 1;
	char *clean = gt_need(malloc(size));

	gt_utf8_line(clean, size, text);
	if (strlen(clean) > NAME_MAX_BYTES)
		clean[NAME_MAX_BYTES] = '\0';
	size = strlen(clean) + 1;
	if (place + size <= grid->text_room) {
		memcpy((char *)grid + grid->text_at + place, clean, size);
		grid->text_count += size;
	} else {
		place = 0;
	}
	free(clean);
	return (uint32_t)place;
}

static void make_rows(struct reading *reading)
{
	struct gt_grid *grid = reading->grid;
	size_t locations = reading->report.read->tables[GT_OTF2_LOCATION].count;

	for (size_t i = 0; i < locations; i++) {
		uint32_t label;

		reading->first_rows[i] = NO_ROW;
		if (!gt_part_has(&grid->part, i))
			continue;
		if (grid->rows + reading->each > grid->max_rows) {
			grid->no_room++;
			continue;
		}
		reading->first_rows[i] = (int32_t)grid->rows;
		label = add_text(grid, gt_report_location(&reading->report, i));
		for (unsigned depth = 1; depth <= reading->each; depth++)
			*gt_grid_row_at(grid, grid->rows++) = (struct gt_grid_row){
				.label = label,
				.location = (uint32_t)i,
				.depth = grid->lanes && depth <= reading->lanes ? (uint16_t)depth : 0,
				.samples = depth > reading->lanes,
			};
	}
}

/* "work", "~work" of samples. */
static uint32_t add_name(struct reading *reading, uint32_t region)
{
	uint32_t count = regions_of(reading), index = region > count ? region - count - 1 : region;
	char name[512] = "?";

	if (index > count)
		snprintf(name, sizeof(name), "%s", gt_stacks_ours.name);
	else if (index < count || region > count)
		snprintf(name, sizeof(name), "%s%s", region > count ? "~" : "",
			 gt_report_region_name(&reading->report, index));
	return add_text(reading->grid, name);
}

/* A cell's region becomes one of the grid. */
static void name_cell(struct reading *reading, struct gt_grid_cell *cell)
{
	struct gt_grid *grid = reading->grid;
	uint32_t region = cell->region, count = regions_of(reading),
		 index = region > count ? region - count - 1 : region;

	cell->class = index < count ? reading->report.classes.regions[index] : GT_CLASS_CODE;
	if (!reading->region_of[region]) {
		if (grid->regions == grid->max_regions) {
			cell->region = 0;
			return;
		}
		*gt_grid_region_at(grid, grid->regions) =
			(struct gt_grid_region){ .name = add_name(reading, region), .index = region };
		reading->region_of[region] = ++grid->regions;
	}
	cell->region = reading->region_of[region] - 1;
}

/* Rows in which there is nothing go; `places` has where the others are now. */
static void drop_idle_rows(struct gt_grid *grid, int32_t *places)
{
	unsigned kept = 0;

	for (unsigned row = 0; row < grid->rows; row++) {
		places[row] = NO_ROW;
		if (!gt_grid_row_at(grid, row)->used)
			continue;
		places[row] = (int32_t)kept;
		if (kept != row) {
			*gt_grid_row_at(grid, kept) = *gt_grid_row_at(grid, row);
			memcpy(gt_grid_cell_at(grid, kept, 0), gt_grid_cell_at(grid, row, 0),
			       grid->columns * sizeof(struct gt_grid_cell));
		}
		kept++;
	}
	grid->rows = kept;
}

static void finish_rows(struct reading *reading)
{
	struct gt_grid *grid = reading->grid;

	for (unsigned row = 0; row < grid->rows; row++)
		for (unsigned column = 0; column < grid->columns; column++) {
			struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, column);

			if (!cell->share)
				continue;
			gt_grid_row_at(grid, row)->used = true;
			name_cell(reading, cell);
		}
	for (unsigned row = 0; row < grid->rows; row += reading->each) {
		const struct gt_grid_row *first = gt_grid_row_at(grid, row);

		grid->idle += !first->used && !first[reading->each - 1].used;
	}
}

/*
 * Lines that would lie on each other are one: those that begin and end in the same squares of SQUARE
 * columns.
 */
enum { SQUARE = 3, DRAWN = 1 << 16 };

struct lines {
	struct reading *reading;
	const int32_t *places;
	uint64_t *drawn; /* a hash table: keys of lines, 0: free */
	unsigned count;
};

static uint64_t square_of(const struct gt_grid *grid, uint64_t time)
{
	if (time < grid->part.from)
		return 0;
	return time >= grid->part.to ? grid->columns / SQUARE + 2 : column_of(grid, time) / SQUARE + 1;
}

/* True: the first one. Rows are below 2^12, squares below 2^16. */
static bool is_new(struct lines *lines, const struct gt_grid_line *line)
{
	const struct gt_grid *grid = lines->reading->grid;
	uint64_t key = (uint64_t)line->from_row << 44 | (uint64_t)line->to_row << 32 |
		       square_of(grid, line->from) << 16 | square_of(grid, line->to);
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15 >> 48);

	while (lines->drawn[at] && lines->drawn[at] != key)
		at = (at + 1) % DRAWN;
	if (lines->drawn[at] || lines->count > DRAWN / 2)
		return !lines->drawn[at];
	lines->count++;
	lines->drawn[at] = key;
	return true;
}

static int32_t row_of(const struct lines *lines, const struct gt_end *end)
{
	int32_t row = lines->reading->first_rows[end->location];

	return row == NO_ROW ? NO_ROW : lines->places[row];
}

static void on_pair(void *user, const struct gt_end *from, const struct gt_end *to)
{
	struct lines *lines = user;
	struct gt_grid *grid = lines->reading->grid;
	struct gt_grid_line line = { .from = from->time,
				     .to = to->time,
				     .launch = from->what == GT_END_CALL };
	int32_t from_row = row_of(lines, from), to_row = row_of(lines, to);

	if (from_row == NO_ROW || to_row == NO_ROW || from_row == to_row || to->time < grid->part.from ||
	    from->time > grid->part.to)
		return;
	line.from_row = (uint32_t)from_row;
	line.to_row = (uint32_t)to_row;
	if (!is_new(lines, &line))
		return;
	if (grid->lines < grid->max_lines)
		*gt_grid_line_at(grid, grid->lines++) = line;
	else
		grid->more_lines++;
}

unsigned gt_grid_ascii(const char *name, char *text, size_t size)
{
	size_t n = 0;

	for (const unsigned char *c = (const unsigned char *)name; *c && n + 1 < size; c++) {
		if (*c < 0x80)
			text[n++] = (char)*c;
		else if (*c >= 0xc0)
			text[n++] = '?';
	}
	text[n] = '\0';
	return (unsigned)n;
}

/* The columns that the longest label leaves. */
static void divide_line(struct gt_grid *grid)
{
	unsigned most = grid->width / 4 < GT_LABEL_MAX ? grid->width / 4 : GT_LABEL_MAX;
	char text[GT_LABEL_MAX + 2];

	grid->label = GT_LABEL_MIN;
	for (unsigned row = 0; row < grid->rows; row++) {
		unsigned n = gt_grid_ascii(gt_grid_text(grid, gt_grid_row_at(grid, row)->label), text,
					   sizeof(text));

		grid->label = n > grid->label ? n : grid->label;
	}
	if (grid->label > most)
		grid->label = most;
	grid->columns = grid->width > grid->label + 1 ? grid->width - grid->label - 1 : 1;
}

static bool prepare(struct reading *reading)
{
	struct gt_grid *grid = reading->grid;
	struct gt_otf2 *read = reading->report.read;

	grid->duration = gt_otf2_ns(read, read->end);
	if (!gt_part_choose(&grid->part, read, grid->patterns, "gputrace timeline"))
		return false;
	if (grid->part.to > grid->duration)
		grid->part.to = grid->duration ? grid->duration : 1;
	reading->first_rows = calloc(read->tables[GT_OTF2_LOCATION].count + 1, sizeof(int32_t));
	reading->region_of = calloc(keys_of(reading), sizeof(uint32_t));
	if (gt_classes_make(&reading->report.classes, read) || !reading->first_rows || !reading->region_of)
		gt_no_memory();
	gt_conditions_prepare(&reading->shares.conditions, &reading->report);
	reading->correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	reading->mpi_error = gt_otf2_attribute_named(read, "MPI_ERROR");
	reading->lanes = grid->lanes ? grid->lanes : 1;
	reading->each = reading->lanes + (read->tables[GT_OTF2_CONTEXT].count != 0);
	reading->stacks = gt_stacks_of(read);
	add_text(grid, "?");
	make_rows(reading);
	if (grid->width)
		divide_line(grid);
	return true;
}

static void clear(struct gt_grid *grid)
{
	grid->rows = grid->regions = grid->lines = grid->idle = grid->no_room = 0;
	grid->more_lines = grid->text_count = grid->lives = grid->of_gpus = 0;
	memset(grid->times, 0, sizeof(grid->times));
	memset(grid->counted, 0, sizeof(grid->counted));
	memset(gt_grid_cell_at(grid, 0, 0), 0,
	       (size_t)grid->max_rows * grid->max_columns * sizeof(struct gt_grid_cell));
}

int gt_grid_fill(const char *anchor, void *argument, FILE *unused)
{
	struct gt_grid *grid = argument;
	struct reading reading = { .grid = grid };
	struct lines lines = { .reading = &reading };
	struct gt_otf2 *read;
	int32_t *places;

	(void)unused;
	clear(grid);
	read = gt_otf2_open(anchor, &(struct gt_otf2_options){ .visitor = &visitor, .user = &reading,
							       .command = "gputrace timeline" });
	reading.report.read = read;
	if (!read || gt_otf2_definitions(read) || !prepare(&reading) || gt_otf2_events(read))
		return 2;
	gt_shares_finish(&reading.shares, &reading.report, grid);
	finish_rows(&reading);
	places = calloc(grid->rows + 1, sizeof(*places));
	lines.drawn = calloc(DRAWN, sizeof(*lines.drawn));
	if (!places || !lines.drawn)
		gt_no_memory();
	drop_idle_rows(grid, places);
	lines.places = places;
	if (grid->with_lines)
		gt_match_all(&reading.ends, &(struct gt_matched){ &lines, on_pair, NULL });
	grid->part.locations = NULL;
	/* Nothing is freed: the process ends, and libotf2 may be in any state. */
	return 0;
}

/* ---- the grid ---------------------------------------------------------------------------------- */

static size_t take(size_t *size, size_t bytes)
{
	size_t place = *size;

	*size += (bytes + 63) & ~(size_t)63;
	return place;
}

struct gt_grid *gt_grid_new(unsigned rows, unsigned columns, unsigned lines)
{
	struct gt_grid sizes = { .part.to = UINT64_MAX,
				 .columns = columns,
				 .max_columns = columns,
				 .max_rows = rows,
				 .max_regions = 4096,
				 .max_lines = lines,
				 .text_room = 4 << 20 };
	struct gt_grid *grid;

	take(&sizes.size, sizeof(*grid));
	sizes.row_at = take(&sizes.size, rows * sizeof(struct gt_grid_row));
	sizes.cell_at = take(&sizes.size, (size_t)rows * columns * sizeof(struct gt_grid_cell));
	sizes.region_at = take(&sizes.size, sizes.max_regions * sizeof(struct gt_grid_region));
	sizes.line_at = take(&sizes.size, lines * sizeof(struct gt_grid_line));
	sizes.text_at = take(&sizes.size, sizes.text_room);
	grid = mmap(NULL, sizes.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
	if (grid == MAP_FAILED)
		return NULL;
	*grid = sizes;
	return grid;
}

void gt_grid_free(struct gt_grid *grid)
{
	munmap(grid, grid->size);
}

unsigned gt_grid_place(const struct gt_grid *grid, unsigned row, unsigned column, unsigned end, char *name)
{
	size_t n = strlen(name);
	unsigned first = column, room = 0, from = column;

	for (unsigned i = column; i <= end && room < n + 2; i++) {
		if (i < end && gt_grid_cell_at(grid, row, i)->share >= GT_GRID_FULL / 2)
			continue;
		if (i - from > room) {
			first = from;
			room = i - from;
		}
		from = i + 1;
	}
	if (n < NAME_MIN || room < (n < NAME_CUT ? n : NAME_CUT) + 2)
		return end;
	if (n + 2 > room)
		strcpy(name + room - 4, "..");
	return first + 1;
}

unsigned gt_grid_run(const struct gt_grid *grid, unsigned row, unsigned column)
{
	const struct gt_grid_cell *first = gt_grid_cell_at(grid, row, column);
	unsigned end = column + 1;

	while (end < grid->columns) {
		const struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, end);

		if (cell->share != first->share || (cell->share && cell->region != first->region))
			break;
		end++;
	}
	return end;
}

/* ---- how it looks ------------------------------------------------------------------------------ */

/* The names, colours and stripes of report/page/theme.js, which the colour-blind can tell apart. */
static const struct gt_paint paints[] = {
	{ "code", 0x7cbbea, 110, '=', 0 },
	{ "annotation", 0x9880e0, 104, 'a', 0 },
	{ "MPI", 0xbb4800, 130, 'M', 0 },
	{ "thread wait", 0xf5de4a, 221, '.', 1 },
	{ "GPU wait", 0xd69603, 172, 'd', -1 },
	{ "file I/O", 0x80155a, 89, 'f', 0 },
	{ "GPU call", 0x0865a2, 25, 'g', 0 },
	{ "runtime", 0x95aaa5, 248, 'r', 0 },
	{ "kernel", 0x059b6b, 29, 'K', 0 },
	{ "copy", 0xb372a6, 132, 'C', 0 },
	{ "measurement", 0x585047, 59, 'x', 0 },
	{ "idle", 0xd9dce3, 253, '-', 0 },
};

enum { CODE, ANNOTATION, MPI, WAIT, DEVICE, IO, GPU_CALL, RUNTIME, KERNEL, COPY, MEASUREMENT, IDLE };

const struct gt_paint *gt_paint_of(unsigned class)
{
	static const unsigned char by_time[GT_TIMES] = {
		[GT_TIME_USEFUL] = CODE,	   [GT_TIME_MPI] = MPI,
		[GT_TIME_WAIT] = WAIT,		   [GT_TIME_DEVICE] = DEVICE,
		[GT_TIME_IO] = IO,		   [GT_TIME_GPU_CALL] = GPU_CALL,
		[GT_TIME_RUNTIME] = RUNTIME,	   [GT_TIME_ON_GPU] = KERNEL,
		[GT_TIME_MEASUREMENT] = MEASUREMENT, [GT_TIME_NOTHING] = IDLE,
	};

	if (class == GT_CLASS_GPU_TRANSFER || class == GT_CLASS_GPU_SET)
		return &paints[COPY];
	if (class == GT_CLASS_NVTX)
		return &paints[ANNOTATION];
	return &paints[class < GT_CLASSES ? by_time[gt_class_times[class]] : CODE];
}

uint64_t gt_grid_step(uint64_t length, unsigned most)
{
	static const unsigned char factors[] = { 1, 2, 5 };

	for (uint64_t power = 1; power < UINT64_MAX / 50; power *= 10)
		for (unsigned i = 0; i < 3; i++)
			if (length / (power * factors[i]) <= most)
				return power * factors[i];
	return length;
}

const char *gt_grid_tick(uint64_t time, uint64_t step, char *text, size_t size)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
	unsigned unit = 0, digits = 0;

	/* The largest unit of which the step is at least a hundredth. */
	while (unit < 3 && step < units[unit].ns / 100)
		unit++;
	for (uint64_t part = units[unit].ns; part > step; part /= 10)
		digits++;
	snprintf(text, size, "%.*f %s", (int)digits, (double)time / (double)units[unit].ns, units[unit].name);
	return text;
}

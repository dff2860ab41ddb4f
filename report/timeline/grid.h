/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the cells of a timeline: a row for each location (or for each depth of its call stack), divided
 * into columns of equal time. A cell has the region that took most of its time, and the share of it inside
 * any region. A location with samples of call stacks has a row of them: the function with most of their
 * processor time, and the share of the cell's time that they stand for.
 *
 *	struct gt_grid *grid = gt_grid_new(rows, columns, lines);
 *
 *	grid->patterns = "rank*";
 *	if (!gt_otf2_guarded(anchor, gt_grid_fill, grid, &reason))
 *		... gt_grid_cell_at(grid, row, column) ...
 *	gt_grid_free(grid);
 *
 * Limits: the grid lies in memory that is shared with the child that reads the archive (lib/read/guard.h), so
 * its sizes are fixed before: what has no room is counted.
 */
#ifndef GT_REPORT_TIMELINE_GRID_H
#define GT_REPORT_TIMELINE_GRID_H

#include <stdio.h>

#include "report/model/classes.h"
#include "report/part/part.h"

enum { GT_GRID_FULL = 255 }; /* a share of the whole cell */
enum { GT_LABEL_MAX = 32, GT_LABEL_MIN = 4 };

struct gt_grid_cell {
	uint32_t region;   /* in grid->regions */
	uint8_t share;     /* of the cell's time inside of any region, 0 to GT_GRID_FULL */
	uint8_t class;     /* enum gt_class of the region */
};

struct gt_grid_row {
	uint32_t label;    /* gt_grid_text() */
	uint32_t location; /* its place in the table */
	uint16_t depth;    /* of the call stack, from 1; 0: the innermost region */
	bool used;         /* something was recorded in the window */
	bool samples;      /* of call stacks, behind the other rows of its location */
};

/* A message, or a call and what it made a device do. */
struct gt_grid_line {
	uint64_t from, to; /* ns */
	uint32_t from_row, to_row;
	bool launch;
};

struct gt_grid {
	/* wanted: */
	struct gt_part part;      /* its window; becomes what is shown: at most the run */
	const char *patterns;     /* gt_part_choose(), or NULL */
	unsigned depth;           /* regions below this depth count for their caller; 0: all are shown */
	unsigned lanes;           /* rows of a location, one for each depth of its stack; 0: one row */
	bool with_lines;
	/* of a line of text, with the labels; 0: as many columns as there is room for */
	unsigned width;
	/* sizes: */
	unsigned columns, max_columns, max_rows, max_regions, max_lines;
	size_t text_room, size;
	/* what was found: */
	uint64_t duration;        /* ns: of the run */
	unsigned rows, regions, lines;
	unsigned label;           /* if there is a width: columns of a label, at most GT_LABEL_MAX */
	unsigned idle;            /* locations in which nothing was recorded in the window */
	unsigned no_room;         /* locations that have no row */
	uint64_t more_lines;      /* that have no room */
	uint64_t times[GT_CLASSES]; /* ns: of selected locations in the window, by innermost region */
	uint64_t counted[GT_CLASSES]; /* of it, what has a share (shares.h) */
	uint64_t lives;             /* ns: that of which it is one: lives of threads, without idle time */
	uint64_t of_gpus;           /* ns: and for kernels and copies: the window, for each device */
	size_t text_count;
	/* places of the arrays behind it: */
	size_t row_at, cell_at, region_at, line_at, text_at;
};

struct gt_grid_region {
	uint32_t name;  /* gt_grid_text() */
	uint32_t index; /* in the archive's table */
};

/* NULL: no memory. */
struct gt_grid *gt_grid_new(unsigned rows, unsigned columns, unsigned lines);
void gt_grid_free(struct gt_grid *grid);

/*
 * Fills the grid from an archive, in the child of gt_otf2_guarded(): 0, or 2 after a sentence on stderr. The
 * parent sees what is found.
 */
int gt_grid_fill(const char *anchor, void *grid, FILE *unused);

static inline struct gt_grid_row *gt_grid_row_at(const struct gt_grid *grid, unsigned row)
{
	return (struct gt_grid_row *)((char *)grid + grid->row_at) + row;
}

static inline struct gt_grid_cell *gt_grid_cell_at(const struct gt_grid *grid, unsigned row, unsigned column)
{
	return (struct gt_grid_cell *)((char *)grid + grid->cell_at) + (size_t)row * grid->columns + column;
}

static inline struct gt_grid_region *gt_grid_region_at(const struct gt_grid *grid, unsigned region)
{
	return (struct gt_grid_region *)((char *)grid + grid->region_at) + region;
}

static inline struct gt_grid_line *gt_grid_line_at(const struct gt_grid *grid, unsigned line)
{
	return (struct gt_grid_line *)((char *)grid + grid->line_at) + line;
}

static inline const char *gt_grid_text(const struct gt_grid *grid, uint32_t text)
{
	return (const char *)grid + grid->text_at + text;
}

static inline const char *gt_grid_name(const struct gt_grid *grid, const struct gt_grid_cell *cell)
{
	return gt_grid_text(grid, gt_grid_region_at(grid, cell->region)->name);
}

/* The time at which a column begins, ns. */
static inline uint64_t gt_grid_time(const struct gt_grid *grid, unsigned column)
{
	return grid->part.from +
	       (uint64_t)((unsigned __int128)(grid->part.to - grid->part.from) * column / grid->columns);
}

/* Characters of a name; any that is not ASCII is one "?". Returns how many. */
unsigned gt_grid_ascii(const char *name, char *text, size_t size);

/* The first column behind those from `column` on that look alike: the same region, the same share. */
unsigned gt_grid_run(const struct gt_grid *grid, unsigned row, unsigned column);

/*
 * Where a name stands in the bar from a column to `end`: where most of the time was in the region, or it
 * would claim too much. Cuts the name ("cudaDevi..") if there is not enough room. The column of its first
 * character, with one of the bar before and behind it, or `end`: it has no room.
 */
unsigned gt_grid_place(const struct gt_grid *grid, unsigned row, unsigned column, unsigned end, char *name);

/* ---- how it looks, the same in all faces -------------------------------------------------------- */

struct gt_paint {
	const char *name;    /* in the legend */
	uint32_t rgb;
	unsigned char color; /* of 256, in a terminal */
	char letter;         /* where there are no colours */
	signed char stripes; /* of waits: gt_canvas_stripes(); 0: none */
};

/* By class. Several classes share a paint: compare the names. */
const struct gt_paint *gt_paint_of(unsigned class);

/* The distance of ticks on a time axis, ns: 1, 2 or 5 times a power of ten, at most `most` of them. */
uint64_t gt_grid_step(uint64_t length, unsigned most);
/* "1.25 s", "30 us": a time on an axis whose ticks are `step` apart. */
const char *gt_grid_tick(uint64_t time, uint64_t step, char *text, size_t size);

#endif

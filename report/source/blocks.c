/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of kernels. An SM is busy while it has a block; the tail of a launch is the time in which SMs have
 * no more blocks, but others do.
 *
 * Limits: see blocks.h. An SM without any block is not known, and counts nowhere.
 */
#include "config.h"

#include "report/source/blocks.h"

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/io.h"
#include "lib/assemble/util/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAP_ROWS 44u

/* ---- reading ------------------------------------------------------------------------------------- */

struct reader {
	struct gt_block_launches *all;
	const char *kernel;
	uint32_t pid;
	char host[256];
	bool wanted; /* the last launch */
};

static void add_launch(struct reader *r, uint64_t launched, const char *name)
{
	struct gt_block_launches *all = r->all;

	r->wanted = !r->kernel || strstr(name, r->kernel);
	if (!r->wanted)
		return;
	all->items = gt_grown(all->items, all->count, &all->room, sizeof(*all->items));
	all->items[all->count++] = (struct gt_block_launch){
		.kernel = strdup(name), .host = strdup(r->host), .pid = r->pid, .launched = launched,
	};
}

static bool add_block(struct reader *r, const struct gt_block *block)
{
	struct gt_block_launch *l;

	if (!r->all->count || block->end < block->begin || block->sm > 65535)
		return false;
	l = &r->all->items[r->all->count - 1];
	l->blocks = gt_grown(l->blocks, l->count, &l->room, sizeof(*l->blocks));
	l->blocks[l->count++] = *block;
	return true;
}

static bool add_grid(struct reader *r, uint32_t grid, uint64_t first)
{
	struct gt_block_launch *l;

	if (!r->all->count)
		return false;
	l = &r->all->items[r->all->count - 1];
	l->grid = grid;
	l->first = first;
	return true;
}

static bool read_line(struct reader *r, const char *line)
{
	struct gt_block block;
	uint64_t launched, first;
	uint32_t grid;
	int name = 0;

	if (sscanf(line, "block %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64, &block.number, &block.sm,
		   &block.begin, &block.end) == 4)
		return !r->wanted || add_block(r, &block);
	if (sscanf(line, "grid %" SCNu32 " %" SCNu64, &grid, &first) == 2)
		return !r->wanted || add_grid(r, grid, first);
	if (sscanf(line, "launch %" SCNu64 " %n", &launched, &name) == 1 && name) {
		add_launch(r, launched, line + name);
		return true;
	}
	return sscanf(line, "process %" SCNu32 " %255s", &r->pid, r->host) >= 1 ||
	       !strncmp(line, "gputrace-blocks ", 16);
}

static void parse(struct reader *r, char *text)
{
	char *line;

	r->wanted = false;
	while ((line = strsep(&text, "\n")))
		if (*line && !read_line(r, line))
			r->all->bad++;
}

static int by_sm(const void *va, const void *vb)
{
	const struct gt_block *a = va, *b = vb;

	if (a->sm != b->sm)
		return a->sm < b->sm ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

int gt_blocks_read(struct gt_block_launches *launches, int dir, const char *kernel)
{
	struct reader r = { .all = launches, .kernel = kernel };
	int folder = gt_folder_open(dir, "gpu"), rc = 0;
	DIR *list = folder < 0 ? NULL : gt_folder_list(folder, ".");
	struct dirent *entry;
	char *text;

	*launches = (struct gt_block_launches){ .count = 0 };
	while (list && !rc && (entry = readdir(list))) {
		if (strncmp(entry->d_name, "blocks.", 7))
			continue;
		rc = gt_read_text(folder, entry->d_name, &text);
		if (rc)
			break;
		parse(&r, text);
		free(text);
	}
	if (list)
		closedir(list);
	if (folder >= 0)
		close(folder);
	for (size_t i = 0; i < launches->count; i++)
		if (launches->items[i].count)
			qsort(launches->items[i].blocks, launches->items[i].count, sizeof(struct gt_block),
			      by_sm);
	return rc ? rc : launches->count ? 0 : -ENOENT;
}

/* ---- what they say ------------------------------------------------------------------------------- */

struct sm {
	uint64_t blocks, busy, first, last;
};

uint64_t gt_blocks_span(const struct gt_block_launch *l)
{
	uint64_t end = 0;

	for (size_t i = 0; i < l->count; i++)
		if (l->blocks[i].end > end)
			end = l->blocks[i].end;
	return end;
}

uint64_t gt_blocks_error(const struct gt_block_launch *launch)
{
	return (launch->place.end - launch->place.start - gt_blocks_span(launch) + 1) / 2;
}

uint64_t gt_blocks_begin(const struct gt_block_launch *launch)
{
	return launch->place.end - gt_blocks_span(launch) - gt_blocks_error(launch);
}

/* The SM of the block at `at`; returns where the next one's begin. */
static size_t next_sm(const struct gt_block_launch *l, size_t at, struct sm *sm)
{
	uint32_t number = l->blocks[at].sm;

	*sm = (struct sm){ .first = l->blocks[at].begin };
	for (; at < l->count && l->blocks[at].sm == number; at++) {
		const struct gt_block *b = &l->blocks[at];
		uint64_t from = b->begin > sm->last ? b->begin : sm->last;

		sm->blocks++;
		sm->busy += b->end > from ? b->end - from : 0;
		sm->last = b->end > sm->last ? b->end : sm->last;
	}
	return at;
}

static const struct gt_column launch_columns[] = {
	{ "kernel", "kernel", GT_TEXT }, { "process", NULL, GT_COUNT }, { "blocks", "blocks", GT_COUNT },
	{ "missing", "missing", GT_COUNT }, { "sms", "SMs", GT_COUNT }, { "time_s", "time", GT_SECONDS },
	{ "block_s", "a block", GT_SECONDS }, { "longest_s", "longest", GT_SECONDS },
	{ "busy", "SMs busy", GT_SHARE }, { "imbalance", "busiest : mean", GT_NUMBER },
	{ "tail", "lost in the tail", GT_SHARE },
};
static const struct gt_column sm_columns[] = {
	{ "launch", "launch", GT_COUNT }, { "kernel", "kernel", GT_TEXT }, { "sm", "SM", GT_COUNT },
	{ "blocks", "blocks", GT_COUNT }, { "busy_s", "busy", GT_SECONDS }, { "first_s", "from", GT_SECONDS },
	{ "last_s", "to", GT_SECONDS }, { "tail_s", "idle at the end", GT_SECONDS },
};
static const struct gt_column place_columns[] = {
	{ "launch", "launch", GT_COUNT }, { "region", "kernel in the trace", GT_TEXT },
	{ "stream", "stream", GT_TEXT }, { "correlation", "correlation", GT_COUNT },
	{ "kernel_s", "kernel", GT_SECONDS }, { "begin_s", NULL, GT_SECONDS },
	{ "error_s", "at most off", GT_SECONDS }, { NULL, "first block at", GT_TEXT },
};
static const struct gt_column block_columns[] = {
	{ "launch", "launch", GT_COUNT }, { "block", "block", GT_COUNT }, { "sm", "SM", GT_COUNT },
	{ "begin_s", "from", GT_SECONDS }, { "end_s", "to", GT_SECONDS },
};
static const struct gt_section_kind place_kind =
	GT_SECTION("places", "Where they are in the trace", GT_ROWS, place_columns);
static const struct gt_section_kind block_kind = GT_SECTION("blocks", "Blocks", GT_ROWS, block_columns);
static const struct gt_section_kind launch_kind =
	GT_SECTION("launches", "Blocks of kernels, by launch", GT_ROWS, launch_columns);
static const struct gt_section_kind sm_kind =
	GT_SECTION("sms", "Blocks by multiprocessor", GT_ROWS, sm_columns);

static void add_sms(const struct gt_block_launch *l, size_t number, struct gt_section *section, uint64_t span)
{
	struct sm sm;

	for (size_t i = 0, next; i < l->count; i = next) {
		union gt_cell *row = gt_row_add(section);

		next = next_sm(l, i, &sm);
		row[0].count = number;
		row[1].text = l->kernel;
		row[2].count = l->blocks[i].sm;
		row[3].count = sm.blocks;
		row[4].count = sm.busy;
		row[5].count = sm.first;
		row[6].count = sm.last;
		row[7].count = span - sm.last;
	}
}

static void add_figures(const struct gt_block_launch *l, struct gt_section *section, uint64_t span)
{
	uint64_t busy = 0, most = 0, tail = 0, sms = 0, blocks = 0, longest = 0;
	union gt_cell *row = gt_row_add(section);
	struct sm sm;

	for (size_t i = 0; i < l->count; sms++) {
		i = next_sm(l, i, &sm);
		busy += sm.busy;
		most = sm.busy > most ? sm.busy : most;
		tail += span - sm.last;
	}
	for (size_t i = 0; i < l->count; i++) {
		uint64_t time = l->blocks[i].end - l->blocks[i].begin;

		blocks += time;
		longest = time > longest ? time : longest;
	}
	row[0].text = l->kernel;
	row[1].count = l->pid;
	row[2].count = l->launched;
	row[3].count = l->launched > l->count ? l->launched - l->count : 0;
	row[4].count = sms;
	row[5].count = span;
	row[6].count = l->count ? blocks / l->count : GT_NO_COUNT;
	row[7].count = longest;
	if (!span || !busy)
		return;
	row[8].number = (double)busy / ((double)span * (double)sms);
	row[9].number = (double)most * (double)sms / (double)busy;
	row[10].number = (double)tail / ((double)span * (double)sms);
}

static void add_place(const struct gt_block_launch *l, size_t number, struct gt_section *section,
		      struct gt_figures *figures)
{
	const struct gt_block_place *p = &l->place;
	union gt_cell *row;

	if (!p->region)
		return;
	row = gt_row_add(section);
	row[0].count = number;
	row[1].text = p->region;
	row[2].text = p->stream;
	row[3].count = p->correlation;
	row[4].count = p->end - p->start;
	row[5].count = gt_blocks_begin(l);
	row[6].count = gt_blocks_error(l);
	row[7].text = gt_figures_text(figures, "%.6f s", (double)gt_blocks_begin(l) / 1e9);
}

static void add_blocks(const struct gt_block_launch *l, size_t number, struct gt_section *section)
{
	for (size_t i = 0; i < l->count; i++) {
		union gt_cell *row = gt_row_add(section);

		row[0].count = number;
		row[1].count = l->blocks[i].number;
		row[2].count = l->blocks[i].sm;
		row[3].count = l->blocks[i].begin;
		row[4].count = l->blocks[i].end;
	}
}

void gt_blocks_figures(const struct gt_block_launches *launches, bool each, struct gt_figures *figures)
{
	struct gt_section *section = gt_section_add(figures, &launch_kind);
	struct gt_section *places = gt_section_add(figures, &place_kind);
	struct gt_section *sms = gt_section_add(figures, &sm_kind);
	struct gt_section *blocks = each ? gt_section_add(figures, &block_kind) : NULL;

	for (size_t i = 0; i < launches->count; i++) {
		uint64_t span = gt_blocks_span(&launches->items[i]);

		add_figures(&launches->items[i], section, span);
		add_place(&launches->items[i], i + 1, places, figures);
		add_sms(&launches->items[i], i + 1, sms, span);
		if (blocks)
			add_blocks(&launches->items[i], i + 1, blocks);
	}
	if (places->rows < launches->count)
		places->note = "Of the others the trace has no kernel, or several that they could be.";
	if (launches->bad)
		section->note = "A file of blocks is damaged: some lines could not be read.";
}

/* ---- the map ------------------------------------------------------------------------------------- */

double *gt_blocks_cells(const struct gt_block_launch *l, unsigned rows, unsigned columns)
{
	uint32_t low = l->blocks[0].sm, sms = l->blocks[l->count - 1].sm - low + 1;
	double *map = gt_zeroed((size_t)rows * columns, sizeof(*map)), span = (double)gt_blocks_span(l);

	for (size_t i = 0; i < l->count; i++) {
		const struct gt_block *b = &l->blocks[i];
		double *row = map + (size_t)((uint64_t)(b->sm - low) * rows / sms) * columns;
		double begin = (double)b->begin * columns / span, end = (double)b->end * columns / span;

		for (unsigned c = (unsigned)begin; c < columns && c < end; c++) {
			double from = begin > c ? begin : c, to = end < c + 1 ? end : c + 1;

			row[c] += to - from;
		}
	}
	return map;
}

struct change {
	uint64_t time;
	uint32_t sm;
	int by;
};

static int by_change(const void *va, const void *vb)
{
	const struct change *a = va, *b = vb;

	if (a->sm != b->sm)
		return a->sm < b->sm ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->by - b->by; /* ends first */
}

unsigned gt_blocks_most(const struct gt_block_launch *l)
{
	struct change *changes = gt_zeroed(2 * l->count + 1, sizeof(*changes));
	int now = 0, most = 0;

	for (size_t i = 0; i < l->count; i++) {
		changes[2 * i] = (struct change){ l->blocks[i].begin, l->blocks[i].sm, 1 };
		changes[2 * i + 1] = (struct change){ l->blocks[i].end, l->blocks[i].sm, -1 };
	}
	qsort(changes, 2 * l->count, sizeof(*changes), by_change);
	for (size_t i = 0; i < 2 * l->count; i++) {
		now += changes[i].by;
		most = now > most ? now : most;
	}
	free(changes);
	return (unsigned)most;
}

static void print_map(const struct gt_block_launch *l, const double *map, unsigned rows, unsigned columns,
		      FILE *out)
{
	static const char shades[] = " .:-=+*#%@";
	uint32_t low = l->blocks[0].sm, sms = l->blocks[l->count - 1].sm - low + 1;
	double most = 0;

	for (size_t i = 0; i < (size_t)rows * columns; i++)
		most = map[i] > most ? map[i] : most;
	for (unsigned r = 0; r < rows; r++) {
		fprintf(out, "  SM %5u  |", low + (unsigned)(((uint64_t)r * sms + rows - 1) / rows));
		for (unsigned c = 0; c < columns; c++) {
			double value = map[(size_t)r * columns + c] / most;

			fputc(shades[value > 0 ? 1 + (int)(value * 8.999) : 0], out);
		}
		fprintf(out, "|\n");
	}
}

void gt_blocks_map(const struct gt_block_launches *launches, FILE *out, unsigned width)
{
	const struct gt_block_launch *longest = NULL;
	unsigned columns = width > 60 ? width - 16 : 44, rows;
	uint64_t span = 0;
	char text[1200], time[64];
	double *map;

	for (size_t i = 0; i < launches->count; i++)
		if (gt_blocks_span(&launches->items[i]) > span) {
			longest = &launches->items[i];
			span = gt_blocks_span(longest);
		}
	if (!longest)
		return;
	rows = longest->blocks[longest->count - 1].sm - longest->blocks[0].sm + 1;
	rows = rows < MAP_ROWS ? rows : MAP_ROWS;
	map = gt_blocks_cells(longest, rows, columns);
	fprintf(out, "\n%s: blocks at a time, by SM, in %s\n",
		gt_summary_escape(text, sizeof(text), longest->kernel, 100),
		gt_cell_print(time, sizeof(time), (union gt_cell){ .count = span }, GT_SECONDS));
	print_map(longest, map, rows, columns, out);
	free(map);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace timeline -i`: zoom and scroll in the terminal. The archive is read anew for each view, so that
 * memory does not depend on its size.
 *
 * Limits: see timeline.h.
 */
#include "config.h"

#include "report/timeline/timeline.h"

#ifdef HAVE_NCURSES
#include <ctype.h>
#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/guard.h"
#include "report/print/draw.h"

#define HELP "q quit  +- zoom  arrows move  0 all  ,. cursor  [ ] depth  s stack  / n search  h help"

enum { MAX_ROWS = 4096, MAX_COLUMNS = 1024, STACK = 8, PAIRS_FROM = 1, HEAD = 1, FOOT = 3 };

struct screen {
	struct gt_grid *grid;
	struct gt_timeline_source *source;
	const char *reason;
	unsigned row, column, top; /* the cursor, the first row shown */
	char search[64];
	bool typing, backward, helping;
	int status;
};

static unsigned lines_for_rows(void)
{
	return LINES > HEAD + FOOT ? (unsigned)(LINES - HEAD - FOOT) : 1;
}

/* False: it cannot be shown any more. */
static bool read_view(struct screen *screen)
{
	struct gt_grid *grid = screen->grid;

	grid->part.from = screen->source->part.from;
	grid->part.to = screen->source->part.to;
	grid->depth = screen->source->depth;
	grid->lanes = screen->source->lanes;
	grid->width = COLS < MAX_COLUMNS ? (unsigned)COLS : MAX_COLUMNS;
	grid->patterns = screen->source->patterns;
	screen->status = gt_otf2_guarded(screen->source->anchor, gt_grid_fill, grid, &screen->reason);
	if (screen->status)
		return false;
	screen->source->part.from = grid->part.from;
	screen->source->part.to = grid->part.to;
	if (screen->row >= grid->rows)
		screen->row = grid->rows ? grid->rows - 1 : 0;
	if (screen->column >= grid->columns)
		screen->column = grid->columns - 1;
	return true;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

static unsigned basic(uint32_t rgb)
{
	unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;
	unsigned most = r > g ? r : g;

	most = most > b ? most : b;
	return (r * 4 > most * 3) | (g * 4 > most * 3) << 1 | (b * 4 > most * 3) << 2;
}

static void make_pairs(void)
{
	short back = use_default_colors() == OK ? -1 : COLOR_BLACK;

	for (unsigned class = 0; class < GT_CLASSES; class++) {
		const struct gt_paint *paint = gt_paint_of(class);
		bool dark = gt_rgb_dark(paint->rgb);

		if (COLORS >= 256)
			init_pair((short)(PAIRS_FROM + class), dark ? 231 : 16, paint->color);
		else
			init_pair((short)(PAIRS_FROM + class), COLOR_BLACK, (short)basic(paint->rgb));
		/* Of what is shaded. */
		init_pair((short)(PAIRS_FROM + GT_CLASSES + class),
			  (short)(COLORS >= 256 ? paint->color : basic(paint->rgb)), back);
	}
}

static void draw_axis(const struct gt_grid *grid)
{
	uint64_t length = grid->part.to - grid->part.from,
		 step = gt_grid_step(length, grid->columns / 14 + 1);

	for (uint64_t t = (grid->part.from + step - 1) / step * step; t < grid->part.to; t += step) {
		unsigned column = (unsigned)((unsigned __int128)(t - grid->part.from) * grid->columns /
					     length);
		char text[48];

		gt_grid_tick(t, step, text, sizeof(text));
		if (column + strlen(text) + 1 < grid->columns)
			mvprintw(0, (int)(grid->label + 1 + column), "|%s", text);
	}
}

/* As in text, what takes less than most of a cell is shaded. `letter`: of the name that is there, or 0. */
static chtype cell_look(const struct gt_grid_cell *cell, bool in_name, char letter)
{
	bool full = in_name || cell->share > GT_GRID_FULL * 9 / 10;

	if (!cell->share)
		return ' ';
	if (!has_colors())
		return (chtype)(unsigned char)(letter ? letter
					       : cell->share < GT_GRID_FULL / 8 ? ':'
					       : gt_paint_of(cell->class)->letter);
	if (full)
		return (chtype)(unsigned char)(letter ? letter : ' ') | COLOR_PAIR(PAIRS_FROM + cell->class);
	return (cell->share < GT_GRID_FULL / 8 ? ':' : ACS_CKBOARD) |
	       COLOR_PAIR(PAIRS_FROM + GT_CLASSES + cell->class);
}

static void draw_cell(const struct screen *screen, int y, unsigned row, unsigned column, bool in_name,
		      char letter)
{
	bool cursor = row == screen->row && column == screen->column;
	chtype look = cell_look(gt_grid_cell_at(screen->grid, row, column), in_name, letter);

	mvaddch(y, (int)(screen->grid->label + 1 + column), look | (cursor ? A_REVERSE : 0));
}

/* The name stands in its bar where that is long enough. */
static void draw_row(const struct screen *screen, int y, unsigned row)
{
	const struct gt_grid *grid = screen->grid;
	const struct gt_grid_row *of = gt_grid_row_at(grid, row);
	unsigned column = 0, end;
	char name[128];

	gt_grid_ascii(gt_grid_text(grid, of->label), name, sizeof(name));
	if (row == screen->row)
		attron(A_BOLD);
	mvaddnstr(y, 0, name, (int)grid->label);
	attroff(A_BOLD);
	for (; column < grid->columns; column = end) {
		const struct gt_grid_cell *cell = gt_grid_cell_at(grid, row, column);
		unsigned at;

		for (end = column + 1; end < grid->columns; end++)
			if (!gt_grid_cell_at(grid, row, end)->share != !cell->share ||
			    gt_grid_cell_at(grid, row, end)->region != cell->region)
				break;
		gt_grid_ascii(cell->share ? gt_grid_name(grid, cell) : "", name, sizeof(name));
		at = gt_grid_place(grid, row, column, end, name);
		for (unsigned i = column; i < end; i++)
			draw_cell(screen, y, row, i,
				  at < end && i + 1 >= at && i <= at + strlen(name),
				  (char)(at < end && i >= at && i < at + strlen(name) ? name[i - at] : 0));
	}
}

/* Shows the meanings of the colors, as far as the line has room. */
static void draw_legend(const struct gt_grid *grid)
{
	for (unsigned class = 0; class < GT_CLASSES; class++) {
		const struct gt_paint *paint = gt_paint_of(class);
		bool first = grid->times[class] > 0;

		for (unsigned i = 0; i < class; i++)
			first = first && !(grid->times[i] && gt_paint_of(i) == paint);
		if (!first || getcurx(stdscr) + (int)strlen(paint->name) + 6 > COLS)
			continue;
		addstr("   ");
		addch(has_colors() ? ' ' | COLOR_PAIR(PAIRS_FROM + class)
				   : (chtype)(unsigned char)paint->letter);
		printw(" %s", paint->name);
	}
}

/* Instead of the rows. */
static void draw_help(void)
{
	static const char *const lines[] = {
		"j k, arrows up and down, e y   next row, previous row",
		"Space f, b, Page Down, Page Up a page",
		"d u                            half a page",
		"g G                            first row, last row",
		"+ -                            zoom in and out around the cursor",
		"arrows left and right          a quarter of the window earlier or later",
		", .                            move the cursor by a column",
		"0                              the whole run",
		"[ ]                            one depth of calls less or more",
		"s                              a row for each depth of the call stack",
		"/TEXT ?TEXT n N                search rows by name, forward and backward",
		"Ctrl-L q                       draw again, quit",
		"any key                        back to the timeline",
	};

	for (int i = 0; i < (int)(sizeof(lines) / sizeof(lines[0])) && i < LINES; i++)
		mvaddnstr(i, 0, lines[i], COLS);
}

static void draw_foot(const struct screen *screen)
{
	const struct gt_grid *grid = screen->grid;
	char tick[48];

	if (grid->rows) {
		const struct gt_grid_cell *cell = gt_grid_cell_at(grid, screen->row, screen->column);
		uint64_t from = gt_grid_time(grid, screen->column),
			 to = gt_grid_time(grid, screen->column + 1);
		char name[512];

		gt_grid_ascii(cell->share ? gt_grid_name(grid, cell) : "nothing", name, sizeof(name));
		move(LINES - 3, 0);
		printw("%s + ", gt_grid_tick(from, to - from ? to - from : 1, tick, sizeof(tick)));
		printw("%s: ", gt_grid_tick(to - from, (to - from) / 100 + 1, tick, sizeof(tick)));
		if (cell->share)
			printw("mostly %s (%s), %.3g %% of it inside of calls", name,
			       gt_paint_of(cell->class)->name, 100. * cell->share / GT_GRID_FULL);
		else
			addstr(name);
	}
	mvprintw(LINES - 2, 0, "row %u of %u%s", screen->row + 1, grid->rows,
		 grid->lanes ? ", a row for each depth of the call stack" : "");
	if (grid->depth)
		printw(", calls down to depth %u", grid->depth);
	if (grid->idle)
		printw(", %u locations without calls here are left out", grid->idle);
	draw_legend(grid);
	attron(A_BOLD);
	move(LINES - 1, 0);
	if (screen->typing)
		printw("%c%s", screen->backward ? '?' : '/', screen->search);
	else
		addnstr(HELP, COLS);
	attroff(A_BOLD);
}

static void draw(struct screen *screen)
{
	unsigned lines = lines_for_rows();

	if (screen->row < screen->top)
		screen->top = screen->row;
	if (screen->row >= screen->top + lines)
		screen->top = screen->row - lines + 1;
	erase();
	if (screen->helping) {
		draw_help();
		refresh();
		return;
	}
	draw_axis(screen->grid);
	for (unsigned i = 0; i < lines && screen->top + i < screen->grid->rows; i++)
		draw_row(screen, HEAD + (int)i, screen->top + i);
	draw_foot(screen);
	refresh();
}

/* ---- keys --------------------------------------------------------------------------------------- */

/* Half or twice as long, around the cursor. */
static void zoom(struct screen *screen, bool in)
{
	const struct gt_grid *grid = screen->grid;
	struct gt_part *part = &screen->source->part;
	uint64_t length = part->to - part->from, middle = gt_grid_time(grid, screen->column), left;

	length = in ? length / 2 : length * 2;
	if (length < grid->columns / 8)
		return;
	left = (uint64_t)((double)length * screen->column / grid->columns);
	part->from = middle > left ? middle - left : 0;
	part->to = part->from + length;
	if (part->to > grid->duration) {
		part->to = grid->duration;
		part->from = length < grid->duration ? grid->duration - length : 0;
	}
}

static void pan(struct screen *screen, bool right)
{
	struct gt_part *part = &screen->source->part;
	uint64_t length = part->to - part->from, step = length / 4 + 1;

	if (right) {
		uint64_t room = screen->grid->duration - part->to;

		part->from += step < room ? step : room;
	} else {
		part->from -= step < part->from ? step : part->from;
	}
	part->to = part->from + length;
}

/* The next row whose label has the words, or the one before. */
static void search(struct screen *screen, bool backward)
{
	const struct gt_grid *grid = screen->grid;

	for (unsigned i = 1; i <= grid->rows; i++) {
		unsigned row = (screen->row + (backward ? grid->rows - i : i)) % grid->rows;

		if (strcasestr(gt_grid_text(grid, gt_grid_row_at(grid, row)->label), screen->search)) {
			screen->row = row;
			return;
		}
	}
	beep();
}

static void type_key(struct screen *screen, int key)
{
	size_t n = strlen(screen->search);

	if (key == '\n' || key == KEY_ENTER || key == 27) {
		screen->typing = false;
		if (key != 27)
			search(screen, screen->backward);
	} else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n) {
		screen->search[n - 1] = '\0';
	} else if (key < 256 && isprint(key) && n + 1 < sizeof(screen->search)) {
		screen->search[n] = (char)key;
		screen->search[n + 1] = '\0';
	}
}

static void move_row(struct screen *screen, long by)
{
	long row = (long)screen->row + by, last = (long)screen->grid->rows - 1;

	screen->row = (unsigned)(row < 0 || last < 0 ? 0 : row > last ? last : row);
}

/* True: a key that only moves the cursor. */
static bool move_key(struct screen *screen, int key)
{
	long page = lines_for_rows();

	switch (key) {
	case KEY_DOWN:
	case KEY_ENTER:
	case '\n':
	case 'j':
	case 'e':
		move_row(screen, 1);
		return true;
	case KEY_UP:
	case 'k':
	case 'y':
		move_row(screen, -1);
		return true;
	case KEY_NPAGE:
	case ' ':
	case 'f':
		move_row(screen, page);
		return true;
	case KEY_PPAGE:
	case 'b':
		move_row(screen, -page);
		return true;
	case 'd':
	case 'D' - '@': /* ctrl-D */
		move_row(screen, page / 2);
		return true;
	case 'u':
	case 'U' - '@':
		move_row(screen, -(page / 2));
		return true;
	case 'g':
		move_row(screen, -(long)screen->row);
		return true;
	case 'G':
	case KEY_END:
		move_row(screen, (long)screen->grid->rows);
		return true;
	case ',':
		screen->column -= screen->column > 0;
		return true;
	case '.':
		screen->column += screen->column + 1 < screen->grid->columns;
		return true;
	case '/':
	case '?':
		screen->typing = true;
		screen->backward = key == '?';
		screen->search[0] = '\0';
		return true;
	case 'n':
	case 'N':
		search(screen, screen->backward != (key == 'N'));
		return true;
	case 'h':
	case 'H':
		screen->helping = true;
		return true;
	case 'L' - '@': /* ctrl-L */
		clearok(curscr, TRUE);
		return true;
	}
	return false;
}

/* False: the user leaves, or it cannot be shown any more. */
static bool take_key(struct screen *screen, int key)
{
	struct gt_timeline_source *source = screen->source;

	if (screen->helping) {
		screen->helping = false;
		return true;
	}
	if (screen->typing) {
		type_key(screen, key);
		return true;
	}
	if (move_key(screen, key))
		return true;
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case '+':
	case '=':
	case '-':
		zoom(screen, key != '-');
		break;
	case KEY_LEFT:
	case KEY_RIGHT:
		pan(screen, key == KEY_RIGHT);
		break;
	case '0':
	case KEY_HOME:
		source->part.from = 0;
		source->part.to = UINT64_MAX;
		break;
	case ']':
		source->depth += source->depth > 0;
		source->depth += !source->depth;
		break;
	case '[':
		source->depth -= source->depth > 0;
		break;
	case 's':
		source->lanes = source->lanes ? 0 : STACK;
		break;
	case KEY_RESIZE:
		break;
	default:
		return true;
	}
	return read_view(screen);
}

int gt_timeline_screen(struct gt_timeline_source *source)
{
	struct screen screen = { .source = source, .grid = gt_grid_new(MAX_ROWS, MAX_COLUMNS, 0) };
	SCREEN *terminal;
	bool more;

	if (!screen.grid) {
		fprintf(stderr, "gputrace timeline: %m\n");
		return 2;
	}
	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		fputs("gputrace timeline: this terminal (TERM) is not known; leave out -i\n", stderr);
		gt_grid_free(screen.grid);
		return 2;
	}
	start_color();
	make_pairs();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(25);
	more = read_view(&screen);
	screen.column = screen.grid->columns / 2;
	for (; more; more = take_key(&screen, getch()))
		draw(&screen);
	endwin();
	delscreen(terminal);
	if (screen.status < 0)
		fprintf(stderr, "gputrace timeline: the archive cannot be read: %s\n", screen.reason);
	else if (screen.status) /* what the child has said went with the screen */
		gt_otf2_guarded(source->anchor, gt_grid_fill, screen.grid, &screen.reason);
	gt_grid_free(screen.grid);
	return screen.status ? 2 : 0;
}

bool gt_timeline_has_screen(void)
{
	return true;
}
#else
int gt_timeline_screen(struct gt_timeline_source *source)
{
	(void)source;
	return 2;
}

bool gt_timeline_has_screen(void)
{
	return false;
}
#endif

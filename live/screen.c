/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace top` in the terminal; see show.h.
 *
 * Limits: names that are no ASCII take the columns that the terminal gives them.
 */
#include "config.h"

#include "live/show.h"

#ifdef HAVE_NCURSES
#include <ctype.h>
#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP "q quit  v view  s sort  r reverse  / filter  space stop and go  arrows scroll"

struct screen {
	struct gt_live_run *run;
	struct gt_live_choice *choice;
	struct gt_live_set set;
	char filter[64];
	bool typing, frozen;
	size_t top; /* first row shown */
};

static void line_at(int y, const char *line, int attribute)
{
	move(y, 0);
	clrtoeol();
	attron(attribute);
	addnstr(line, COLS > 0 ? COLS : 0);
	attroff(attribute);
}

static void draw_foot(const struct screen *screen)
{
	char line[256];

	if (screen->typing)
		snprintf(line, sizeof(line), "filter: %s_", screen->filter);
	else
		snprintf(line, sizeof(line), "by %s%s%s%s%s  " HELP,
			 gt_live_order_names[screen->choice->order],
			 screen->choice->reverse ? ", reversed" : "", *screen->filter ? ", with " : "",
			 screen->filter, screen->frozen ? ", stopped" : "");
	line_at(LINES - 1, line, A_BOLD);
}

static void draw(struct screen *screen)
{
	size_t n, lines = LINES > 4 ? (size_t)LINES - 4 : 0;
	struct gt_live_row *rows = gt_live_rows(&screen->set, screen->choice, &n);
	char line[1024];

	erase();
	gt_live_text_sum(&screen->set, line, sizeof(line));
	line_at(0, line, A_NORMAL);
	gt_live_text_head(screen->choice->view, line, sizeof(line));
	line_at(2, line, A_REVERSE);
	if (screen->top >= n)
		screen->top = n ? n - 1 : 0;
	for (size_t i = 0; i < lines && screen->top + i < n; i++) {
		gt_live_text_row(&rows[screen->top + i], line, sizeof(line));
		line_at(3 + (int)i, line, A_NORMAL);
	}
	draw_foot(screen);
	refresh();
	free(rows);
}

static void type_key(struct screen *screen, int key)
{
	size_t n = strlen(screen->filter);

	if (key == '\n' || key == KEY_ENTER || key == 27)
		screen->typing = false;
	else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n)
		screen->filter[n - 1] = '\0';
	else if (key < 256 && isprint(key) && n + 1 < sizeof(screen->filter)) {
		screen->filter[n] = (char)key;
		screen->filter[n + 1] = '\0';
	}
}

/* False: the user wants to leave. */
static bool take_key(struct screen *screen, int key)
{
	size_t page = LINES > 6 ? (size_t)LINES - 5 : 1;

	if (screen->typing) {
		type_key(screen, key);
		return true;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 'v':
	case '\t':
		screen->choice->view = (screen->choice->view + 1) % GT_LIVE_VIEWS;
		break;
	case 's':
		screen->choice->order = (screen->choice->order + 1) % GT_LIVE_ORDERS;
		break;
	case 'r':
		screen->choice->reverse = !screen->choice->reverse;
		break;
	case ' ':
		screen->frozen = !screen->frozen;
		break;
	case '/':
		screen->typing = true;
		screen->filter[0] = '\0';
		break;
	case KEY_DOWN:
		screen->top++;
		break;
	case KEY_UP:
		screen->top -= screen->top > 0;
		break;
	case KEY_NPAGE:
		screen->top += page;
		break;
	case KEY_PPAGE:
		screen->top -= screen->top < page ? screen->top : page;
		break;
	}
	return true;
}

int gt_live_screen(struct gt_live_run *run, struct gt_live_choice *choice, uint64_t interval_ns)
{
	struct screen screen = {.run = run, .choice = choice};
	bool more = true;
	SCREEN *terminal;

	snprintf(screen.filter, sizeof(screen.filter), "%s", choice->filter);
	choice->filter = screen.filter;
	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		fprintf(stderr, "gputrace top: this terminal (TERM) is not known; try --plain\n");
		return 1;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(25);
	timeout((int)(interval_ns / 1000000));
	while (more) {
		int key;

		if (!screen.frozen) {
			gt_live_set_free(&screen.set);
			gt_live_gather(&screen.set, run, interval_ns);
		}
		do {
			draw(&screen);
			key = getch();
			more = key == ERR || take_key(&screen, key);
		} while (more && key != ERR);
	}
	endwin();
	delscreen(terminal);
	gt_live_set_free(&screen.set);
	return 0;
}

bool gt_live_has_screen(void)
{
	return true;
}
#else
int gt_live_screen(struct gt_live_run *run, struct gt_live_choice *choice, uint64_t interval_ns)
{
	(void)run;
	(void)choice;
	(void)interval_ns;
	return 1;
}

bool gt_live_has_screen(void)
{
	return false;
}
#endif

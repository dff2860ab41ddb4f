/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace timeline`: what each location did when, in the terminal or as a picture (report/timeline/).
 *
 * Limits: see report/timeline/grid.h.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/read/guard.h"
#include "report/timeline/timeline.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { KEY_COLOR = 0x100, KEY_ASCII };
enum {
	ROWS = 4096,
	MIN_WIDTH = 20,
	MAX_WIDTH = 4000,
	WIDTH = 100,
	PICTURE_WIDTH = 1200,
	LINES = 4000,
	STACK = 8,
	MAX_STACK = 64
};

static const struct gt_option option_table[] = {
	{'t', "time", "FROM:TO", "Only this part of the run, in seconds from its begin (1.5:2, 20ms:)."},
	{'l', "locations", "PATTERN", "Only threads, streams and processes of these names (rank 1;gpu*)."},
	{'d', "depth", "N", "Calls deeper than N are counted as part of their caller."},
	{'s', "stack", "N", "A row for each depth of the call stack, down to N."},
	{'w', "width", "N", "Columns of text, or pixels of a picture."},
	{'o', "output", "FILE", "Write a picture: FILE.svg or FILE.png."},
	{'i', "interactive", NULL, "Zoom and scroll in the terminal; the last line has the keys."},
	{KEY_COLOR, "color", "WHEN", "always, never, or auto: on a terminal."},
	{KEY_ASCII, "ascii", NULL, "Letters instead of blocks."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace timeline",
	"[options] DIR|FILE",
	"Shows what each thread, rank and stream did when: a bar for each region, coloured by its kind.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0, or 2 if the archive cannot be read or the picture not be written.\n",
	false};

struct wanted {
	struct gt_timeline_source source;
	const char *out;
	unsigned width;
	bool interactive, ascii;
	int color; /* 1: always, -1: never */
	struct gt_timeline_look look;
	struct gt_grid *grid;
	const char *title;
};

static unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned width = 0;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width && columns)
		width = (unsigned)strtoul(columns, NULL, 10);
	return width >= MIN_WIDTH && width <= MAX_WIDTH ? width : WIDTH;
}

static struct gt_timeline_look look_of(const struct wanted *wanted)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct gt_timeline_look look = { .color = wanted->color > 0 };

	if (!wanted->color)
		look.color = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") &&
			     !(no_color && *no_color);
	look.many = getenv("COLORTERM") || (term && strstr(term, "256color"));
	look.unicode = !wanted->ascii && setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
	return look;
}

/* In the child. */
static int show(const char *anchor, void *argument, FILE *out)
{
	const struct wanted *wanted = argument;
	struct gt_grid *grid = wanted->grid;
	int status;

	signal(SIGXFSZ, SIG_IGN); /* writing fails then, and that is said */
	status = gt_grid_fill(anchor, grid, out);
	if (status)
		return status;
	if (!wanted->out) {
		gt_timeline_text(grid, &wanted->look, out);
		return GT_RC_OK;
	}
	gt_timeline_notes(grid, stderr);
	return gt_timeline_picture(grid, wanted->title, wanted->out);
}

static int print(struct wanted *wanted, const char *name)
{
	unsigned width = wanted->width ? wanted->width : wanted->out ? PICTURE_WIDTH : terminal_width();
	int status;

	if (wanted->out)
		width -= GT_PICTURE_LABEL + GT_PICTURE_EDGE;
	wanted->title = name;
	wanted->look = look_of(wanted);
	wanted->grid = gt_grid_new(ROWS, width, wanted->out ? LINES : 0);
	if (!wanted->grid)
		return gt_archive_unreadable(&usage, name, strerror(ENOMEM));
	wanted->grid->part = wanted->source.part;
	wanted->grid->patterns = wanted->source.patterns;
	wanted->grid->depth = wanted->source.depth;
	wanted->grid->lanes = wanted->source.lanes;
	wanted->grid->with_lines = wanted->out;
	wanted->grid->width = wanted->out ? 0 : width;
	status = gt_archive_read(&usage, name, wanted->out, show, wanted);
	gt_grid_free(wanted->grid);
	return status;
}

static int interact(struct wanted *wanted, const char *name)
{
	char anchor[3500], spool[3500];
	const char *reason;

	gt_archive_wait(&usage, name);
	reason = gt_otf2_find_anchor(name, anchor, sizeof(anchor), spool, sizeof(spool));
	if (reason)
		return gt_archive_unreadable(&usage, name, reason);
	wanted->source.anchor = anchor;
	return gt_timeline_screen(&wanted->source);
}

static bool number(const char *text, unsigned least, unsigned most, unsigned *value)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < least || n > most)
		return false;
	*value = (unsigned)n;
	return true;
}

static bool color_of(const char *text, int *color)
{
	*color = !strcmp(text, "always") - !strcmp(text, "never");
	return *color || !strcmp(text, "auto");
}

/* A status, or -1: go on. */
static int take(struct wanted *wanted, int key)
{
	switch (key) {
	case 't':
		if (!gt_part_window(&wanted->source.part, optarg))
			return gt_usage_error(&usage, "'%s' is not a window of time (FROM:TO)", optarg);
		break;
	case 'l':
		wanted->source.patterns = gt_patterns_and(wanted->source.patterns, optarg);
		break;
	case 'd':
		if (!number(optarg, 1, 10000, &wanted->source.depth))
			return gt_usage_error(&usage, "'%s' is not a depth (1 to 10000)", optarg);
		break;
	case 's':
		if (!number(optarg, 1, MAX_STACK, &wanted->source.lanes))
			return gt_usage_error(&usage, "'%s' is not a depth (1 to %d)", optarg, MAX_STACK);
		break;
	case 'w':
		if (!number(optarg, MIN_WIDTH, MAX_WIDTH, &wanted->width))
			return gt_usage_error(&usage, "'%s' is not a width (%d to %d)", optarg, MIN_WIDTH,
					      MAX_WIDTH);
		break;
	case 'o':
		wanted->out = optarg;
		break;
	case 'i':
		wanted->interactive = true;
		break;
	case KEY_COLOR:
		if (!color_of(optarg, &wanted->color))
			return gt_usage_error(&usage, "--color is always, never, or auto, not '%s'", optarg);
		break;
	case KEY_ASCII:
		wanted->ascii = true;
		break;
	}
	return -1;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), n = strlen(end);

	return length > n && !strcmp(name + length - n, end);
}

static int refuse(const struct wanted *wanted)
{
	if (wanted->out && wanted->interactive)
		return gt_usage_error(&usage, "-i and -o cannot be combined");
	if (wanted->out && !ends_in(wanted->out, ".svg") && !ends_in(wanted->out, ".png"))
		return gt_usage_error(&usage, "the name of a picture ends in .svg or .png");
	if (wanted->out && ends_in(wanted->out, ".png") && !gt_timeline_has_png())
		return gt_usage_error(&usage, "this gputrace was built without cairo, which PNG needs");
	if (wanted->out && wanted->width && wanted->width < 2 * GT_PICTURE_LABEL)
		return gt_usage_error(&usage, "a picture is at least %d pixels wide", 2 * GT_PICTURE_LABEL);
	if (wanted->interactive && !gt_timeline_has_screen())
		return gt_usage_error(&usage, "this gputrace was built without ncurses, which -i needs");
	if (wanted->interactive && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return gt_usage_error(&usage, "-i needs a terminal");
	return GT_RC_OK;
}

int gt_cmd_timeline(int argc, char **argv)
{
	struct wanted wanted = { .source.part.to = UINT64_MAX };
	int key, status;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		status = take(&wanted, key);
		if (status >= 0)
			return status;
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind + 1 != argc)
		return gt_usage_error(&usage, "name one trace");
	status = refuse(&wanted);
	if (status)
		return status;
	return wanted.interactive ? interact(&wanted, argv[optind]) : print(&wanted, argv[optind]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The faces of a timeline (grid.h): text, a picture, a screen.
 *
 * Limits: text and screen show names in ASCII; any other character is "?".
 */
#ifndef GT_REPORT_TIMELINE_TIMELINE_H
#define GT_REPORT_TIMELINE_TIMELINE_H

#include <stdio.h>

#include "report/timeline/grid.h"

/* How text may look. */
struct gt_timeline_look {
	bool color;     /* escape sequences */
	bool many;      /* ... of 256 colours */
	bool unicode;   /* blocks; else letters only */
};

void gt_timeline_text(const struct gt_grid *grid, const struct gt_timeline_look *look, FILE *out);

/* "6 messages are not drawn" and so on, a line each; nothing if there is nothing to say. */
void gt_timeline_notes(const struct gt_grid *grid, FILE *out);

/*
 * Writes a picture, SVG or PNG by the end of the name, `width` pixels wide. `grid` has a column for each
 * pixel beside GT_PICTURE_LABEL and GT_PICTURE_EDGE. 0, or 2 after a sentence on standard error.
 */
enum { GT_PICTURE_LABEL = 170, GT_PICTURE_EDGE = 14 };
bool gt_timeline_has_png(void);
int gt_timeline_picture(const struct gt_grid *grid, const char *title, const char *path);

/* The archive and the initial view of a screen. */
struct gt_timeline_source {
	const char *anchor, *patterns;
	unsigned depth, lanes;
	struct gt_part part;
};

bool gt_timeline_has_screen(void);
/* Until the user leaves. A status, as of a command. */
int gt_timeline_screen(struct gt_timeline_source *source);

#endif

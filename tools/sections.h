/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of the commands that print sections of figures: which sections, how many rows, in which form.
 *
 * Limits: at most GT_SECTIONS_ASKED sections by name; further ones are left out.
 */
#ifndef GT_TOOLS_SECTIONS_H
#define GT_TOOLS_SECTIONS_H

#include <stdio.h>

#include "report/print/figures.h"
#include "tools/options.h"

enum { GT_SECTIONS_ASKED = 64, GT_KEY_JSON = 0x100, GT_KEY_CSV, GT_KEY_FREE /* for the command's own */ };

struct gt_sections {
	int form; /* GT_KEY_JSON, GT_KEY_CSV, or 0: text */
	struct gt_face face;
	const char *names[GT_SECTIONS_ASKED + 1];
	unsigned count;
};

/* For the table of options. */
#define GT_SECTIONS_OPTIONS                                                             \
	{ 's', "section", "NAME", "only this section, wholly; several: A,B" }, \
	{ 'a', "all", NULL, "all rows of tables, and all sections" },                         \
	{ GT_KEY_JSON, "json", NULL, "as JSON" },                                             \
	{ GT_KEY_CSV, "csv", NULL, "as CSV" }

/* One of these has been given. */
void gt_sections_option(struct gt_sections *asked, int key);

/* Prints the figures, or says in the name of `command` why that cannot be. GT_RC_OK or GT_RC_USAGE. */
int gt_sections_print(const struct gt_sections *asked, const char *command, const struct gt_figures *figures,
		      FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of figures: what is asked for, and printing them; see sections.h. */
#include "config.h"

#include "tools/sections.h"

#include <getopt.h>
#include <string.h>

#include "tools/cmds.h"

/* In JSON `threads` is their number, so that the section has a longer name. */
void gt_sections_option(struct gt_sections *asked, int key)
{
	switch (key) {
	case 's':
		for (char *name = strtok(optarg, ","); name; name = strtok(NULL, ","))
			if (asked->count < GT_SECTIONS_ASKED)
				asked->names[asked->count++] =
					strcmp(name, "threads") ? name : "thread_states";
		asked->face.sections = asked->names;
		asked->face.rows = 0;
		asked->face.details = true;
		break;
	case 'a':
		asked->face.rows = 0;
		break;
	case GT_KEY_JSON:
	case GT_KEY_CSV:
		asked->form = key;
		break;
	}
}

/* Members of others come with these. */
static void list(const struct gt_figures *figures, FILE *out)
{
	for (size_t i = 0; i < figures->count; i++)
		if (!strchr(figures->sections[i]->kind->key, '.'))
			fprintf(out, "  %-24s %s\n", figures->sections[i]->kind->key,
				figures->sections[i]->kind->title);
}

int gt_sections_print(const struct gt_sections *asked, const char *command, const struct gt_figures *figures,
		      FILE *out)
{
	for (unsigned i = 0; i < asked->count; i++)
		if (!gt_figures_have(figures, asked->names[i])) {
			fprintf(stderr, "%s: there is no section '%s'; there are:\n", command,
				asked->names[i]);
			list(figures, stderr);
			return GT_RC_USAGE;
		}
	if (asked->form == GT_KEY_JSON)
		gt_figures_json(figures, &asked->face, out);
	if (asked->form == GT_KEY_CSV)
		gt_figures_csv(figures, &asked->face, out);
	if (!asked->form)
		gt_figures_print(figures, &asked->face, out);
	return GT_RC_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace source`: where kernels spend their time, from PC samples and counts of instructions
 * (report/source/).
 *
 * Limits: works on what VT_CUPTI_PCSAMPLING or VT_CUPTI_SASS has left in DIR/gpu. Archives are read in a
 * child process (lib/read/guard.h), which prints when it has read everything.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/report/summary.h"
#include "report/source/blocks.h"
#include "report/source/source.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { KEY_JSON = 256, KEY_HTML, KEY_BLOCKS };

static const struct gt_option options[] = {
	{ 'i', "instructions", NULL, "show instructions, too, with their text where nvdisasm is found" },
	{ 'a', "all", NULL, "show the source of all kernels, not of those with most samples only" },
	{ KEY_BLOCKS, "blocks", NULL, "show when blocks of kernels ran, and where (gputrace/blocks.cuh)" },
	{ KEY_JSON, "json", NULL, "as JSON" },
	{ KEY_HTML, "html", NULL, "as a page of HTML, with instructions" },
	{ 'o', "output", "FILE", "write there instead of to standard output" },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	.command = "gputrace source",
	.synopsis = "[options] DIR [KERNEL]",
	.summary = "Shows the source lines and instructions at which kernels spend their time.",
	.options = options,
	.notes = "KERNEL: only kernels whose name holds this text.\n"
		 "Record with VT_CUPTI_PCSAMPLING=continuous, or serialized for the launching call paths;\n"
		 "or with VT_CUPTI_SASS=default for how often instructions ran, and floating-point\n"
		 "operations.\n"
		 "Exit status: 0, or 2 if there is nothing of it or no such kernel.\n",
};

struct choice {
	enum { TEXT, JSON, HTML } form;
	bool instructions, all, blocks;
	const char *kernel, *output, *dir;
	FILE *out;
};

static const char *shown(const char *text)
{
	static char buffer[1200];

	return gt_summary_escape(buffer, sizeof(buffer), text, 200);
}

static int no_samples(const struct choice *choice, int rc)
{
	if (rc == -ESRCH)
		fprintf(stderr, "gputrace source: no kernel with samples has '%s' in its name\n",
			shown(choice->kernel));
	else if (rc == -ENOENT && choice->blocks)
		fprintf(stderr, "gputrace source: %s has no times of blocks (gputrace/blocks.cuh)\n",
			shown(choice->dir));
	else if (rc == -ENOENT)
		fprintf(stderr, "gputrace source: %s has no PC samples (VT_CUPTI_PCSAMPLING records them) "
			"and no counts of instructions (VT_CUPTI_SASS)\n",
			shown(choice->dir));
	else
		fprintf(stderr, "gputrace source: the PC samples of %s cannot be read: %s\n",
			shown(choice->dir), strerror(-rc));
	return GT_RC_USAGE;
}

static uint64_t weight(const struct gt_src *src, size_t function)
{
	const struct gt_pc_function *f = src->functions[function].samples;

	return src->samples.sampled ? f->all : f->metrics[0];
}

/* Without a name: those with a hundredth of the samples (or of the first count), ten at most. */
static void leave_out_small(struct gt_src *src)
{
	uint64_t all = 0;
	size_t n = 0;

	for (size_t i = 0; i < src->count; i++)
		all += weight(src, i);
	while (n < src->count && n < 10 && (!n || weight(src, n) >= all / 100))
		n++;
	src->count = n;
}

static int print_text(struct gt_src *src, const struct choice *choice)
{
	static const char *const sections[] = { "pc_sampling", "kernels", "paths", "sass.kernels", NULL };
	static const char *const one[] = { "pc_sampling", "kernels", "stalls", "paths", "sass.kernels",
					   NULL };
	const struct gt_face face = { .sections = src->count == 1 ? one : sections,
				      .rows = choice->all ? 0 : 20, .width = gt_terminal_width(120) };
	struct gt_figures figures = { .count = 0 };

	gt_src_figures(src, &figures);
	gt_figures_print(&figures, &face, choice->out);
	if (!choice->all && !choice->kernel)
		leave_out_small(src);
	gt_src_annotate(src, choice->out, choice->instructions, face.width);
	return GT_RC_OK;
}

static int write_json(const struct gt_figures *figures, const struct choice *choice)
{
	const struct gt_face face = { .sections = NULL };

	gt_figures_json(figures, &face, choice->out);
	return GT_RC_OK;
}

static int print_json(const struct gt_src *src, const struct choice *choice)
{
	struct gt_figures figures = { .count = 0 };

	gt_src_figures(src, &figures);
	return write_json(&figures, choice);
}

static int print_blocks(const struct gt_block_launches *launches, const struct choice *choice)
{
	static const char *const sections[] = { "launches", "places", NULL };
	const struct gt_face face = { .sections = sections, .rows = choice->all ? 0 : 20,
				      .width = gt_terminal_width(120) };
	struct gt_figures figures = { .count = 0 };

	if (choice->form == HTML) {
		gt_blocks_html(launches, choice->dir, choice->all ? 0 : 10, choice->out);
		return GT_RC_OK;
	}
	gt_blocks_figures(launches, choice->all && choice->form == JSON, &figures);
	if (choice->form == JSON)
		return write_json(&figures, choice);
	gt_figures_print(&figures, &face, choice->out);
	gt_blocks_map(launches, choice->out, face.width);
	return GT_RC_OK;
}

static int print_source(const char *anchor, void *argument, FILE *pipe)
{
	struct choice *choice = argument;
	struct gt_block_launches launches;
	struct gt_src src;
	char *slash, folder[3500];
	int dir, rc;

	(void)pipe; /* it takes 1 MiB */
	snprintf(folder, sizeof(folder), "%s", anchor);
	slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	choice->dir = slash ? folder : ".";
	dir = open(choice->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = dir < 0 ? -errno : 0;
	if (!rc && choice->blocks)
		rc = gt_blocks_read(&launches, dir, choice->kernel);
	else if (!rc)
		rc = gt_src_open(&src, dir, choice->kernel, choice->instructions || choice->form != TEXT);
	if (rc)
		return no_samples(choice, rc);
	if (choice->blocks && gt_blocks_place(&launches, anchor))
		fprintf(stderr, "gputrace source: the events of %s cannot be read: the launches' times are "
			"not known\n", shown(choice->dir));
	else if (!choice->blocks && gt_src_paths(&src, anchor))
		fprintf(stderr, "gputrace source: the events of %s cannot be read: no call paths\n",
			shown(choice->dir));
	choice->out = choice->output ? fopen(choice->output, "we") : stdout;
	if (!choice->out) {
		fprintf(stderr, "gputrace source: %s: %m\n", shown(choice->output));
		return GT_RC_USAGE;
	}
	rc = GT_RC_OK;
	if (choice->blocks)
		rc = print_blocks(&launches, choice);
	else if (choice->form == TEXT)
		rc = print_text(&src, choice);
	else if (choice->form == JSON)
		rc = print_json(&src, choice);
	else
		gt_src_html(&src, choice->dir, choice->out);
	if (fflush(choice->out) || ferror(choice->out)) {
		fprintf(stderr, "gputrace source: the output cannot be written: %m\n");
		return GT_RC_BAD;
	}
	return rc;
}

int gt_cmd_source(int argc, char **argv)
{
	struct choice choice = { .form = TEXT };
	int key;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		choice.instructions |= key == 'i';
		choice.all |= key == 'a';
		choice.blocks |= key == KEY_BLOCKS;
		if (key == KEY_JSON || key == KEY_HTML)
			choice.form = key == KEY_JSON ? JSON : HTML;
		if (key == 'o')
			choice.output = optarg;
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind == argc)
		return gt_usage_error(&usage, "no trace was given");
	if (argc - optind > 2)
		return gt_usage_error(&usage, "there are too many arguments");
	choice.kernel = argv[optind + 1];
	return gt_archive_read(&usage, argv[optind], NULL, print_source, &choice);
}

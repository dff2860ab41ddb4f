/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of source files. An archive may come from anybody and name any file: only those are opened whose
 * name ends as a source's does.
 *
 * Limits: see source.h.
 */
#include "config.h"

#include "report/source/source.h"

#include "lib/assemble/util/io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct gt_src_text {
	char *text;
	char **lines;
	size_t count;
};

static bool is_source(const char *file)
{
	static const char *const endings[] = { "cu", "cuh", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx",
					       "inl", "ipp", "tcc", "cuf", "f90", "py", "jl", "rs" };
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	return false;
}

struct gt_src_text *gt_src_text_open(const char *file)
{
	struct gt_src_text *t;
	char *text, *line;
	size_t n = 0;

	if (!is_source(file) || gt_read_text(AT_FDCWD, file, &text))
		return NULL;
	for (const char *at = text; at; at = strchr(at + 1, '\n'))
		n++;
	t = calloc(1, sizeof(*t));
	if (t)
		t->lines = calloc(n + 1, sizeof(*t->lines));
	if (!t || !t->lines) {
		free(t);
		free(text);
		return NULL;
	}
	t->text = text;
	while ((line = strsep(&text, "\n")) && t->count < n)
		t->lines[t->count++] = line;
	return t;
}

const char *gt_src_text_line(const struct gt_src_text *t, unsigned line)
{
	return t && line && line <= t->count ? t->lines[line - 1] : NULL;
}

void gt_src_text_close(struct gt_src_text *t)
{
	if (!t)
		return;
	free(t->text);
	free(t->lines);
	free(t);
}

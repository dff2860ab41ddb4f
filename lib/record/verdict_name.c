/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of a function by its address; see verdict_name.h.
 *
 * Limits: the symbols of FILES_MAX files are kept at a time; with more, files are read again.
 */
#include "lib/record/verdict_name.h"

#include "lib/common/demangle.h"
#include "lib/record/elfsym.h"

#include <string.h>

#define FILES_MAX 64

struct symbols {
	uint64_t start, end; /* of one of its mappings; 0: free */
	const char *path;    /* owned by modules.c, which never frees it */
	struct gt_elfsym elf;
};

static struct symbols files[FILES_MAX];
static unsigned next_file;
static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];

static int open_elf(void *symbols)
{
	struct symbols *file = symbols;

	return gt_elfsym_open(&file->elf, file->path);
}

static const struct gt_elfsym *symbols_of(const struct gt_module_range *range)
{
	struct symbols *file;

	for (unsigned i = 0; i < FILES_MAX; i++)
		if (files[i].end && !strcmp(files[i].path, range->path))
			return &files[i].elf;
	file = &files[next_file];
	for (unsigned i = 0; i < FILES_MAX; i++)
		if (!files[i].end)
			file = &files[i];
	if (file->end) {
		next_file = (next_file + 1) % FILES_MAX;
		gt_elfsym_close(&file->elf);
	}
	file->start = range->start;
	file->end = range->end;
	file->path = range->path;
	gt_folder_apart(open_elf, file, -1); /* on failure it is empty: nothing has a name */
	return &file->elf;
}

void gt_verdict_demangle(struct gt_filter_names *n)
{
	const char *dot;

	if (gt_demangle(n->name, full, plain)) {
		n->full = full;
		n->plain = plain;
		return;
	}
	/* A copy that the compiler made: work.part.0 goes by work, too. */
	dot = strchr(n->name, '.');
	if (dot && dot > n->name && (size_t)(dot - n->name) < sizeof(plain)) {
		memcpy(plain, n->name, (size_t)(dot - n->name));
		plain[dot - n->name] = '\0';
		n->plain = plain;
	}
}

const char *gt_verdict_symbol(uint64_t address, const struct gt_module_range *range, uint32_t *bytes)
{
	return gt_elfsym_find_rest(symbols_of(range), address - range->start + range->offset, bytes);
}

uint32_t gt_verdict_names(uint64_t address, const struct gt_module_range *range,
			  struct gt_filter_names *n)
{
	uint32_t bytes;

	n->name = gt_verdict_symbol(address, range, &bytes);
	if (!n->name)
		return 0;
	gt_verdict_demangle(n);
	return bytes;
}

void gt_verdict_names_forget(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < FILES_MAX; i++) {
		if (!files[i].end || files[i].start >= end || files[i].end <= start)
			continue;
		gt_elfsym_close(&files[i].elf);
		files[i].end = 0;
	}
}

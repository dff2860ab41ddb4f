/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the library wrappers that `gputrace run --wrap` and `gputrace-cc --gputrace-wrap` name.
 *
 * Limits: a wrapper is known by its group; upper and lower case are the same.
 */
#ifndef GT_TOOLS_WRAPS_H
#define GT_TOOLS_WRAPS_H

#include <stdbool.h>
#include <stddef.h>

enum gt_wrap_part {
	GT_WRAP_SHARED,  /* libgputrace-wrap-NAME.so */
	GT_WRAP_ARCHIVE, /* libgputrace-wrap-NAME-link.a */
	GT_WRAP_LIST,    /* the linker's options: libgputrace-wrap-NAME.link, or link.txt in a project */
};

/*
 * `word` is a wrapper's name, the folder of a project (anything with a slash), or a file. Puts the
 * absolute path into `path`; false, with a sentence in `why`, if there is none.
 */
bool gt_wrap_file(const char *word, enum gt_wrap_part part, char *path, size_t size, char *why,
		  size_t why_size);

/* Calls `each` for every wrapper of gputrace's own that this installation lacks, with the reason. */
typedef void gt_wrap_each(const char *name, const char *why, void *data);
void gt_wrap_absent(gt_wrap_each *each, void *data);

/* Why this installation lacks the wrapper `name`: ": it needs ..."; empty if nothing is known. */
void gt_wrap_why(const char *name, char *why, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures of archives, and where they are kept: beside the anchor file (traces.index), or, where that cannot
 * be written, in the user's cache (XDG_CACHE_HOME, ~/.cache).
 *
 * Limits: an index is used by who has made it, with this version of gputrace, while the archive's files have
 * the same names, sizes and times.
 */
#ifndef GT_REPORT_PAGE_INDEX_H
#define GT_REPORT_PAGE_INDEX_H

#include "report/page/store.h"

struct gt_index {
	struct gt_store store;
	int fd;
	bool made;         /* now, and not found */
	uint64_t damaged, locations; /* of which the events of `damaged` could not all be read */
	char path[4096];   /* "": it is in a file without a name */
};

/*
 * Opens the picture of an archive, or makes it (in a child, guard.h); `keep`: and keeps it for the next time.
 * 0, or the exit status after a sentence on standard error that begins with `command`.
 */
int gt_index_open(struct gt_index *index, const char *command, const char *anchor, bool keep);
void gt_index_close(struct gt_index *index);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The archive for those who call libotf2: its state, errors and space.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_ARCHIVE_INT_H
#define GT_ASSEMBLE_ARCHIVE_ARCHIVE_INT_H

#include <otf2/otf2.h>
#include <pthread.h>
#include <stdio.h>

#include "lib/assemble/archive/archive.h"

#define GT_DEF_CHUNK     (UINT64_C(4) << 20)
#define GT_ARCHIVE_MANY  256u /* locations from which on chunks are small, and files have several names */
#define GT_LOCATION_LEAST UINT64_C(8192) /* bytes on the disk: two files, a block each */

struct gt_chunk {
	struct gt_chunk *next;
	uint64_t bytes;
	bool busy;
	void *data;
};

struct gt_archive {
	OTF2_Archive *otf2;
	struct gt_archive_options options;
	uint64_t evt_chunk;
	int failed;               /* atomic */
	char why[256];
	pthread_mutex_t lock;     /* chunks, why */
	pthread_mutex_t space_lock; /* who takes space from the disk, or gives some back */
	struct gt_chunk *chunks;  /* free ones */
	int ballast;              /* file whose space is given back for the definitions */
	uint64_t ballast_bytes;
	uint32_t empty_defs;      /* a location with a file of definitions that says nothing, + 1 */
	uint64_t remaining;       /* atomic: locations that are not closed yet */
	/* by location number, while it is written: chunks that libotf2 wrote, atomic */
	uint64_t **flushed;
	OTF2_MarkerWriter *marker_writer;
	uint32_t marker_defs;     /* kinds of markers that have been written */
	FILE *markers;            /* of a part; else NULL */
};

/* Notes an error code of libotf2. Returns true if it was one. */
bool gt_otf2_bad(struct gt_archive *archive, OTF2_ErrorCode rc, const char *what);

static inline bool gt_archive_bad(const struct gt_archive *archive)
{
	return __atomic_load_n(&archive->failed, __ATOMIC_RELAXED);
}

/*
 * Gives a file blocks for `need` bytes, of which it has `from`, and a step more if there are. 0 or a
 * negative errno.
 */
int gt_archive_reserve(struct gt_archive *archive, int fd, uint64_t from, uint64_t need, uint64_t step,
		       uint64_t *got);

/* All but the global definitions is written: closes its files. And: closes and frees it; 0 or -EIO. */
void gt_archive_close_files(struct gt_archive *archive);
int gt_archive_free(struct gt_archive *archive);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder share.
 *
 * Limits: internal; outside of this folder nothing includes otf2.h.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_INT_H
#define GT_ASSEMBLE_ARCHIVE_INT_H

#include <otf2/otf2.h>
#include <pthread.h>
#include <stdio.h>

#include "lib/assemble/archive/archive.h"
#include "lib/assemble/archive/pipe.h"

#define GT_DEF_CHUNK   (UINT64_C(4) << 20)

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
	struct gt_writer **writers; /* by location number, while it is open */
	OTF2_MarkerWriter *marker_writer;
	uint32_t marker_defs;     /* kinds of markers that have been written */
	FILE *markers;            /* of a part; else NULL */
};

struct gt_writer {
	OTF2_EvtWriter *direct; /* see gt_writer_evt */
	struct gt_pipe *pipe;   /* NULL: the worker itself calls libotf2 */
	struct gt_archive *archive;
	uint32_t number;
	uint64_t flushed;   /* atomic: chunks that libotf2 was allowed to write */
	uint64_t reserved;  /* bytes of the file that certainly fit on the disk */
	int fd;             /* its file, -1: not open */
};

struct gt_writer *gt_writer_open(struct gt_archive *archive, uint32_t number);

/* From now on enters and leaves go through a pipe, if one can be had. */
void gt_writer_use_pipe(struct gt_writer *writer);

/* Waits for the pipe, and does away with it if it is of no use here. */
void gt_writer_drain(struct gt_writer *writer);

/* For a call of libotf2: what came before is written. */
static inline OTF2_EvtWriter *gt_writer_evt(struct gt_writer *writer)
{
	if (writer->pipe)
		gt_writer_drain(writer);
	return writer->direct;
}

/*
 * Makes sure that `bytes` more can be written and the file be closed. False: the disk is full; then
 * only what `reserve` of the last successful call covers may be written.
 */
bool gt_writer_reserve(struct gt_writer *writer, uint64_t bytes);

/* Closes the writer; *events gets the number of events in its file. */
void gt_writer_close(struct gt_writer *writer, uint64_t *events);

/* Notes an error code of libotf2. Returns true if it was one. */
bool gt_otf2_bad(struct gt_archive *archive, OTF2_ErrorCode rc, const char *what);

static inline bool gt_archive_bad(const struct gt_archive *archive)
{
	return __atomic_load_n(&archive->failed, __ATOMIC_RELAXED);
}

/* I/O paradigms, files and handles; prepare makes the strings that write names. */
void gt_archive_prepare_io(struct gt_defs *defs);
OTF2_ErrorCode gt_archive_write_io(OTF2_GlobalDefWriter *writer, struct gt_defs *defs);

int gt_archive_write_defs(struct gt_archive *archive, const struct gt_layout *layout,
			  struct gt_defs *defs, const struct gt_archive_clock *clock);

#endif

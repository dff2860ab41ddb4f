/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event writers: what libotf2 writes of one location, with room on the disk for it beforehand.
 *
 * Limits: one thread for a writer; see archive.h.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_WRITER_H
#define GT_ASSEMBLE_ARCHIVE_WRITER_H

#include "lib/assemble/archive/archive_int.h"
#include "lib/assemble/archive/pipe.h"

struct gt_writer {
	OTF2_EvtWriter *direct; /* see gt_writer_evt */
	struct gt_pipe *pipe;   /* NULL: the worker itself calls libotf2 */
	struct gt_archive *archive;
	uint32_t number;
	uint64_t flushed;   /* atomic: chunks that libotf2 was allowed to write */
	uint64_t asked;     /* bytes for which room was asked, at most what the events take */
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

#endif

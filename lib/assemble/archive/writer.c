/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event writers: room on the disk before libotf2 writes, and a second thread where one is worth it.
 */
#include "config.h"

#include "lib/assemble/archive/writer.h"

#include "lib/assemble/archive/local_defs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESERVE_STEP  (UINT64_C(16) << 20)
#define ENDS          (UINT64_C(32) << 10) /* what a process's begin and end take, with its arguments */

struct gt_writer *gt_writer_open(struct gt_archive *archive, uint32_t number)
{
	struct gt_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		gt_archive_fail(archive, "no memory");
	if (gt_archive_bad(archive)) {
		free(writer);
		return NULL;
	}
	writer->archive = archive;
	writer->number = number;
	writer->fd = -1;
	archive->flushed[number] = &writer->flushed;
	writer->direct = OTF2_Archive_GetEvtWriter(archive->otf2, number);
	if (!writer->direct) {
		gt_archive_fail(archive, "OTF2 cannot make an event writer");
		archive->flushed[number] = NULL;
		free(writer);
		return NULL;
	}
	return writer;
}

void gt_writer_use_pipe(struct gt_writer *writer)
{
	writer->pipe = gt_pipe_open(writer->archive, writer->direct);
}

void gt_writer_drain(struct gt_writer *writer)
{
	gt_pipe_drain(writer->pipe);
	if (!gt_pipe_useless(writer->pipe))
		return;
	gt_pipe_close(writer->pipe);
	writer->pipe = NULL;
}

static int open_events(struct gt_writer *writer)
{
	char path[32];

	if (writer->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "traces/%u.evt", writer->number);
	writer->fd = openat(writer->archive->options.dirfd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return writer->fd < 0 ? -errno : 0;
}

/* What has been flushed, the chunk in memory, what is to come with chunks' fill losses. */
static uint64_t needed(const struct gt_writer *writer, uint64_t bytes, uint64_t *flushed)
{
	*flushed = __atomic_load_n(&writer->flushed, __ATOMIC_RELAXED);
	return (*flushed + 2) * writer->archive->evt_chunk + bytes + bytes / 8;
}

bool gt_writer_reserve(struct gt_writer *writer, uint64_t bytes)
{
	uint64_t chunk = writer->archive->evt_chunk;
	uint64_t need, flushed;
	int rc;

	if (writer->pipe)
		bytes += GT_PIPE_BYTES;
	writer->asked += bytes + bytes / 8;
	need = needed(writer, bytes, &flushed);
	if (need <= writer->reserved)
		return true;
	/* The other thread may be at the first flush: counted, but the file is not there yet. */
	if (writer->pipe) {
		gt_writer_drain(writer);
		need = needed(writer, bytes, &flushed);
	}
	/* libotf2 makes the file at the first flush and empties it; before that the ballast is there
	 * for what may come. Up to 4 MiB it keeps what is flushed in memory. */
	if (!flushed)
		return bytes <= chunk || gt_archive_reserve_defs(writer->archive, bytes);
	pthread_mutex_lock(&writer->archive->space_lock);
	rc = open_events(writer);
	if (!rc)
		rc = gt_archive_reserve(writer->archive, writer->fd, writer->reserved, need, RESERVE_STEP,
					&writer->reserved);
	pthread_mutex_unlock(&writer->archive->space_lock);
	return !rc;
}

/* An upper bound of the data still in libotf2's chunks: little for a location with few events. */
static uint64_t in_chunks(const struct gt_writer *writer)
{
	uint64_t most = 2 * writer->archive->evt_chunk;

	return !writer->flushed && writer->asked + ENDS < most ? writer->asked + ENDS : most;
}

/*
 * The ballast makes room for what closing a location writes, as far as its own file does not have
 * it. The next reservation takes it back: room that nobody needs costs more than all else of a short process.
 */
static void close_on_ballast(struct gt_writer *writer)
{
	struct gt_archive *archive = writer->archive;
	uint64_t room = GT_LOCATION_LEAST, keep;

	if (writer->reserved < (writer->flushed + 2) * archive->evt_chunk)
		room += in_chunks(writer);
	keep = archive->ballast_bytes > room ? archive->ballast_bytes - room : 0;
	keep = keep / GT_PAGE * GT_PAGE;
	if (archive->ballast >= 0 && archive->ballast_bytes &&
	    !fallocate(archive->ballast, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)keep,
		       (off_t)(archive->ballast_bytes - keep)))
		archive->ballast_bytes = keep;
	__atomic_fetch_sub(&archive->remaining, 1, __ATOMIC_RELAXED);
}

void gt_writer_close(struct gt_writer *writer, uint64_t *events)
{
	struct gt_archive *archive = writer->archive;
	struct stat st;

	*events = 0;
	gt_pipe_close(writer->pipe);
	if (!gt_archive_bad(archive))
		gt_otf2_bad(archive, OTF2_EvtWriter_GetNumberOfEvents(writer->direct, events),
			    "counting events");
	/* While the space that the ballast gave back is unused, nobody else may reserve it. */
	pthread_mutex_lock(&archive->space_lock);
	close_on_ballast(writer);
	if (!gt_archive_bad(archive))
		gt_otf2_bad(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer->direct),
			    "closing an event file");
	if (!gt_archive_bad(archive) && archive->options.mode == GT_ARCHIVE_WHOLE &&
	    !archive->options.late_defs)
		gt_local_defs_none(archive, writer->number);
	pthread_mutex_unlock(&archive->space_lock);
	archive->flushed[writer->number] = NULL;
	if (writer->fd >= 0) {
		if (!fstat(writer->fd, &st) && ftruncate(writer->fd, st.st_size))
			gt_archive_fail(archive, "cannot set the size of an event file");
		close(writer->fd);
	}
	free(writer);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The archive's files: bounds libotf2's memory, reserves its disk space, handles its errors.
 *
 * Memory: each event writer gets one chunk at a time, so that libotf2 flushes when it is full.
 * Space: `flushed` counts the chunks that libotf2 has passed on; before more events are converted,
 * the event file is given blocks for all of them (fallocate beyond its end), so that no write of
 * libotf2 can fail. Small locations, which are written when they are closed, live on the ballast.
 */
#include "config.h"

#include "gputrace/compiler.h"
#include "lib/assemble/archive/archive_int.h"
#include "lib/assemble/util/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <otf2/OTF2_Pthread_Locks.h> /* of 3.0 it does not include the former */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BALLAST_STEP  (UINT64_C(64) << 10)
#define MARGIN        (UINT64_C(64) << 20) /* where space cannot be reserved, this much must be free */
#define EVT_CHUNK     (UINT64_C(4) << 20)
#define EVT_CHUNK_MIN (UINT64_C(256) << 10)
#define BALLAST_NAME  ".ballast"

/* ---- errors ----------------------------------------------------------------------------------- */

void gt_archive_fail(struct gt_archive *archive, const char *why)
{
	pthread_mutex_lock(&archive->lock);
	if (!archive->failed)
		snprintf(archive->why, sizeof(archive->why), "%s", why);
	__atomic_store_n(&archive->failed, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&archive->lock);
}

bool gt_archive_failed(struct gt_archive *archive, char *why, size_t why_size)
{
	bool failed;

	pthread_mutex_lock(&archive->lock);
	failed = archive->failed;
	if (failed && why)
		snprintf(why, why_size, "%s", archive->why);
	pthread_mutex_unlock(&archive->lock);
	return failed;
}

bool gt_otf2_bad(struct gt_archive *archive, OTF2_ErrorCode rc, const char *what)
{
	char text[200];

	if (gt_likely(rc == OTF2_SUCCESS))
		return false;
	snprintf(text, sizeof(text), "OTF2: %s: %s", what, OTF2_Error_GetDescription(rc));
	gt_archive_fail(archive, text);
	return true;
}

/* libotf2 reports errors here first; the code comes back to the caller as well. */
__attribute__((format(printf, 6, 0)))
static OTF2_ErrorCode on_error(void *context, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *format, va_list ap)
{
	struct gt_archive *archive = context;
	char text[160], all[320];

	(void)file;
	(void)line;
	if (code == OTF2_SUCCESS || code == OTF2_WARNING)
		return code;
	vsnprintf(text, sizeof(text), format, ap);
	snprintf(all, sizeof(all), "OTF2 (%.40s): %.100s: %s", function,
		 OTF2_Error_GetDescription(code), text);
	gt_archive_fail(archive, all);
	return code;
}

/* ---- memory -------------------------------------------------------------------------------------- */

static struct gt_chunk *take_chunk(struct gt_archive *archive, uint64_t bytes)
{
	struct gt_chunk **from, *chunk;

	pthread_mutex_lock(&archive->lock);
	for (from = &archive->chunks; *from && (*from)->bytes != bytes; from = &(*from)->next)
		;
	chunk = *from;
	if (chunk)
		*from = chunk->next;
	pthread_mutex_unlock(&archive->lock);
	if (chunk)
		return chunk;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return NULL;
	chunk->bytes = bytes;
	chunk->data = malloc(bytes);
	if (!chunk->data) {
		free(chunk);
		return NULL;
	}
	return chunk;
}

/* One chunk per buffer: a second one is refused, which makes libotf2 flush the first. */
static void *allocate(void *context, OTF2_FileType type, OTF2_LocationRef location, void **data,
		      uint64_t bytes)
{
	struct gt_chunk *chunk = *data;

	(void)type;
	(void)location;
	if (!chunk) {
		chunk = take_chunk(context, bytes);
		*data = chunk;
	}
	if (!chunk || chunk->busy)
		return NULL;
	chunk->busy = true;
	return chunk->data;
}

static void free_all(void *context, OTF2_FileType type, OTF2_LocationRef location, void **data,
		     bool final)
{
	struct gt_archive *archive = context;
	struct gt_chunk *chunk = *data;

	(void)type;
	(void)location;
	if (!chunk)
		return;
	chunk->busy = false;
	if (!final)
		return;
	pthread_mutex_lock(&archive->lock);
	chunk->next = archive->chunks;
	archive->chunks = chunk;
	pthread_mutex_unlock(&archive->lock);
	*data = NULL;
}

/* ---- space ------------------------------------------------------------------------------------------ */

/* Gives a file blocks up to `bytes`. 0, or a negative errno. */
static int give_blocks(int fd, uint64_t from, uint64_t bytes)
{
	struct statvfs fs;
	struct rlimit limit;

	if (bytes <= from)
		return 0;
	/* The kernel asks for this limit only when a file grows, which is libotf2's write. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && bytes > limit.rlim_cur)
		return -EFBIG;
	if (!fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(bytes - from)))
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	/* The file system cannot reserve (NFS): the best that is left is to look. */
	if (!fstatvfs(fd, &fs) &&
	    (unsigned __int128)fs.f_bavail * fs.f_frsize < (unsigned __int128)(bytes - from) + MARGIN)
		return -ENOSPC;
	return 0;
}

int gt_archive_reserve(struct gt_archive *archive, int fd, uint64_t from, uint64_t need, uint64_t step,
		       uint64_t *got)
{
	uint64_t want = need + step;
	int rc = give_blocks(fd, from, want);

	if (rc == -EINTR || rc == -EAGAIN)
		rc = give_blocks(fd, from, want);
	if (rc) {
		want = need;
		rc = give_blocks(fd, from, want);
	}
	while ((rc == -ENOSPC || rc == -EDQUOT) && archive->options.make_room &&
	       archive->options.make_room(archive->options.context, need - from))
		rc = give_blocks(fd, from, want);
	if (!rc)
		*got = want;
	return rc;
}

static bool grow_ballast(struct gt_archive *archive, uint64_t bytes)
{
	uint64_t got = 0;

	if (bytes <= archive->ballast_bytes)
		return true;
	if (archive->ballast < 0 ||
	    gt_archive_reserve(archive, archive->ballast, archive->ballast_bytes, bytes, BALLAST_STEP, &got))
		return false;
	archive->ballast_bytes = got;
	return true;
}

static void drop_ballast(struct gt_archive *archive)
{
	if (archive->ballast < 0)
		return;
	close(archive->ballast);
	archive->ballast = -1;
	archive->ballast_bytes = 0;
	unlinkat(archive->options.dirfd, BALLAST_NAME, 0);
}

/*
 * What must be there at every moment so that all can be brought to an end: for every thread its last
 * chunks, for every location that is to come its two files.
 */
static uint64_t standing_need(const struct gt_archive *archive)
{
	uint64_t bytes = archive->options.threads * 2 * archive->evt_chunk;

	if (bytes > archive->options.bytes)
		bytes = archive->options.bytes;
	return bytes + __atomic_load_n(&archive->remaining, __ATOMIC_RELAXED) * GT_LOCATION_LEAST;
}

bool gt_archive_reserve_defs(struct gt_archive *archive, uint64_t bytes)
{
	bool ok;

	if (__atomic_load_n(&archive->ballast_bytes, __ATOMIC_RELAXED) >=
	    bytes + standing_need(archive))
		return true;
	pthread_mutex_lock(&archive->space_lock);
	ok = grow_ballast(archive, bytes + standing_need(archive));
	pthread_mutex_unlock(&archive->space_lock);
	return ok;
}

static OTF2_FlushType pre_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
				void *caller, bool final)
{
	struct gt_archive *archive = context;

	(void)caller;
	(void)final;
	if (type == OTF2_FILETYPE_EVENTS && location < archive->options.locations &&
	    archive->flushed[location])
		__atomic_fetch_add(archive->flushed[location], 1, __ATOMIC_RELAXED);
	return OTF2_FLUSH;
}

/* ---- opening and closing ---------------------------------------------------------------------------- */

static bool set_callbacks(struct gt_archive *archive)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = pre_flush };
	static const OTF2_MemoryCallbacks memory = { .otf2_allocate = allocate,
						     .otf2_free_all = free_all };
	OTF2_Archive *otf2 = archive->otf2;

	return !gt_otf2_bad(archive, OTF2_Archive_SetMemoryCallbacks(otf2, &memory, archive),
			    "memory callbacks") &&
	       !gt_otf2_bad(archive, OTF2_Pthread_Archive_SetLockingCallbacks(otf2, NULL),
			    "locking callbacks") &&
	       !gt_otf2_bad(archive, OTF2_Archive_SetFlushCallbacks(otf2, &flush, archive),
			    "flush callbacks") &&
	       !gt_otf2_bad(archive, OTF2_Archive_SetSerialCollectiveCallbacks(otf2),
			    "making the folder") &&
	       !gt_otf2_bad(archive, OTF2_Archive_SetCreator(otf2, "gputrace " PACKAGE_VERSION),
			    "creator") &&
	       !gt_otf2_bad(archive, OTF2_Archive_OpenEvtFiles(otf2), "event files") &&
	       (archive->options.mode == GT_ARCHIVE_PART ||
		!gt_otf2_bad(archive, OTF2_Archive_OpenDefFiles(otf2), "definition files"));
}

static void free_archive(struct gt_archive *archive)
{
	while (archive->chunks) {
		struct gt_chunk *next = archive->chunks->next;

		free(archive->chunks->data);
		free(archive->chunks);
		archive->chunks = next;
	}
	free(archive->flushed);
	pthread_mutex_destroy(&archive->lock);
	pthread_mutex_destroy(&archive->space_lock);
	free(archive);
}

struct gt_archive *gt_archive_open(const struct gt_archive_options *options, char *why,
				   size_t why_size)
{
	struct gt_archive *archive = calloc(1, sizeof(*archive));
	char path[64];

	if (!archive || !(archive->flushed = calloc(options->locations, sizeof(*archive->flushed)))) {
		free(archive);
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	archive->options = *options;
	archive->remaining = options->locations;
	pthread_mutex_init(&archive->lock, NULL);
	pthread_mutex_init(&archive->space_lock, NULL);
	/* All parts of an archive must have chunks of the same size. libotf2 clears what it does not need. */
	archive->evt_chunk = options->mode != GT_ARCHIVE_WHOLE || options->locations > GT_ARCHIVE_MANY ||
					     options->bytes < EVT_CHUNK
				     ? EVT_CHUNK_MIN
				     : EVT_CHUNK;
	archive->ballast = openat(options->dirfd, BALLAST_NAME,
				  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (archive->ballast < 0 || !gt_archive_reserve_defs(archive, BALLAST_STEP)) {
		snprintf(why, why_size, "cannot write to the archive directory: %s",
			 strerror(archive->ballast < 0 ? errno : ENOSPC));
		drop_ballast(archive);
		free_archive(archive);
		return NULL;
	}
	OTF2_Error_RegisterCallback(on_error, archive);
	/* By descriptor: immune to whatever happens to the path meanwhile. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", options->dirfd);
	archive->otf2 = OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, archive->evt_chunk,
					  GT_DEF_CHUNK, OTF2_SUBSTRATE_POSIX,
					  OTF2_COMPRESSION_NONE);
	if (!archive->otf2 || !set_callbacks(archive)) {
		gt_archive_fail(archive, "OTF2 cannot open an archive");
		gt_archive_failed(archive, why, why_size);
		gt_archive_abandon(archive);
		return NULL;
	}
	return archive;
}

void gt_archive_property(struct gt_archive *archive, const char *name, const char *value)
{
	char key[96], clean[4 * GT_NAME_MAX + 1];

	/* OTF2 refuses an empty value, and keeps the values in lines of a text file. */
	if (gt_archive_bad(archive) || !*value)
		return;
	snprintf(key, sizeof(key), "GPUTRACE::%s", name);
	gt_utf8_line(clean, sizeof(clean), value);
	gt_otf2_bad(archive, OTF2_Archive_SetProperty(archive->otf2, key, clean, true), "property");
}

/* For a part; under the lock of its definitions. */
static void keep_marker(struct gt_archive *archive, const struct gt_marker_head *head,
			const char *text)
{
	if (!archive->markers) {
		int fd = openat(archive->options.dirfd, GT_MARKERS_NAME,
				O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

		archive->markers = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (!archive->markers || fwrite(head, sizeof(*head), 1, archive->markers) != 1 ||
	    (head->length && fwrite(text, head->length, 1, archive->markers) != 1))
		gt_archive_fail(archive, "cannot write the file of markers");
}

/*
 * The kinds of markers up to this one, in order: the thread that made an earlier one may not have come to
 * writing yet. Under the lock of the definitions.
 */
static OTF2_ErrorCode define_markers(struct gt_archive *archive, struct gt_defs *defs, uint32_t number)
{
	const struct gt_marker_def *all = defs->markers.items;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (; rc == OTF2_SUCCESS && archive->marker_defs <= number; archive->marker_defs++) {
		const struct gt_marker_def *one = &all[archive->marker_defs];

		rc = OTF2_MarkerWriter_WriteDefMarker(
			archive->marker_writer, archive->marker_defs,
			gt_intern_text(&defs->strings, one->group, NULL),
			gt_intern_text(&defs->strings, one->category, NULL), one->severity);
	}
	return rc;
}

void gt_archive_marker(struct gt_archive *archive, struct gt_defs *defs,
		       const struct gt_marker_def *marker, uint64_t ns, uint32_t scope, bool group,
		       const char *text)
{
	OTF2_ErrorCode rc = OTF2_SUCCESS;
	uint32_t number;

	if (gt_archive_bad(archive) ||
	    !gt_archive_reserve_defs(archive, gt_defs_bytes(defs) + strlen(text) + 256))
		return;
	number = gt_defs_marker(defs, marker);
	if (defs->failed)
		return;
	pthread_mutex_lock(&defs->lock); /* also orders the writing */
	if (archive->options.mode == GT_ARCHIVE_PART) {
		const struct gt_marker_head head = { .ns = ns, .marker = number, .scope = scope,
						     .group = group,
						     .length = (uint32_t)strlen(text) };

		keep_marker(archive, &head, text);
		defs->other_bytes += strlen(text) + sizeof(head);
		pthread_mutex_unlock(&defs->lock);
		return;
	}
	if (!archive->marker_writer)
		archive->marker_writer = OTF2_Archive_GetMarkerWriter(archive->otf2);
	if (archive->marker_writer)
		rc = define_markers(archive, defs, number);
	if (archive->marker_writer && rc == OTF2_SUCCESS)
		rc = OTF2_MarkerWriter_WriteMarker(archive->marker_writer, ns, 0, number,
						   group ? OTF2_MARKER_SCOPE_LOCATION_GROUP
							 : OTF2_MARKER_SCOPE_LOCATION,
						   scope, text);
	defs->other_bytes += strlen(text) + 64;
	pthread_mutex_unlock(&defs->lock);
	gt_otf2_bad(archive, rc, "marker");
}

/*
 * libotf2 asks for this number to make the archive's id. libc would ask a name server, and wait for it
 * where there is none; without memory it waits for ever (glibc 2.36).
 */
GT_API long gethostid(void)
{
	uint32_t hash = 0x811c9dc5;
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x01000193;
	return (int32_t)hash;
}

void gt_archive_close_files(struct gt_archive *archive)
{
	drop_ballast(archive);
	if (archive->markers) {
		bool bad = ferror(archive->markers);

		if (fclose(archive->markers) || bad)
			gt_archive_fail(archive, "cannot write the file of markers");
		archive->markers = NULL;
	}
	if (archive->marker_writer && !gt_archive_bad(archive))
		gt_otf2_bad(archive,
			    OTF2_Archive_CloseMarkerWriter(archive->otf2, archive->marker_writer),
			    "closing the markers");
	if (!gt_archive_bad(archive))
		gt_otf2_bad(archive, OTF2_Archive_CloseEvtFiles(archive->otf2),
			    "closing the event files");
	if (archive->options.mode != GT_ARCHIVE_PART && !gt_archive_bad(archive))
		gt_otf2_bad(archive, OTF2_Archive_CloseDefFiles(archive->otf2),
			    "closing the definition files");
}

int gt_archive_free(struct gt_archive *archive)
{
	if (!gt_archive_bad(archive))
		gt_otf2_bad(archive, OTF2_Archive_Close(archive->otf2), "closing the archive");
	if (gt_archive_bad(archive))
		return -EIO;
	OTF2_Error_RegisterCallback(NULL, NULL);
	free_archive(archive);
	return 0;
}

void gt_archive_abandon(struct gt_archive *archive)
{
	drop_ballast(archive);
	/* Its buffers still point here: nothing is freed, the process is about to end. */
}

bool gt_archive_has_room(struct gt_archive *archive, uint64_t bytes)
{
	struct statvfs fs;

	return fstatvfs(archive->options.dirfd, &fs) ||
	       (unsigned __int128)fs.f_bavail * fs.f_frsize > bytes;
}

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
#include "lib/assemble/archive/int.h"
#include "lib/assemble/util/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RESERVE_STEP  (UINT64_C(16) << 20)
#define BALLAST_STEP  (UINT64_C(64) << 10)
#define MARGIN        (UINT64_C(64) << 20) /* where space cannot be reserved, this much must be free */
#define MANY          256u                 /* locations from which on chunks are small */
#define EVT_CHUNK     (UINT64_C(4) << 20)
#define EVT_CHUNK_MIN (UINT64_C(256) << 10)
#define LOCATION_LEAST UINT64_C(8192)      /* two files, a block each */
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

static int reserve(struct gt_archive *archive, int fd, uint64_t from, uint64_t need, uint64_t step,
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
	    reserve(archive, archive->ballast, archive->ballast_bytes, bytes, BALLAST_STEP, &got))
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
	return bytes + __atomic_load_n(&archive->remaining, __ATOMIC_RELAXED) * LOCATION_LEAST;
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
	    archive->writers[location])
		__atomic_fetch_add(&archive->writers[location]->flushed, 1, __ATOMIC_RELAXED);
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
	free(archive->writers);
	pthread_mutex_destroy(&archive->lock);
	pthread_mutex_destroy(&archive->space_lock);
	free(archive);
}

struct gt_archive *gt_archive_open(const struct gt_archive_options *options, char *why,
				   size_t why_size)
{
	struct gt_archive *archive = calloc(1, sizeof(*archive));
	char path[64];

	if (!archive || !(archive->writers = calloc(options->locations, sizeof(void *)))) {
		free(archive);
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	archive->options = *options;
	archive->remaining = options->locations;
	pthread_mutex_init(&archive->lock, NULL);
	pthread_mutex_init(&archive->space_lock, NULL);
	/* All parts of an archive must have chunks of the same size. */
	archive->evt_chunk = options->mode != GT_ARCHIVE_WHOLE || options->locations > MANY
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

int gt_archive_close(struct gt_archive *archive, const struct gt_layout *layout,
		     struct gt_defs *defs, const struct gt_archive_clock *clock)
{
	bool part = archive->options.mode == GT_ARCHIVE_PART;

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
	if (!part && !gt_archive_bad(archive))
		gt_otf2_bad(archive, OTF2_Archive_CloseDefFiles(archive->otf2),
			    "closing the definition files");
	if (!part && !gt_archive_bad(archive))
		gt_archive_write_defs(archive, layout, defs, clock);
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

/* ---- event writers ------------------------------------------------------------------------------------ */

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
	archive->writers[number] = writer;
	writer->direct = OTF2_Archive_GetEvtWriter(archive->otf2, number);
	if (!writer->direct) {
		gt_archive_fail(archive, "OTF2 cannot make an event writer");
		archive->writers[number] = NULL;
		free(writer);
		return NULL;
	}
	return writer;
}

void gt_writer_use_pipe(struct gt_writer *writer)
{
	writer->pipe = gt_pipe_open(writer);
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
		rc = reserve(writer->archive, writer->fd, writer->reserved, need, RESERVE_STEP,
			     &writer->reserved);
	pthread_mutex_unlock(&writer->archive->space_lock);
	return !rc;
}

/*
 * The ballast makes room for what closing a location writes, as far as its own file does not have
 * it. The next reservation takes it back.
 */
static void close_on_ballast(struct gt_writer *writer)
{
	struct gt_archive *archive = writer->archive;
	uint64_t room = LOCATION_LEAST, keep;

	if (writer->reserved < (writer->flushed + 2) * archive->evt_chunk)
		room += 2 * archive->evt_chunk;
	keep = archive->ballast_bytes > room ? archive->ballast_bytes - room : 0;
	keep = keep / GT_PAGE * GT_PAGE;
	if (archive->ballast >= 0 && archive->ballast_bytes &&
	    !fallocate(archive->ballast, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)keep,
		       (off_t)(archive->ballast_bytes - keep)))
		archive->ballast_bytes = keep;
	__atomic_fetch_sub(&archive->remaining, 1, __ATOMIC_RELAXED);
}

/* A second name for a location's definitions. False: there can be none. */
static bool same_defs(const struct gt_archive *archive, uint32_t from, uint32_t to)
{
	int dir = archive->options.dirfd;
	char source[32], target[32];

	snprintf(source, sizeof(source), "traces/%u.def", from);
	snprintf(target, sizeof(target), "traces/%u.def", to);
	return !linkat(dir, source, dir, target, 0);
}

/*
 * Event files hold global ids: nothing is to be said, but readers look for the file. Where there are
 * many, one file has many names: to make one costs much more, up to milliseconds on some disks.
 */
static void write_local_defs(struct gt_archive *archive, uint32_t number)
{
	OTF2_DefWriter *defs;

	if (archive->empty_defs && archive->options.locations > MANY &&
	    same_defs(archive, archive->empty_defs - 1, number))
		return;
	archive->empty_defs = number + 1;
	defs = OTF2_Archive_GetDefWriter(archive->otf2, number);
	if (!defs)
		gt_archive_fail(archive, "OTF2 cannot make a definition writer");
	else
		gt_otf2_bad(archive, OTF2_Archive_CloseDefWriter(archive->otf2, defs),
			    "closing a definition file");
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
		write_local_defs(archive, writer->number);
	pthread_mutex_unlock(&archive->space_lock);
	archive->writers[writer->number] = NULL;
	if (writer->fd >= 0) {
		if (!fstat(writer->fd, &st) && ftruncate(writer->fd, st.st_size))
			gt_archive_fail(archive, "cannot set the size of an event file");
		close(writer->fd);
	}
	free(writer);
}

/* ---- archives made of parts --------------------------------------------------------------------------- */

struct gt_local_defs {
	OTF2_IdMap *maps[GT_MAPS];
};

static bool changes_nothing(const uint32_t *map, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (map[i] != i)
			return false;
	return true;
}

struct gt_local_defs *gt_local_defs_new(uint32_t *const maps[GT_MAPS], const uint32_t counts[GT_MAPS])
{
	struct gt_local_defs *local = calloc(1, sizeof(*local));

	for (unsigned i = 0; local && i < GT_MAPS; i++) {
		if (!maps[i] || changes_nothing(maps[i], counts[i]))
			continue;
		local->maps[i] = OTF2_IdMap_CreateFromUint32Array(counts[i], maps[i], true);
		if (!local->maps[i]) {
			gt_local_defs_free(local);
			return NULL;
		}
	}
	return local;
}

void gt_local_defs_free(struct gt_local_defs *local)
{
	for (unsigned i = 0; local && i < GT_MAPS; i++)
		if (local->maps[i])
			OTF2_IdMap_Free(local->maps[i]);
	free(local);
}

void gt_local_defs_write(struct gt_archive *archive, const struct gt_local_defs *local,
			 uint32_t number, uint32_t same, const struct gt_offset *offsets,
			 size_t n, double deviation)
{
	static const OTF2_MappingType types[GT_MAPS] = {
		[GT_MAP_STRING] = OTF2_MAPPING_STRING,
		[GT_MAP_ATTRIBUTE] = OTF2_MAPPING_ATTRIBUTE,
		[GT_MAP_REGION] = OTF2_MAPPING_REGION,
		[GT_MAP_COMM] = OTF2_MAPPING_COMM,
		[GT_MAP_METRIC] = OTF2_MAPPING_METRIC,
		[GT_MAP_PARAMETER] = OTF2_MAPPING_PARAMETER,
		[GT_MAP_WINDOW] = OTF2_MAPPING_RMA_WIN,
		[GT_MAP_FILE] = OTF2_MAPPING_IO_FILE,
		[GT_MAP_HANDLE] = OTF2_MAPPING_IO_HANDLE,
	};
	OTF2_DefWriter *defs;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	if (gt_archive_bad(archive) || (same != GT_UNDEFINED && same_defs(archive, same, number)))
		return;
	defs = OTF2_Archive_GetDefWriter(archive->otf2, number);
	if (!defs) {
		gt_archive_fail(archive, "OTF2 cannot make a definition writer");
		return;
	}
	for (unsigned i = 0; local && rc == OTF2_SUCCESS && i < GT_MAPS; i++)
		if (local->maps[i])
			rc = OTF2_DefWriter_WriteMappingTable(defs, types[i], local->maps[i]);
	for (size_t i = 0; rc == OTF2_SUCCESS && i < n; i++)
		rc = OTF2_DefWriter_WriteClockOffset(defs, offsets[i].ns, offsets[i].offset,
						     deviation);
	if (!gt_otf2_bad(archive, rc, "mapping tables"))
		gt_otf2_bad(archive, OTF2_Archive_CloseDefWriter(archive->otf2, defs),
			    "closing a definition file");
}

bool gt_archive_has_room(struct gt_archive *archive, uint64_t bytes)
{
	struct statvfs fs;

	return fstatvfs(archive->options.dirfd, &fs) ||
	       (unsigned __int128)fs.f_bavail * fs.f_frsize > bytes;
}

void gt_archive_empty(struct gt_archive *archive, uint32_t number)
{
	OTF2_EvtWriter *writer = gt_archive_bad(archive)
					 ? NULL
					 : OTF2_Archive_GetEvtWriter(archive->otf2, number);

	if (writer)
		gt_otf2_bad(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer),
			    "closing an event file");
	else
		gt_archive_fail(archive, "OTF2 cannot make an event writer");
}

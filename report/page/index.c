/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding, making and keeping pictures.
 *
 * Limits: see index.h.
 */
#include "config.h"

#include "report/page/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/memory.h"
#include "lib/read/guard.h"
#include "report/page/picture.h"

enum { PLACES = 2, SUFFIX = 8 };

static void say(const char *command, const char *anchor, const char *what, const char *reason)
{
	char name[512];

	gt_summary_escape(name, sizeof(name), anchor, 400);
	fprintf(stderr, "%s: %s %s: %s\n", command, name, what, reason);
}

/* ---- places -------------------------------------------------------------------------------------- */

static bool beside(const char *anchor, char *path, size_t size)
{
	const char *dot = strrchr(anchor, '.');
	int length = (int)(dot && !strchr(dot, '/') ? dot - anchor : (ptrdiff_t)strlen(anchor));

	return (size_t)snprintf(path, size, "%.*s.index", length, anchor) + SUFFIX < size;
}

/* One for each path of an anchor file. */
static bool in_cache(const char *anchor, char *path, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *real = realpath(anchor, NULL);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int n = -1;

	for (const char *c = real; c && *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	if (real && cache && *cache == '/')
		n = snprintf(path, size, "%s/gputrace/%016llx.index", cache, (unsigned long long)hash);
	else if (real && home && *home == '/')
		n = snprintf(path, size, "%s/.cache/gputrace/%016llx.index", home, (unsigned long long)hash);
	free(real);
	return n > 0 && (size_t)n + SUFFIX < size;
}

static bool place(unsigned number, const char *anchor, char *path, size_t size)
{
	return number ? in_cache(anchor, path, size) : beside(anchor, path, size);
}

static void make_folders(const char *path)
{
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
}

/* ---- finding ------------------------------------------------------------------------------------- */

static bool open_kept(struct gt_index *index, const char *path, const struct gt_archive_id *id)
{
	struct stat st;

	index->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (index->fd < 0)
		return false;
	if (!fstat(index->fd, &st) && st.st_uid == geteuid() && gt_store_open(&index->store, index->fd, id)) {
		snprintf(index->path, sizeof(index->path), "%s", path);
		return true;
	}
	close(index->fd);
	return false;
}

static bool find(struct gt_index *index, const char *anchor, const struct gt_archive_id *id)
{
	char path[sizeof(index->path)];

	for (unsigned i = 0; i < PLACES; i++)
		if (place(i, anchor, path, sizeof(path)) && open_kept(index, path, id))
			return true;
	return false;
}

/* ---- making -------------------------------------------------------------------------------------- */

/* A new file under a name of its own, at the first place that can be written. */
static int new_file(struct gt_index *index, const char *anchor, char **part)
{
	for (unsigned i = 0; i < PLACES; i++) {
		int fd;

		if (!place(i, anchor, index->path, sizeof(index->path)))
			continue;
		if (i)
			make_folders(index->path);
		if (asprintf(part, "%s.XXXXXX", index->path) < 0)
			gt_no_memory();
		fd = mkostemp(*part, O_CLOEXEC);
		if (fd >= 0)
			return fd;
		free(*part);
	}
	return -1;
}

static int nameless(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	dir = dir && *dir ? dir : "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/gputrace.XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int make(const char *anchor, void *fd, FILE *unused)
{
	(void)unused;
	return gt_picture_make(anchor, *(int *)fd);
}

/* The file lives on without its name if it cannot get the right one. */
static void keep_or_not(struct gt_index *index, char *part, bool made)
{
	if (part && (!made || rename(part, index->path))) {
		unlink(part);
		*index->path = '\0';
	}
	free(part);
}

static int make_new(struct gt_index *index, const char *command, const char *anchor, bool keep,
		    uint64_t bytes)
{
	enum { LONG = 100 << 20 }; /* a matter of seconds */
	const char *reason = NULL;
	char *part = NULL;
	int status;

	index->made = true;
	index->fd = keep ? new_file(index, anchor, &part) : -1;
	if (index->fd < 0) {
		*index->path = '\0';
		part = NULL;
		index->fd = nameless();
	}
	if (index->fd < 0) {
		say(command, "a temporary file", "cannot be made (TMPDIR)", strerror(errno));
		return 2;
	}
	if (keep && bytes >= LONG)
		fprintf(stderr, "%s: making the index, which the next time is there ...\n", command);
	status = gt_otf2_guarded(anchor, make, &index->fd, &reason);
	keep_or_not(index, part, !status);
	if (status < 0)
		say(command, anchor, "cannot be read", reason);
	if (!status && !gt_store_open(&index->store, index->fd, NULL)) {
		say(command, anchor, "cannot be shown", "its index is not what was written");
		status = 2;
	}
	if (status)
		close(index->fd);
	return status < 0 ? 2 : status;
}

static void look_at_damage(struct gt_index *index)
{
	size_t i = gt_store_find(&index->store, 0, GT_TILE_TEXT, GT_TEXT_DAMAGE, 0), at = 0;
	const struct gt_tile *tile = &index->store.tiles[i];
	const unsigned char *data;

	if (i == index->store.count || tile->kind != GT_TILE_TEXT || tile->row != GT_TEXT_DAMAGE)
		return;
	data = gt_store_data(&index->store, tile);
	if (gt_bytes_read(data, tile->length, &at, &index->damaged))
		gt_bytes_read(data, tile->length, &at, &index->locations);
}

int gt_index_open(struct gt_index *index, const char *command, const char *anchor, bool keep)
{
	struct gt_archive_id id;
	int rc;

	*index = (struct gt_index){ .fd = -1 };
	if (!gt_archive_identify(anchor, &id)) {
		say(command, anchor, "cannot be read", strerror(errno));
		return 2;
	}
	rc = find(index, anchor, &id) ? 0 : make_new(index, command, anchor, keep, id.bytes);
	if (!rc)
		look_at_damage(index);
	return rc;
}

void gt_index_close(struct gt_index *index)
{
	gt_store_close(&index->store);
	close(index->fd);
}

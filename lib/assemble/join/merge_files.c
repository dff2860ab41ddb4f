/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a partial archive: events, which are linked into the archive; the definitions of single
 * locations; markers.
 *
 * Limits: where the file system has no links events are copied.
 */
#include "config.h"

#include "lib/assemble/join/merge_int.h"

#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER 65536u

/* ---- markers ----------------------------------------------------------------------------------- */

static int copy_markers(struct gt_merge_task *t, struct gt_archive *archive, const struct gt_corrections *all)
{
	const struct gt_marker_def *defs = t->partial.defs.markers.items;
	size_t count = gt_table_count(&t->partial.defs.markers);
	struct gt_marker_head head = { 0 };
	char path[256], *text;
	FILE *file;
	size_t n;
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/" GT_MARKERS_NAME, t->m->partials[t->number].path);
	fd = openat(t->m->dirfd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	file = fdopen(fd, "r");
	text = malloc(BUFFER);
	if (!file || !text) {
		if (file)
			fclose(file);
		else
			close(fd);
		free(text);
		return -ENOMEM;
	}
	while (!rc && (n = fread(&head, 1, sizeof(head), file)) > 0) {
		uint32_t owner = head.group ? head.scope
					    : head.scope < t->partial.location_count
						      ? t->partial.locations[head.scope].group
						      : GT_UNDEFINED;
		struct gt_marker_def def;

		if (n != sizeof(head) || head.marker >= count || owner >= t->partial.group_count ||
		    head.length >= BUFFER || fread(text, 1, head.length, file) != head.length) {
			rc = -EPROTO;
			break;
		}
		text[head.length] = 0;
		def = (struct gt_marker_def){ .category = gt_merge_string(t, defs[head.marker].category),
					      .group = gt_merge_string(t, defs[head.marker].group),
					      .severity = defs[head.marker].severity };
		gt_archive_marker(archive, &t->m->defs, &def,
				  gt_offset_apply(all[t->partial.groups[owner].clock].points,
						  all[t->partial.groups[owner].clock].count, head.ns),
				  head.group ? gt_merge_group(t, head.scope)
					     : gt_merge_location(t, head.scope),
				  head.group, text);
	}
	if (!rc && ferror(file))
		rc = -EIO;
	fclose(file);
	free(text);
	return rc;
}

/* ---- files of locations --------------------------------------------------------------------------- */

static int open_traces(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A second name, or, where the file system has no links, a second file. */
static int take_file(int from, const char *source, int to, const char *target, char *buffer)
{
	if (!linkat(from, source, to, target, 0))
		return 0;
	if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK ||
	    errno == EXDEV)
		return gt_copy_file(from, source, to, target, buffer);
	return -errno;
}

/* Is the file as long as when the part was made? */
static int check_events(int from, const char *source, const struct gt_partial_location *location)
{
	struct stat st;

	if (fstatat(from, source, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT && location->bytes ? -EPROTO : -errno;
	return (uint64_t)st.st_size == location->bytes ? 0 : -EPROTO;
}

/* The part's files stay what they are until the archive is whole. */
static int take_events(struct gt_merge_task *t, struct gt_archive *archive)
{
	char path[256], source[32], target[32], *buffer = malloc(GT_COPY_BUFFER);
	int from, to, rc = 0;

	snprintf(path, sizeof(path), "%s/traces", t->m->partials[t->number].path);
	from = open_traces(t->m->dirfd, path);
	if (mkdirat(t->m->workfd, "traces", 0700) && errno != EEXIST)
		rc = -errno;
	to = rc ? rc : open_traces(t->m->workfd, "traces");
	rc = !buffer ? -ENOMEM : from < 0 ? from : to < 0 ? to : 0;
	for (uint32_t i = 0; !rc && i < t->partial.location_count; i++) {
		snprintf(source, sizeof(source), "%u.evt", i);
		snprintf(target, sizeof(target), "%u.evt", t->each->locations[i]);
		rc = check_events(from, source, &t->partial.locations[i]);
		if (!rc) {
			rc = take_file(from, source, to, target, buffer);
		} else if (rc == -ENOENT) { /* it has no events */
			gt_archive_empty(archive, t->each->locations[i]);
			rc = 0;
		}
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	free(buffer);
	return rc;
}

static void note_times(struct gt_merge_task *t, const struct gt_corrections *all)
{
	struct gt_archive_clock *when = &t->m->when;

	for (size_t i = 0; i < t->partial.origins.count; i++) {
		uint64_t begin = gt_offset_apply(all[i].points, all[i].count,
						 t->partial.origins.list[i].scale.base_ns);
		uint64_t end = gt_offset_apply(all[i].points, all[i].count, t->partial.last_ns);

		if (!when->offset_ns || begin < when->offset_ns)
			when->offset_ns = begin;
		if (end > when->length_ns) /* for now: the end */
			when->length_ns = end;
	}
}

static int write_locals(struct gt_merge_task *t, struct gt_archive *archive, const struct gt_corrections *all)
{
	uint32_t *maps[GT_MAPS];
	struct gt_local_defs *local;
	uint64_t bytes = 4096, points = 0;
	uint32_t *first; /* by clock: the location that has a file of its own, + 1 */
	int rc = 0;

	memcpy(maps, t->maps, sizeof(maps));
	maps[GT_MAP_STRING] = t->spoken;
	for (unsigned i = 0; i < GT_MAPS; i++)
		bytes += 10 * (uint64_t)t->counts[i];
	for (size_t i = 0; i < t->partial.origins.count; i++)
		points += all[i].count;
	if (!gt_archive_has_room(archive, bytes * t->partial.location_count + 40 * points)) {
		gt_archive_fail(archive, "the disk is full");
		return -ENOSPC;
	}
	local = gt_local_defs_new(maps, t->counts);
	first = calloc(t->partial.origins.count + 1, sizeof(*first));
	for (uint32_t i = 0; local && first && i < t->partial.location_count; i++) {
		uint32_t owner = t->partial.locations[i].group, number = t->each->locations[i];
		uint32_t clock = t->partial.groups[owner].clock;
		int64_t error = t->m->clock.errors[t->each->first_origin + clock];

		/* It says nothing about the location itself: a file of each clock is enough. */
		gt_local_defs_write(archive, local, number, first[clock] - 1, all[clock].points,
				    all[clock].count, error < 0 ? 0 : (double)error);
		first[clock] = number + 1;
	}
	if (!local || !first)
		rc = -ENOMEM;
	free(first);
	gt_local_defs_free(local);
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------------------- */

int gt_merge_files(struct gt_merge_task *t, struct gt_archive *archive)
{
	const struct gt_corrections *all = t->m->corrections + t->each->first_origin;
	int rc = take_events(t, archive);

	if (!rc)
		rc = write_locals(t, archive, all);
	if (!rc)
		rc = copy_markers(t, archive, all);
	if (!rc)
		note_times(t, all);
	return rc;
}

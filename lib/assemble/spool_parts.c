/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which parts of an archive a spool holds already, and which processes they are made of.
 *
 * Limits: see spool.h.
 */
#include "config.h"

#include "lib/assemble/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Moves the folders of processes that lie in the folder `name` of `top`, at any depth, to `top`. */
static void raise_from(int top, int at, const char *name, unsigned depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint32_t seq, pid;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (!gt_spool_folder(entry->d_name, &seq, &pid))
			continue;
		if (depth < 64)
			raise_from(top, fd, entry->d_name, depth + 1);
		renameat(fd, entry->d_name, top, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

void gt_spool_raise(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	uint32_t seq, pid;

	if (!dir && copy >= 0)
		close(copy);
	while (dir && (entry = readdir(dir)))
		if (gt_spool_folder(entry->d_name, &seq, &pid))
			raise_from(fd, fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool gt_spool_covered(const struct gt_spool *spool, const struct gt_root *root, const char *folder)
{
	char line[400];
	const char *key = line;

	snprintf(line, sizeof(line), "%s/%s", root->name, folder);
	return spool->covered_count && bsearch(&key, spool->covered, spool->covered_count,
					       sizeof(*spool->covered), compare_lines);
}

/* The whole of a file, with a NUL behind it. 0 or a negative errno. */
static int read_text(int folder, const char *name, char **text)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), rc = 0;
	size_t size = 0, at = 0;
	struct stat st;
	ssize_t n = 1;

	*text = NULL;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size >= INT32_MAX)
		rc = -EPROTO;
	else
		size = (size_t)st.st_size;
	if (!rc && !(*text = malloc(size + 1)))
		rc = -ENOMEM;
	while (!rc && at < size && n) {
		n = read(fd, *text + at, size - at);
		if (n > 0)
			at += (size_t)n;
		else if (n < 0 && errno != EINTR)
			rc = -errno;
	}
	if (!rc)
		(*text)[at] = 0;
	close(fd);
	return rc;
}

/* Which processes a part is made of. A list without its last line says too little. */
static int read_covers(int home, const char *folder, char **covers)
{
	static const char end[] = GT_PART_COVERS_END;
	size_t n = strlen(end), length;
	char path[160];
	int rc;

	snprintf(path, sizeof(path), "%.20s/" GT_PART_COVERS, folder);
	rc = read_text(home, path, covers);
	if (rc) {
		free(*covers);
		return rc;
	}
	length = strlen(*covers);
	if (length >= n && !strcmp(*covers + length - n, end) &&
	    (length == n || (*covers)[length - n - 1] == '\n')) {
		(*covers)[length - n] = 0;
		return 0;
	}
	free(*covers);
	return -EPROTO;
}

int gt_spool_list_parts(struct gt_spool *spool, int home, const char *name)
{
	int copy = openat(home, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return -errno;
	}
	while (!rc && (entry = readdir(dir))) {
		struct gt_part_place *parts;
		char *covers;

		if (strncmp(entry->d_name, GT_PART_FOLDER, strlen(GT_PART_FOLDER)) ||
		    strlen(entry->d_name) > 20)
			continue;
		rc = read_covers(home, entry->d_name, &covers);
		if (rc)
			break; /* rather than to do without its processes */
		parts = realloc(spool->parts, (spool->part_count + 1) * sizeof(*parts));
		if (!parts) {
			free(covers);
			rc = -ENOMEM;
			break;
		}
		spool->parts = parts;
		parts += spool->part_count++;
		parts->covers = covers;
		snprintf(parts->path, sizeof(parts->path), "spool/%s%s%.20s", name, *name ? "/" : "",
			 entry->d_name);
	}
	closedir(dir);
	return rc;
}

static int compare_parts(const void *a, const void *b)
{
	const struct gt_part_place *x = a, *y = b;

	static const char first[] = "spool/" GT_PART_FOLDER;
	bool one = !strncmp(x->path, first, strlen(first)), two = !strncmp(y->path, first, strlen(first));

	return one != two ? two - one : strcmp(x->path, y->path);
}

/* Makes lines of the texts, and an order of the lines. */
static int index_covers(struct gt_spool *spool)
{
	size_t room = 0;

	for (size_t i = 0; i < spool->part_count; i++)
		for (const char *at = spool->parts[i].covers; (at = strchr(at, '\n')); at++)
			room++;
	spool->covered = calloc(room + 1, sizeof(*spool->covered));
	if (!spool->covered)
		return -ENOMEM;
	for (size_t i = 0; i < spool->part_count; i++)
		for (char *at = spool->parts[i].covers, *end; (end = strchr(at, '\n')); at = end + 1) {
			*end = 0;
			spool->covered[spool->covered_count++] = at;
		}
	qsort(spool->covered, spool->covered_count, sizeof(*spool->covered), compare_lines);
	return 0;
}

int gt_spool_sort_parts(struct gt_spool *spool)
{
	if (!spool->part_count)
		return 0;
	qsort(spool->parts, spool->part_count, sizeof(*spool->parts), compare_parts);
	return index_covers(spool);
}

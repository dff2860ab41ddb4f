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

bool gt_spool_covered(const struct gt_spool *spool, const struct gt_root *root, const char *folder)
{
	char line[400];

	snprintf(line, sizeof(line), "\n%s/%s\n", root->name, folder);
	for (size_t i = 0; i < spool->part_count; i++)
		if (strstr(spool->parts[i].covers, line))
			return true;
	return false;
}

/* The whole of a file, with a NUL behind it. */
static char *read_text(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < INT32_MAX)
		text = malloc((size_t)st.st_size + 1);
	if (text && read(fd, text, (size_t)st.st_size) == st.st_size) {
		text[st.st_size] = 0;
	} else {
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
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
		char path[160];
		char *covers;

		if (strncmp(entry->d_name, GT_PART_FOLDER, strlen(GT_PART_FOLDER)) ||
		    strlen(entry->d_name) > 20)
			continue;
		snprintf(path, sizeof(path), "%.20s/" GT_PART_COVERS, entry->d_name);
		covers = read_text(home, path);
		if (!covers) {
			rc = -EIO; /* rather than to do without its processes */
			break;
		}
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

void gt_spool_sort_parts(struct gt_spool *spool)
{
	if (spool->part_count)
		qsort(spool->parts, spool->part_count, sizeof(*spool->parts), compare_parts);
}

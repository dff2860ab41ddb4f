/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unfinished outputs.
 *
 * Limits: see output.h.
 */
#include "config.h"

#include "report/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *gt_output_part(const char *name)
{
	char *path;

	if (asprintf(&path, "%s.part", name) < 0)
		abort();
	return path;
}

static void remove_all(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			remove_all(fd, e->d_name);
	unlinkat(parent, name, dir ? AT_REMOVEDIR : 0);
	if (dir)
		closedir(dir);
}

void gt_output_discard(const char *name)
{
	char *path = gt_output_part(name);

	remove_all(AT_FDCWD, path);
	free(path);
}

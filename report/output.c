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
#include <sys/stat.h>
#include <unistd.h>

bool gt_output_special(const char *name)
{
	struct stat st;

	return !stat(name, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

char *gt_output_part(const char *name)
{
	char *path;

	if (asprintf(&path, "%s%s", name, gt_output_special(name) ? "" : ".part") < 0)
		abort();
	return path;
}

bool gt_output_keep(const char *part, const char *name)
{
	return !strcmp(part, name) || !rename(part, name);
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

	if (strcmp(path, name) != 0)
		remove_all(AT_FDCWD, path);
	free(path);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unfinished outputs.
 *
 * Limits: see output.h.
 */
#include "config.h"

#include "report/print/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"

bool gt_output_special(const char *name)
{
	struct stat st;

	return !stat(name, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static char token[7]; /* of this process and its children */

void gt_output_begin(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567"; /* 32 */
	unsigned char dice[sizeof(token) - 1];

	if (*token)
		return;
	if (getrandom(dice, sizeof(dice), 0) != sizeof(dice))
		abort();
	for (size_t i = 0; i < sizeof(dice); i++)
		token[i] = letters[dice[i] % 32];
}

char *gt_output_part(const char *name)
{
	bool special = gt_output_special(name);
	char *path;

	gt_output_begin();
	if (asprintf(&path, special ? "%s" : "%s.%s.part", name, token) < 0)
		gt_no_memory();
	return path;
}

FILE *gt_output_open(const char *part, const char *name)
{
	bool special = !strcmp(part, name);
	int fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | (special ? 0 : O_EXCL | O_NOFOLLOW), 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !file)
		close(fd);
	return file;
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

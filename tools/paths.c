/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the installed parts (tools/paths.h).
 */
#include "config.h"
#include "tools/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gt_path_self(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	if (n <= 0 || (size_t)n >= size - 1) {
		path[0] = '\0';
		return false;
	}
	path[n] = '\0';
	return true;
}

static bool beside_self(const char *way, char *path, size_t size)
{
	char self[PATH_MAX], joined[2 * PATH_MAX], *found = NULL;
	char *slash;

	if (gt_path_self(self, sizeof(self))) {
		slash = strrchr(self, '/');
		snprintf(joined, sizeof(joined), "%.*s/%s", (int)(slash - self), self, way);
		found = realpath(joined, NULL);
	}
	path[0] = '\0';
	if (found && strlen(found) < size)
		strcpy(path, found);
	free(found);
	return path[0] != '\0';
}

bool gt_path_libdir(char *path, size_t size)
{
	return beside_self(GT_BIN_TO_LIB, path, size);
}

bool gt_path_includedir(char *path, size_t size)
{
	return beside_self(GT_BIN_TO_INCLUDE, path, size);
}

const char *gt_path_assemblers(void)
{
	static char path[PATH_MAX];

	return beside_self(GT_BIN_TO_LIB "/gputrace/assemble", path, sizeof(path)) ? path : NULL;
}

bool gt_path_datadir(char *path, size_t size)
{
	return beside_self(GT_BIN_TO_DATA, path, size);
}

/* 0 if `path` can be executed, else 126 or 127. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 127;
	return S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : 126;
}

int gt_path_command(const char *command, char *path, size_t size)
{
	const char *folders = getenv("PATH");
	int status = 127;

	path[0] = '\0';
	if (!*command)
		return 127;
	if (strchr(command, '/')) {
		if (strlen(command) >= size)
			return 126;
		strcpy(path, command);
		return executable(path);
	}
	if (!folders)
		folders = "/bin:/usr/bin"; /* what execvp takes */
	for (const char *p = folders;; p++) {
		size_t length = strcspn(p, ":");
		int n = snprintf(path, size, "%.*s%s%s", (int)length, p, length ? "/" : "./", command);

		if (n > 0 && (size_t)n < size) {
			int rc = executable(path);

			if (rc == 0)
				return 0;
			if (rc == 126)
				status = 126;
		}
		p += length;
		if (!*p)
			break;
	}
	path[0] = '\0';
	return status;
}

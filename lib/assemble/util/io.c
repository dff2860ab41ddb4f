/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files and folders (io.h).
 */
#include "config.h"

#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t gt_read_at(int fd, void *data, size_t bytes, uint64_t place)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = pread(fd, (char *)data + got, bytes - got, (off_t)(place + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* A descriptor of a regular file, or a negative errno. */
static int open_file(int at, const char *name, struct stat *st)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return -errno;
	rc = fstat(fd, st) ? -errno : S_ISREG(st->st_mode) ? 0 : -EINVAL;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

ssize_t gt_read_head(int at, const char *name, void *data, size_t bytes)
{
	struct stat st;
	int fd = open_file(at, name, &st);
	ssize_t n;

	if (fd < 0)
		return fd;
	memset(data, 0, bytes);
	n = gt_read_at(fd, data, bytes, 0);
	close(fd);
	return n;
}

int gt_read_text(int at, const char *name, char **text)
{
	struct stat st;
	int fd = open_file(at, name, &st);
	ssize_t n = fd;

	*text = NULL;
	if (fd < 0)
		return fd;
	if (st.st_size >= INT32_MAX)
		n = -EPROTO;
	else if (!(*text = malloc((size_t)st.st_size + 1)))
		n = -ENOMEM;
	else
		n = gt_read_at(fd, *text, (size_t)st.st_size, 0);
	close(fd);
	if (n < 0) {
		free(*text);
		*text = NULL;
		return (int)n;
	}
	(*text)[n] = '\0';
	return 0;
}

int gt_folder_open(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

DIR *gt_folder_list(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

struct dirent *gt_folder_next(DIR *dir, int *rc)
{
	struct dirent *entry;

	errno = 0;
	entry = readdir(dir);
	if (!entry && errno && !*rc)
		*rc = -errno;
	return entry;
}

int gt_write_all(int fd, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t n = write(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int gt_copy_file(int from, const char *source, int to, const char *target, char *buffer)
{
	struct stat st;
	int in = open_file(from, source, &st), out, rc = 0;
	ssize_t n;

	if (in < 0)
		return in == -EINVAL ? -EISDIR : in;
	out = openat(to, target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		rc = -errno;
	while (!rc && (n = read(in, buffer, GT_COPY_BUFFER)) != 0)
		rc = n > 0 ? gt_write_all(out, buffer, (size_t)n) : errno == EINTR ? 0 : -errno;
	close(in);
	if (out >= 0 && close(out) && !rc)
		rc = -errno;
	return rc;
}

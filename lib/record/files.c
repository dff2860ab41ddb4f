/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors in a process whose program may close, duplicate over or count them.
 * Limits: a program that closes our descriptor and opens another file in the microsecond between
 * gt_file_valid and the write can still fool us; nothing in user space can prevent that.
 */
#include "lib/record/record.h"

#include <errno.h>

int gt_file_keep(struct gt_file *file, int fd)
{
	static const int floor_numbers[] = { 1000, 400, 100, 40, 20 };
	struct stat st;
	int rc = gt_sys_fstat(fd, &st);

	for (unsigned i = 0; !rc && i < sizeof(floor_numbers) / sizeof(*floor_numbers); i++) {
		int high = gt_sys_fcntl(fd, F_DUPFD_CLOEXEC, floor_numbers[i]);

		if (high >= 0) {
			gt_sys_close(fd);
			fd = high;
			break;
		}
	}
	if (rc) {
		gt_sys_close(fd);
		file->fd = -1;
		return rc;
	}
	file->fd = fd;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	return 0;
}

bool gt_file_valid(const struct gt_file *file)
{
	struct stat st;

	return file->fd >= 0 && !gt_sys_fstat(file->fd, &st) && st.st_ino == file->ino &&
	       st.st_dev == file->dev;
}

int gt_file_pwrite(int fd, const void *data, size_t bytes, uint64_t offset)
{
	const char *from = data;
	int tries = 0;

	while (bytes) {
		ssize_t n = gt_sys_pwrite(fd, from, bytes, offset);

		if (n == -EINTR || n == -EAGAIN || n == 0) {
			if (tries++ > 100)
				return n ? (int)n : -EIO;
			continue;
		}
		if (n < 0)
			return (int)n;
		from += n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

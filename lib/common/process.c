/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a process still running? From /proc/<pid>/stat.
 *
 * Limits: see process.h.
 */
#include "lib/common/process.h"

#include "lib/common/sys.h"
#include "lib/common/text.h"

#include <string.h>

struct stat_line {
	char state;
	uint64_t threads, start_time;
};

static uint64_t number(const char *at)
{
	uint64_t value = 0;

	for (; at && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

static bool read_stat(uint32_t pid, struct stat_line *line)
{
	char path[64], text[1024];
	const char *at;
	ssize_t n;
	int fd;

	gt_text(path, sizeof(path), "/proc/%u/stat", pid);
	fd = gt_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = gt_sys_read(fd, text, sizeof(text) - 1);
	gt_sys_close(fd);
	text[n < 0 ? 0 : n] = 0;
	at = strrchr(text, ')'); /* field 2, the name, may hold anything */
	*line = (struct stat_line){ 0 };
	for (int field = 3; at && field <= 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
		if (at && field == 3)
			line->state = *at;
		else if (field == 20)
			line->threads = number(at);
		else if (field == 22)
			line->start_time = number(at);
	}
	return at != NULL;
}

uint64_t gt_process_start_time(uint32_t pid)
{
	struct stat_line line;

	return read_stat(pid, &line) ? line.start_time : 0;
}

void gt_host_name(const char *pretended, char *name, size_t size)
{
	int fd;
	ssize_t n;

	name[0] = 0;
	if (pretended && *pretended && *pretended != ':') {
		gt_text(name, size, "%s", pretended);
		name[strcspn(name, ":")] = 0;
		return;
	}
	fd = gt_sys_openat(AT_FDCWD, "/proc/sys/kernel/hostname", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = gt_sys_read(fd, name, size - 1);
	gt_sys_close(fd);
	name[n < 0 ? 0 : n] = 0;
	name[strcspn(name, "\n")] = 0;
}

bool gt_process_lives(uint32_t pid, uint64_t start_time)
{
	struct stat_line line;

	if (!read_stat(pid, &line) || line.start_time != start_time)
		return false;
	return (line.state != 'Z' && line.state != 'X') || line.threads > 1;
}

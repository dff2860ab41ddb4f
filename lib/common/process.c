/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads about a process in /proc; see process.h.
 */
#include "lib/common/process.h"

#include "lib/common/sys.h"
#include "lib/common/text.h"

#include <string.h>
#include <sys/utsname.h>

static uint64_t number(const char *at)
{
	uint64_t value = 0;

	for (; at && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

/* pid 0: our own. */
static bool read_proc(uint32_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	if (pid)
		gt_text(path, sizeof(path), "/proc/%u/%s", pid, name);
	else
		gt_text(path, sizeof(path), "/proc/self/%s", name);
	return gt_sys_read_text(path, text, size) >= 0;
}

bool gt_process_read(uint32_t pid, struct gt_process *line)
{
	char text[1024], *name, *at;

	if (!read_proc(pid, "stat", text, sizeof(text)))
		return false;
	name = strchr(text, '(');
	at = strrchr(text, ')'); /* the name may hold anything */
	if (!name || !at)
		return false;
	*line = (struct gt_process){ .state = 0 };
	*at++ = 0;
	gt_text(line->name, sizeof(line->name), "%s", name + 1);
	for (int field = 3; at && field <= 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
		if (at && field == 3)
			line->state = *at;
		else if (field == 4)
			line->parent = number(at);
		else if (field == 9)
			line->flags = number(at);
		else if (field == 20)
			line->threads = number(at);
		else if (field == 22)
			line->start_time = number(at);
	}
	return at != NULL;
}

uint64_t gt_process_start_time(uint32_t pid)
{
	struct gt_process line;

	return gt_process_read(pid, &line) ? line.start_time : 0;
}

void gt_host_name(const char *pretended, char *name, size_t size)
{
	struct utsname uts = { .nodename = "" };

	if (pretended && *pretended && *pretended != ':') {
		gt_text(name, size, "%s", pretended);
		name[strcspn(name, ":")] = 0;
		return;
	}
	GT_SYS1(SYS_uname, &uts);
	gt_text(name, size, "%s", uts.nodename);
}

bool gt_process_lives(uint32_t pid, uint64_t start_time)
{
	struct gt_process line;

	if (!gt_process_read(pid, &line) || line.start_time != start_time)
		return false;
	return (line.state != 'Z' && line.state != 'X') || line.threads > 1;
}

/* A line of /proc/<pid>/status that holds a set of signals. */
static uint64_t signals(const char *status, const char *name)
{
	const char *at = strstr(status, name);
	uint64_t value = 0;

	for (at = at ? at + strlen(name) : ""; *at == '\t' || *at == ' ';)
		at++;
	for (; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
		value = value << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return value;
}

bool gt_process_dying(uint32_t pid)
{
	/* CHLD, CONT, URG and WINCH do nothing by default; STOP, TSTP, TTIN and TTOU stop. */
	const uint64_t harmless = UINT64_C(1) << 16 | UINT64_C(1) << 17 | UINT64_C(1) << 22 |
				  UINT64_C(1) << 27 | UINT64_C(7) << 19 | UINT64_C(1) << 18;
	struct gt_process line;
	char status[4096];
	uint64_t pending;

	if (!gt_process_read(pid, &line) || line.flags & 4 /* PF_EXITING */)
		return true;
	if (!read_proc(pid, "status", status, sizeof(status)))
		return true;
	pending = signals(status, "\nSigPnd:") | signals(status, "\nShdPnd:");
	return pending & ~(harmless | signals(status, "\nSigBlk:") | signals(status, "\nSigIgn:") |
			   signals(status, "\nSigCgt:"));
}

bool gt_process_loaded(uint32_t pid, const char *name)
{
	char path[64], text[4096];
	size_t kept = 0, overlap = strlen(name);
	uint64_t at = 0;
	bool found = false;
	struct stat own;
	ssize_t n;
	int fd;

	gt_text(path, sizeof(path), "/proc/%u/maps", pid);
	fd = gt_sys_open_own(AT_FDCWD, path, 0, &own);
	while (fd >= 0 && !found && (n = gt_sys_pread(fd, text + kept, sizeof(text) - 1 - kept, at)) > 0) {
		at += (uint64_t)n;
		n += (ssize_t)kept;
		text[n] = 0;
		found = strstr(text, name) != NULL;
		kept = (size_t)n < overlap ? (size_t)n : overlap;
		memmove(text, text + n - kept, kept);
	}
	gt_sys_close_own(fd, &own);
	return found;
}

bool gt_process_stopped(uint32_t pid)
{
	struct gt_process line;

	return gt_process_read(pid, &line) && line.state == 'T';
}

bool gt_process_below(int pid, int ancestor)
{
	struct gt_process line;

	for (int levels = 0; pid > 1 && pid != ancestor && levels < 1000; levels++)
		pid = gt_process_read((uint32_t)pid, &line) ? (int)line.parent : 0;
	return pid == ancestor;
}

unsigned gt_process_filters(void)
{
	static const char key[] = "\nSeccomp_filters:";
	char text[4096];
	const char *at = read_proc(0, "status", text, sizeof(text)) ? strstr(text, key) : NULL;

	for (at = at ? at + strlen(key) : ""; *at == '\t' || *at == ' ';)
		at++;
	return (unsigned)number(at);
}

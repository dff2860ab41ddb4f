/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fails the Nth system call of the recording side, in the test build of libgputrace, and gives it
 * clocks that misbehave.
 *
 * GT_FAULT_CORE=NAME:N:MODE:ERRNO   NAME as in lib/common/sys.h, or "any"; MODE "once" or "on" (that
 * call and every later one); ERRNO a number. GT_FAULT_LOG: a file that gets a line per injection. MODE
 * "swap": the call does not fail, but before it all descriptors of files become the file GT_FAULT_VICTIM, as
 * if another thread had closed them and opened that; with "swapdir" all of folders do. The log says at the
 * end which of them were closed, or moved to another place of the file, and whether that is locked. MODE
 * "rename": before the call the folder GT_FAULT_VICTIM becomes GT_FAULT_VICTIM.moved; the log says at the end
 * what is open in it beside a process's folder.
 *
 * GT_TEST_CLOCK=back     each 997th reading of CLOCK_MONOTONIC is 500 ns early
 * GT_TEST_CLOCK=jump     from the 5000th reading on it is an hour ahead
 * GT_TEST_CLOCK=suspend  it has stood still for half a second, 600 ms after the first reading
 *
 * Limits: one plan per process; forked children go on counting for themselves.
 */
#include "lib/common/sys.h"
#include "lib/common/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static struct {
	char name[32];
	long nth, error;
	int persistent;
	mode_t swaps; /* the kind of files; 0: it fails */
	int renames;
	int state; /* 0: not read, 1: no plan, 2: a plan */
	char log[1024];
} plan;
static atomic_long seen;

static void read_plan(void)
{
	const char *text = getenv("GT_FAULT_CORE"), *log = getenv("GT_FAULT_LOG"), *colon;
	char *end;

	plan.state = 1;
	colon = text ? strchr(text, ':') : NULL;
	if (!colon || (size_t)(colon - text) >= sizeof(plan.name))
		return;
	memcpy(plan.name, text, (size_t)(colon - text));
	plan.nth = strtol(colon + 1, &end, 10);
	plan.persistent = !strncmp(end, ":on:", 4);
	plan.swaps = !strncmp(end, ":swap:", 6) ? S_IFREG : !strncmp(end, ":swapdir:", 9) ? S_IFDIR : 0;
	plan.renames = !strncmp(end, ":rename:", 8);
	colon = strrchr(text, ':');
	plan.error = strtol(colon + 1, NULL, 10);
	if (log && strlen(log) < sizeof(plan.log))
		strcpy(plan.log, log);
	plan.state = 2;
}

static void tell(const char *name, long n)
{
	char line[64];
	size_t length = strlen(name);
	int digits = 0, fd;
	char number[24];

	if (!plan.log[0])
		return;
	memcpy(line, name, length);
	line[length++] = ' ';
	do
		number[digits++] = (char)('0' + n % 10);
	while ((n /= 10) && digits < 20);
	while (digits)
		line[length++] = number[--digits];
	line[length++] = '\n';
	fd = (int)GT_SYS4(SYS_openat, AT_FDCWD, plan.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0600);
	if (fd < 0)
		return;
	GT_SYS3(SYS_write, fd, line, length);
	GT_SYS1(SYS_close, fd);
}

#define MOST 1200

static bool swapped[MOST];
static struct stat victim;

static void swap(void)
{
	const char *path = getenv("GT_FAULT_VICTIM");
	int file = path ? (int)GT_SYS4(SYS_openat, AT_FDCWD, path, O_RDWR, 0) : -1;
	struct stat st;

	if (file >= 0)
		gt_sys_fstat(file, &victim);
	for (int fd = 3; file >= 0 && fd < MOST; fd++)
		if (fd != file && !gt_sys_fstat(fd, &st) && (st.st_mode & S_IFMT) == plan.swaps)
			swapped[fd] = GT_SYS3(SYS_dup3, file, fd, O_CLOEXEC) == fd;
	GT_SYS1(SYS_close, file);
}

static void rename_victim(void)
{
	const char *path = getenv("GT_FAULT_VICTIM");
	char to[1100];

	if (path && strlen(path) < 1024)
		GT_SYS4(SYS_renameat, AT_FDCWD, path, AT_FDCWD, strcat(strcpy(to, path), ".moved"));
}

static void look_open(int fd)
{
	const char *folder = getenv("GT_FAULT_VICTIM");
	char name[32], path[1100];
	ssize_t n;

	gt_text(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = gt_sys_readlink(name, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	if (folder && !strncmp(path, folder, strlen(folder)) && !strstr(path, "/spool/p"))
		tell("open", fd);
}

static void look_locked(void)
{
	int file = (int)GT_SYS4(SYS_openat, AT_FDCWD, getenv("GT_FAULT_VICTIM"), O_RDONLY | O_CLOEXEC, 0);

	if (file >= 0 && GT_SYS2(SYS_flock, file, LOCK_EX | LOCK_NB))
		tell("locked", 0);
	GT_SYS1(SYS_close, file);
}

__attribute__((destructor)) static void look(void)
{
	struct stat st;

	if (plan.swaps && plan.state == 2 && getenv("GT_FAULT_VICTIM"))
		look_locked();

	for (int fd = 3; plan.renames && fd < MOST; fd++)
		look_open(fd);
	for (int fd = 3; fd < MOST; fd++) {
		if (swapped[fd] && (gt_sys_fstat(fd, &st) || st.st_ino != victim.st_ino))
			tell("closed", fd);
		else if (swapped[fd] && GT_SYS3(SYS_lseek, fd, 0, SEEK_CUR))
			tell("moved", fd);
	}
}

int gt_test_fault(const char *name)
{
	long n;

	if (!plan.state)
		read_plan();
	if (plan.state == 1)
		return 0;
	if (strcmp(plan.name, "any") && strcmp(plan.name, name))
		return 0;
	n = ++seen;
	if (n < plan.nth || (n > plan.nth && !plan.persistent))
		return 0;
	tell(name, n);
	if (plan.swaps)
		swap();
	if (plan.renames)
		rename_victim();
	return plan.swaps || plan.renames ? 0 : (int)plan.error;
}

int64_t gt_test_clock(clockid_t id, int64_t ns)
{
	static const char *mode;
	static atomic_long readings;
	static int64_t first;
	long n = ++readings;

	if (n == 1)
		mode = getenv("GT_TEST_CLOCK");
	if (!mode || id != CLOCK_MONOTONIC)
		return ns;
	if (!first)
		first = ns;
	if (!strcmp(mode, "back") && n % 997 == 0)
		return ns - 500;
	if (!strcmp(mode, "jump") && n > 5000)
		return ns + INT64_C(3600000000000);
	if (!strcmp(mode, "suspend") && ns - first > 600000000)
		return ns - 500000000;
	return ns;
}

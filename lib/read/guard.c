/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child that reads, and its parent that waits.
 *
 * Limits: see guard.h.
 */
#include "config.h"

#include "lib/read/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* AddressSanitizer and ThreadSanitizer reserve terabytes of addresses. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                              \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { LIMIT_MEMORY = false };
#else
enum { LIMIT_MEMORY = true };
#endif

enum { CHILD_FAILED = 2 };

struct guard {
	const char *anchor;
	int (*function)(const char *anchor, void *argument, FILE *out);
	void *argument;
};

static int stem(const char *anchor)
{
	const char *dot = strrchr(anchor, '.');

	return (int)(dot ? (size_t)(dot - anchor) : strlen(anchor));
}

/* Sum of the sizes of the archive's files: bounds how long reading may take. */
static uint64_t bytes_of(const char *anchor)
{
	char path[4096];
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "%.*s", stem(anchor), anchor);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (!fstatat(dirfd(dir), e->d_name, &st, 0) && S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return sum;
}

/* Definitions are held in memory; events are not, beyond what is under way. A thread reserves 128 MiB. */
static uint64_t memory_for(const char *anchor)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%.*s.def", stem(anchor), anchor);
	return (UINT64_C(5) << 30) + (stat(path, &st) ? 0 : 32 * (uint64_t)st.st_size);
}

static _Noreturn void child(const struct guard *guard, int to)
{
	uint64_t memory = memory_for(guard->anchor);
	struct rlimit limit = { memory, memory }, no_core = { 0, 0 };
	FILE *out = fdopen(to, "w");
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (LIMIT_MEMORY)
		setrlimit(RLIMIT_AS, &limit);
	setrlimit(RLIMIT_CORE, &no_core);
	/* abort() is how "no memory" comes to the parent; a crash of libotf2 ends as it ends. */
	if (!out)
		_exit(CHILD_FAILED);
	status = guard->function(guard->anchor, guard->argument, out);
	_exit(fflush(out) ? CHILD_FAILED : status);
}

/* Copies what the child prints into a file until it ends or the time is over. False: the file is full. */
static bool collect(int from, FILE *kept, unsigned seconds, bool *late)
{
	struct timespec start, now;
	bool room = true;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		struct pollfd p = { .fd = from, .events = POLLIN };
		char part[1 << 16];
		ssize_t got;

		if (poll(&p, 1, 1000) > 0) {
			got = read(from, part, sizeof(part));
			if (got == 0 || (got < 0 && errno != EINTR))
				return room;
			if (got > 0)
				room = room && fwrite(part, 1, (size_t)got, kept) == (size_t)got;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > (time_t)seconds) {
			*late = true;
			return room;
		}
	}
}

static void print(FILE *kept)
{
	char part[1 << 16];
	size_t n;

	rewind(kept);
	while ((n = fread(part, 1, sizeof(part), kept)) > 0 && fwrite(part, 1, n, stdout) == n)
		;
}

/* Whose fault it was, the library's, ours or the machine's, the signal does not say. */
static const char *reason_of(int number)
{
	static char text[160];
	const char *name = sigabbrev_np(number);

	snprintf(text, sizeof(text), "the process that reads it was killed by %s%s",
		 name ? "SIG" : "a signal", name ? name : "");
	if (number == SIGABRT)
		return strcat(text, ": it is damaged, or needs more memory than its size explains");
	if (number == SIGKILL)
		return strcat(text, ": by somebody, or by the kernel for want of memory");
	return text;
}

static int wait_for(pid_t pid, int from, const char *anchor, FILE *kept, const char **reason)
{
	unsigned seconds = 60 + (unsigned)(bytes_of(anchor) >> 20) * 2;
	bool late = false, room = collect(from, kept, seconds, &late);
	int status;

	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!late && WIFEXITED(status)) {
		if (room && !fflush(kept)) {
			print(kept);
			return WEXITSTATUS(status);
		}
		*reason = "there is no room for what it prints (TMPDIR)";
		return -1;
	}
	if (!late && WTERMSIG(status) == SIGPIPE) /* nobody reads on: a filter ends without a word */
		return 128 + SIGPIPE;
	*reason = late ? "reading it takes too long" : reason_of(WTERMSIG(status));
	return -1;
}

/* Nobody else sees it, and it is gone when it is closed. */
static FILE *temporary(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? tmpfile() : fdopen(fd, "w+");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

int gt_otf2_guarded(const char *anchor, int (*function)(const char *anchor, void *argument, FILE *out),
		    void *argument, const char **reason)
{
	struct guard guard = { anchor, function, argument };
	FILE *kept = temporary();
	int ends[2], rc = -1;
	pid_t pid;

	if (!kept || pipe(ends)) {
		*reason = strerror(errno);
		if (kept)
			fclose(kept);
		return -1;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child(&guard, ends[1]);
	}
	*reason = strerror(errno);
	close(ends[1]);
	if (pid > 0)
		rc = wait_for(pid, ends[0], anchor, kept, reason);
	close(ends[0]);
	fclose(kept);
	return rc;
}

/* ---- the anchor file --------------------------------------------------------------------------- */

static bool exists(const char *path, bool folder)
{
	struct stat st;

	return !stat(path, &st) && (folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
}

static bool is_anchor(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && !strcmp(name + length - 5, ".otf2");
}

static bool search(const char *dir, char *anchor, size_t size)
{
	struct dirent *e;
	unsigned found = 0;
	DIR *d;

	snprintf(anchor, size, "%s/traces.otf2", dir);
	if (exists(anchor, false))
		return true;
	d = opendir(dir);
	while (d && (e = readdir(d)))
		if (is_anchor(e->d_name) && !found++)
			snprintf(anchor, size, "%s/%s", dir, e->d_name);
	if (d)
		closedir(d);
	return found == 1;
}

const char *gt_otf2_find_anchor(const char *name, char *anchor, size_t size, char *spool, size_t spool_size)
{
	size_t length = strlen(name);
	char path[3072];

	*spool = '\0';
	if (!length || length >= sizeof(path))
		return strerror(length ? ENAMETOOLONG : ENOENT);
	memcpy(path, name, length + 1);
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	if (!exists(path, true)) {
		if (!exists(path, false))
			return access(path, F_OK) ? strerror(errno) : "it is neither a file nor a directory";
		snprintf(anchor, size, "%s", path);
		return is_anchor(path) ? NULL : "an anchor file has a name that ends in .otf2";
	}
	snprintf(spool, spool_size, "%s/spool/run", path);
	if (exists(spool, false))
		snprintf(spool, spool_size, "%s/spool", path);
	else
		*spool = '\0';
	if (search(path, anchor, size))
		return NULL;
	return *spool ? "it was not assembled yet: run 'gputrace recover' on it"
		      : "there is no archive (no .otf2 file) in it";
}

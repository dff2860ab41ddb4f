/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child that reads, and its parent that waits.
 *
 * Limits: see guard.h.
 */
#include "config.h"

#include "lib/read/guard.h"

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

/* Exit statuses of a child that function() does not return. */
enum { CHILD_FAILED = 2, CHILD_NO_MEMORY = 171 };

struct guard {
	const char *const *anchors;
	unsigned count;
	int (*function)(const char *anchor, void *argument, FILE *out);
	void *argument;
};

static int stem(const char *anchor)
{
	const char *dot = strrchr(anchor, '.');

	return (int)(dot ? (size_t)(dot - anchor) : strlen(anchor));
}

/* Anything but a regular file may make the reader wait for ever, as a FIFO does. */
static bool is_file(const char *path, const char **reason)
{
	static char text[4200];
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return true;
	snprintf(text, sizeof(text), "%s is not a regular file", path);
	*reason = text;
	return false;
}

/* Sum of the sizes of the archive's files: bounds how long reading may take. False: one is no file. */
static bool bytes_of(const char *anchor, uint64_t *sum, const char **reason)
{
	char path[4096];
	bool files = is_file(anchor, reason);
	struct dirent *e;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "%.*s.def", stem(anchor), anchor);
	files = files && is_file(path, reason);
	snprintf(path, sizeof(path), "%.*s.marker", stem(anchor), anchor);
	files = files && is_file(path, reason);
	snprintf(path, sizeof(path), "%.*s", stem(anchor), anchor);
	dir = opendir(path);
	while (files && dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%.*s/%s", stem(anchor), anchor, e->d_name);
		if (fstatat(dirfd(dir), e->d_name, &st, 0) || S_ISDIR(st.st_mode))
			continue;
		files = is_file(path, reason);
		*sum += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return files;
}

/* Definitions are held in memory; events are not, beyond what is under way. A thread reserves 128 MiB. */
static uint64_t memory_for(const struct guard *guard)
{
	uint64_t bytes = UINT64_C(5) << 30;
	char path[4096];
	struct stat st;

	for (unsigned i = 0; i < guard->count; i++) {
		snprintf(path, sizeof(path), "%.*s.def", stem(guard->anchors[i]), guard->anchors[i]);
		bytes += stat(path, &st) ? 0 : 32 * (uint64_t)st.st_size;
	}
	return bytes;
}

static _Noreturn void child(const struct guard *guard, int to)
{
	uint64_t memory = memory_for(guard);
	struct rlimit limit = { memory, memory }, no_core = { 0, 0 };
	FILE *out = fdopen(to, "w");
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (LIMIT_MEMORY)
		setrlimit(RLIMIT_AS, &limit);
	setrlimit(RLIMIT_CORE, &no_core);
	gt_no_memory_status = CHILD_NO_MEMORY; /* a crash of libotf2 ends as it ends */
	if (!out)
		_exit(CHILD_FAILED);
	status = guard->function(guard->anchors[0], guard->argument, out);
	_exit(fflush(out) ? CHILD_FAILED : status);
}

struct gt_otf2_patience gt_otf2_patience = { .seconds = 60, .per_mib = 2, .silent = 300 };

/* How long a child may take, and what it has taken. */
struct watched {
	clockid_t clock;        /* its processors' time */
	uint64_t most, used;    /* s of it */
	unsigned silent;        /* rounds of a second without any */
	struct timespec before;
};

static struct watched watch(pid_t pid, uint64_t bytes)
{
	struct watched w = { .most = gt_otf2_patience.seconds + (bytes >> 20) * gt_otf2_patience.per_mib };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	/* As many threads read. */
	w.most *= (uint64_t)(processors < 1 ? 1 : processors > 16 ? 16 : processors);
	if (clock_getcpuclockid(pid, &w.clock))
		w.clock = -1;
	return w;
}

/*
 * Its own time, so that it does not matter whether the machine is busy or both are stopped for a while.
 * `round`: a second has passed here without a word from it. False: it has had more than enough, or does
 * nothing any more.
 */
static bool goes_on(struct watched *w, bool round)
{
	struct timespec now;

	if (w->clock == -1 || clock_gettime(w->clock, &now))
		return true;
	w->used = (uint64_t)now.tv_sec;
	if (now.tv_sec != w->before.tv_sec || now.tv_nsec != w->before.tv_nsec)
		w->silent = 0;
	else
		w->silent += round;
	w->before = now;
	return w->used < w->most && w->silent < gt_otf2_patience.silent;
}

/* Copies what the child prints into a file until it ends or the time is over. False: the file is full. */
static bool collect(int from, FILE *kept, struct watched *watched, bool *late)
{
	bool room = true;

	for (;;) {
		struct pollfd p = { .fd = from, .events = POLLIN };
		int ready = poll(&p, 1, 1000);
		char part[1 << 16];
		ssize_t got;

		if (ready > 0) {
			got = read(from, part, sizeof(part));
			if (got == 0 || (got < 0 && errno != EINTR))
				return room;
			if (got > 0)
				room = room && fwrite(part, 1, (size_t)got, kept) == (size_t)got;
		}
		if (!goes_on(watched, ready == 0)) {
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
	const char *name = gt_signal_name(number);

	snprintf(text, sizeof(text), "the process that reads it was killed by %s%s",
		 name ? "SIG" : "a signal", name ? name : "");
	if (number == SIGABRT) /* of the C++ libraries, and of the C library's checks */
		return strcat(text, ": it is damaged, or needs more memory than its size explains");
	if (number == SIGKILL)
		return strcat(text, ": by somebody, or by the kernel for want of memory");
	return text;
}

static const char *why_late(const struct watched *watched)
{
	static char text[160];

	if (watched->used < watched->most)
		return "the process that reads it did nothing any more: does its file system answer?";
	snprintf(text, sizeof(text),
		 "it was given up after %" PRIu64 " s of processor time, more than its size explains",
		 watched->used);
	return text;
}

static int wait_for(pid_t pid, int from, uint64_t bytes, FILE *kept, const char **reason)
{
	struct watched watched = watch(pid, bytes);
	bool late = false, room = collect(from, kept, &watched, &late);
	int status;

	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!late && WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NO_MEMORY) {
		*reason = "it is damaged, or needs more memory than its size explains";
		return -1;
	}
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
	*reason = late ? why_late(&watched) : reason_of(WTERMSIG(status));
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

int gt_otf2_guarded_all(const char *const anchors[], unsigned count,
			int (*function)(const char *anchor, void *argument, FILE *out), void *argument,
			const char **which, const char **reason)
{
	struct guard guard = { anchors, count, function, argument };
	uint64_t bytes = 0;
	int ends[2], rc = -1;
	FILE *kept;
	pid_t pid;

	for (unsigned i = 0; i < count; i++) {
		*which = anchors[i];
		if (!bytes_of(anchors[i], &bytes, reason))
			return -1;
	}
	*which = count == 1 ? anchors[0] : NULL;
	kept = temporary();
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
		rc = wait_for(pid, ends[0], bytes, kept, reason);
	close(ends[0]);
	fclose(kept);
	return rc;
}

int gt_otf2_guarded(const char *anchor, int (*function)(const char *anchor, void *argument, FILE *out),
		    void *argument, const char **reason)
{
	const char *which;

	return gt_otf2_guarded_all(&anchor, 1, function, argument, &which, reason);
}

/* ---- the anchor file --------------------------------------------------------------------------- */

/* errno of what is there but is of the other kind: 0 */
static bool exists(const char *path, bool folder)
{
	struct stat st;

	errno = 0;
	return !stat(path, &st) && (folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
}

static bool is_anchor(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && !strcmp(name + length - 5, ".otf2");
}

/* How many there are; the first one. 0: errno says why they are not known, or is 0. */
static unsigned search(const char *dir, char *anchor, size_t size)
{
	struct dirent *e;
	unsigned found = 0;
	int error;
	DIR *d;

	snprintf(anchor, size, "%s/traces.otf2", dir);
	if (exists(anchor, false))
		return 1;
	if (errno == EACCES || !(d = opendir(dir)))
		return 0;
	errno = 0;
	while ((e = readdir(d)))
		if (is_anchor(e->d_name) && !found++)
			snprintf(anchor, size, "%s/%s", dir, e->d_name);
	error = errno;
	closedir(d);
	errno = error;
	return error ? 0 : found;
}

const char *gt_otf2_find_anchor(const char *name, char *anchor, size_t size, char *spool, size_t spool_size)
{
	size_t length = strlen(name);
	char path[3072];
	unsigned found;
	int error;

	*spool = '\0';
	if (!length || length >= sizeof(path))
		return strerror(length ? ENAMETOOLONG : ENOENT);
	memcpy(path, name, length + 1);
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	if (!exists(path, true)) {
		if (!exists(path, false))
			return errno ? strerror(errno) : "it is neither a file nor a directory";
		snprintf(anchor, size, "%s", path);
		return is_anchor(path) ? NULL : "an anchor file has a name that ends in .otf2";
	}
	snprintf(spool, spool_size, "%s/spool/run", path);
	if (exists(spool, false))
		snprintf(spool, spool_size, "%s/spool", path);
	else
		*spool = '\0';
	found = search(path, anchor, size);
	error = errno;
	if (found == 1)
		return NULL;
	if (*spool && !found)
		return "it was not assembled yet: run 'gputrace recover' on it";
	if (found)
		return "there are several .otf2 files in it: name one of them";
	return error ? strerror(error) : "there is no archive (no .otf2 file) in it";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the archive directory of a run; see rundir.h.
 * Limits: no malloc, no stdio, no locale, no time zone other than what localtime's file says: names
 * carry UTC times.
 */
#include "lib/common/rundir.h"

#include "lib/common/process.h"
#include "lib/common/sys.h"
#include "lib/common/text.h"
#include "lib/format.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define PATH_ROOM 1024
#define TRIES     1000
#define SPOOL_TRIES 20 /* times 10 ms: who has made the directory makes the spool in it */
/* In place of a descriptor: */
#define JOINED INT_MAX       /* another process of the job has made it */
#define TAKEN  (INT_MAX - 1) /* it holds the archive of another run */

static int complain(char *why, size_t size, const char *what, const char *path, int error)
{
	char shown[204];

	gt_text(shown, sizeof(shown), "%s", path);
	if (strlen(path) >= sizeof(shown))
		strcpy(shown + sizeof(shown) - 4, "...");
	gt_text(why, size, "cannot %s %s: %s", what, shown, gt_text_errno(error));
	return error;
}

/* Days since 1970 to year, month, day in the Gregorian calendar. */
static void civil(int64_t days, int *year, unsigned *month, unsigned *day)
{
	int64_t era, y;
	unsigned doe, yoe, doy, mp;

	days += 719468; /* from 0000-03-01 */
	era = days / 146097;
	doe = (unsigned)(days - era * 146097);
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	y = (int64_t)yoe + era * 400;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	*day = doy - (153 * mp + 2) / 5 + 1;
	*month = mp < 10 ? mp + 3 : mp - 9;
	*year = (int)(y + (*month <= 2));
}

static void made_up_name(char *name, size_t size, const char *program, int64_t when)
{
	struct timespec now;
	unsigned month, day, s;
	int year;
	char clean[64];
	size_t n = 0;

	gt_sys_clock(CLOCK_REALTIME, &now);
	if (when > 0)
		now.tv_sec = when;
	civil(now.tv_sec / 86400, &year, &month, &day);
	s = (unsigned)(now.tv_sec % 86400);
	for (; *program && n + 1 < sizeof(clean); program++) {
		unsigned char c = (unsigned char)*program;

		clean[n++] = c <= ' ' || c == '/' || c == 0x7f ? '_' : (char)c;
	}
	clean[n] = 0;
	gt_text(name, size, "gputrace-%s-%04u%02u%02u-%02u%02u%02u", n ? clean : "program",
		(unsigned)year, month, day, s / 3600, s / 60 % 60, s % 60);
}

/* A world-writable folder without the sticky bit lets others swap what we make in it. */
static int check_parent(const char *parent, char *why, size_t why_size)
{
	struct stat st;
	int rc = gt_sys_fstatat(AT_FDCWD, parent, &st, 0);

	if (rc)
		return complain(why, why_size, "use the folder", parent, rc);
	if (!S_ISDIR(st.st_mode))
		return complain(why, why_size, "use the folder", parent, -ENOTDIR);
	if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX) && st.st_uid != gt_sys_geteuid()) {
		gt_text(why, why_size,
			"will not write into %s: it belongs to another user and everybody may "
			"write to it; choose another folder with -o or VT_PFORM_GDIR",
			parent);
		return -EPERM;
	}
	return 0;
}

static bool is_empty(int dir)
{
	char buffer[512];
	int n = gt_sys_getdents(dir, buffer, sizeof(buffer));
	int entries = 0;

	for (int at = 0; at < n;) { /* struct linux_dirent64: length at 16, name at 19 */
		unsigned short bytes;

		memcpy(&bytes, buffer + at + 16, sizeof(bytes));
		if (!bytes)
			break;
		entries++;
		at += bytes;
	}
	return n >= 0 && entries <= 2;
}

/* Opens the directory, which was just made or was there; never through a symlink. */
static int open_dir(const char *path)
{
	int fd = gt_sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	return fd == -ENOTDIR ? -EEXIST : fd;
}

/*
 * Is the directory an open run of our job? Whoever made it a moment ago may still have to write the
 * run's header.
 */
static bool of_job(const char *path, uint64_t job)
{
	struct gt_run_header run;
	char name[PATH_ROOM + 16];

	gt_text(name, sizeof(name), "%s/spool/run", path);
	for (unsigned tries = 0; job && tries < 200; tries++) {
		struct stat st;

		if (gt_sys_read_file(name, O_NOFOLLOW, &run, sizeof(run)) == (ssize_t)sizeof(run))
			return run.magic == GT_MAGIC_RUN && run.job == job &&
			       (run.state == GT_RUN_OPEN || run.state == GT_RUN_ENDED) &&
			       run.uid == gt_sys_geteuid();
		/* An archive that is complete has no spool any more. */
		gt_text(name, sizeof(name), "%s/traces.otf2", path);
		if (!gt_sys_fstatat(AT_FDCWD, name, &st, 0))
			return false;
		gt_text(name, sizeof(name), "%s/spool", path);
		if (gt_sys_fstatat(AT_FDCWD, name, &st, 0) && tries >= SPOOL_TRIES)
			return false; /* it was there before the job, or could not be used and is gone */
		gt_text(name, sizeof(name), "%s/spool/run", path);
		gt_sys_sleep_us(10000);
	}
	return false;
}

static bool holds(const char *dir, const char *name)
{
	char path[PATH_ROOM + 16];
	struct stat st;

	gt_text(path, sizeof(path), "%s/%s", dir, name);
	return !gt_sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
}

/* An empty directory may be there: it is for the process that makes the spool in it, see make_spool. */
static int make_named(const char *path, uint64_t job, char *why, size_t why_size)
{
	struct stat own = { 0 };
	int fd = -ENOTEMPTY, rc;

	/* Again: whoever came first could not use it and has gone. */
	for (unsigned tries = 0; fd == -ENOTEMPTY && tries < 3; tries++) {
		rc = gt_sys_mkdirat(AT_FDCWD, path);
		if (rc && rc != -EEXIST)
			return complain(why, why_size, "make the archive directory", path, rc);
		fd = open_dir(path);
		gt_sys_note_named(fd, AT_FDCWD, path, &own);
		if (fd < 0 || is_empty(fd))
			continue;
		gt_sys_close_own(fd, &own);
		if (job && of_job(path, job))
			return JOINED;
		fd = -ENOTEMPTY;
	}
	if (fd == -ENOTEMPTY && (holds(path, "traces.otf2") || holds(path, "spool/run")))
		return TAKEN;
	if (fd < 0)
		return complain(why, why_size, "use the archive directory", path, fd);
	return fd;
}

/* The first free of path, path.2, path.3 ..., from the `n`th on; `path` is changed to it. */
static int make_numbered(char *path, size_t size, unsigned n, uint64_t job, char *why, size_t why_size)
{
	size_t length = strlen(path);
	int rc = -EEXIST;

	for (; n <= TRIES; n++) {
		if (n > 1)
			gt_text(path + length, size - length, ".%u", n);
		rc = gt_sys_mkdirat(AT_FDCWD, path);
		if (rc != -EEXIST)
			break;
		if (job && of_job(path, job))
			return JOINED;
	}
	if (!rc)
		rc = open_dir(path);
	if (rc < 0)
		return complain(why, why_size, "make the archive directory", path, rc);
	return rc;
}

static void read_line(const char *path, char *buffer, size_t size)
{
	gt_sys_read_text(path, buffer, size);
	buffer[strcspn(buffer, "\n")] = 0;
}

static int absolute(const char *path, char *out, size_t size, char *why, size_t why_size)
{
	size_t n = 0;

	if (*path != '/') {
		long rc = GT_SYS2(SYS_getcwd, out, size);

		if (rc < 0)
			return complain(why, why_size, "find the working directory for", path,
					(int)rc);
		n = strlen(out);
		if (n && out[n - 1] != '/' && n + 1 < size)
			out[n++] = '/';
	}
	if (n + strlen(path) + 16 >= size)
		return complain(why, why_size, "use", path, -ENAMETOOLONG);
	strcpy(out + n, path);
	n = strlen(out);
	while (n > 1 && out[n - 1] == '/')
		out[--n] = 0;
	return 0;
}

int gt_rundir_appear(int dir, const char *from, const char *to)
{
	struct stat st;
	int rc = gt_sys_linkat(dir, from, dir, to);

	if (!rc)
		gt_sys_unlinkat(dir, from, 0);
	if (rc != -EPERM && rc != -EOPNOTSUPP && rc != -ENOSYS && rc != -EMLINK && rc != -EINVAL)
		return rc;
	/* No hard links here (FAT, many FUSE and object stores). */
	rc = gt_sys_rename_new(dir, from, to);
	if (rc != -EINVAL && rc != -ENOSYS && rc != -EOPNOTSUPP)
		return rc;
	if (!gt_sys_fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return (int)GT_SYS4(SYS_renameat, dir, from, dir, to);
}

/*
 * Writes a run header for this host into the folder `home`, which is open as `dir`, and makes the
 * node-local folder that it names. It appears whole or not at all; -EEXIST: there is one already.
 */
static int write_run(int dir, const char *home, const struct gt_rundir_wish *wish, char *why,
		     size_t why_size)
{
	struct gt_run_header run = { .magic = GT_MAGIC_RUN, .version = GT_FORMAT_VERSION };
	char local[PATH_ROOM] = "", name[32];
	struct stat own = { 0 };
	struct timespec now;
	int fd, rc;

	gt_sys_clock(CLOCK_REALTIME, &now);
	run.created_real_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	run.uid = gt_sys_geteuid();
	run.job = wish->job;
	read_line("/proc/sys/kernel/random/boot_id", run.boot_id, sizeof(run.boot_id));
	gt_host_name(wish->host, run.host, sizeof(run.host));
	gt_text(run.spool, sizeof(run.spool), "%s", home);
	if (wish->local && *wish->local) {
		rc = absolute(wish->local, local, sizeof(local), why, why_size);
		if (rc)
			return rc;
		gt_text(run.spool, sizeof(run.spool), "%s/gputrace-spool-%u-%lu", local,
			(unsigned)gt_sys_getpid(), (unsigned long)run.created_real_ns);
		rc = gt_sys_mkdirat(AT_FDCWD, run.spool);
		if (rc)
			return complain(why, why_size, "make the spool (VT_PFORM_LDIR)", run.spool,
					rc);
	}
	gt_text(name, sizeof(name), "run.%u", (unsigned)gt_sys_getpid());
	fd = gt_sys_openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return complain(why, why_size, "write to", home, fd);
	rc = gt_sys_note_named(fd, dir, name, &own) ? (int)gt_sys_pwrite(fd, &run, sizeof(run), 0) : -EBADF;
	gt_sys_fchmodat(dir, name, 0600); /* whatever the umask says */
	if (rc >= 0)
		rc = gt_sys_is_own(fd, &own) ? gt_sys_ftruncate(fd, GT_PAGE) : -EBADF;
	gt_sys_close_own(fd, &own);
	if (rc >= 0)
		rc = gt_rundir_appear(dir, name, "run");
	if (rc < 0)
		gt_sys_unlinkat(dir, name, 0);
	if (rc < 0 && *local)
		gt_sys_unlinkat(AT_FDCWD, run.spool, AT_REMOVEDIR);
	return rc < 0 && rc != -EEXIST ? complain(why, why_size, "write to", home, rc) : rc;
}

static int make_spool(int dir, const char *path, const struct gt_rundir_wish *wish, char *why,
		      size_t why_size)
{
	char home[PATH_ROOM + 16];
	int fd, rc = -EEXIST;
	struct stat own = { 0 };

	for (unsigned tries = 0; rc == -EEXIST && tries < 3; tries++) {
		rc = gt_sys_mkdirat(dir, "spool");
		if (rc == -EEXIST && wish->job && of_job(path, wish->job))
			return 0; /* another process of the job came first */
	}
	if (rc)
		return complain(why, why_size, "make the spool in", path, rc);
	gt_text(home, sizeof(home), "%s/spool", path);
	fd = gt_sys_openat(dir, "spool", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return complain(why, why_size, "use", home, fd);
	gt_sys_note_named(fd, dir, "spool", &own);
	rc = write_run(fd, home, wish, why, why_size);
	gt_sys_close_own(fd, &own);
	if (rc) /* other processes of the job may be able to use it */
		gt_sys_unlinkat(dir, "spool", AT_REMOVEDIR);
	if (rc && !wish->job)
		gt_sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
	return rc;
}

void gt_rundir_host_folder(const char *host, const char *boot_id, char *name, size_t size)
{
	char clean[64];
	size_t n = 0;

	for (; *host && n + 1 < sizeof(clean); host++)
		clean[n++] = *host == '/' || (unsigned char)*host <= ' ' ? '_' : *host;
	clean[n] = 0;
	gt_text(name, size, GT_HOST_FOLDER "%s.%c%c%c%c%c%c%c%c", clean, boot_id[0], boot_id[1],
		boot_id[2], boot_id[3], boot_id[4], boot_id[5], boot_id[6], boot_id[7]);
}

int gt_rundir_join_host(const char *path, const struct gt_rundir_wish *wish, char *home, size_t size,
			char *why, size_t why_size)
{
	char boot_id[40] = "--------", host[64], name[128];
	struct stat st, own = { 0 };
	int fd, rc;

	read_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	gt_host_name(wish->host, host, sizeof(host));
	gt_rundir_host_folder(host, boot_id, name, sizeof(name));
	gt_text(home, size, "%s/spool/%s", path, name);
	rc = gt_sys_mkdirat(AT_FDCWD, home);
	if (rc && rc != -EEXIST)
		return complain(why, why_size, "make the spool", home, rc);
	fd = gt_sys_openat(AT_FDCWD, home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return complain(why, why_size, "use", home, fd);
	gt_sys_note_named(fd, AT_FDCWD, home, &own);
	rc = gt_sys_fstatat(fd, "run", &st, AT_SYMLINK_NOFOLLOW);
	if (rc == -ENOENT)
		rc = write_run(fd, home, wish, why, why_size);
	gt_sys_close_own(fd, &own);
	if (rc && rc != -EEXIST) /* the other hosts would wait for it */
		gt_sys_unlinkat(AT_FDCWD, home, AT_REMOVEDIR);
	return rc == -EEXIST ? 0 : rc;
}

int gt_rundir_create(const struct gt_rundir_wish *wish, char *path, size_t path_size, char *why,
		     size_t why_size)
{
	const char *parent = wish->parent && *wish->parent ? wish->parent : ".";
	char local[PATH_ROOM] = "";
	struct stat own = { 0 };
	int dir, rc;

	if (wish->local && *wish->local) { /* said before anything is made */
		rc = absolute(wish->local, local, sizeof(local), why, why_size);
		if (rc)
			return rc;
	}
	if (wish->dir) {
		char above[PATH_ROOM];
		char *slash;

		rc = absolute(wish->dir, path, path_size, why, why_size);
		if (rc)
			return rc;
		gt_text(above, sizeof(above), "%s", path);
		slash = strrchr(above, '/');
		if (slash)
			slash[slash == above] = 0;
		rc = check_parent(above, why, why_size);
		if (rc)
			return rc;
		dir = make_named(path, wish->job, why, why_size);
		if (dir == TAKEN)
			dir = make_numbered(path, path_size, 2, wish->job, why, why_size);
	} else {
		char name[256];
		char both[PATH_ROOM];

		rc = check_parent(parent, why, why_size);
		if (rc)
			return rc;
		if (wish->prefix && *wish->prefix)
			gt_text(name, sizeof(name), "%s", wish->prefix);
		else
			made_up_name(name, sizeof(name), wish->program ? wish->program : "program",
				     wish->when);
		if (!strcmp(parent, "."))
			gt_text(both, sizeof(both), "%s", name);
		else
			gt_text(both, sizeof(both), "%s%s%s", parent,
				parent[strlen(parent) - 1] == '/' ? "" : "/", name);
		rc = absolute(both, path, path_size, why, why_size);
		if (rc)
			return rc;
		dir = make_numbered(path, path_size, 1, wish->job, why, why_size);
	}
	if (dir == JOINED)
		return 0;
	if (dir < 0)
		return dir;
	/* An empty one that was there may be open to others. */
	if (gt_sys_note_named(dir, AT_FDCWD, path, &own))
		gt_sys_fchmodat(dir, ".", 0700);
	rc = make_spool(dir, path, wish, why, why_size);
	gt_sys_close_own(dir, &own);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removing and placing the files of an archive directory.
 */
#include "config.h"

#include "lib/assemble/archive/clean.h"

#include "lib/assemble/util/io.h"
#include "lib/common/ending.h"
#include "lib/common/rundir.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const partials[] = { "traces.def", "traces.marker", "traces.otf2" };
#define PARTS (sizeof(partials) / sizeof(*partials))

/* `prefix`, digits, then one of the endings. */
static bool numbered(const char *name, const char *prefix, const char *const *endings)
{
	size_t n = strlen(prefix);

	if (strncmp(name, prefix, n) || !isdigit((unsigned char)name[n]))
		return false;
	while (isdigit((unsigned char)name[n]))
		n++;
	for (; *endings; endings++)
		if (!strcmp(name + n, *endings))
			return true;
	return false;
}

static bool event_file(const char *name)
{
	static const char *const endings[] = { ".evt", ".def", ".snap", NULL };

	return numbered(name, "", endings);
}

static bool process_file(const char *name)
{
	static const char *const endings[] = { ".win", ".raw", ".side", NULL };

	return !strcmp(name, "proc") || !strcmp(name, GT_CHILDREN) ||
	       numbered(name, "l", endings);
}

static bool any_part(const char *name)
{
	for (size_t i = 0; i < PARTS; i++)
		if (!strcmp(name, partials[i]))
			return true;
	return !strcmp(name, ".ballast") || !strncmp(name, ".sort.", 6);
}

/* Removes the files in a folder that `ours` knows, then the folder if it is empty. */
static int remove_folder(int parent, const char *name, bool (*ours)(const char *))
{
	DIR *dir = gt_folder_list(parent, name);
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir)))
		if (ours(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) ? -errno : 0;
}

void gt_clean_abandon(int dirfd)
{
	int fd = gt_folder_open(dirfd, GT_ASSEMBLING);

	if (fd < 0)
		return;
	remove_folder(fd, "traces", event_file);
	close(fd);
	remove_folder(dirfd, GT_ASSEMBLING, any_part);
}

int gt_clean_begin(int dirfd)
{
	gt_clean_abandon(dirfd);
	if (mkdirat(dirfd, GT_ASSEMBLING, 0700))
		return -errno;
	return gt_folder_open(dirfd, GT_ASSEMBLING);
}

int gt_clean_publish(int dirfd)
{
	int from = gt_folder_open(dirfd, GT_ASSEMBLING);
	int rc = from < 0 ? from : 0;

	/* Without an anchor these are what an interrupted attempt has left. */
	remove_folder(dirfd, "traces", event_file);
	if (!rc && renameat(from, "traces", dirfd, "traces"))
		rc = -errno;
	for (size_t i = 0; !rc && i < PARTS; i++)
		if (renameat(from, partials[i], dirfd, partials[i]) &&
		    (errno != ENOENT || strcmp(partials[i], "traces.marker")))
			rc = -errno;
	if (from >= 0)
		close(from);
	if (!rc)
		remove_folder(dirfd, GT_ASSEMBLING, any_part);
	return rc;
}

#define MAKING "making"

static bool partial_file(const char *name)
{
	return any_part(name) || !strcmp(name, "part") || !strcmp(name, GT_PART_COVERS) ||
	       !strcmp(name, "markers");
}

static void remove_part(int home, const char *name)
{
	int fd = openat(home, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	remove_folder(fd, "traces", event_file);
	close(fd);
	remove_folder(home, name, partial_file);
}

void gt_clean_abandon_partial(int dirfd, const char *home)
{
	int fd = openat(dirfd, home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	remove_part(fd, MAKING);
	close(fd);
}

int gt_clean_begin_partial(int dirfd, const char *home)
{
	char path[256];
	int fd;

	gt_clean_abandon_partial(dirfd, home);
	snprintf(path, sizeof(path), "%s/" MAKING, home);
	if (mkdirat(dirfd, path, 0700))
		return -errno;
	fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int gt_clean_publish_partial(int dirfd, const char *home)
{
	char from[256], to[256];

	snprintf(from, sizeof(from), "%s/" MAKING, home);
	for (unsigned i = 0; i < 1000000; i++) {
		/* A folder does not replace one that is not empty. */
		snprintf(to, sizeof(to), "%s/" GT_PART_FOLDER "%u", home, i);
		if (!renameat(dirfd, from, dirfd, to))
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
	}
	return -EMFILE;
}

/* Removes the processes of a host; a copy that the user has named stays. */
static int clean_root(const struct gt_root *root)
{
	DIR *dir = root->fd < 0 || root->given ? NULL : gt_folder_list(root->fd, ".");
	struct dirent *entry;
	uint32_t seq, pid;
	int rc = 0;

	if (root->given || root->fd < 0)
		return 0;
	if (!dir)
		return -errno;
	while ((entry = gt_folder_next(dir, &rc)))
		if (gt_spool_folder(entry->d_name, &seq, &pid)) {
			int one = remove_folder(root->fd, entry->d_name, process_file);

			rc = rc ? rc : one;
		}
	closedir(dir);
	if (root->elsewhere && rmdir(root->run.spool) && !rc)
		rc = -errno;
	return rc;
}

int gt_clean_processes(const struct gt_spool *spool)
{
	int rc = 0;

	for (size_t i = 0; i < spool->root_count; i++) {
		int one = clean_root(&spool->roots[i]);

		rc = rc ? rc : one;
	}
	return rc;
}

/* Removes partial archives that hosts have made, and remains of interrupted attempts. */
void gt_clean_partials(const struct gt_spool *spool)
{
	char path[200];

	for (size_t i = 0; i < spool->partial_count; i++) {
		const char *name = strrchr(spool->partials[i].path, '/');
		int fd;

		snprintf(path, sizeof(path), "%.*s", (int)(name - spool->partials[i].path),
			 spool->partials[i].path);
		fd = openat(spool->dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		remove_part(fd, name + 1);
		close(fd);
	}
	for (size_t i = 0; i < spool->root_count; i++) {
		const char *name = spool->roots[i].name;

		snprintf(path, sizeof(path), "spool%s%s", *name ? "/" : "", name);
		gt_clean_abandon_partial(spool->dirfd, path);
	}
}

static bool job_file(const char *name)
{
	return !strcmp(name, "hosts") || !strcmp(name, "coordinator") || !strcmp(name, "complete") ||
	       !strncmp(name, "host.", 5) || !strncmp(name, "new.", 4);
}

/* How the hosts of parallel programs found each other (lib/record/ranks.c). */
static void clean_jobs(int archive)
{
	DIR *dir = gt_folder_list(archive, "spool");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "job.", 4))
			remove_folder(dirfd(dir), entry->d_name, job_file);
	if (dir)
		closedir(dir);
}

int gt_clean_spool(const struct gt_spool *spool)
{
	int rc = 0;

	gt_clean_partials(spool);
	for (size_t i = 0; i < spool->root_count; i++) {
		const struct gt_root *root = &spool->roots[i];
		char path[160];
		int one = clean_root(root);

		rc = rc ? rc : one;
		if (one || !root->name[0])
			continue;
		snprintf(path, sizeof(path), "spool/%s/run", root->name);
		unlinkat(spool->dirfd, path, 0);
		snprintf(path, sizeof(path), "spool/%s/" GT_WATCH, root->name);
		unlinkat(spool->dirfd, path, 0);
		path[strlen(path) - strlen("/" GT_WATCH)] = 0;
		if (unlinkat(spool->dirfd, path, AT_REMOVEDIR) && !rc)
			rc = -errno;
	}
	if (rc)
		return rc;
	unlinkat(spool->dirfd, "spool/" GT_CLAIM, 0);
	unlinkat(spool->dirfd, "spool/" GT_WATCH, 0);
	clean_jobs(spool->dirfd);
	/* The run header last: while it is there the directory is known as a run's. */
	if (unlinkat(spool->dirfd, "spool/run", 0) || unlinkat(spool->dirfd, "spool", AT_REMOVEDIR))
		rc = -errno;
	return rc;
}

static bool run_file(const char *name)
{
	return !strcmp(name, "run") || !strcmp(name, GT_CLAIM) || !strcmp(name, GT_WATCH);
}

/* A folder with a run header: what processes and parts have left in it. */
static void clean_home(int home)
{
	DIR *dir = gt_folder_list(home, ".");
	struct dirent *entry;
	uint32_t seq, pid;

	while (dir && (entry = readdir(dir))) {
		if (gt_spool_folder(entry->d_name, &seq, &pid))
			remove_folder(home, entry->d_name, process_file);
		else if (!strncmp(entry->d_name, GT_PART_FOLDER, strlen(GT_PART_FOLDER)) ||
			 !strcmp(entry->d_name, MAKING))
			remove_part(home, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static bool being_removed(int dirfd)
{
	struct gt_run_header run;
	ssize_t n = gt_read_head(dirfd, "spool/run", &run, sizeof(run));

	return n == -ENOENT ||
	       (n == (ssize_t)sizeof(run) && run.magic == GT_MAGIC_RUN && run.state == GT_RUN_TIDY);
}

static void clean_rest(int archive)
{
	struct gt_spool spool;
	struct dirent *entry;
	char why[256];
	DIR *dir;

	if (!gt_spool_open(&spool, archive, NULL, why, sizeof(why))) {
		gt_clean_spool(&spool);
		gt_spool_close(&spool);
	}
	dir = gt_folder_list(archive, "spool");
	while (dir && (entry = readdir(dir))) {
		int home = -1;

		if (!strncmp(entry->d_name, GT_HOST_FOLDER, strlen(GT_HOST_FOLDER)))
			home = openat(dirfd(dir), entry->d_name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (home < 0)
			continue;
		clean_home(home);
		close(home);
		remove_folder(dirfd(dir), entry->d_name, run_file);
	}
	if (!dir)
		return;
	clean_home(dirfd(dir));
	closedir(dir);
	clean_jobs(archive);
	remove_folder(archive, "spool", run_file);
}

int gt_clean_rest(int archive)
{
	if (!being_removed(archive))
		return 0;
	clean_rest(archive);
	return faccessat(archive, "spool", F_OK, AT_SYMLINK_NOFOLLOW) ? 0 : -ENOTEMPTY;
}

uint64_t gt_clean_size(int dir)
{
	uint64_t bytes = 0;
	struct dirent *entry;
	struct stat st;
	DIR *traces;

	for (size_t i = 0; i < PARTS; i++)
		if (!fstatat(dir, partials[i], &st, AT_SYMLINK_NOFOLLOW))
			bytes += (uint64_t)st.st_size;
	traces = gt_folder_list(dir, "traces");
	while (traces && (entry = readdir(traces)))
		if (event_file(entry->d_name) &&
		    !fstatat(dirfd(traces), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			bytes += (uint64_t)st.st_size;
	if (traces)
		closedir(traces);
	return bytes;
}

/* ---- who may read it ----------------------------------------------------------------------------- */

/* A file of ours, as it was made: others may read it if they may read what the user makes. */
static int share(int folder, const char *name, mode_t mask)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	return fchmodat(folder, name, 0600 | (0044 & ~mask), 0) ? -errno : 0;
}

static int share_folder(int dir, mode_t mask)
{
	return fchmod(dir, 0700 | (0055 & ~mask)) ? -errno : 0;
}

int gt_clean_share(int dir, mode_t mask)
{
	static const char *const others[] = { "MANIFEST.md", "gputrace.cfg", "SUMMARY", "summary.json" };
	DIR *traces = gt_folder_list(dir, "traces");
	int rc = traces ? 0 : -errno;
	struct dirent *entry;

	for (size_t i = 0; !rc && i < PARTS; i++)
		rc = share(dir, partials[i], mask);
	for (size_t i = 0; !rc && i < sizeof(others) / sizeof(*others); i++)
		rc = share(dir, others[i], mask);
	while (!rc && (entry = gt_folder_next(traces, &rc)))
		if (event_file(entry->d_name))
			rc = share(dirfd(traces), entry->d_name, mask);
	if (!rc)
		rc = share_folder(dirfd(traces), mask);
	if (traces)
		closedir(traces);
	return rc ? rc : share_folder(dir, mask); /* the spool in it stays private */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace recover DIR [SPOOL...]`: makes the archive of a run that could not do it itself, because it was
 * killed, the disk was full, or VT_UNIFY was off.
 *
 * Limits: refuses while processes of the run are alive on this host; processes on other hosts are
 * known only by the lock.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/assemble.h"
#include "lib/assemble/util/io.h"
#include "lib/assemble/spool/spool.h"
#include "lib/common/rundir.h"
#include "lib/common/settings.h"
#include "tools/cmds.h"
#include "tools/options.h"
#include "tools/paths.h"

#define WAIT_TRIES 50
#define WAIT_US    20000

static const struct gt_option options[] = {
	{ 'k', "keep", NULL, "Keep the spool when the archive is complete." },
	{ 'p', "partial", NULL, "Make the archive even if spools of some hosts are missing." },
	{ 'q', "quiet", NULL, "Print errors only." },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	.command = "gputrace recover",
	.synopsis = "[options] DIR [SPOOL|ARCHIVE...]",
	.summary = "Creates a readable archive of a run that was killed or not assembled.",
	.options = options,
	.notes = "DIR is the archive directory (gputrace-<program>-<date>-<time>). What was recorded\n"
		 "up to the moment of the kill is in the archive; what was lost is counted in it.\n"
		 "SPOOL: a node-local spool of another host (VT_PFORM_LDIR), copied or mounted here: a\n"
		 "folder named gputrace-spool-..., or one that contains such folders. It is not changed.\n"
		 "ARCHIVE: the archive that another host, which does not share DIR, made of the same run,\n"
		 "with its spool. DIR becomes the archive of all; the others are not changed.\n"
		 "Exit status: 0 the archive is there, 1 it is not, or it lacks events because the disk\n"
		 "is full, 2 wrong usage.",
};

static void complain(const char *sentence)
{
	gt_say(0, "%s", sentence);
}

static int say_bad(const char *dir, const char *sentence)
{
	fprintf(stderr, "gputrace recover: %s: %s\n", dir, sentence);
	return GT_RC_BAD;
}

/* Is a process of the run still alive? Then `name` and *pid say which. */
static bool somebody_alive(int dirfd, char *const *folders, char *name, size_t size, uint32_t *pid)
{
	struct gt_spool spool;
	char why[256];
	bool alive = false;

	if (gt_spool_open(&spool, dirfd, folders, why, sizeof(why)))
		return false; /* gt_assemble will say why */
	for (size_t i = 0; i < spool.proc_count && !alive; i++) {
		alive = gt_proc_alive(&spool.procs[i]);
		if (alive) {
			snprintf(name, size, "%s", spool.procs[i].header.program);
			*pid = spool.procs[i].header.pid;
		}
	}
	gt_spool_close(&spool);
	return alive;
}

/*
 * Takes the run's lock. A process that was killed may need a moment to go, so nothing is reported about
 * the living before a second has passed.
 */
static int take_over(const char *dir, int dirfd, int lock, char *const *folders)
{
	char name[256] = "";
	uint32_t pid = 0;

	for (unsigned tries = 0;; tries++) {
		bool busy = flock(lock, LOCK_EX | LOCK_NB) != 0;

		if (busy && errno != EWOULDBLOCK)
			return say_bad(dir, strerror(errno));
		if (!somebody_alive(dirfd, folders, name, sizeof(name), &pid)) {
			if (!busy)
				return GT_RC_OK;
			if (tries >= WAIT_TRIES)
				return say_bad(dir, "its archive is being made, or a process of the run "
					"is still running");
		} else if (tries >= WAIT_TRIES) {
			fprintf(stderr,
				"gputrace recover: %s: process %u (%s) of this run is still "
				"running; the archive is made when it ends\n",
				dir, pid, name);
			return GT_RC_BAD;
		}
		flock(lock, LOCK_UN);
		usleep(WAIT_US);
	}
}

/* ---- archives of the same run -------------------------------------------------------------------- */

static bool read_run(int at, const char *path, struct gt_run_header *run)
{
	bool good = gt_read_head(at, path, run, sizeof(*run)) == (ssize_t)sizeof(*run) &&
		    run->magic == GT_MAGIC_RUN && run->version == GT_FORMAT_VERSION;

	run->boot_id[sizeof(run->boot_id) - 1] = run->host[sizeof(run->host) - 1] = 0;
	return good;
}

/* A host of another archive gets a run header in this one; its processes are found where they are. */
static int adopt(int dirfd, const struct gt_run_header *first, struct gt_run_header *run)
{
	char name[128], path[200];
	int fd, rc = 0;

	if (!strcmp(first->host, run->host) && !strcmp(first->boot_id, run->boot_id))
		return -EEXIST;
	gt_rundir_host_folder(run->host, run->boot_id, name, sizeof(name));
	snprintf(path, sizeof(path), "spool/%s", name);
	if (mkdirat(dirfd, path, 0700) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "spool/%s/run", name);
	run->state = GT_RUN_ENDED;
	fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, run, sizeof(*run)) != (ssize_t)sizeof(*run) || ftruncate(fd, GT_PAGE))
		rc = -EIO;
	close(fd);
	return rc;
}

/* The hosts' records in the folder `name` of an archive's spool ("": the spool itself). */
static int adopt_from(int archive, const struct gt_run_header *first, int spool, const char *name)
{
	struct gt_run_header run;
	char path[300];

	if (!strncmp(name, GT_PART_FOLDER, strlen(GT_PART_FOLDER)))
		return -ENOTSUP;
	if (*name && strncmp(name, GT_HOST_FOLDER, strlen(GT_HOST_FOLDER)))
		return 0;
	snprintf(path, sizeof(path), "%s%srun", name, *name ? "/" : "");
	if (!read_run(spool, path, &run))
		return *name ? -EPROTO : -ENOENT;
	return run.job && run.job == first->job ? adopt(archive, first, &run) : -EXDEV;
}

static const char *adopt_error(int rc)
{
	switch (rc) {
	case -EXDEV:
		return "is an archive of another run";
	case -EEXIST:
		return "is an archive of the same host";
	case -ENOTSUP:
		return "is an archive of several hosts that have converted their events already";
	default:
		return strerror(-rc);
	}
}

/* All hosts of the archive `from`; if it is none, nothing. 0 or an exit status. */
static int adopt_all(int archive, const struct gt_run_header *first, const char *from)
{
	int rc;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/spool", from);
	dir = gt_folder_list(AT_FDCWD, path);
	rc = dir ? adopt_from(archive, first, dirfd(dir), "") : -errno;
	while (!rc && (entry = gt_folder_next(dir, &rc)))
		rc = adopt_from(archive, first, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	return !rc || rc == -ENOENT ? 0 : say_bad(from, adopt_error(rc));
}

/*
 * The folders that the user has named and, of those that are archives, their spools. NULL: *rc says why.
 * *joined: there are archives among them.
 */
static char **look_at_folders(int archive, char *const *named, int count, bool *joined, int *rc)
{
	char **folders = calloc(2 * (size_t)count + 1, sizeof(*folders));
	struct gt_run_header first = { 0 };
	int n = 0;

	*rc = folders ? 0 : GT_RC_BAD;
	read_run(archive, "spool/run", &first);
	for (int i = 0; folders && !*rc && i < count; i++) {
		char path[PATH_MAX];

		folders[n++] = named[i];
		snprintf(path, sizeof(path), "%s/spool", named[i]);
		if (access(path, F_OK))
			continue;
		*joined = true;
		folders[n] = strdup(path);
		if (folders[n++])
			*rc = adopt_all(archive, &first, named[i]);
	}
	return folders;
}

/* Between those that were named are those that look_at_folders() has allocated. */
static void drop_folders(char **folders, char *const *named)
{
	for (char **at = folders; at && *at; at++)
		if (*at == *named)
			named++;
		else
			free(*at);
	free(folders);
}

int gt_cmd_recover(int argc, char **argv)
{
	struct gt_assemble_options how = { .recovered = true, .assemblers = gt_path_assemblers(),
					   .summarise = gt_summarise_guarded };
	bool keep = false, quiet = false;
	int key, dirfd, fd, rc;
	char **folders;
	const char *dir;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		keep |= key == 'k';
		how.partial |= key == 'p';
		quiet |= key == 'q';
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (argc - optind < 1)
		return gt_usage_error(&usage, "a directory is needed");
	dir = argv[optind];
	gt_settings_load(environ, complain);
	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return say_bad(dir, strerror(errno));
	if (faccessat(dirfd, "spool", F_OK, AT_SYMLINK_NOFOLLOW)) {
		bool complete = !faccessat(dirfd, "traces.otf2", F_OK, AT_SYMLINK_NOFOLLOW);

		close(dirfd);
		if (!complete)
			return say_bad(dir, "this is not an archive directory of gputrace");
		if (!quiet)
			fprintf(stderr, "gputrace recover: %s: the archive is complete, there is "
					"nothing to recover\n", dir);
		return GT_RC_OK;
	}
	fd = openat(dirfd, "spool/run", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT && !faccessat(dirfd, "traces.otf2", F_OK, AT_SYMLINK_NOFOLLOW))
		return gt_assemble(dir, &how); /* what is left goes, too */
	if (fd < 0)
		return say_bad(dir, strerror(errno));
	how.folders = folders =
		look_at_folders(dirfd, argv + optind + 1, argc - optind - 1, &how.again, &rc);
	if (!rc)
		rc = take_over(dir, dirfd, fd, folders);
	if (rc) {
		drop_folders(folders, argv + optind + 1);
		return rc;
	}
	how.keep_spool = keep || !gt_settings.clean;
	how.threads = (unsigned)gt_settings.assemble_threads;
	how.in_order = gt_settings.clock_correction;
	how.verbose = quiet ? 0 : (int)gt_settings.verbose;
	gt_assemble_guard(dir);
	rc = gt_assemble(dir, &how);
	drop_folders(folders, argv + optind + 1);
	close(fd);
	gt_tidy(dirfd, 0);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace recover DIR [SPOOL...]`: makes the archive of a run that could not do it itself, because it was
 * killed, the disk was full, or VT_UNIFY was off.
 *
 * Limits: refuses while processes of the run are alive on this host; processes on other hosts are
 * known only by the lock.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/assemble/assemble.h"
#include "lib/assemble/spool.h"
#include "lib/common/settings.h"
#include "tools/cmds.h"
#include "tools/options.h"

#define WAIT_TRIES 50
#define WAIT_US    20000

static const struct gt_option options[] = {
	{ 'k', "keep", NULL, "keep the spool when the archive is complete" },
	{ 'p', "partial", NULL, "do it also if the spools of some hosts are not found" },
	{ 'q', "quiet", NULL, "print errors only" },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	.command = "gputrace recover",
	.synopsis = "[options] DIR [SPOOL...]",
	.summary = "Makes a readable archive of a run that was killed or not assembled.",
	.options = options,
	.notes = "DIR is the archive directory (gputrace-<program>-<date>-<time>). What was recorded\n"
		 "up to the moment of the kill is in the archive; what was lost is counted in it.\n"
		 "SPOOL: where node-local spools of other hosts (VT_PFORM_LDIR) can be found here: folders\n"
		 "named gputrace-spool-..., or folders that hold them; they stay as they are.\n"
		 "Exit status: 0 the archive is there, 1 it is not, or it lacks events for want of\n"
		 "disk space, 2 wrong usage.",
};

static void complain(const char *sentence)
{
	fprintf(stderr, "gputrace: %s\n", sentence);
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
 * Takes the run's lock. A process that was killed may need a moment to go, so nobody is told about
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
				return say_bad(dir, "its archive is being made just now, or a process "
						    "of the run is alive");
		} else if (tries >= WAIT_TRIES) {
			fprintf(stderr,
				"gputrace recover: %s: process %u (%s) of this run is still "
				"running; its end makes the archive\n",
				dir, pid, name);
			return GT_RC_BAD;
		}
		flock(lock, LOCK_UN);
		usleep(WAIT_US);
	}
}

int gt_cmd_recover(int argc, char **argv)
{
	struct gt_assemble_options how = { .recovered = true };
	bool keep = false, quiet = false;
	int key, dirfd, fd, rc;
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
	how.folders = argv + optind + 1;
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
	rc = take_over(dir, dirfd, fd, how.folders);
	if (rc)
		return rc;
	close(dirfd);
	how.keep_spool = keep || !gt_settings.clean;
	how.threads = (unsigned)gt_settings.assemble_threads;
	how.verbose = quiet ? 0 : (int)gt_settings.verbose;
	gt_assemble_guard(dir);
	return gt_assemble(dir, &how);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace assemble --lock-fd=N DIR`: started by libgputrace.so in the last process of a run, which
 * hands over the run's lock.
 *
 * Limits: not for users; they have `gputrace recover`.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/assemble/assemble.h"
#include "lib/assemble/archive/clean.h"
#include "lib/assemble/spool/collect.h"
#include "lib/common/settings.h"
#include "lib/common/sys.h"
#include "report/summary/summary.h"
#include "tools/cmds.h"
#include "tools/options.h"
#include "tools/paths.h"

#define TIDY_NAP_MS 20
#define TIDY_MS     2000

static const struct gt_option options[] = {
	{ 'l', "lock-fd", "N", "descriptor that holds the run's lock" },
	{ 'o', "home", "DIR", "folder of the run header that is locked (DIR/spool)" },
	{ 'p', "part", NULL, "only what this host has recorded, as a part of the archive" },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	.command = "gputrace assemble",
	.synopsis = "--lock-fd=N --home=DIR DIR",
	.summary = "Started by libgputrace.so at the end of a run. Use `gputrace recover`.",
	.options = options,
};

static void complain(const char *sentence)
{
	gt_say(0, "%s", sentence);
}

/* Is the descriptor the run's lock file, and is the lock ours? */
static int check_lock(const char *home, int fd)
{
	char path[4200];
	struct stat here, there;

	snprintf(path, sizeof(path), "%s/run", home);
	if (fstat(fd, &here) || lstat(path, &there))
		return -errno;
	if (here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		return -EBADF;
	return flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

enum { SUMMARISED, NOT_WRITTEN, FAILED }; /* by a child, as its status; 2 is that of no memory */

static _Noreturn void summarise(const struct gt_summary *facts, const struct gt_summary_out *out)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	int bad;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		signal(crashes[i], SIG_DFL);
	gt_summarise(facts, out);
	bad = fflush(out->text);
	bad |= fflush(out->json);
	_exit(bad ? NOT_WRITTEN : SUMMARISED);
}

static void begin_again(FILE *file)
{
	rewind(file);
	if (ftruncate(fileno(file), 0))
		return; /* /dev/null */
}

int gt_summarise_guarded(const struct gt_summary *facts, const struct gt_summary_out *out)
{
	int status = 0;
	pid_t pid;

	signal(SIGCHLD, SIG_DFL); /* the program may have ignored it, which is inherited */
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		summarise(facts, out);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == FAILED) {
		begin_again(out->text);
		begin_again(out->json);
		gt_summarise_unread(facts, out);
		return 0;
	}
	return WEXITSTATUS(status) == SUMMARISED ? 0 : -EIO;
}

static bool begin(const char *dir, const char *home, int fd, struct gt_assemble_options *how)
{
	int rc = check_lock(home, fd);

	if (rc) {
		gt_say(0, "%s: cannot take the run's lock: %s", dir, strerror(-rc));
		return false;
	}
	*how = (struct gt_assemble_options){
		.assemblers = gt_path_assemblers(),
		.keep_spool = !gt_settings.clean,
		.in_order = gt_settings.clock_correction,
		.threads = (unsigned)gt_settings.assemble_threads,
		.verbose = (int)gt_settings.verbose,
		.summarise = gt_summarise_guarded,
	};
	gt_assemble_guard(dir);
	return true;
}

int gt_assemble_here(const char *dir, const char *home, int fd)
{
	struct gt_assemble_options how;
	int rc;

	if (!begin(dir, home, fd, &how))
		return GT_RC_BAD;
	rc = gt_assemble(dir, &how);
	close(fd);
	return rc;
}

int gt_tidy(int archive, unsigned ms)
{
	int rc = gt_clean_rest(archive);

	for (unsigned spent = 0; rc && spent < ms; spent += TIDY_NAP_MS) {
		usleep(TIDY_NAP_MS * 1000);
		rc = gt_clean_rest(archive);
	}
	return rc;
}

/* The process that has started us may have files open until it has gone; it must not wait for this. */
static void tidy_later(const char *dir)
{
	int archive = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (archive < 0 || !gt_clean_rest(archive) || fork())
		return;
	setsid();
	if (dup2(archive, 0) == 0)
		GT_SYS3(SYS_close_range, 1, ~0u, 0);
	gt_tidy(0, TIDY_MS);
	_exit(0);
}

int gt_assemble_here_partial(const char *dir, const char *home, int fd)
{
	struct gt_assemble_options how;
	int rc;

	if (!begin(dir, home, fd, &how))
		return GT_RC_BAD;
	rc = gt_assemble_partial(dir, home, &how);
	if (!rc && !how.keep_spool)
		return GT_RC_OK;
	/* Then what it has recorded must come to where the last host finds it. */
	rc = gt_collect(home);
	if (rc)
		gt_say(0, "%s: cannot copy this host's spool to it: %s", dir, strerror(-rc));
	return rc ? GT_RC_BAD : GT_RC_OK;
}

int gt_cmd_assemble(int argc, char **argv)
{
	const char *home = NULL;
	bool partial = false;
	int key, fd = -1;
	char *end;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		long n;

		partial |= key == 'p';
		if (key == 'o')
			home = optarg;
		if (key != 'l')
			continue;
		n = strtol(optarg, &end, 10);
		if (*end || end == optarg || n < 0 || n > 1 << 24)
			return gt_usage_error(&usage, "'%s' is not a descriptor", optarg);
		fd = (int)n;
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (argc - optind != 1 || fd < 0 || !home)
		return gt_usage_error(&usage, "a descriptor and two directories are needed");
	gt_settings_load(environ, complain);
	if (partial)
		return gt_assemble_here_partial(argv[optind], home, fd);
	key = gt_assemble_here(argv[optind], home, fd);
	tidy_later(argv[optind]);
	return key;
}

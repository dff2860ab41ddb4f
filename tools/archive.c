/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives that commands read.
 *
 * Limits: see archive.h.
 */
#include "config.h"

#include "tools/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/assemble/report/summary.h"
#include "lib/common/ending.h"
#include "lib/format.h"
#include "lib/read/guard.h"
#include "report/print/output.h"
#include "tools/cmds.h"
#include "tools/progress.h"

#define WAIT_MS      60000 /* for an archive that is being made */
#define WAIT_SAID_MS 1000
#define WAIT_STEP_MS 20

/*
 * Somebody assembles and has the lock, or all processes have ended and somebody watches, who will. Where
 * nothing was recorded yet, the command may go on for long: until it has ended there is nothing to wait for.
 */
static bool in_the_making(const char *spool)
{
	char path[3600];
	struct gt_run_header run;
	struct gt_survey survey;
	bool making = false;
	int fd;

	snprintf(path, sizeof(path), "%s/run", spool);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (pread(fd, &run, sizeof(run), 0) != (ssize_t)sizeof(run) || run.magic != GT_MAGIC_RUN) {
		run.state = GT_RUN_DONE;
	} else if (run.state == GT_RUN_ASSEMBLING) { /* else a lock of ours might be in somebody's way */
		making = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	} else if (run.state != GT_RUN_DONE && gt_watched(spool)) {
		run.spool[sizeof(run.spool) - 1] = '\0';
		gt_survey(&run, run.spool, 0, &survey);
		making = survey.alive <= survey.dying && (survey.recorded || !run.parents);
	}
	close(fd);
	return making;
}

void gt_archive_wait(const struct gt_usage *usage, const char *name)
{
	char spool[3500];

	snprintf(spool, sizeof(spool), "%s/spool", name);
	for (unsigned ms = 0; ms < WAIT_MS && in_the_making(spool); ms += WAIT_STEP_MS) {
		if (ms == WAIT_SAID_MS)
			fprintf(stderr, "%s: the archive in %s is being made; waiting for it\n",
				usage->command, name);
		usleep(WAIT_STEP_MS * 1000);
	}
}

int gt_archive_unreadable(const struct gt_usage *usage, const char *name, const char *reason)
{
	char shown[512];

	gt_summary_escape(shown, sizeof(shown), name, 400);
	fprintf(stderr, "%s: %s cannot be read: %s\n", usage->command, shown, reason);
	return GT_RC_USAGE;
}

static void incomplete(const char *name, uint64_t damaged, size_t locations, const char *rest, FILE *out)
{
	char shown[512] = "";

	if (name)
		gt_summary_escape(shown, sizeof(shown), name, 400);
	fprintf(out,
		"INCOMPLETE: %s%sevents of %" PRIu64 " of %zu locations are missing or cannot be read; %s\n",
		shown, name ? ": " : "", damaged, locations, rest);
}

void gt_archive_incomplete(const char *name, uint64_t damaged, size_t locations, FILE *out)
{
	incomplete(name, damaged, locations, "all figures are of the rest", out);
}

int gt_archive_damage(const char *name, uint64_t damaged, size_t locations, bool compared)
{
	if (!damaged)
		return GT_RC_OK;
	incomplete(name, damaged, locations,
		   compared ? "it is compared with the rest"
			    : "the page shows the rest, without a flow graph", stderr);
	return GT_RC_BAD;
}

int gt_archive_read(const struct gt_usage *usage, const char *name, const char *output,
		    int (*function)(const char *anchor, void *argument, FILE *out), void *argument)
{
	char anchor[3500], spool[3500];
	const char *reason;
	bool shown;
	int status;

	gt_archive_wait(usage, name);
	reason = gt_otf2_find_anchor(name, anchor, sizeof(anchor), spool, sizeof(spool));
	if (reason)
		return gt_archive_unreadable(usage, name, reason);
	if (output)
		gt_output_begin();
	shown = gt_progress_begin(usage->command);
	status = gt_otf2_guarded(anchor, function, argument, &reason);
	if (shown)
		gt_progress_end();
	if (status >= 0)
		return status;
	if (output)
		gt_output_discard(output);
	return gt_archive_unreadable(usage, anchor, reason);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The course of an assembly: open the spool, convert it (assembly.c) or what hosts have not converted
 * (hosts.c), write the definitions, put the archive in its place, report, remove the spool.
 *
 * Limits: see assemble.h.
 */
#include "config.h"

#include "lib/assemble/assemble.h"

#include "lib/assemble/archive/clean.h"
#include "lib/assemble/assembly.h"
#include "lib/assemble/halves.h"
#include "lib/assemble/hosts.h"
#include "lib/assemble/report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- crashes ------------------------------------------------------------------------------------ */

static char crash_text[1400];
static size_t crash_length;

static void on_crash(int number)
{
	ssize_t n = write(STDERR_FILENO, crash_text, crash_length);

	(void)n;
	(void)number;
	_exit(1);
}

void gt_assemble_guard(const char *dir)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };
	char word[2 * PATH_MAX];
	int length = snprintf(crash_text, sizeof(crash_text),
			      "[gputrace] the assembly crashed; the spool is kept in %s: try "
			      "gputrace recover %s\n",
			      dir, gt_summary_word(word, sizeof(word), dir));

	crash_length = length < (int)sizeof(crash_text) ? (size_t)length : sizeof(crash_text) - 1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* ---- the course ------------------------------------------------------------------------------------ */

static int complete(struct gt_assembly *a, struct gt_run_report *report)
{
	struct gt_archive_clock clock = { .start_real_ns = a->clock.start_real_ns,
					  .properties = &a->properties };
	uint64_t last_ns = a->facts.tally.last_ns;
	int rc = gt_assembly_orders(a) ? gt_hosts_order(a) : 0;

	gt_spool_ends(&a->spool);
	if (!rc)
		rc = gt_facts_collect(&a->facts, &a->spool, &a->layout, &a->clock);
	gt_facts_outside(&a->facts, &a->spool);
	clock.length_ns = last_ns > a->clock.end_ns ? last_ns : a->clock.end_ns;
	a->facts.hosts_missing &= !a->eaten;
	report->length_ns = clock.length_ns;
	report->clock_error_ns = a->clock.error_ns;
	report->hosts = a->clock.hosts;
	report->order = &a->shifts;
	gt_halves_properties(a);
	if (!rc)
		rc = gt_properties_collect(&a->properties, &a->layout, &a->defs, &a->clock,
					   a->spool.procs, false);
	gt_report_properties(report, a->conv.archive);
	if (rc) {
		snprintf(a->why, sizeof(a->why), "%s", strerror(-rc));
		return rc;
	}
	if (gt_archive_failed(a->conv.archive, a->why, sizeof(a->why)))
		return -EIO;
	return gt_assembly_close(a, &a->layout, &a->defs, &clock);
}

static int run(struct gt_assembly *a)
{
	struct gt_run_report report = { .dir = a->dir, .dirfd = a->dirfd, .options = a->options,
				    .facts = &a->facts, .layout = &a->layout, .defs = &a->defs,
				    .spool = &a->spool, .properties = &a->properties };
	int rc = gt_assembly_convert(a);

	if (!rc)
		rc = complete(a, &report);
	return rc ? rc : gt_assembly_conclude(a, &report);
}

/* Says which hosts' spools were not found. False: the archive is wanted all the same. */
static bool lacks_hosts(const struct gt_assembly *a)
{
	char dir[2 * PATH_MAX];

	for (size_t i = 0; i < a->spool.root_count; i++)
		if (a->spool.roots[i].fd < 0)
			gt_assembly_say(a, a->options->partial ? 1 : 0,
					"%s: the spool of host %s is not available here: %s",
			    a->dir, a->spool.roots[i].run.host, a->spool.roots[i].run.spool);
	if (a->options->partial && (a->spool.proc_count || a->spool.partial_count))
		return false;
	gt_summary_word(dir, sizeof(dir), a->dir);
	gt_assembly_say(a, 0, "copy that spool to this host and run: gputrace recover %s FOLDER... (or "
		"without it: gputrace recover --partial %s)", dir, dir);
	return true;
}

int gt_assemble(const char *dir, const struct gt_assemble_options *options)
{
	struct gt_assembly a;
	char word[2 * PATH_MAX];
	int rc;

	gt_assembly_begin(&a, dir, options);
	if (a.dirfd < 0) {
		gt_assembly_say(&a, 0, "%s: %s", dir, strerror(errno));
		return 1;
	}
	if (!options->again && !faccessat(a.dirfd, "traces.otf2", F_OK, AT_SYMLINK_NOFOLLOW)) {
		gt_assembly_say(&a, 1, "%s already holds a complete archive", dir);
		if (!options->keep_spool)
			gt_clean_rest(a.dirfd);
		close(a.dirfd);
		return 0;
	}
	rc = gt_spool_open(&a.spool, a.dirfd, options->folders, a.why, sizeof(a.why));
	if (rc) {
		gt_assembly_say(&a, 0, "%s: %s", dir, a.why);
		close(a.dirfd);
		return 1;
	}
	if (a.spool.missing && lacks_hosts(&a)) {
		gt_assembly_mark(&a, GT_RUN_ENDED);
		unlinkat(a.dirfd, "spool/claim", 0);
		gt_spool_close(&a.spool);
		close(a.dirfd);
		return 1;
	}
	a.workfd = gt_clean_begin(a.dirfd);
	if (a.workfd < 0) {
		gt_assembly_say(&a, 0, "cannot write to %s: %s", dir, strerror(-a.workfd));
		rc = a.workfd;
	} else {
		rc = a.spool.partial_count ? gt_hosts_join(&a) : run(&a);
		if (rc < 0) {
			gt_assembly_say(&a, 0, "the archive in %s could not be made: %s%s", dir, a.why,
			    a.eaten ? "" : "; the spool is kept there");
			if (!a.eaten)
				gt_assembly_say(&a, 0, "when that is fixed, run: gputrace recover %s",
						gt_summary_word(word, sizeof(word), dir));
			gt_assembly_mark(&a, GT_RUN_OPEN);
			if (a.conv.archive)
				gt_archive_abandon(a.conv.archive);
			gt_clean_abandon(a.dirfd);
		}
	}
	if (rc < 0 && a.conv.archive)
		return 1; /* libotf2 still points into what would be freed */
	gt_assembly_free(&a);
	return rc ? 1 : 0;
}

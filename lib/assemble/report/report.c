/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling about a run: properties, settings, manifest, summary.
 */
#include "config.h"

#include "lib/assemble/report/report.h"
#include "lib/assemble/archive/clean.h"
#include "lib/assemble/spool/ended.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/util/interpreter.h"
#include "lib/assemble/util/losses.h"
#include "lib/assemble/report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPILER 2u /* OTF2_PARADIGM_COMPILER */
#define USER     1u

/* ---- facts ----------------------------------------------------------------------------------- */

static int add_text(struct gt_facts *facts, const char *key, const char *value)
{
	size_t first = strlen(key) + 1, second = strlen(value) + 1;
	char *texts = realloc(facts->texts, facts->text_bytes + first + second);

	if (!texts)
		return -ENOMEM;
	facts->texts = texts;
	memcpy(texts + facts->text_bytes, key, first);
	memcpy(texts + facts->text_bytes + first, value, second);
	facts->text_bytes += first + second;
	return 0;
}

static int collect_texts(struct gt_facts *facts, const struct gt_journal *journal)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < gt_journal_count(journal, GT_D_PROPERTY); i++) {
		const char *key = gt_journal_nth(journal, GT_D_PROPERTY, i, NULL, NULL);

		if (!strcmp(key, "command") || !strncmp(key, GT_SETTING, strlen(GT_SETTING)))
			rc = add_text(facts, key, key + strlen(key) + 1);
	}
	return rc;
}

/* The text behind `at` (NULL: the first). NULL: there is none. */
static const char *next_text(const struct gt_facts *facts, const char *at)
{
	if (!facts->text_bytes)
		return NULL;
	if (!at)
		return facts->texts;
	for (unsigned i = 0; i < 2; i++)
		at += strlen(at) + 1;
	return at < facts->texts + facts->text_bytes ? at : NULL;
}

static const char *text_of(const struct gt_facts *facts, const char *name)
{
	for (const char *key = next_text(facts, NULL); key; key = next_text(facts, key))
		if (!strcmp(key, name))
			return key + strlen(key) + 1;
	return NULL;
}

void gt_facts_put_job(struct gt_facts *facts, uint64_t job, uint32_t size)
{
	for (uint32_t i = 0; i < facts->job_count; i++)
		if (facts->jobs[i].job == job)
			return;
	if (job && size && facts->job_count < sizeof(facts->jobs) / sizeof(*facts->jobs))
		facts->jobs[facts->job_count++] = (struct gt_facts_job){ job, size };
}

/* All ranks that the launcher has started on this host are here, and the job has more. */
static bool lacks_hosts(const struct gt_spool *spool, const struct gt_layout *layout, uint64_t job,
			uint32_t size)
{
	uint32_t here = 0, local = 0;

	for (uint32_t i = 0; i < layout->group_count; i++)
		if (layout->groups[i].job == job) {
			here++;
			local = gt_proc_number(layout->groups[i].proc, "job-local");
		}
	return spool->root_count == 1 && here == local && here < size;
}

static void collect_jobs(struct gt_facts *facts, const struct gt_spool *spool,
			 const struct gt_layout *layout)
{
	for (uint32_t i = 0; i < layout->group_count; i++) {
		const struct gt_out_group *group = &layout->groups[i];

		if (!group->job)
			continue;
		facts->ranks++;
		gt_facts_put_job(facts, group->job, gt_proc_number(group->proc, "job-size"));
	}
	for (uint32_t i = 0; i < facts->job_count; i++)
		facts->hosts_missing |= lacks_hosts(spool, layout, facts->jobs[i].job,
						    facts->jobs[i].size);
}

static void count_threads(struct gt_facts *facts, const struct gt_layout *layout)
{
	for (uint32_t i = 0; i < layout->location_count; i++) {
		const struct gt_loc *loc = layout->locations[i].loc;

		if (loc->win.kind == GT_LOC_THREAD)
			facts->threads += loc->win.incarnation ? loc->win.incarnation : 1;
		facts->streams += loc->win.kind == GT_LOC_GPU_STREAM && !loc->added &&
				  !(loc->win.flags & GT_LOC_ASIDE) && !layout->locations[i].lane;
	}
}

static uint64_t ended_ns(const struct gt_spool *spool, const struct gt_clock *clock,
			 const struct gt_proc *proc)
{
	return gt_scale_ns(&clock->scales[proc - spool->procs], proc->header.end);
}

static struct gt_killed killed(const struct gt_spool *spool, const struct gt_clock *clock,
			       const struct gt_proc *proc)
{
	struct gt_killed one = { .pid = proc->pid };

	if (proc->header.end)
		one.ns = ended_ns(spool, clock, proc);

	if (proc->header.how == GT_END_SIGNAL)
		one.signal = proc->header.status;
	snprintf(one.program, sizeof(one.program), "%.40s", proc->header.program);
	return one;
}

/* What a process became by exec(), as a shell's script often does at its end: how that ends is its end. */
static const struct gt_proc *last_image(const struct gt_spool *spool)
{
	const struct gt_proc *last = &spool->procs[0];

	for (size_t i = 1; i < spool->proc_count; i++)
		if (last->header.how == GT_END_EXEC && spool->procs[i].parent == last &&
		    spool->procs[i].pid == last->pid)
			last = &spool->procs[i];
	return last;
}

static bool has_failed(const struct gt_proc *proc)
{
	switch (proc->header.how) {
	case GT_END_SIGNAL:
	case GT_END_ABORT:
		return true;
	case GT_END_EXIT:
	case GT_END__EXIT:
	case GT_END_QUICK_EXIT:
		return proc->header.status != 0;
	default:
		return false;
	}
}

/* A rank's children have its launcher's variables, too, but their exit status is no failure of the rank. */
static bool is_rank(const struct gt_spool *spool, const struct gt_proc *proc)
{
	const char *rank = gt_journal_property(&proc->journal, "launcher-rank"), *of_parent;

	if (!rank || proc->header.rank != UINT32_MAX)
		return rank;
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *other = &spool->procs[i];

		if (other->root != proc->root || other->header.pid != proc->header.ppid)
			continue;
		of_parent = gt_journal_property(&other->journal, "launcher-rank");
		if (of_parent && !strcmp(of_parent, rank))
			return false;
	}
	return true;
}

/*
 * Once one rank of a parallel program has failed, its launcher ends the others, by chance in this way or
 * another: which rank it was. NULL: none, or they are no ranks. What a rank says of its end (ended-by) is
 * true.
 */
static const struct gt_proc *failed_first(const struct gt_spool *spool, const struct gt_clock *clock)
{
	const struct gt_proc *first = NULL;

	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];

		if (!gt_journal_property(&proc->journal, "launcher-rank"))
			continue;
		if (gt_journal_property(&proc->journal, "ended-by"))
			return proc;
		if (has_failed(proc) && proc->header.end && is_rank(spool, proc) &&
		    (!first || ended_ns(spool, clock, proc) < ended_ns(spool, clock, first)))
			first = proc;
	}
	return gt_journal_property(&spool->procs[0].journal, "launcher-rank") ? first : NULL;
}

static void tell_failed(struct gt_facts *facts, const struct gt_proc *failed, uint64_t ns)
{
	const char *by = gt_journal_property(&failed->journal, "ended-by");
	char text[200];

	facts->failed_ns = ns;
	snprintf(facts->failed_rank, sizeof(facts->failed_rank), "%s",
		 gt_journal_property(&failed->journal, "launcher-rank"));
	snprintf(facts->ended_by, sizeof(facts->ended_by), "%s", by ? by : "");
	snprintf(text, sizeof(text), "%.150s", by ? by : facts->ended);
	snprintf(facts->ended, sizeof(facts->ended), "%s (rank %s)", text, facts->failed_rank);
}

int gt_facts_collect(struct gt_facts *facts, const struct gt_spool *spool,
		     const struct gt_layout *layout, const struct gt_clock *clock)
{
	const struct gt_proc *first = &spool->procs[0], *failed = failed_first(spool, clock),
			     *last = failed ? failed : last_image(spool);
	char text[320];

	facts->processes = spool->proc_count - layout->left_out;
	facts->damaged = spool->damaged;
	facts->reading_ns = clock->reading_ns;
	facts->how = last->header.how;
	facts->status = last->header.status;
	facts->clock = first->header.clock;
	facts->ticks_per_second = 1e9 * (double)(UINT64_C(1) << GT_SCALE_SHIFT) /
				  (double)clock->scales[0].mult;
	snprintf(facts->program, sizeof(facts->program), "%s", first->header.program);
	snprintf(facts->ended, sizeof(facts->ended), "%s", gt_end_text(last, text, sizeof(text)));
	facts->of_rank = gt_journal_property(&first->journal, "launcher-rank");
	if (failed)
		tell_failed(facts, failed, ended_ns(spool, clock, failed));
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];

		facts->killed += !proc->ended;
		facts->going_on += proc->goes_on;
		if (proc != last && !proc->ended && !facts->killed_one.pid)
			facts->killed_one = killed(spool, clock, proc);
		facts->silent += gt_half_silent(proc, facts->silent_why, sizeof(facts->silent_why));
		for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
			facts->lost[cause] += proc->header.lost[cause];
		for (size_t k = 0; k < proc->loc_count; k++)
			for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
				facts->lost[cause] += proc->locs[k].lost[cause];
	}
	gt_used_collect(&facts->used, spool);
	collect_jobs(facts, spool, layout);
	count_threads(facts, layout);
	return collect_texts(facts, &first->journal);
}

void gt_facts_outside(struct gt_facts *facts, const struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->root_count; i++) {
		const struct gt_run_header *run = &spool->roots[i].run;

		if (run->outside && !facts->outside)
			snprintf(facts->outside_first, sizeof(facts->outside_first), "%.*s",
				 (int)sizeof(run->outside_first), run->outside_first);
		facts->outside += run->outside;
	}
}

void gt_facts_free(struct gt_facts *facts)
{
	free(facts->texts);
	facts->texts = NULL;
	facts->text_bytes = 0;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* "0-1, 4-5": the ranks of a job that are not in the archive. Returns how many there are. */
static uint32_t missing_ranks(const struct gt_layout *layout, const struct gt_facts_job *job, char *text,
			      size_t size)
{
	bool *here = calloc((size_t)job->size + 1, sizeof(*here));
	uint32_t count = 0;
	size_t used = 0;

	*text = 0;
	if (!here)
		return 0;
	for (uint32_t i = 0; i < layout->group_count; i++) {
		const struct gt_out_group *group = &layout->groups[i];

		if (group->job == job->job && group->rank < job->size && !group->missing)
			here[group->rank] = true;
	}
	for (uint32_t i = 0, end; i < job->size; i = end) {
		for (end = i + 1; end < job->size && here[end] == here[i]; end++)
			;
		if (here[i])
			continue;
		count += end - i;
		if (used + 40 > size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "", i);
		if (used + 40 > size)
			used += (size_t)snprintf(text + used, size - used, " ...");
		else if (end - i > 1)
			used += (size_t)snprintf(text + used, size - used, "-%u", end - 1);
	}
	free(here);
	return count;
}

/* "2 of 6 ranks are in this archive, missing: 0-1, 4-5". False: all of them are. */
static bool report_missing(const struct gt_run_report *report, char *text, size_t size)
{
	char list[160];

	for (uint32_t i = 0; i < report->facts->job_count; i++) {
		const struct gt_facts_job *job = &report->facts->jobs[i];
		uint32_t missing = missing_ranks(report->layout, job, list, sizeof(list));

		if (!missing)
			continue;
		snprintf(text, size, "%u of %u ranks are in this archive, missing: %s",
			 job->size - missing, job->size, list);
		return true;
	}
	return false;
}

static void put(struct gt_archive *archive, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(struct gt_archive *archive, const char *name, const char *format, ...)
{
	char text[GT_NAME_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	gt_archive_property(archive, name, text);
}

static const char *clock_name(uint32_t kind)
{
	switch (kind) {
	case GT_CLOCK_TSC:
		return "TSC";
	case GT_CLOCK_MONOTONIC:
		return "CLOCK_MONOTONIC";
	case GT_CLOCK_CNTVCT:
		return "CNTVCT";
	default:
		return "unknown";
	}
}

/* Which processes of the run are not in the archive; "": none. */
static const char *absent_text(const struct gt_spool *spool, char *text, size_t size)
{
	static const char *const reasons[GT_ABSENT_N] = {
		[GT_ABSENT_OTHER] = "could not join the run",
		[GT_ABSENT_USER] = "changed to a user who may not write in the spool",
		[GT_ABSENT_SANDBOX] = "came after the program had confined itself (seccomp, Landlock)",
		[GT_ABSENT_SPACE] = "found no room on the disk",
		[GT_ABSENT_MEMORY] = "had too little memory (RLIMIT_AS)",
	};
	uint64_t unborn = spool->unborn;
	size_t used = 0;

	text[0] = 0;
	for (unsigned cause = 0; cause < GT_ABSENT_N; cause++) {
		const struct passwd *user = NULL;
		uint64_t sum = 0;

		for (size_t i = 0; i < spool->root_count; i++) {
			sum += spool->roots[i].run.absent[cause];
			if (cause == GT_ABSENT_USER && spool->roots[i].run.absent[cause])
				user = getpwuid(spool->roots[i].run.absent_user);
		}
		if (!sum || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%llu %s that %s%s%s%s",
					 used ? ", " : "", (unsigned long long)sum,
					 sum == 1 ? "process" : "processes",
					 reasons[cause] ? reasons[cause] : "could not join the run",
					 user ? " (" : "", user ? user->pw_name : "", user ? ")" : "");
	}
	for (size_t i = 0; i < spool->root_count; i++)
		unborn += spool->roots[i].run.waiting;
	if (unborn && used < size)
		snprintf(text + used, size - used, "%s%llu %s that ended before anything was recorded",
			 used ? ", " : "", (unsigned long long)unborn, unborn == 1 ? "process" : "processes");
	return text;
}

/*
 * Has the archive all that was to be recorded? Of a killed process it has all up to its end, which is
 * another property; what was left out on request was not to be recorded, and untraced programs could not be.
 */
static bool is_complete(const struct gt_run_report *report)
{
	const struct gt_facts *facts = report->facts;
	struct gt_summary shortfalls = { .shortfall_count = 0 };
	char text[512];

	gt_shortfalls_collect(report, &shortfalls);
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		if (facts->lost[cause] && gt_loss_real(cause))
			return false;
	if (facts->truncated || gt_shortfalls_missing(&shortfalls))
		return false;
	return !report_missing(report, text, sizeof(text)) &&
	       !*absent_text(report->spool, text, sizeof(text));
}

void gt_report_properties(const struct gt_run_report *report, struct gt_archive *archive)
{
	const struct gt_facts *facts = report->facts;
	const struct gt_tally *tally = &facts->tally;
	const char *command = text_of(facts, "command");
	struct gt_run_shortfall list[GT_RUN_SHORTFALLS];
	size_t shortfalls = gt_shortfalls_of_run(report, list);
	char name[64], missing[256], text[512];

	put(archive, "VERSION", "%s", PACKAGE_VERSION);
	put(archive, "COMMAND_LINE", "%s", command && *command ? command : facts->program);
	put(archive, "ENDED", "%s", facts->ended);
	if (facts->used.measured && !facts->used.unmeasured) {
		put(archive, "PROCESSOR_TIME_NS", "%llu", (unsigned long long)facts->used.processor_ns);
		put(archive, "PROCESSORS", "%llu", (unsigned long long)facts->used.processors);
		put(archive, "MEMORY_PEAK_BYTES", "%llu", (unsigned long long)facts->used.memory_peak);
	}
	if (facts->used.quota) {
		put(archive, "QUOTA_MILLICORES", "%llu", (unsigned long long)facts->used.quota);
		put(archive, "THROTTLED_NS", "%llu", (unsigned long long)facts->used.throttled_ns);
	}
	for (size_t i = 0; i < shortfalls; i++)
		put(archive, list[i].property, "%llu", (unsigned long long)list[i].count);
	if (tally->paths)
		put(archive, "SAMPLING_PATHS", "%s: there were too many",
		    tally->paths == GT_PATHS_CUT ? "cut" : "without lines");
	if (*facts->silent_why) {
		snprintf(name, sizeof(name), "%s_NOT_SUPPORTED", gt_half_ranks());
		put(archive, name, "%s", facts->silent_why);
	}
	put(archive, "RECOVERED", "%s", report->options->recovered ? "yes" : "no");
	put(archive, "COMPLETE", "%s", is_complete(report) ? "yes" : "no");
	put(archive, "CLOCK_SOURCE", "%s", clock_name(facts->clock));
	put(archive, "CLOCK_TICKS_PER_SECOND", "%.0f", facts->ticks_per_second);
	if (report->clock_error_ns < 0)
		put(archive, "CLOCK_ERROR_NS", "unknown");
	else
		put(archive, "CLOCK_ERROR_NS", "%lld", (long long)report->clock_error_ns);
	put(archive, "CLOCK_READING_ERROR_NS", "%lld", (long long)facts->reading_ns);
	put(archive, "HOSTS", "%u", report->hosts);
	if (report->order && report->order->messages) {
		put(archive, "CLOCK_MESSAGES", "%llu", (unsigned long long)report->order->messages);
		put(archive, "CLOCK_MESSAGES_EARLY", "%llu", (unsigned long long)report->order->early);
		put(archive, "CLOCK_MESSAGES_EARLY_LEFT", "%llu", (unsigned long long)report->order->left);
		put(archive, "CLOCK_CORRECTION_NS", "%lld", (long long)report->order->worst);
	}
	if (report_missing(report, missing, sizeof(missing)))
		put(archive, "RANKS_MISSING", "%s", missing);
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++) {
		if (!gt_loss_name(cause))
			continue;
		snprintf(name, sizeof(name), GT_LOST "%s", gt_loss_name(cause));
		put(archive, name, "%llu", (unsigned long long)facts->lost[cause]);
	}
	put(archive, "REPAIRED_LEAVES_ADDED", "%llu",
	    (unsigned long long)tally->closed_frames);
	put(archive, "REPAIRED_LEAVES_DROPPED", "%llu",
	    (unsigned long long)tally->dropped_leaves);
	put(archive, "REPAIRED_PARTS", "%llu", (unsigned long long)tally->parts);
	put(archive, "REPAIRED_TIMES", "%llu", (unsigned long long)tally->clamped_times);
	if (*absent_text(report->spool, text, sizeof(text)))
		put(archive, "ABSENT", "%s", text);
}

/* ---- files --------------------------------------------------------------------------------------- */

static FILE *create(int dirfd, const char *name)
{
	int fd;
	FILE *file;

	unlinkat(dirfd, name, 0);
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static int finish(FILE *file)
{
	int bad = ferror(file);

	if (fclose(file) || bad)
		return -EIO;
	return 0;
}

/* A value as the shell reads it. */
static void put_quoted(FILE *file, const char *value)
{
	if (*value && !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_./:,+-@%=")]) {
		fputs(value, file);
		return;
	}
	putc('\'', file);
	for (; *value; value++) {
		if (*value == '\'')
			fputs("'\\''", file);
		else
			putc(*value, file);
	}
	putc('\'', file);
}

static int write_config(const struct gt_run_report *report)
{
	FILE *file = create(report->dirfd, "gputrace.cfg");

	if (!file)
		return -errno;
	fprintf(file, "# The settings of this run, for the shell.\n");
	for (const char *key = next_text(report->facts, NULL); key;
	     key = next_text(report->facts, key)) {
		if (strncmp(key, GT_SETTING, strlen(GT_SETTING)))
			continue;
		fprintf(file, "%s=", key + strlen(GT_SETTING));
		put_quoted(file, key + strlen(key) + 1);
		putc('\n', file);
	}
	return finish(file);
}

static int write_manifest(const struct gt_run_report *report)
{
	FILE *file = create(report->dirfd, "MANIFEST.md");
	uint32_t processes = 0;

	for (uint32_t i = 0; i < report->layout->group_count; i++)
		processes += !report->layout->groups[i].accelerator;
	if (!file)
		return -errno;
	fprintf(file,
		"# What is in this directory\n\n"
		"Made by gputrace %s: %u processes, %u locations, %llu events.\n\n"
		"| file | what it is |\n| --- | --- |\n"
		"| `traces.otf2` | The OTF2 archive's anchor: open this one. |\n"
		"| `traces.def` | Its definitions: regions, processes, threads. |\n"
		"| `traces/N.evt` | The events of location N. |\n",
		PACKAGE_VERSION, processes, report->layout->location_count,
		(unsigned long long)report->facts->tally.events);
	if (!faccessat(report->dirfd, "traces.marker", F_OK, AT_SYMLINK_NOFOLLOW))
		fprintf(file, "| `traces.marker` | Markers: what the program marked, and where "
			      "events are missing. |\n");
	fprintf(file, "| `gputrace.cfg` | The settings of the run (`VT_...`). |\n"
		      "| `SUMMARY` | What was printed at the end; `gputrace report --summary` prints it "
		      "again. |\n"
		      "| `summary.json` | The same figures, with the keys of `gputrace report --json`. |\n");
	if (report->options->keep_spool)
		fprintf(file, "| `spool/` | What was recorded, kept because of VT_CLEAN=no. |\n");
	else if (report->facts->hosts_missing)
		fprintf(file,
			"| `spool/` | What was recorded, kept because other hosts' ranks are not here. |\n");
	return finish(file);
}

/* ---- summary ------------------------------------------------------------------------------------------ */

static uint64_t count_unresolved(const struct gt_defs *defs)
{
	const struct gt_region *regions = defs->regions.items;
	uint64_t n = 0;

	for (size_t i = 0; i < gt_table_count(&defs->regions); i++)
		n += regions[i].made_up && regions[i].paradigm != GT_PARADIGM_SAMPLING;
	return n;
}

static bool hooks_seen(const struct gt_defs *defs)
{
	const struct gt_region *regions = defs->regions.items;

	for (size_t i = 0; i < gt_table_count(&defs->regions); i++)
		if (regions[i].paradigm == COMPILER || regions[i].paradigm == USER)
			return true;
	return false;
}

/* The setting that records functions of an interpreter's programs, if there is one among the processes. */
static const char *setting_of(const struct gt_spool *spool)
{
	const char *setting = NULL;

	for (size_t i = 0; i < spool->proc_count && !setting; i++)
		setting = gt_interpreter_setting(spool->procs[i].header.program);
	return setting;
}

/* ---- the summary --------------------------------------------------------------------------------- */

static void put_costs(struct gt_summary *summary)
{
	const struct gt_accel *accel;

	for (size_t i = 0; (accel = gt_half_accel(i)) && summary->cost_count < GT_SUMMARY_COSTS; i++)
		summary->costs[summary->cost_count++] = (struct gt_summary_cost){
			accel->paradigm, accel->activity_ns, accel->call_ns };
}

/* Texts that a summary points to. */
struct texts {
	char missing[256], absent[512];
};

static struct gt_summary facts_of(const struct gt_run_report *report, struct texts *texts)
{
	const struct gt_facts *facts = report->facts;
	const struct gt_tally *tally = &facts->tally;
	const char *mode = text_of(facts, GT_SETTING "VT_MODE");
	struct gt_summary summary = {
		.absent = absent_text(report->spool, texts->absent, sizeof(texts->absent)),
		.program = facts->program,
		.recovered = report->options->recovered,
		.wall_ns = report->length_ns,
		.processes = facts->processes,
		.ranks = facts->ranks,
		.ranks_of = gt_half_ranks(),
		.silent = facts->silent,
		.silent_why = facts->silent_why,
		.threads = facts->threads,
		.gpu_streams = facts->streams,
		.events = tally->events,
		.archive_bytes = gt_clean_size(report->dirfd),
		.how = facts->how,
		.status = facts->status,
		.failed_rank = facts->failed_rank,
		.failed_ns = facts->failed_ns,
		.ended_by = facts->ended_by,
		.killed = facts->killed,
		.used = facts->used,
		.killed_one = facts->killed_one,
		.outside = facts->outside,
		.outside_first = facts->outside_first,
		.flushes = tally->flushes,
		.flush_ns = tally->flush_ns,
		.longest_flush_ns = tally->longest_flush_ns,
		.missing = texts->missing,
		.spool_kept = facts->hosts_missing,
		.unseen_setting = setting_of(report->spool),
		.unknown_records = tally->unknown_records,
		.closed_frames = tally->closed_frames,
		.dropped_leaves = tally->dropped_leaves,
		.parts = tally->parts,
		.clamped_times = tally->clamped_times,
		.unresolved = count_unresolved(report->defs),
		.hosts = report->hosts,
		.clock_error_ns = report->clock_error_ns,
		.hooks_seen = hooks_seen(report->defs),
		.switched_off = tally->off_at_end || (mode && !strcmp(mode, "OFF")),
	};

	report_missing(report, texts->missing, sizeof(texts->missing));
	memcpy(summary.lost, facts->lost, sizeof(summary.lost));
	gt_shortfalls_collect(report, &summary);
	put_costs(&summary);
	return summary;
}

/* If there is no room for the file, the summary is shown all the same. */
static FILE *create_or_none(int dirfd, const char *name, int *rc)
{
	FILE *file = create(dirfd, name);

	if (file)
		return file;
	*rc = -errno;
	return fopen("/dev/null", "we");
}

static int write_summary(const struct gt_run_report *report, bool show)
{
	struct texts texts = { .missing = "" };
	struct gt_summary facts = facts_of(report, &texts);
	struct gt_summary_out out = { .threads = report->options->threads,
				      .dir = report->dir, .show = show };
	char anchor[PATH_MAX];
	int rc = 0, told;

	out.text = create_or_none(report->dirfd, "SUMMARY", &rc);
	out.json = create_or_none(report->dirfd, "summary.json", &rc);
	if (out.text && out.json) {
		snprintf(anchor, sizeof(anchor), "%s/traces.otf2", report->dir);
		out.anchor = anchor;
		told = report->options->summarise(&facts, &out);
		rc = rc ? rc : told;
	}
	if (out.text && finish(out.text))
		rc = -EIO;
	if (out.json && finish(out.json))
		rc = -EIO;
	return rc;
}

int gt_report_files(const struct gt_run_report *report, bool show)
{
	int rc = write_config(report), manifest = write_manifest(report), summary = 0;

	if (report->options->summarise)
		summary = write_summary(report, show);
	return rc ? rc : manifest ? manifest : summary;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling about a run: properties, settings, manifest, summary.
 */
#include "config.h"

#include "lib/assemble/report/report.h"
#include "lib/assemble/report/brief.h"
#include "lib/assemble/archive/clean.h"
#include "lib/assemble/archive/use.h"
#include "lib/assemble/spool/ended.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/util/interpreter.h"
#include "lib/assemble/util/losses.h"
#include "lib/assemble/util/rules.h"
#include "lib/assemble/report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTING "setting:"
#define COMPILER 2u /* OTF2_PARADIGM_COMPILER */
#define USER     1u
#define MEASUREMENT 6u

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

		if (!strcmp(key, "command") || !strncmp(key, SETTING, strlen(SETTING)))
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

void gt_facts_job(struct gt_facts *facts, uint64_t job, uint32_t size)
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
		gt_facts_job(facts, group->job, gt_proc_number(group->proc, "job-size"));
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

static struct gt_killed killed(const struct gt_proc *proc)
{
	struct gt_killed one = { .pid = proc->pid };

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

int gt_facts_collect(struct gt_facts *facts, const struct gt_spool *spool,
		     const struct gt_layout *layout, const struct gt_clock *clock)
{
	const struct gt_proc *first = &spool->procs[0], *last = last_image(spool);
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
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];

		facts->killed += !proc->ended;
		if (proc != last && !proc->ended && !facts->killed_one.pid)
			facts->killed_one = killed(proc);
		facts->silent += gt_half_silent(proc);
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
static bool report_missing(const struct gt_report *report, char *text, size_t size)
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
		[GT_ABSENT_SANDBOX] = "came after the program had confined itself (seccomp)",
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
static bool is_complete(const struct gt_report *report)
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

void gt_report_properties(const struct gt_report *report, struct gt_archive *archive)
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
	for (size_t i = 0; i < shortfalls; i++)
		put(archive, list[i].property, "%llu", (unsigned long long)list[i].count);
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

static int write_config(const struct gt_report *report)
{
	FILE *file = create(report->dirfd, "gputrace.cfg");

	if (!file)
		return -errno;
	fprintf(file, "# The settings of this run, for the shell.\n");
	for (const char *key = next_text(report->facts, NULL); key;
	     key = next_text(report->facts, key)) {
		if (strncmp(key, SETTING, strlen(SETTING)))
			continue;
		fprintf(file, "%s=", key + strlen(SETTING));
		put_quoted(file, key + strlen(key) + 1);
		putc('\n', file);
	}
	return finish(file);
}

static int write_manifest(const struct gt_report *report)
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
		n += regions[i].made_up;
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

/* It has a line of its own in the summary. */
static bool is_flush(const struct gt_defs *defs, const struct gt_region *region)
{
	return region->paradigm == MEASUREMENT &&
	       !strcmp(gt_intern_text(&defs->strings, region->name, NULL), "TRACE BUFFER FLUSH");
}

static bool is_script(const struct gt_defs *defs, const struct gt_region *region)
{
	return region->paradigm == COMPILER && region->file != GT_UNDEFINED &&
	       gt_cost_of_call(gt_intern_text(&defs->strings, region->file, NULL)) == GT_COST_OF_SCRIPT;
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

/* What a summary points to. */
struct texts {
	char missing[256], absent[512];
	struct gt_summary_region *rows;
	struct gt_devices devices;
};

static struct gt_summary_region row_of(const struct gt_report *report, size_t i)
{
	const struct gt_region *region = (const struct gt_region *)report->defs->regions.items + i;
	const struct gt_profile *of = &report->profile[i];
	const char *name = gt_intern_text(&report->defs->strings, region->name, NULL);

	return (struct gt_summary_region){
		.name = name, .idle_ns = gt_use_is_idle(region, name) ? of->apart : 0,
		.calls = of->calls, .exclusive_ns = of->exclusive, .inclusive_ns = of->inclusive,
		.most_ns = of->most, .locations = of->locations,
		.apart_ns = of->apart + (report->facts->ranks ? of->aside : 0),
		.function = region->paradigm == COMPILER, .on_device = of->on_device,
		.script = is_script(report->defs, region), .call = of->call,
	};
}

static void summarise(const struct gt_report *report, struct gt_summary *out, struct texts *texts)
{
	const struct gt_facts *facts = report->facts;
	const struct gt_region *regions = report->defs->regions.items;
	size_t n = gt_table_count(&report->defs->regions);
	struct gt_summary_region *rows = calloc(n + 1, sizeof(*rows));
	const char *mode = text_of(facts, SETTING "VT_MODE");
	struct gt_summary summary = {
		.absent = absent_text(report->spool, texts->absent, sizeof(texts->absent)),
		.program = facts->program,
		.recovered = report->options->recovered,
		.wall_ns = report->length_ns,
		.processes = facts->processes,
		.ranks = facts->ranks,
		.ranks_of = gt_half_ranks(),
		.silent = facts->silent,
		.threads = facts->threads,
		.gpu_streams = facts->streams,
		.events = facts->tally.events,
		.archive_bytes = gt_clean_size(report->dirfd),
		.how = facts->how,
		.status = facts->status,
		.killed = facts->killed,
		.used = facts->used,
		.killed_one = facts->killed_one,
		.outside = facts->outside,
		.outside_first = facts->outside_first,
		.balance = gt_balance_of(report->layout),
		.messages = facts->tally.messages,
		.message_bytes = facts->tally.message_bytes,
		.collectives = facts->tally.collectives,
		.flushes = facts->tally.flushes,
		.flush_ns = facts->tally.flush_ns,
		.longest_flush_ns = facts->tally.longest_flush_ns,
		.idle_threads = facts->tally.idle_threads,
		.idle_ns = facts->tally.idle_ns,
		.serving_threads = facts->tally.serving_threads,
		.serving_ns = facts->tally.serving_ns,
		.tally = &facts->tally,
		.missing = texts->missing,
		.spool_kept = facts->hosts_missing,
		.regions = rows,
		.unseen_setting = setting_of(report->spool),
		.made_ns = gt_made_ns(report->layout),
		.unknown_records = facts->tally.unknown_records,
		.closed_frames = facts->tally.closed_frames,
		.dropped_leaves = facts->tally.dropped_leaves,
		.clamped_times = facts->tally.clamped_times,
		.unresolved = count_unresolved(report->defs),
		.hosts = report->hosts,
		.clock_error_ns = report->clock_error_ns,
		.hooks_seen = hooks_seen(report->defs),
		.switched_off = facts->tally.off_at_end || (mode && !strcmp(mode, "OFF")),
	};

	texts->rows = rows;
	summary.threads_ns = gt_threads_ns(report->layout, &summary.unseen_ns);
	report_missing(report, texts->missing, sizeof(texts->missing));
	memcpy(summary.lost, facts->lost, sizeof(summary.lost));
	for (size_t i = 0; rows && i < n && i < report->profile_count; i++)
		if (report->profile[i].calls && !is_flush(report->defs, &regions[i]))
			rows[summary.region_count++] = row_of(report, i);
	gt_shortfalls_collect(report, &summary);
	gt_devices_make(&texts->devices, report->layout, report->defs);
	summary.devices = &texts->devices;
	gt_longest_flush(&summary, report->layout, report->defs);
	gt_efficiencies(&summary, report->layout);
	gt_brief(&summary);
	gt_brief_devices(&summary);
	*out = summary;
}

static int write_summary(const struct gt_report *report, const char *name, const struct gt_summary *summary)
{
	FILE *file = create(report->dirfd, name);

	if (!file)
		return -errno;
	if (strcmp(name, "SUMMARY"))
		gt_brief_json(summary, file);
	else
		gt_summary_print(summary, file, GT_SUMMARY_PLAIN, 0);
	return finish(file);
}

int gt_report_files(const struct gt_report *report, bool show)
{
	struct texts texts = { .rows = NULL };
	struct gt_summary summary;
	int rc = write_config(report), manifest = write_manifest(report), text, json;

	summarise(report, &summary, &texts);
	text = write_summary(report, "SUMMARY", &summary);
	json = write_summary(report, "summary.json", &summary);
	summary.dir = report->dir; /* for who sees it now; the archive may be moved */
	if (show)
		gt_summary_print(&summary, stderr, gt_summary_style_for(STDERR_FILENO),
				 gt_summary_width_for(STDERR_FILENO));
	free(texts.rows);
	gt_devices_free(&texts.devices);
	return rc ? rc : manifest ? manifest : text ? text : json;
}

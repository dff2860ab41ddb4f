/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a summary: reads the archive, adds up what only a summary shows, and writes SUMMARY and summary.json.
 *
 * Limits: see summary.h.
 */
#include "config.h"

#include "report/sections/samples.h"
#include "report/summary/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Is reading worth its time? Some 5 to 10 ns an event on one processor, and 50 by libotf2 where hosts have
 * tables of their own: as long as nobody notices, or a hundredth of the run.
 */
enum { UNNOTICED_NS = 40000000, NS_OF_EVENT = 10, NS_OF_TRANSLATED = 50, PART_OF_RUN = 100 };

enum { JSON_ROWS = 50, MUCH_RECORDING = 10 /* percent */ };

static bool is_worth_reading(const struct gt_summary *facts)
{
	uint64_t ns = facts->events * (facts->hosts > 1 ? NS_OF_TRANSLATED : NS_OF_EVENT);

	return ns <= UNNOTICED_NS || ns <= facts->wall_ns / PART_OF_RUN;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static const struct gt_profile *profile_of(const struct gt_report *report)
{
	return gt_report_result(report, &gt_profile_analysis);
}

static void sum_location(const struct gt_report *report, size_t i, struct gt_summary_sums *sums)
{
	const struct gt_profile_location *of = &profile_of(report)->locations[i];
	enum gt_location_kind kind = report->classes.locations[i].kind;
	uint64_t life = gt_profile_life(of);

	if (kind == GT_LOCATION_SERVICE) {
		sums->idle_threads++;
		sums->idle_ns += life;
	}
	if (gt_profile_counts(report, profile_of(report), i))
		sums->unseen_ns += gt_profile_unseen(of);
	if (kind <= GT_LOCATION_THREAD && of->times[GT_TIME_GPU_CALL] + of->times[GT_TIME_DEVICE])
		sums->callers_ns += life;
	sums->serving_threads += of->idle != 0;
	sums->serving_ns += of->idle;
}

static uint32_t cost_by_runtime(const struct gt_summary *facts, uint32_t paradigm, bool on_device,
				enum gt_class class)
{
	const struct gt_summary_cost *of = facts->costs;

	while (of < facts->costs + facts->cost_count && of->paradigm != paradigm)
		of++;
	if (of == facts->costs + facts->cost_count)
		return 0;
	if (on_device)
		return of->activity_ns;
	/* A call that asks for an activity has its cost there. */
	return class == GT_CLASS_GPU_LAUNCH || class == GT_CLASS_GPU_COPY ? 0 : of->call_ns;
}

/* All that is known of it; counters that are read with each call are not (gputrace-metrics(7)). */
static uint64_t sum_region(const struct gt_report *report, const struct gt_summary *facts, size_t i,
			   struct gt_summary_sums *sums)
{
	const struct gt_otf2_region *region = gt_otf2_region_at(report->read, i);
	enum gt_class class = (enum gt_class)report->classes.regions[i];
	enum gt_time time = (enum gt_time)gt_class_times[class];
	uint64_t calls = profile_of(report)->regions[i].calls, each = 0;
	bool by_hooks = region->paradigm == OTF2_PARADIGM_COMPILER, on_device = time == GT_TIME_ON_GPU;
	bool script = by_hooks && gt_cost_of_call(region->file) == GT_COST_OF_SCRIPT;

	if (!calls)
		return 0;
	if (on_device || time == GT_TIME_GPU_CALL || time == GT_TIME_DEVICE)
		each = cost_by_runtime(facts, region->paradigm, on_device, class);
	if (!each)
		each = on_device ? GT_COST_OF_ACTIVITY : script ? GT_COST_OF_SCRIPT : GT_COST_OF_CALL;
	sums->cost_ns += calls * each;
	if (on_device || time == GT_TIME_GPU_CALL || time == GT_TIME_DEVICE)
		sums->device_cost_ns += calls * each;
	sums->functions |= by_hooks && !script;
	sums->script |= script;
	return by_hooks ? calls * each : 0;
}

static bool found(const struct gt_report *report, const char *id)
{
	const struct gt_section *findings = gt_section_find(&report->figures, "findings");

	for (size_t i = 0; findings && i < findings->rows; i++)
		if (!strcmp(gt_section_cell(findings, i, "id")->text, id))
			return true;
	return false;
}

static void sum_regions(const struct gt_report *report, const struct gt_summary *facts,
			struct gt_summary_sums *sums)
{
	uint64_t samples = gt_samples_cost(report);
	uint64_t functions = 0;

	sums->cost_ns = facts->flush_ns + facts->lost[GT_LOSS_FILTER] / 2 * GT_COST_FILTERED;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++)
		functions += sum_region(report, facts, i, sums);
	sums->cost_ns += samples == GT_NO_COUNT ? 0 : samples;
	sums->uncosted = samples == GT_NO_COUNT;
	sums->sampled = gt_samples_tried(report);
	sums->sample_rate = gt_samples_rate(report);
	sums->floods = functions > sums->threads_ns / 100 * MUCH_RECORDING ||
		       found(report, "costly-function");
}

/* The threads of a rank that communicate: their time in calls, and all but setting up and ending. */
static void sum_rank(const struct gt_report *report, uint32_t process, uint64_t *comm, uint64_t *all)
{
	*comm = *all = 0;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_profile_location *of = &profile_of(report)->locations[i];

		if (report->classes.locations[i].process != process || !of->times[GT_TIME_MPI] ||
		    report->classes.locations[i].kind > GT_LOCATION_THREAD)
			continue;
		*comm += of->times[GT_TIME_MPI] - of->classes[GT_CLASS_MPI_SETUP];
		*all += gt_profile_life(of) - of->classes[GT_CLASS_MPI_SETUP];
	}
}

static void sum_ranks(const struct gt_report *report, struct gt_summary_sums *sums)
{
	uint64_t comm, all, comm_sum = 0, all_sum = 0;

	for (uint32_t i = 0; i < report->classes.process_count; i++) {
		struct gt_summary_rank one = { .rank = report->classes.processes[i].rank };

		if (one.rank == GT_NO_RANK)
			continue;
		sum_rank(report, i, &comm, &all);
		if (!all)
			continue;
		one.in_comm = (double)comm / (double)all;
		if (!sums->ranks || one.in_comm < sums->least.in_comm)
			sums->least = one;
		if (!sums->ranks || one.in_comm > sums->most.in_comm)
			sums->most = one;
		comm_sum += comm;
		all_sum += all;
		sums->ranks++;
	}
	sums->in_comm = all_sum ? (double)comm_sum / (double)all_sum : 0;
	sums->outside = gt_ranks_measure(report);
}

struct gt_summary_sums gt_summary_sums_of(const struct gt_report *report, const struct gt_summary *facts)
{
	struct gt_summary_sums sums = { .threads_ns = gt_profile_whole(report, profile_of(report)) };

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		sum_location(report, i, &sums);
	sum_regions(report, facts, &sums);
	sum_ranks(report, &sums);
	return sums;
}

/* ---- files --------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "events", NULL, GT_COUNT },
	{ "archive_bytes", NULL, GT_BYTES },
	{ "measurement_s", NULL, GT_SECONDS },
	{ "unseen_s", NULL, GT_SECONDS },
};
static const struct gt_section_kind summary_kind = GT_SECTION("summary", "Summary", GT_TOP, columns);

/* The sections of a report in summary.json, in addition to the summary's own. */
static const char *const sections[] = { "run", "summary", "efficiencies", "regions", "thread_states",
					"samples", "lines", "copies", "messages",
					"collectives", "findings", "losses", NULL };

static void write_json(struct gt_report *report, const struct gt_summary_view *view, FILE *out)
{
	/* of a finding: seconds, id, text; the rest takes the waits, which are not looked for here */
	const struct gt_face face = { .sections = sections, .json_rows = JSON_ROWS, .json_notes = 3,
				      .brief = true };
	union gt_cell *row = gt_row_add(gt_section_add(&report->figures, &summary_kind));

	row[0].count = view->facts->events;
	row[1].count = view->facts->archive_bytes;
	if (!report->unread) {
		row[2].count = view->sums.cost_ns;
		row[3].count = view->sums.unseen_ns;
	}
	gt_figures_json(&report->figures, &face, out);
}

enum gt_summary_style gt_summary_style_for(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if ((no && *no) || !term || !*term || !strcmp(term, "dumb") || !isatty(fd))
		return GT_SUMMARY_PLAIN;
	return GT_SUMMARY_COLOUR;
}

unsigned gt_summary_width_for(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 40 ? 0 : size.ws_col;
}

static void put(struct gt_report *report, const struct gt_summary *facts, const struct gt_summary_out *out)
{
	struct gt_summary shown = *facts;
	struct gt_summary_view view = { .facts = facts, .report = report };

	if (report && !report->unread)
		view.sums = gt_summary_sums_of(report, facts);
	gt_summary_print(&view, out->text, GT_SUMMARY_PLAIN, 0);
	if (report)
		write_json(report, &view, out->json);
	else
		fprintf(out->json, "{\"events\":%" PRIu64 ",\"archive_bytes\":%" PRIu64 "}\n", facts->events,
			facts->archive_bytes);
	shown.dir = out->dir; /* for who sees it now; the archive may be moved */
	view.facts = &shown;
	if (out->show)
		gt_summary_print(&view, stderr, gt_summary_style_for(STDERR_FILENO),
				 gt_summary_width_for(STDERR_FILENO));
}

void gt_summarise(const struct gt_summary *facts, const struct gt_summary_out *out)
{
	struct gt_report *report =
		gt_report_summary(out->anchor, out->threads, sections, is_worth_reading(facts));

	put(report, facts, out);
	if (report)
		gt_report_free(report);
}

void gt_summarise_unread(const struct gt_summary *facts, const struct gt_summary_out *out)
{
	put(NULL, facts, out);
}

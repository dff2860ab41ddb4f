/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a summary (summary.h).
 *
 * Limits: no locale; names are taken to be one column a character wide.
 */
#include "config.h"

#include "report/summary/printer.h"

#include "lib/assemble/util/losses.h"
#include "lib/assemble/util/shorten.h"
#include "lib/assemble/util/signals.h"
#include "report/model/rules.h"
#include "report/sections/samples.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_ERROR_WORTH_NS 1000 /* below, it is not worth a line */

enum { ROWS = GT_SUMMARY_ROWS, ROWS_WITH_LOSSES = 6, LOSS_ROWS = 5, SHORTFALL_ROWS = 3 };
enum { FINDINGS = 3, DIRECTIONS = 8 };

/* ---- parts ----------------------------------------------------------------------------------- */

static uint64_t all_losses(const struct gt_summary *s)
{
	uint64_t sum = s->unknown_records;

	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		if (gt_loss_real(cause))
			sum += s->lost[cause];
	return sum;
}

/* killed by SIGSEGV (segmentation fault) */
static void put_signal(int number, char *text, size_t size)
{
	const char *name = gt_signal_name(number), *meaning = gt_signal_text(number);

	if (name && meaning)
		snprintf(text, size, "killed by SIG%s (%c%s)", name, tolower((unsigned char)*meaning),
			 meaning + 1);
	else
		snprintf(text, size, "killed by signal %d", number);
}

static void put_how(const struct gt_summary *s, char *text, size_t size)
{
	switch (s->how) {
	case GT_END_EXIT:
	case GT_END__EXIT:
	case GT_END_QUICK_EXIT:
		snprintf(text, size, "exit status %u", s->status);
		return;
	case GT_END_EXEC:
		snprintf(text, size, "ended by exec");
		return;
	case GT_END_ABORT:
		snprintf(text, size, "ended by abort");
		return;
	case GT_END_SIGNAL:
		put_signal((int)s->status, text, size);
		return;
	}
	snprintf(text, size, s->killed ? "was killed" : "end not recorded");
}

static void put_end(const struct gt_summary *s, char *text, size_t size)
{
	char how[64], rank[32];

	put_how(s, how, sizeof(how));
	if (s->ended_by && *s->ended_by)
		gt_summary_escape(how, sizeof(how), s->ended_by, sizeof(how) - 1);
	if (s->failed_rank && *s->failed_rank)
		snprintf(text, size, "%s (rank %s)", how,
			 gt_summary_escape(rank, sizeof(rank), s->failed_rank, 16));
	else
		snprintf(text, size, "%s", how);
}

static void print_outside(const struct printer *p, const struct gt_summary *s)
{
	char name[64], a[32];

	if (!s->outside)
		return;
	gt_summary_escape(name, sizeof(name), s->outside_first ? s->outside_first : "?", 24);
	if (s->outside == 1)
		line(p, YELLOW,
		     "%s ran untraced: it is static, 32-bit, of another C library or privileged, or was "
		     "started without LD_PRELOAD",
		     name);
	else
		line(p, YELLOW,
		     "%s programs ran untraced (%s ...): static, 32-bit, of another C library or privileged, "
		     "or started without LD_PRELOAD",
		     counted(a, s->outside), name);
}

static void print_killed(const struct printer *p, const struct gt_summary *s)
{
	uint64_t others = s->killed - (s->killed && (s->how == GT_END_NONE || s->how == GT_END_SIGNAL));
	char name[64], a[32], b[32], how[80] = "killed", more[64] = "", rank[32];

	if (!s->killed_one.pid || !others)
		return;
	gt_summary_escape(name, sizeof(name), s->killed_one.program, 24);
	if (s->killed_one.signal)
		put_signal((int)s->killed_one.signal, how, sizeof(how));
	if (others > 1)
		snprintf(more, sizeof(more), ", and %s more %s", counted(b, others - 1),
			 plural(others - 1, "process", "processes"));
	snprintf(a, sizeof(a), "%u", s->killed_one.pid);
	if (s->failed_rank && *s->failed_rank && s->killed_one.ns > s->failed_ns)
		line(p, YELLOW, "%s [%s] was %s%s, after rank %s had failed", name, a, how, more,
		     gt_summary_escape(rank, sizeof(rank), s->failed_rank, 16));
	else
		line(p, YELLOW, "%s [%s] was %s%s", name, a, how, more);
}

/* A share of all processors would be wrong without some processes, or with the start of a very short run. */
static void put_rate(const struct gt_summary_view *view, char *text, size_t size)
{
	double rate = view->sums.sample_rate;
	char a[32];

	text[0] = '\0';
	if (rate >= 1)
		snprintf(text, size, ", sampled %s times a second", counted(a, (uint64_t)(rate + 0.5)));
}

static void print_use(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_used *used = &view->facts->used;
	double whole = (double)of_run(view, "duration_s", view->facts->wall_ns) * (double)used->processors;
	char a[32], b[32], c[32], share[64] = "", memory[80] = "", rate[64];

	if (!used->measured)
		return;
	if (used->unmeasured)
		snprintf(share, sizeof(share), " (%s of %s processes)", counted(a, used->measured),
			 counted(b, used->measured + used->unmeasured));
	else if (used->processors && (double)used->processor_ns <= whole)
		snprintf(share, sizeof(share), ", %.0f %% of %s %s", 100 * (double)used->processor_ns / whole,
			 counted(a, used->processors), plural(used->processors, "core", "cores"));
	if (used->memory_peak)
		snprintf(memory, sizeof(memory), "   memory: %s peak%s",
			 sized(b, used->memory_peak),
			 used->measured > 1 ? " (largest)" : "");
	put_rate(view, rate, sizeof(rate));
	line(p, NULL, "processor: %s%s%s%s", timed(c, used->processor_ns), share, rate, memory);
}

/* For how long threads could have run and had no processor; false: that is not worth a line. */
static bool much_ready(const struct gt_summary_view *view, uint64_t *ready, uint64_t *life)
{
	const struct gt_section *section = section_of(view, "thread_states");

	*ready = *life = 0;
	for (size_t i = 0; section && i < section->rows; i++) {
		union gt_cell cell = *gt_section_cell(section, i, "ready_s");

		*life += gt_section_cell(section, i, "lifetime_s")->count;
		*ready += gt_cell_given(cell, GT_COUNT) ? cell.count : 0;
	}
	return *ready > *life / 100 * GT_MUCH_READY;
}

static unsigned lack_lines(const struct gt_summary_view *view)
{
	uint64_t ready, life;

	return much_ready(view, &ready, &life) + (view->facts->used.throttled_ns != 0);
}

/* Prints the time that the program lost to other programs, and to a limit of its own. */
static void print_lack(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_used *used = &view->facts->used;
	uint64_t ready, life;
	char a[32];

	if (much_ready(view, &ready, &life))
		line(p, YELLOW, "threads waited %s for a processor, %.0f %% of their time", timed(a, ready),
		     100 * (double)ready / (double)life);
	if (used->throttled_ns)
		line(p, YELLOW, "throttled for %s by a quota of %g %s", timed(a, used->throttled_ns),
		     (double)used->quota / 1000, used->quota == 1000 ? "core" : "cores");
}

/*
 * Of the run, as shares are: of the threads' lives. What recording devices costs is of those that call them.
 */
static void put_cost(const struct gt_summary_view *view, char *text, size_t size)
{
	const struct gt_summary_sums *sums = &view->sums;
	bool device = sums->callers_ns && sums->device_cost_ns > sums->cost_ns / 2;
	uint64_t whole = device ? sums->callers_ns : sums->threads_ns;
	double percent = whole ? 100 * (double)sums->cost_ns / (double)whole : 0;
	char a[32], share[32];

	snprintf(share, sizeof(share), percent < 0.1 ? "less than 0.1" : "%.*f", percent < 9.95, percent);
	text[0] = '\0';
	if (sums->cost_ns && whole)
		snprintf(text, size, "; measurement: about %s, %s %% of the %s%s", timed(a, sums->cost_ns),
			 share, device ? "time of the threads that call the GPU" : "run",
			 sums->uncosted ? ", and the samples" : "");
}

static void print_missing(const struct printer *p, const struct gt_summary *s)
{
	char dir[900];

	if (!s->missing || !*s->missing)
		return;
	gt_summary_escape(dir, sizeof(dir), s->dir ? s->dir : "its directory", sizeof(dir) - 1);
	line(p, RED, "%s; is %s shared by all hosts?", s->missing, dir);
	if (s->spool_kept)
		line(p, NULL,
		     "the spool is kept: gputrace recover %s OTHER... joins the archives of other hosts",
		     s->dir ? gt_summary_word(dir, sizeof(dir), s->dir) : "DIR");
}

static void print_head(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_summary *s = view->facts;
	uint64_t processes = of_run(view, "processes", s->processes);
	uint64_t threads = of_run(view, "threads", s->threads) + of_run(view, "service_threads", 0);
	uint64_t of_mpi = of_run(view, "ranks", s->ranks), gpu = of_run(view, "streams", s->gpu_streams);
	char a[32], b[32], c[32], d[32], e[32], end[96], streams[64] = "", program[64] = "";
	char f[32], ranks[64] = "", cost[128], why[128];

	if (s->program) {
		gt_summary_escape(program, sizeof(program) - 2, s->program, 40);
		strcat(program, ": ");
	}
	if (gpu)
		snprintf(streams, sizeof(streams), ", %s GPU %s", counted(a, gpu),
			 plural(gpu, "stream", "streams"));
	if (of_mpi)
		snprintf(ranks, sizeof(ranks), " (%s %s %s)", counted(f, of_mpi), s->ranks_of,
			 plural(of_mpi, "rank", "ranks"));
	put_end(s, end, sizeof(end));
	line(p, BOLD, "%s%s, %s; %s %s%s, %s %s%s", program,
	     timed(a, of_run(view, "duration_s", s->wall_ns)), end, counted(b, processes),
	     plural(processes, "process", "processes"), ranks, counted(c, threads),
	     plural(threads, "thread", "threads"), streams);
	put_cost(view, cost, sizeof(cost));
	line(p, BOLD, "%s %s, %s%s%s", counted(d, s->events), plural(s->events, "event", "events"),
	     sized(e, s->archive_bytes), s->recovered ? " (recovered)" : "", cost);
	print_use(p, view);
	print_lack(p, view);
	print_killed(p, s);
	gt_summary_escape(why, sizeof(why), s->silent_why ? s->silent_why : "", sizeof(why) - 1);
	if (s->silent)
		line(p, YELLOW, "%s %s started as %s ranks, but no %s was recorded%s%s",
		     counted(a, s->silent),
		     plural(s->silent, "process was", "processes were"), s->ranks_of, s->ranks_of,
		     *why ? ": " : "", why);
	print_outside(p, s);
	print_missing(p, s);
	if (s->absent && *s->absent)
		line(p, RED, "NOT IN THE TRACE: %s", s->absent);
}

static unsigned shortfall_lines(const struct gt_summary *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->shortfall_count; i++)
		n += !s->shortfalls[i].told;
	return n < SHORTFALL_ROWS ? n : SHORTFALL_ROWS;
}

/* A sentence is never cut. */
static void print_shortfalls(const struct printer *p, const struct gt_summary *s)
{
	unsigned left = SHORTFALL_ROWS;
	char text[512];

	for (unsigned i = 0; left && i < s->shortfall_count; i++) {
		const struct gt_summary_shortfall *one = &s->shortfalls[i];

		if (one->told)
			continue;
		line(p, one->what->kind == GT_MISSING ? RED : YELLOW, "%s",
		     gt_shortfall_text(one->what, one->count, *one->first ? one->first : NULL, text,
				       sizeof(text)));
		left--;
	}
}

/* The sum of a column. */
static uint64_t sum_of(const struct gt_section *section, const char *key)
{
	uint64_t sum = 0;

	for (size_t i = 0; section && i < section->rows; i++)
		sum += gt_section_cell(section, i, key)->count;
	return sum;
}

static uint32_t rank_of(const struct gt_report *report, uint32_t location)
{
	return report->classes.processes[report->classes.locations[location].process].rank;
}

/* Prints the messages of the ranks. */
static void print_messages(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_section *section = section_of(view, "messages");
	uint64_t sent = sum_of(section, "count"), calls = sum_of(section_of(view, "collectives"), "count");
	char a[32], c[32], d[32], messages[96] = "", collectives[64] = "";

	if (sent)
		snprintf(messages, sizeof(messages), "%s %s with %s", counted(a, sent),
			 plural(sent, "message", "messages"), sized(c, sum_of(section, "bytes")));
	if (calls)
		snprintf(collectives, sizeof(collectives), "%s %s", counted(d, calls),
			 plural(calls, "call of a collective", "calls of collectives"));
	if (*messages || *collectives)
		line(p, NULL, "%s%s%s", messages, *messages && *collectives ? ", " : "", collectives);
}

/* Where the ranks spend their time, compared. */
static void print_ranks(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_summary_sums *sums = &view->sums;
	const struct gt_ranks *outside = &sums->outside;
	const char *of = view->facts->ranks_of;
	char a[32], c[32], ranks[96] = "";

	if (sums->ranks > 1)
		snprintf(ranks, sizeof(ranks), " (least: rank %u, %.0f %%; most: rank %u, %.0f %%)",
			 sums->least.rank, 100 * sums->least.in_comm, sums->most.rank,
			 100 * sums->most.in_comm);
	if (sums->ranks)
		line(p, NULL, "in %s (without %s_Init and %s_Finalize): %.0f %%%s", of, of, of,
		     100 * sums->in_comm, ranks);
	if (sums->ranks > 1 && outside->most)
		line(p, NULL, "outside %s: mean %s, most %s (rank %u)", of,
		     timed(a, outside->sum / outside->count), timed(c, outside->most),
		     rank_of(view->report, outside->last));
	print_messages(p, view);
}

static double efficiency(const struct gt_section *section, const char *key)
{
	double value = gt_section_cell(section, 0, key)->number;

	return isnan(value) ? 0 : value;
}

static void print_gpu_efficiency(const struct printer *p, const struct gt_section *section)
{
	double whole = efficiency(section, "device_parallel_efficiency");
	double copies = efficiency(section, "device_copy_efficiency");
	char text[64] = "";

	if (copies > 0)
		snprintf(text, sizeof(text), ", copies %.0f %%, orchestration %.0f %%", 100 * copies,
			 100 * efficiency(section, "device_orchestration_efficiency"));
	if (whole > 0)
		line(p, NULL, "GPU efficiency %.0f %%: load balance %.0f %%%s", 100 * whole,
		     100 * efficiency(section, "device_load_balance"), text);
}

static void print_efficiency(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_section *section = section_of(view, "efficiencies");
	char factors[128] = "", threads[64] = "", offload[64] = "";
	double balance, communication, of_threads, of_offload;
	const char *left_out;

	if (!section || !section->rows)
		return;
	balance = efficiency(section, "load_balance");
	communication = efficiency(section, "communication_efficiency");
	of_threads = efficiency(section, "thread_efficiency");
	of_offload = efficiency(section, "offload_efficiency");
	left_out = gt_section_cell(section, 0, "left_out")->text;
	if (balance > 0 && communication > 0)
		snprintf(factors, sizeof(factors), "load balance %.0f %%, communication %.0f %%",
			 100 * balance, 100 * communication);
	if (of_offload > 0)
		snprintf(offload, sizeof(offload), "%soffload %.0f %%", *factors ? ", " : "",
			 100 * of_offload);
	if (of_threads > 0 && of_threads < 0.995)
		snprintf(threads, sizeof(threads), ", threads %.0f %%", 100 * of_threads);
	if (*factors || *offload)
		line(p, NULL, "parallel efficiency %.0f %%: %s%s%s",
		     100 * efficiency(section, "parallel_efficiency"), factors, threads, offload);
	else if (left_out)
		line(p, NULL, "efficiencies: %s", left_out);
	print_gpu_efficiency(p, section);
}

/* Bytes that GPUs copied, by direction; what is set has none. False: there are no copies. */
static bool put_copies(const struct gt_summary_view *view, char *text, size_t size)
{
	const struct gt_section *section = section_of(view, "copies");
	struct {
		const char *direction;
		uint64_t bytes;
	} sums[DIRECTIONS];
	unsigned count = 0, at;
	size_t n = 0;
	char a[32];

	for (size_t i = 0; section && i < section->rows; i++) {
		const char *direction = gt_section_cell(section, i, "direction")->text;

		if (!direction) /* the name of such copies does not say it */
			continue;
		for (at = 0; at < count && strcmp(sums[at].direction, direction); at++)
			;
		if (!strcmp(direction, "set") || at == DIRECTIONS)
			continue;
		if (at == count)
			sums[count++].bytes = 0;
		sums[at].direction = direction;
		sums[at].bytes += gt_section_cell(section, i, "bytes")->count;
	}
	for (at = 0; at < count && n < size; at++)
		n += (size_t)snprintf(text + n, size - n, "%s%s %s", n ? ", " : "", sums[at].direction,
				      sized(a, sums[at].bytes));
	return count;
}

static void print_copies(const struct printer *p, const struct gt_summary_view *view)
{
	char text[DIRECTIONS * 40];

	if (put_copies(view, text, sizeof(text)))
		line(p, NULL, "copies of GPUs: %s", text);
}

static unsigned finding_lines(const struct gt_summary_view *view)
{
	const struct gt_section *section = section_of(view, "findings");
	size_t rows = section ? section->rows : 0;

	return rows < FINDINGS ? (unsigned)rows : FINDINGS;
}

static void print_finding(const struct printer *p, const struct gt_section *section, size_t i)
{
	const char *where = gt_section_cell(section, i, "where")->text;
	uint64_t gain = gt_section_cell(section, i, "seconds")->count;
	char a[32], known[48], text[640], place[128] = "";

	snprintf(known, sizeof(known), "%s to gain", timed(a, gain));
	gt_summary_escape(text, sizeof(text), gt_section_cell(section, i, "text")->text, sizeof(text) - 1);
	if (where)
		gt_summary_escape(place, sizeof(place), where, 60);
	line(p, YELLOW, "%s: %s%s%s (%s)", gain == GT_NO_COUNT ? "gain not known" : known, text,
	     where ? "; in " : "", place, gt_section_cell(section, i, "id")->text);
}

/* What costs most; a sentence is never cut. */
static void print_findings(const struct printer *p, const struct gt_summary_view *view)
{
	for (unsigned i = 0; i < finding_lines(view); i++)
		print_finding(p, section_of(view, "findings"), i);
}

static void print_nothing(const struct printer *p, const struct gt_summary *s)
{
	line(p, RED, "NO EVENT WAS RECORDED");
	if (all_losses(s))
		line(p, NULL, "  They were lost; the causes are below.");
	else if (s->switched_off)
		line(p, NULL,
		     "  Recording was switched off (VT_MODE=off, or VT_OFF() in the program).");
	else if (s->lost[GT_LOSS_FILTER])
		line(p, NULL,
		     "  Everything was filtered: look at VT_FILTER_SPEC and VT_GROUPS_SPEC.");
	else if (s->hooks_seen)
		line(p, NULL,
		     "  The program reached gputrace, but all that it recorded was taken back.");
	else
		line(p, NULL,
		     "  The program was not built with gputrace: make CC=gputrace-cc "
		     "CXX=gputrace-c++");
}

/* ---- time in no function ----------------------------------------------------------------------------- */

static bool much_unseen(const struct gt_summary_sums *sums)
{
	return sums->threads_ns && sums->unseen_ns >= sums->threads_ns / 100 * 5;
}

/* Where the time went that no recorded function has; or else what is missing to 100 % in the table. */
static void print_unseen(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_summary_sums *sums = &view->sums;
	char hint[96] = "", hottest[1024];

	if (gt_samples_hottest(view->report, p->width, hottest, sizeof(hottest))) {
		line(p, NULL, "hottest functions %s", hottest);
		return;
	}
	if (view->facts->unseen_setting && !sums->script)
		snprintf(hint, sizeof(hint), "; %s records more", view->facts->unseen_setting);
	else if (view->facts->used.measured && view->facts->used.processor_ns < sums->unseen_ns / 2)
		snprintf(hint, sizeof(hint), "; most of it they did not run: gputrace report -s threads");
	else if (sums->sampled)
		snprintf(hint, sizeof(hint), "; there are too few samples to say in which");
	else if (!sums->functions && !sums->script)
		snprintf(hint, sizeof(hint),
			 "; gputrace run --sample says in which of the program's, gputrace-cc records them");
	if (much_unseen(sums))
		line(p, NULL, "%.0f %% of the threads' time was spent outside recorded functions%s",
		     100 * (double)sums->unseen_ns / (double)sums->threads_ns, hint);
}

/* Why nothing is said of where the time went. */
static void print_unread(const struct printer *p, const struct gt_summary_view *view)
{
	char a[32];

	if (!view->report)
		line(p, RED, "the archive is complete, but could not be read for this summary: "
		     "try gputrace report");
	else if (view->report->unread)
		line(p, NULL, "not analysed here, as reading %s events would take long beside the run: "
		     "gputrace report shows where its time went", counted(a, view->facts->events));
}

static void print_losses(const struct printer *p, const struct gt_summary *s)
{
	uint64_t sum = all_losses(s), rest = 0;
	unsigned rows = 0;
	bool shown[GT_LOSS_N] = {false};
	char a[32];

	if (!sum)
		return;
	line(p, RED, "LOST %s %s, which the trace does not have:", counted(a, sum),
	     plural(sum, "event", "events"));
	for (; rows < LOSS_ROWS; rows++) {
		unsigned most = GT_LOSS_N;

		for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
			if (gt_loss_real(cause) && !shown[cause] && s->lost[cause] &&
			    (most == GT_LOSS_N || s->lost[cause] > s->lost[most]))
				most = cause;
		if (most == GT_LOSS_N)
			break;
		shown[most] = true;
		line(p, RED, "%11s %s", counted(a, s->lost[most]), gt_loss_which(most));
	}
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		if (gt_loss_real(cause) && !shown[cause])
			rest += s->lost[cause];
	if (rest + s->unknown_records)
		line(p, RED, "%11s of other causes", counted(a, rest + s->unknown_records));
}

/* Prints remarks that are not losses. */
static void print_notes(const struct printer *p, const struct gt_summary_view *view)
{
	const struct gt_summary *s = view->facts;
	const struct gt_summary_sums *sums = &view->sums;
	char a[32], b[32], c[32];

	if (sums->idle_threads)
		line(p, NULL, "not in the table: %s idle %s, which only waited (%s)",
		     counted(a, sums->idle_threads), plural(sums->idle_threads, "thread", "threads"),
		     timed(b, sums->idle_ns));
	if (sums->serving_ns && sums->serving_ns >= sums->threads_ns / 100)
		line(p, NULL, "idle, not part of the run: %s other %s waited for work (%s)",
		     counted(a, sums->serving_threads), plural(sums->serving_threads, "thread", "threads"),
		     timed(b, sums->serving_ns));
	if (s->flushes)
		line(p, NULL, "buffer flushes: %s, %s together, longest %s (TRACE BUFFER FLUSH)",
		     counted(a, s->flushes), timed(b, s->flush_ns),
		     timed(c, s->longest_flush_ns));
	if (s->lost[GT_LOSS_FILTER])
		line(p, NULL, "%s %s left out by the filter or by VT_MAX_STACK_DEPTH",
		     counted(a, s->lost[GT_LOSS_FILTER]), plural(s->lost[GT_LOSS_FILTER], "event", "events"));
	if (s->lost[GT_LOSS_REWIND])
		line(p, NULL, "%s %s taken back by VT_REWIND", counted(a, s->lost[GT_LOSS_REWIND]),
		     plural(s->lost[GT_LOSS_REWIND], "event", "events"));
	if (s->closed_frames)
		line(p, NULL, "%s %s did not return (jump, exception, end): closed",
		     counted(a, s->closed_frames), plural(s->closed_frames, "call", "calls"));
	if (s->dropped_leaves)
		line(p, NULL, "%s %s without an enter: left out", counted(a, s->dropped_leaves),
		     plural(s->dropped_leaves, "return", "returns"));
	if (s->parts)
		line(p, NULL, "ranges that did not end in the function that began them: %s, shown in parts",
		     counted(a, s->parts));
	if (s->clamped_times)
		line(p, NULL, "%s %s out of order in time and moved",
		     counted(a, s->clamped_times), plural(s->clamped_times, "event was", "events were"));
	if (s->unresolved)
		line(p, NULL, "without a name: %s %s (stripped file, or changed since)",
		     counted(a, s->unresolved), plural(s->unresolved, "function", "functions"));
	if (s->clock_error_ns >= CLOCK_ERROR_WORTH_NS)
		line(p, NULL, "times may be wrong by up to %s",
		     timed(a, (uint64_t)s->clock_error_ns));
	else if (s->clock_error_ns < 0 && s->hosts > 1)
		line(p, NULL,
		     "the clocks of the %u hosts were not all compared: the wall clocks align them, with an "
		     "unknown error",
		     s->hosts);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void print_trace(const struct printer *p, const struct gt_summary_view *view)
{
	const char *name = view->facts->dir;
	char dir[800];

	if (!name)
		return;
	/* Never cut: it is there to be copied. */
	line(p, NULL, "trace: %s/traces.otf2", gt_summary_escape(dir, sizeof(dir), name, sizeof(dir)));
	gt_summary_word(dir, sizeof(dir), name);
	line(p, NULL, "more: gputrace report %s", dir);
	if (view->sums.floods)
		line(p, NULL, "fewer events: gputrace filter suggest -o rules %s, then VT_FILTER_SPEC=rules",
		     dir);
}

void gt_summary_print(const struct gt_summary_view *view, FILE *out, enum gt_summary_style style,
		      unsigned width)
{
	const struct gt_summary *facts = view->facts;
	struct printer p = {out, style == GT_SUMMARY_COLOUR, width ? width : 100};
	char text[DIRECTIONS * 40];
	unsigned rows, taken = finding_lines(view) + much_unseen(&view->sums) + lack_lines(view) +
			       put_copies(view, text, sizeof(text)) + shortfall_lines(facts);

	if (p.width > 400)
		p.width = 400;
	print_head(&p, view);
	print_shortfalls(&p, facts);
	print_ranks(&p, view);
	print_efficiency(&p, view);
	print_copies(&p, view);
	print_findings(&p, view);
	if (!facts->events)
		print_nothing(&p, facts);
	rows = all_losses(facts) ? ROWS_WITH_LOSSES - (facts->used.measured != 0) : ROWS;
	gt_summary_table(&p, view, taken < rows ? rows - taken : 1);
	print_unseen(&p, view);
	print_unread(&p, view);
	print_losses(&p, facts);
	print_notes(&p, view);
	print_trace(&p, view);
}

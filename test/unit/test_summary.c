/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of report/summary/print.c: what is said, what is not, and that names are harmless.
 *
 * Limits: the figures are given; that they are the report's is tested end to end (test/report/summary.py).
 */
#include "lib/assemble/util/losses.h"
#include "report/summary/summary.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[65536];
/* ---- a report with these figures ----------------------------------------------------------------- */

static const struct gt_column region_columns[] = {
	{ "count", "", GT_COUNT }, { "exclusive_s", "", GT_SECONDS }, { "share", "", GT_SHARE },
	{ "idle_s", "", GT_SECONDS }, { "inclusive_s", "", GT_SECONDS }, { "name", "", GT_TEXT },
};
static const struct gt_section_kind regions_kind = GT_SECTION("regions", "", GT_ROWS, region_columns);

static const struct gt_column efficiency_columns[] = {
	{ "parallel_efficiency", "", GT_SHARE }, { "load_balance", "", GT_SHARE },
	{ "communication_efficiency", "", GT_SHARE }, { "thread_efficiency", "", GT_SHARE },
	{ "offload_efficiency", "", GT_SHARE }, { "device_parallel_efficiency", "", GT_SHARE },
	{ "device_load_balance", "", GT_SHARE }, { "device_copy_efficiency", "", GT_SHARE },
	{ "device_orchestration_efficiency", "", GT_SHARE }, { "left_out", "", GT_TEXT },
};
static const struct gt_section_kind efficiencies_kind =
	GT_SECTION("efficiencies", "", GT_OBJECT, efficiency_columns);

static const struct gt_column finding_columns[] = {
	{ "seconds", "", GT_SECONDS }, { "id", "", GT_TEXT }, { "text", "", GT_TEXT },
	{ "where", "", GT_TEXT },
};
static const struct gt_section_kind findings_kind = GT_SECTION("findings", "", GT_NOTES, finding_columns);

static const struct gt_column copy_columns[] = { { "bytes", "", GT_BYTES }, { "direction", "", GT_WORD } };
static const struct gt_section_kind copies_kind = GT_SECTION("copies", "", GT_ROWS, copy_columns);

static const struct gt_column message_columns[] = { { "count", "", GT_COUNT }, { "bytes", "", GT_BYTES } };
static const struct gt_section_kind messages_kind = GT_SECTION("messages", "", GT_OBJECT, message_columns);
static const struct gt_section_kind collectives_kind =
	GT_SECTION("collectives", "", GT_ROWS, message_columns);

static const struct gt_column sample_columns[] = {
	{ "function", "", GT_TEXT }, { "share", "", GT_SHARE }, { "samples", "", GT_COUNT },
	{ "cpu_s", "", GT_SECONDS }, { "error_s", "", GT_SECONDS },
};
static const struct gt_section_kind samples_kind = GT_SECTION("samples", "", GT_ROWS, sample_columns);

static const struct gt_column state_columns[] = {
	{ "lifetime_s", "", GT_SECONDS }, { "ready_s", "", GT_SECONDS },
};
static const struct gt_section_kind states_kind = GT_SECTION("thread_states", "", GT_ROWS, state_columns);

static struct gt_report report;

static union gt_cell *row(const struct gt_section_kind *kind)
{
	struct gt_section *section = gt_section_find(&report.figures, kind->key);

	return gt_row_add(section ? section : gt_section_add(&report.figures, kind));
}

static void region(const char *name, uint64_t calls, uint64_t exclusive, uint64_t inclusive, double share)
{
	union gt_cell *cells = row(&regions_kind);

	cells[0].count = calls;
	cells[1].count = exclusive;
	cells[2].number = share;
	cells[4].count = inclusive;
	cells[5].text = name;
}

static void finding(uint64_t gain, const char *id, const char *sentence, const char *where)
{
	union gt_cell *cells = row(&findings_kind);

	cells[0].count = gain;
	cells[1].text = id;
	cells[2].text = sentence;
	cells[3].text = where;
}

static void empty(void)
{
	gt_figures_free(&report.figures);
	report = (struct gt_report){ .unread = false };
}

TestSuite(summary, .fini = empty);

/* ---- what is printed -------------------------------------------------------------------------------- */

static const char *print_sums(const struct gt_summary *s, const struct gt_summary_sums *sums,
			      enum gt_summary_style style, unsigned width)
{
	const struct gt_summary_view view = { s, &report, *sums };
	FILE *out = fmemopen(text, sizeof(text), "w");

	cr_assert(out);
	gt_summary_print(&view, out, style, width);
	fclose(out);
	return text;
}

static const char *print(const struct gt_summary *s, enum gt_summary_style style, unsigned width)
{
	return print_sums(s, &(struct gt_summary_sums){ .ranks = 0 }, style, width);
}

static unsigned lines_of(const char *t)
{
	unsigned n = 0;

	for (; *t; t++)
		n += *t == '\n';
	return n;
}

#define HAS(what) cr_expect(strstr(text, what), "no \"%s\" in:\n%s", what, text)
#define HAS_NOT(what) cr_expect(!strstr(text, what), "\"%s\" in:\n%s", what, text)

static void three(void)
{
	region("stencil(double*, int)", 16384, 1203000000, 1203000000, 0.9975);
	region("main", 1, 2000000, 1500000000, 0.00166);
	region("little", 1, 1000, 2000, 1e-6);
}

static struct gt_summary usual(void)
{
	return (struct gt_summary){
		.dir = "out/dir", .program = "real", .wall_ns = 1841000000, .processes = 4,
		.threads = 8, .events = 41288, .archive_bytes = 1100000, .how = GT_END_EXIT,
		.clock_error_ns = -1, .hooks_seen = true};
}

Test(summary, usual)
{
	struct gt_summary s = usual();

	three();
	cr_expect_str_eq(
		print(&s, GT_SUMMARY_PLAIN, 0),
		"[gputrace] real: 1.84 s, exit status 0; 4 processes, 8 threads\n"
		"[gputrace] 41,288 events, 1.10 MB\n"
		"[gputrace]       calls  exclusive  inclusive  % of run, function\n"
		"[gputrace]      16,384     1.20 s     1.20 s  99.8 %  stencil(double*, int)\n"
		"[gputrace]           1    2.00 ms     1.50 s   0.2 %  main\n"
		"[gputrace]           1    1.00 us    2.00 us   0.0 %  little\n"
		"[gputrace] trace: out/dir/traces.otf2\n"
		"[gputrace] more: gputrace report out/dir\n");
}

/* Two methods of one class, and two templates that only an argument tells apart. */
Test(summary, long_names)
{
	struct gt_summary s = usual();

	region("Matrix<double, 64>::multiply_accumulate(Matrix<double, 64> const&, double)", 9, 9, 9, 0.1);
	region("Matrix<double, 64>::multiply_subtract(Matrix<double, 64> const&, double)", 9, 8, 8, 0.1);
	region("std::vector<double> advance_particles_on_device<float, 3>(std::vector<double> const&)",
	       9, 7, 7, 0.1);
	region("std::vector<double> advance_particles_on_device<float, 4>(std::vector<double> const&)",
	       9, 6, 6, 0.1);
	print(&s, GT_SUMMARY_PLAIN, 80);
	HAS("  ...::multiply_accumulate\n");
	HAS("  ...::multiply_subtract\n");
	HAS("t, 3>");
	HAS("t, 4>");
	print(&s, GT_SUMMARY_PLAIN, 120);
	HAS("  Matrix<double, 64>::multiply_accumulate(...)\n");
	HAS("  std::vector<double> advance_particles_on_device<float, 3>(...)\n");
}

Test(summary, use)
{
	struct gt_summary s = usual();

	s.used = (struct gt_used){ .measured = 1, .processor_ns = 3571000000, .processors = 2,
				   .memory_peak = 8200000 };
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] processor: 3.57 s, 97 % of 2 cores   memory: 8.20 MB peak\n");
	s.used.measured = 4;
	s.used.memory_peak = 0;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] processor: 3.57 s, 97 % of 2 cores\n");
	s.used.unmeasured = 1;
	s.used.memory_peak = 104857600;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] processor: 3.57 s (4 of 5 processes)   memory: 105 MB peak (largest)\n");
	s.used.unmeasured = 0;
	s.used.processor_ns = 4000000000; /* of a run of 1.84 s on 2 */
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] processor: 4.00 s   memory");
	s.used.measured = 0;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("processor");
}

static void state(uint64_t lifetime, uint64_t ready)
{
	union gt_cell *cells = row(&states_kind);

	cells[0].count = lifetime;
	cells[1].count = ready;
}

Test(summary, lack_of_processors)
{
	struct gt_summary s = usual();

	state(1000000000, 40000000);
	state(3000000000, GT_NO_COUNT);
	s.used = (struct gt_used){ .quota = 500 };
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("for a processor");
	HAS_NOT("throttled");
	s.used.throttled_ns = 3100000000;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] throttled for 3.10 s by a quota of 0.5 cores\n");
	state(2000000000, 1160000000);
	s.used.quota = 1000;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] threads waited 1.20 s for a processor, 20 % of their time\n"
	    "[gputrace] throttled for 3.10 s by a quota of 1 core\n");
	s.used.throttled_ns = 0;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] threads waited 1.20 s for a processor, 20 % of their time\n");
}

/* The first three. */
Test(summary, findings)
{
	struct gt_summary s = usual();

	finding(300000000, "late-rank", "rank 2 works for 900 ms outside of MPI", NULL);
	finding(60000000, "costly-function", "2,000,000 calls of tiny\033 take 200 ms", NULL);
	finding(GT_NO_COUNT, "oversubscription", "on average 16.0 threads", "MPI_Test");
	finding(40000000, "n-x-n", "30 % of the ranks' time", NULL);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] 300 ms to gain: rank 2 works for 900 ms outside of MPI (late-rank)\n"
	    "[gputrace] 60.0 ms to gain: 2,000,000 calls of tiny\\x1b take 200 ms (costly-function)\n"
	    "[gputrace] gain not known: on average 16.0 threads; in MPI_Test (oversubscription)\n");
	HAS_NOT("n-x-n");
}

/* Of what was not analysed nothing is said but that. */
Test(summary, unread)
{
	struct gt_summary s = usual();

	report.unread = true;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] 41,288 events, 1.10 MB\n");
	HAS("] not analysed here, as reading 41,288 events would take long beside the run: gputrace report "
	    "shows where its time went\n");
	HAS("] more: gputrace report out/dir\n");
	HAS_NOT("% of run");
	report.unread = false;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("not analysed");
}

/* What the measurement took, and what to do about it if that is much. */
Test(summary, measurement)
{
	struct gt_summary s = usual();
	struct gt_summary_sums sums = { .threads_ns = 1206000000, .cost_ns = 491580 };

	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] 41,288 events, 1.10 MB; measurement: about 492 us, less than 0.1 % of the run\n");
	HAS_NOT("filter suggest");
	sums.threads_ns = 10 * sums.cost_ns;
	sums.floods = true;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("; measurement: about 492 us, 10 % of the run\n");
	HAS("] more: gputrace report out/dir\n"
	    "[gputrace] fewer events: gputrace filter suggest -o rules out/dir, then VT_FILTER_SPEC=rules\n");
	/* Recording devices costs the threads that call them. */
	sums = (struct gt_summary_sums){ .threads_ns = 64000000000, .callers_ns = 1900000000,
					 .cost_ns = 190000000, .device_cost_ns = 180000000 };
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("; measurement: about 190 ms, 10 % of the time of the threads that call the GPU\n");
	sums.callers_ns = 0; /* on another host */
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("; measurement: about 190 ms, 0.3 % of the run\n");
	sums.uncosted = true;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("; measurement: about 190 ms, 0.3 % of the run, and the samples\n");
	s.used = (struct gt_used){ .measured = 1, .processors = 2, .processor_ns = 900000000 };
	sums = (struct gt_summary_sums){ .threads_ns = 1000000000, .unseen_ns = 1000000000, .sampled = true,
					 .sample_rate = 249.6 };
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] processor: 900 ms");
	HAS(", sampled 250 times a second");
	HAS("outside recorded functions; there are too few samples to say in which\n");
	s.used.processor_ns = 400000000;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions; most of it they did not run: gputrace report -s threads\n");
}

/* What nothing recorded saw, and what would see it. */
Test(summary, unseen)
{
	struct gt_summary s = usual();
	struct gt_summary_sums sums = { .threads_ns = 1000, .unseen_ns = 40 };

	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("outside recorded functions");
	sums.unseen_ns = 510;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] 51 % of the threads' time was spent outside recorded functions; gputrace run "
	    "--sample says in which of the program's, gputrace-cc records them\n");
	s.unseen_setting = "VT_SCRIPT=yes";
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions; VT_SCRIPT=yes records more\n");
	sums.script = true;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions\n");
	s.unseen_setting = NULL;
	sums.script = false;
	sums.functions = true;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions\n");
}

/* `each`: us that a sample stands for. */
static void sampled(const char *function, double share, uint64_t samples, double each)
{
	union gt_cell *cells = row(&samples_kind);

	cells[0].text = function;
	cells[1].number = share;
	cells[2].count = samples;
	cells[3].count = (uint64_t)((double)samples * each * 1000);
	cells[4].count = (uint64_t)(sqrt((double)samples) * each * 1000);
}

/* Samples say it instead, if there are enough of them; what has none is no function. */
Test(summary, hottest)
{
	struct gt_summary s = usual();
	struct gt_summary_sums sums = { .threads_ns = 1000, .unseen_ns = 990 };

	sampled("[no sample]", 0.6, 0, 1);
	sampled("seldom", 0.5, 29, 1);
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] 99 % of the threads' time was spent outside recorded functions; ");
	sampled("alpha", 0.254, 30, 1);
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] hottest functions (+- 13 %): seldom 50 %, alpha 25 %\n");
	HAS_NOT("outside recorded functions");
	sampled("Matrix<double, 64>::multiply_accumulate(Matrix<double, 64> const&)", 0.1, 941, 1);
	sampled("fourth", 0.04, 1000, 1);
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] hottest functions (+- 2 %): seldom 50 %, alpha 25 %, ...::multiply_accumulate 10 %\n");
	HAS_NOT("fourth");
	sampled("behind calls", 0.01, 4, 500); /* as exact as 16 samples that stand for as much as others */
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] hottest functions (+- 25 %): ");
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		cr_expect_leq(strcspn(at, "\n"), 100, "%s", at);
}

/* By direction, over kinds of memory; what is set has none, and of some the name does not say it. */
Test(summary, copies)
{
	struct gt_summary s = usual();
	static const struct {
		const char *direction;
		uint64_t bytes;
	} copies[] = { { "H2D", 1000000 }, { NULL, 9 }, { "D2H", 500 }, { "set", 7 }, { "H2D", 2000000 } };

	for (size_t i = 0; i < 5; i++) {
		union gt_cell *cells = row(&copies_kind);

		cells[0].count = copies[i].bytes;
		cells[1].text = copies[i].direction;
	}
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] copies of GPUs: H2D 3.00 MB, D2H 500 B\n");
}

/* Nothing that was not measured, nothing that did not happen. */
Test(summary, silent_about_what_is_not)
{
	struct gt_summary s = usual();

	three();
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("LOST");
	HAS_NOT("repaired");
	HAS_NOT("clock");
	HAS_NOT("GPU");
	HAS_NOT("killed");
	HAS_NOT("recovered");
	HAS_NOT("without a name");
	HAS_NOT("left out");
	HAS_NOT("MPI");
	HAS_NOT("idle");
	HAS_NOT("flush");
	HAS_NOT("analysed");
}

static void volume(const struct gt_section_kind *kind, uint64_t count, uint64_t bytes)
{
	union gt_cell *cells = row(kind);

	cells[0].count = count;
	cells[1].count = bytes;
}

Test(summary, everything)
{
	struct gt_summary s = usual();
	struct gt_location_class location = { .process = 0 };
	struct gt_process_class process = { .rank = 3 };
	struct gt_summary_sums sums = {
		.ranks = 2, .in_comm = 0.33, .least = { 3, 0.09 }, .most = { 0, 0.59 },
		.outside = { .count = 2, .sum = 2400000000, .most = 2000000000 },
		.threads_ns = 10000000000, .serving_threads = 3, .serving_ns = 2500000000,
		.idle_threads = 8, .idle_ns = 5000000000,
	};

	s.gpu_streams = 1;
	s.ranks = 2;
	s.ranks_of = "MPI";
	s.recovered = true;
	s.killed = 2;
	s.killed_one = (struct gt_killed){ "yes", 4711, 13, 0 };
	s.how = GT_END_SIGNAL;
	s.status = 11;
	s.closed_frames = 1234;
	s.dropped_leaves = 1;
	s.clamped_times = 2;
	s.unresolved = 3;
	s.clock_error_ns = 35;
	s.lost[GT_LOSS_FILTER] = 1000;
	report.classes.locations = &location;
	report.classes.processes = &process;
	volume(&messages_kind, 1, 1600000);
	volume(&collectives_kind, 1000, 0);
	volume(&collectives_kind, 200, 0);
	s.flushes = 2;
	s.flush_ns = 400000;
	s.longest_flush_ns = 377000;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("killed by SIGSEGV (segmentation fault)");
	HAS("4 processes (2 MPI ranks), 8 threads, 1 GPU stream\n");
	HAS("(recovered)");
	HAS("yes [4711] was killed by SIGPIPE (broken pipe)\n");
	HAS("1,234 calls did not return (jump, exception, end): closed\n");
	HAS("idle, not part of the run: 3 other threads waited for work (2.50 s)\n");
	HAS("1 return without an enter: left out\n");
	HAS("2 events were out of order in time and moved\n");
	HAS("without a name: 3 functions");
	HAS_NOT("times may");
	HAS("1,000 events left out by the filter or by VT_MAX_STACK_DEPTH\n");
	HAS_NOT("VT_REWIND");
	HAS("in MPI (without MPI_Init and MPI_Finalize): 33 % (least: rank 3, 9 %; most: rank 0, 59 %)\n");
	HAS("outside MPI: mean 1.20 s, most 2.00 s (rank 3)\n");
	HAS("] 1 message with 1.60 MB, 1,200 calls of collectives\n");
	HAS("not in the table: 8 idle threads, which only waited (5.00 s)\n");
	HAS("buffer flushes: 2, 400 us together, longest 377 us (TRACE BUFFER FLUSH)\n");
	HAS_NOT("LOST");
	sums.ranks = 1;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("in MPI (without MPI_Init and MPI_Finalize): 33 %\n");
	HAS_NOT("load balance");
	empty();
	volume(&collectives_kind, 1200, 0);
	sums.ranks = 0;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] 1,200 calls of collectives\n");
	HAS_NOT("0 messages");
	empty();
	volume(&messages_kind, 2, 1600000);
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("] 2 messages with 1.60 MB\n");
	HAS_NOT("collective");
	s.killed = 3;
	s.clock_error_ns = 3000;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("yes [4711] was killed by SIGPIPE (broken pipe), and 1 more process\n");
	s.failed_rank = "3";
	s.failed_ns = 7;
	s.killed_one.ns = 8;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS(" was killed by SIGPIPE (broken pipe), and 1 more process, after rank 3 had failed\n");
	s.killed_one.ns = 6;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS(" was killed by SIGPIPE (broken pipe), and 1 more process\n");
	s.failed_rank = NULL;
	HAS("times may be wrong by up to 3.00 us\n");
	HAS_NOT("not all compared");
	s.hosts = 2;
	s.clock_error_ns = -1;
	print_sums(&s, &sums, GT_SUMMARY_PLAIN, 0);
	HAS("the clocks of the 2 hosts were not all compared: the wall clocks align them, with an unknown "
	    "error\n");
}

Test(summary, ends)
{
	static const struct {
		uint32_t how, status;
		const char *said;
	} ends[] = {
		{GT_END_EXIT, 3, "exit status 3;"},     {GT_END__EXIT, 4, "exit status 4;"},
		{GT_END_QUICK_EXIT, 5, "exit status 5;"}, {GT_END_EXEC, 0, "ended by exec;"},
		{GT_END_ABORT, 0, "ended by abort;"},   {GT_END_NONE, 0, "end not recorded;"},
		{77, 0, "end not recorded;"},
	};
	struct gt_summary s = usual();

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		s.how = ends[i].how;
		s.status = ends[i].status;
		print(&s, GT_SUMMARY_PLAIN, 0);
		HAS(ends[i].said);
	}
	s = usual();
	s.how = GT_END_NONE;
	s.processes = s.threads = s.killed = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("was killed; 1 process, 1 thread\n");
	HAS_NOT("did not end");
	s.program = NULL;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] 1.84 s, was killed");
}

Test(summary, losses)
{
	struct gt_summary s = usual();

	s.lost[GT_LOSS_SPACE] = 12000;
	s.lost[GT_LOSS_TORN] = 1;
	s.lost[GT_LOSS_REWIND] = 100; /* is none */
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("LOST 12,001 events, which the trace does not have:");
	HAS("     12,000 no room on the disk");
	HAS("          1 were begun but not finished");
	cr_expect(strstr(text, "12,000 no room") < strstr(text, "1 were begun"), "largest first");
	HAS_NOT("other causes");
	/* Every cause at once, also those without a name: the sum of the lines is the total. */
	for (int i = 0; i < GT_LOSS_N; i++)
		s.lost[i] = 10;
	s.unknown_records = 7;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("LOST 147 events");
	HAS("         97 of other causes"); /* 147 - 5 * 10 */
	s = usual();
	s.lost[GT_LOSS_EARLY] = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("LOST 1 event, which");
	s = usual();
	s.unknown_records = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("LOST 1 event");
	HAS("          1 of other causes");
}

Test(summary, shortfalls)
{
	struct gt_summary s = usual();

	s.shortfalls[0] = (struct gt_summary_shortfall){ gt_shortfall_find("PROCESSES_KILLED"), 1, "", true };
	s.shortfalls[1] = (struct gt_summary_shortfall){ gt_shortfall_find("CUDA_FAILED_CALLS"), 3,
							 "cudaMalloc: error 2", false };
	s.shortfalls[2] = (struct gt_summary_shortfall){ gt_shortfall_find("DAMAGED_PARTS"), 1, "", false };
	s.shortfall_count = 3;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] 3 CUDA calls failed; the first: cudaMalloc: error 2\n");
	HAS("[gputrace] 1 part of the recording was damaged\n");
	HAS_NOT("no recorded end"); /* has a line of its own, with more in it */
}

Test(summary, nothing)
{
	struct gt_summary s = usual();

	s.events = 0;
	s.hooks_seen = false;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("NO EVENT WAS RECORDED");
	HAS("not built with gputrace: make CC=gputrace-cc");
	s.lost[GT_LOSS_FILTER] = 5;
	s.hooks_seen = true;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("Everything was filtered");
	s.switched_off = true;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("switched off");
	s.lost[GT_LOSS_SPACE] = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("They were lost");
	HAS("LOST 1 event");
	s = usual();
	s.events = 0;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("NO EVENT WAS RECORDED");
	HAS("taken back");
}

/* Whatever comes, it is one screen. */
Test(summary, one_screen)
{
	enum { MANY = 5000 };
	static char names[MANY][300];
	struct gt_summary s = usual();

	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "f%04d<%0250d>", i, i);
		region(names[i], 1, 10000 - (uint64_t)i, 1, 0.1);
	}
	region("TRACE BUFFER FLUSH", 1, 1, 1, 0.1); /* has a line of its own */
	for (int i = 0; i < GT_LOSS_N; i++)
		s.lost[i] = 5;
	s.closed_frames = s.unresolved = s.killed = 1;
	s.clock_error_ns = 3;
	s.used = (struct gt_used){ .measured = 4, .processor_ns = 1800000000, .processors = 192,
				   .memory_peak = 999000000, .throttled_ns = 99900000000, .quota = 12345 };
	state(1000000000, 999000000);
	print(&s, GT_SUMMARY_PLAIN, 80);
	cr_expect_leq(lines_of(text), 24, "%u lines", lines_of(text));
	for (char *l = text; *l; l = strchr(l, '\n') + 1)
		cr_expect_leq(strcspn(l, "\n"), 80, "%.100s", l);
	HAS("4,997 more functions");
	HAS("f0000<");
	cr_expect_leq(lines_of(print(&s, GT_SUMMARY_PLAIN, 1)), 24);
	cr_expect_leq(lines_of(print(&s, GT_SUMMARY_PLAIN, 1000000)), 24);
}

/* Of threads and GPUs. */
Test(summary, efficiencies)
{
	struct gt_summary s = usual();
	union gt_cell *cells = row(&efficiencies_kind);

	cells[9].text = GT_BLIND_THREADS;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] efficiencies: " GT_BLIND_THREADS "\n");
	HAS_NOT("parallel efficiency");
	cells[9].text = NULL;
	cells[0].number = cells[4].number = 0.5;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("parallel efficiency 50 %: offload 50 %\n");
	cells[0].number = 0.225;
	cells[1].number = 0.9;
	cells[2].number = 0.5;
	cells[5].number = 0.2;
	cells[6].number = 0.8;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("parallel efficiency 22 %: load balance 90 %, communication 50 %, offload 50 %\n");
	HAS("GPU efficiency 20 %: load balance 80 %\n");
	cells[0].number = 0.169;
	cells[3].number = 0.75;
	cells[7].number = cells[8].number = 0.5;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("parallel efficiency 17 %: load balance 90 %, communication 50 %, threads 75 %, offload 50 %\n");
	HAS("GPU efficiency 20 %: load balance 80 %, copies 50 %, orchestration 50 %\n");
}

/* What has no part in the run, as kernels. */
Test(summary, shares)
{
	struct gt_summary s = usual();

	region("kernel", 1, 1, 1, NAN);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("       -  kernel");
}

/* What of the exclusive time is idle, and so not in the share, has a column: only if there is some. */
Test(summary, idle)
{
	struct gt_summary s = usual();

	region("work", 1, 1000, 2000, 0);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("calls  exclusive  inclusive  % of run, function\n");
	region("wait", 2, 904500000, 0, 0.5);
	gt_section_find(&report.figures, "regions")->cells[6 + 3].count = 301500000;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace]       calls  exclusive       idle  inclusive  % of run, function\n"
	    "[gputrace]           1    1.00 us          -    2.00 us   0.0 %  work\n"
	    "[gputrace]           2     904 ms     302 ms       0 ns  50.0 %  wait\n");
}

/* ---- escaping ---------------------------------------------------------------------------------- */

static const char *escape(const char *from, unsigned columns)
{
	static char buffer[256];

	cr_assert_eq(gt_summary_escape(buffer, sizeof(buffer), from, columns), buffer);
	return buffer;
}

Test(summary, escapes)
{
	cr_expect_str_eq(escape("plain", 80), "plain");
	cr_expect_str_eq(escape("", 80), "");
	cr_expect_str_eq(escape("a\033[31mb\n\t\177", 80), "a\\x1b[31mb\\x0a\\x09\\x7f");
	cr_expect_str_eq(escape("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 80),
			 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
	cr_expect_str_eq(escape("\xc2\x9b" "31m", 80), "\\xc2\\x9b31m");       /* CSI as C1 */
	cr_expect_str_eq(escape("a\xe2\x80\xae" "b", 80), "a\\xe2\\x80\\xae" "b"); /* reorders */
	cr_expect_str_eq(escape("\xff\xc3", 80), "\\xff\\xc3");
	cr_expect_str_eq(escape("\xc0\xaf", 80), "\\xc0\\xaf");               /* overlong */
	cr_expect_str_eq(escape("\xed\xa0\x80", 80), "\\xed\\xa0\\x80");      /* surrogate */
	cr_expect_str_eq(escape("\xe2\x82", 80), "\\xe2\\x82");
}

Test(summary, cuts)
{
	char small[8];

	cr_expect_str_eq(escape("0123456789", 10), "0123456789");
	cr_expect_str_eq(escape("0123456789a", 10), "0123...89a");
	cr_expect_str_eq(escape("0123456789abcdef", 9), "012...def");
	cr_expect_str_eq(escape("0123456789", 3), "012");
	cr_expect_str_eq(escape("0123456789", 0), "");
	/* An escape is never cut in half. */
	for (unsigned columns = 0; columns < 40; columns++) {
		const char *e = escape("ab\001\002\003\004cd\005\006\xc3\xbcgh", columns);

		for (const char *c = e; (c = strchr(c, '\\')); c++)
			cr_expect(strspn(c + 2, "0123456789abcdef") >= 2, "%u: %s", columns, e);
	}
	cr_expect_str_eq(gt_summary_escape(small, sizeof(small), "0123456789", 80), "0123456");
	cr_expect_str_eq(gt_summary_escape(small, sizeof(small), "01234\xe2\x82\xac", 80), "01234");
	cr_expect_str_eq(gt_summary_escape(small, sizeof(small), "01234\001", 80), "01234");
}

Test(summary, hostile_names)
{
	struct gt_summary s = usual();

	region("\033]0;pwned\a\r\nx", 1, 1, 1, 1);
	s.program = "\033[2J";
	s.dir = "dir\nname";
	print(&s, GT_SUMMARY_PLAIN, 0);
	for (const char *c = text; *c; c++)
		cr_expect(*c == '\n' || (*c >= 0x20 && *c != 0x7f), "byte %#x", *c);
	HAS("[gputrace] more: gputrace report $'dir\\x0aname'\n");
	s.dir = "/home/jane doe/it's $HOME";
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] trace: /home/jane doe/it's $HOME/traces.otf2\n");
	HAS("[gputrace] more: gputrace report '/home/jane doe/it'\\''s $HOME'\n");
}

/* ---- colour -------------------------------------------------------------------------------------- */

Test(summary, colour)
{
	struct gt_summary s = usual();
	int master, slave;

	s.lost[GT_LOSS_SPACE] = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("\033");
	print(&s, GT_SUMMARY_COLOUR, 0);
	HAS("[gputrace] \033[1;31mLOST");
	for (const char *l = text; *l; l = strchr(l, '\n') + 1)
		cr_expect(!strncmp(l, "[gputrace] ", 11), "every line has the prefix: %.40s", l);

	if (openpty(&master, &slave, NULL, NULL, NULL))
		cr_skip_test("no terminals to be had (a tree without /dev/pts?)");
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	cr_expect_eq(gt_summary_style_for(slave), GT_SUMMARY_COLOUR);
	setenv("NO_COLOR", "", 1); /* as no-color.org says: only if it is not empty */
	cr_expect_eq(gt_summary_style_for(slave), GT_SUMMARY_COLOUR);
	setenv("NO_COLOR", "1", 1);
	cr_expect_eq(gt_summary_style_for(slave), GT_SUMMARY_PLAIN);
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	cr_expect_eq(gt_summary_style_for(slave), GT_SUMMARY_PLAIN);
	unsetenv("TERM");
	cr_expect_eq(gt_summary_style_for(slave), GT_SUMMARY_PLAIN);
	setenv("TERM", "xterm", 1);
	int pipe_ends[2];

	cr_assert_eq(pipe(pipe_ends), 0);
	cr_expect_eq(gt_summary_style_for(pipe_ends[1]), GT_SUMMARY_PLAIN);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	close(master);
	close(slave);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/assemble/report/summary.c: what is said, what is not, and that names are harmless.
 *
 * Limits: the numbers are given; that they are right is tested end to end.
 */
#include "lib/assemble/archive/worker.h"
#include "lib/assemble/report/brief.h"
#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/losses.h"
#include "lib/assemble/util/rules.h"

#include <criterion/criterion.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[65536];

static const char *print(const struct gt_summary *s, enum gt_summary_style style, unsigned width)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	cr_assert(out);
	gt_summary_print(s, out, style, width);
	fclose(out);
	return text;
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

static const struct gt_summary_region three[] = {
	{"little", 1, 1000, 2000, false, false, false, 0, 0, 0, 0, 0},
	{"main", 1, 2000000, 1500000000, false, false, false, 0, 0, 0, 0, 0},
	{"never", 0, 0, 0, false, false, false, 0, 0, 0, 0, 0},
	{"stencil(double*, int)", 16384, 1203000000, 1203000000, false, false, false, 0, 0, 0, 0, 0},
};

static struct gt_summary usual(void)
{
	return (struct gt_summary){
		.dir = "out/dir", .program = "real", .wall_ns = 1841000000, .processes = 4,
		.threads_ns = 1206000000,
		.threads = 8, .events = 41288, .archive_bytes = 1100000, .how = GT_END_EXIT,
		.regions = three, .region_count = 4, .clock_error_ns = -1, .hooks_seen = true};
}

Test(summary, usual)
{
	struct gt_summary s = usual();

	cr_expect_str_eq(
		print(&s, GT_SUMMARY_PLAIN, 0),
		"[gputrace] real: 1.84 s, exit status 0; 4 processes, 8 threads\n"
		"[gputrace] 41,288 events, 1.1 MB\n"
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
	static const struct gt_summary_region regions[] = {
		{"Matrix<double, 64>::multiply_accumulate(Matrix<double, 64> const&, double)",
		 9, 9000000, 9000000, false, false, false, 0, 0, 0, 0, 0},
		{"Matrix<double, 64>::multiply_subtract(Matrix<double, 64> const&, double)",
		 9, 8000000, 8000000, false, false, false, 0, 0, 0, 0, 0},
		{"std::vector<double> advance_particles_on_device<float, 3>(std::vector<double> const&)",
		 9, 7000000, 7000000, false, false, false, 0, 0, 0, 0, 0},
		{"std::vector<double> advance_particles_on_device<float, 4>(std::vector<double> const&)",
		 9, 6000000, 6000000, false, false, false, 0, 0, 0, 0, 0},
	};
	struct gt_summary s = usual();

	s.regions = regions;
	print(&s, GT_SUMMARY_PLAIN, 80);
	HAS("  ...::multiply_accumulate\n");
	HAS("  ...::multiply_subtract\n");
	HAS("t, 3>");
	HAS("t, 4>");
	print(&s, GT_SUMMARY_PLAIN, 120);
	HAS("  Matrix<double, 64>::multiply_accumulate(...)\n");
	HAS("  std::vector<double> advance_particles_on_device<float, 3>(...)\n");
}

/* Ranks of 90, 50, 50 and 50 ms of work, and functions that are recorded for longer than they run. */
Test(summary, use)
{
	struct gt_summary s = usual();

	s.used = (struct gt_used){ .measured = 1, .processor_ns = 3571000000, .processors = 2,
				   .memory_peak = 8200000 };
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] processor: 3.57 s, 97 % of 2 cores   memory: 8.2 MB peak\n");
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

Test(summary, findings)
{
	static const struct gt_summary_region regions[] = {
		{ "tiny", 2000000, 200000000, 400000000, true, false, false, 0, 0, 0, 0, 0 },
		{ "library", 2000000, 200000000, 400000000, false, false, false, 0, 0, 0, 0, 0 },
		{ "pthread_create", 200, 60000000, 60000000, false, false, false, 0, 0, 0, 0, 0 },
	};
	struct gt_summary s = usual();

	s.ranks_of = "MPI";
	s.wall_ns = 1000000000;
	s.regions = regions;
	s.region_count = 3;
	s.balance = (struct gt_balance){ .ranks = 4,
					 .mean_ns = 600000000,
					 .most_ns = 900000000,
					 .most_rank = 2,
					 .longest_ns = 1000000000,
					 .polling_ns = 390000000 };
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] 300 ms to gain: rank 2 works for 900 ms outside of MPI, the ranks on average for 600 "
	    "ms: "
	    "the others wait for it (late-rank)\n"
	    "[gputrace] 60.0 ms to gain: 2,000,000 calls of tiny take 200 ms; recording them costs about "
	    "60.0 ms (costly-function)\n");
	HAS("60.0 ms to gain: 200 threads are created, which takes 60.0 ms: keep them (a pool) "
	    "(thread-creation)");
	HAS_NOT("polling");
	s.used = (struct gt_used){ .measured = 4, .processors = 2 };
	s.balance.polling_ns = 800000000;
	s.made_ns = 200 * 20000000ull;
	s.finding_count = 0;
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("200 ms to gain: 20 % of the ranks' time is spent testing for messages that are not there yet "
	    "(polling)");
	HAS("the others wait for it (4 ranks share 2 cores: it may only have waited for a core) (late-rank)");
	s.balance.polling_ns = 0;
	s.finding_count = 0;
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("thread-creation");
	s.balance.mean_ns = 880000000;
	s.region_count = s.finding_count = 0;
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("to gain");
}

/* What the measurement took, and what to do about it if that is much. */
Test(summary, measurement)
{
	static const struct gt_summary_region regions[] = {
		{ "tiny", 2000000, 200000000, 400000000, true, false, false, 0, 0, 0, 0, 0 },
		{ "script.tiny", 100000, 500000000, 400000000, true, false, true, 0, 0, 0, 0, 0 },
		{ "kernel", 1000, 500000000, 400000000, false, true, false, 0, 0, 0, 0, 0 },
		{ "MPI_Send", 1000, 500000000, 400000000, false, false, false, 0, 0, 0, 0, 0 },
	};
	struct gt_summary s = usual();

	gt_brief(&s);
	cr_expect_eq(s.cost_ns, 16386 * 30);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] 41,288 events, 1.1 MB; measurement: about 492 us, less than 0.1 % of the run\n");
	HAS_NOT("filter suggest");
	s.regions = regions;
	s.flush_ns = 5000000;
	s.lost[GT_LOSS_FILTER] = 1000;
	s.finding_count = 0;
	gt_brief(&s);
	cr_expect_eq(s.cost_ns, 2000000 * 30 + 100000 * 110 + 1000 * 300 + 1000 * 30 + 5000000 + 500 * 2);
	s.threads_ns = 10 * s.cost_ns;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("; measurement: about 76.3 ms, 10 % of the run\n");
	HAS("] more: gputrace report out/dir\n"
	    "[gputrace] fewer events: gputrace filter suggest -o rules out/dir, then VT_FILTER_SPEC=rules\n");
	/* Not for what a filter does not leave out, nor for what is little. */
	s.regions = regions + 2;
	s.region_count = 2;
	s.wall_ns = s.threads_ns = 1000000;
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("filter suggest");
}

/* What nothing recorded saw, and what would see it. */
Test(summary, unseen)
{
	static const struct gt_summary_region regions[] = {
		{ "pthread_cond_wait", 10, 200000000, 400000000, false, false, false, 0, 0, 0, 0, 0 },
		{ "work", 10, 200000000, 400000000, true, false, false, 0, 0, 0, 0, 0 },
		{ "script.work", 10, 200000000, 400000000, true, false, true, 0, 0, 0, 0, 0 },
	};
	struct gt_summary s = usual();

	s.regions = regions;
	s.region_count = 1;
	s.unseen_ns = s.threads_ns / 25;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("outside recorded functions");
	s.unseen_ns = s.threads_ns / 100 * 51;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] 51 % of the threads' time was spent outside recorded functions; to record the program's "
	    "own, build it with gputrace-cc\n");
	s.unseen_setting = "VT_SCRIPT=yes";
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions; VT_SCRIPT=yes records more\n");
	s.region_count = 3;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions\n");
	s.unseen_setting = NULL;
	s.region_count = 2;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("outside recorded functions\n");
}

Test(summary, findings_about_locks_and_files)
{
	struct gt_tally tally = {
		.lock = { .gain_ns = 250000000, .count = 1000, .ns = 500000000, .threads = 2,
			  .address = 0xbeef, .of = "rank 1" },
		.file = { .gain_ns = 40000000, .count = 2000, .ns = 50000000, .bytes = 20000,
			  .write = true, .of = "/tmp/a\033" },
	};
	struct gt_summary s = usual();

	s.wall_ns = 1000000000;
	s.region_count = 0;
	s.tally = &tally;
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("250 ms to gain: 2 threads of rank 1 wait 1,000 times for the lock at 0xbeef, 500 us on average, "
	    "together 500 ms (lock-convoy)");
	HAS("40.0 ms to gain: 2,000 writes of 10 B on average take 50.0 ms: /tmp/a\\x1b (tiny-writes)");
	tally.lock.gain_ns = 99000000;
	tally.file.gain_ns = 19000000;
	s.finding_count = 0;
	gt_brief(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("to gain");
}

/* One device has three times the work of the other, or nearly the same. */
Test(summary, findings_about_several_gpus)
{
	struct gt_device two[2] = { { .kernel_count = 1 }, { .kernel_count = 1 } };
	char names[2][64] = { "GPU A", "GPU B" };
	const struct gt_devices devices = { two, names, 2 };
	struct gt_tally tally = { .events = 1 };
	struct gt_summary s = usual();

	s.wall_ns = 1000000000;
	s.region_count = 0;
	s.gpu_streams = 2;
	s.tally = &tally;
	s.devices = &devices;
	gt_spans_add(&two[0].kernels, 1000, 300001000);
	gt_spans_add(&two[1].kernels, 1000, 900001000);
	gt_brief_devices(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("300 ms to gain: GPU B runs kernels for 900 ms, the GPUs on average for 600 ms "
	    "(unbalanced-gpus)");
	gt_spans_add(&two[0].kernels, 300001000, 600001000);
	s.finding_count = 0;
	gt_brief_devices(&s);
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS_NOT("to gain");
	gt_spans_free(&two[0].kernels);
	gt_spans_free(&two[1].kernels);
}

/* Nothing that was not measured, nothing that did not happen. */
Test(summary, silent_about_what_is_not)
{
	struct gt_summary s = usual();

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
	HAS_NOT("never");
}

Test(summary, everything)
{
	struct gt_summary s = usual();

	s.gpu_streams = 1;
	s.ranks = 2;
	s.ranks_of = "MPI";
	s.recovered = true;
	s.killed = 2;
	s.killed_one = (struct gt_killed){ "yes", 4711, 13 };
	s.how = GT_END_SIGNAL;
	s.status = 11;
	s.closed_frames = 1234;
	s.dropped_leaves = 1;
	s.clamped_times = 2;
	s.unresolved = 3;
	s.clock_error_ns = 35;
	s.lost[GT_LOSS_FILTER] = 1000;
	s.balance = (struct gt_balance){ .ranks = 2,
					 .in_comm = 0.33,
					 .least = { 3, 0.09 },
					 .most = { 0, 0.59 },
					 .mean_ns = 1200000000,
					 .most_ns = 2000000000,
					 .most_rank = 3 };
	s.messages = 1;
	s.message_bytes = 1600000;
	s.collectives = 1200;
	s.serving_threads = 3;
	s.serving_ns = 2500000000;
	s.idle_threads = 8;
	s.idle_ns = 5000000000;
	s.flushes = 2;
	s.flush_ns = 400000;
	s.longest_flush_ns = 377000;
	print(&s, GT_SUMMARY_PLAIN, 0);
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
	HAS("] 1 message with 1.6 MB, 1,200 calls of collectives\n");
	HAS("not in the table: 8 idle threads, which only waited (5.00 s)\n");
	HAS("buffer flushes: 2, 400 us together, longest 377 us (TRACE BUFFER FLUSH)\n");
	HAS_NOT("LOST");
	s.balance.ranks = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("in MPI (without MPI_Init and MPI_Finalize): 33 %\n");
	HAS_NOT("load balance");
	s.messages = 0;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] 1,200 calls of collectives\n");
	HAS_NOT("0 messages");
	s.messages = 2;
	s.collectives = 0;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("] 2 messages with 1.6 MB\n");
	HAS_NOT("collective");
	s.killed = 3;
	s.clock_error_ns = 3000;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("yes [4711] was killed by SIGPIPE (broken pipe), and 1 more process\n");
	HAS("times may be wrong by up to 3.00 us\n");
	HAS_NOT("not all compared");
	s.hosts = 2;
	s.clock_error_ns = -1;
	print(&s, GT_SUMMARY_PLAIN, 0);
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

	s.events = s.region_count = 0;
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

/* Whatever comes, it is one screen, and the order does not depend on the input's. */
Test(summary, one_screen)
{
	enum { MANY = 5000 };
	static struct gt_summary_region regions[MANY];
	static char names[MANY][300];
	struct gt_summary s = usual();
	char first[8192];

	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "f%04d<%0250d>", i, i);
		regions[i] = (struct gt_summary_region){ names[i], 1, 100 + (uint64_t)(i / 3), 1, false,
							 false, false, 0, 0, 0, 0, 0 };
	}
	s.regions = regions;
	s.region_count = MANY;
	for (int i = 0; i < GT_LOSS_N; i++)
		s.lost[i] = 5;
	s.closed_frames = s.unresolved = s.killed = 1;
	s.clock_error_ns = 3;
	s.used = (struct gt_used){ 4, 0, 1800000000, 192, 999000000 };
	print(&s, GT_SUMMARY_PLAIN, 80);
	cr_expect_leq(lines_of(text), 24, "%u lines", lines_of(text));
	for (char *l = text; *l; l = strchr(l, '\n') + 1)
		cr_expect_leq(strcspn(l, "\n"), 80, "%.100s", l);
	HAS("4,995 more functions");
	HAS("f4998<"); /* of three with the same time the first by name */
	strcpy(first, text);
	for (int i = 0; i < MANY / 2; i++) {
		struct gt_summary_region swap = regions[i];

		regions[i] = regions[MANY - 1 - i];
		regions[MANY - 1 - i] = swap;
	}
	cr_expect_str_eq(print(&s, GT_SUMMARY_PLAIN, 80), first);
	cr_expect_leq(lines_of(print(&s, GT_SUMMARY_PLAIN, 1)), 24);
	cr_expect_leq(lines_of(print(&s, GT_SUMMARY_PLAIN, 1000000)), 24);
}

/* Of threads and GPUs. */
Test(summary, efficiencies)
{
	struct gt_summary s = usual();

	s.no_efficiency = GT_BLIND_THREADS;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace] efficiencies: " GT_BLIND_THREADS "\n");
	HAS_NOT("parallel efficiency");
	s.no_efficiency = NULL;
	s.offload = 0.5;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("parallel efficiency 50 %: offload 50 %\n");
	s.load_balance = 0.9;
	s.communication = 0.5;
	s.device_balance = 0.8;
	s.device_parallel = 0.2;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("parallel efficiency 22 %: load balance 90 %, communication 50 %, offload 50 %\n");
	s.rank_threads = 0.75;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("parallel efficiency 17 %: load balance 90 %, communication 50 %, threads 75 %, offload 50 %\n");
	HAS("GPU efficiency 20 %: load balance 80 %\n");
	s.device_copies = 0.5;
	s.device_orchestration = 0.5;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("GPU efficiency 20 %: load balance 80 %, copies 50 %, orchestration 50 %\n");
}

Test(summary, shares)
{
	struct gt_summary s = usual();

	s.threads_ns = 2406000000;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS(" 50.0 %  stencil");
	s.regions = &(const struct gt_summary_region){ .name = "kernel", .calls = 1, .exclusive_ns = 1,
						       .on_device = true };
	s.region_count = 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("       -  kernel");
}

/* What others than the run's threads did has no part in it, and comes last. */
Test(summary, apart)
{
	static const struct gt_summary_region regions[] = {
		{ .name = "waitpid", .calls = 1, .exclusive_ns = 1203000000, .apart_ns = 1203000000 },
		{ .name = "write", .calls = 2, .exclusive_ns = 603000000, .apart_ns = 301500000 },
		{ .name = "little", .calls = 1, .exclusive_ns = 1000 },
	};
	struct gt_summary s = usual();

	s.regions = regions;
	s.region_count = 3;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("           2     603 ms       0 ns  25.0 %  write\n"
	    "[gputrace]           1    1.00 us       0 ns   0.0 %  little\n"
	    "[gputrace]           1     1.20 s       0 ns       -  waitpid\n");
}

/* What of the exclusive time is idle, and so not in the share, has a column: only if there is some. */
Test(summary, idle)
{
	static const struct gt_summary_region regions[] = {
		{ .name = "wait", .calls = 2, .exclusive_ns = 904500000, .apart_ns = 301500000,
		  .idle_ns = 301500000 },
		{ .name = "work", .calls = 1, .exclusive_ns = 1000, .inclusive_ns = 2000 },
	};
	struct gt_summary s = usual();

	s.regions = regions;
	s.region_count = 2;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("[gputrace]       calls  exclusive       idle  inclusive  % of run, function\n"
	    "[gputrace]           2     904 ms     302 ms       0 ns  50.0 %  wait\n"
	    "[gputrace]           1    1.00 us          -    2.00 us   0.0 %  work\n");
	s.region_count = 1;
	s.regions = regions + 1;
	print(&s, GT_SUMMARY_PLAIN, 0);
	HAS("calls  exclusive  inclusive  % of run, function\n");
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
	static const struct gt_summary_region bad[] = {
		{"\033]0;pwned\a\r\nx", 1, 1, 1, false, false, false, 0, 0, 0, 0, 0},
	};
	struct gt_summary s = usual();

	s.regions = bad;
	s.region_count = 1;
	s.program = "\033[2J";
	s.dir = "dir\nname";
	print(&s, GT_SUMMARY_PLAIN, 0);
	for (const char *c = text; *c; c++)
		cr_expect(*c == '\n' || (*c >= 0x20 && *c != 0x7f), "byte %#x", *c);
	HAS("[gputrace] more: gputrace report dir\\x0aname\n");
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

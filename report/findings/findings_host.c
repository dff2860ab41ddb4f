/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about ranks, threads, locks and files.
 *
 * Limits: each rule says in gputrace-findings(7) what it looks at, and when it stays silent.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"
#include "report/findings/suggest.h"
#include "report/sections/samples.h"
#include "report/sections/states.h"

#include <stdlib.h>
#include <string.h>

static const struct gt_profile *profile_of(const struct gt_report *report)
{
	return gt_report_result(report, &gt_profile_analysis);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Of a section that has one row. */
static const union gt_cell *only_row(const struct gt_report *report, const char *key)
{
	const struct gt_section *section = gt_section_find(&report->figures, key);

	return section && section->rows ? section->cells : NULL;
}

/* ---- ranks --------------------------------------------------------------------------------------- */

struct gt_ranks gt_ranks_measure(const struct gt_report *report)
{
	struct gt_ranks ranks = {0};

	for (uint32_t i = 0; i < report->classes.process_count; i++) {
		const struct gt_process_class *process = &report->classes.processes[i];
		const struct gt_profile_location *of;
		uint64_t life, mpi;

		if (process->rank == GT_NO_RANK || process->main == GT_NO_DEVICE)
			continue;
		of = &profile_of(report)->locations[process->main];
		life = gt_profile_life(of) - of->classes[GT_CLASS_MPI_SETUP] - of->times[GT_TIME_MEASUREMENT];
		mpi = of->times[GT_TIME_MPI] - of->classes[GT_CLASS_MPI_SETUP];
		ranks.count++;
		ranks.sum += life - mpi;
		ranks.longest = life > ranks.longest ? life : ranks.longest;
		if (life - mpi < ranks.most && ranks.count > 1)
			continue;
		ranks.most = life - mpi;
		ranks.last = process->main;
	}
	return ranks;
}

/* The region of the program's in which one location is furthest above the mean. */
static uint32_t most_uneven(const struct gt_report *report, uint32_t location)
{
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count, found = count;
	uint64_t most = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_profile_region *region = &profile_of(report)->regions[i];
		uint64_t above;

		if (!region->calls || region->most_location != location ||
		    gt_class_times[report->classes.regions[i]] == GT_TIME_MPI ||
		    gt_class_times[report->classes.regions[i]] == GT_TIME_MEASUREMENT)
			continue;
		above = region->location_most - region->exclusive / region->locations;
		if (above > most) {
			most = above;
			found = i;
		}
	}
	return found;
}

static bool is_even(const struct gt_ranks *ranks, uint64_t most)
{
	return (double)ranks->sum / (double)ranks->count * 100 >=
	       gt_threshold(GT_FINDING_LATE_RANK) * (double)most;
}

static bool balanced(const struct gt_ranks *ranks)
{
	return is_even(ranks, ranks->most);
}

/* What the last rank waited for a processor outside of MPI, at most; GT_NO_COUNT: not known. */
static uint64_t ready_of_last(const struct gt_report *report, const struct gt_ranks *ranks)
{
	struct gt_thread_states states;

	if (!gt_states_of(report, ranks->last, &states))
		return GT_NO_COUNT;
	return states.ready < ranks->most ? states.ready : ranks->most;
}

/* Where nothing of the late rank's own is recorded: others' longest call of MPI. */
static void set_longest_in_mpi(const struct gt_report *report, uint32_t late, struct gt_finding *finding)
{
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count;

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_profile_region *region = &profile_of(report)->regions[i];
		enum gt_class class = (enum gt_class)report->classes.regions[i];

		if (gt_class_times[class] != GT_TIME_MPI || class == GT_CLASS_MPI_SETUP ||
		    !region->calls || region->most_on == late || region->most <= finding->length)
			continue;
		finding->length = region->most;
		finding->time = region->most_begin;
	}
}

/* Is it known that no rank was ready, and had no processor, for more than a twentieth of its time? */
static bool none_was_ready(const struct gt_report *report)
{
	for (uint32_t i = 0; i < report->classes.process_count; i++) {
		const struct gt_process_class *process = &report->classes.processes[i];
		struct gt_thread_states states;

		if (process->rank == GT_NO_RANK || process->main == GT_NO_DEVICE)
			continue;
		if (!gt_states_of(report, process->main, &states) ||
		    states.ready + states.unknown > states.life / 20)
			return false;
	}
	return true;
}

/*
 * Ranks that wait for a processor look as if they worked: this comes first unless it is known that the late
 * one, or any of equal ones, does not.
 */
static const char *share_first(struct gt_report *report, const struct gt_ranks *ranks, const char *advice)
{
	double processors = gt_report_property(report, "GPUTRACE::PROCESSORS");
	uint64_t ready = ready_of_last(report, ranks);

	if (!balanced(ranks) && ready != GT_NO_COUNT) {
		if (!is_even(ranks, ranks->most - ready))
			return advice;
		return gt_figures_text(&report->figures, "give each rank a processor; then %s", advice);
	}
	if (!(processors > 0 && processors < (double)ranks->count) ||
	    (balanced(ranks) && none_was_ready(report)))
		return advice;
	return gt_figures_text(&report->figures,
			       "give each rank a processor: %s share %s, and a rank that waits for one "
			       "looks as if it worked; then %s",
			       gt_said(report, ranks->count, GT_COUNT),
			       gt_said(report, (uint64_t)processors, GT_COUNT), advice);
}

/* "; ...": what the late rank did when others waited for it; "" if there are too few samples. */
static const char *sampled_then(struct gt_report *report, uint32_t late, struct gt_meanwhile *found)
{
	bool *only, some;
	struct gt_spans when;

	*found = (struct gt_meanwhile){ .samples = 0 };
	if (!gt_samples_of(report))
		return "";
	when = gt_report_kept_waiting(report, late);
	only = gt_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1, sizeof(*only));
	only[late] = true;
	some = gt_samples_meanwhile(report, only, &when, found);
	free(only);
	gt_spans_free(&when);
	return some ? gt_figures_text(&report->figures, "; while they do, it has %s",
				      gt_meanwhile_said(report, found)) : "";
}

static void late_rank(struct gt_report *report, const struct gt_ranks *ranks)
{
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count;
	uint32_t uneven = balanced(ranks) ? count : most_uneven(report, ranks->last);
	uint64_t mean = ranks->sum / ranks->count;
	struct gt_finding finding = { .id = GT_FINDING_LATE_RANK, .gain = ranks->most - mean,
				      .location = gt_report_location(report, ranks->last),
				      .region = 1 + uneven, .time = GT_NO_COUNT };
	uint64_t ready = ready_of_last(report, ranks);
	bool waits = ready != GT_NO_COUNT && ready > ranks->most / 20;
	struct gt_meanwhile sampled;
	const char *said;

	if (balanced(ranks))
		return;
	said = sampled_then(report, ranks->last, &sampled);
	if (uneven == count)
		finding.where = sampled.path;
	if (uneven < count) {
		finding.time = profile_of(report)->regions[uneven].location_begin;
		finding.length = profile_of(report)->regions[uneven].location_call;
	} else {
		set_longest_in_mpi(report, ranks->last, &finding);
	}
	finding.advice = share_first(report, ranks, "divide the work so that all ranks have the same");
	gt_finding_add(report, &finding,
		   "%s %s for %s%s, the ranks on average for %s: the others wait for it%s%s%s",
		   gt_report_location(report, ranks->last), waits ? "is outside of MPI" : "works",
		   gt_said(report, ranks->most, GT_SECONDS), waits ? "" : " outside of MPI",
		   gt_said(report, mean, GT_SECONDS),
		   waits ? "; of that it waits for a processor for up to " : "",
		   waits ? gt_said(report, ready, GT_SECONDS) : "", said);
}

/* The collective, or barrier, with the most time. */
static uint32_t top_collective(struct gt_report *report)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint32_t none = (uint32_t)report->read->tables[GT_OTF2_REGION].count;
	uint32_t top = gt_class_top(report, GT_CLASS_MPI_COLLECTIVE);
	uint32_t barrier = gt_class_top(report, GT_CLASS_MPI_BARRIER);

	if (top == none || barrier == none)
		return top == none ? barrier : top;
	return profile->regions[barrier].exclusive > profile->regions[top].exclusive ? barrier : top;
}

static void n_x_n(struct gt_report *report, const struct gt_ranks *ranks)
{
	uint64_t time = gt_class_time(report, GT_CLASS_MPI_COLLECTIVE) +
			gt_class_time(report, GT_CLASS_MPI_BARRIER);
	uint64_t calls = gt_class_calls(report, GT_CLASS_MPI_COLLECTIVE) +
			 gt_class_calls(report, GT_CLASS_MPI_BARRIER);

	if (!balanced(ranks) || calls < GT_SOME_COLLECTIVES * ranks->count ||
	    percent(time / ranks->count, ranks->longest) < gt_threshold(GT_FINDING_NXN))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_NXN,
			   .gain = time / ranks->count,
			   .region = 1 + top_collective(report),
			   .time = GT_NO_COUNT,
			   .advice = share_first(report, ranks, "fewer collectives with more data each, or "
						 "non-blocking ones with work meanwhile; if the section of "
						 "waits names them, let the ranks arrive together") },
		   "%.0f %% of the ranks' time is in collectives, %s calls of %s on average, though the "
		   "ranks have equal work",
		   percent(time / ranks->count, ranks->longest), gt_said(report, calls, GT_COUNT),
		   gt_said(report, time / calls, GT_SECONDS));
}

static uint64_t point_to_point(struct gt_report *report)
{
	return gt_class_time(report, GT_CLASS_MPI_SEND) + gt_class_time(report, GT_CLASS_MPI_RECV) +
	       gt_class_time(report, GT_CLASS_MPI_SENDRECV) + gt_class_time(report, GT_CLASS_MPI_START) +
	       gt_class_time(report, GT_CLASS_MPI_WAIT);
}

/* The first region of that name; the number of regions if there is none. */
static uint32_t region_named(const struct gt_report *report, const char *name)
{
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count, i = 0;

	while (name && i < count && strcmp(gt_report_region_name(report, i), name))
		i++;
	return name ? i : count;
}

static void tiny_messages(struct gt_report *report, const struct gt_ranks *ranks)
{
	const struct gt_section *sizes = gt_section_find(&report->figures, "messages.sizes");
	uint64_t tiny = 0, all = 0, bytes = 0, most = 0, time = point_to_point(report);
	const char *call = NULL;

	for (size_t i = 0; sizes && i < sizes->rows; i++) {
		const union gt_cell *row = sizes->cells + i * sizes->kind->column_count;

		all += row[2].count;
		if ((double)row[1].count >= gt_threshold(GT_FINDING_TINY_MESSAGES)) {
			time -= row[3].count * GT_NS_OF_BYTE < time ? row[3].count * GT_NS_OF_BYTE : time;
			continue;
		}
		tiny += row[2].count;
		bytes += row[3].count;
		if (row[2].count > most) {
			most = row[2].count;
			call = row[7].text;
		}
	}
	if (tiny < GT_MANY_MESSAGES * ranks->count || !gt_at_least(tiny, GT_MOST_MESSAGES, all))
		return;
	gt_finding_add(
		report,
		&(struct gt_finding){ .id = GT_FINDING_TINY_MESSAGES,
				      .gain = time / ranks->count,
				      .where = call,
				      .region = 1 + region_named(report, call),
				      .time = GT_NO_COUNT,
				      .advice = "pack what goes to the same rank into one message" },
		"%s of %s messages are tiny, %s on average, and each rank spends about %s sending and "
		"receiving them",
		gt_said(report, tiny, GT_COUNT), gt_said(report, all, GT_COUNT),
		gt_said(report, bytes / tiny, GT_BYTES), gt_said(report, time / ranks->count, GT_SECONDS));
}

static void polling(struct gt_report *report, const struct gt_ranks *ranks)
{
	uint64_t time = gt_class_time(report, GT_CLASS_MPI_TEST);

	if (percent(time / ranks->count, ranks->longest) < gt_threshold(GT_FINDING_POLLING))
		return;
	gt_finding_add(
		report,
		&(struct gt_finding){
			.id = GT_FINDING_POLLING,
			.gain = time / ranks->count,
			.region = 1 + gt_class_top(report, GT_CLASS_MPI_TEST),
			.time = GT_NO_COUNT,
			.advice = "MPI_Wait or MPI_Probe where there is nothing else to do; otherwise work "
				  "between two tests" },
		"%.0f %% of the ranks' time is spent testing for messages that are not there yet",
		percent(time / ranks->count, ranks->longest));
}

/* ---- threads and locks --------------------------------------------------------------------------- */

/* Threads that wait for one lock. */
struct convoy {
	uint64_t threads, waits, ns, begin, longest;
};

static bool is_convoy(const struct gt_report *report, const struct convoy *of, uint64_t least)
{
	return gt_is_convoy(of->waits, least, of->threads, of->ns, gt_threshold(GT_FINDING_LOCK_CONVOY),
			    report->duration);
}

/* Many short waits; or waits of any length of threads that wait for each other, as if they were one. */
static bool find_convoy(const struct gt_report *report, const union gt_cell *row, struct convoy *found)
{
	const struct convoy small = { row[GT_LOCK_THREADS].count, row[GT_LOCK_SHORT].count,
				      row[GT_LOCK_SHORT_NS].count, row[GT_LOCK_SHORT_BEGIN].count,
				      row[GT_LOCK_SHORT_LONGEST].count };
	const struct convoy turns = { row[GT_LOCK_TURNS_THREADS].count, row[GT_LOCK_TURNS].count,
				      row[GT_LOCK_TURNS_NS].count, row[GT_LOCK_TURNS_BEGIN].count,
				      row[GT_LOCK_TURNS_LONGEST].count };

	*found = is_convoy(report, &small, GT_MANY_WAITS) ? small : turns;
	return is_convoy(report, found, GT_SOME_TURNS);
}

static void lock_convoys(struct gt_report *report)
{
	const struct gt_section *locks = gt_section_find(&report->figures, "locks");

	for (size_t i = 0; locks && i < locks->rows; i++) {
		const union gt_cell *row = locks->cells + i * locks->kind->column_count;
		const char *in = row[GT_LOCK_HOLDER_REGION].text, *name = row[GT_LOCK_NAME].text;
		struct convoy convoy;

		if (!find_convoy(report, row, &convoy))
			continue;
		gt_finding_add(report,
			   &(struct gt_finding){
				   .id = GT_FINDING_LOCK_CONVOY,
				   .gain = convoy.ns / convoy.threads,
				   .location = row[GT_LOCK_HOLDER].text,
				   .where = in && strcmp(in, "?") ? in : NULL,
				   .time = convoy.begin,
				   .length = convoy.longest,
				   .advice = 2 * row[GT_LOCK_KNOWN_NS].count >= row[GT_LOCK_WAITED].count
						     ? "hold the lock for less, or divide what it protects"
						     : "hold the lock for less, or divide what it protects; "
						       "VT_PTHREAD_LOCKS=all shows who holds it" },
			   "%s threads of %s wait %s times for %s%s, %s on average, together %s",
			   gt_said(report, convoy.threads, GT_COUNT), row[GT_LOCK_PROCESS].text,
			   gt_said(report, row[GT_LOCK_WAITS].count, GT_COUNT),
			   strncmp(name, "lock", 4) ? "the lock at " : "", name,
			   gt_said(report, row[GT_LOCK_WAITED].count / row[GT_LOCK_WAITS].count, GT_SECONDS),
			   gt_said(report, row[GT_LOCK_WAITED].count, GT_SECONDS));
	}
}

/* The mean life of threads that are not the first of their process. */
static uint64_t mean_life(const struct gt_report *report, uint64_t *count)
{
	uint64_t sum = 0;

	*count = 0;
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_profile_location *of = &profile_of(report)->locations[i];

		if (report->classes.locations[i].kind != GT_LOCATION_THREAD)
			continue;
		sum += gt_profile_life(of);
		++*count;
	}
	return *count ? sum / *count : 0;
}

static void thread_creation(struct gt_report *report)
{
	uint64_t calls = gt_class_calls(report, GT_CLASS_THREAD_CREATE), locations;
	uint64_t time = gt_class_time(report, GT_CLASS_THREAD_CREATE);
	uint64_t life = mean_life(report, &locations);
	uint64_t mean = calls && locations ? life * locations / calls : 0; /* locations are used again */

	if ((double)calls < gt_threshold(GT_FINDING_THREAD_CREATION) || mean > GT_SHORT_LIFE)
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_THREAD_CREATION,
			   .gain = time,
			   .region = 1 + gt_class_top(report, GT_CLASS_THREAD_CREATE),
			   .time = GT_NO_COUNT,
			   .advice = "keep threads, and give them work (a pool)" },
		   "%s threads are created that live for %s on average; creating them takes %s",
		   gt_said(report, calls, GT_COUNT), gt_said(report, mean, GT_SECONDS),
		   gt_said(report, time, GT_SECONDS));
}

/* ---- files and functions ------------------------------------------------------------------------- */

/* Requests and answers on sockets, and what wakes a thread, cannot be put together. */
static bool can_be_larger(const struct gt_sum *sum)
{
	return sum->key[0] != GT_FILES_SOCKETS && sum->key[0] != GT_FILES_OTHERS &&
	       (sum->key[0] != GT_FILES_PIPES || sum->bytes > sum->count);
}

static void tiny_file(struct gt_report *report, const struct gt_sum *sum, const char *what)
{
	const struct gt_otf2_io_file *file = gt_otf2_find_io_file(report->read, sum->key[0]);
	struct gt_file_place place = gt_files_place(report, sum);

	if (sum->count < GT_MANY_OPERATIONS || !can_be_larger(sum) ||
	    (double)sum->bytes / (double)sum->count >= gt_threshold(GT_FINDING_TINY_WRITES))
		return;
	gt_finding_add(
		report,
		&(struct gt_finding){ .id = GT_FINDING_TINY_WRITES,
				      .gain = place.ns,
				      .location = gt_report_location(report, place.location),
				      .where = file ? file->name : "pipes",
				      .time = place.time,
				      .length = place.length,
				      .advice = "collect them in a buffer, and pass it on when it is full" },
		"%s %s of %s on average take %s", gt_said(report, sum->count, GT_COUNT), what,
		gt_said(report, (sum->bytes + sum->count / 2) / sum->count, GT_BYTES),
		gt_said(report, sum->ns, GT_SECONDS));
}

static void tiny_files(struct gt_report *report)
{
	const struct gt_sums *sums = gt_files_sums(report);

	for (uint32_t i = 0; sums && i < sums->count; i++) {
		const struct gt_sum *sum = &sums->items[i];

		if (sum->key[2])
			continue;
		if (sum->key[1] == OTF2_IO_OPERATION_MODE_READ)
			tiny_file(report, sum, "reads");
		if (sum->key[1] == OTF2_IO_OPERATION_MODE_WRITE)
			tiny_file(report, sum, "writes");
	}
}

static void costly_functions(struct gt_report *report)
{
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count, top = count;
	uint64_t calls = 0, functions = 0, ns = 0, cost = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_profile_region *region = &profile_of(report)->regions[i];
		const struct gt_otf2_region *of = gt_otf2_region_at(report->read, i);

		if (!gt_suggest_can(of) || region->calls < GT_MANY_CALLS ||
		    (double)region->inclusive / (double)region->calls >=
			    gt_threshold(GT_FINDING_COSTLY_FUNCTION))
			continue;
		calls += region->calls;
		ns += region->exclusive;
		cost += region->calls * gt_cost_of_call(of->file);
		functions++;
		if (top == count || region->calls > profile_of(report)->regions[top].calls)
			top = i;
	}
	if (!functions)
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_COSTLY_FUNCTION,
			   .gain = cost,
			   .region = 1 + top,
			   .time = GT_NO_COUNT,
			   .advice = "gputrace filter suggest, and VT_FILTER_SPEC in the next run" },
		   "%s calls of %s that tell little take %s; recording them costs about %s",
		   gt_said(report, calls, GT_COUNT), functions == 1 ? "a function" : "functions",
		   gt_said(report, ns, GT_SECONDS), gt_said(report, cost, GT_SECONDS));
}

/* Finds time of the measurement itself: others may have waited for it. */
static void flushes(struct gt_report *report)
{
	const struct gt_otf2_region *of;

	for (uint32_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++) {
		const struct gt_profile_region *region = &profile_of(report)->regions[i];

		of = gt_otf2_region_at(report->read, i);
		if (report->classes.regions[i] != GT_CLASS_MEASUREMENT || !region->calls ||
		    !strstr(of->name, "FLUSH") ||
		    percent(region->location_most, report->duration) < gt_threshold(GT_FINDING_FLUSHES))
			continue;
		gt_finding_add(report,
			   &(struct gt_finding){
				   .id = GT_FINDING_FLUSHES,
				   .gain = region->location_most,
				   .location = gt_report_location(report, region->most_location),
				   .where = of->name,
				   .time = region->location_begin,
				   .length = region->location_call,
				   .advice = "record less (gputrace filter suggest), to a faster disk "
					     "(VT_PFORM_LDIR), or into memory for all (VT_BUFFER_SIZE)" },
			   "%s writes what it has recorded to the disk for %s, which is the measurement's "
			   "time and not the program's: so is what others waited for it meanwhile",
			   gt_report_location(report, region->most_location),
			   gt_said(report, region->location_most, GT_SECONDS));
	}
}

void gt_findings_host(struct gt_report *report)
{
	struct gt_ranks ranks = gt_ranks_measure(report);

	if (ranks.count > 1 && only_row(report, "efficiencies")) {
		late_rank(report, &ranks);
		if (!gt_findings_serialised(report))
			n_x_n(report, &ranks);
		tiny_messages(report, &ranks);
		polling(report, &ranks);
	}
	lock_convoys(report);
	thread_creation(report);
	tiny_files(report);
	flushes(report);
	costly_functions(report);
}

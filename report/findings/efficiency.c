/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Efficiencies, as defined in gputrace-metrics(7): those of the POP centre of excellence for ranks and
 * threads, those of TALP for GPUs. Each is a factor of the one above it.
 *
 * Limits: time in which nothing was recorded counts as useful as far as the thread was not blocked; "seen"
 * says how much was not like that. Where that is not known and next to nothing was recorded, there are no
 * efficiencies of threads.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"
#include "report/findings/lanes.h"
#include "report/model/rules.h"
#include "report/sections/gpu.h"
#include "report/sections/profile.h"
#include "report/sections/samples.h"
#include "report/sections/states.h"

#include <math.h>
#include <stdlib.h>

#define LITTLE_SEEN 0.1

struct ranks {
	uint64_t count;
	double busy;          /* of the ranks' mean lanes, summed up: useful, and with their GPUs */
	uint64_t sum, most;   /* outside of MPI, or in the lane that was busy for longer */
	uint64_t longest;     /* life without MPI_Init, MPI_Finalize and measurement */
	bool blind;           /* one waits for threads of which next to nothing is known */
};

static const struct gt_column columns[] = {
	{ "parallel_efficiency", "parallel efficiency", GT_SHARE },
	{ "load_balance", "  load balance", GT_SHARE },
	{ "communication_efficiency", "  communication efficiency", GT_SHARE },
	{ "thread_efficiency", "  thread efficiency", GT_SHARE },
	{ "offload_efficiency", "  offload efficiency", GT_SHARE },
	{ "device_parallel_efficiency", "GPU parallel efficiency", GT_SHARE },
	{ "device_load_balance", "  GPU load balance", GT_SHARE },
	{ "device_copy_efficiency", "  GPU copy efficiency", GT_SHARE },
	{ "device_orchestration_efficiency", "  GPU orchestration efficiency", GT_SHARE },
	{ "lanes", NULL, GT_COUNT },
	{ "seen", "time that was seen", GT_SHARE },
	{ "had_processor", "had a processor when ready", GT_SHARE },
	{ "left_out", NULL, GT_TEXT }, /* why; text has it as a note */
};
static const struct gt_section_kind efficiencies_kind =
	GT_SECTION("efficiencies", "Efficiencies", GT_OBJECT, columns);

static uint64_t without(uint64_t whole, uint64_t part)
{
	return part < whole ? whole - part : 0;
}

static uint64_t on_device(const struct gt_profile_location *of)
{
	return of->times[GT_TIME_DEVICE] + of->times[GT_TIME_GPU_CALL];
}

/* Nothing is known of it. A thread of OpenMP's is idle between two parallel regions. */
static uint64_t unseen(const struct gt_profile_location *of)
{
	return of->in_teams ? 0 : gt_profile_unseen(of);
}

/*
 * It read or wrote what others do, too, and was blocked, beside its other waits: it waited for them.
 * states: NULL if not known.
 */
static uint64_t blocked(struct gt_report *report, size_t location, const struct gt_profile_location *of,
			const struct gt_thread_states *states)
{
	uint64_t channels = gt_files_channels(report, location);
	uint64_t most = states ? without(states->blocked + states->unknown, of->times[GT_TIME_WAIT])
			       : channels;

	return channels < most ? channels : most;
}

/* In what was recorded. */
static uint64_t useful(const struct gt_profile_location *of, uint64_t blocked)
{
	return without(of->times[GT_TIME_USEFUL] + of->times[GT_TIME_IO], blocked);
}

/*
 * Of the time of which nothing was recorded it worked as long as it was not blocked, as a server is in
 * epoll_wait(): by its samples there, each with its part of the waits for a processor. With few or none, as
 * long as it was not blocked beyond what it did in recorded functions, and what it must have run in other
 * calls: these were not blocked for longer than the thread. What else ran in them, in waits that spin, is not
 * known then.
 */
static uint64_t unseen_work(struct gt_report *report, size_t location, const struct gt_profile_location *of,
			    const struct gt_thread_states *states)
{
	uint64_t calls = of->times[GT_TIME_IO] + of->times[GT_TIME_WAIT] + of->times[GT_TIME_MPI] +
			 of->times[GT_TIME_DEVICE] + of->times[GT_TIME_GPU_CALL];
	uint64_t able = states->running + states->ready + states->unknown;
	uint64_t rest = without(without(able, of->times[GT_TIME_USEFUL]), without(calls, states->blocked));
	uint64_t outside = gt_samples_outside(report, location, states->running);

	if (outside != GT_NO_COUNT && states->running)
		rest = (uint64_t)((double)outside * (1 + (double)states->ready / (double)states->running));
	return rest > unseen(of) ? unseen(of) : rest;
}

/* ---- lanes --------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b, void *context)
{
	const struct gt_profile_location *of = context;
	uint64_t x = of[*(const size_t *)a].begin, y = of[*(const size_t *)b].begin;

	return (x > y) - (x < y);
}

static struct gt_lane *lane_for(struct gt_lane_list *lanes, uint32_t process,
				const struct gt_profile_location *of)
{
	struct gt_lane *lane = lanes->items;

	for (; lane < lanes->items + lanes->count; lane++)
		if (lane->process == process && lane->end <= of->begin)
			return lane;
	*lane = (struct gt_lane){ .process = process, .begin = of->begin,
				  .location = GT_NO_DEVICE };
	lanes->count++;
	return lane;
}

static struct gt_lane_list make_lanes(struct gt_report *report, const struct gt_profile *profile)
{
	size_t count = report->read->tables[GT_OTF2_LOCATION].count, used = 0;
	size_t *order = gt_resized(NULL, count, sizeof(*order));
	struct gt_lane_list lanes = { .items = gt_zeroed(count + 1, sizeof(*lanes.items)) };

	for (size_t i = 0; i < count; i++)
		if (report->classes.locations[i].kind <= GT_LOCATION_THREAD && profile->locations[i].events)
			order[used++] = i;
	if (used)
		qsort_r(order, used, sizeof(*order), by_begin, profile->locations);
	for (size_t i = 0; i < used; i++) {
		const struct gt_profile_location *of = &profile->locations[order[i]];
		struct gt_lane *lane = lane_for(&lanes, report->classes.locations[order[i]].process, of);
		struct gt_thread_states states;
		bool known = gt_states_of(report, order[i], &states);
		uint64_t work = known ? unseen_work(report, order[i], of, &states) : unseen(of);
		uint64_t waits = blocked(report, order[i], of, known ? &states : NULL);

		if (useful(of, waits) + work > lane->longest) {
			lane->longest = useful(of, waits) + work;
			lane->location = (uint32_t)order[i];
		}
		lane->main |= report->classes.locations[order[i]].kind == GT_LOCATION_MAIN;
		lane->end = of->end;
		lane->life += gt_profile_life(of);
		lane->guessed |= !known;
		lane->running += states.running;
		lane->ready += states.ready;
		lane->waiting += of->times[GT_TIME_WAIT] + waits + unseen(of) - work;
		lane->idle += of->idle;
		lane->useful += useful(of, waits) + work;
		lane->device += on_device(of);
		lane->unseen += unseen(of);
	}
	free(order);
	return lanes;
}

/* Is it a rank, or a thread of MPI's own, of which next to nothing is recorded? */
static bool of_ranks(const struct gt_lane *lane, const struct gt_classes *classes)
{
	return classes->processes[lane->process].rank != GT_NO_RANK &&
	       (lane->main || !gt_profile_blank(lane->life, lane->unseen));
}

/* As compilers that make starts do: such processes are no workers that should be there all the time. */
static bool comes_and_goes(const struct gt_report *report, const struct gt_profile *profile, uint32_t process)
{
	uint32_t main = report->classes.processes[process].main;

	return report->classes.live > 1 && main != GT_NO_DEVICE &&
	       profile->locations[main].end - profile->locations[main].begin < report->duration / 2;
}

/*
 * Threads that only wait, or mostly for work, are idle: they are no lane. What started the ranks is no part
 * of their work.
 */
static void drop_idle(const struct gt_report *report, const struct gt_profile *profile,
		      struct gt_lane_list *lanes)
{
	bool ranks = report->classes.ranks > 1;
	size_t kept = 0;

	for (size_t i = 0; i < lanes->count; i++) {
		const struct gt_lane *lane = &lanes->items[i];

		if (lane->waiting <= lane->life / 100 * 95 && (ranks || !gt_serves(lane->idle, lane->life)) &&
		    (ranks ? of_ranks(lane, &report->classes)
			   : !comes_and_goes(report, profile, lane->process)))
			lanes->items[kept++] = *lane;
	}
	lanes->count = kept;
}

struct gt_lane_list gt_lanes_of(struct gt_report *report)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	struct gt_lane_list lanes = make_lanes(report, profile);

	drop_idle(report, profile, &lanes);
	return lanes;
}

/* ---- hosts --------------------------------------------------------------------------------------- */

/* How many threads of each process are blank, apart from those that only wait. */
static unsigned *count_blank(const struct gt_report *report, const struct gt_profile *profile)
{
	unsigned *blank = gt_zeroed(report->classes.process_count + 1, sizeof(*blank));

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_profile_location *of = &profile->locations[i];

		if (report->classes.locations[i].kind == GT_LOCATION_THREAD && of->events)
			blank[report->classes.locations[i].process] +=
				gt_profile_blank(gt_profile_life(of), unseen(of));
	}
	return blank;
}

/* How many lanes the rank has is returned. */
static unsigned measure_rank(const struct gt_lane_list *lanes, uint32_t process, uint64_t outside,
			     struct ranks *ranks)
{
	double busy = 0;
	unsigned count = 0;

	for (size_t i = 0; i < lanes->count; i++) {
		const struct gt_lane *lane = &lanes->items[i];

		if (lane->process != process)
			continue;
		busy += (double)(lane->useful + lane->device);
		if (lane->useful + lane->device > outside)
			outside = lane->useful + lane->device;
		count++;
	}
	ranks->busy += count ? busy / count : 0;
	ranks->count++;
	ranks->sum += outside;
	ranks->most = outside > ranks->most ? outside : ranks->most;
	return count;
}

static struct ranks measure_ranks(struct gt_report *report, const struct gt_profile *profile,
				  const struct gt_lane_list *lanes)
{
	struct ranks ranks = {0};
	unsigned *blank = count_blank(report, profile);

	for (uint32_t i = 0; i < report->classes.process_count; i++) {
		const struct gt_process_class *process = &report->classes.processes[i];
		const struct gt_profile_location *of = profile->locations;
		uint64_t life;
		unsigned lanes_of;

		if (process->rank == GT_NO_RANK || process->main == GT_NO_DEVICE)
			continue;
		of += process->main;
		life = without(gt_profile_life(of), of->times[GT_TIME_MEASUREMENT]);
		lanes_of = measure_rank(lanes, i, without(life, of->times[GT_TIME_MPI]), &ranks);
		ranks.blind |= lanes_of == 1 && blank[i] &&
			       of->times[GT_TIME_WAIT] > gt_profile_life(of) / 100 * 5;
		life = without(life, of->classes[GT_CLASS_MPI_SETUP]);
		ranks.longest = life > ranks.longest ? life : ranks.longest;
	}
	free(blank);
	/* Other threads may have been busy while the main ones were in MPI_Init. */
	ranks.longest = ranks.most > ranks.longest ? ranks.most : ranks.longest;
	return ranks;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* Returns false if the efficiencies of threads are left out. */
static bool host(struct gt_report *report, const struct gt_lane_list *lanes, const struct ranks *ranks,
		 union gt_cell *row)
{
	double useful_sum = 0, both = 0, most = 0, life = 0, unseen = 0, n = (double)lanes->count;
	double running = 0, ready = 0;
	bool guessed = false;

	for (size_t i = 0; i < lanes->count; i++) {
		const struct gt_lane *lane = &lanes->items[i];

		useful_sum += (double)lane->useful;
		both += (double)(lane->useful + lane->device);
		most = fmax(most, (double)(lane->useful + lane->device));
		life += (double)lane->life;
		unseen += (double)lane->unseen;
		guessed |= lane->guessed;
		running += (double)lane->running;
		ready += (double)lane->ready;
	}
	row[9].count = lanes->count;
	if (!guessed)
		row[11].number = ratio(running, running + ready);
	row[10].number = ratio(life - unseen, life);
	if (ranks->count < 2 ? lanes->count > 1 && guessed && row[10].number < LITTLE_SEEN
			     : ranks->blind)
		return false;
	if (ranks->count > 1) {
		row[1].number = ratio((double)ranks->sum / (double)ranks->count, (double)ranks->most);
		row[2].number = ratio((double)ranks->most, (double)ranks->longest);
		row[3].number = ratio(ranks->busy, (double)ranks->sum);
	} else if (lanes->count > 1) {
		row[1].number = ratio(both / n, most);
		row[2].number = ratio(most, (double)report->duration);
	}
	if (report->classes.gpu)
		row[4].number = ratio(useful_sum, both);
	for (unsigned i = 1; i <= 4; i++)
		if (!isnan(row[i].number))
			row[0].number = isnan(row[0].number) ? row[i].number : row[0].number * row[i].number;
	return true;
}

/* ---- GPUs ---------------------------------------------------------------------------------------- */

static void devices(struct gt_report *report, union gt_cell *row)
{
	const struct gt_gpu *gpu = gt_report_result(report, &gt_gpu_analysis);
	double sum = 0, kernels = 0, busy = 0;

	if (!gpu || !report->duration)
		return;
	for (uint32_t i = 0; i < gpu->device_count; i++) {
		sum += (double)gpu->devices[i].kernels.total;
		kernels = fmax(kernels, (double)gpu->devices[i].kernels.total);
		busy = fmax(busy, (double)gt_device_busy(&gpu->devices[i]));
	}
	if (!busy)
		return; /* nothing of theirs was recorded */
	row[5].number = sum / gpu->device_count / (double)report->duration;
	row[6].number = ratio(sum / gpu->device_count, kernels);
	row[7].number = ratio(kernels, busy);
	row[8].number = busy / (double)report->duration;
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_section *section = gt_section_add(&report->figures, &efficiencies_kind);
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	struct gt_lane_list lanes = gt_lanes_of(report);
	struct ranks ranks;

	(void)result;
	ranks = measure_ranks(report, profile, &lanes);
	if (lanes.count > 1 || report->classes.gpu) {
		union gt_cell *row = gt_row_add(section);

		if (lanes.count && !host(report, &lanes, &ranks, row))
			row[12].text = section->note = ranks.count > 1 ? GT_BLIND_RANKS : GT_BLIND_THREADS;
		devices(report, row);
	}
	free(lanes.items);
}

const struct gt_analysis gt_efficiency_analysis = { .name = "efficiency", .figures = figures };

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds threads that use a processor to wait: in recorded waits, and in calls that they try
 * again and again. By samples of call stacks; where there are too few, by what the scheduler has counted:
 * a thread that ran for longer than it was outside of its recorded waits has run in these.
 *
 * Limits: a loop that looks at a variable is work like any other, but for the calls in it. Of a loop that
 * tries, only the calls count, not what lies between them.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"
#include "report/sections/samples.h"
#include "report/sections/states.h"

#include <math.h>
#include <stdlib.h>

/* How a thread waits. */
struct spinning {
	uint64_t ns, runtimes; /* of a processor; of these: where a runtime uses one by design */
	uint64_t samples;      /* GT_SAMPLES_FEW or more; 0: by what the scheduler has counted */
	double squares;
	uint64_t region;       /* if it is by that: 1 + the one with the longest waits */
};

static const struct gt_profile_location *profile_of(const struct gt_report *report, size_t location)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);

	return &profile->locations[location];
}

static bool is_thread(const struct gt_report *report, size_t location)
{
	return report->classes.locations[location].kind <= GT_LOCATION_THREAD;
}

/* ---- by samples ---------------------------------------------------------------------------------- */

static void add_samples(struct gt_report *report, struct spinning *threads)
{
	const struct gt_stack_sums *all = gt_samples_of(report);

	for (uint32_t i = 0; all && i < all->waiting.count; i++) {
		const struct gt_sum *one = &all->waiting.items[i];
		struct spinning *of = &threads[one->key[GT_WAITING_LOCATION]];

		of->ns += one->ns;
		of->runtimes += one->key[GT_WAITING_RUNTIME] ? one->ns : 0;
		of->samples += one->count;
		of->squares += one->squares;
	}
}

/* Of a location's samples: the value of a key with most of their time, among those of a region, if given. */
static struct gt_sum most_of(struct gt_report *report, size_t location, const uint64_t *region,
			     enum gt_waiting_keys key)
{
	const struct gt_sums *waiting = &gt_samples_of(report)->waiting;
	struct gt_sums sums = { .count = 0 };
	struct gt_sum most = { .ns = 0 };

	for (uint32_t i = 0; i < waiting->count; i++) {
		const struct gt_sum *one = &waiting->items[i];

		if (one->key[GT_WAITING_LOCATION] == location &&
		    (!region || one->key[GT_WAITING_REGION] == *region))
			gt_sum_join(gt_sums_at(&sums, one->key[key], 0, 0, 0), one);
	}
	for (uint32_t i = 0; i < sums.count; i++)
		if (sums.items[i].ns >= most.ns)
			most = sums.items[i];
	gt_sums_free(&sums);
	return most;
}

/* ---- by what the scheduler has counted ----------------------------------------------------------- */

static uint64_t waited(const struct gt_profile_location *of)
{
	return of->times[GT_TIME_WAIT] + of->times[GT_TIME_DEVICE] + of->times[GT_TIME_MPI] -
	       of->classes[GT_CLASS_MPI_SETUP];
}

/* The region of the class in which it waited for longest, or the number of regions. */
static uint64_t longest_waits(struct gt_report *report, size_t location)
{
	const struct gt_profile_location *of = profile_of(report, location);
	enum gt_class most = GT_CLASS_CODE;
	bool runtime;

	for (unsigned class = 0; class < GT_CLASSES; class++) {
		uint32_t top = gt_class_top(report, class);

		if (gt_samples_waits(report, top, &runtime) &&
		    (most == GT_CLASS_CODE || of->classes[class] > of->classes[most]))
			most = class;
	}
	return most == GT_CLASS_CODE ? report->read->tables[GT_OTF2_REGION].count
				     : gt_class_top(report, most);
}

static void count_running(struct gt_report *report, size_t location, struct spinning *of)
{
	uint64_t in_waits = waited(profile_of(report, location)), outside;
	struct gt_thread_states states;
	bool runtime = false;

	*of = (struct spinning){ .ns = 0 };
	if (!in_waits || !gt_states_of(report, location, &states))
		return;
	outside = states.life > in_waits ? states.life - in_waits : 0;
	if (states.running <= outside)
		return;
	of->ns = states.running - outside;
	of->region = 1 + longest_waits(report, location);
	gt_samples_waits(report, of->region - 1, &runtime);
	of->runtimes = runtime ? of->ns : 0;
}

/* ---- the finding --------------------------------------------------------------------------------- */

/* For how long a thread of a location's host waited for a processor at most. */
static uint64_t *wanted_on(const struct gt_report *report, struct gt_sums *hosts, size_t location)
{
	uint32_t process = report->classes.locations[location].process;

	return &gt_sums_at(hosts, process < report->classes.process_count
				  ? report->classes.processes[process].group->parent
				  : GT_OTF2_NOTHING, 0, 0, 0)->most;
}

static struct gt_sums all_wanted(const struct gt_report *report)
{
	struct gt_sums hosts = { .count = 0 };

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		uint64_t *most = wanted_on(report, &hosts, i);
		struct gt_thread_states states;

		if (gt_states_of(report, i, &states) && states.ready > *most)
			*most = states.ready;
	}
	return hosts;
}

/* The run's possible gain: the time that spinning runtimes take from others. */
static uint64_t gain_of(const struct gt_report *report, struct gt_sums *hosts, size_t location,
			const struct spinning *of)
{
	uint64_t wanted = *wanted_on(report, hosts, location);

	return of->ns - of->runtimes + (wanted < of->runtimes ? wanted : of->runtimes);
}

static const char *advice(const struct gt_report *report, uint64_t region)
{
	enum gt_time time = GT_TIME_WAIT;
	bool runtime = false;

	if (gt_samples_waits(report, region, &runtime))
		time = (enum gt_time)gt_class_times[report->classes.regions[region]];
	if (time == GT_TIME_MPI)
		return "give each rank a processor, or let MPI yield it (Open MPI: mpi_yield_when_idle)";
	if (time == GT_TIME_DEVICE)
		return "let the runtime block (CUDA: cudaDeviceScheduleBlockingSync), or work meanwhile";
	if (runtime)
		return "OMP_WAIT_POLICY=passive, or fewer threads";
	return "wait in a call that blocks, such as pthread_cond_wait or poll with a time limit";
}

/* "; so do 3 more threads, together for 2.1 s" */
static const char *others(struct gt_report *report, uint64_t count, uint64_t ns)
{
	if (!count)
		return "";
	return gt_figures_text(&report->figures, "; so %s %s more, together for %s",
			       count == 1 ? "does" : "do", gt_said(report, count, GT_COUNT),
			       gt_said(report, ns, GT_SECONDS));
}

static void say_sampled(struct gt_report *report, size_t location, const struct spinning *of,
			struct gt_finding *finding, const char *more)
{
	struct gt_sum region = most_of(report, location, NULL, GT_WAITING_REGION),
		      context = most_of(report, location, &region.key[0], GT_WAITING_CONTEXT);
	uint64_t function = context.key[0] ? gt_samples_function(report, gt_otf2_context_at(
						     report->read, context.key[0] - 1)) : region.key[0];
	double share = (double)region.ns / (double)of->ns;

	finding->region = 1 + (uint32_t)region.key[0];
	finding->where = gt_samples_path(report, function, context.key[0]);
	finding->advice = advice(report, region.key[0]);
	gt_finding_add(report, finding,
		       "%s uses a processor for %s to wait (%s samples), %.0f %% (+- %.0f %%) of it in %s%s",
		       finding->location, gt_said(report, of->ns, GT_SECONDS),
		       gt_said(report, of->samples, GT_COUNT), 100 * share,
		       ceil(gt_samples_interval(share, (double)of->ns * (double)of->ns / of->squares)),
		       gt_report_region_name(report, region.key[0]), more);
}

static void say_counted(struct gt_report *report, size_t location, const struct spinning *of,
			struct gt_finding *finding, const char *more)
{
	finding->region = (uint32_t)of->region;
	finding->advice = advice(report, of->region - 1);
	gt_finding_add(report, finding, "%s uses a processor for at least %s of the %s that it waits, most "
		       "of it in %s%s", finding->location, gt_said(report, of->ns, GT_SECONDS),
		       gt_said(report, waited(profile_of(report, location)), GT_SECONDS),
		       gt_report_region_name(report, of->region - 1), more);
}

/* Those of a run that spin, and the one with the most to gain. */
struct spinners {
	uint64_t count, ns, gain;
	size_t top;
};

static struct spinners find(struct gt_report *report, struct spinning *threads)
{
	double least = gt_threshold(GT_FINDING_SPINS) / 100 * (double)report->duration;
	struct gt_sums hosts = all_wanted(report);
	struct spinners found = { .count = 0 };

	add_samples(report, threads);
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		uint64_t gain;

		if (!is_thread(report, i))
			continue;
		if (threads[i].samples < GT_SAMPLES_FEW)
			count_running(report, i, &threads[i]);
		if (!threads[i].ns || (double)threads[i].ns < least)
			continue;
		gain = gain_of(report, &hosts, i, &threads[i]);
		if (!found.count++ || gain > found.gain) {
			found.gain = gain;
			found.top = i;
		}
		found.ns += threads[i].ns;
	}
	gt_sums_free(&hosts);
	return found;
}

void gt_findings_spins(struct gt_report *report)
{
	size_t count = report->read->tables[GT_OTF2_LOCATION].count;
	struct spinning *threads = gt_zeroed(count + 1, sizeof(*threads)), *of;
	struct spinners found = find(report, threads);
	struct gt_finding finding = { .id = GT_FINDING_SPINS, .gain = found.gain, .time = GT_NO_COUNT };

	of = &threads[found.top];
	if (found.count) {
		const char *more = others(report, found.count - 1, found.ns - of->ns);

		finding.location = gt_report_location(report, found.top);
		(of->samples ? say_sampled : say_counted)(report, found.top, of, &finding, more);
	}
	free(threads);
}

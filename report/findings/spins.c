/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds threads that use a processor to wait: in recorded calls that wait, and to yield the processor again
 * and again. By samples of call stacks; where there are too few, by what the scheduler has counted: a thread
 * that ran for longer than it was outside of its recorded waits has run in these.
 *
 * Limits: a loop that looks at a variable, or tries to get a lock, is work like any other, since nothing says
 * whether it got what it wanted. Of a loop that yields, only these calls count, not what lies between them.
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
	uint64_t samples;      /* GT_SAMPLES_FEW or more; 0: by what the scheduler has counted, at least */
	double squares;
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

/* In calls that wait; of `only`: in those of a class that has something of a runtime. */
static uint64_t waited(const struct gt_profile_location *of, const bool *only)
{
	uint64_t ns = 0;

	for (unsigned class = 0; class < GT_CLASSES; class++)
		if (gt_samples_waits(of, class) && (!only || only[class]))
			ns += of->classes[class];
	return ns;
}

static void find_runtimes(const struct gt_report *report, bool runtimes[GT_CLASSES])
{
	for (size_t i = 0; i < report->read->tables[GT_OTF2_REGION].count; i++)
		if (gt_samples_runtime(report, i))
			runtimes[report->classes.regions[i]] = true;
}

static void count_running(const struct gt_report *report, size_t location, const bool *runtimes,
			  struct spinning *of)
{
	const struct gt_profile_location *profile = profile_of(report, location);
	uint64_t in_waits = waited(profile, NULL), by_design = waited(profile, runtimes), outside;
	struct gt_thread_states states;

	*of = (struct spinning){ .ns = 0 };
	if (!in_waits || !gt_states_of(report, location, &states))
		return;
	outside = states.life > in_waits ? states.life - in_waits : 0;
	if (states.running <= outside)
		return;
	of->ns = states.running - outside < in_waits ? states.running - outside : in_waits;
	of->runtimes = by_design < of->ns ? by_design : of->ns;
}

/*
 * The region in which it was for so long that it must have run there for more than half of the time; their
 * number: that is not known of any. Of a region, the thread with the longest time in it is known.
 */
static uint32_t counted_region(const struct gt_report *report, size_t location, const struct spinning *of)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	const struct gt_profile_location *own = &profile->locations[location];
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count;
	uint64_t all = waited(own, NULL);

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_profile_region *region = &profile->regions[i];

		if (region->locations && region->most_location == location &&
		    gt_samples_waits(own, report->classes.regions[i]) &&
		    all < of->ns / 2 + region->location_most)
			return i;
	}
	return count;
}

/* ---- the finding --------------------------------------------------------------------------------- */

/* Of a location's host: for how long a thread waited for a processor at `most`, its location in `bytes`, and
 * for how long one of the others did, in `ns`. */
static struct gt_sum *host_of(const struct gt_report *report, struct gt_sums *hosts, size_t location)
{
	uint32_t process = report->classes.locations[location].process;

	return gt_sums_at(hosts, process < report->classes.process_count
				 ? report->classes.processes[process].group->parent
				 : GT_OTF2_NOTHING, 0, 0, 0);
}

static struct gt_sums all_wanted(const struct gt_report *report)
{
	struct gt_sums hosts = { .count = 0 };

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		struct gt_sum *host = host_of(report, &hosts, i);
		struct gt_thread_states states;

		if (!gt_states_of(report, i, &states))
			continue;
		if (states.ready > host->most) {
			host->ns = host->most;
			host->most = states.ready;
			host->bytes = i;
		} else if (states.ready > host->ns) {
			host->ns = states.ready;
		}
	}
	return hosts;
}

/*
 * The run's possible gain: the time that spinning runtimes take from others. Others may wait for a processor
 * for other reasons, too, and when they did is not asked: of their time it is the part that the thread spins
 * for of the run.
 */
static uint64_t gain_of(const struct gt_report *report, struct gt_sums *hosts, size_t location,
			const struct spinning *of)
{
	const struct gt_sum *host = host_of(report, hosts, location);
	double share = report->duration ? fmin(1, (double)of->ns / (double)report->duration) : 0;
	uint64_t wanted = (uint64_t)(share * (double)(host->bytes == location ? host->ns : host->most));

	return of->ns - of->runtimes + (wanted < of->runtimes ? wanted : of->runtimes);
}

static const char *advice(const struct gt_report *report, uint64_t region)
{
	enum gt_time time;

	if (region >= report->read->tables[GT_OTF2_REGION].count)
		return "samples of call stacks say in which: gputrace run --sample";
	time = (enum gt_time)gt_class_times[report->classes.regions[region]];
	if (time == GT_TIME_MPI)
		return "give each rank a processor, or let MPI yield it (Open MPI: mpi_yield_when_idle)";
	if (time == GT_TIME_DEVICE)
		return "let the runtime block (CUDA: cudaDeviceScheduleBlockingSync), or work meanwhile";
	if (gt_samples_runtime(report, region))
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
		       "%s uses a processor for %s in calls that wait (%s samples), "
		       "%.0f %% (+- %.0f %%) of it in %s%s",
		       finding->location, gt_said(report, of->ns, GT_SECONDS),
		       gt_said(report, of->samples, GT_COUNT), 100 * share,
		       ceil(gt_samples_interval(share, (double)of->ns * (double)of->ns / of->squares)),
		       gt_report_region_name(report, region.key[0]), more);
}

static void say_counted(struct gt_report *report, size_t location, const struct spinning *of,
			struct gt_finding *finding, const char *more)
{
	uint32_t region = counted_region(report, location, of);
	bool known = region < report->read->tables[GT_OTF2_REGION].count;

	finding->region = known ? 1 + region : 0;
	finding->advice = advice(report, region);
	gt_finding_add(report, finding, "%s uses a processor for at least %s of its %s in calls that wait"
		       "%s%s%s", finding->location, gt_said(report, of->ns, GT_SECONDS),
		       gt_said(report, waited(profile_of(report, location), NULL), GT_SECONDS),
		       known ? ", most of it in " : "", known ? gt_report_region_name(report, region) : "",
		       more);
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
	bool runtimes[GT_CLASSES] = { false };

	find_runtimes(report, runtimes);
	add_samples(report, threads);
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		uint64_t gain;

		if (!is_thread(report, i))
			continue;
		if (threads[i].samples < GT_SAMPLES_FEW)
			count_running(report, i, runtimes, &threads[i]);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about threads that could run, and had no processor: there are more of them than processors, others
 * have the processors, or a quota has been used up. A thread waits only while all processors are in use, so
 * that there are bounds for whose they were, whenever that was:
 * - for what was runnable beyond one thread for each processor, the number of threads is the reason;
 * - other threads of the run can have filled the processors for no longer than their running time, by
 *   processors: what a thread waited beyond that is not of the run's making.
 *
 * Limits: of one host, and whole archives by gputrace. That threads have been bound to some of the run's
 * processors is not known, nor a quota of a group that its container does not see.
 */
#include "config.h"

#include "report/findings/findings.h"
#include "report/sections/states.h"

/* Of all threads of a run whose states are known, ns. */
struct demand {
	double processors;
	uint64_t running, ready;  /* sums; running: also of threads and programs that were not recorded */
	uint64_t span;            /* from the first one's begin to the last one's end */
	uint64_t throttled;
	uint64_t longest;         /* what one thread was ready, at most: */
	size_t waiter;            /* this one */
	uint64_t able;            /* running and ready, of recorded threads */
};

static uint64_t without(uint64_t whole, uint64_t part)
{
	return part < whole ? whole - part : 0;
}

/* A property that is a number; 0: it is not there. */
static uint64_t number(const struct gt_report *report, const char *name)
{
	double value = gt_report_property(report, name);

	return value > 0 ? (uint64_t)value : 0;
}

static bool one_host(const struct gt_report *report)
{
	const struct gt_classes *classes = &report->classes;
	uint64_t host = GT_OTF2_NOTHING;

	for (uint32_t i = 0; i < classes->process_count; i++) {
		if (classes->processes[i].main == GT_NO_DEVICE)
			continue;
		if (host != GT_OTF2_NOTHING && classes->processes[i].group->parent != host)
			return false;
		host = classes->processes[i].group->parent;
	}
	return true;
}

static struct demand demand_of(const struct gt_report *report)
{
	struct demand all = { .processors = gt_report_property(report, "GPUTRACE::PROCESSORS"),
			      .throttled = number(report, "GPUTRACE::THROTTLED_NS"),
			      .span = report->duration };
	uint64_t used = number(report, "GPUTRACE::PROCESSOR_TIME_NS");
	struct gt_thread_states states;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		if (!gt_states_of(report, i, &states))
			continue;
		all.running += states.running;
		all.ready += states.ready;
		all.span = states.life > all.span ? states.life : all.span;
		if (states.ready > all.longest) {
			all.longest = states.ready;
			all.waiter = i;
		}
	}
	all.able = all.running + all.ready;
	all.running = used > all.running ? used : all.running;
	return all;
}

/* "55 %", of the time in which threads could run */
static double share(const struct demand *all, uint64_t ns)
{
	return all->able ? 100 * (double)ns / (double)all->able : 0;
}

static const char *said_processors(struct gt_report *report, const struct demand *all)
{
	return gt_figures_text(&report->figures, "%.0f processor%s", all->processors,
			       all->processors == 1 ? "" : "s");
}

/* More threads can run than there are processors. What fewer of them would take is not known. */
static void oversubscription(struct gt_report *report, const struct demand *all)
{
	double room = all->processors * (double)all->span, beyond = (double)all->able - room;

	if (!(beyond > 0) || share(all, (uint64_t)beyond) < gt_threshold(GT_FINDING_OVERSUBSCRIPTION))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_OVERSUBSCRIPTION,
			   .gain = GT_NO_COUNT,
			   .time = GT_NO_COUNT,
			   .advice = "start as many threads, or ranks, as there are processors, or give the "
				     "run more processors; how much shorter it would be is not known" },
		   "on average %.1f of the run's threads could run at once, and it has %s: for that alone "
		   "they wait at least %s, %.0f %% of the time in which they could run",
		   (double)all->able / (double)all->span, said_processors(report, all),
		   gt_said(report, (uint64_t)beyond, GT_SECONDS), share(all, (uint64_t)beyond));
}

/* What a thread waited while neither the run's other threads nor a quota can have been the reason. */
static uint64_t lost_to_others(const struct demand *all, const struct gt_thread_states *states)
{
	uint64_t filled = (uint64_t)((double)without(all->running, states->running) / all->processors);

	return without(states->ready, filled + all->throttled);
}

static void starvation(struct gt_report *report, const struct demand *all)
{
	uint64_t sum = 0, most = 0;
	size_t who = 0;

	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		struct gt_thread_states states;
		uint64_t lost = gt_states_of(report, i, &states) ? lost_to_others(all, &states) : 0;

		sum += lost;
		if (lost > most) {
			most = lost;
			who = i;
		}
	}
	if (share(all, sum) < gt_threshold(GT_FINDING_STARVATION) ||
	    !gt_at_least(most, gt_threshold(GT_FINDING_STARVATION), report->duration))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_STARVATION,
			   .gain = most,
			   .location = gt_report_location(report, who),
			   .time = GT_NO_COUNT,
			   .advice = "measure on processors that no other program uses; if nothing else runs "
				     "on them, look for threads that are bound to the same one, or for a "
				     "quota of the container's" },
		   "threads wait %s for a processor, %.0f %% of the time in which they could run; for at "
		   "least %s of it, it is not the run's own threads that fill its %s",
		   gt_said(report, all->ready, GT_SECONDS), share(all, all->ready),
		   gt_said(report, sum, GT_SECONDS), said_processors(report, all));
}

/* The group has used up what it may: it is throttled on each processor by itself, with all that are in it. */
static void quota(struct gt_report *report, const struct demand *all)
{
	double cores = gt_report_property(report, "GPUTRACE::QUOTA_MILLICORES") / 1000;
	uint64_t gain = all->throttled < all->longest ? all->throttled : all->longest;

	if (!(cores > 0) || !gt_at_least(gain, gt_threshold(GT_FINDING_QUOTA), report->duration))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_QUOTA,
			   .gain = gain,
			   .location = gt_report_location(report, all->waiter),
			   .time = GT_NO_COUNT,
			   .advice = "a larger quota (cpu.max of its cgroup, or its container's CPU limit), "
				     "or no more threads than it has cores" },
		   "the run's group of processes is throttled for %s by its quota of %g %s; threads wait %s "
		   "for a processor, %.0f %% of the time in which they could run",
		   gt_said(report, all->throttled, GT_SECONDS), cores, cores == 1 ? "core" : "cores",
		   gt_said(report, all->ready, GT_SECONDS), share(all, all->ready));
}

void gt_findings_processors(struct gt_report *report)
{
	struct demand all = demand_of(report);

	/* States are of the whole run. */
	if (!all.able ||
	    gt_otf2_find_owned(report->read, GT_OTF2_KINDS, GT_OTF2_NOTHING, "GPUTRACE::SLICE_TIME"))
		return;
	quota(report, &all);
	if (!(all.processors > 0) || !one_host(report))
		return;
	oversubscription(report, &all);
	starvation(report, &all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about the threads of one process that do not share the work evenly: one is late, one stage limits
 * the others, or the first one works alone.
 *
 * Limits: threads that live and wait for work while another one works alone are not seen to wait for that. Of
 * who works for longest, time without a processor is no work, if that is known; of the others it may be some.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"
#include "report/findings/lanes.h"
#include "report/sections/states.h"

#include <stdlib.h>

/* Threads of the process with the lane that works for longest. */
struct team {
	const struct gt_lane *last; /* that lane */
	uint64_t count, sum, most, second, others_end;
	uint64_t waits, locks;      /* of the others, for what threads hand over, and for locks */
	uint64_t alone, before;     /* of the first thread: without others, and of that before these began */
	uint64_t at_once;           /* the most others that live at the same time */
	uint64_t lives, lived, longest; /* how many others there are, how long they live, and one of them */
};

enum { SOME_LIVES = 3 }; /* that may be meant to follow one another */
enum { SHARES = 20 };    /* less than that part is next to nothing */

/* A thread begins, or ends. */
struct edge {
	uint64_t time;
	bool begins;
};

static const struct gt_profile *profile_of(const struct gt_report *report)
{
	return gt_report_result(report, &gt_profile_analysis);
}

static uint64_t without(uint64_t whole, uint64_t part)
{
	return part < whole ? whole - part : 0;
}

/* ---- when only the first thread lives ------------------------------------------------------------- */

static bool is_other(const struct gt_report *report, size_t location, uint32_t process)
{
	return report->classes.locations[location].kind == GT_LOCATION_THREAD &&
	       report->classes.locations[location].process == process &&
	       profile_of(report)->locations[location].events;
}

static void put_life(struct edge *edges, size_t *count, uint64_t begin, uint64_t end)
{
	if (end <= begin)
		return;
	edges[(*count)++] = (struct edge){ begin, true };
	edges[(*count)++] = (struct edge){ end, false };
}

/* One that begins when another ends follows it. */
static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->begins - y->begins;
}

static struct edge *edges_of(const struct gt_report *report, uint32_t process, size_t *count)
{
	size_t locations = report->read->tables[GT_OTF2_LOCATION].count, room = 0;
	struct edge *edges;

	for (size_t i = 0; i < locations; i++)
		if (is_other(report, i, process))
			room += 2 + 2 * profile_of(report)->locations[i].lives.count;
	edges = gt_resized(NULL, room + 1, sizeof(*edges));
	for (size_t i = 0; i < locations; i++) {
		const struct gt_profile_location *of = &profile_of(report)->locations[i];
		uint64_t begin = of->begin;

		if (!is_other(report, i, process))
			continue;
		for (size_t k = 0; k < of->lives.count; k++) {
			put_life(edges, count, begin, of->lives.absences[k].begin);
			begin = of->lives.absences[k].end;
		}
		put_life(edges, count, begin, of->end);
	}
	if (*count)
		qsort(edges, *count, sizeof(*edges), by_time);
	return edges;
}

/* Of threads that live one after another. */
static void add_life(struct team *team, uint64_t since, uint64_t until)
{
	team->lives++;
	team->lived += until - since;
	team->longest = until - since > team->longest ? until - since : team->longest;
}

/* The first thread is `main`. */
static void find_alone(const struct gt_report *report, struct team *team, uint32_t main)
{
	uint32_t process = team->last->process;
	const struct gt_profile_location *of = &profile_of(report)->locations[main];
	size_t count = 0;
	struct edge *edges = edges_of(report, process, &count);
	uint64_t live = 0, since = of->begin;

	for (size_t i = 0; i < count; i++) {
		if (edges[i].begins && !live++) {
			team->alone += without(edges[i].time, since);
		} else if (!edges[i].begins && !--live) {
			add_life(team, edges[i - 1].time, edges[i].time);
			since = edges[i].time;
		}
		team->at_once = live > team->at_once ? live : team->at_once;
	}
	if (count) {
		team->alone += without(of->end, since);
		team->before = without(edges[0].time, of->begin);
	}
	free(edges);
}

/* ---- who works for how long ----------------------------------------------------------------------- */

static void add_waits(const struct gt_report *report, struct team *team)
{
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++) {
		const uint64_t *classes = profile_of(report)->locations[i].classes;
		const struct gt_location_class *here = &report->classes.locations[i];

		if (i != team->last->location && here->process == team->last->process &&
		    here->kind <= GT_LOCATION_THREAD) {
			team->waits += classes[GT_CLASS_CONDITION] + classes[GT_CLASS_SEMAPHORE] +
				       classes[GT_CLASS_BARRIER];
			team->locks += classes[GT_CLASS_LOCK];
		}
	}
}

/* Does it do next to nothing but wait for the end of others? It shares no work with them. */
static bool is_supervisor(const struct gt_report *report, uint32_t location)
{
	const struct gt_profile_location *of = &profile_of(report)->locations[location];

	return gt_serves(of->classes[GT_CLASS_THREAD_JOIN] + of->classes[GT_CLASS_PROCESS],
			 gt_profile_life(of));
}

static bool supervises(const struct gt_report *report, const struct gt_lane *lane)
{
	return lane->location != GT_NO_DEVICE && is_supervisor(report, lane->location);
}

/* What it works while others live. */
static uint64_t work_beside(const struct team *team, const struct gt_lane *lane)
{
	return without(lane->useful, lane->main ? team->alone : 0);
}

/* Does nearly all that it works belong to the time when it is alone? Then it shares none with others. */
static bool is_alone(const struct team *team, const struct gt_lane *lane)
{
	return lane->main && work_beside(team, lane) < lane->useful / SHARES;
}

/* The lane that works for longest, and of its process the one that does while others live. */
static void find_last(const struct gt_report *report, const struct gt_lane_list *lanes, struct team *team)
{
	uint32_t main;

	for (size_t i = 0; i < lanes->count; i++)
		if (lanes->items[i].useful > team->last->useful)
			team->last = &lanes->items[i];
	main = report->classes.processes[team->last->process].main;
	if (main == GT_NO_DEVICE)
		return;
	find_alone(report, team, main);
	for (size_t i = 0; i < lanes->count; i++)
		if (lanes->items[i].process == team->last->process &&
		    work_beside(team, &lanes->items[i]) > work_beside(team, team->last))
			team->last = &lanes->items[i];
}

static struct team team_of(const struct gt_report *report, const struct gt_lane_list *lanes)
{
	struct team team = { .last = lanes->items };

	find_last(report, lanes, &team);
	for (size_t i = 0; i < lanes->count; i++) {
		const struct gt_lane *lane = &lanes->items[i];
		uint64_t work = work_beside(&team, lane);

		if (lane->process != team.last->process ||
		    (lane != team.last && (supervises(report, lane) || is_alone(&team, lane))))
			continue;
		work = without(work, lane == team.last ? lane->ready : 0);
		team.count++;
		team.sum += work;
		if (lane == team.last) {
			team.most = work;
			continue;
		}
		team.second = work > team.second ? work : team.second;
		team.others_end = lane->end > team.others_end ? lane->end : team.others_end;
	}
	add_waits(report, &team);
	return team;
}

/* The function of the program's own in which a location is furthest above the mean; `own`: nobody else's. */
static uint32_t uneven_of(const struct gt_report *report, uint32_t location, bool own, uint64_t *above)
{
	uint32_t count = (uint32_t)report->read->tables[GT_OTF2_REGION].count, found = count;

	*above = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_profile_region *region = &profile_of(report)->regions[i];
		enum gt_time time = (enum gt_time)gt_class_times[report->classes.regions[i]];
		uint64_t more;

		if (!region->calls || region->most_location != location || (own && region->locations > 1) ||
		    (time != GT_TIME_USEFUL && time != GT_TIME_IO))
			continue;
		more = region->locations > 1
			       ? region->location_most - region->exclusive / region->locations
			       : region->exclusive;
		if (more > *above) {
			*above = more;
			found = i;
		}
	}
	return found;
}

/* ---- rules ---------------------------------------------------------------------------------------- */

/* Is the balance of the team below the threshold, so that it is a finding? */
static bool is_uneven(const struct team *team, enum gt_finding_id id)
{
	return team->count > 1 &&
	       (double)team->sum / (double)team->count * 100 < gt_threshold(id) * (double)team->most;
}

/* How long it works on after the others have ended. */
static uint64_t alone_at_end(const struct team *team)
{
	return team->others_end ? without(team->last->end, team->others_end) : 0;
}

/* "; ...": why the others do not work meanwhile. */
static const char *said_of_others(struct gt_report *report, const struct team *team, enum gt_finding_id id)
{
	if (id == GT_FINDING_TAIL)
		return gt_figures_text(&report->figures, "; it goes on for %s after the others have ended",
				       gt_said(report, alone_at_end(team), GT_SECONDS));
	return team->waits >= (team->most - team->second) / 2 ? "; others wait for it" : "";
}

/* It does the same as others for longer. */
static void late_thread(struct gt_report *report, const struct team *team, uint32_t region)
{
	uint64_t mean = team->sum / team->count;
	bool tail = 2 * alone_at_end(team) >= team->most - mean;
	struct gt_finding finding = { .id = tail ? GT_FINDING_TAIL : GT_FINDING_LATE_THREAD,
				      .gain = team->most - mean,
				      .location = gt_report_location(report, team->last->location),
				      .region = 1 + region, .time = GT_NO_COUNT,
				      .advice = "divide the work so that all threads have the same, or into "
						"small parts that threads take when they are free" };

	if (is_uneven(team, finding.id))
		gt_finding_add(report, &finding,
			       "%s works for %s, the %s threads that work on average for %s%s",
			       finding.location, gt_said(report, team->most, GT_SECONDS),
			       gt_said(report, team->count, GT_COUNT), gt_said(report, mean, GT_SECONDS),
			       said_of_others(report, team, finding.id));
}

/* It does what no other thread does: a stage, if others hand over to each other. */
static void own_work(struct gt_report *report, const struct team *team, uint32_t region)
{
	uint64_t gain = without(team->most, team->second);
	bool tail = 2 * alone_at_end(team) >= gain;
	struct gt_finding finding = { .id = team->waits >= gain / 2 ? GT_FINDING_LIMITING_STAGE
					    : tail ? GT_FINDING_TAIL : GT_FINDING_LATE_THREAD,
				      .gain = gain,
				      .location = gt_report_location(report, team->last->location),
				      .region = 1 + region, .time = GT_NO_COUNT,
				      .advice = "make it quicker, or let several threads do it" };

	if (is_uneven(team, finding.id))
		gt_finding_add(report, &finding, "%s works for %s, %s for at most %s; only it calls %s%s",
			       finding.location, gt_said(report, team->most, GT_SECONDS),
			       team->count > 2 ? "each other thread" : "the other thread that works",
			       gt_said(report, team->second, GT_SECONDS),
			       gt_report_region_name(report, region),
			       said_of_others(report, team, finding.id));
}

static void uneven_threads(struct gt_report *report, const struct team *team)
{
	uint32_t none = (uint32_t)report->read->tables[GT_OTF2_REGION].count, region, own;
	uint64_t above, own_above;

	/* Who waits for a lock is not short of work: the section of locks has that. */
	if (team->locks > without(team->most, team->second) / 2)
		return;
	region = uneven_of(report, team->last->location, false, &above);
	own = uneven_of(report, team->last->location, true, &own_above);
	if (own < none && 2 * own_above > team->most)
		own_work(report, team, own);
	else if (region < none && 2 * above > without(team->most, team->sum / team->count))
		late_thread(report, team, region);
}

/* The first thread works while there are no others. */
static void serial_part(struct gt_report *report, const struct team *team, uint64_t alone)
{
	uint32_t main = report->classes.processes[team->last->process].main, region;
	enum gt_finding_id id = team->before > team->alone / 4 * 3 ? GT_FINDING_STARTUP
								    : GT_FINDING_SERIAL_PART;
	uint64_t above;

	region = uneven_of(report, main, true, &above);
	if (!team->at_once || 2 * above < alone || !gt_at_least(alone, gt_threshold(id), report->duration))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = id,
			   .gain = alone - alone / team->at_once,
			   .location = gt_report_location(report, main),
			   .region = 1 + region,
			   .time = GT_NO_COUNT,
			   .advice = "let threads do a part of it, or begin with what does not need it" },
		   "%s works alone for %s, %.0f %% of the run, %s; up to %s others live at once",
		   gt_report_location(report, main), gt_said(report, alone, GT_SECONDS),
		   100 * (double)alone / (double)report->duration,
		   id == GT_FINDING_STARTUP ? "before other threads begin"
					    : "while there are no other threads",
		   gt_said(report, team->at_once, GT_COUNT));
}

/* The first thread has others do the work, one after another. */
static void in_turn(struct gt_report *report, const struct team *team)
{
	double processors = gt_report_property(report, "GPUTRACE::PROCESSORS");
	uint32_t main = report->classes.processes[team->last->process].main, region;
	uint64_t above, least = team->longest;

	if (team->at_once != 1 || team->lives < SOME_LIVES || !(processors > 1) ||
	    !is_supervisor(report, main) ||
	    !gt_at_least(team->lived, gt_threshold(GT_FINDING_SERIAL_PART), report->duration))
		return;
	if ((double)least < (double)team->lived / processors)
		least = (uint64_t)((double)team->lived / processors);
	region = uneven_of(report, team->last->location, true, &above);
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_SERIAL_PART,
			   .gain = without(team->lived, least),
			   .region = 1 + region,
			   .time = GT_NO_COUNT,
			   .advice = "create several threads before the first one is joined" },
		   "%s threads of %s live one after another, together for %s, never two of them at once",
		   gt_said(report, team->lives, GT_COUNT), gt_report_process(report, team->last->process),
		   gt_said(report, team->lived, GT_SECONDS));
}

/* What the first thread works while it is alone, at most. */
static uint64_t work_alone(const struct team *team, const struct gt_lane_list *lanes)
{
	uint64_t work = 0;

	for (size_t i = 0; i < lanes->count; i++)
		if (lanes->items[i].main && lanes->items[i].process == team->last->process)
			work = without(lanes->items[i].useful, lanes->items[i].ready);
	return work < team->alone ? work : team->alone;
}

void gt_findings_threads(struct gt_report *report)
{
	struct gt_lane_list lanes = gt_lanes_of(report);

	/* Ranks, and threads that drive GPUs, wait for others than threads. */
	if (lanes.count && report->classes.ranks < 2 && !report->classes.gpu) {
		struct team team = team_of(report, &lanes);

		uneven_threads(report, &team);
		serial_part(report, &team, work_alone(&team, &lanes));
		in_turn(report, &team);
	}
	free(lanes.items);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The critical path: backwards from the last event, on a location until something there had waited, then on
 * the location of what it had waited for. It covers each moment of the run once, so its length is the run's.
 *
 * Linear in segments: the time never grows, so each location's are passed once. That is work for one thread,
 * which needs nothing of what others find out about delays, and changes nothing: it runs beside them.
 *
 * Limits: a wait that nobody is known to have ended (is_known()) is on the path itself, except where a thread
 * or process waits for what another may do, which works meanwhile and joins it afterwards: pools of threads,
 * and processes that serve, idle until they are ended. Of a process that made next to no use of a processor
 * this is so in whatever it was.
 */
#include "config.h"

#include "lib/assemble/util/memory.h"
#include "report/waits/crew.h"
#include "report/model/rules.h"
#include "report/page/picture.h"
#include "report/sections/states.h"
#include "report/model/sums.h"
#include "report/waits/sync.h"
#include "report/waits/whatif.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The location that joined another one, and since when. */
struct join {
	uint64_t since;
	uint32_t by; /* or GT_NO_CAUSE */
	bool idle;   /* the process was, but for waits that are seen */
	bool by_idle; /* and that of the other */
};

struct gt_path {
	struct gt_sync *sync;
	struct join *joins;  /* by location, of those that the path has come to */
	uint64_t *cursors;   /* by location: segments that were not passed */
	uint64_t *nodes;     /* time on the path, by node of the whole tree */
	uint64_t *locations; /* the same by location */
	double *ready;       /* of that, ns in which its thread waited for a processor */
	uint64_t idle;       /* on streams, outside of regions */
	uint64_t unknown;    /* before the first location began and after the last ended */
	uint64_t jumps;
	uint32_t at;         /* a location */
	uint64_t time;
	uint64_t floor;      /* the walk does not go before it */
	uint64_t longest;    /* of this step, and in which node */
	uint32_t node;
	uint64_t *regions;   /* time on the path, by region; their number: of those not defined */
	uint64_t *gains;     /* by region: of those with the most time on the path; of others GT_NO_COUNT */
	uint64_t *lows;      /* the same: at least so much */
	pthread_t thread;    /* that finds it, if it is `beside` others */
	bool beside;
};

/* ---- the walk ------------------------------------------------------------------------------------ */

/* `node`: of the whole tree. */
static inline void spend_in(struct gt_path *path, uint32_t node, uint64_t time, bool stream)
{
	if (time >= path->longest) {
		path->longest = time;
		path->node = node;
	}
	*(node || !stream ? &path->nodes[node] : &path->idle) += time;
}

static bool is_stream(const struct gt_path *path, uint32_t location)
{
	return path->sync->report->classes.locations[location].kind == GT_LOCATION_STREAM;
}

static void spend(struct gt_path *path, uint32_t location, uint64_t node, uint64_t time)
{
	path->locations[location] += time;
	spend_in(path, gt_profile_node_at(path->sync->profile, location, node), time,
		 is_stream(path, location));
}

/* Back to `time`, but not before the floor, and never forward. Returns how long that is. */
static uint64_t back_to(struct gt_path *path, uint64_t time)
{
	uint64_t before = path->time;

	if (time >= before)
		return 0;
	path->time = time > path->floor ? time : path->floor;
	return before - path->time;
}

/* What is left of the next part. */
static const uint32_t *take_part(const struct gt_path *path, const uint32_t *words, struct gt_part_of *part)
{
	const struct gt_whatif *whatif = path->sync->report->whatif;

	words = gt_part_take(words, part);
	if (whatif)
		part->time = (uint64_t)((double)part->time * gt_whatif_kept(whatif, path->at, part->node));
	return words;
}

/* Back to where the last segment ended, by the profile from `from` to `to`. */
static void spend_gap(struct gt_path *path, uint64_t from, uint64_t to, uint64_t ended)
{
	uint64_t part = back_to(path, ended);
	const struct gt_log *profile = &path->sync->timelines[path->at].profile;
	struct gt_parts parts = gt_parts_of(profile, from, to);
	const uint32_t *nodes = path->sync->profile->locations[path->at].nodes;
	struct gt_part_of one = { .node = 0 };
	uint64_t all = 0, left = part;
	bool stream = is_stream(path, path->at);

	while (gt_parts_next(&parts))
		for (const uint32_t *words = parts.words; words < parts.last; all += one.time)
			words = take_part(path, words, &one);
	for (parts = gt_parts_of(profile, from, all ? to : from); gt_parts_next(&parts);)
		for (const uint32_t *words = parts.words; words < parts.last;) {
			uint64_t time;

			words = take_part(path, words, &one);
			time = part < all ? (uint64_t)((unsigned __int128)one.time * part / all) : one.time;
			spend_in(path, nodes[one.node], time, stream);
			left -= time;
		}
	path->locations[path->at] += part - left;
	if (left) /* by rounding */
		spend(path, path->at, one.node, left);
}

static void jump(struct gt_path *path, uint32_t to, uint64_t time)
{
	path->at = to;
	path->time = time;
	path->jumps++;
}

/* Segments that begin at the time or later are passed. The one before, or NULL. */
static const struct gt_wait_segment *pass(struct gt_path *path, uint32_t location, uint64_t time)
{
	uint64_t *cursor = &path->cursors[location];
	const struct gt_wait_segment *segment = NULL;

	for (; *cursor; --*cursor) {
		segment = gt_segment_at(path->sync, location, *cursor - 1);
		if (segment->begin < time)
			return segment;
	}
	return NULL;
}

#define IDLE_SHARE 10 /* its process used a processor for less than the tenth part of that time */

/* Was it idle, most of the time that it did not spend in waits that are seen? */
static bool is_idle(const struct gt_path *path, uint32_t location)
{
	const struct gt_otf2 *read = path->sync->report->read;
	const struct gt_profile_location *of = &path->sync->profile->locations[location];
	const struct gt_otf2_property *used =
		gt_otf2_find_owned(read, GT_OTF2_LOCATION_GROUP, gt_otf2_location_at(read, location)->group,
				   "GPUTRACE::PROCESSOR_TIME_NS");
	uint64_t worked = of->times[GT_TIME_USEFUL] + of->times[GT_TIME_IO] + gt_profile_unseen(of);

	return used && used->text && strtoull(used->text, NULL, 10) < worked / IDLE_SHARE;
}

/* The path goes from who joined the location, or waited for its process, to that. */
static void join(struct gt_path *path, const struct gt_wait_segment *segment)
{
	bool child = segment->wait == GT_WAIT_CHILD;

	if (child || segment->class == GT_CLASS_THREAD_JOIN)
		path->joins[segment->cause] = (struct join){ .since = segment->begin, .by = path->at,
							     .idle = child && is_idle(path, segment->cause),
							     .by_idle = child && is_idle(path, path->at) };
}

static void forget_joins(struct gt_path *path)
{
	for (size_t i = 0; i < gt_sync_locations(path->sync); i++)
		path->joins[i].by = GT_NO_CAUSE;
}

/*
 * Was it, from `begin` to `end`, idle until the one that joined it later, and worked meanwhile or waited for
 * others, came? When that began to be so, back from the present time; 0: never.
 */
static uint64_t idle_since(struct gt_path *path, uint64_t begin, uint64_t end)
{
	const struct join *join = &path->joins[path->at];
	uint64_t time = path->time < end ? path->time : end;
	const struct gt_wait_segment *there;

	if (join->by == GT_NO_CAUSE)
		return 0;
	if (join->since < time)
		time = join->since;
	if (time <= begin || time <= path->floor)
		return 0;
	there = pass(path, join->by, time);
	if (there && there->end > time && there->wait)
		return there->cause != GT_NO_CAUSE && there->cause != path->at ? time : 0;
	return join->by_idle ? 0 : time;
}

/* Waits for what another may do, which no lock or thread stands for. */
static bool is_await(unsigned char class)
{
	return class == GT_CLASS_SEMAPHORE || class == GT_CLASS_PROCESS;
}

/* May it have waited for the one that joined it? */
static bool awaits(const struct gt_path *path, const struct gt_wait_segment *segment)
{
	if (segment->cause != GT_NO_CAUSE)
		return false;
	if (segment->class == GT_CLASS_SLEEP)
		return !gt_sync_by_time(path->sync, path->at, segment);
	return segment->class == GT_CLASS_CONDITION || is_await(segment->class);
}

static bool to_joiner(struct gt_path *path, const struct gt_wait_segment *segment)
{
	bool idle = path->joins[path->at].idle && segment->cause == GT_NO_CAUSE &&
		    segment->class != GT_CLASS_SLEEP && !is_await(segment->class);
	uint64_t time = idle || awaits(path, segment) ? idle_since(path, segment->begin, segment->end) : 0;

	if (!time)
		return false;
	spend(path, path->at, segment->node, back_to(path, time));
	jump(path, path->joins[path->at].by, time);
	return true;
}

/* The same between waits: of a process that was idle as a whole. */
static bool gap_to_joiner(struct gt_path *path, uint64_t from, uint64_t to, uint64_t begin)
{
	uint64_t time = path->joins[path->at].idle ? idle_since(path, begin, path->time) : 0;

	if (!time)
		return false;
	spend_gap(path, from, to, time);
	jump(path, path->joins[path->at].by, time);
	return true;
}

/* Before the first segment. False: the path ends here. */
static bool leave_location(struct gt_path *path, bool may_jump)
{
	const struct gt_timeline *timeline = &path->sync->timelines[path->at];
	uint64_t to = gt_segment_at(path->sync, path->at, 0)->profile;

	if (may_jump && gap_to_joiner(path, 0, to, timeline->begin))
		return true;
	spend_gap(path, 0, to, timeline->begin);
	if (path->time == path->floor || timeline->creator == GT_NO_CAUSE ||
	    timeline->created > timeline->begin)
		return false;
	spend(path, path->at, 0, back_to(path, timeline->created));
	if (path->time == timeline->created)
		jump(path, timeline->creator, path->time);
	return true;
}

/*
 * Is it known what the cause of the wait did? Not before it began, and not of a thread of which nothing but
 * its begin was recorded, as are those of libraries that are not traced.
 */
static bool is_known(const struct gt_path *path, const struct gt_wait_segment *segment)
{
	const struct gt_sync *sync = path->sync;

	if (segment->cause == GT_NO_CAUSE || sync->timelines[segment->cause].begin > segment->until)
		return false;
	return sync->profile->locations[segment->cause].events > 1 ||
	       sync->report->classes.locations[segment->cause].kind == GT_LOCATION_MAIN;
}

/* `may_jump`: not round in a circle at one time. */
static bool step(struct gt_path *path, bool may_jump)
{
	const struct gt_wait_segment *segment, *next;
	uint64_t index;

	segment = pass(path, path->at, path->time);
	index = path->cursors[path->at];
	if (!segment)
		return leave_location(path, may_jump);
	if (segment->end < path->time) {
		next = gt_segment_at(path->sync, path->at, index);
		if (may_jump && gap_to_joiner(path, segment->profile, next->profile, segment->end))
			return true;
		spend_gap(path, segment->profile, next->profile, segment->end);
		if (path->time > segment->end)
			return true;
	}
	if (may_jump && segment->until <= path->time && is_known(path, segment)) {
		spend(path, path->at, segment->node, back_to(path, segment->until));
		if (path->time > segment->until)
			return true;
		if (segment->birth) /* who joined later threads did not join earlier ones */
			path->joins[path->at].by = GT_NO_CAUSE;
		join(path, segment);
		jump(path, segment->cause, segment->until);
		return true;
	}
	if (may_jump && to_joiner(path, segment))
		return true;
	spend(path, path->at, segment->node, back_to(path, segment->begin));
	return true;
}

/* For the picture: the path was here since `path->time`. */
static void draw(struct gt_path *path, uint32_t location, uint64_t end)
{
	const struct gt_report *report = path->sync->report;
	struct gt_picture *picture = report->picture;
	struct gt_path_part *part;
	uint32_t region = path->node ? path->sync->profile->tree.nodes[path->node].region
				     : (uint32_t)report->read->tables[GT_OTF2_REGION].count;

	if (!picture || path->time >= end)
		return;
	part = picture->path.count ? gt_log_at(&picture->path, picture->path.count - 1) : NULL;
	if (!part || part->location != location || part->begin != end ||
	    part->region != region) {
		part = gt_log_add(&picture->spill, &picture->path);
		*part = (struct gt_path_part){ .end = end, .location = location, .region = region };
	}
	part->begin = path->time;
}

static void walk(struct gt_path *path, uint64_t to)
{
	uint64_t before = UINT64_MAX, same = 0;
	const struct gt_profile_location *of;
	bool more = true;

	path->floor = to;
	while (more && path->time > to) {
		uint32_t location = path->at;

		same = path->time == before ? same + 1 : 0;
		before = path->time;
		path->longest = 0;
		more = step(path, same <= gt_sync_locations(path->sync));
		of = &path->sync->profile->locations[location];
		path->ready[location] += gt_states_ready(path->sync->report, location, &of->lives,
							 (struct gt_stretch){ of->begin, of->end },
							 (struct gt_stretch){ path->time, before });
		draw(path, location, before);
		gt_spill_used(&path->sync->spill);
	}
}

/* ---- where it ends ------------------------------------------------------------------------------- */

static uint64_t end_of(const struct gt_sync *sync, uint32_t location)
{
	uint64_t count = gt_segment_count(sync, location);

	return count ? gt_segment_at(sync, location, count - 1)->end : 0;
}

/*
 * exit() ends all threads, whatever they do: the run waited for the one that called it. Where nobody is known
 * to have done that, a thread that is left behind waiting is not what the run waited for.
 */
static bool may_be_last(const struct gt_sync *sync, uint32_t location)
{
	uint32_t exits = sync->exits[sync->report->classes.locations[location].process];
	uint64_t count = gt_segment_count(sync, location);
	const struct gt_wait_segment *segment = count > 1 ? gt_segment_at(sync, location, count - 2) : NULL;

	if (exits != GT_NO_CAUSE)
		return location == exits;
	switch (sync->report->classes.locations[location].kind) {
	case GT_LOCATION_MAIN:
		return true;
	case GT_LOCATION_THREAD:
		return !segment || segment->end < end_of(sync, location) || !segment->wait ||
		       segment->cause != GT_NO_CAUSE;
	default:
		return false;
	}
}

/* The last location that ends, of all or of MPI's ranks; the first thread of a process before others. */
static uint32_t last_location(const struct gt_sync *sync, bool ranks)
{
	const struct gt_location_class *classes = sync->report->classes.locations;
	uint32_t last = GT_NO_CAUSE;

	for (uint32_t i = 0; i < gt_sync_locations(sync); i++) {
		uint64_t end = end_of(sync, i);

		if (ranks && sync->report->classes.processes[classes[i].process].rank == GT_NO_RANK)
			continue;
		if (!may_be_last(sync, i))
			continue;
		if (!end || (last != GT_NO_CAUSE && end < end_of(sync, last)))
			continue;
		if (last == GT_NO_CAUSE || end > end_of(sync, last) || classes[i].kind < classes[last].kind)
			last = i;
	}
	return last;
}

/* From the end to the begin. What launched ranks waits for them, which no record says. */
static void walk_all(struct gt_path *path)
{
	struct gt_sync *sync = path->sync;
	uint32_t rank = sync->report->classes.ranks ? last_location(sync, true) : GT_NO_CAUSE;
	uint32_t last = path->at;

	path->time = end_of(sync, last);
	if (rank != GT_NO_CAUSE && rank != last && sync->report->whatif)
		path->time = end_of(sync, rank); /* how much earlier that ends no record says */
	path->unknown = sync->report->duration - path->time;
	if (rank != GT_NO_CAUSE && rank != last) {
		walk(path, end_of(sync, rank));
		forget_joins(path); /* from ranks not to what launched them */
		jump(path, rank, path->time);
	}
	walk(path, 0);
	if (rank != GT_NO_CAUSE && rank != last && path->time) {
		jump(path, last, path->time);
		walk(path, 0);
	}
	path->unknown += path->time;
}

/* ---- figures ------------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
	{ "seconds", "on the path", GT_SECONDS },
	{ "share", "share", GT_SHARE },
	{ "mean_s", "mean", GT_SECONDS }, /* of a process */
	{ "gain_s", "gain", GT_SECONDS }, /* at most, if the region took no time */
	{ "group", "group", GT_TEXT },
	{ "region", "region", GT_TEXT },
	{ "gain_low_s", "gain at least", GT_SECONDS }, /* where gain is not known */
	{ "gain_high_s", "at most", GT_SECONDS },
};
const struct gt_section_kind gt_path_kind =
	GT_SECTION("critical_path", "Critical path", GT_ROWS, columns,
		   .spare = "group,mean_s");

static const struct gt_column location_columns[] = {
	{ "seconds", "on the path", GT_SECONDS },
	{ "share", "share", GT_SHARE },
	{ "ready_s", "waiting for a processor", GT_SECONDS }, /* of that */
	{ "location", "location", GT_TEXT },
};
const struct gt_section_kind gt_path_locations_kind =
	GT_SECTION("critical_path_locations", "Critical path by location", GT_ROWS, location_columns,
		   .spare = "ready_s");

static double share(const struct gt_path *path, uint64_t time)
{
	uint64_t all = path->sync->report->duration;

	return all ? (double)time / (double)all : 0;
}

static void add_row(const struct gt_path *path, struct gt_section *section, uint64_t time, const char *group,
		    const char *region)
{
	union gt_cell *row;

	if (!time)
		return;
	row = gt_row_add(section);
	row[0].count = time;
	row[1].number = share(path, time);
	row[4].text = group;
	row[5].text = region;
}

uint64_t gt_path_new_end(const struct gt_sync *sync, uint64_t (*ends)[GT_GAINS], unsigned k)
{
	const struct gt_location_class *classes = sync->report->classes.locations;
	uint32_t rank = sync->report->classes.ranks ? last_location(sync, true) : GT_NO_CAUSE;
	uint32_t at = rank == GT_NO_CAUSE ? last_location(sync, false) : rank;
	uint64_t last = 0;

	if (at == GT_NO_CAUSE) /* nothing could be read */
		return sync->report->duration;
	for (uint32_t i = 0; i < gt_sync_locations(sync); i++)
		if (gt_segment_count(sync, i) && may_be_last(sync, i) && ends[i][k] > last &&
		    (rank == GT_NO_CAUSE ||
		     sync->report->classes.processes[classes[i].process].rank != GT_NO_RANK))
			last = ends[i][k];
	return last + sync->report->duration - end_of(sync, at);
}

/* The region with the most time of those that are not chosen; `count` + 1: there is none. */
static size_t next_of(const uint64_t *regions, size_t count, const unsigned char *chosen)
{
	size_t top = count + 1;

	for (size_t i = 0; i <= count; i++)
		if (regions[i] && !chosen[i] && (top > count || regions[i] > regions[top]))
			top = i;
	return top;
}

/* What is gained if locations end so. */
static void set_gains(const struct gt_path *path, size_t count, const unsigned char *chosen,
		      uint64_t (*ends)[GT_GAINS], uint64_t *gains)
{
	uint64_t duration = path->sync->report->duration;

	for (size_t i = 0; i <= count; i++) {
		uint64_t end = chosen[i] ? gt_path_new_end(path->sync, ends, chosen[i] - 1U) : 0;

		if (!chosen[i])
			continue;
		gains[i] = end < duration ? duration - end : 0;
		/* Waits of unknown causes hide what the path knows better. */
		if (gains[i] > path->regions[i])
			gains[i] = path->regions[i];
	}
}

/* The gains of those regions with the most time on the path. */
static void find_gains(struct gt_path *path, size_t count)
{
	struct gt_sync *sync = path->sync;
	unsigned char *chosen = gt_zeroed(count + 1, 1);
	uint64_t (*ends)[GT_GAINS] = gt_zeroed(gt_sync_locations(sync) + 1, sizeof(*ends));
	unsigned n = 0;

	for (size_t i; n < GT_GAINS && (i = next_of(path->regions, count, chosen)) <= count;)
		chosen[i] = (unsigned char)++n;
	memset(path->gains, 0xff, (count + 1) * sizeof(*path->gains));
	memset(path->lows, 0xff, (count + 1) * sizeof(*path->lows));
	if (gt_gain(sync, chosen, n, false, ends))
		set_gains(path, count, chosen, ends, path->gains);
	if (sync->open_ended && gt_gain(sync, chosen, n, true, ends))
		set_gains(path, count, chosen, ends, path->lows);
	free(chosen);
	free(ends);
}

#define CLEAR_GAIN 200 /* the two sides of a gain differ by less than that part of the run */

/* One figure, or two if it depends on what somebody does who is not known. */
static void write_gain(const struct gt_path *path, union gt_cell *row, size_t region)
{
	uint64_t high = path->gains[region], low = path->lows[region];

	if (low == GT_NO_COUNT || low + path->sync->report->duration / CLEAR_GAIN >= high) {
		row[3].count = high;
		return;
	}
	row[6].count = low;
	row[7].count = path->regions[region];
}

static void region_rows(const struct gt_path *path)
{
	struct gt_report *report = path->sync->report;
	struct gt_section *section = gt_section_add(&report->figures, &gt_path_kind);
	const struct gt_profile *profile = path->sync->profile;
	size_t count = report->read->tables[GT_OTF2_REGION].count;
	uint64_t processes = report->classes.live;

	for (size_t i = 0; i <= count; i++) {
		bool known = i < count;
		union gt_cell *row;

		if (!path->regions[i])
			continue;
		add_row(path, section, path->regions[i],
			known ? gt_class_names[report->classes.regions[i]] : "",
			gt_report_region_name(report, i));
		row = section->cells + (section->rows - 1) * section->kind->column_count;
		if (report->whatif) /* both are of the run as it was */
			continue;
		if (processes)
			row[2].count = profile->regions[i].exclusive / processes;
		write_gain(path, row, i);
	}
	add_row(path, section, path->nodes[0], "", "(no region)");
	add_row(path, section, path->idle, "", "(GPU idle)");
	add_row(path, section, path->unknown, "", "(nothing recorded)");
	gt_rows_sort(section, 0);
	if (!report->whatif)
		section->note = "gain: how much shorter the run would be without it, if waits of unknown "
				"cause stay as long";
}

static void location_rows(const struct gt_path *path)
{
	struct gt_section *section = gt_section_add(&path->sync->report->figures, &gt_path_locations_kind);

	struct gt_report *report = path->sync->report;
	double ready = 0;

	for (uint32_t i = 0; i < gt_sync_locations(path->sync); i++) {
		union gt_cell *row;

		if (!path->locations[i])
			continue;
		row = gt_row_add(section);
		row[0].count = path->locations[i];
		row[1].number = share(path, path->locations[i]);
		if (gt_states_know(report, i))
			row[2].count = (uint64_t)path->ready[i];
		row[3].text = gt_report_location(report, i);
		ready += path->ready[i];
	}
	gt_rows_sort(section, 0);
	if (ready * 100 >= GT_MUCH_READY * (double)report->duration)
		section->note = gt_figures_text(&report->figures, "%s of the path are waits for a processor",
						gt_said(report, (uint64_t)ready, GT_SECONDS));
}

/* ---- all ---------------------------------------------------------------------------------------- */

static struct gt_path *new_path(struct gt_sync *sync)
{
	size_t regions = sync->report->read->tables[GT_OTF2_REGION].count;
	size_t locations = gt_sync_locations(sync);
	struct gt_path *path = gt_zeroed(1, sizeof(*path));

	path->sync = sync;
	path->joins = gt_zeroed(locations + 1, sizeof(*path->joins));
	path->cursors = gt_zeroed(locations + 1, sizeof(*path->cursors));
	path->locations = gt_zeroed(locations + 1, sizeof(*path->locations));
	path->ready = gt_zeroed(locations + 1, sizeof(*path->ready));
	path->nodes = gt_zeroed(sync->profile->tree.count + 1, sizeof(*path->nodes));
	path->regions = gt_zeroed(regions + 1, sizeof(*path->regions));
	path->gains = gt_zeroed(regions + 1, sizeof(*path->gains));
	path->lows = gt_zeroed(regions + 1, sizeof(*path->lows));
	for (uint32_t i = 0; i < locations; i++)
		path->cursors[i] = gt_segment_count(sync, i);
	forget_joins(path);
	return path;
}

static void *find(void *argument)
{
	struct gt_path *path = argument;
	const struct gt_profile_tree *tree = &path->sync->profile->tree;

	path->at = last_location(path->sync, false);
	if (path->at != GT_NO_CAUSE)
		walk_all(path);
	else
		path->unknown = path->sync->report->duration;
	for (uint32_t i = 1; i < tree->count; i++)
		path->regions[tree->nodes[i].region] += path->nodes[i];
	if (!path->sync->report->whatif)
		find_gains(path, path->sync->report->read->tables[GT_OTF2_REGION].count);
	return NULL;
}

struct gt_path *gt_path_find(struct gt_sync *sync)
{
	struct gt_path *path = new_path(sync);

	path->beside = gt_crew_threads(sync->report->threads) > 1 &&
		       !pthread_create(&path->thread, NULL, find, path);
	if (!path->beside)
		find(path);
	return path;
}

void gt_path_figures(struct gt_path *path)
{
	if (path->beside)
		pthread_join(path->thread, NULL);
	region_rows(path);
	location_rows(path);
	free(path->joins);
	free(path->cursors);
	free(path->locations);
	free(path->ready);
	free(path->nodes);
	free(path->regions);
	free(path->gains);
	free(path->lows);
	free(path);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Efficiencies of the summary, from what each location spent its time with. gputrace-metrics(7) defines them;
 * `gputrace report` computes them from the events (report/efficiency.c).
 *
 * Limits: where it is not known when devices were busy there are sums, which know nothing of overlaps: the
 * efficiencies of GPUs are left out there if kernels ran on several streams of one, and those on copies if
 * anything did.
 * The threads of several processes that are no ranks have none.
 */
#include "config.h"

#include "lib/assemble/report/brief.h"
#include "lib/assemble/util/rules.h"

#include <stdlib.h>

/* Threads of a process that follow one another. */
struct lane {
	uint32_t group;
	uint64_t end, life, wait, idle, seen, busy, useful; /* busy: useful, or with a GPU */
	bool main;
};

/* Of its lanes: busy summed up, and the busiest. */
struct rank {
	double busy;
	uint64_t most;
	unsigned lanes;
	unsigned blank;          /* threads of which next to nothing is known */
	bool waits;              /* its first thread, for others */
};

struct ranks {
	uint64_t count, longest; /* life without measurement, and setting up and ending communication */
	uint64_t sum, most;      /* outside of communication, or in the lane that was busy for longer */
	double busy;             /* of the ranks' mean lanes, summed up */
	bool blind;              /* one waits for threads of which next to nothing is known */
};

static uint64_t without(uint64_t whole, uint64_t part)
{
	return part < whole ? whole - part : 0;
}

static void add_to(struct lane *lane, const struct gt_out_location *out)
{
	const struct gt_use *use = &out->use;
	uint64_t other = use->comm + use->start + use->wait + use->runtime + use->measurement + use->outside;

	lane->group = out->group;
	lane->main |= out->first;
	lane->end = use->begin + use->life;
	lane->life += use->life;
	lane->wait += use->wait;
	lane->idle += use->idle_ns;
	lane->seen += use->seen + use->outside;
	lane->busy += without(use->life, other);
	lane->useful += without(use->life, other + use->device);
}

/* Of each process in the order of their begins. */
static int by_begin(const void *a, const void *b)
{
	const struct gt_out_location *x = *(const struct gt_out_location *const *)a;
	const struct gt_out_location *y = *(const struct gt_out_location *const *)b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->use.begin > y->use.begin) - (x->use.begin < y->use.begin);
}

/*
 * Threads that only wait, or mostly for work, are idle; so are those of a rank of which next to nothing is
 * known. Of several processes one whose first thread (mains) ran for less than half of the time need not be
 * there.
 */
static bool counts(const struct lane *lane, const uint64_t *mains, const struct gt_summary *s,
		   const struct gt_layout *layout)
{
	if (lane->wait > lane->life / 100 * 95)
		return false;
	if (s->balance.ranks < 2)
		return !gt_serves(lane->idle, lane->life) &&
		       (s->processes < 2 || mains[lane->group] >= s->wall_ns / 2);
	return layout->groups[lane->group].job &&
	       (lane->main || without(lane->life, lane->seen) <= lane->life / 100 * 95);
}

static size_t make_lanes(const struct gt_out_location **of, size_t count, const struct gt_summary *s,
			 const struct gt_layout *layout, struct lane *lanes)
{
	uint64_t *mains = calloc((size_t)layout->group_count + 1, sizeof(*mains));
	size_t n = 0, kept = 0, first = 0;

	for (uint32_t i = 0; mains && i < layout->location_count; i++)
		if (layout->locations[i].first && layout->locations[i].group < layout->group_count)
			mains[layout->locations[i].group] = layout->locations[i].use.life;
	if (count && mains)
		qsort(of, count, sizeof(const struct gt_out_location *), by_begin);
	for (size_t i = 0, at; mains && i < count; i++) {
		first = i && of[i]->group != of[i - 1]->group ? n : first;
		for (at = first; at < n && lanes[at].end > of[i]->use.begin; at++)
			;
		n += at == n;
		add_to(&lanes[at], of[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (counts(&lanes[i], mains, s, layout))
			lanes[kept++] = lanes[i];
	free(mains);
	return kept;
}

/* ---- ranks --------------------------------------------------------------------------------------- */

static void add_lanes(struct rank *of, const struct lane *lanes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rank *rank = &of[lanes[i].group];

		rank->busy += (double)lanes[i].busy;
		rank->most = lanes[i].busy > rank->most ? lanes[i].busy : rank->most;
		rank->lanes++;
	}
}

static void add_threads(struct rank *of, const struct gt_layout *layout)
{
	for (uint32_t i = 0; i < layout->location_count; i++) {
		const struct gt_out_location *out = &layout->locations[i];
		const struct gt_use *use = &out->use;

		if (out->type != GT_AS_THREAD || out->group >= layout->group_count)
			continue;
		if (out->first)
			of[out->group].waits = use->wait > use->life / 100 * 5;
		else if (out->thread && !use->idle)
			of[out->group].blank +=
				without(use->life, use->seen + use->outside) > use->life / 100 * 95;
	}
}

/* By the first thread of each; `of` has the lanes of each group. */
static struct ranks measure_ranks(const struct gt_layout *layout, const struct rank *of)
{
	struct ranks ranks = { 0 };

	for (uint32_t i = 0; i < layout->location_count; i++) {
		const struct gt_out_location *out = &layout->locations[i];
		const struct rank *rank;
		uint64_t life = without(out->use.life, out->use.start + out->use.measurement), outside;

		if (!out->first || out->group >= layout->group_count || !layout->groups[out->group].job ||
		    !life)
			continue;
		rank = &of[out->group];
		ranks.blind |= rank->lanes == 1 && rank->blank && rank->waits;
		outside = without(life, out->use.comm);
		outside = rank->most > outside ? rank->most : outside;
		ranks.count++;
		ranks.sum += outside;
		ranks.busy += rank->lanes ? rank->busy / rank->lanes : 0;
		ranks.most = outside > ranks.most ? outside : ranks.most;
		ranks.longest = life > ranks.longest ? life : ranks.longest;
	}
	/* Other threads may have been busy while the first ones set up communication. */
	ranks.longest = ranks.most > ranks.longest ? ranks.most : ranks.longest;
	return ranks;
}

static void judge_ranks(struct gt_summary *s, const struct gt_layout *layout, const struct lane *lanes,
			size_t count)
{
	struct rank *of = calloc(layout->group_count, sizeof(*of));
	struct ranks ranks;

	if (!of)
		return;
	add_lanes(of, lanes, count);
	add_threads(of, layout);
	ranks = measure_ranks(layout, of);
	free(of);
	if (ranks.count > 1 && ranks.blind) {
		s->offload = 0;
		s->no_efficiency = GT_BLIND_RANKS;
	}
	if (ranks.count < 2 || !ranks.most || ranks.blind)
		return;
	s->load_balance = (double)ranks.sum / (double)ranks.count / (double)ranks.most;
	s->communication = (double)ranks.most / (double)ranks.longest;
	s->rank_threads = ranks.busy / (double)ranks.sum;
}

/* ---- threads ------------------------------------------------------------------------------------- */

static bool worked(const struct gt_summary *s, double busy)
{
	const struct gt_used *used = &s->used;

	return !used->measured || used->unmeasured ||
	       gt_worked(busy, (double)used->processor_ns, (double)used->processors * (double)s->wall_ns);
}

static void judge_threads(struct gt_summary *s, const struct lane *lanes, size_t count, bool gpu)
{
	double busy = 0, useful = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		busy += (double)lanes[i].busy;
		useful += (double)lanes[i].useful;
		most = (double)lanes[i].busy > most ? (double)lanes[i].busy : most;
	}
	if (!s->ranks && count > 1 && !worked(s, busy)) {
		s->no_efficiency = GT_BLIND_THREADS;
		return;
	}
	if (gpu && busy > 0)
		s->offload = useful / busy;
	if (s->ranks || count < 2 || most <= 0)
		return;
	s->load_balance = busy / (double)count / most;
	s->communication = most / (double)s->wall_ns;
}

/* ---- GPUs ---------------------------------------------------------------------------------------- */

struct load {
	uint64_t sum, most;  /* kernels of devices, and of the one with the most */
	uint64_t most_busy;  /* with kernels or copies */
	uint64_t devices;
	bool kernels, copies; /* are known where they run at the same time? */
};

static struct load load_of(const struct gt_devices *devices)
{
	struct load load = { .devices = devices->count, .kernels = true, .copies = true };

	for (uint32_t i = 0; i < devices->count; i++) {
		uint64_t kernels = devices->items[i].kernels.total, busy = gt_device_busy(&devices->items[i]);

		load.sum += kernels;
		load.most = kernels > load.most ? kernels : load.most;
		load.most_busy = busy > load.most_busy ? busy : load.most_busy;
	}
	return load;
}

/* From the sums of streams, which know nothing of overlaps. */
static struct load load_of_sums(const struct gt_layout *layout)
{
	uint64_t *kernels = calloc(layout->node_count + 1, sizeof(*kernels));
	uint64_t *busy = calloc(layout->node_count + 1, sizeof(*busy));
	struct load load = { .kernels = true, .copies = true };

	for (uint32_t i = 0; kernels && busy && i < layout->location_count; i++) {
		const struct gt_out_location *out = &layout->locations[i];
		uint32_t node = out->group < layout->group_count ? layout->groups[out->group].node
								  : layout->node_count;

		if (out->type != GT_AS_STREAM || node >= layout->node_count ||
		    !(out->use.kernels + out->use.copies))
			continue;
		load.copies &= !busy[node];
		load.kernels &= !(kernels[node] && out->use.kernels);
		load.devices += !busy[node];
		kernels[node] += out->use.kernels;
		busy[node] += out->use.kernels + out->use.copies;
		load.sum += out->use.kernels;
		load.most = kernels[node] > load.most ? kernels[node] : load.most;
		load.most_busy = busy[node] > load.most_busy ? busy[node] : load.most_busy;
	}
	free(kernels);
	free(busy);
	return load;
}

static void judge_devices(struct gt_summary *s, const struct load *load)
{
	if (!load->most)
		return;
	if (load->kernels && load->most <= s->wall_ns) {
		s->device_balance = (double)load->sum / (double)load->devices / (double)load->most;
		s->device_parallel = s->device_balance * (double)load->most / (double)s->wall_ns;
	}
	if (load->copies && load->most_busy <= s->wall_ns) {
		s->device_copies = (double)load->most / (double)load->most_busy;
		s->device_orchestration = (double)load->most_busy / (double)s->wall_ns;
	}
}

void gt_efficiencies(struct gt_summary *s, const struct gt_layout *layout)
{
	size_t n = layout->location_count, used = 0;
	const struct gt_out_location **of = calloc(n + 1, sizeof(*of));
	struct lane *lanes = calloc(n + 1, sizeof(*lanes));
	struct load load = s->devices && s->devices->count ? load_of(s->devices) : load_of_sums(layout);
	bool gpu = false;

	for (size_t i = 0; of && lanes && i < n; i++) {
		const struct gt_out_location *out = &layout->locations[i];

		if (out->group >= layout->group_count)
			continue;
		gpu |= out->type == GT_AS_STREAM;
		if (out->type == GT_AS_THREAD && out->thread && !out->use.idle && out->use.life)
			of[used++] = out;
	}
	if (used && s->wall_ns) {
		used = make_lanes(of, used, s, layout, lanes);
		judge_threads(s, lanes, used, gpu);
		judge_ranks(s, layout, lanes, used);
	}
	if (s->wall_ns)
		judge_devices(s, &load);
	free(of);
	free(lanes);
}

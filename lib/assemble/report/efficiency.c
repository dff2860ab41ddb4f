/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Efficiencies of the summary, from what each location spent its time with. gputrace-metrics(7) defines them;
 * `gputrace report` computes them from the events (report/efficiency.c).
 *
 * Limits: sums know nothing of overlaps: those of GPUs are left out if kernels ran on several streams of one,
 * and those on copies if anything did. The threads of several processes that are no ranks have none.
 */
#include "config.h"

#include "lib/assemble/report/brief.h"

#include <stdlib.h>

/* Threads that follow one another. */
struct lane {
	uint64_t end, life, wait, busy, useful; /* busy: useful, or with a GPU */
};

static uint64_t without(uint64_t whole, uint64_t part)
{
	return part < whole ? whole - part : 0;
}

static void add_to(struct lane *lane, const struct gt_use *use)
{
	uint64_t other = use->comm + use->start + use->wait + use->measurement + use->outside;

	lane->end = use->begin + use->life;
	lane->life += use->life;
	lane->wait += use->wait;
	lane->busy += without(use->life, other);
	lane->useful += without(use->life, other + use->device);
}

/* In the order of their begins. */
static int by_begin(const void *a, const void *b)
{
	const struct gt_use *x = *(const struct gt_use *const *)a, *y = *(const struct gt_use *const *)b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static size_t make_lanes(const struct gt_use **uses, size_t count, struct lane *lanes)
{
	size_t n = 0, kept = 0;

	if (count)
		qsort(uses, count, sizeof(*uses), by_begin);
	for (size_t i = 0, at; i < count; i++) {
		for (at = 0; at < n && lanes[at].end > uses[i]->begin; at++)
			;
		n += at == n;
		add_to(&lanes[at], uses[i]);
	}
	for (size_t i = 0; i < n; i++) /* threads that only wait are idle */
		if (lanes[i].wait <= lanes[i].life / 100 * 95)
			lanes[kept++] = lanes[i];
	return kept;
}

/* See worked() in report/efficiency.c. */
static bool worked(const struct gt_summary *s, double busy)
{
	const struct gt_used *used = &s->used;
	double processor = (double)used->processor_ns;

	return !used->measured || used->unmeasured || busy <= 4 * processor ||
	       processor >= (double)used->processors * (double)s->wall_ns / 2;
}

static void judge_threads(struct gt_summary *s, const struct lane *lanes, size_t count, bool gpu)
{
	double busy = 0, useful = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		busy += (double)lanes[i].busy;
		useful += (double)lanes[i].useful;
		most = (double)lanes[i].busy > most ? (double)lanes[i].busy : most;
	}
	if (!s->ranks && count > 1 && !worked(s, busy))
		return;
	if (gpu && busy > 0)
		s->offload = useful / busy;
	if (s->processes != 1 || s->ranks || count < 2 || most <= 0)
		return;
	s->load_balance = busy / (double)count / most;
	s->communication = most / (double)s->wall_ns;
}

void gt_efficiencies(struct gt_summary *s, const struct gt_layout *layout)
{
	size_t n = layout->location_count, used = 0;
	const struct gt_use **uses = calloc(n + 1, sizeof(*uses));
	struct lane *lanes = calloc(n + 1, sizeof(*lanes));
	uint64_t *kernels = calloc(layout->node_count + 1, sizeof(*kernels));
	uint64_t *busy = calloc(layout->node_count + 1, sizeof(*busy));
	uint64_t sum = 0, most = 0, most_busy = 0, devices = 0;
	bool gpu = false, kernels_overlap = false, overlap = false;

	for (size_t i = 0; uses && lanes && kernels && busy && i < n; i++) {
		const struct gt_out_location *out = &layout->locations[i];
		uint32_t node = out->group < layout->group_count ? layout->groups[out->group].node
								 : layout->node_count;

		gpu |= out->type == GT_AS_STREAM;
		if (out->type == GT_AS_THREAD && out->thread && !out->use.idle && out->use.life)
			uses[used++] = &out->use;
		if (out->type != GT_AS_STREAM || node >= layout->node_count ||
		    !(out->use.kernels + out->use.copies))
			continue;
		overlap |= busy[node] != 0;
		kernels_overlap |= kernels[node] && out->use.kernels;
		kernels[node] += out->use.kernels;
		busy[node] += out->use.kernels + out->use.copies;
	}
	if (used && s->wall_ns)
		judge_threads(s, lanes, make_lanes(uses, used, lanes), gpu);
	for (uint32_t i = 0; kernels && busy && i < layout->node_count; i++) {
		devices += busy[i] != 0;
		sum += kernels[i];
		most = kernels[i] > most ? kernels[i] : most;
		most_busy = busy[i] > most_busy ? busy[i] : most_busy;
	}
	if (most && !kernels_overlap && most <= s->wall_ns) {
		s->device_balance = (double)sum / (double)devices / (double)most;
		s->device_parallel = s->device_balance * (double)most / (double)s->wall_ns;
	}
	if (most && !overlap && most_busy <= s->wall_ns) {
		s->device_copies = (double)most / (double)most_busy;
		s->device_orchestration = (double)most_busy / (double)s->wall_ns;
	}
	free(uses);
	free(lanes);
	free(kernels);
	free(busy);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressed call graphs.
 *
 * Limits: see tree.h.
 */
#include "config.h"

#include "report/flow/tree.h"

#include <string.h>

#include "lib/assemble/util/lookup.h"

enum { CROWD = 64, MOST_REGIONS = 256 };

/* ---- sets of nodes ------------------------------------------------------------------------------- */

static void rehash(struct gt_flow_set *set)
{
	set->bucket_count = set->bucket_count ? 2 * set->bucket_count : 256;
	set->buckets = gt_resized(set->buckets, set->bucket_count, sizeof(*set->buckets));
	memset(set->buckets, 0xff, set->bucket_count * sizeof(*set->buckets));
	for (size_t i = 0; i < set->count; i++) {
		uint32_t *bucket = &set->buckets[set->nodes[i].hash & (set->bucket_count - 1)];

		set->nodes[i].next = *bucket;
		*bucket = (uint32_t)i;
	}
}

static bool same_calls(const struct gt_flow_set *set, const struct gt_flow_node *node,
		       const struct gt_flow_call *calls, uint32_t count)
{
	if (node->children != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (set->calls[node->first + i].node != calls[i].node)
			return false;
	return true;
}

static void add_sums(struct gt_flow_call *to, const struct gt_flow_call *from)
{
	to->calls += from->calls;
	to->time += from->time;
	to->work += from->work;
	to->begin = from->begin < to->begin ? from->begin : to->begin;
}

static uint32_t new_node(struct gt_flow_set *set, uint64_t hash, uint32_t region, uint64_t work,
			 const struct gt_flow_call *calls, uint32_t count)
{
	struct gt_flow_node *node;
	uint32_t *bucket;

	if (set->count >= set->bucket_count)
		rehash(set);
	set->nodes = gt_grown(set->nodes, set->count, &set->room, sizeof(*set->nodes));
	bucket = &set->buckets[hash & (set->bucket_count - 1)];
	node = &set->nodes[set->count];
	*node = (struct gt_flow_node){ .hash = hash,
				       .reference = work,
				       .first = set->call_count,
				       .children = count,
				       .region = region,
				       .next = *bucket };
	for (uint32_t i = 0; i < count; i++) {
		set->calls = gt_grown(set->calls, set->call_count, &set->call_room, sizeof(*set->calls));
		set->calls[set->call_count++] = calls[i];
	}
	*bucket = (uint32_t)set->count;
	return (uint32_t)set->count++;
}

uint32_t gt_flow_cons(struct gt_flow_set *set, const struct gt_flow_rule *rule, uint32_t region,
		      uint64_t work, const struct gt_flow_call *calls, uint32_t count)
{
	uint64_t hash = gt_hash_mix(GT_HASH_START, region);

	for (uint32_t i = 0; i < count; i++)
		hash = gt_hash_mix(hash, calls[i].node);
	for (uint32_t at = set->buckets ? set->buckets[hash & (set->bucket_count - 1)] : GT_FLOW_NONE;
	     at != GT_FLOW_NONE; at = set->nodes[at].next) {
		const struct gt_flow_node *node = &set->nodes[at];

		if (node->hash != hash || node->region != region || !same_calls(set, node, calls, count) ||
		    gt_flow_differ(rule, node->reference, work))
			continue;
		for (uint32_t i = 0; i < count; i++)
			add_sums(&set->calls[node->first + i], &calls[i]);
		return at;
	}
	return new_node(set, hash, region, work, calls, count);
}

void gt_flow_set_free(struct gt_flow_set *set)
{
	free(set->nodes);
	free(set->calls);
	free(set->buckets);
	*set = (struct gt_flow_set){ .count = 0 };
}

uint32_t *gt_flow_share(struct gt_flow_set *all, const struct gt_flow_tree *tree)
{
	const struct gt_flow_set *set = &tree->set;
	uint32_t *shared = gt_flow_zeroed(set->count, sizeof(*shared));
	struct gt_flow_call *calls = NULL;
	size_t room = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct gt_flow_node *node = &set->nodes[i];

		bool summed = node->region < tree->sum_room && tree->sums[node->region];

		for (uint32_t k = 0; !summed && k < node->children; k++) {
			calls = gt_grown(calls, k, &room, sizeof(*calls));
			calls[k] = (struct gt_flow_call){ .node = shared[set->calls[node->first + k].node] };
		}
		shared[i] = gt_flow_cons(all, &tree->rule, node->region, summed ? 0 : node->reference, calls,
					 summed ? 0 : node->children);
	}
	free(calls);
	return shared;
}

/* ---- sequences ----------------------------------------------------------------------------------- */

/* Another `count` calls of the body of a loop, at `tail`, or of the loop that the body ends with. */
static bool absorb(struct gt_flow_set *set, uint32_t loop, const struct gt_flow_call *tail, uint32_t count,
		   uint64_t *iterations)
{
	struct gt_flow_node *node = &set->nodes[loop];
	struct gt_flow_call *last = &set->calls[node->first + node->children - 1];
	uint64_t inner = 0;

	*iterations = 0;
	if (same_calls(set, node, tail, count)) {
		for (uint32_t i = 0; i < count; i++)
			add_sums(&set->calls[node->first + i], &tail[i]);
		*iterations = 1;
	} else if (count == 1 && last->node == tail->node) {
		add_sums(last, tail);
	} else if (last->loop && absorb(set, last->node, tail, count, &inner)) {
		last->calls += inner;
		for (uint32_t i = 0; i < count; i++) {
			last->time += tail[i].time;
			last->work += tail[i].work;
		}
	} else {
		return false;
	}
	node->count += *iterations;
	for (uint32_t i = 0; i < count; i++) {
		node->time += tail[i].time;
		if (set->nodes[tail[i].node].longest > node->longest)
			node->longest = set->nodes[tail[i].node].longest;
	}
	return true;
}

static bool join_loop(struct gt_flow_tree *tree, struct gt_flow_call *before, uint32_t period)
{
	const struct gt_flow_call *tail = before + 1;
	uint64_t iterations;

	if (!before->loop || !absorb(&tree->set, before->node, tail, period, &iterations))
		return false;
	before->calls += iterations;
	for (uint32_t i = 0; i < period; i++) {
		before->time += tail[i].time;
		before->work += tail[i].work;
	}
	return true;
}

/* The last `period` calls are those before them. */
static bool make_loop(struct gt_flow_tree *tree, uint32_t period)
{
	struct gt_flow_call *tail = &tree->open[tree->open_count - period], *body = tail - period;
	struct gt_flow_call loop = { .loop = true, .calls = 2, .begin = body->begin };
	struct gt_flow_node *node;

	for (uint32_t i = 0; i < period; i++)
		if (tail[i].node != body[i].node)
			return false;
	for (uint32_t i = 0; i < period; i++) {
		add_sums(&body[i], &tail[i]);
		loop.time += body[i].time;
		loop.work += body[i].work;
	}
	loop.node = gt_flow_cons(&tree->set, &tree->rule, GT_FLOW_LOOP, 0, body, period);
	node = &tree->set.nodes[loop.node];
	node->count += 2;
	node->time += loop.time;
	for (uint32_t i = 0; i < period; i++)
		if (tree->set.nodes[body[i].node].longest > node->longest)
			node->longest = tree->set.nodes[body[i].node].longest;
	body[0] = loop;
	tree->open_count -= 2 * (size_t)period - 1;
	return true;
}

static bool fold(struct gt_flow_tree *tree, size_t first)
{
	size_t n = tree->open_count - first;

	for (uint32_t period = 1; period < n && period <= GT_FLOW_PERIOD; period++) {
		struct gt_flow_call *before = &tree->open[tree->open_count - period - 1];

		if (join_loop(tree, before, period)) {
			tree->open_count -= period;
			return true;
		}
		if (period == 1 && before->node == before[1].node) {
			add_sums(before, &before[1]);
			tree->open_count--;
			return true;
		}
		if (period > 1 && n >= 2 * (size_t)period && make_loop(tree, period))
			return true;
	}
	return false;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static bool is_summed(const struct gt_flow_tree *tree, uint32_t region)
{
	return region == GT_FLOW_ROOT ? tree->sum_root : region < tree->sum_room && tree->sums[region];
}

/* The one of `count` calls that has the region. */
static struct gt_flow_call *find_region(const struct gt_flow_set *set, struct gt_flow_call *calls,
					size_t count, uint32_t region)
{
	for (size_t i = 0; i < count; i++)
		if (set->nodes[calls[i].node].region == region)
			return &calls[i];
	return NULL;
}

/* The calls of a summed node lie together: they move to the end to grow. */
static void append(struct gt_flow_set *set, uint32_t id, const struct gt_flow_call *call)
{
	size_t first = set->nodes[id].first, count = set->nodes[id].children;

	if (first + count != set->call_count) {
		set->nodes[id].first = set->call_count;
		for (size_t i = 0; i < count; i++) {
			set->calls = gt_grown(set->calls, set->call_count, &set->call_room,
					      sizeof(*set->calls));
			set->calls[set->call_count++] = set->calls[first + i];
		}
	}
	set->calls = gt_grown(set->calls, set->call_count, &set->call_room, sizeof(*set->calls));
	set->calls[set->call_count++] = *call;
	set->nodes[id].children++;
}

/* A share of a call at one place. */
static struct gt_flow_call part_of(const struct gt_flow_call *call, double share)
{
	struct gt_flow_call part = *call;

	part.calls = (uint64_t)((double)call->calls * share + 0.5);
	part.time = (uint64_t)((double)call->time * share + 0.5);
	part.work = (uint64_t)((double)call->work * share + 0.5);
	return part;
}

/* Adds a call to those that a summed node makes, or to the open ones at `first` if `id` is GT_FLOW_NONE. */
static void add_call(struct gt_flow_tree *tree, uint32_t id, size_t first, const struct gt_flow_call *call)
{
	struct gt_flow_set *set = &tree->set;
	const struct gt_flow_node loop = set->nodes[call->node];
	struct gt_flow_call *same, part;

	for (uint32_t i = 0; call->loop && i < loop.children; i++) {
		part = part_of(&set->calls[loop.first + i],
			       loop.time ? (double)call->time / (double)loop.time : 1.0);
		add_call(tree, id, first, &part);
	}
	if (call->loop)
		return;
	same = id == GT_FLOW_NONE
		       ? find_region(set, tree->open + first, tree->open_count - first, loop.region)
		       : find_region(set, set->calls + set->nodes[id].first, set->nodes[id].children,
				     loop.region);
	if (same) {
		add_sums(same, call);
	} else if (id != GT_FLOW_NONE) {
		append(set, id, call);
	} else {
		tree->open = gt_grown(tree->open, tree->open_count, &tree->open_room, sizeof(*tree->open));
		tree->open[tree->open_count++] = *call;
	}
}

/* The node of a call with those that it made, which are open at `first`. */
static uint32_t make_node(struct gt_flow_tree *tree, uint32_t region, uint64_t work, size_t first)
{
	size_t count = tree->open_count - first;
	struct gt_flow_call *calls;
	uint32_t id;

	if (region == GT_FLOW_ROOT || !is_summed(tree, region))
		return gt_flow_cons(&tree->set, &tree->rule, region, work,
				    count ? tree->open + first : NULL, (uint32_t)count);
	id = tree->sums[region] - 1;
	calls = gt_resized(NULL, count + 1, sizeof(*calls)); /* open ones may move */
	if (count)
		memcpy(calls, tree->open + first, count * sizeof(*calls));
	for (size_t i = 0; i < count; i++)
		add_call(tree, id, 0, &calls[i]);
	free(calls);
	return id;
}

/* A call behind those that begin at `first`; `summed`: in no order. */
static void push(struct gt_flow_tree *tree, size_t first, const struct gt_flow_call *call, bool summed)
{
	if (summed) {
		add_call(tree, GT_FLOW_NONE, first, call);
		return;
	}
	tree->open = gt_grown(tree->open, tree->open_count, &tree->open_room, sizeof(*tree->open));
	tree->open[tree->open_count++] = *call;
	while (fold(tree, first))
		;
}

/* ---- what does not fit --------------------------------------------------------------------------- */

static size_t size_of(const struct gt_flow_tree *tree)
{
	return tree->set.count + tree->set.call_count + tree->open_count;
}

static void push_old(struct gt_flow_tree *tree, size_t first, const struct gt_flow_call *old, uint32_t node,
		     bool summed)
{
	const struct gt_flow_set *set = &tree->set;
	struct gt_flow_call call = *old;

	if (node == GT_FLOW_NONE)
		return;
	call.node = node;
	while (call.loop && set->nodes[call.node].children == 1) { /* of one call: no loop any more */
		const struct gt_flow_node *loop = &set->nodes[call.node];
		struct gt_flow_call only =
			part_of(&set->calls[loop->first],
				loop->count ? (double)call.calls / (double)loop->count : 1);

		only.time = call.time;
		only.work = call.work;
		only.begin = call.begin;
		call = only;
	}
	push(tree, first, &call, summed);
}

/* A node without its small calls, in the new set; GT_FLOW_NONE if it is small itself. */
static uint32_t rebuild_node(struct gt_flow_tree *tree, const struct gt_flow_set *old,
			     const struct gt_flow_node *node, const uint32_t *map)
{
	bool summed = is_summed(tree, node->region);
	size_t first = tree->open_count;
	struct gt_flow_node *made;
	uint32_t id;

	if (node->longest < tree->small)
		return GT_FLOW_NONE;
	for (uint32_t i = 0; i < node->children; i++)
		push_old(tree, first, &old->calls[node->first + i], map[old->calls[node->first + i].node],
			 summed);
	id = make_node(tree, node->region, node->reference, first);
	tree->open_count = first;
	made = &tree->set.nodes[id];
	made->count += node->count;
	made->time += node->time;
	if (node->longest > made->longest)
		made->longest = node->longest;
	return id;
}

/* Nodes of regions that are summed, which others may call before they are met. */
static void make_sums(struct gt_flow_tree *tree, const struct gt_flow_set *old, uint32_t *map)
{
	for (size_t region = 0; region < tree->sum_room; region++)
		if (tree->sums[region])
			tree->sums[region] = 1 + new_node(&tree->set, gt_hash_mix(GT_HASH_START, region),
							  (uint32_t)region, 0, NULL, 0);
	for (size_t i = 0; i < old->count; i++) {
		const struct gt_flow_node *node = &old->nodes[i];

		map[i] = GT_FLOW_NONE;
		if (node->region >= tree->sum_room || !tree->sums[node->region] ||
		    node->longest < tree->small)
			continue;
		map[i] = tree->sums[node->region] - 1;
		if (node->longest > tree->set.nodes[map[i]].longest)
			tree->set.nodes[map[i]].longest = node->longest;
	}
}

/* Nodes come before those that call them, but for summed ones, which come last. */
static void rebuild_nodes(struct gt_flow_tree *tree, const struct gt_flow_set *old, uint32_t *map)
{
	make_sums(tree, old, map);
	for (int summed = 0; summed < 2; summed++)
		for (size_t i = 0; i < old->count; i++)
			if (is_summed(tree, old->nodes[i].region) == summed)
				map[i] = rebuild_node(tree, old, &old->nodes[i], map);
}

static void rebuild(struct gt_flow_tree *tree)
{
	struct gt_flow_set old = tree->set;
	struct gt_flow_call *open = tree->open;
	size_t count = tree->open_count;
	uint32_t *map = gt_flow_zeroed(old.count, sizeof(*map));

	tree->set = (struct gt_flow_set){ .count = 0 };
	tree->open = NULL;
	tree->open_count = tree->open_room = 0;
	rebuild_nodes(tree, &old, map);
	for (size_t f = 0; f < tree->depth; f++) {
		size_t end = f + 1 < tree->depth ? tree->frames[f + 1].first : count;
		size_t at = tree->frames[f].first;

		tree->frames[f].first = tree->open_count;
		for (; at < end; at++)
			push_old(tree, tree->frames[f].first, &open[at], map[open[at].node],
				 is_summed(tree, tree->frames[f].region));
	}
	gt_flow_set_free(&old);
	free(open);
	free(map);
}

static void sum_region(struct gt_flow_tree *tree, uint32_t region)
{
	tree->sum_root |= region == GT_FLOW_ROOT;
	while (region != GT_FLOW_ROOT && region >= tree->sum_room) {
		size_t room = tree->sum_room;

		tree->sums = gt_grown(tree->sums, room, &tree->sum_room, sizeof(*tree->sums));
		memset(tree->sums + room, 0, (tree->sum_room - room) * sizeof(*tree->sums));
	}
	if (region != GT_FLOW_ROOT)
		tree->sums[region] = 1;
	tree->sum_count++;
}

/* What a region takes: as one that is called in different ways, and as one that calls in no order. */
struct weight {
	size_t nodes, calls, made;
};

static size_t place_of(uint32_t region, size_t regions)
{
	return region < regions ? region : regions + (region == GT_FLOW_ROOT);
}

static void weigh(const struct gt_flow_tree *tree, struct weight *weights, size_t regions)
{
	const struct gt_flow_set *set = &tree->set;

	for (size_t i = 0; i < set->count; i++) {
		weights[place_of(set->nodes[i].region, regions)].nodes++;
		weights[place_of(set->nodes[i].region, regions)].made += set->nodes[i].children;
		for (uint32_t k = 0; k < set->nodes[i].children; k++)
			weights[place_of(set->nodes[set->calls[set->nodes[i].first + k].node].region,
					 regions)]
				.calls++;
	}
	for (size_t i = 0; i < tree->open_count; i++)
		weights[place_of(set->nodes[tree->open[i].node].region, regions)].calls++;
	for (size_t f = 0; f < tree->depth; f++)
		weights[place_of(tree->frames[f].region, regions)].made +=
			(f + 1 < tree->depth ? tree->frames[f + 1].first : tree->open_count) -
			tree->frames[f].first;
}

/* The region whose sum saves most; GT_FLOW_NONE: there is none. */
static uint32_t heaviest(const struct gt_flow_tree *tree)
{
	size_t regions = 0, most = 64;
	uint32_t best = GT_FLOW_NONE;
	struct weight *weights;

	for (size_t i = 0; i < tree->set.count; i++)
		if (tree->set.nodes[i].region < GT_FLOW_CODE && tree->set.nodes[i].region >= regions)
			regions = (size_t)tree->set.nodes[i].region + 1;
	for (size_t f = 0; f < tree->depth; f++)
		if (tree->frames[f].region < GT_FLOW_CODE && tree->frames[f].region >= regions)
			regions = (size_t)tree->frames[f].region + 1;
	weights = gt_flow_zeroed(regions + 2, sizeof(*weights));
	weigh(tree, weights, regions);
	for (size_t r = 0; r < regions + 2; r++) {
		uint32_t region = r < regions ? (uint32_t)r : GT_FLOW_ROOT;
		size_t called =
			weights[r].nodes > 1 && r < regions ? 2 * (weights[r].nodes + weights[r].calls) : 0;
		size_t weight = called > weights[r].made ? called : weights[r].made;

		if (r == regions || is_summed(tree, region) || weight <= most)
			continue;
		most = weight;
		best = region;
	}
	free(weights);
	return best;
}

static void make_smaller(struct gt_flow_tree *tree)
{
	do {
		uint32_t region = heaviest(tree);

		if (region != GT_FLOW_NONE)
			sum_region(tree, region);
		else
			tree->small = 2 * tree->small + tree->rule.floor / 4096 + 1;
		rebuild(tree);
	} while (size_of(tree) > tree->limit / 2 && tree->small < UINT64_MAX / 4);
}

/* Of the calls in a list: a region, the calls of it, and whether they differ. */
struct crowd {
	uint32_t region, node;
	size_t calls;
	bool differ;
};

static void count_call(const struct gt_flow_set *set, struct crowd *crowd, size_t *count, uint32_t node)
{
	uint32_t region = set->nodes[node].region;
	size_t i = 0;

	while (i < *count && crowd[i].region != region)
		i++;
	if (i == MOST_REGIONS)
		return;
	if (i == *count)
		crowd[(*count)++] = (struct crowd){ region, node, 0, false };
	crowd[i].calls++;
	crowd[i].differ |= crowd[i].node != node;
}

/*
 * Many calls of few regions that make no loop: they come in no order. GT_FLOW_NONE, or the region of which
 * there are most different calls, or that of the caller if they are all alike.
 */
static uint32_t crowded(const struct gt_flow_tree *tree, const struct gt_flow_frame *frame)
{
	const struct gt_flow_set *set = &tree->set;
	size_t n = tree->open_count - frame->first, count = 0, best = 0;
	struct crowd crowd[MOST_REGIONS];
	uint32_t region = frame->region;

	if (n < CROWD || n % CROWD || is_summed(tree, region))
		return GT_FLOW_NONE;
	for (size_t i = frame->first; i < tree->open_count; i++) {
		const struct gt_flow_node *node = &set->nodes[tree->open[i].node];

		for (uint32_t k = 0; tree->open[i].loop && k < node->children; k++)
			count_call(set, crowd, &count, set->calls[node->first + k].node);
		if (!tree->open[i].loop)
			count_call(set, crowd, &count, tree->open[i].node);
	}
	if (n < 4 * count)
		return GT_FLOW_NONE;
	for (size_t i = 0; i < count; i++) {
		if (!crowd[i].differ || crowd[i].calls <= best || crowd[i].region >= GT_FLOW_CODE)
			continue;
		best = crowd[i].calls;
		region = crowd[i].region;
	}
	return region;
}

static void thin_out(struct gt_flow_tree *tree)
{
	uint32_t region = crowded(tree, &tree->frames[tree->depth - 1]);

	if (region == GT_FLOW_NONE)
		return;
	sum_region(tree, region);
	rebuild(tree);
}

void gt_flow_like(struct gt_flow_tree *tree, const struct gt_flow_tree *other)
{
	bool changed = (other->sum_root && !tree->sum_root) || other->small > tree->small;

	if (other->sum_root && !tree->sum_root)
		sum_region(tree, GT_FLOW_ROOT);
	for (size_t region = 0; region < other->sum_room; region++)
		if (other->sums[region] && !is_summed(tree, (uint32_t)region)) {
			sum_region(tree, (uint32_t)region);
			changed = true;
		}
	tree->small = other->small > tree->small ? other->small : tree->small;
	if (changed)
		rebuild(tree);
}

/* ---- calls --------------------------------------------------------------------------------------- */

static void open_frame(struct gt_flow_tree *tree, uint32_t region, uint64_t time)
{
	tree->frames = gt_grown(tree->frames, tree->depth, &tree->frame_room, sizeof(*tree->frames));
	tree->frames[tree->depth++] =
		(struct gt_flow_frame){ .region = region, .begin = time, .first = tree->open_count };
}

void gt_flow_start(struct gt_flow_tree *tree, uint64_t time)
{
	if (tree->depth)
		return;
	open_frame(tree, GT_FLOW_ROOT, time);
	tree->code_begin = time;
}

/* What ran since the last outermost call, or since the begin. */
static void add_code(struct gt_flow_tree *tree, uint64_t time)
{
	uint64_t waited = tree->code_waited;

	if (!tree->code || tree->depth != 1)
		return;
	tree->frames[0].waited -= waited;
	tree->code_waited = 0;
	open_frame(tree, GT_FLOW_CODE, tree->code_begin);
	tree->frames[1].waited = waited;
	gt_flow_leave(tree, time, false);
}

void gt_flow_enter(struct gt_flow_tree *tree, uint32_t region, uint64_t time)
{
	gt_flow_start(tree, time);
	add_code(tree, time);
	open_frame(tree, region, time);
}

void gt_flow_add_wait(struct gt_flow_tree *tree, uint64_t begin, uint64_t time)
{
	gt_flow_start(tree, begin);
	tree->frames[tree->depth - 1].waited += time - begin;
	if (tree->depth == 1)
		tree->code_waited += time - begin;
}

static uint32_t close_frame(struct gt_flow_tree *tree, const struct gt_flow_frame *frame, uint64_t time,
			    uint64_t work)
{
	uint32_t id = make_node(tree, frame->region, work, frame->first);
	struct gt_flow_node *node = &tree->set.nodes[id];

	node->count++;
	node->time += time;
	if (time > node->longest)
		node->longest = time;
	tree->open_count = frame->first;
	return id;
}

void gt_flow_leave(struct gt_flow_tree *tree, uint64_t time, bool waits)
{
	struct gt_flow_frame frame = tree->frames[--tree->depth];
	struct gt_flow_call call = { .calls = 1, .time = time - frame.begin, .begin = frame.begin };

	if (waits)
		frame.waited = call.time;
	call.work = call.time > frame.waited ? call.time - frame.waited : 0;
	if (call.time < tree->small && frame.region != GT_FLOW_ROOT) {
		tree->open_count = frame.first;
	} else {
		call.node = close_frame(tree, &frame, call.time, call.work);
		if (tree->depth)
			push(tree, tree->frames[tree->depth - 1].first, &call,
			     is_summed(tree, tree->frames[tree->depth - 1].region));
	}
	if (tree->depth)
		tree->frames[tree->depth - 1].waited += frame.waited;
	if (tree->depth == 1)
		tree->code_begin = time;
	if (!tree->depth)
		return;
	thin_out(tree);
	if (size_of(tree) > tree->limit)
		make_smaller(tree);
}

void gt_flow_finish(struct gt_flow_tree *tree, uint64_t time)
{
	gt_flow_start(tree, time);
	while (tree->depth > 1)
		gt_flow_leave(tree, time, false);
	add_code(tree, time);
	gt_flow_leave(tree, time, false);
}

void gt_flow_tree_free(struct gt_flow_tree *tree)
{
	gt_flow_set_free(&tree->set);
	free(tree->open);
	free(tree->frames);
	free(tree->sums);
	tree->sums = NULL;
	tree->sum_room = 0;
	tree->open = NULL;
	tree->frames = NULL;
}

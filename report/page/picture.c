/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture as an analysis of the report, and its course.
 *
 * Limits: see picture.h. Ends of messages and launches wait in memory behind a send whose request is open,
 * and for their other side while a channel is matched.
 */
#include "config.h"

#include "report/page/picture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/spool/sort.h"
#include "lib/assemble/util/memory.h"
#include "report/flow/flow.h"
#include "report/sections/samples.h"
#include "report/waits/sync.h"

enum { RUN_BYTES = 16 << 20, PLACE_EVENTS = 8192, MOST_NODES = 1 << 20, REPORT_ROWS = 4096 };
enum { MOST_ENDS = 4096 };
enum { END_SLOTS = (sizeof(struct gt_end) + sizeof(struct gt_slot) - 1) / sizeof(struct gt_slot) };

union end {
	struct gt_end end;
	struct gt_slot slots[END_SLOTS];
};

_Static_assert(sizeof(struct gt_link) % sizeof(struct gt_slot) == 0, "a link is some slots");

struct drawing {
	struct gt_picture *picture;
	struct gt_pyramid calls, samples; /* samples: opened by the first one */
	struct gt_match match;
	size_t ends_left;        /* of match, when it was written out the last time */
	struct gt_picture_node *nodes;
	uint32_t node_count, node_room;
	struct gt_picture_curve *curves;
	size_t curve_count, curve_room;
	uint64_t collective;     /* when it began, + 1 */
	struct {
		uint64_t comm, count;
	} *comms;                /* collectives so far */
	size_t comm_count, comm_room;
	uint64_t next_place;
	uint64_t bytes;          /* of the activity that is open */
	uint32_t depth;
};

/* ---- call trees ---------------------------------------------------------------------------------- */

static struct gt_picture_node *node_at(struct drawing *d, uint64_t node)
{
	if (node >= MOST_NODES)
		node = 0;
	if (node >= d->node_room) {
		uint32_t room = 2 * (uint32_t)node + 64;

		d->nodes = gt_resized(d->nodes, room, sizeof(*d->nodes));
		memset(d->nodes + d->node_room, 0, (room - d->node_room) * sizeof(*d->nodes));
		d->node_room = room;
	}
	if (node >= d->node_count)
		d->node_count = (uint32_t)node + 1;
	return &d->nodes[node];
}

static void enter_node(struct gt_report *report, struct drawing *d, const struct gt_otf2_cursor *at)
{
	const struct gt_otf2_frame *frame = &at->stack[at->depth - 1];
	struct gt_picture_node *node = node_at(d, (uint32_t)frame->user);

	node->region = gt_report_region(report, frame->region);
	node->parent = at->depth > 1 ? (uint32_t)frame[-1].user : 0;
	node->calls += !(frame->user & GT_PROFILE_CONTINUES);
}

static void leave_node(struct drawing *d, const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct gt_picture_node *node = node_at(d, (uint32_t)frame->user);

	node->inclusive += gt_otf2_inclusive(at, frame);
	node->exclusive += gt_otf2_exclusive(at, frame);
}

/* Of large trees what took less than a ten thousandth of the row is left out; its children are as short. */
static void write_tree(struct drawing *d, uint32_t row)
{
	enum { LARGE = 4096, SHARE = 10000 };
	uint32_t *places = gt_zeroed(d->node_count + 1, sizeof(*places)), n = 0;
	uint64_t all = 0, least;
	struct gt_bytes body = { .count = 0 }, out = { .count = 0 };

	for (uint32_t i = 1; i < d->node_count; i++)
		all += d->nodes[i].exclusive;
	least = d->node_count > LARGE ? all / SHARE + 1 : 0;
	for (uint32_t i = 1; i < d->node_count; i++) {
		const struct gt_picture_node *node = &d->nodes[i];

		if (!node->calls || node->inclusive < least || (node->parent && !places[node->parent]))
			continue;
		places[i] = ++n;
		gt_bytes_number(&body, places[node->parent]);
		gt_bytes_number(&body, node->region);
		gt_bytes_number(&body, node->calls);
		gt_bytes_number(&body, node->inclusive);
		gt_bytes_number(&body, node->exclusive);
	}
	gt_bytes_number(&out, n);
	gt_bytes_add(&out, body.data, body.count);
	if (n)
		gt_store_add(&d->picture->store, GT_TILE_TREE, row, 0, 0, &out);
	free(body.data);
	free(out.data);
	free(places);
}

/* ---- where reading can begin ---------------------------------------------------------------------- */

/* Before the next event: how many there were, the time, and what is open. */
static void write_place(struct drawing *d, const struct gt_otf2_cursor *at)
{
	struct gt_bytes out = { .count = 0 };

	gt_bytes_number(&out, at->event);
	gt_bytes_number(&out, at->ticks);
	gt_bytes_number(&out, at->depth);
	for (size_t i = 0; i < at->depth; i++) {
		gt_bytes_number(&out, gt_report_region(d->picture->report, at->stack[i].region));
		gt_bytes_number(&out, at->stack[i].begin);
	}
	gt_store_add(&d->picture->store, GT_TILE_PLACE, (uint32_t)at->index, 0, at->time, &out);
	free(out.data);
	d->next_place = at->event + PLACE_EVENTS + at->depth;
}

/* ---- the visitor --------------------------------------------------------------------------------- */

static struct gt_picture *picture_of(const struct gt_report *report)
{
	return report->picture;
}

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_picture *picture = picture_of(report);
	struct drawing *d = memory;

	d->picture = picture;
	gt_pyramid_open(&d->calls, &picture->store, GT_TILE_CALLS, (uint32_t)at->index, picture->span_log2,
			at->location->events);
	d->next_place = PLACE_EVENTS;
}

/* The time since the event before belonged to the innermost of `depth` regions. */
static void pass(struct gt_report *report, struct drawing *d, const struct gt_otf2_cursor *at, size_t depth)
{
	if (depth && depth <= at->depth)
		gt_pyramid_spend(&d->calls, at->time, gt_report_region(report, at->stack[depth - 1].region),
				 0);
	else
		gt_pyramid_skip(&d->calls, at->time);
}

/* Of the activity that is open. */
static void take_bytes(struct drawing *d, const struct gt_otf2_cursor *at)
{
	OTF2_AttributeValue value;

	if (gt_otf2_attribute(at, d->picture->bytes, OTF2_TYPE_UINT64, &value))
		d->bytes = value.uint64;
}

/* Keys as numbers: others may, if seldom, have the same. */
static uint64_t key_of(const struct gt_end *end)
{
	uint64_t key = (end->key[0] ^ end->key[1] * UINT64_C(0x9e3779b97f4a7c15)) *
		       UINT64_C(0xff51afd7ed558ccd);

	return key ^ key >> 31;
}

/* Ends of one key come together and in their order, those of different keys in any. */
static void keep_ends(struct gt_picture *picture, struct gt_ends *ends)
{
	pthread_mutex_lock(&picture->spill.lock);
	for (size_t i = 0; i < ends->count; i++) {
		union end one = { .end = ends->items[i] };

		if (gt_sorter_add(picture->ends, key_of(&one.end), one.end.order, one.slots, END_SLOTS))
			exit(2);
	}
	pthread_mutex_unlock(&picture->spill.lock);
	free(ends->items);
}

/* Writes out what is complete, whenever there is twice as much as could not be written the last time. */
static void spill_ends(struct drawing *d)
{
	struct gt_ends ends = { .count = 0 };

	if (d->match.ends.count < MOST_ENDS + 2 * d->ends_left)
		return;
	gt_match_flush(&d->match, &ends);
	keep_ends(d->picture, &ends);
	d->ends_left = d->match.ends.count;
}

static void enter(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	uint32_t region = gt_report_region(report, at->stack[at->depth - 1].region);
	struct drawing *d = memory;

	pass(report, d, at, at->depth - 1);
	if (gt_match_enter(&d->match, at, d->picture->correlation, 0))
		spill_ends(d);
	gt_pyramid_enter(&d->calls, region);
	d->bytes = 0;
	take_bytes(d, at);
	d->depth = at->depth > d->depth ? (uint32_t)at->depth : d->depth;
	enter_node(report, d, at);
}

static void leave(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		  void *memory)
{
	uint32_t region = gt_report_region(report, frame->region);
	struct drawing *d = memory;

	take_bytes(d, at);
	gt_pyramid_spend(&d->calls, at->time, region, d->bytes);
	gt_pyramid_span(&d->calls, frame->begin, at->time, region, (uint32_t)at->depth + 1,
			(uint32_t)at->depth + 1, d->bytes);
	gt_pyramid_leave(&d->calls, region);
	d->bytes = 0;
	gt_match_leave(&d->match, at, d->picture->mpi_error);
	leave_node(d, at, frame);
	if (at->event >= d->next_place)
		write_place(d, at);
}

static struct gt_picture_curve *curve_of(struct drawing *d, const struct gt_otf2_cursor *at,
					 const struct gt_otf2_metric *metric, uint64_t member)
{
	struct gt_picture_curve *curve;

	for (size_t i = 0; i < d->curve_count; i++)
		if (d->curves[i].metric == metric && d->curves[i].member == member)
			return &d->curves[i];
	d->curves = gt_grown(d->curves, d->curve_count, &d->curve_room, sizeof(*d->curves));
	curve = &d->curves[d->curve_count++];
	*curve = (struct gt_picture_curve){ at->index, member, metric, { .count = 0 } };
	gt_curve_open(&curve->curve, &d->picture->store,
		      __atomic_fetch_add(&d->picture->next_curve, 1, __ATOMIC_RELAXED),
		      d->picture->span_log2, at->location->events);
	return curve;
}

static void values(struct drawing *d, const struct gt_otf2_cursor *at, const struct gt_otf2_Metric *e)
{
	const struct gt_otf2_metric *metric = gt_otf2_find_metric(at->read, e->metric);

	for (uint8_t i = 0; metric && i < e->count && i < metric->count; i++)
		gt_curve_value(&curve_of(d, at, metric, metric->members[i])->curve, at->time,
			       gt_otf2_number(e->types[i], e->values[i]));
}

/* The n-th collective of a communicator here belongs to the n-th of each other member. */
static void collective(struct drawing *d, const struct gt_otf2_cursor *at,
		       const struct gt_otf2_MpiCollectiveEnd *e)
{
	ptrdiff_t comm = gt_otf2_index(at->read, GT_OTF2_COMM, e->comm);
	struct gt_item item = { .time = d->collective - 1, .begin = at->time, .value = (uint32_t)e->op,
				.location = (uint32_t)at->index };
	size_t i = 0;

	if (comm < 0 || !d->collective)
		return;
	while (i < d->comm_count && d->comms[i].comm != e->comm)
		i++;
	if (i == d->comm_count) {
		d->comms = gt_grown(d->comms, d->comm_count, &d->comm_room, sizeof(*d->comms));
		d->comms[d->comm_count].comm = e->comm;
		d->comms[d->comm_count++].count = 0;
	}
	item.key = (uint64_t)comm << 32 | (d->comms[i].count++ & 0xffffffff);
	item.tie = at->index;
	pthread_mutex_lock(&d->picture->spill.lock);
	gt_bag_add(&d->picture->spill, &d->picture->collectives, &item);
	pthread_mutex_unlock(&d->picture->spill.lock);
	d->collective = 0;
}

static void sample(struct gt_report *report, struct drawing *d, const struct gt_otf2_cursor *at,
		   const struct gt_otf2_CallingContextSample *e)
{
	struct gt_stack_sample of = gt_stack_sample_of(&d->picture->stacks, at, e);
	uint64_t function = of.ours ? gt_samples_ourselves(report) : gt_samples_ourselves(report) - 1;
	size_t context = 0;

	if (of.context && !of.ours) {
		function = gt_samples_function(report, of.context);
		context = (size_t)(of.context - gt_otf2_context_at(report->read, 0)) + 1;
	}
	if (!d->samples.level)
		gt_pyramid_open(&d->samples, &d->picture->store, GT_TILE_SAMPLES, (uint32_t)at->index,
				d->picture->span_log2, at->location->events);
	gt_pyramid_sample(&d->samples, at->time, of.ns, (uint32_t)function, (uint32_t)context);
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *e,
		  void *memory)
{
	struct drawing *d = memory;

	pass(report, d, at, at->depth);
	switch (e->type) {
	case GT_OTF2_Metric:
		values(d, at, &e->Metric);
		break;
	case GT_OTF2_MpiCollectiveBegin:
		d->collective = at->time + 1;
		break;
	case GT_OTF2_MpiCollectiveEnd:
		collective(d, at, &e->MpiCollectiveEnd);
		break;
	case GT_OTF2_CallingContextSample:
		sample(report, d, at, &e->CallingContextSample);
		break;
	default:
		if (gt_match_event(&d->match, at, e, 0))
			spill_ends(d);
	}
	if (at->event >= d->next_place)
		write_place(d, at);
}

static void end(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_picture_row *row = &picture_of(report)->rows[at->index];
	struct gt_ends ends = { .count = 0 };
	struct drawing *d = memory;

	for (size_t i = at->depth; i-- > 0;) {
		struct gt_otf2_frame *frame = &at->stack[i];
		uint32_t region = gt_report_region(report, frame->region);

		gt_pyramid_span(&d->calls, frame->begin, at->time, region, (uint32_t)i + 1, (uint32_t)i + 1,
				0);
		gt_pyramid_leave(&d->calls, region);
		leave_node(d, at, frame); /* the profile has added it to what is below */
	}
	gt_pyramid_close(&d->calls);
	write_tree(d, (uint32_t)at->index);
	*row = (struct gt_picture_row){ d->depth, d->calls.levels, d->calls.sum_levels, 0, d->calls.exact };
	if (d->samples.level) {
		gt_pyramid_close(&d->samples);
		row->sample_levels = d->samples.levels;
	}
	gt_match_end(&d->match, &ends);
	keep_ends(d->picture, &ends);
	for (size_t i = 0; i < d->curve_count; i++)
		gt_curve_close(&d->curves[i].curve);
	free(d->nodes);
	free(d->comms);
}

static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	struct gt_picture *picture = picture_of(report);
	struct drawing *d = memory;

	(void)at, (void)result;
	for (size_t i = 0; i < d->curve_count; i++) {
		picture->curves = gt_grown(picture->curves, picture->curve_count, &picture->curve_room,
					   sizeof(*picture->curves));
		picture->curves[picture->curve_count++] = d->curves[i];
	}
	free(d->curves);
}

/* ---- before and after ---------------------------------------------------------------------------- */

static void prepare(struct gt_report *report, void *result)
{
	struct gt_picture *picture = picture_of(report);
	const struct gt_otf2 *read = report->read;
	size_t locations = read->tables[GT_OTF2_LOCATION].count;
	uint64_t most = (UINT64_C(1) << GT_SPAN_MOST) - 1, range = gt_otf2_ns(read, read->end);

	(void)result;
	picture->report = report;
	picture->end = range < most ? range : most;
	picture->span_log2 = picture->end >> GT_BUCKETS_LOG2 ? 64 - (unsigned)__builtin_clzll(picture->end)
							     : GT_BUCKETS_LOG2;
	picture->rows = gt_zeroed(locations + 1, sizeof(*picture->rows));
	picture->correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	picture->mpi_error = gt_otf2_attribute_named(read, "MPI_ERROR");
	picture->bytes = gt_otf2_attribute_named(read, "BYTES");
	picture->stacks = gt_stacks_of(read);
	picture->path.size = sizeof(struct gt_path_part);
	gt_spill_open(&picture->spill);
	picture->ends = gt_need(gt_sorter_new(dup(picture->spill.dir), RUN_BYTES));
	gt_links_open(&picture->links, &picture->store, picture->span_log2, (uint32_t)locations);
}

static bool of_gpu(const struct gt_otf2 *read, uint64_t id)
{
	const struct gt_otf2_comm *comm = gt_otf2_find_comm(read, id);
	const struct gt_otf2_group *group = comm ? gt_otf2_find_group(read, comm->group) : NULL;

	return group && (group->paradigm == OTF2_PARADIGM_CUDA || group->paradigm == OTF2_PARADIGM_HIP ||
			 group->paradigm == OTF2_PARADIGM_OPENCL);
}

static void on_pair(void *user, const struct gt_end *from, const struct gt_end *to)
{
	struct gt_picture *picture = user;
	const struct gt_otf2 *read = picture->report->read;
	struct gt_link link = { .begin = from->time, .end = to->time, .from = from->location,
				.to = to->location, .type = GT_LINK_LAUNCH };

	if (from->what == GT_END_SEND) {
		if (of_gpu(read, from->comm))
			return; /* a copy, which its launch ties */
		link.type = GT_LINK_MESSAGE;
		link.bytes = from->bytes;
		link.tag = from->tag;
		link.comm = 1 + (uint32_t)gt_otf2_index(read, GT_OTF2_COMM, from->comm);
	}
	gt_links_add(&picture->links, &link);
}

/* Channels of one key: more than one only if keys are equal by chance. */
struct channels {
	struct channel {
		uint64_t key[2];
		struct gt_match_channel of;
	} *items;
	size_t count, room, used;
};

static struct gt_match_channel *channel_of(struct channels *all, const struct gt_end *end)
{
	struct channel *one;

	for (size_t i = 0; i < all->used; i++)
		if (!memcmp(all->items[i].key, end->key, sizeof(end->key)))
			return &all->items[i].of;
	if (all->used == all->count) {
		all->items = gt_grown(all->items, all->count, &all->room, sizeof(*all->items));
		all->items[all->count++] = (struct channel){ .key = { 0 } };
	}
	one = &all->items[all->used++];
	memcpy(one->key, end->key, sizeof(one->key));
	return &one->of;
}

/* Ends of one key and order have come. */
static void match_some(struct channels *all, struct gt_ends *ends, const struct gt_matched *to)
{
	if (ends->count > 1)
		qsort(ends->items, ends->count, sizeof(*ends->items), gt_match_order);
	for (size_t i = 0; i < ends->count; i++)
		gt_channel_end(channel_of(all, &ends->items[i]), &ends->items[i], to);
	ends->count = 0;
}

static void close_channels(struct channels *all, const struct gt_matched *to)
{
	for (size_t i = 0; i < all->used; i++)
		gt_channel_close(&all->items[i].of, to);
	all->used = 0;
}

static void write_pairs(struct gt_picture *picture)
{
	const struct gt_matched to = { picture, on_pair, NULL };
	struct gt_ends ends = { .count = 0 };
	struct channels all = { .count = 0 };
	uint64_t key = 0, order = 0;
	union end one;

	if (gt_sorter_finish(picture->ends))
		exit(2);
	while (gt_sorter_unit(picture->ends, one.slots, END_SLOTS) > 0) {
		if (key_of(&one.end) != key || one.end.order != order)
			match_some(&all, &ends, &to);
		if (key_of(&one.end) != key)
			close_channels(&all, &to);
		key = key_of(&one.end);
		order = one.end.order;
		ends.items = gt_grown(ends.items, ends.count, &ends.room, sizeof(*ends.items));
		ends.items[ends.count++] = one.end;
	}
	match_some(&all, &ends, &to);
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].of.waiting.items);
	free(all.items);
	free(ends.items);
	gt_sorter_free(picture->ends);
}

static void write_collectives(struct gt_picture *picture)
{
	struct gt_link link = { .type = GT_LINK_COLLECTIVE };
	uint64_t key = 0, members = 0;

	for (;;) {
		const struct gt_item *next = gt_bag_next(&picture->collectives);

		if (members && (!next || next->key != key))
			gt_links_add(&picture->links, &link);
		if (!next)
			break;
		if (!members || next->key != key) {
			members = 0;
			link = (struct gt_link){ .type = GT_LINK_COLLECTIVE, .tag = next->value,
						 .comm = (uint32_t)(next->key >> 32) + 1 };
		}
		key = next->key;
		if (!members++ || next->time > link.begin) {
			link.begin = next->time;
			link.from = link.to = next->location;
		}
		link.end = next->begin > link.end ? next->begin : link.end;
		gt_bag_take(&picture->collectives);
	}
	gt_bag_free(&picture->collectives);
}

static bool is_thread(const struct gt_picture *picture, uint32_t row)
{
	return gt_otf2_location_at(picture->report->read, row)->type == OTF2_LOCATION_TYPE_CPU_THREAD;
}

/* The thread that began then comes from there. */
static void add_creation(struct gt_picture *picture, uint32_t row, uint32_t creator, uint64_t created,
			 uint64_t begin)
{
	if (creator != GT_NO_CAUSE && is_thread(picture, row) && is_thread(picture, creator))
		gt_links_add(&picture->links,
			     &(struct gt_link){ .type = GT_LINK_CREATE, .from = creator, .to = row,
						.begin = created, .end = begin });
}

/* Waits of a row, and who ended those for locks; where threads come from. */
static void write_waits(struct gt_picture *picture, const struct gt_sync *sync, uint32_t row)
{
	const struct gt_timeline *timeline = &sync->timelines[row];
	struct gt_pyramid waits;
	uint64_t before = 0;

	add_creation(picture, row, timeline->creator, timeline->created, timeline->begin);
	gt_pyramid_open(&waits, &picture->store, GT_TILE_WAITS, row, picture->span_log2,
			timeline->segments.count);
	for (uint64_t i = 0; i < timeline->segments.count; i++) {
		const struct gt_wait_segment *segment = gt_segment_at(sync, row, i);
		uint64_t waited = gt_sync_waited(segment), until;

		if (segment->birth)
			add_creation(picture, row, segment->cause, segment->until, segment->end);
		if (!segment->wait || !waited)
			continue;
		until = segment->cause == GT_NO_CAUSE ? segment->end : segment->until;
		if (until <= before)
			continue;
		gt_pyramid_span(&waits, until - waited > before ? until - waited : before, until,
				segment->wait, 0, segment->cause == GT_NO_CAUSE ? 0 : segment->cause + 1, 0);
		before = until;
		if (segment->wait == GT_WAIT_LOCK && segment->cause != GT_NO_CAUSE)
			gt_links_add(&picture->links,
				     &(struct gt_link){ .type = GT_LINK_LOCK, .from = segment->cause,
							.to = row, .begin = until, .end = segment->end });
	}
	gt_pyramid_close(&waits);
}

/* The path was noted from its end to its begin. */
static void write_path(struct gt_picture *picture)
{
	size_t rows = picture->report->read->tables[GT_OTF2_LOCATION].count;
	struct gt_pyramid *paths = gt_zeroed(rows + 1, sizeof(*paths));

	for (uint64_t i = picture->path.count; i-- > 0;) {
		const struct gt_path_part *part = gt_log_at(&picture->path, i);
		struct gt_pyramid *path = &paths[part->location];

		if (!path->level)
			gt_pyramid_open(path, &picture->store, GT_TILE_PATH, part->location,
					picture->span_log2, picture->path.count);
		gt_pyramid_span(path, part->begin, part->end, part->region, 0, 0, 0);
	}
	for (size_t i = 0; i < rows; i++)
		gt_pyramid_close(&paths[i]);
	free(paths);
	gt_log_free(&picture->path);
}

/* Threads have numbered the curves as they met them; tiles get the curves' places, which are in order. */
static void number_curves(struct gt_picture *picture)
{
	uint32_t *places = gt_zeroed(picture->next_curve + 1, sizeof(*places));

	for (size_t i = 0; i < picture->curve_count; i++)
		places[picture->curves[i].curve.id] = (uint32_t)i;
	for (size_t i = 0; i < picture->store.count; i++)
		if (picture->store.tiles[i].kind == GT_TILE_TRACK)
			picture->store.tiles[i].row = places[picture->store.tiles[i].row];
	free(places);
}

static void figures(struct gt_report *report, void *result)
{
	struct gt_picture *picture = picture_of(report);
	const struct gt_sync *sync = gt_report_result(report, &gt_sync_analysis);

	(void)result;
	number_curves(picture);
	write_pairs(picture);
	write_collectives(picture);
	for (uint32_t i = 0; sync && i < gt_sync_locations(sync); i++)
		write_waits(picture, sync, i);
	write_path(picture);
	picture->levels = gt_links_close(&picture->links);
	gt_spill_close(&picture->spill);
}

const struct gt_analysis gt_picture_analysis = {
	.name = "picture", .state_size = sizeof(struct drawing), .prepare = prepare,
	.begin = begin, .enter = enter, .leave = leave, .event = event, .end = end, .merge = merge,
	.figures = figures,
};

/* ---- the course ---------------------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
	return gt_need(strdup(text ? text : ""));
}

static void on_marker(void *user, const struct gt_otf2_marker *of)
{
	enum { MOST = 10000 };
	struct gt_report *report = user;
	struct gt_picture *picture = report->picture;
	struct gt_page_marker *marker;

	if (picture->marker_count == MOST)
		return;
	picture->markers = gt_grown(picture->markers, picture->marker_count, &picture->marker_room,
				    sizeof(*picture->markers));
	marker = &picture->markers[picture->marker_count++];
	*marker = (struct gt_page_marker){ .of = *of, .time = gt_otf2_ns(report->read, of->time) };
	marker->duration = gt_otf2_ns(report->read, of->time + of->duration) - marker->time;
	marker->of.category = copy_of(of->category);
	marker->of.group = copy_of(of->group);
	marker->of.text = copy_of(of->text);
}

/*
 * The JSON of `gputrace report --json`. Tables that are long (call trees) are cut: the page has call trees
 * of its own.
 */
static char *report_json(struct gt_report *report, size_t *size)
{
	const struct gt_face face = { .json_rows = REPORT_ROWS };
	char *text = NULL;
	FILE *memory = gt_need(open_memstream(&text, size));

	gt_figures_json(&report->figures, &face, memory);
	if (fclose(memory))
		gt_no_memory();
	return text;
}

static void put_report(struct gt_report *report, struct gt_bytes *out)
{
	size_t size;
	char *text = report_json(report, &size);

	gt_bytes_safe(out, text);
	free(text);
}

/* Another pass over the events, of about a twentieth of the time of the first; it needs all of them. */
static void put_flow(const struct gt_picture *picture, struct gt_bytes *out)
{
	struct gt_flow_options options = gt_flow_defaults;
	char *text = NULL;
	size_t size;

	if (picture->report->damaged)
		return;
	options.page = gt_need(open_memstream(&text, &size));
	if (gt_flow_archive(picture->anchor, &options, NULL))
		return; /* it has said why; the rest can be shown */
	if (fclose(options.page))
		gt_no_memory();
	gt_bytes_add(out, text, size);
	free(text);
}

static void put_rows(const struct gt_picture *picture, struct gt_bytes *out)
{
	const struct gt_otf2 *read = picture->report->read;
	size_t rows = read->tables[GT_OTF2_LOCATION].count;

	gt_bytes_number(out, rows);
	gt_bytes_number(out, read->tables[GT_OTF2_REGION].count);
	gt_bytes_number(out, picture->span_log2);
	for (size_t i = 0; i < rows; i++)
		gt_bytes_number(out, picture->rows[i].sum_levels);
}

static void put_text(struct gt_picture *picture, enum gt_text_row row, struct gt_bytes *text)
{
	gt_store_add(&picture->store, GT_TILE_TEXT, row, 0, 0, text);
	text->count = 0;
}

int gt_picture_make(const char *anchor, int fd)
{
	struct gt_picture picture = { .anchor = anchor };
	struct gt_bytes text = { .count = 0 };
	struct gt_report *report;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	gt_archive_identify(anchor, &picture.id);
	gt_store_begin(&picture.store, fd);
	report = gt_report_make_picture(anchor, 0, &gt_picture_analysis, &picture);
	if (!report)
		return 2;
	gt_otf2_markers(report->read, on_marker);
	put_report(report, &text);
	put_text(&picture, GT_TEXT_REPORT, &text);
	gt_picture_title(&picture, &text);
	put_text(&picture, GT_TEXT_TITLE, &text);
	gt_picture_meta(&picture, &text);
	put_text(&picture, GT_TEXT_META, &text);
	put_rows(&picture, &text);
	put_text(&picture, GT_TEXT_ROWS, &text);
	gt_bytes_number(&text, report->damaged);
	gt_bytes_number(&text, report->read->tables[GT_OTF2_LOCATION].count);
	put_text(&picture, GT_TEXT_DAMAGE, &text);
	put_flow(&picture, &text);
	put_text(&picture, GT_TEXT_FLOW, &text);
	free(text.data);
	rc = gt_store_finish(&picture.store, &picture.id);
	if (rc)
		fprintf(stderr, "gputrace: the picture cannot be written: %s\n", strerror(-rc));
	/* The reader is not closed: the process ends, and libotf2 may be in any state. */
	return rc ? 2 : 0;
}

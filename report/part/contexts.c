/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One tree of calling contexts for calls and samples.
 *
 * Limits: see contexts.h.
 */
#include "config.h"

#include "report/part/contexts.h"

#include <stdlib.h>

#include "lib/assemble/util/memory.h"

struct gt_contexts {
	const struct gt_otf2 *read;
	struct gt_stack_ids stacks;
	struct gt_lookup kinds;      /* region and source: their number */
	struct gt_lookup nodes;      /* caller and number: a node */
	struct gt_otf2_context *new; /* their ids follow each other */
	uint32_t *depths;            /* of the new ones: nodes of the path */
	uint32_t *old_depths;        /* by index */
	size_t count, room, depth_room;
	uint64_t first;              /* id of the first new one */
	uint32_t kind_count;
	struct gt_frames frames;     /* of the sample */
};

/* Their callers are before them. */
static uint32_t *find_depths(const struct gt_otf2 *read)
{
	size_t count = read->tables[GT_OTF2_CONTEXT].count;
	uint32_t *depths = gt_zeroed(count + 1, sizeof(*depths));

	for (size_t i = 0; i < count; i++) {
		const struct gt_otf2_context *caller = gt_otf2_caller(read, gt_otf2_context_at(read, i));

		depths[i] = 1 + (caller ? depths[caller - gt_otf2_context_at(read, 0)] : 0);
	}
	return depths;
}

struct gt_contexts *gt_contexts_new(const struct gt_otf2 *read)
{
	struct gt_contexts *contexts = gt_zeroed(1, sizeof(*contexts));

	contexts->read = read;
	for (size_t i = 0; i < read->tables[GT_OTF2_CONTEXT].count; i++)
		if (gt_otf2_context_at(read, i)->id >= contexts->first)
			contexts->first = gt_otf2_context_at(read, i)->id + 1;
	contexts->stacks = gt_stacks_of(read);
	contexts->old_depths = find_depths(read);
	if (gt_lookup_init(&contexts->kinds) || gt_lookup_init(&contexts->nodes))
		gt_no_memory();
	return contexts;
}

bool gt_contexts_have_room(const struct gt_contexts *contexts)
{
	return contexts->first + GT_CONTEXTS_MOST + contexts->read->tables[GT_OTF2_REGION].count <=
	       OTF2_UNDEFINED_CALLING_CONTEXT;
}

/* ---- nodes --------------------------------------------------------------------------------------- */

static uint32_t caller_of(const struct gt_contexts *contexts, uint32_t node)
{
	const struct gt_otf2_context *caller;

	if (node >= contexts->first)
		return contexts->new[node - contexts->first].parent;
	caller = gt_otf2_caller(contexts->read, gt_otf2_find_context(contexts->read, node));
	return caller ? (uint32_t)caller->id : OTF2_UNDEFINED_CALLING_CONTEXT;
}

static uint32_t depth_of(const struct gt_contexts *contexts, uint32_t node)
{
	if (node == OTF2_UNDEFINED_CALLING_CONTEXT)
		return 0;
	return node < contexts->first
		       ? contexts->old_depths[gt_otf2_index(contexts->read, GT_OTF2_CONTEXT, node)]
		       : contexts->depths[node - contexts->first];
}

/* How many nodes of its path are not in that of the one before. */
static uint32_t count_new(const struct gt_contexts *contexts, uint32_t before, uint32_t node)
{
	uint32_t depth = depth_of(contexts, node), other = depth_of(contexts, before), new = 0;

	for (; other > depth; other--)
		before = caller_of(contexts, before);
	for (; node != before; depth--, new++) {
		node = caller_of(contexts, node);
		if (depth > other)
			continue;
		before = caller_of(contexts, before);
		other--;
	}
	return new;
}

static uint32_t kind_of(struct gt_contexts *contexts, uint32_t region, uint32_t source)
{
	/* A word is not 0: that would be one of the region OTF2_UNDEFINED_REGION. */
	uint64_t key = ((uint64_t)region << 32 | (uint32_t)(source + 1)) + 1;
	const struct gt_lookup_entry *entry = gt_lookup_find(&contexts->kinds, key);

	if (!entry)
		entry = gt_need((void *)gt_lookup_put(&contexts->kinds, key, ++contexts->kind_count, 0));
	return entry->value;
}

static uint64_t key_of(struct gt_contexts *contexts, uint32_t parent, uint32_t region, uint32_t source)
{
	return (uint64_t)(uint32_t)(parent + 1) << 32 | kind_of(contexts, region, source);
}

static uint32_t add(struct gt_contexts *contexts, uint64_t key, uint32_t parent, uint32_t region,
		    uint32_t source)
{
	uint32_t id = (uint32_t)(contexts->first + contexts->count);

	contexts->new = gt_grown(contexts->new, contexts->count, &contexts->room, sizeof(*contexts->new));
	contexts->depths = gt_grown(contexts->depths, contexts->count, &contexts->depth_room,
				    sizeof(*contexts->depths));
	contexts->depths[contexts->count] = depth_of(contexts, parent) + 1;
	contexts->new[contexts->count++] =
		(struct gt_otf2_context){ .id = id, .region = region, .source = source, .parent = parent };
	gt_need((void *)gt_lookup_put(&contexts->nodes, key, id, 0));
	return id;
}

static uint32_t child_of(struct gt_contexts *contexts, uint32_t parent, uint32_t region, uint32_t source)
{
	uint64_t key = key_of(contexts, parent, region, source);
	const struct gt_lookup_entry *entry = gt_lookup_find(&contexts->nodes, key);

	if (!entry && contexts->count >= GT_CONTEXTS_MOST) {
		parent = OTF2_UNDEFINED_CALLING_CONTEXT;
		source = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
		key = key_of(contexts, parent, region, source);
		entry = gt_lookup_find(&contexts->nodes, key);
	}
	return entry ? entry->value : add(contexts, key, parent, region, source);
}

static uint32_t innermost(const struct gt_contexts_place *place, size_t depth)
{
	return depth ? place->open[depth - 1] : OTF2_UNDEFINED_CALLING_CONTEXT;
}

/* ---- calls --------------------------------------------------------------------------------------- */

bool gt_contexts_enter(struct gt_contexts *contexts, struct gt_contexts_place *place,
		       const struct gt_otf2_region *region, struct gt_otf2_event *event)
{
	bool defined = region->id != GT_OTF2_NOTHING;
	uint32_t node = innermost(place, place->depth), new;

	if (defined)
		node = child_of(contexts, node, (uint32_t)region->id, OTF2_UNDEFINED_SOURCE_CODE_LOCATION);
	place->open = gt_grown(place->open, place->depth, &place->room, sizeof(*place->open));
	place->open[place->depth++] = node;
	if (!defined)
		return false;
	new = count_new(contexts, place->before - 1, node);
	*event = (struct gt_otf2_event){ .type = GT_OTF2_CallingContextEnter };
	event->CallingContextEnter.context = node;
	event->CallingContextEnter.unwind = (new ? new : 1) + 1; /* a call's node is new each time */
	place->before = node + 1;
	return true;
}

bool gt_contexts_leave(const struct gt_contexts *contexts, struct gt_contexts_place *place,
		       const struct gt_otf2_region *region, struct gt_otf2_event *event)
{
	uint32_t node = place->open[--place->depth];

	if (region->id == GT_OTF2_NOTHING)
		return false;
	*event = (struct gt_otf2_event){ .type = GT_OTF2_CallingContextLeave };
	event->CallingContextLeave.context = node;
	place->before = caller_of(contexts, node) + 1;
	return true;
}

/* ---- samples ------------------------------------------------------------------------------------- */

static uint32_t below(struct gt_contexts *contexts, uint32_t node, const struct gt_otf2_context *context)
{
	return gt_otf2_find_region(contexts->read, context->region)
		       ? child_of(contexts, node, context->region, context->source)
		       : node;
}

/* Of a sample in a call. *call: the node that it is below. */
static uint32_t node_of(struct gt_contexts *contexts, const struct gt_contexts_place *place,
			const struct gt_otf2_cursor *at, const struct gt_stack_sample *sample, uint32_t *call)
{
	const struct gt_otf2_region *open[GT_OPEN_MOST];
	struct gt_frames *frames = &contexts->frames;
	unsigned count = 0;
	uint32_t node;
	bool own;

	for (; count < GT_OPEN_MOST && count < at->depth; count++)
		open[count] = at->stack[at->depth - 1 - count].region;
	gt_frames_below(at->read, sample->context, sample->ours, open, count, frames);
	/* In the call's own code: its node, with the line. */
	own = !frames->count && sample->context->region == open[0]->id;
	node = *call = innermost(place, place->depth - own);
	if (!frames->count)
		return below(contexts, node, sample->context);
	for (unsigned i = frames->count; i--;)
		node = below(contexts, node, frames->contexts[i]);
	return node;
}

void gt_contexts_sample(struct gt_contexts *contexts, struct gt_contexts_place *place,
			const struct gt_otf2_cursor *at, struct gt_otf2_CallingContextSample *sample)
{
	struct gt_stack_sample of = gt_stack_sample_of(&contexts->stacks, at, sample);
	uint32_t node = OTF2_UNDEFINED_CALLING_CONTEXT, call = node, new, anew, most;

	if (of.context && place->depth)
		node = node_of(contexts, place, at, &of, &call);
	if (of.context && node == OTF2_UNDEFINED_CALLING_CONTEXT)
		node = (uint32_t)of.context->id; /* outside of calls, and if no function is defined */
	if (of.context) {
		new = count_new(contexts, place->before - 1, node);
		anew = sample->unwind ? sample->unwind - 1 : 0; /* functions may be; open calls are not */
		most = depth_of(contexts, node);
		most = most > depth_of(contexts, call) ? most - depth_of(contexts, call) : 0;
		anew = anew < most ? anew : most;
		sample->context = node;
		sample->unwind = (anew > new ? anew : new) + 1;
	}
	place->before = node + 1;
}

void gt_contexts_plain_sample(const struct gt_contexts *contexts, struct gt_contexts_place *place,
			      struct gt_otf2_CallingContextSample *sample)
{
	uint32_t new = 0;

	if (gt_otf2_find_context(contexts->read, sample->context)) {
		new = count_new(contexts, place->before - 1, sample->context);
		place->before = sample->context + 1;
	} else {
		place->before = 0;
	}
	sample->unwind = sample->unwind > new ? sample->unwind : new + 1;
}

void gt_contexts_end(struct gt_contexts_place *place)
{
	free(place->open);
}

void gt_contexts_define(struct gt_contexts *contexts, struct gt_otf2_copy *copy)
{
	gt_otf2_copy_contexts(copy, contexts->new, contexts->count);
}

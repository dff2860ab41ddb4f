/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks, as gputrace writes them: how far a call path has changed since the sample before,
 * or since the call before if calls are calling contexts, too (gputrace export --calling-contexts), and that
 * all samples together do not stand for more time than there was.
 *
 * Limits: of archives without the attribute SAMPLE_TIME only references are checked. The first sample of a
 * location may build upon one that is not in the archive, of which it is a slice. Of slices of time, and
 * where events are missing, the sum is not checked.
 */
#include "config.h"
#include "tools/check.h"

#include <inttypes.h>

enum { PATH_MOST = 1024 };               /* nodes, so that a damaged tree costs little: gputrace has fewer */
#define TICK_NS UINT64_C(10000000)       /* of the kernel, at most: timers may be late by one */

/* Does the path from `path` to its root have the node? Above all roots is NULL. */
static bool has_node(const struct gt_otf2_cursor *at, const struct gt_otf2_context *path,
		     const struct gt_otf2_context *node)
{
	for (unsigned i = 0; path && path != node && i < PATH_MOST; i++)
		path = gt_otf2_caller(at->read, path);
	return path == node;
}

static void look_at_distance(struct gt_otf2_cursor *at, uint32_t context, uint32_t distance)
{
	const struct state *s = at->state;
	const struct gt_otf2_context *before = gt_otf2_find_context(at->read, s->sample.context);
	const struct gt_otf2_context *node = gt_otf2_find_context(at->read, context);
	uint32_t up = 1;

	for (; up < distance && node && up < PATH_MOST; up++)
		node = gt_otf2_caller(at->read, node);
	if (up < distance || (!distance && node != before))
		check_event(at, RULE_SAMPLES, "unwind distance %u, but the call path has fewer nodes",
			    distance);
	else if (s->sample.follows && !has_node(at, before, node))
		check_event(at, RULE_SAMPLES,
			    "unwind distance %u, but the node there was not in the path before", distance);
}

static void follow(struct gt_otf2_cursor *at, uint32_t context)
{
	struct state *s = at->state;

	s->sample.context = context;
	s->sample.follows = true;
}

/* What is left has its caller as the path before the next event. */
void check_context_call(struct gt_otf2_cursor *at)
{
	const struct check *check = at->user;
	const struct gt_otf2_event *e = at->called;
	const struct gt_otf2_context *context;

	if (check->stacks.time == GT_OTF2_NOTHING)
		return;
	if (e->type == GT_OTF2_CallingContextEnter) {
		look_at_distance(at, e->CallingContextEnter.context, e->CallingContextEnter.unwind);
		follow(at, e->CallingContextEnter.context);
		return;
	}
	context = gt_otf2_find_context(at->read, e->CallingContextLeave.context);
	follow(at, context ? (uint32_t)context->parent : OTF2_UNDEFINED_CALLING_CONTEXT);
}

void check_sample(struct gt_otf2_cursor *at, const struct gt_otf2_CallingContextSample *e)
{
	const struct check *check = at->user;
	struct state *s = at->state;

	if (check->stacks.time == GT_OTF2_NOTHING)
		return;
	look_at_distance(at, e->context, e->unwind);
	follow(at, e->context);
	if (s->sample.count++ && at->time != s->first) /* at the first event it has time before that */
		s->sample.sum += gt_stack_sample_of(&check->stacks, at, e).ns;
	s->sample.last = at->time;
}

/*
 * A thread has no more processor time than time. The two clocks differ by very little. A sample may have
 * what those before it left over, which may be time before the first event if those events are missing.
 */
void check_samples_end(struct gt_otf2_cursor *at)
{
	const struct check *check = at->user;
	struct state *s = at->state;
	uint64_t life = s->sample.last - s->first;

	if (check->excused || check->part || !s->sample.count)
		return;
	if (s->sample.sum > life + life / 1000 + TICK_NS)
		check_event(at, RULE_SAMPLES,
			    "samples stand for %" PRIu64 " ns of processor time in %" PRIu64 " ns",
			    s->sample.sum, life);
}

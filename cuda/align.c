/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures, in the trace itself, how well the device's clock and ours agree: nothing can begin on the
 * device before the call that asked for it, or end after a wait for everything was over. The least
 * distance that was seen bounds the error; a negative one is an error.
 *
 * Limits: a bound, not a measurement. The latest WAITS waits are remembered; waits for a stream or an
 * event are not used, because what they cover is not known here.
 */
#include <stdio.h>

#include "cuda/cuda.h"
#include "accel/wait.h"

#define CONTEXTS 64u
#define WAITS    4096u /* a power of two */

static struct bound {
	uint32_t context;
	bool used;
	uint64_t starts, ends;               /* how many were compared */
	uint64_t start_least, end_least;     /* ticks */
	uint64_t early, early_most;
	uint64_t late, late_most;
} bounds[CONTEXTS];

static struct gt_accel_waited waits[WAITS];
static uint64_t wait_count;

static struct bound *find(uint32_t context)
{
	for (unsigned i = 0; i < CONTEXTS; i++) {
		if (bounds[i].used && bounds[i].context == context)
			return &bounds[i];
		if (!bounds[i].used) {
			bounds[i] = (struct bound){ .context = context, .used = true,
						    .start_least = UINT64_MAX,
						    .end_least = UINT64_MAX };
			return &bounds[i];
		}
	}
	return &bounds[CONTEXTS - 1];
}

void gt_cu_align_early(uint32_t context, uint64_t ticks)
{
	struct bound *b = find(context);

	b->early++;
	if (ticks > b->early_most)
		b->early_most = ticks;
}

void gt_cu_align_start(uint32_t context, uint64_t ticks)
{
	struct bound *b = find(context);

	b->starts++;
	if (ticks < b->start_least)
		b->start_least = ticks;
}

void gt_cu_align_waited(uint32_t context, uint64_t enter, uint64_t leave)
{
	gt_accel_waited_put(waits, WAITS, &wait_count,
		       &(struct gt_accel_waited){ .enter = enter, .leave = leave, .context = context });
}

/* The first wait for the context that began after `tick`: the waits are about in order of their end. */
static bool covering(uint32_t context, uint64_t tick, struct gt_accel_waited *found)
{
	static uint64_t from; /* where the search succeeded last: records come about in order */
	uint64_t n = __atomic_load_n(&wait_count, __ATOMIC_ACQUIRE);
	uint64_t first = n > WAITS - 64 ? n - (WAITS - 64) : 0;

	if (from < first)
		from = first;
	while (from > first && from <= n && gt_accel_waited_get(waits, WAITS, from - 1, found) &&
	       found->enter >= tick)
		from--;
	for (uint64_t i = from; i < n && i < from + 256; i++)
		if (gt_accel_waited_get(waits, WAITS, i, found) && found->context == context &&
		    found->enter >= tick) {
			from = i;
			return true;
		}
	return false;
}

void gt_cu_align_end(uint32_t context, const struct gt_accel_call *call, uint64_t end)
{
	struct gt_accel_waited wait;
	struct bound *b;

	if (!call->span || !covering(context, call->enter + call->span, &wait))
		return;
	b = find(context);
	if (end > wait.leave) {
		b->late++;
		if (end - wait.leave > b->late_most)
			b->late_most = end - wait.leave;
		gt_cu_count(&gt_cu_counts.late, 1);
		return;
	}
	b->ends++;
	if (wait.leave - end < b->end_least)
		b->end_least = wait.leave - end;
}

static void say(uint32_t context, const char *what, uint64_t value)
{
	char key[80], text[32];

	snprintf(key, sizeof(key), "cuda:alignment:context %u:%s", context, what);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	gt_def_property(key, text);
}

void gt_cu_align_report(void)
{
	for (unsigned i = 0; i < CONTEXTS && bounds[i].used; i++) {
		const struct bound *b = &bounds[i];

		say(b->context, "starts", b->starts);
		if (b->starts)
			say(b->context, "least ns from call to start", gt_cu_ns(b->start_least));
		say(b->context, "early", b->early);
		if (b->early)
			say(b->context, "most ns early", gt_cu_ns(b->early_most));
		say(b->context, "ends", b->ends);
		if (b->ends)
			say(b->context, "least ns from end to wait", gt_cu_ns(b->end_least));
		say(b->context, "late", b->late);
		if (b->late)
			say(b->context, "most ns late", gt_cu_ns(b->late_most));
	}
}

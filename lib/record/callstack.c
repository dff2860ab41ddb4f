/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filter rules that depend on the moment; see callstack.h.
 *
 * Limits: the slow kind of filtering, about 10 ns per event; only in use while such rules exist.
 */
#include "lib/record/callstack.h"

#include "lib/common/settings.h"
#include "lib/common/sys.h"
#include "lib/record/verdict.h"

#define COUNTS_PER_PAGE 512u /* of 8 bytes each */
#define COUNT_PAGES     ((GT_VERDICT_INFOS_MAX + GT_FILTER_RULES_MAX) / COUNTS_PER_PAGE)

/* A frame further away than this lies on another stack (coroutine, alternate signal stack). */
#define SAME_STACK (UINT64_C(1) << 20)

/* How many calls are looked at to find the caller of a new one. */
#define CALLER_SEARCH 64

struct call {
	uint64_t key;
	uint64_t frame;  /* 0: unknown */
	uint64_t site;   /* where the hook was called from */
	uint32_t state;  /* of the call paths after this call */
	/* Size of its code if that has a frame of its own; 0: inlined, or unknown. */
	uint32_t bytes : 30;
	uint32_t dropped : 1;
	uint32_t shadow : 1; /* it and its callees are dropped (R) */
};

struct gt_callstack {
	uint32_t depth;  /* calls on the stack; may exceed GT_CALLSTACK_DEPTH */
	uint64_t *counts[COUNT_PAGES]; /* calls recorded so far, by info or rule; made as needed */
	struct call calls[GT_CALLSTACK_DEPTH];
};

struct gt_callstack *gt_callstack_new(void)
{
	return gt_sys_memory(sizeof(struct gt_callstack));
}

void gt_callstack_reset(struct gt_callstack *stack)
{
	if (stack)
		stack->depth = 0;
}

/* The counter of an info or a call-path rule; NULL without memory: then there is no limit. */
static uint64_t *counter(struct gt_callstack *stack, uint32_t index)
{
	uint64_t **page = &stack->counts[index / COUNTS_PER_PAGE];

	if (!*page)
		*page = gt_sys_memory(COUNTS_PER_PAGE * sizeof(uint64_t));
	return *page ? &(*page)[index % COUNTS_PER_PAGE] : NULL;
}

/* May one more call be recorded? If so it is counted. */
static bool within_limit(struct gt_callstack *stack, uint32_t index, int64_t limit)
{
	uint64_t *count;

	if (limit <= 0)
		return limit < 0;
	count = counter(stack, index);
	if (!count)
		return true;
	if (*count >= (uint64_t)limit)
		return false;
	++*count;
	return true;
}

/* The size of the function's code, if the hook is called from there and not from a copy of it that
 * was inlined elsewhere. */
static uint32_t own_bytes(uint64_t key, uint32_t info, uint64_t site)
{
	uint32_t bytes = info ? gt_verdict_infos[info].bytes & ((1u << 30) - 1) : 0;

	return site > key && site - key <= bytes ? bytes : 0;
}

/*
 * Drops calls that cannot be alive any more: those whose frames lie below the one that is entered
 * now, and what was entered at the very same place with the very same frame, with all that came
 * after it. (Inlined functions share a frame, so an equal frame alone says nothing.)
 */
static void pop_dead(struct gt_callstack *stack, uint64_t key, uint64_t frame, uint64_t site)
{
	uint32_t depth = stack->depth < GT_CALLSTACK_DEPTH ? stack->depth : GT_CALLSTACK_DEPTH;
	const struct call *call = &stack->calls[depth];

	while (depth && call[-1].frame && call[-1].frame < frame &&
	       frame - call[-1].frame <= SAME_STACK) {
		stack->depth = --depth;
		call--;
	}
	for (uint32_t i = depth; i && call[-1].frame == frame; i--, call--)
		if (call[-1].key == key && call[-1].site == site)
			stack->depth = i - 1;
}

/*
 * The new call was made from `caller`. If that is the code of a function further down, those that
 * were called in between are dead, but for functions inlined into it, which stay. If it is nobody's
 * (a callback from a library), or too far down, nothing is known.
 */
static void pop_to_caller(struct gt_callstack *stack, uint64_t caller)
{
	uint32_t depth = stack->depth, lowest = depth;

	if (depth > GT_CALLSTACK_DEPTH)
		return;
	for (uint32_t i = depth; i && depth - i < CALLER_SEARCH; i--) {
		const struct call *call = &stack->calls[i - 1];

		if (!call->bytes)
			continue;
		if (caller - call->key <= call->bytes) {
			stack->depth = lowest;
			return;
		}
		lowest = i - 1;
	}
}

/* Applies the rules to this call at this level. */
static void decide(struct gt_callstack *stack, struct call *call, const struct call *caller,
		   uint32_t level, uint32_t index)
{
	const struct gt_verdict_info *info;
	uint32_t path_rule = GT_RULE_NONE;
	struct gt_filter_rule rule;
	bool record;

	if (!index) {
		/* No room for what is known of it: recorded, like all functions beyond the limit. */
		call->state = GT_PATH_NOWHERE;
		call->shadow = caller && caller->shadow;
		call->dropped = call->shadow;
		return;
	}
	info = &gt_verdict_infos[index];
	call->state = GT_PATH_NOWHERE;
	if (info->word) {
		call->state = gt_filter_path_step(gt_verdict_filter, caller ? caller->state : 0,
						  info->word);
		path_rule = gt_filter_path_rule(gt_verdict_filter, call->state);
	}
	call->shadow = caller && caller->shadow;
	if (call->shadow ||
	    (gt_settings.max_stack_depth && level > gt_settings.max_stack_depth)) {
		call->dropped = 1;
		return;
	}
	if (path_rule != GT_RULE_NONE) {
		rule = gt_filter_rule_at(gt_verdict_filter, path_rule);
		record = within_limit(stack, GT_VERDICT_INFOS_MAX + path_rule, rule.limit);
		/* Calls on the path use up the function's own limit too, but are not bound by it. */
		if (record && info->limit > 0)
			within_limit(stack, index, info->limit);
		call->shadow = !record && rule.recursive;
	} else {
		record = level >= info->min && level <= info->max &&
			 within_limit(stack, index, info->limit);
		call->shadow = !record && info->recursive;
	}
	call->dropped = !record;
}

bool gt_callstack_enter(struct gt_callstack *stack, uint64_t key, const struct gt_callstack_frame *at)
{
	struct call *call;
	uint32_t place, info;

	if (!stack)
		return true;
	info = gt_verdict_info_of(key);
	if (at) {
		pop_dead(stack, key, at->frame, at->site);
		pop_to_caller(stack, at->caller);
	}
	/* The place is taken first: a signal handler that interrupts pushes and pops above it. */
	place = stack->depth;
	*(volatile uint32_t *)&stack->depth = place + 1;
	if (place >= GT_CALLSTACK_DEPTH)
		return false;
	call = &stack->calls[place];
	call->key = key;
	call->frame = at ? at->frame : 0;
	call->site = at ? at->site : 0;
	call->bytes = at ? own_bytes(key, info, at->site) : 0;
	decide(stack, call, place ? call - 1 : NULL, place + 1, info);
	return !call->dropped;
}

/* The leave of a call that is too deep to have an entry, unless it ends one that has. */
static bool leave_deep(struct gt_callstack *stack, uintptr_t frame)
{
	const struct call *top = &stack->calls[GT_CALLSTACK_DEPTH - 1];

	if (frame && top->frame && frame > top->frame && frame - top->frame <= SAME_STACK) {
		stack->depth = GT_CALLSTACK_DEPTH;
		return false;
	}
	stack->depth--;
	return true;
}

bool gt_callstack_leave(struct gt_callstack *stack, uint64_t key, uintptr_t frame)
{
	uint32_t place;

	if (!stack)
		return true;
	if (stack->depth > GT_CALLSTACK_DEPTH && leave_deep(stack, frame))
		return false;
	/* The innermost call of the function; calls inside of it ended without a word. */
	for (place = stack->depth; place; place--) {
		const struct call *call = &stack->calls[place - 1];
		bool dropped = call->dropped;

		if (call->key != key)
			continue;
		*(volatile uint32_t *)&stack->depth = place - 1;
		return !dropped;
	}
	/* A call that began before tracking did: then its enter was recorded. */
	return true;
}

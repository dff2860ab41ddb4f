/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that switch stacks (swapcontext, Boost.Context). The calls that are open on the stack being left
 * are closed, and opened again when the thread comes back to it. Such an enter has the attribute CONTINUES,
 * so that a call in several parts counts once. A stack is recognised by its last stack pointer.
 *
 * Limits: per location. A stack that another thread has suspended is not found; such a switch is counted as
 * not followed (tally.switched), and returns on that stack as leaves without an enter.
 */
#include "config.h"

#include "lib/assemble/archive/stacks.h"

#include <stdlib.h>
#include <string.h>

/* The frames of the function that switches and of who asks for it lie between the two pointers. */
#define NEAR   512u
#define UNIT   1024u /* of addresses that have a chain in common */
#define CHAINS 4096u

struct suspended {
	struct suspended *next;
	uint64_t pointer;
	size_t depth;
	struct gt_frame frames[];
};

struct gt_stacks {
	struct suspended *chains[CHAINS];
};

static struct suspended **chain(struct gt_stacks *stacks, uint64_t pointer)
{
	return &stacks->chains[pointer / UNIT * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static struct suspended *take_from(struct suspended **at, uint64_t pointer)
{
	struct suspended *s;

	while ((s = *at) && s->pointer - pointer > NEAR && pointer - s->pointer > NEAR)
		at = &s->next;
	if (s)
		*at = s->next;
	return s;
}

/* NULL: none was suspended there. */
static struct suspended *take(struct gt_track *t, uint64_t pointer)
{
	struct suspended *s = NULL;

	if (t->stacks)
		s = take_from(chain(t->stacks, pointer - NEAR), pointer);
	if (t->stacks && !s)
		s = take_from(chain(t->stacks, pointer + NEAR), pointer);
	return s;
}

/* What was suspended at exactly that place has been given up: its stack is used again. */
static void forget(struct suspended **at, uint64_t pointer)
{
	struct suspended *s;

	while ((s = *at) && s->pointer != pointer)
		at = &s->next;
	if (s)
		*at = s->next;
	free(s);
}

/* False: no memory. */
static bool keep(struct gt_track *t, uint64_t pointer)
{
	struct suspended *s = malloc(sizeof(*s) + t->depth * sizeof(s->frames[0])), **at;

	if (!t->stacks)
		t->stacks = calloc(1, sizeof(*t->stacks));
	if (!s || !t->stacks) {
		free(s);
		return false;
	}
	at = chain(t->stacks, pointer);
	forget(at, pointer);
	*s = (struct suspended){ .next = *at, .pointer = pointer, .depth = t->depth };
	memcpy(s->frames, t->w->frames, t->depth * sizeof(s->frames[0]));
	*at = s;
	return true;
}

static void continues(struct gt_track *t)
{
	const struct gt_attribute_def attribute = {
		.name = gt_defs_string(t->conv->defs, "CONTINUES"),
		.description = gt_defs_string(t->conv->defs, "the call was left when its thread went on "
					      "on another stack, and goes on"),
		.type = OTF2_TYPE_UINT8,
	};

	gt_track_attribute(t, gt_defs_attribute(t->conv->defs, &attribute), OTF2_TYPE_UINT8,
			   (OTF2_AttributeValue){ .uint8 = 1 });
}

static void leave_all(struct gt_track *t, uint64_t ns)
{
	while (t->depth && !gt_archive_bad(t->conv->archive))
		gt_track_leave(t, ns);
}

static void enter_all(struct gt_track *t, const struct suspended *s, uint64_t ns)
{
	for (size_t i = 0; i < s->depth && !gt_archive_bad(t->conv->archive); i++) {
		continues(t);
		gt_track_enter(t, s->frames[i].word, s->frames[i].region, ns);
	}
}

/* Where nothing is known of the stack that it goes to, and something should be, that is counted. */
static void change(struct gt_track *t, uint64_t flags, uint64_t from, const struct suspended *to, uint64_t ns)
{
	bool follows = gt_track_reserve_frames(t, t->depth + (to ? to->depth : 0));

	t->w->tally.switched += !follows || (!to && !(flags & GT_STACK_FRESH));
	if (!follows)
		return;
	gt_track_close(t, t->depth, ns); /* what was too deep */
	if (!(flags & GT_STACK_ENDED) && keep(t, from))
		leave_all(t, ns);
	else
		gt_track_close(t, 0, ns);
	if (to)
		enter_all(t, to, ns);
}

void gt_convert_stack(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint64_t flags = GT_WORD_LOW(slot->word), ns = gt_track_time(t, tick);
	struct suspended *to = take(t, slot[1].word);

	gt_track_no_attributes(t);
	if (flags & GT_STACK_FRESH) { /* what was suspended there was given up */
		free(to);
		to = NULL;
	}
	if (to || !(flags & GT_STACK_JUMP) || flags & GT_STACK_FRESH)
		change(t, flags, slot[1].time, to, ns);
	free(to);
}

void gt_stacks_free(struct gt_track *t)
{
	for (unsigned i = 0; t->stacks && i < CHAINS; i++)
		for (struct suspended *s = t->stacks->chains[i], *next; s; s = next) {
			next = s->next;
			free(s);
		}
	free(t->stacks);
}

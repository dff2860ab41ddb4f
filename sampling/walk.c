/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One frame after the other, by the rules of rows.h, until the thread's beginning, or until a frame that
 * stands as it stood in the walk before: then the rest is taken over, if each return address still lies where
 * it lay. Where no rule leads on, the frame pointer is followed or a return address looked for, and the frame
 * is marked.
 *
 * Limits: unwind.h has them.
 */
#include "sampling/unwind.h"

#include "gputrace/records.h"
#include "sampling/peek.h"
#include "sampling/rows.h"

#include <stddef.h>

#define WORD 8u

static void only_innermost(struct gt_walker *walker, uintptr_t pc)
{
	walker->frames = &walker->word[GT_WALK_FRAMES - 1];
	walker->word[GT_WALK_FRAMES - 1] = GT_FRAME_WORD(GT_FRAME_EXACT, pc);
	walker->place[GT_WALK_FRAMES - 1] = (struct gt_walk_place){ 0, 0, 0 };
	walker->n = 1;
	walker->kept = 0;
	walker->flags = GT_SAMPLE_BROKEN;
}

GT_HIDDEN void gt_walker_begin(struct gt_walker *walker, uintptr_t low, uintptr_t high)
{
	walker->low = low;
	walker->high = high;
}

/* Which frame returns to `address`? Behind the last: none. */
static unsigned frame_of(const struct gt_walker *walker, uintptr_t address)
{
	unsigned i = 0;

	while (i < walker->n && GT_FRAME_ADDRESS(walker->frames[i]) != address)
		i++;
	return i;
}

/* Makes sure that what lies around `address` is known. */
static void find_out(struct gt_walker *walker, uintptr_t address)
{
	uint32_t now = gt_objects_generation();

	if (walker->out_seen == now && address - walker->out_low < walker->out_high - walker->out_low)
		return;
	walker->out_low = walker->out_high = address;
	if (gt_objects_find(walker, address)) {
		walker->out_low = walker->object.low;
		walker->out_high = walker->object.high;
	}
	walker->out_seen = now;
}

GT_HIDDEN void gt_walk_leave_out(struct gt_walker *walker, uintptr_t address)
{
	unsigned out = frame_of(walker, address);

	if (out < walker->n)
		find_out(walker, address);
	for (out += out < walker->n; out < walker->n; out++)
		if (GT_FRAME_ADDRESS(walker->frames[out]) - walker->out_low >=
		    walker->out_high - walker->out_low)
			break;
	walker->n -= out;
	walker->frames += out;
	if (walker->kept > walker->n)
		walker->kept = walker->n;
}

#if GT_CPU

#define PAGE      ((uintptr_t)4096)
#define RED_ZONE  128u /* bytes below the stack pointer that a function uses */
#define SCAN      32u  /* words that are looked through for a return address */
#define FAR       (1u << 17) /* frames that are walked if the thread's beginning was not yet found */
#define NEAR      1024u
#define HOPELESS  64u  /* walks that do not go far after one that did in vain */
#define CONTEXT   offsetof(ucontext_t, uc_mcontext.GT_CPU_REGISTERS)

static uint64_t word_at(uintptr_t at)
{
	return *(const volatile uint64_t *)at;
}

static bool on_own_stack(const struct gt_walker *walker, uintptr_t at)
{
	return at - walker->low < walker->high - walker->low;
}

/* On a stack whose bounds are not known each page is asked for. */
static bool more_to_read(struct gt_walker *walker, uintptr_t at)
{
	uintptr_t page = at & ~(PAGE - 1);

	if (at & (WORD - 1) || on_own_stack(walker, walker->from) || !gt_peek_there(at))
		return false;
	if (walker->from + walker->extent + WORD - 1 == page) {
		walker->extent += PAGE;
	} else {
		walker->from = page;
		walker->extent = PAGE - WORD + 1;
	}
	return true;
}

static bool can_read(struct gt_walker *walker, uintptr_t at)
{
	return gt_likely(at - walker->from < walker->extent) || more_to_read(walker, at);
}

/* The stack that `sp` is on is walked from now on. */
static void onto_stack(struct gt_walker *walker, uintptr_t sp)
{
	walker->from = walker->extent = 0;
	if (!on_own_stack(walker, sp))
		return;
	walker->from = sp - walker->low < RED_ZONE ? walker->low : sp - RED_ZONE;
	walker->extent = walker->high - walker->from - WORD + 1;
}

static void interrupted(struct gt_walker *walker, struct gt_walk_cpu *cpu, const long long *all)
{
	cpu->all = all;
	cpu->pc = (uintptr_t)all[GT_CPU_PC];
	cpu->sp = (uintptr_t)all[GT_CPU_SP];
	cpu->bp = (uintptr_t)all[GT_CPU_BP];
	cpu->bx = (uintptr_t)all[GT_CPU_BX];
	cpu->guessed = false;
	onto_stack(walker, cpu->sp);
}

/* A call is what is before its return address; a signal's frame returns to where nothing was called. */
static uint64_t rule_of(struct gt_walker *walker, const struct gt_walk_cpu *cpu)
{
	uint64_t rule = gt_rule(walker, cpu->pc - !cpu->all);

	if (GT_CPU_LINKS && gt_unlikely(rule == GT_RULE_NOWHERE) && !cpu->all &&
	    gt_rule(walker, cpu->pc) == GT_RULE_SIGNAL)
		rule = GT_RULE_SIGNAL;
	return rule;
}

/* sp is where the kernel left the context. */
static bool step_signal(struct gt_walker *walker, struct gt_walk_cpu *cpu)
{
	uintptr_t at = cpu->sp + GT_CPU_CONTEXT + CONTEXT;

	if (!can_read(walker, at) || !can_read(walker, at + GT_CPU_PC * WORD))
		return false;
	interrupted(walker, cpu, (const long long *)at);
	return true;
}

/* Where the frame's return address lies. */
static uintptr_t return_at(uintptr_t sp, uintptr_t bx)
{
	return GT_CPU_LINKS ? bx : sp - WORD;
}

/* The return address is at `frame` + 8, and the frame pointer of the caller at `frame`. */
static bool step_by_pointer(struct gt_walker *walker, struct gt_walk_cpu *cpu)
{
	uintptr_t frame = cpu->bp;

	if (frame < cpu->sp || frame & (WORD - 1) || !can_read(walker, frame) ||
	    !can_read(walker, frame + WORD))
		return false;
	cpu->bp = word_at(frame);
	cpu->pc = gt_cpu_code(word_at(frame + WORD));
	cpu->sp = frame + 2 * WORD;
	if (GT_CPU_LINKS)
		cpu->bx = frame + WORD;
	cpu->all = NULL;
	cpu->guessed = true;
	return true;
}

/* Any register is known where the thread was interrupted. */
static uintptr_t of_register(const struct gt_walk_cpu *cpu, unsigned dwarf)
{
	return cpu->all ? gt_cpu_register(cpu->all, dwarf) : 0;
}

/* The caller's registers are still in others. */
static bool step_jump(struct gt_walker *walker, struct gt_walk_cpu *cpu, uint32_t registers)
{
	unsigned sp = registers >> 5 & 31, bp = registers >> 10 & 31;

	if (!cpu->all)
		return false;
	cpu->pc = gt_cpu_code(of_register(cpu, registers & 31));
	cpu->sp = sp ? of_register(cpu, sp - 1) : cpu->sp + (registers >> 16);
	cpu->bp = bp ? of_register(cpu, bp - 1) : cpu->bp;
	if (GT_CPU_LINKS)
		cpu->bx = 0;
	cpu->all = NULL;
	cpu->guessed = false;
	return can_read(walker, cpu->sp);
}

static uintptr_t rare_cfa(struct gt_walker *walker, const struct gt_walk_cpu *cpu, uint64_t rule)
{
	unsigned kind = gt_rule_kind(rule);
	int32_t offset = gt_rule_offset(rule), from = (int32_t)((uint32_t)offset << 8) >> 8;
	uintptr_t at = (kind == GT_RULE_AT_BP ? cpu->bp : cpu->sp) + (uintptr_t)(intptr_t)from;

	if (kind == GT_RULE_PLT)
		return cpu->sp + WORD + ((cpu->pc & 15) >= (uint32_t)offset ? WORD : 0);
	if (kind == GT_RULE_AT_BP || kind == GT_RULE_AT_SP)
		return can_read(walker, at) ? word_at(at) + ((uint32_t)offset >> 24) : 0;
	if (kind < GT_RULE_REGISTER)
		return 0;
	return of_register(cpu, kind - GT_RULE_REGISTER) + (uintptr_t)(intptr_t)offset;
}

static uintptr_t cfa_of(struct gt_walker *walker, const struct gt_walk_cpu *cpu, uint64_t rule)
{
	uintptr_t offset = (uintptr_t)(intptr_t)gt_rule_offset(rule);

	switch (gt_rule_kind(rule)) {
	case GT_RULE_SP:
		return cpu->sp + offset;
	case GT_RULE_BP:
		return cpu->bp + offset;
	case GT_RULE_BX:
		return cpu->bx + offset;
	default:
		return rare_cfa(walker, cpu, rule);
	}
}

/* What rbp (0) or rbx (1) of the caller's was. 0: that cannot be read. */
static void restore(struct gt_walker *walker, uint64_t rule, unsigned which, uintptr_t frame, uintptr_t *reg)
{
	uintptr_t at;

	if ((rule >> (5 + 2 * which) & 3) == GT_SAVED_NOT)
		return;
	at = frame + WORD * (uintptr_t)gt_rule_slot(rule, which);
	*reg = can_read(walker, at) ? word_at(at) : 0;
}

/* To the caller, if the frame ends at `cfa` and nothing else of the caller's is missing. */
static bool step_out(struct gt_walker *walker, struct gt_walk_cpu *cpu, uint64_t rule, uintptr_t cfa)
{
	unsigned how_bx = rule >> 7 & 3;

	if (!GT_CPU_LINKS) {
		cpu->pc = word_at(cfa - WORD);
	} else if (how_bx == GT_SAVED_NOT) { /* it is still in its register, which calls overwrite */
		if (!cpu->all)
			return false;
		cpu->pc = gt_cpu_code(cpu->bx);
		cpu->bx = 0;
	} else {
		cpu->bx = cfa + WORD * (uintptr_t)gt_rule_slot(rule, 1);
		if (how_bx == GT_SAVED_BY_BP || !can_read(walker, cpu->bx))
			return false;
		cpu->pc = gt_cpu_code(word_at(cpu->bx));
	}
	cpu->sp = cfa;
	cpu->all = NULL;
	cpu->guessed = false;
	return true;
}

static bool step(struct gt_walker *walker, struct gt_walk_cpu *cpu, uint64_t rule)
{
	unsigned how_bp = rule >> 5 & 3, how_bx = rule >> 7 & 3;
	uintptr_t cfa, bp = cpu->bp;

	if (gt_unlikely(gt_rule_kind(rule) == GT_RULE_SIGNAL))
		return step_signal(walker, cpu);
	if (gt_unlikely(gt_rule_kind(rule) == GT_RULE_JIT))
		return step_by_pointer(walker, cpu);
	if (gt_unlikely(gt_rule_kind(rule) == GT_RULE_JUMP))
		return step_jump(walker, cpu, (uint32_t)gt_rule_offset(rule));
	cfa = cfa_of(walker, cpu, rule);
	if (cfa & (WORD - 1) || cfa < cpu->sp || (cfa == cpu->sp && !(GT_CPU_LINKS && cpu->all)) ||
	    !can_read(walker, cfa - WORD))
		return false;
	restore(walker, rule, 0, how_bp == GT_SAVED_BY_BP ? bp : cfa, &cpu->bp);
	if (!GT_CPU_LINKS)
		restore(walker, rule, 1, how_bx == GT_SAVED_BY_BP ? bp : cfa, &cpu->bx);
	return step_out(walker, cpu, rule, cfa);
}

/* Does a call instruction end at `address`? */
static bool behind_call(struct gt_walker *walker, uintptr_t address)
{
	walker->window_bytes = 0;
	return gt_peek(walker->window, address - 7, 7) == 7 && gt_cpu_is_call(walker->window);
}

/* Is what was found a return address? Then its rule is known, too. */
static bool is_return(struct gt_walker *walker, const struct gt_walk_cpu *cpu, uint64_t *rule)
{
	if (cpu->pc < PAGE || (cpu->pc >> GT_CPU_ADDRESS) != 0)
		return false;
	*rule = rule_of(walker, cpu);
	return *rule != GT_RULE_NOWHERE && behind_call(walker, cpu->pc);
}

static bool scan(struct gt_walker *walker, struct gt_walk_cpu *cpu, unsigned words, uint64_t *rule)
{
	uintptr_t at = (cpu->sp + WORD - 1) & ~(uintptr_t)(WORD - 1);

	cpu->all = NULL;
	cpu->guessed = true;
	for (unsigned i = 0; i < words && can_read(walker, at); i++, at += WORD) {
		cpu->pc = gt_cpu_code(word_at(at));
		cpu->sp = at + WORD;
		if (GT_CPU_LINKS)
			cpu->bx = at;
		if (is_return(walker, cpu, rule))
			return true;
	}
	return false;
}

/* No rule leads on from the frame at `place`. In code without a frame the return address is in the link
 * register, or on top, or one below. */
static bool guess(struct gt_walker *walker, struct gt_walk_cpu *cpu, const struct gt_walk_place *place,
		  uint64_t *rule)
{
	bool top = cpu->all != NULL;

	*cpu = (struct gt_walk_cpu){ 0, place->sp, place->bp, place->bx, NULL, true };
	if (GT_CPU_LINKS && top) {
		cpu->pc = gt_cpu_code(place->bx);
		cpu->bx = 0;
		if (is_return(walker, cpu, rule))
			return true;
	} else if (top && scan(walker, cpu, 2, rule))
		return true;
	cpu->sp = place->sp;
	if (step_by_pointer(walker, cpu) && is_return(walker, cpu, rule))
		return true;
	*cpu = (struct gt_walk_cpu){ 0, place->sp, place->bp, place->bx, NULL, true };
	return scan(walker, cpu, SCAN, rule);
}

static bool caller(struct gt_walker *walker, struct gt_walk_cpu *cpu, const struct gt_walk_place *place,
		   uint64_t *rule)
{
	const long long *all = cpu->all;
	uint64_t next = GT_RULE_NONE;

	if (step(walker, cpu, *rule) && (!cpu->pc || (next = rule_of(walker, cpu)) != GT_RULE_NOWHERE)) {
		*rule = next;
		return true;
	}
	cpu->all = all;
	return guess(walker, cpu, place, rule);
}

/*
 * Do the return addresses of the walk before, from its `i`-th frame on, lie where they lay? Returns how far.
 * What was guessed is looked at again: more may be known by now.
 */
static unsigned still_there(struct gt_walker *walker, unsigned i)
{
	while (i < GT_WALK_FRAMES) {
		uintptr_t at = return_at(walker->place[i].sp, walker->place[i].bx);

		if (GT_FRAME_FLAGS(walker->word[i]) & (GT_FRAME_EXACT | GT_FRAME_GUESSED) ||
		    !can_read(walker, at) || gt_cpu_code(word_at(at)) != GT_FRAME_ADDRESS(walker->word[i]))
			break;
		i++;
	}
	return i;
}

/* How many frames of the walk before stand outside of this one, itself included, if it was the same there. */
static unsigned as_before(struct gt_walker *walker, const struct gt_walk_cpu *cpu, uint64_t word,
			  unsigned *old)
{
	const struct gt_walk_place *place = walker->place;
	unsigned i = *old, end;

	while (i < GT_WALK_FRAMES && place[i].sp < cpu->sp)
		i++;
	*old = i;
	if (i == GT_WALK_FRAMES || cpu->all || walker->word[i] != word || place[i].sp != cpu->sp ||
	    place[i].bp != cpu->bp || place[i].bx != cpu->bx)
		return 0;
	end = still_there(walker, i + 1);
	if (end == GT_WALK_FRAMES)
		return GT_WALK_FRAMES - i;
	*old = end;
	return 0;
}

/* Deep in a recursion: the outermost frames of the walk before, if they are still the outermost ones. */
static unsigned roots(struct gt_walker *walker, const struct gt_walk_cpu *cpu, unsigned old)
{
	unsigned i = old > GT_WALK_FRAMES - GT_WALK_OUTER ? old : GT_WALK_FRAMES - GT_WALK_OUTER;

	while (i < GT_WALK_FRAMES && walker->place[i].sp <= cpu->sp)
		i++;
	return still_there(walker, i) == GT_WALK_FRAMES ? GT_WALK_FRAMES - i : 0;
}

/* Where the x-th of k frames is kept: the innermost ones, and a ring of the outermost. */
static unsigned ring(unsigned x)
{
	const unsigned inner = GT_WALK_FRAMES - GT_WALK_OUTER;

	return x < inner ? x : inner + (x - inner) % GT_WALK_OUTER;
}

/* Where the x-th of `inner` frames comes from, of k that were walked. */
static unsigned source(unsigned k, unsigned inner, unsigned x)
{
	return k <= GT_WALK_FRAMES || x < GT_WALK_FRAMES - GT_WALK_OUTER ? x : ring(k - inner + x);
}

static void put(struct gt_walker *walker, unsigned to, uint64_t word, const struct gt_walk_place *place)
{
	walker->word[to] = word;
	walker->place[to] = *place;
}

/* The new frames before the `outer` ones and `moved` others; returns how many were so before. */
static unsigned put_inner(struct gt_walker *walker, unsigned k, unsigned inner, unsigned at)
{
	unsigned first = GT_WALK_FRAMES - walker->n, same = 0;
	bool equal = true;

	for (unsigned x = inner; x--;) {
		unsigned from = source(k, inner, x), to = at + x;

		equal = equal && to >= first && walker->word[to] == walker->fresh_word[from];
		same += equal;
		put(walker, to, walker->fresh_word[from], &walker->fresh_place[from]);
	}
	return same;
}

/* k new frames, and `tail` of the walk before: what is too much is left out of the middle. */
static unsigned settle(struct gt_walker *walker, unsigned k, unsigned tail)
{
	unsigned outer = tail, inner = k, moved = 0, same;

	if (k + tail > GT_WALK_FRAMES) {
		outer = tail < GT_WALK_OUTER ? tail : GT_WALK_OUTER;
		inner = k < GT_WALK_FRAMES - outer ? k : GT_WALK_FRAMES - outer;
		moved = GT_WALK_FRAMES - outer - inner;
		walker->cut = k > GT_WALK_FRAMES ? GT_WALK_OUTER : outer;
	} else if (tail <= walker->cut) {
		walker->cut = 0;
	}
	for (unsigned i = moved; i--;)
		put(walker, GT_WALK_FRAMES - outer - moved + i, walker->word[GT_WALK_FRAMES - tail + i],
		    &walker->place[GT_WALK_FRAMES - tail + i]);
	same = put_inner(walker, k, inner, GT_WALK_FRAMES - outer - moved - inner);
	walker->kept = outer + (moved ? 0 : same);
	walker->n = inner + moved + outer;
	walker->frames = &walker->word[GT_WALK_FRAMES - walker->n];
	walker->flags |= walker->cut ? GT_SAMPLE_CUT : 0;
	return walker->n;
}

static uint64_t word_of(const struct gt_walk_cpu *cpu, uint64_t rule)
{
	unsigned flags = (cpu->all ? GT_FRAME_EXACT : 0) | (cpu->guessed ? GT_FRAME_GUESSED : 0) |
			 (gt_rule_kind(rule) == GT_RULE_JIT ? GT_FRAME_UNMAPPED : 0);

	return GT_FRAME_WORD(flags, cpu->pc);
}

/*
 * Does the thread begin here? Also where makecontext() has it begin: the address that its function returns to
 * is that of a function, and what is before it belongs to none.
 */
static bool is_beginning(struct gt_walker *walker, const struct gt_walk_cpu *cpu, uint64_t rule)
{
	unsigned kind = gt_rule_kind(rule);

	return kind == GT_RULE_END ||
	       (kind == GT_RULE_NONE && !cpu->all && gt_rule_kind(gt_rule(walker, cpu->pc)) > GT_RULE_NONE);
}

/* How far this walk goes, and from which frame of the walk before on it may end in it. */
static unsigned set_out(struct gt_walker *walker, unsigned *old)
{
	*old = walker->flags & GT_SAMPLE_BROKEN ? GT_WALK_FRAMES : GT_WALK_FRAMES - walker->n;
	walker->flags = 0;
	walker->stamp = gt_rows_stamp();
	if (!walker->hopeless)
		return FAR;
	walker->hopeless--;
	return NEAR;
}

static unsigned walk(struct gt_walker *walker, struct gt_walk_cpu *cpu)
{
	unsigned old, far = set_out(walker, &old), k, tail = 0;
	uint64_t rule = rule_of(walker, cpu);

	for (k = 0; cpu->pc || !k;) {
		uint64_t word = word_of(cpu, rule);
		struct gt_walk_place *place = &walker->fresh_place[ring(k)];

		if ((k && (tail = as_before(walker, cpu, word, &old))) ||
		    (k == GT_WALK_FRAMES && (tail = roots(walker, cpu, old))))
			break;
		*place = (struct gt_walk_place){ cpu->sp, cpu->bp, cpu->bx };
		walker->fresh_word[ring(k++)] = word;
		if (is_beginning(walker, cpu, rule))
			break;
		if (k == far || !caller(walker, cpu, place, &rule)) {
			walker->flags = GT_SAMPLE_BROKEN;
			walker->hopeless = k == far && !walker->hopeless ? HOPELESS : walker->hopeless;
			break;
		}
	}
	return settle(walker, k, tail);
}

GT_HIDDEN unsigned gt_walk(struct gt_walker *walker, const ucontext_t *context)
{
	const long long *all = (const void *)((const char *)context + CONTEXT);

	if (gt_cache) {
		interrupted(walker, &walker->cpu, all);
		return walk(walker, &walker->cpu);
	}
	only_innermost(walker, (uintptr_t)all[GT_CPU_PC]);
	return walker->n;
}

GT_HIDDEN unsigned gt_walk_here(struct gt_walker *walker)
{
	struct gt_walk_cpu *cpu = &walker->cpu;

	GT_CPU_HERE(cpu->pc, cpu->sp, cpu->bp, cpu->bx);
	cpu->all = NULL;
	cpu->guessed = false;
	if (gt_cache) {
		onto_stack(walker, cpu->sp);
		walk(walker, cpu);
	} else {
		only_innermost(walker, cpu->pc);
	}
	__asm__ volatile(""); /* walk() is called, no jump's target: this frame, which it reads, stays */
	return walker->n;
}

#else

GT_HIDDEN unsigned gt_walk(struct gt_walker *walker, const ucontext_t *context)
{
	only_innermost(walker, (uintptr_t)__builtin_return_address(0) + !context);
	return walker->n;
}

GT_HIDDEN unsigned gt_walk_here(struct gt_walker *walker)
{
	return gt_walk(walker, NULL);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties of location groups and locations; see properties.h.
 */
#include "config.h"

#include "lib/assemble/defs/properties.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/spool/ended.h"
#include "lib/assemble/util/array.h"
#include "lib/assemble/util/losses.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task {
	const struct gt_layout *layout;
	struct gt_defs *defs;
	const struct gt_clock *clock;
	const struct gt_proc *procs;
	bool part;
};

void gt_properties_add(struct gt_properties *props, struct gt_defs *defs, bool of_group,
		       uint32_t owner, const char *name, const char *value)
{
	char key[96];

	if (!gt_array_has_room(props->list, props->count, &props->room)) {
		props->rc = -ENOMEM;
		return;
	}
	snprintf(key, sizeof(key), "GPUTRACE::%s", name);
	props->list[props->count++] = (struct gt_property){
		.of_group = of_group,
		.owner = owner,
		.name = gt_defs_string(defs, key),
		.value = gt_defs_string(defs, value),
	};
}

static void add_property(struct task *out, struct gt_properties *props, bool of_group,
			 uint32_t owner, const char *name, const char *value)
{
	gt_properties_add(props, out->defs, of_group, owner, name, value);
}

static void add_number(struct task *out, struct gt_properties *props, bool of_group, uint32_t owner,
		       const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	add_property(out, props, of_group, owner, name, text);
}

static void add_losses(struct task *out, struct gt_properties *props, bool of_group, uint32_t owner,
		       const uint64_t *lost)
{
	char name[64];

	for (unsigned i = 0; i < GT_LOSS_N; i++) {
		if (!lost[i] || !gt_loss_name(i))
			continue;
		snprintf(name, sizeof(name), GT_LOST "%s", gt_loss_name(i));
		add_number(out, props, of_group, owner, name, lost[i]);
	}
}

/* The latest value of a name counts. `first`: where the list began for this owner. */
static void keep_latest(struct gt_properties *props, size_t first)
{
	const struct gt_property *latest = &props->list[props->count - 1];

	for (size_t i = first; i + 1 < props->count; i++)
		if (props->list[i].name == latest->name) {
			props->list[i].value = latest->value;
			props->count--;
			return;
		}
}

/* Is this "<adapter>:<key>", of an adapter that we know or the process has registered? */
static bool is_account(const struct gt_journal *journal, const char *key)
{
	size_t length = strcspn(key, ":");

	for (size_t i = 0; key[length] && gt_assembler(i); i++)
		if (!strncmp(gt_assembler(i)->name, key, length) && !gt_assembler(i)->name[length])
			return true;
	for (size_t i = 0; key[length] && i < gt_journal_count(journal, GT_D_PROPERTY); i++) {
		const char *other = gt_journal_nth(journal, GT_D_PROPERTY, i, NULL, NULL);

		if (!strcmp(other, "adapter") && !strncmp(other + sizeof("adapter"), key, length) &&
		    !other[sizeof("adapter") + length])
			return true;
	}
	return false;
}

/* Takes the place of one of that name since `first`: an exec that failed has made another one before. */
static void add_latest(struct task *out, struct gt_properties *props, uint32_t group, const char *name,
		       const char *value, size_t first)
{
	add_property(out, props, true, group, name, value);
	if (!props->rc)
		keep_latest(props, first);
}

/* An adapter's account of itself, "<adapter>:<key>", as ADAPTER_KEY. */
static void add_account(struct task *out, struct gt_properties *props, uint32_t group, const char *key,
			const char *value, size_t first)
{
	char name[80];
	size_t i = 0;

	for (; key[i] && i + 1 < sizeof(name); i++)
		name[i] = key[i] == ':' || key[i] == ' ' ? '_' : (char)toupper((unsigned char)key[i]);
	name[i] = 0;
	add_latest(out, props, group, name, value, first);
}

/* Adds the process's own properties; its settings go into gputrace.cfg instead. */
static void add_journal_properties(struct task *out, struct gt_properties *props, uint32_t group,
				   const struct gt_journal *journal)
{
	char adapters[8192] = "", name[32];
	size_t used = 0, first = props->count;
	unsigned comments = 0;

	for (size_t i = 0; i < gt_journal_count(journal, GT_D_PROPERTY); i++) {
		const char *key = gt_journal_nth(journal, GT_D_PROPERTY, i, NULL, NULL);
		const char *value = key + strlen(key) + 1;

		if (!strncmp(key, GT_SETTING, sizeof(GT_SETTING) - 1)) /* most are */
			continue;
		if (!strcmp(key, "adapter") && used + strlen(value) + 2 < sizeof(adapters))
			used += (size_t)snprintf(adapters + used, sizeof(adapters) - used, "%s%s",
						 used ? "," : "", value);
		else if (!strcmp(key, "command"))
			add_property(out, props, true, group, "COMMAND_LINE", value);
		else if (!strcmp(key, "executable"))
			add_property(out, props, true, group, "EXECUTABLE", value);
		else if (!strcmp(key, "exit-thread"))
			add_property(out, props, true, group, "EXIT_THREAD_ID", value);
		else if (!strcmp(key, "hooks-off"))
			add_latest(out, props, group, "HOOKS_OFF", value, first);
		else if (!strcmp(key, "comment")) { /* VT_COMMENT_DEF */
			snprintf(name, sizeof(name), "COMMENT_%u", ++comments);
			add_property(out, props, true, group, name, value);
		} else if (is_account(journal, key)) {
			add_account(out, props, group, key, value, first);
		}
	}
	if (used)
		add_property(out, props, true, group, "ADAPTERS", adapters);
}

void gt_properties_clock(struct gt_properties *props, struct gt_defs *defs, uint32_t group,
			 int64_t error, uint32_t comparisons)
{
	struct task task = { .defs = defs };

	if (error < 0)
		add_property(&task, props, true, group, "CLOCK_ERROR_NS", "unknown");
	else
		add_number(&task, props, true, group, "CLOCK_ERROR_NS", (uint64_t)error);
	add_number(&task, props, true, group, "CLOCK_COMPARISONS", comparisons);
}

/* Where there are several hosts: how far the times of this one's processes may be off. */
static void add_clock(struct task *out, struct gt_properties *props, uint32_t group,
		      const struct gt_proc *proc)
{
	const struct gt_clock *clock = out->clock;
	size_t place = (size_t)(proc - out->procs);

	if (!clock || (clock->hosts < 2 && !out->part))
		return;
	if (!out->part) /* else the merge says it, which knows all hosts */
		gt_properties_clock(props, out->defs, group, clock->errors[place],
				    clock->comparisons[place]);
	for (size_t i = 0; i < gt_journal_count(&proc->journal, GT_D_SYNC) && i < 100; i++) {
		const struct gt_def_sync *sync =
			gt_journal_nth(&proc->journal, GT_D_SYNC, i, NULL, NULL);
		const char *reference = gt_proc_string(proc, sync->reference);
		char name[32], text[192];

		snprintf(name, sizeof(name), "CLOCK_COMPARISON_%zu", i + 1);
		snprintf(text, sizeof(text), "tick %llu, tick %llu of %.64s, within %llu ticks",
			 (unsigned long long)sync->tick, (unsigned long long)sync->other_tick,
			 reference ? reference : "?", (unsigned long long)sync->width);
		add_property(out, props, true, group, name, text);
	}
}

static void add_process_properties(struct task *out, struct gt_properties *props, uint32_t group)
{
	const struct gt_proc *proc = out->layout->groups[group].proc, *parent;
	static const char *const origins[] = { "first", "fork", "exec" };
	char text[320];

	add_number(out, props, true, group, "PROCESS_ID", proc->header.pid);
	if (proc->header.ppid)
		add_number(out, props, true, group, "PARENT_PROCESS_ID", proc->header.ppid);
	add_property(out, props, true, group, "ENDED",
		     gt_end_text(proc, text, sizeof(text)));
	if (gt_proc_processor_ns(proc))
		add_number(out, props, true, group, "PROCESSOR_TIME_NS", gt_proc_processor_ns(proc));
	add_clock(out, props, group, proc);
	parent = proc->parent;
	while (parent && parent->number == GT_NOT_WRITTEN && parent->parent)
		parent = parent->parent;
	if (parent) {
		snprintf(text, sizeof(text), "%s [%u]", parent->header.program, parent->header.pid);
		add_property(out, props, true, group, "PARENT", text);
		add_property(out, props, true, group, "ORIGIN",
			     origins[proc->header.origin == 1 ? 1 : 2]);
	}
	add_journal_properties(out, props, group, &proc->journal);
	add_losses(out, props, true, group, proc->header.lost);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The sums, and what is known of the present thread. */
static struct gt_states sum_up(const struct gt_states *of)
{
	const struct gt_sched *from = &of->begin, *to = &of->last;
	struct gt_states sum = *of;

	if (!from->at)
		return sum;
	sum.lifetime += less(of->until, from->at);
	sum.unknown += less(of->until, to->at ? to->at : from->at);
	if (to->at) {
		sum.running += less(to->running, from->running);
		sum.ready += less(to->ready, from->ready);
		sum.switches += less(to->switches, from->switches);
		if (to->moves != GT_NOT_READ && from->moves != GT_NOT_READ) {
			sum.moves += less(to->moves, from->moves);
			sum.moved++;
		}
	}
	return sum;
}

/*
 * Of a group that was throttled it is not known for how long each of its threads was: then nothing is said. A
 * thread has not been if no group was.
 */
static bool was_not_throttled(const struct gt_proc *proc)
{
	for (unsigned i = 0; i < GT_QUOTAS; i++)
		if (proc->header.quotas[i].after > proc->header.quotas[i].before)
			return false;
	return gt_proc_quotas_known(proc);
}

/*
 * What the scheduler did with a thread, as far as it said so itself: of a process that was killed the rest,
 * up to the end of the process, is not known. Of the time that is known, it was blocked when it neither ran
 * nor waited for a processor.
 */
static void add_states(struct task *out, struct gt_properties *props, uint32_t location)
{
	const struct gt_loc *loc = out->layout->locations[location].loc;
	const struct gt_proc *proc = loc->proc;
	const struct gt_states *of =
		loc->win.tid == proc->header.pid ? &proc->header.states : &loc->win.states;
	struct gt_states sum = sum_up(of);
	const struct gt_scale *scale = out->clock ? &out->clock->scales[proc - out->procs] : NULL;

	if (!of->begin.at && !sum.lifetime)
		return;
	if (scale && of->begin.at && of->ended != 1 && !proc->ended && proc->end_tick > of->tick) {
		uint64_t rest = gt_scale_ns(scale, proc->end_tick) - gt_scale_ns(scale, of->tick);

		sum.lifetime += rest;
		sum.unknown += rest;
	}
	add_number(out, props, false, location, "LIFETIME_NS", sum.lifetime);
	add_number(out, props, false, location, "UNKNOWN_NS", sum.unknown);
	if (was_not_throttled(proc))
		add_number(out, props, false, location, "THROTTLED_NS", 0);
	if (sum.unknown >= sum.lifetime)
		return;
	add_number(out, props, false, location, "RUNNING_NS", sum.running);
	add_number(out, props, false, location, "READY_NS", sum.ready);
	add_number(out, props, false, location, "BLOCKED_NS",
		   less(sum.lifetime, sum.unknown + sum.running + sum.ready));
	add_number(out, props, false, location, "SWITCHES", sum.switches);
	if (sum.moved)
		add_number(out, props, false, location, "MIGRATIONS", sum.moves);
}

int gt_properties_collect(struct gt_properties *props, const struct gt_layout *layout,
			  struct gt_defs *defs, const struct gt_clock *clock,
			  const struct gt_proc *procs, bool part)
{
	struct task task = { .layout = layout, .defs = defs, .clock = clock, .procs = procs,
			     .part = part };
	struct task *out = &task;

	for (uint32_t i = 0; i < out->layout->group_count; i++)
		if (!out->layout->groups[i].accelerator)
			add_process_properties(out, props, i);
	for (uint32_t i = 0; i < out->layout->location_count; i++) {
		const struct gt_loc *loc = out->layout->locations[i].loc;

		if (loc->win.tid && loc->win.kind == GT_LOC_THREAD)
			add_number(out, props, false, i, "THREAD_ID", loc->win.tid);
		if (loc->win.incarnation > 1)
			add_number(out, props, false, i, "THREADS", loc->win.incarnation);
		if (loc->win.tid && loc->win.kind == GT_LOC_THREAD)
			add_states(out, props, i);
		if (loc->win.flags & GT_LOC_ASIDE)
			add_property(out, props, false, i, "ASIDE", "yes"); /* no thread: so OTF2 calls it */
		add_losses(out, props, false, i, loc->lost);
	}
	return props->rc;
}

void gt_properties_free(struct gt_properties *props)
{
	free(props->list);
	memset(props, 0, sizeof(*props));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a location spent its time with: the difference that it made to its worker's profile.
 */
#include "config.h"

#include "lib/assemble/archive/use.h"

#include "lib/assemble/archive/archive_int.h"
#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/util/calls.h"
#include "lib/assemble/util/posix.h"

#include <stdlib.h>
#include <string.h>

#define IDLE_PERCENT 95

void gt_use_begin(struct gt_worker *w)
{
	if (w->before_room < w->profile_room) {
		struct gt_profile *before = realloc(w->before, w->profile_room * sizeof(*before));

		if (!before) {
			gt_archive_fail(w->conv->archive, "no memory");
			return;
		}
		w->before = before;
		w->before_room = w->profile_room;
	}
	memcpy(w->before, w->profile, w->profile_room * sizeof(*w->before));
	w->before_used = w->profile_room;
}

static struct gt_profile since(const struct gt_worker *w, size_t region)
{
	struct gt_profile d = w->profile[region];

	if (region < w->before_used) {
		d.calls -= w->before[region].calls;
		d.inclusive -= w->before[region].inclusive;
		d.exclusive -= w->before[region].exclusive;
	}
	return d;
}

/* The thread is reported in one line; its waits are not among the program's. */
static void set_aside(struct gt_worker *w, const struct gt_use *use)
{
	for (size_t i = 0; i < w->profile_room; i++) {
		struct gt_profile d = since(w, i);

		w->profile[i].locations -= d.calls != 0;
		w->profile[i].calls -= d.calls;
		w->profile[i].inclusive -= d.inclusive;
		w->profile[i].exclusive -= d.exclusive;
	}
	w->tally.idle_threads++;
	w->tally.idle_ns += use->wait;
}

/* Activities of a stream, by their group as adapters name it. */
static void use_stream(const struct gt_defs *defs, const struct gt_region *region, uint64_t ns,
		       struct gt_use *use)
{
	enum gt_activity what = region->group == GT_UNDEFINED
				? GT_ACTIVITY_NONE
				: gt_activity(gt_intern_text(&defs->strings, region->group, NULL));

	if (what == GT_ACTIVITY_KERNEL)
		use->kernels += ns;
	else if (what)
		use->copies += ns;
}

static enum gt_part part_of(const struct gt_paradigm *paradigm, const char *region)
{
	return paradigm->part ? (enum gt_part)paradigm->part(region) : GT_PART_ITSELF;
}

/*
 * Threads wait for each other in it, or do as all of its paradigm do: where to count it, or NULL. What a
 * thread of the host waits for on a device is the time of that.
 */
static uint64_t *waits(const struct gt_paradigm *paradigm, const struct gt_region *region, const char *name,
		       struct gt_use *use)
{
	if (paradigm && paradigm->time == GT_TIME_WAIT)
		return part_of(paradigm, name) == GT_PART_SETUP ? &use->runtime : &use->wait;
	/* Functions of the C library, as waitpid(), are of no paradigm. */
	if (region->paradigm == OTF2_PARADIGM_UNKNOWN && gt_posix_call(name) >= GT_POSIX_JOIN)
		return &use->wait;
	if (!paradigm || paradigm->time != GT_TIME_WORK || paradigm->kind == OTF2_PARADIGM_CLASS_ACCELERATOR)
		return NULL;
	switch (region->role) {
	case OTF2_REGION_ROLE_BARRIER:
	case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
	case OTF2_REGION_ROLE_TASK_WAIT:
	case OTF2_REGION_ROLE_CRITICAL:
	case OTF2_REGION_ROLE_ORDERED:
		return &use->wait;
	default:
		return NULL;
	}
}

static void communicate(const struct gt_paradigm *paradigm, const char *region, uint64_t ns,
			struct gt_use *use)
{
	enum gt_part part = part_of(paradigm, region);

	use->communicates = true;
	*(part == GT_PART_SETUP ? &use->start : &use->comm) += ns;
	use->poll += part == GT_PART_POLL ? ns : 0;
}

/* What a region of the host is about, if it is a call of a device's runtime, or of a library for messages. */
static enum gt_call call_of(const struct gt_paradigm *paradigm, const char *name)
{
	if (paradigm && paradigm->kind == OTF2_PARADIGM_CLASS_ACCELERATOR)
		return gt_device_call(name);
	return paradigm && paradigm->time == GT_TIME_COMMUNICATION ? gt_message_call(name) : GT_CALL_NONE;
}

/* Also of the wrappers of the C library, which are of no paradigm of their own. */
static bool reads_or_writes(const struct gt_defs *defs, const struct gt_region *region)
{
	return region->role == OTF2_REGION_ROLE_FILE_IO ||
	       region->role == OTF2_REGION_ROLE_FILE_IO_METADATA ||
	       (region->group != GT_UNDEFINED &&
		!strcmp(gt_intern_text(&defs->strings, region->group, NULL), "io"));
}

/*
 * Of a run with ranks: what started them, of which next to nothing is recorded but that it waits, passes on
 * what they print and makes threads; another process that only waits; or a thread of their library's own.
 */
static bool is_aside(const struct gt_layout *layout, const struct gt_out_location *out,
		     const struct gt_use *use)
{
	const struct gt_out_group *group =
		out->group < layout->group_count ? &layout->groups[out->group] : NULL;
	bool of_rank = group && group->job;
	bool main_of_rank = of_rank && (out == layout->locations || out[-1].group != out->group);
	uint64_t blank = gt_use_unseen(use) + (of_rank ? 0 : use->wait) +
			 (group && group->launcher ? use->io + use->runtime : 0);

	return !main_of_rank && blank > use->life / 100 * 95;
}

/* Its calls are among the others', but of its time the run has no share. */
static void tell_apart(struct gt_worker *w, const struct gt_out_location *out, const struct gt_use *use)
{
	for (size_t i = 0; i < w->profile_room; i++) {
		uint64_t ns = since(w, i).exclusive;

		w->profile[i].apart += out->thread ? 0 : ns;
		w->profile[i].aside += out->thread && use->aside ? ns : 0;
	}
}

bool gt_use_is_idle(const struct gt_region *region, const char *name)
{
	return region->paradigm != OTF2_PARADIGM_COMPILER && region->paradigm != OTF2_PARADIGM_USER &&
	       gt_posix_call(name) == GT_POSIX_CONDITION;
}

/* What is idle is no part of the run; nor is the rest of a thread that is aside, if there are ranks. */
static void leave_idle(struct gt_worker *w, bool aside)
{
	struct gt_defs *defs = w->conv->defs;

	pthread_mutex_lock(&defs->lock);
	for (size_t i = 0; i < w->profile_room; i++) {
		const struct gt_region *region = (const struct gt_region *)defs->regions.items + i;
		struct gt_profile d = since(w, i);

		if (!d.calls)
			continue;
		if (!gt_use_is_idle(region, gt_intern_text(&defs->strings, region->name, NULL))) {
			w->profile[i].aside += aside ? d.exclusive : 0;
			continue;
		}
		w->profile[i].apart += d.exclusive;
		w->tally.serving_ns += d.exclusive;
	}
	pthread_mutex_unlock(&defs->lock);
	w->tally.serving_threads++;
}

void gt_use_end(struct gt_worker *w, struct gt_out_location *out, uint64_t begin, uint64_t span,
		uint64_t life)
{
	struct gt_defs *defs = w->conv->defs;
	struct gt_use use = { .begin = begin, .life = out->thread ? life : 0 };
	uint64_t others = 0, parallel = 0, *wait;

	pthread_mutex_lock(&defs->lock);
	for (size_t i = 0; i < w->profile_room; i++) {
		const struct gt_region *region = (const struct gt_region *)defs->regions.items + i;
		struct gt_profile d = since(w, i);
		const struct gt_paradigm *paradigm;
		const char *name;

		if (!d.calls)
			continue;
		w->profile[i].locations++;
		use.seen += d.exclusive;
		use.flush += i == w->conv->region_flush ? d.exclusive : 0;
		w->profile[i].on_device |= out->type == GT_AS_STREAM;
		paradigm = gt_assembler_paradigm(region->paradigm);
		name = gt_intern_text(&defs->strings, region->name, NULL);
		if (!w->profile[i].call && out->type != GT_AS_STREAM)
			w->profile[i].call = (uint8_t)call_of(paradigm, name);
		if (region->paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM)
			use.measurement += d.exclusive;
		else if (out->type == GT_AS_STREAM)
			use_stream(defs, region, d.exclusive, &use);
		else if (paradigm && paradigm->kind == OTF2_PARADIGM_CLASS_ACCELERATOR)
			use.device += d.exclusive;
		if (region->role == OTF2_REGION_ROLE_PARALLEL)
			parallel += d.inclusive;
		wait = waits(paradigm, region, name, &use);
		if (wait) {
			*wait += d.exclusive;
			if (wait == &use.wait && out->thread && !out->first && gt_use_is_idle(region, name))
				use.idle_ns += d.exclusive;
			continue;
		}
		use.io += reads_or_writes(defs, region) ? d.exclusive : 0;
		others += region->paradigm != OTF2_PARADIGM_MEASUREMENT_SYSTEM;
		if (paradigm && paradigm->time == GT_TIME_COMMUNICATION)
			communicate(paradigm, name, d.exclusive, &use);
	}
	pthread_mutex_unlock(&defs->lock);
	use.idle = out->thread && !out->first && !others && use.wait &&
		   use.wait >= span / 100 * IDLE_PERCENT;
	/* Made for parallel regions: it was in nothing else. */
	if (out->thread && !out->first && parallel && parallel + use.measurement >= use.seen)
		use.outside = use.life > use.seen ? use.life - use.seen : 0;
	use.aside = is_aside(w->conv->layout, out, &use);
	/* Without ranks next to nothing may be recorded of a thread that matters. */
	use.idle_ns = (use.aside && w->conv->layout->ranks) || use.idle ? 0 : use.idle_ns;
	if (use.idle)
		set_aside(w, &use);
	else if (use.idle_ns)
		leave_idle(w, use.aside);
	else if (!out->thread || use.aside)
		tell_apart(w, out, &use);
	out->use = use;
}

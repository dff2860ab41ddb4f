/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caches of regions by name and of parameter sets by content, since both are asked for again and again.
 *
 * Limits: for one thread at a time; memory is kept until the process ends. A name is looked up by its address
 * first, and then by its text, because a runtime may reuse an address for another name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel/accel.h"
#include "gputrace/hash.h"

#define BUCKETS 1024u

static struct entry {
	struct gt_accel_name name;
	char *text;
	uint32_t hash;
	struct entry *next;
} *buckets[BUCKETS];

static struct {
	const char *address;
	struct entry *entry;
} by_address[BUCKETS];

static unsigned count;

unsigned gt_accel_name_count(void)
{
	return count;
}

static struct entry *make(const char *text, uint32_t hash, gt_ref region)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->text = strdup(text);
	if (!e->text) {
		free(e);
		return NULL;
	}
	e->name.region = region;
	e->hash = hash;
	e->next = buckets[hash % BUCKETS];
	buckets[hash % BUCKETS] = e;
	count++;
	return e;
}

struct gt_accel_name *gt_accel_named(const char *name, bool mangled, const char *group, unsigned role)
{
	uint32_t slot = (uint32_t)((uintptr_t)name >> 3 ^ (uintptr_t)name >> 13) % BUCKETS;
	struct entry *e = by_address[slot].entry;
	uint32_t hash;

	if (e && by_address[slot].address == name && !strcmp(e->text, name))
		return &e->name;
	hash = (uint32_t)gt_hash_text(GT_HASH_START, name);
	for (e = buckets[hash % BUCKETS]; e; e = e->next)
		if (e->hash == hash && !strcmp(e->text, name))
			break;
	if (!e)
		e = make(name, hash, mangled ? gt_accel_region_mangled(name, group, role)
					     : gt_accel_region(name, group, role));
	if (!e)
		return NULL;
	by_address[slot].address = name;
	by_address[slot].entry = e;
	return &e->name;
}

/* ---- parameters --------------------------------------------------------------------------------- */

enum { NUMBERS = sizeof((struct gt_accel_launch *)NULL)->number / sizeof(uint64_t) };

static gt_ref sizes[2], numbers[NUMBERS];

/* Open addressing, doubled when half full. */
static struct set {
	struct gt_accel_launch launch;
	gt_ref id;
} *sets;
static uint32_t set_room, set_count;

void gt_accel_params_setup(const struct gt_accel_param_names *names)
{
	for (unsigned i = 0; i < 2; i++)
		sizes[i] = names->size[i] ? gt_def_parameter(names->size[i], GT_VALUE_UINT) : GT_NONE;
	for (unsigned i = 0; i < NUMBERS; i++)
		numbers[i] = names->number[i] ? gt_def_parameter(names->number[i], GT_VALUE_UINT) : GT_NONE;
}

static gt_ref dimensions(const uint64_t *of)
{
	char text[80];

	snprintf(text, sizeof(text), "(%llu,%llu,%llu)", (unsigned long long)of[0],
		 (unsigned long long)of[1], (unsigned long long)of[2]);
	return gt_def_string(text);
}

static gt_ref define(const struct gt_accel_launch *l)
{
	struct gt_def_param params[2 + NUMBERS];
	unsigned n = 0;

	for (unsigned i = 0; i < 2; i++)
		if (sizes[i] && (l->size[i][0] || l->size[i][1] || l->size[i][2]))
			params[n++] = (struct gt_def_param){ GT_T_PARAM_STR, sizes[i],
							     dimensions(l->size[i]) };
	for (unsigned i = 0; i < NUMBERS && numbers[i]; i++)
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, numbers[i], l->number[i] };
	return gt_def_params(params, n);
}

static struct set *find_set(const struct gt_accel_launch *l)
{
	uint32_t at = (uint32_t)gt_hash_bytes(GT_HASH_START, l, sizeof(*l)) & (set_room - 1);

	while (sets[at].id && memcmp(&sets[at].launch, l, sizeof(*l)) != 0)
		at = (at + 1) & (set_room - 1);
	return &sets[at];
}

static bool grow_sets(void)
{
	uint32_t old_room = set_room;
	struct set *old = sets, *bigger = calloc(old_room ? 2 * old_room : 256, sizeof(*bigger));

	if (!bigger)
		return false;
	sets = bigger;
	set_room = old_room ? 2 * old_room : 256;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i].id)
			*find_set(&old[i].launch) = old[i];
	free(old);
	return true;
}

static gt_ref params_of(const struct gt_accel_launch *launch)
{
	struct set *set;

	if (2 * set_count >= set_room && !grow_sets())
		return GT_NONE;
	set = find_set(launch);
	if (!set->id) {
		set->launch = *launch;
		set->id = define(launch);
		set_count += set->id != GT_NONE;
	}
	return set->id;
}

gt_ref gt_accel_params(struct gt_accel_name *name, const struct gt_accel_launch *launch)
{
	if (!sizes[0])
		return GT_NONE;
	if (!name->params || memcmp(launch, &name->launch, sizeof(*launch)) != 0) {
		name->launch = *launch;
		name->params = params_of(launch);
	}
	return name->params;
}

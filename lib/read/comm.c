/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resolves ranks of communicators, location groups and attributes.
 *
 * Limits: gt_otf2_own() looks at all members; callers keep its answer.
 */
#include "config.h"

#include "lib/read/read.h"

#include <string.h>

static uint64_t group_member(const struct gt_otf2 *read, uint64_t group, uint64_t rank, uint64_t own)
{
	const struct gt_otf2_group *g = gt_otf2_find_group(read, group);

	if (!g)
		return GT_OTF2_NOTHING;
	if (g->type == OTF2_GROUP_TYPE_COMM_SELF)
		return rank == 0 ? own : GT_OTF2_NOTHING;
	if (rank >= g->count)
		return GT_OTF2_NOTHING;
	if (g->type != OTF2_GROUP_TYPE_COMM_GROUP)
		return g->members[rank];
	rank = g->members[rank];
	g = read->comm_locations[g->paradigm]
		    ? gt_otf2_find_group(read, read->comm_locations[g->paradigm] - 1)
		    : NULL;
	return g && rank < g->count ? g->members[rank] : GT_OTF2_NOTHING;
}

static size_t group_size(const struct gt_otf2 *read, uint64_t group)
{
	const struct gt_otf2_group *g = gt_otf2_find_group(read, group);

	return !g ? 0 : g->type == OTF2_GROUP_TYPE_COMM_SELF ? 1 : g->count;
}

static uint64_t own_in_group(const struct gt_otf2 *read, uint64_t group, uint64_t location)
{
	const struct gt_otf2_location *self = gt_otf2_find_location(read, location);
	uint64_t found = GT_OTF2_NOTHING;
	size_t size = group_size(read, group);

	for (size_t rank = 0; rank < size; rank++) {
		uint64_t member = group_member(read, group, rank, location);
		const struct gt_otf2_location *m = gt_otf2_find_location(read, member);

		if (member == location)
			return location;
		if (found == GT_OTF2_NOTHING && m && self && m->group == self->group)
			found = member;
	}
	return found;
}

uint64_t gt_otf2_own(const struct gt_otf2 *read, uint64_t comm, uint64_t location)
{
	const struct gt_otf2_comm *c = gt_otf2_find_comm(read, comm);
	uint64_t found = c ? own_in_group(read, c->group, location) : GT_OTF2_NOTHING;

	return found == GT_OTF2_NOTHING && c && c->inter ? own_in_group(read, c->remote, location) : found;
}

uint64_t gt_otf2_member(const struct gt_otf2 *read, uint64_t comm, uint32_t rank, uint64_t own)
{
	const struct gt_otf2_comm *c = gt_otf2_find_comm(read, comm);

	if (!c)
		return GT_OTF2_NOTHING;
	/* Between two groups a rank always means the other one. */
	if (c->inter && own_in_group(read, c->remote, own) != GT_OTF2_NOTHING)
		return group_member(read, c->group, rank, own);
	return group_member(read, c->remote, rank, own);
}

size_t gt_otf2_comm_size(const struct gt_otf2 *read, uint64_t comm)
{
	const struct gt_otf2_comm *c = gt_otf2_find_comm(read, comm);

	if (!c)
		return 0;
	return group_size(read, c->group) + (c->inter ? group_size(read, c->remote) : 0);
}

uint64_t gt_otf2_process(const struct gt_otf2 *read, const struct gt_otf2_location *location)
{
	const struct gt_otf2_location_group *group = gt_otf2_find_location_group(read, location->group);

	if (!group)
		return GT_OTF2_NOTHING;
	return group->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? group->creator : group->id;
}

uint64_t gt_otf2_attribute_named(const struct gt_otf2 *read, const char *name)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_ATTRIBUTE].count; i++)
		if (!strcmp(gt_otf2_attribute_at(read, i)->name, name))
			return gt_otf2_attribute_at(read, i)->id;
	return GT_OTF2_NOTHING;
}

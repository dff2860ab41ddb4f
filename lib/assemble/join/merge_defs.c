/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of a partial archive, unified with those of the ones before it.
 *
 * Limits: believes nothing that the part says about numbers: what is out of range ends the merge or
 * becomes number 0.
 */
#include "config.h"

#include "lib/assemble/join/merge_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- definitions ------------------------------------------------------------------------------- */

static int new_map(struct gt_merge_task *t, enum gt_map kind, size_t count)
{
	t->maps[kind] = malloc((count + 1) * sizeof(uint32_t));
	t->counts[kind] = (uint32_t)count;
	return t->maps[kind] ? 0 : -ENOMEM;
}

static int new_maps(struct gt_merge_task *t)
{
	const struct gt_defs *defs = &t->partial.defs;
	const size_t counts[GT_MAPS] = {
		[GT_MAP_STRING] = defs->strings.count,
		[GT_MAP_ATTRIBUTE] = gt_table_count(&defs->attributes),
		[GT_MAP_REGION] = gt_table_count(&defs->regions),
		[GT_MAP_COMM] = gt_table_count(&defs->comms),
		[GT_MAP_METRIC] = gt_table_count(&defs->metrics),
		[GT_MAP_PARAMETER] = gt_table_count(&defs->parameters),
		[GT_MAP_WINDOW] = gt_table_count(&defs->windows),
		[GT_MAP_FILE] = gt_table_count(&defs->files),
		[GT_MAP_HANDLE] = gt_table_count(&defs->handles),
		[GT_MAP_CONTEXT] = gt_table_count(&defs->contexts),
		[GT_MAP_GENERATOR] = gt_table_count(&defs->generators),
	};
	int rc = 0;

	for (unsigned i = 0; !rc && i < GT_MAPS; i++)
		rc = new_map(t, i, counts[i]);
	t->members = malloc((gt_table_count(&defs->members) + 1) * sizeof(*t->members));
	t->markers = malloc((gt_table_count(&defs->markers) + 1) * sizeof(*t->markers));
	t->nodes = malloc((t->partial.node_count + 1) * sizeof(*t->nodes));
	t->spoken = malloc((defs->strings.count + 1) * sizeof(*t->spoken));
	return rc || !t->members || !t->markers || !t->nodes || !t->spoken ? -ENOMEM : 0;
}

static void map_strings(struct gt_merge_task *t)
{
	const struct gt_defs *defs = &t->partial.defs;

	for (uint32_t i = 0; i < t->counts[GT_MAP_STRING]; i++) {
		t->maps[GT_MAP_STRING][i] =
			gt_defs_string(&t->m->defs, gt_intern_text(&defs->strings, i, NULL));
		/* Events name few of them: the tables say only these. */
		t->spoken[i] = i < defs->spoken_room && defs->spoken[i] ? t->maps[GT_MAP_STRING][i] : i;
	}
}

/* Which numbers of a region's key are strings, as bits; 0: the key is text. */
static unsigned strings_of_key(const uint32_t *numbers, size_t bytes)
{
	if (bytes == GT_NAMED_KEY * sizeof(*numbers) && numbers[0] == 'R')
		return 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4;
	if (bytes == GT_INLINED_KEY * sizeof(*numbers) && numbers[0] == 'I')
		return 1u << 1 | 1u << 2 | 1u << 4;
	return 0;
}

/*
 * The key of a region in all parts: one made of strings' numbers gets those of the archive; a function
 * without a file is its process's own.
 */
static size_t region_key(const struct gt_merge_task *t, uint32_t i, char *key, size_t size)
{
	size_t bytes;
	const char *own = gt_intern_text(&t->partial.defs.regions.keys, i, &bytes);
	uint32_t numbers[GT_NAMED_KEY] = { 0 };
	unsigned strings;

	memcpy(numbers, own, bytes < sizeof(numbers) ? bytes : sizeof(numbers));
	strings = strings_of_key(numbers, bytes);
	if (strings) {
		for (unsigned k = 0; k < GT_NAMED_KEY; k++)
			if (strings >> k & 1 && numbers[k] != GT_UNDEFINED)
				numbers[k] = gt_merge_string(t, numbers[k]);
		if (numbers[GT_NAMED_KEY - 1])
			numbers[GT_NAMED_KEY - 1] += t->each->first_process;
		memcpy(key, numbers, bytes);
		return bytes;
	}
	if (bytes && *own == 'A')
		return (size_t)snprintf(key, size, "A%u.%.*s", t->number, (int)bytes, own);
	if (bytes > size)
		bytes = size;
	memcpy(key, own, bytes);
	return bytes;
}

static void map_regions(struct gt_merge_task *t)
{
	const struct gt_region *regions = t->partial.defs.regions.items;
	char key[GT_NAME_MAX + 128];

	for (uint32_t i = 0; i < t->counts[GT_MAP_REGION]; i++) {
		struct gt_region region = regions[i];
		size_t bytes = region_key(t, i, key, sizeof(key));

		region.name = gt_merge_string(t, region.name);
		region.canonical = gt_merge_string(t, region.canonical);
		region.description = gt_merge_string(t, region.description);
		region.file = gt_merge_string(t, region.file);
		region.module = gt_merge_string(t, region.module);
		if (region.group != GT_UNDEFINED)
			region.group = gt_merge_string(t, region.group);
		t->maps[GT_MAP_REGION][i] = gt_defs_region(&t->m->defs, key, bytes, &region);
	}
}

static void map_attributes(struct gt_merge_task *t)
{
	const struct gt_attribute_def *items = t->partial.defs.attributes.items;

	for (uint32_t i = 0; i < t->counts[GT_MAP_ATTRIBUTE]; i++) {
		struct gt_attribute_def item = { .name = gt_merge_string(t, items[i].name),
					     .description = gt_merge_string(t, items[i].description),
					     .type = items[i].type };

		t->maps[GT_MAP_ATTRIBUTE][i] = gt_defs_attribute(&t->m->defs, &item);
	}
	items = t->partial.defs.parameters.items;
	for (uint32_t i = 0; i < t->counts[GT_MAP_PARAMETER]; i++) {
		struct gt_attribute_def item = { .name = gt_merge_string(t, items[i].name),
					     .description = gt_merge_string(t, items[i].description),
					     .type = items[i].type };

		t->maps[GT_MAP_PARAMETER][i] = gt_defs_parameter(&t->m->defs, &item);
	}
}

static int map_class(struct gt_merge_task *t, uint32_t i, const struct gt_metric *metric)
{
	const struct gt_defs *defs = &t->partial.defs;
	uint32_t members[256];

	if (metric->count > 255 || metric->first > defs->member_id_count ||
	    metric->count > defs->member_id_count - metric->first)
		return -EPROTO;
	for (uint32_t k = 0; k < metric->count; k++) {
		uint32_t member = defs->member_ids[metric->first + k];

		if (member >= gt_table_count(&defs->members))
			return -EPROTO;
		members[k] = t->members[member];
	}
	t->maps[GT_MAP_METRIC][i] = gt_defs_metric_class(&t->m->defs, members, metric->count,
							  metric->synchronous);
	return 0;
}

static int map_metrics(struct gt_merge_task *t)
{
	const struct gt_defs *defs = &t->partial.defs;
	const struct gt_member *members = defs->members.items;
	const struct gt_metric *metrics = defs->metrics.items;
	const struct gt_recorder *recorders = defs->recorders.items;
	int rc = 0;

	for (uint32_t i = 0; i < gt_table_count(&defs->members); i++) {
		struct gt_member item = members[i];

		item.name = gt_merge_string(t, item.name);
		item.description = gt_merge_string(t, item.description);
		item.unit = gt_merge_string(t, item.unit);
		t->members[i] = gt_defs_member(&t->m->defs, &item);
	}
	for (uint32_t i = 0; !rc && i < t->counts[GT_MAP_METRIC]; i++) {
		struct gt_metric item = metrics[i];

		if (!item.instance) {
			rc = map_class(t, i, &item);
			continue;
		}
		if (item.base >= i) /* a class comes before its instances */
			return -EPROTO;
		item.base = t->maps[GT_MAP_METRIC][item.base];
		item.recorder = gt_merge_location(t, item.recorder);
		item.scope_id = gt_merge_group(t, item.scope_id);
		t->maps[GT_MAP_METRIC][i] = gt_defs_metric_instance(&t->m->defs, &item);
	}
	for (uint32_t i = 0; !rc && i < gt_table_count(&defs->recorders); i++)
		gt_defs_recorder(&t->m->defs, gt_merge_mapped(t, GT_MAP_METRIC, recorders[i].metric),
				 gt_merge_location(t, recorders[i].location));
	return rc;
}

/* Members that are locations here already, because they are all of this part. */
static void place_members(const struct gt_merge_task *t, uint64_t *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		members[i] = gt_merge_location(t, (uint32_t)members[i]);
}

/*
 * The key of a communicator: one that names all ranks the same is the same everywhere, all others are of
 * one part.
 */
static size_t comm_key(const struct gt_merge_task *t, uint32_t i, uint32_t *key)
{
	const struct gt_comm *comm = (const struct gt_comm *)t->partial.defs.comms.items + i;
	size_t bytes;
	const char *own = gt_intern_text(&t->partial.defs.comms.keys, i, &bytes);

	if (bytes == 2 * sizeof(uint64_t)) {
		memcpy(key, own, bytes);
		return bytes;
	}
	memcpy(key, own, bytes < sizeof(*key) ? bytes : sizeof(*key));
	key[1] = comm->proc != GT_UNDEFINED ? gt_merge_group(t, comm->proc) : comm->name;
	key[2] = t->number;
	return 3 * sizeof(*key);
}

static int map_comms(struct gt_merge_task *t)
{
	struct gt_comm *comms = t->partial.defs.comms.items;

	for (uint32_t i = 0; i < t->counts[GT_MAP_COMM]; i++) {
		struct gt_comm *comm = &comms[i];
		size_t before = gt_table_count(&t->m->defs.comms);
		uint32_t key[4] = { 0 };
		size_t bytes;

		comm->name = gt_merge_string(t, comm->name);
		bytes = comm_key(t, i, key);
		if (comm->parent != GT_UNDEFINED) {
			if (comm->parent >= i)
				return -EPROTO;
			comm->parent = t->maps[GT_MAP_COMM][comm->parent];
		}
		if (comm->proc != GT_UNDEFINED)
			comm->proc = gt_merge_group(t, comm->proc);
		if (!comm->job) {
			place_members(t, comm->members, comm->member_count);
			place_members(t, comm->remote, comm->remote_count);
		}
		t->maps[GT_MAP_COMM][i] = gt_defs_comm(&t->m->defs, key, bytes, comm, NULL);
		if (gt_table_count(&t->m->defs.comms) > before)
			comm->members = comm->remote = NULL; /* taken over */
	}
	return 0;
}

static void map_windows(struct gt_merge_task *t)
{
	const struct gt_defs *defs = &t->partial.defs;
	const struct gt_window *items = defs->windows.items;

	for (uint32_t i = 0; i < t->counts[GT_MAP_WINDOW]; i++) {
		struct gt_window item = items[i];
		uint64_t key[2];
		size_t bytes;
		const char *own = gt_intern_text(&defs->windows.keys, i, &bytes);

		item.name = gt_merge_string(t, item.name);
		item.comm = gt_merge_mapped(t, GT_MAP_COMM, item.comm);
		if (bytes == sizeof(key)) {
			memcpy(key, own, sizeof(key));
			t->maps[GT_MAP_WINDOW][i] =
				gt_defs_window_of(&t->m->defs, key[1], &item);
		} else {
			t->maps[GT_MAP_WINDOW][i] =
				gt_defs_window(&t->m->defs, item.name, item.comm);
		}
	}
}

static void map_topologies(struct gt_merge_task *t)
{
	const struct gt_topology *items = t->partial.defs.topologies.items;

	for (uint32_t i = 0; i < gt_table_count(&t->partial.defs.topologies); i++) {
		struct gt_topology item = items[i];
		uint64_t size = 1;

		item.comm = gt_merge_mapped(t, GT_MAP_COMM, item.comm);
		if (item.comm == GT_UNDEFINED || item.count > GT_DIMENSIONS ||
		    !gt_defs_topology(&t->m->defs, &item))
			continue;
		for (uint32_t d = 0; d < item.count && size <= UINT32_MAX; d++)
			size *= item.numbers[d];
		t->m->defs.other_bytes += size * (16 + 5 * (uint64_t)item.count);
	}
}

static void map_handles(struct gt_merge_task *t)
{
	const struct gt_defs *defs = &t->partial.defs;
	const uint32_t *files = defs->files.items;
	const struct gt_handle *items = defs->handles.items;

	for (uint32_t i = 0; i < t->counts[GT_MAP_FILE]; i++)
		t->maps[GT_MAP_FILE][i] = gt_defs_file(&t->m->defs, gt_merge_string(t, files[i]));
	for (uint32_t i = 0; i < t->counts[GT_MAP_HANDLE]; i++) {
		struct gt_handle item = items[i];
		uint64_t key = 0;
		size_t bytes;
		const char *own = gt_intern_text(&defs->handles.keys, i, &bytes);

		memcpy(&key, own, bytes < sizeof(key) ? bytes : sizeof(key));
		if (!(key >> 63)) /* of a process: "number << 32 | id" */
			key += (uint64_t)t->each->first_process << 32;
		item.name = gt_merge_string(t, item.name);
		if (item.file != GT_UNDEFINED)
			item.file = gt_merge_mapped(t, GT_MAP_FILE, item.file);
		if (item.comm != GT_UNDEFINED)
			item.comm = gt_merge_mapped(t, GT_MAP_COMM, item.comm);
		t->maps[GT_MAP_HANDLE][i] = gt_defs_handle(&t->m->defs, key, &item);
	}
}

/*
 * Events have been written with the paths of their part, each of which is whole enough: none is made shorter
 * here, by contexts_most.
 */
static int map_samples(struct gt_merge_task *t)
{
	const struct gt_defs *defs = &t->partial.defs;
	const struct gt_source *sources = defs->sources.items;
	const struct gt_context *contexts = defs->contexts.items;
	const uint64_t *periods = defs->generators.items;

	t->m->defs.contexts_most = SIZE_MAX;
	for (uint32_t i = 0; i < t->counts[GT_MAP_GENERATOR]; i++)
		t->maps[GT_MAP_GENERATOR][i] = gt_defs_generator(&t->m->defs, periods[i]);
	for (uint32_t i = 0; i < t->counts[GT_MAP_CONTEXT]; i++) {
		struct gt_context item = contexts[i];

		if (item.region >= t->counts[GT_MAP_REGION] ||
		    (item.parent != GT_UNDEFINED && item.parent >= i) ||
		    (item.source != GT_UNDEFINED && item.source >= gt_table_count(&defs->sources)))
			return -EPROTO;
		item.region = t->maps[GT_MAP_REGION][item.region];
		if (item.parent != GT_UNDEFINED)
			item.parent = t->maps[GT_MAP_CONTEXT][item.parent];
		if (item.source != GT_UNDEFINED)
			item.source = gt_defs_source(&t->m->defs,
						     gt_merge_string(t, sources[item.source].file),
						     sources[item.source].line);
		t->maps[GT_MAP_CONTEXT][i] = gt_defs_context(&t->m->defs, &item);
	}
	return 0;
}

/* ---- processes and locations --------------------------------------------------------------------- */

static int map_nodes(struct gt_merge_task *t)
{
	struct gt_layout *layout = &t->m->layout;
	struct gt_out_node *nodes = realloc(layout->nodes, (layout->node_count + t->partial.node_count + 1) *
								   sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	layout->nodes = nodes;
	for (uint32_t i = 0; i < t->partial.node_count; i++) {
		struct gt_out_node node = t->partial.nodes[i];
		uint32_t k = 0;

		if (node.parent != GT_UNDEFINED && node.parent >= i)
			return -EPROTO;
		node.name = gt_merge_string(t, node.name);
		node.class_name = gt_merge_string(t, node.class_name);
		node.uuid = gt_merge_string(t, node.uuid);
		node.address = gt_merge_string(t, node.address);
		if (node.parent != GT_UNDEFINED)
			node.parent = t->nodes[node.parent];
		while (k < layout->node_count &&
		       (nodes[k].name != node.name || nodes[k].parent != node.parent ||
			nodes[k].uuid != node.uuid))
			k++;
		if (k == layout->node_count)
			nodes[layout->node_count++] = node;
		t->nodes[i] = k;
	}
	return 0;
}

static void name_all(struct gt_merge_task *t)
{
	struct gt_layout *layout = &t->m->layout;

	for (uint32_t i = 0; i < t->partial.group_count; i++) {
		const struct gt_partial_group *from = &t->partial.groups[i];
		struct gt_out_group *to = &layout->groups[t->each->groups[i]];

		to->name = to->job && to->context ? gt_layout_rank(&t->m->defs, to->rank, to->context)
						  : gt_merge_string(t, from->name);
		to->node = from->node < t->partial.node_count ? t->nodes[from->node] : 0;
		to->accelerator = from->accelerator;
		to->launcher = from->launcher;
		if (from->accelerator)
			to->creator = gt_merge_group(t, from->creator);
	}
	for (uint32_t i = 0; i < t->partial.location_count; i++) {
		const struct gt_partial_location *from = &t->partial.locations[i];

		layout->locations[t->each->locations[i]] = (struct gt_out_location){
			.name = gt_merge_string(t, from->name), .group = gt_merge_group(t, from->group),
			.type = from->type, .thread = from->thread, .first = from->first,
			.events = from->events,
		};
	}
}

static int add_properties(struct gt_merge_task *t)
{
	const struct gt_properties *from = &t->partial.properties;
	struct gt_properties *to = &t->m->properties;

	for (uint32_t i = 0; i < t->partial.group_count; i++) {
		size_t origin = t->each->first_origin + t->partial.groups[i].clock;

		if (!t->partial.groups[i].accelerator)
			gt_properties_clock(to, &t->m->defs, t->each->groups[i],
					    t->m->clock.errors[origin],
					    t->m->clock.comparisons[origin]);
	}
	if (to->count + from->count > to->room) {
		size_t room = 2 * (to->count + from->count);
		struct gt_property *list = realloc(to->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		to->list = list;
		to->room = room;
	}
	for (size_t i = 0; i < from->count; i++) {
		struct gt_property item = from->list[i];

		item.owner = item.of_group ? gt_merge_group(t, item.owner) : gt_merge_location(t, item.owner);
		item.name = gt_merge_string(t, item.name);
		item.value = gt_merge_string(t, item.value);
		to->list[to->count++] = item;
	}
	return to->rc;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

int gt_merge_unify(struct gt_merge_task *t)
{
	int rc = new_maps(t);

	if (rc)
		return rc;
	map_strings(t);
	map_regions(t);
	map_attributes(t);
	rc = map_metrics(t);
	if (!rc)
		rc = map_comms(t);
	if (rc)
		return rc;
	map_windows(t);
	map_topologies(t);
	map_handles(t);
	rc = map_samples(t);
	if (!rc)
		rc = map_nodes(t);
	if (rc)
		return rc;
	name_all(t);
	rc = add_properties(t);
	return rc ? rc : t->m->defs.failed;
}

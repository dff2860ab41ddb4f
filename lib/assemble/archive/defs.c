/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions of the archive, in the order in which readers want them: what is referred
 * to comes first, ids are dense and ascending.
 *
 * Limits: called once, when all events are written.
 */
#include "config.h"

#include "lib/assemble/archive/defs.h"

#include "lib/assemble/archive/io.h"
#include "lib/assemble/adapters/half.h"
#include "lib/assemble/defs/properties.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Strings of gputrace's own, by number. */
struct own_names {
	uint32_t uuid, address, module, generator;
};

struct out {
	struct gt_archive *archive;
	OTF2_GlobalDefWriter *writer;
	const struct gt_layout *layout;
	struct gt_defs *defs;
	const struct own_names *names;
	uint32_t group_number;
};

/* ---- properties ----------------------------------------------------------------------------------- */

static OTF2_ErrorCode write_properties(struct out *out, const struct gt_properties *props)
{
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; rc == OTF2_SUCCESS && i < props->count; i++) {
			const struct gt_property *p = &props->list[i];
			OTF2_AttributeValue value = { .stringRef = p->value };

			if (p->of_group == !pass)
				rc = pass ? OTF2_GlobalDefWriter_WriteLocationProperty(
						    out->writer, p->owner, p->name, OTF2_TYPE_STRING,
						    value)
					  : OTF2_GlobalDefWriter_WriteLocationGroupProperty(
						    out->writer, p->owner, p->name, OTF2_TYPE_STRING,
						    value);
		}
	return rc;
}

/* ---- machine, processes, threads --------------------------------------------------------------------- */

static OTF2_ErrorCode write_node_text(struct out *out, uint32_t node, uint32_t name, uint32_t text)
{
	OTF2_AttributeValue value = { .stringRef = text };

	return OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(out->writer, node, name,
								OTF2_TYPE_STRING, value);
}

static OTF2_ErrorCode write_tree(struct out *out)
{
	const struct gt_layout *layout = out->layout;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < layout->node_count; i++) {
		const struct gt_out_node *node = &layout->nodes[i];

		rc = OTF2_GlobalDefWriter_WriteSystemTreeNode(
			out->writer, i, node->name, node->class_name,
			node->parent == GT_UNDEFINED ? OTF2_UNDEFINED_SYSTEM_TREE_NODE
						     : node->parent);
		if (rc == OTF2_SUCCESS)
			rc = OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(
				out->writer, i,
				node->uuid ? OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE
				: i	   ? OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY
					   : OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
		if (rc == OTF2_SUCCESS && node->uuid)
			rc = write_node_text(out, i, out->names->uuid, node->uuid);
		if (rc == OTF2_SUCCESS && node->uuid)
			rc = write_node_text(out, i, out->names->address, node->address);
	}
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < layout->group_count; i++) {
		const struct gt_out_group *group = &layout->groups[i];

		rc = OTF2_GlobalDefWriter_WriteLocationGroup(
			out->writer, i, group->name,
			group->accelerator ? OTF2_LOCATION_GROUP_TYPE_ACCELERATOR
					   : OTF2_LOCATION_GROUP_TYPE_PROCESS,
			group->node,
			group->creator == GT_UNDEFINED ? OTF2_UNDEFINED_LOCATION_GROUP
						       : group->creator);
	}
	return rc;
}

static OTF2_ErrorCode write_locations(struct out *out)
{
	const struct gt_layout *layout = out->layout;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < layout->location_count; i++)
		rc = OTF2_GlobalDefWriter_WriteLocation(
			out->writer, i, layout->locations[i].name,
			layout->locations[i].type, layout->locations[i].events,
			layout->locations[i].group);
	return rc;
}

/* ---- what events refer to ------------------------------------------------------------------------------ */

static OTF2_ErrorCode write_strings(struct out *out)
{
	const struct gt_intern *strings = &out->defs->strings;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < strings->count; i++)
		rc = OTF2_GlobalDefWriter_WriteString(out->writer, i,
						      gt_intern_text(strings, i, NULL));
	return rc;
}

static OTF2_ErrorCode write_regions(struct out *out)
{
	const struct gt_region *regions = out->defs->regions.items;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->regions); i++)
		rc = OTF2_GlobalDefWriter_WriteRegion(
			out->writer, i, regions[i].name, regions[i].canonical,
			regions[i].description, regions[i].role, regions[i].paradigm,
			regions[i].flags, regions[i].file, regions[i].begin, regions[i].end);
	return rc;
}

static OTF2_ErrorCode write_attributes(struct out *out)
{
	const struct gt_attribute_def *items = out->defs->attributes.items;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->attributes); i++)
		rc = OTF2_GlobalDefWriter_WriteAttribute(out->writer, i, items[i].name,
							 items[i].description, items[i].type);
	items = out->defs->parameters.items;
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->parameters); i++)
		rc = OTF2_GlobalDefWriter_WriteParameter(out->writer, i, items[i].name,
							 items[i].type);
	return rc;
}

/* A location of metrics is neither a thread nor a stream: it counts as what its group is. */
static OTF2_RecorderKind kind_of(const struct gt_layout *layout, uint32_t location)
{
	const struct gt_out_location *loc = &layout->locations[location];

	if (layout->groups[loc->group].accelerator)
		return OTF2_RECORDER_KIND_GPU;
	return loc->type == GT_AS_THREAD ? OTF2_RECORDER_KIND_CPU : OTF2_RECORDER_KIND_UNKNOWN;
}

/* By metric: who records it. Classes that nobody records are there for their instances. NULL: no memory. */
static OTF2_RecorderKind *recorder_kinds(struct out *out)
{
	const struct gt_recorder *recorders = out->defs->recorders.items;
	OTF2_RecorderKind *kinds = malloc(gt_table_count(&out->defs->metrics) + 1);

	if (kinds)
		memset(kinds, OTF2_RECORDER_KIND_ABSTRACT, gt_table_count(&out->defs->metrics) + 1);
	for (uint32_t i = 0; kinds && i < gt_table_count(&out->defs->recorders); i++) {
		OTF2_RecorderKind *kind = &kinds[recorders[i].metric];
		OTF2_RecorderKind of = kind_of(out->layout, recorders[i].location);

		*kind = *kind == OTF2_RECORDER_KIND_ABSTRACT || *kind == of ? of : OTF2_RECORDER_KIND_UNKNOWN;
	}
	return kinds;
}

static OTF2_ErrorCode write_metrics(struct out *out)
{
	const struct gt_member *members = out->defs->members.items;
	const struct gt_metric *metrics = out->defs->metrics.items;
	const struct gt_recorder *recorders = out->defs->recorders.items;
	OTF2_RecorderKind *kinds = recorder_kinds(out);
	OTF2_ErrorCode rc = kinds ? OTF2_SUCCESS : OTF2_ERROR_MEM_FAULT;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->members); i++)
		rc = OTF2_GlobalDefWriter_WriteMetricMember(
			out->writer, i, members[i].name, members[i].description, members[i].kind,
			members[i].mode, members[i].value,
			members[i].binary ? OTF2_BASE_BINARY : OTF2_BASE_DECIMAL, members[i].exponent,
			members[i].unit);
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->metrics); i++) {
		const struct gt_metric *m = &metrics[i];

		if (m->instance)
			rc = OTF2_GlobalDefWriter_WriteMetricInstance(
				out->writer, i, m->base, m->recorder, OTF2_SCOPE_LOCATION_GROUP,
				m->scope_id);
		else
			rc = OTF2_GlobalDefWriter_WriteMetricClass(
				out->writer, i, (uint8_t)m->count, out->defs->member_ids + m->first,
				m->synchronous ? OTF2_METRIC_SYNCHRONOUS : OTF2_METRIC_ASYNCHRONOUS,
				kinds[i]);
	}
	free(kinds);
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->recorders); i++)
		rc = OTF2_GlobalDefWriter_WriteMetricClassRecorder(
			out->writer, recorders[i].metric, recorders[i].location);
	return rc;
}

/* ---- groups and communicators ---------------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static OTF2_ErrorCode write_group(struct out *out, uint32_t name, OTF2_GroupType type,
				  uint8_t paradigm, const uint64_t *members, size_t count)
{
	return OTF2_GlobalDefWriter_WriteGroup(out->writer, out->group_number++, name, type,
					       paradigm, OTF2_GROUP_FLAG_NONE, (uint32_t)count,
					       members);
}

/* By group: its first location, and what is behind its last one. */
static uint32_t *find_ends(const struct gt_layout *layout)
{
	uint32_t *ends = calloc(2 * (size_t)layout->group_count + 2, sizeof(*ends));

	for (uint32_t i = 0; ends && i < layout->location_count; i++) {
		uint32_t *of = &ends[2 * layout->locations[i].group];

		if (!of[1])
			of[0] = i;
		of[1] = i + 1;
	}
	return ends;
}

/* The threads of a process; a communicator of threads consists of them. */
static int list_threads(const struct out *out, struct gt_comm *comm, const uint32_t *ends)
{
	const struct gt_layout *layout = out->layout;
	uint32_t first = comm->proc < layout->group_count ? ends[2 * comm->proc] : 0;
	uint32_t end = comm->proc < layout->group_count ? ends[2 * comm->proc + 1] : 0;
	size_t n = 0;

	for (uint32_t i = first; i < end; i++)
		n += layout->locations[i].group == comm->proc && layout->locations[i].thread;
	/* No larger than it must be: each of thousands of processes has one. */
	comm->members = calloc(n + 1, sizeof(*comm->members));
	if (!comm->members)
		return -ENOMEM;
	comm->member_count = 0;
	for (uint32_t i = first; i < end; i++)
		if (layout->locations[i].group == comm->proc && layout->locations[i].thread)
			comm->members[comm->member_count++] = i;
	return 0;
}

/* All locations that appear in a communicator of the paradigm, ascending, each once. */
static uint64_t *unite(struct out *out, uint8_t paradigm, size_t *count)
{
	struct gt_comm *comms = out->defs->comms.items;
	size_t n = 0, kept = 0;
	uint64_t *all;

	for (uint32_t i = 0; i < gt_table_count(&out->defs->comms); i++)
		if (comms[i].paradigm == paradigm)
			n += comms[i].member_count + comms[i].remote_count;
	all = malloc((n + 1) * sizeof(*all));
	if (!all)
		return NULL;
	n = 0;
	for (uint32_t i = 0; i < gt_table_count(&out->defs->comms); i++) {
		for (size_t k = 0; comms[i].paradigm == paradigm && k < comms[i].member_count; k++)
			all[n++] = comms[i].members[k];
		for (size_t k = 0; comms[i].paradigm == paradigm && k < comms[i].remote_count; k++)
			all[n++] = comms[i].remote[k];
	}
	qsort(all, n, sizeof(*all), compare_members);
	for (size_t i = 0; i < n; i++)
		if (!kept || all[kept - 1] != all[i])
			all[kept++] = all[i];
	*count = kept;
	return all;
}

/* Members as places in `all`. */
static OTF2_ErrorCode write_members(struct out *out, uint8_t paradigm, const uint64_t *members,
				    size_t n, const uint64_t *all, size_t count)
{
	uint64_t *places = malloc((n + 1) * sizeof(*places));
	OTF2_ErrorCode rc;

	if (!places)
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	for (size_t k = 0; k < n; k++)
		places[k] = (uint64_t)((const uint64_t *)bsearch(&members[k], all, count,
								 sizeof(*all), compare_members) -
				       all);
	rc = write_group(out, 0, OTF2_GROUP_TYPE_COMM_GROUP, paradigm, places, n);
	free(places);
	return rc;
}

/* One group of all locations of the paradigm, then one group of places in it per communicator. */
static OTF2_ErrorCode write_comms_of(struct out *out, uint8_t paradigm, uint32_t name,
				     uint32_t *groups)
{
	struct gt_comm *comms = out->defs->comms.items;
	uint32_t self = OTF2_UNDEFINED_GROUP;
	size_t count;
	uint64_t *all = unite(out, paradigm, &count);
	OTF2_ErrorCode rc = all ? OTF2_SUCCESS : OTF2_ERROR_MEM_ALLOC_FAILED;

	if (rc == OTF2_SUCCESS)
		rc = write_group(out, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, paradigm, all, count);
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->comms); i++) {
		if (comms[i].paradigm != paradigm)
			continue;
		groups[i] = out->group_number;
		if (comms[i].self && self != OTF2_UNDEFINED_GROUP) { /* one is enough */
			groups[i] = self;
			continue;
		}
		if (comms[i].self)
			rc = write_group(out, 0, OTF2_GROUP_TYPE_COMM_SELF, paradigm, NULL, 0);
		else
			rc = write_members(out, paradigm, comms[i].members, comms[i].member_count,
					   all, count);
		if (comms[i].self)
			self = groups[i];
		if (rc == OTF2_SUCCESS && comms[i].inter) /* the other side is the next group */
			rc = write_members(out, paradigm, comms[i].remote, comms[i].remote_count,
					   all, count);
	}
	free(all);
	return rc;
}

static const char *paradigm_name(uint8_t paradigm)
{
	const struct gt_paradigm *known = gt_assembler_paradigm(paradigm);

	return known ? known->name : paradigm == OTF2_PARADIGM_USER ? "USER" : "UNKNOWN";
}

static OTF2_ErrorCode write_comms(struct out *out)
{
	struct gt_comm *comms = out->defs->comms.items;
	uint32_t n = (uint32_t)gt_table_count(&out->defs->comms);
	uint32_t *groups = calloc(n + 1, sizeof(*groups));
	bool done[256] = { false };
	OTF2_ErrorCode rc = groups ? OTF2_SUCCESS : OTF2_ERROR_MEM_ALLOC_FAILED;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < n; i++) {
		if (done[comms[i].paradigm])
			continue;
		done[comms[i].paradigm] = true;
		rc = write_comms_of(out, comms[i].paradigm,
				    gt_defs_string(out->defs, paradigm_name(comms[i].paradigm)),
				    groups);
	}
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < n; i++) {
		uint32_t parent =
			comms[i].parent == GT_UNDEFINED ? OTF2_UNDEFINED_COMM : comms[i].parent;

		OTF2_CommFlag flag = comms[i].events ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS
						     : OTF2_COMM_FLAG_NONE;

		rc = comms[i].inter
			     ? OTF2_GlobalDefWriter_WriteInterComm(out->writer, i, comms[i].name,
								   groups[i], groups[i] + 1, parent,
								   flag)
			     : OTF2_GlobalDefWriter_WriteComm(out->writer, i, comms[i].name,
							      groups[i], parent, flag);
	}
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->windows); i++) {
		const struct gt_window *windows = out->defs->windows.items;

		rc = OTF2_GlobalDefWriter_WriteRmaWin(
			out->writer, i, windows[i].name, windows[i].comm,
			windows[i].events ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS : OTF2_RMA_WIN_FLAG_NONE);
	}
	free(groups);
	return rc;
}

/* All streams of a runtime as a group of locations: readers show and hide them together. */
static OTF2_ErrorCode write_streams(struct out *out)
{
	const struct gt_layout *layout = out->layout;
	uint64_t *members = malloc((layout->location_count + 1) * sizeof(*members));
	OTF2_ErrorCode rc = members ? OTF2_SUCCESS : OTF2_ERROR_MEM_ALLOC_FAILED;
	const struct gt_accel *accel;

	for (size_t k = 0; rc == OTF2_SUCCESS && (accel = gt_half_accel(k)); k++) {
		size_t count = 0;

		for (uint32_t i = 0; i < layout->location_count; i++)
			if (layout->locations[i].type == GT_AS_STREAM &&
			    layout->groups[layout->locations[i].group].runtime == accel)
				members[count++] = i;
		if (count)
			rc = write_group(out, gt_defs_string(out->defs, accel->streams),
					 OTF2_GROUP_TYPE_LOCATIONS, accel->paradigm, members, count);
	}
	free(members);
	return rc;
}

/* Regions that the user or an adapter gave a group: a group of regions each. */
static OTF2_ErrorCode write_region_groups(struct out *out)
{
	const struct gt_region *regions = out->defs->regions.items;
	uint32_t n = (uint32_t)gt_table_count(&out->defs->regions);
	uint64_t *members = malloc((n + 1) * sizeof(*members));
	OTF2_ErrorCode rc = members ? OTF2_SUCCESS : OTF2_ERROR_MEM_ALLOC_FAILED;
	bool *done = calloc(out->defs->strings.count + 1, sizeof(*done));

	if (!done)
		rc = OTF2_ERROR_MEM_ALLOC_FAILED;
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < n; i++) {
		size_t count = 0;

		if (regions[i].group == GT_UNDEFINED || done[regions[i].group])
			continue;
		done[regions[i].group] = true;
		for (uint32_t k = i; k < n; k++)
			if (regions[k].group == regions[i].group)
				members[count++] = k;
		rc = write_group(out, regions[i].group, OTF2_GROUP_TYPE_REGIONS,
				 OTF2_PARADIGM_UNKNOWN, members, count);
	}
	free(members);
	free(done);
	return rc;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The first context of each region says in which file it lies. */
static OTF2_ErrorCode write_module(struct out *out, uint32_t context, const struct gt_region *region,
				   bool *said)
{
	OTF2_AttributeValue value = { .stringRef = region->module };

	if (*said || !region->module)
		return OTF2_SUCCESS;
	*said = true;
	return OTF2_GlobalDefWriter_WriteCallingContextProperty(out->writer, context, out->names->module,
								OTF2_TYPE_STRING, value);
}

static OTF2_ErrorCode write_contexts(struct out *out)
{
	const struct gt_context *contexts = out->defs->contexts.items;
	const struct gt_region *regions = out->defs->regions.items;
	bool *said = calloc(gt_table_count(&out->defs->regions) + 1, sizeof(*said));
	OTF2_ErrorCode rc = said ? OTF2_SUCCESS : OTF2_ERROR_MEM_ALLOC_FAILED;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->contexts); i++) {
		uint32_t region = contexts[i].region;

		rc = OTF2_GlobalDefWriter_WriteCallingContext(out->writer, i, region, contexts[i].source,
							      contexts[i].parent);
		if (rc == OTF2_SUCCESS)
			rc = write_module(out, i, &regions[region], &said[region]);
	}
	free(said);
	return rc;
}

/* GT_UNDEFINED is what OTF2 calls undefined, too. */
static OTF2_ErrorCode write_samples(struct out *out)
{
	const struct gt_source *sources = out->defs->sources.items;
	const uint64_t *periods = out->defs->generators.items;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->generators); i++)
		rc = OTF2_GlobalDefWriter_WriteInterruptGenerator(out->writer, i, out->names->generator,
								  OTF2_INTERRUPT_GENERATOR_MODE_TIME,
								  OTF2_BASE_DECIMAL, -9, periods[i]);
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&out->defs->sources); i++)
		rc = OTF2_GlobalDefWriter_WriteSourceCodeLocation(out->writer, i, sources[i].file,
								  sources[i].line);
	return rc == OTF2_SUCCESS ? write_contexts(out) : rc;
}

/* ---- topologies ------------------------------------------------------------------------------ */

static OTF2_ErrorCode write_places(OTF2_GlobalDefWriter *writer, uint32_t number,
				   const struct gt_topology *topology, uint32_t count)
{
	uint32_t coordinates[GT_DIMENSIONS];
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (uint32_t rank = 0; rc == OTF2_SUCCESS && rank < count; rank++) {
		uint32_t rest = rank;

		for (uint32_t d = topology->count; d-- > 0;) {
			coordinates[d] = rest % topology->numbers[d];
			rest /= topology->numbers[d];
		}
		rc = OTF2_GlobalDefWriter_WriteCartCoordinate(writer, number, rank,
							      (uint8_t)topology->count, coordinates);
	}
	return rc;
}

/* Cartesian topologies of communicators. */
static OTF2_ErrorCode write_topologies(OTF2_GlobalDefWriter *writer, struct gt_defs *defs)
{
	const struct gt_topology *all = defs->topologies.items;
	const struct gt_comm *comms = defs->comms.items;
	OTF2_CartDimensionRef mine[GT_DIMENSIONS], next = 0;
	OTF2_ErrorCode rc = OTF2_SUCCESS;
	uint32_t n = (uint32_t)gt_table_count(&defs->topologies);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t d = 0; rc == OTF2_SUCCESS && d < all[i].count; d++)
			rc = OTF2_GlobalDefWriter_WriteCartDimension(
				writer, next++, 0, all[i].numbers[d],
				all[i].numbers[all[i].count + d] ? OTF2_CART_PERIODIC_TRUE
								 : OTF2_CART_PERIODIC_FALSE);
	next = 0;
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < n; i++) {
		for (uint32_t d = 0; d < all[i].count; d++)
			mine[d] = next++;
		rc = OTF2_GlobalDefWriter_WriteCartTopology(writer, i, comms[all[i].comm].name,
							    all[i].comm, (uint8_t)all[i].count, mine);
	}
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < n; i++)
		rc = write_places(writer, i, &all[i], (uint32_t)comms[all[i].comm].member_count);
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Everything that makes new strings happens here, before they are written. */
static int prepare(struct out *out, struct own_names *names)
{
	struct gt_comm *comms = out->defs->comms.items;
	uint32_t *ends = find_ends(out->layout);
	int rc = ends ? 0 : -ENOMEM;

	gt_archive_prepare_io(out->defs);
	for (size_t i = 0; gt_assembler(i); i++)
		for (const struct gt_paradigm *p = gt_assembler(i)->paradigms; p && p->name; p++) {
			gt_defs_string(out->defs, p->name);
			gt_defs_string(out->defs, p->comm_template ? p->comm_template : "");
		}
	for (size_t i = 0; gt_half_accel(i); i++)
		gt_defs_string(out->defs, gt_half_accel(i)->streams);
	names->uuid = gt_defs_string(out->defs, "GPUTRACE::UUID");
	names->address = gt_defs_string(out->defs, "GPUTRACE::PCI_ADDRESS");
	if (gt_table_count(&out->defs->generators)) {
		names->module = gt_defs_string(out->defs, "module");
		names->generator = gt_defs_string(out->defs, "CPU_TIME");
	}
	for (uint32_t i = 0; i < gt_table_count(&out->defs->comms); i++) {
		gt_defs_string(out->defs, paradigm_name(comms[i].paradigm));
		if (!rc && comms[i].proc != GT_UNDEFINED && !comms[i].members)
			rc = list_threads(out, &comms[i], ends);
	}
	free(ends);
	return rc ? rc : out->defs->failed;
}

/* Has anything of it been recorded that the archive says with its name? */
static bool is_used(const struct out *out, const struct gt_paradigm *p)
{
	const struct gt_comm *comms = out->defs->comms.items;

	for (uint32_t i = 0; i < gt_table_count(&out->defs->comms); i++)
		if (comms[i].paradigm == p->paradigm)
			return true;
	for (uint32_t i = 0; p->kind == OTF2_PARADIGM_CLASS_ACCELERATOR && i < out->layout->group_count; i++)
		if (out->layout->groups[i].accelerator)
			return true;
	return false;
}

static OTF2_ErrorCode write_paradigm(struct out *out, const struct gt_paradigm *p)
{
	OTF2_AttributeValue template = { .stringRef = 0 };
	OTF2_ErrorCode rc = OTF2_GlobalDefWriter_WriteParadigm(out->writer, p->paradigm,
							       gt_defs_string(out->defs, p->name), p->kind);

	if (rc != OTF2_SUCCESS || !p->comm_template)
		return rc;
	template.stringRef = gt_defs_string(out->defs, p->comm_template);
	return OTF2_GlobalDefWriter_WriteParadigmProperty(out->writer, p->paradigm,
							  OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
							  OTF2_TYPE_STRING, template);
}

static OTF2_ErrorCode write_paradigms(struct out *out)
{
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (size_t i = 0; gt_assembler(i); i++)
		for (const struct gt_paradigm *p = gt_assembler(i)->paradigms; p && p->name; p++)
			if (rc == OTF2_SUCCESS && p->kind && is_used(out, p))
				rc = write_paradigm(out, p);
	return rc;
}

static OTF2_ErrorCode write_all(struct out *out, const struct gt_archive_clock *clock)
{
	OTF2_ErrorCode rc = OTF2_GlobalDefWriter_WriteClockProperties(
		out->writer, 1000000000, clock->offset_ns, clock->length_ns, clock->start_real_ns);

	if (rc == OTF2_SUCCESS)
		rc = write_strings(out);
	if (rc == OTF2_SUCCESS)
		rc = write_paradigms(out);
	if (rc == OTF2_SUCCESS)
		rc = write_attributes(out);
	if (rc == OTF2_SUCCESS)
		rc = write_tree(out);
	if (rc == OTF2_SUCCESS)
		rc = write_locations(out);
	if (rc == OTF2_SUCCESS)
		rc = write_properties(out, clock->properties);
	if (rc == OTF2_SUCCESS)
		rc = write_regions(out);
	if (rc == OTF2_SUCCESS)
		rc = write_region_groups(out);
	if (rc == OTF2_SUCCESS)
		rc = write_samples(out);
	if (rc == OTF2_SUCCESS)
		rc = write_streams(out);
	if (rc == OTF2_SUCCESS)
		rc = write_comms(out);
	if (rc == OTF2_SUCCESS)
		rc = write_topologies(out->writer, out->defs);
	if (rc == OTF2_SUCCESS)
		rc = gt_archive_write_io(out->writer, out->defs);
	if (rc == OTF2_SUCCESS)
		rc = write_metrics(out);
	return rc;
}

static void write_defs(struct gt_archive *archive, const struct gt_layout *layout, struct gt_defs *defs,
		       const struct gt_archive_clock *clock)
{
	struct own_names names;
	struct out out = { .archive = archive, .layout = layout, .defs = defs, .names = &names };

	if (prepare(&out, &names)) {
		gt_archive_fail(archive, "no memory for the definitions");
		return;
	}
	out.writer = OTF2_Archive_GetGlobalDefWriter(archive->otf2);
	if (!out.writer)
		gt_archive_fail(archive, "OTF2 cannot write definitions");
	else if (!gt_otf2_bad(archive, write_all(&out, clock), "definitions"))
		gt_otf2_bad(archive, OTF2_Archive_CloseGlobalDefWriter(archive->otf2, out.writer),
			    "closing the definitions");
}

int gt_archive_close(struct gt_archive *archive, const struct gt_layout *layout, struct gt_defs *defs,
		     const struct gt_archive_clock *clock)
{
	gt_archive_close_files(archive);
	if (archive->options.mode != GT_ARCHIVE_PART && !gt_archive_bad(archive))
		write_defs(archive, layout, defs, clock);
	return gt_archive_free(archive);
}

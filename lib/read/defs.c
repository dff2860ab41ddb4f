/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Global definitions: into tables, strings resolved, references looked at.
 *
 * Limits: what an archive defines twice has the first meaning. Definitions that refer to later ones are kept
 * as they are, and reported.
 */
#include "config.h"

#include "lib/read/read_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DONE OTF2_CALLBACK_SUCCESS

#define NAME(KIND, name, text) text,
const char *const gt_otf2_kind_names[GT_OTF2_KINDS] = { GT_OTF2_KIND_LIST(NAME) };
#undef NAME
#define SIZE(KIND, name, text) sizeof(struct gt_otf2_##name),
static const size_t sizes[GT_OTF2_KINDS] = { GT_OTF2_KIND_LIST(SIZE) };
#undef SIZE

/* ---- tables ----------------------------------------------------------------------------------- */

static void *keep_copy(struct gt_otf2 *read, const void *from, size_t bytes)
{
	void *copy = gt_otf2_keep(read, bytes + 1);

	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

static void put_id(struct gt_otf2_table *table, uint64_t id, size_t index)
{
	if (id == GT_OTF2_NOTHING || gt_lookup_find(&table->ids, id + 1))
		return;
	if (!gt_lookup_put(&table->ids, id + 1, (uint32_t)index, 0))
		gt_no_memory();
}

/* Numbers that are not those of the places in the table. */
static void make_sparse(struct gt_otf2_table *table)
{
	if (gt_lookup_init(&table->ids))
		gt_no_memory();
	for (size_t i = 0; i < table->count; i++)
		put_id(table, i, i);
	table->dense = false;
}

/* Locations may have any ids (Score-P's have the thread's number above the rank's), but one only once. */
static bool is_again(struct gt_otf2 *read, enum gt_otf2_kind kind, uint64_t id)
{
	if (kind != GT_OTF2_LOCATION || gt_otf2_index(read, kind, id) < 0)
		return false;
	gt_otf2_report(read, NULL, GT_OTF2_ORDER, "location %" PRIu64 " is defined twice", id);
	read->again++;
	return true;
}

/* Adds a definition, whose first member is its id. A location is added, and so read, once. */
static void define(struct gt_otf2 *read, enum gt_otf2_kind kind, const void *definition)
{
	struct gt_otf2_table *table = &read->tables[kind];
	uint64_t id = *(const uint64_t *)definition;
	char *place;

	if (is_again(read, kind, id))
		return;
	if (id != table->count) {
		if (kind != GT_OTF2_LOCATION)
			gt_otf2_report(read, NULL, GT_OTF2_ORDER,
				       "%s %" PRIu64 " is defined where %zu would be next",
				       gt_otf2_kind_names[kind], id, table->count);
		if (table->dense)
			make_sparse(table);
	}
	table->items = gt_grown(table->items, table->count, &table->room, sizes[kind]);
	place = (char *)table->items + table->count * sizes[kind];
	memcpy(place, definition, sizes[kind]);
	if (!table->dense)
		put_id(table, id, table->count);
	table->count++;
}

/* Definitions without a number in the archive get the next one. */
static void append(struct gt_otf2 *read, enum gt_otf2_kind kind, void *definition)
{
	*(uint64_t *)definition = read->tables[kind].count;
	define(read, kind, definition);
}

static bool undefined(enum gt_otf2_kind kind, uint64_t id)
{
	return id == (kind == GT_OTF2_LOCATION      ? OTF2_UNDEFINED_UINT64
		      : kind == GT_OTF2_IO_PARADIGM ? OTF2_UNDEFINED_UINT8
						    : OTF2_UNDEFINED_UINT32);
}

static uint64_t refer(struct gt_otf2 *read, enum gt_otf2_kind from, uint64_t id, enum gt_otf2_kind to,
		      uint64_t target, bool optional)
{
	if (!(optional && undefined(to, target)) && gt_otf2_index(read, to, target) < 0)
		gt_otf2_report(read, NULL, GT_OTF2_REFERENCES,
			       "%s %" PRIu64 " refers to %s %" PRIu64 ", which is not defined yet",
			       gt_otf2_kind_names[from], id, gt_otf2_kind_names[to], target);
	return target;
}

static const char *resolve(struct gt_otf2 *read, enum gt_otf2_kind from, uint64_t id, uint32_t string,
			   bool optional)
{
	refer(read, from, id, GT_OTF2_STRING, string, optional);
	return optional && string == OTF2_UNDEFINED_STRING ? "" : gt_otf2_text(read, string);
}

const char *gt_otf2_text(const struct gt_otf2 *read, uint32_t string)
{
	const struct gt_otf2_string *s = gt_otf2_find_string(read, string);

	return s ? s->text : "?";
}

/* ---- definitions that are as records.h says ---------------------------------------------------- */

#define ARG_S(name)             , OTF2_StringRef name
#define ARG_V(type, name)       , type name
#define ARG_R(kind, type, name) , type name
#define SET_S(name)             .name = resolve(user, kind_of, self, name, false),
#define SET_O(name)             .name = resolve(user, kind_of, self, name, true),
#define SET_R(kind, type, name) .name = (type)refer(user, kind_of, self, GT_OTF2_##kind, name, false),
#define SET_Q(kind, type, name) .name = (type)refer(user, kind_of, self, GT_OTF2_##kind, name, true),
#define SET_V(type, name)       .name = name,
#define CALLBACK(KIND, name, record)                                                                         \
	static OTF2_CallbackCode on_##record(                                                                \
		void *user, self_##record self GT_OTF2_DEF_##record(ARG_S, ARG_S, ARG_R, ARG_R, ARG_V))      \
	{                                                                                                    \
		const enum gt_otf2_kind kind_of = GT_OTF2_##KIND;                                            \
													     \
		define(user, GT_OTF2_##KIND,                                                                 \
		       &(struct gt_otf2_##name){ .id = self,                                                 \
						 GT_OTF2_DEF_##record(SET_S, SET_O, SET_R, SET_Q, SET_V) }); \
		return DONE;                                                                                 \
	}
#define SELF(KIND, name, record) typedef OTF2_##record##Ref self_##record;
GT_OTF2_DEFS(SELF)
GT_OTF2_DEFS(CALLBACK)

/* ---- definitions with lists, and what is not a table of its own -------------------------------- */

/* ns = ticks * 1e9 / resolution, as a whole number and 2^64ths: exact for times below 2^64 ns. */
static void set_factor(struct gt_otf2 *read)
{
	const uint64_t second = 1000000000;
	uint64_t rest = read->resolution ? second % read->resolution : 0;

	read->factor = read->resolution ? second / read->resolution : 1;
	read->fraction = rest ? (uint64_t)((((unsigned __int128)rest << 64) + read->resolution - 1) /
					   read->resolution) : 0;
}

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
				  uint64_t realtime)
{
	struct gt_otf2 *read = user;

	if (read->have_clock)
		gt_otf2_report(read, NULL, GT_OTF2_ORDER, "a second clock is defined");
	read->have_clock = true;
	read->resolution = resolution;
	read->begin = offset;
	read->end = offset + length;
	read->realtime = realtime;
	if (!resolution || read->end < offset)
		gt_otf2_report(read, NULL, GT_OTF2_RANGE,
			       "the clock has %" PRIu64 " ticks per second and %" PRIu64 " ticks", resolution,
			       length);
	set_factor(read);
	return DONE;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
	size_t length = text ? strlen(text) : 0; /* libotf2 gives NULL for some damaged strings */
	char *copy = keep_copy(user, text, length);

	copy[length] = '\0';
	define(user, GT_OTF2_STRING, &(struct gt_otf2_string){ .id = self, .text = copy });
	return DONE;
}

static enum gt_otf2_kind member_kind(OTF2_GroupType type)
{
	switch (type) {
	case OTF2_GROUP_TYPE_LOCATIONS:
	case OTF2_GROUP_TYPE_COMM_LOCATIONS:
		return GT_OTF2_LOCATION;
	case OTF2_GROUP_TYPE_REGIONS:
		return GT_OTF2_REGION;
	case OTF2_GROUP_TYPE_METRIC:
		return GT_OTF2_METRIC;
	}
	return GT_OTF2_KINDS;
}

/* How many ranks a group of a communicator can choose from. */
static uint64_t ranks_of(struct gt_otf2 *read, uint64_t group, OTF2_Paradigm paradigm)
{
	uint64_t locations = read->comm_locations[paradigm];

	if (locations)
		return gt_otf2_find_group(read, locations - 1)->count;
	gt_otf2_report(read, NULL, GT_OTF2_COMMS,
		       "group %" PRIu64 " of communicators comes before the locations of its paradigm %u",
		       group, paradigm);
	return GT_OTF2_NOTHING;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
				  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count,
				  const uint64_t *members)
{
	struct gt_otf2 *read = user;
	enum gt_otf2_kind kind = member_kind(type);
	uint64_t ranks = type == OTF2_GROUP_TYPE_COMM_GROUP ? ranks_of(read, self, paradigm)
							    : GT_OTF2_NOTHING;

	define(read, GT_OTF2_GROUP, &(struct gt_otf2_group){
		.id = self, .name = resolve(read, GT_OTF2_GROUP, self, name, true), .type = type,
		.paradigm = paradigm, .flags = flags, .count = count,
		.members = keep_copy(read, members, count * sizeof(*members)) });
	for (uint32_t i = 0; i < count; i++) {
		if (kind != GT_OTF2_KINDS)
			refer(read, GT_OTF2_GROUP, self, kind, members[i], false);
		else if (members[i] >= ranks)
			gt_otf2_report(read, NULL, GT_OTF2_COMMS, "group %u has rank %" PRIu64 " of %" PRIu64,
				       self, members[i], ranks);
	}
	if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
		read->comm_locations[paradigm] = (uint64_t)self + 1;
	return DONE;
}

static OTF2_CallbackCode on_class(void *user, OTF2_MetricRef self, uint8_t count,
				  const OTF2_MetricMemberRef *members, OTF2_MetricOccurrence occurrence,
				  OTF2_RecorderKind recorder)
{
	define(user, GT_OTF2_METRIC, &(struct gt_otf2_metric){
		.id = self, .count = count, .members = keep_copy(user, members, count * sizeof(*members)),
		.occurrence = occurrence, .recorder_kind = recorder });
	for (uint8_t i = 0; i < count; i++)
		refer(user, GT_OTF2_METRIC, self, GT_OTF2_METRIC_MEMBER, members[i], false);
	return DONE;
}

static OTF2_CallbackCode on_instance(void *user, OTF2_MetricRef self, OTF2_MetricRef of,
				     OTF2_LocationRef recorder, OTF2_MetricScope scope, uint64_t scope_id)
{
	const struct gt_otf2_metric *class = gt_otf2_find_metric(user, of);
	struct gt_otf2_metric metric = class ? *class : (struct gt_otf2_metric){ .count = 0 };

	refer(user, GT_OTF2_METRIC, self, GT_OTF2_METRIC, of, false);
	refer(user, GT_OTF2_METRIC, self, GT_OTF2_LOCATION, recorder, false);
	metric.id = self;
	metric.instance = true;
	metric.class_id = of;
	metric.recorder = recorder;
	metric.scope = scope;
	metric.scope_id = scope_id;
	define(user, GT_OTF2_METRIC, &metric);
	return DONE;
}

static void define_comm(struct gt_otf2 *read, struct gt_otf2_comm comm, OTF2_StringRef name)
{
	refer(read, GT_OTF2_COMM, comm.id, GT_OTF2_COMM, comm.parent, true);
	refer(read, GT_OTF2_COMM, comm.id, GT_OTF2_GROUP, comm.group, false);
	if (comm.inter)
		refer(read, GT_OTF2_COMM, comm.id, GT_OTF2_GROUP, comm.remote, false);
	comm.name = resolve(read, GT_OTF2_COMM, comm.id, name, true);
	define(read, GT_OTF2_COMM, &comm);
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
				 OTF2_CommRef parent, OTF2_CommFlag flags)
{
	define_comm(user,
		    (struct gt_otf2_comm){
			    .id = self, .group = group, .remote = group, .parent = parent, .flags = flags },
		    name);
	return DONE;
}

static OTF2_CallbackCode on_inter_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a,
				       OTF2_GroupRef b, OTF2_CommRef common, OTF2_CommFlag flags)
{
	define_comm(user, (struct gt_otf2_comm){ .id = self, .inter = true, .group = a, .remote = b,
						 .parent = common, .flags = flags }, name);
	return DONE;
}

static void define_file(struct gt_otf2 *read, uint64_t id, OTF2_StringRef name, OTF2_SystemTreeNodeRef scope,
			bool directory)
{
	refer(read, GT_OTF2_IO_FILE, id, GT_OTF2_NODE, scope, true);
	define(read, GT_OTF2_IO_FILE, &(struct gt_otf2_io_file){
		.id = id, .name = resolve(read, GT_OTF2_IO_FILE, id, name, false), .directory = directory,
		.scope = scope });
}

static OTF2_CallbackCode on_file(void *user, OTF2_IoFileRef self, OTF2_StringRef name,
				 OTF2_SystemTreeNodeRef scope)
{
	define_file(user, self, name, scope, false);
	return DONE;
}

static OTF2_CallbackCode on_directory(void *user, OTF2_IoFileRef self, OTF2_StringRef name,
				      OTF2_SystemTreeNodeRef scope)
{
	define_file(user, self, name, scope, true);
	return DONE;
}

static OTF2_CallbackCode on_io_paradigm(void *user, OTF2_IoParadigmRef self, OTF2_StringRef id,
					OTF2_StringRef name, OTF2_IoParadigmClass class,
					OTF2_IoParadigmFlag flags, uint8_t count,
					const OTF2_IoParadigmProperty *properties, const OTF2_Type *types,
					const OTF2_AttributeValue *values)
{
	(void)count, (void)properties, (void)types, (void)values;
	define(user, GT_OTF2_IO_PARADIGM,
	       &(struct gt_otf2_io_paradigm){
		       .id = self,
		       .identification = resolve(user, GT_OTF2_IO_PARADIGM, self, id, false),
		       .name = resolve(user, GT_OTF2_IO_PARADIGM, self, name, false),
		       .class_of = class,
		       .flags = flags });
	return DONE;
}

static OTF2_CallbackCode on_io_state(void *user, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
				     OTF2_IoStatusFlag flags)
{
	refer(user, GT_OTF2_IO_STATE, handle, GT_OTF2_IO_HANDLE, handle, false);
	append(user, GT_OTF2_IO_STATE,
	       &(struct gt_otf2_io_state){ .handle = handle, .mode = mode, .flags = flags });
	return DONE;
}

static OTF2_CallbackCode on_topology(void *user, OTF2_CartTopologyRef self, OTF2_StringRef name,
				     OTF2_CommRef comm, uint8_t count,
				     const OTF2_CartDimensionRef *dimensions)
{
	for (uint8_t i = 0; i < count; i++)
		refer(user, GT_OTF2_TOPOLOGY, self, GT_OTF2_DIMENSION, dimensions[i], false);
	define(user, GT_OTF2_TOPOLOGY,
	       &(struct gt_otf2_topology){
		       .id = self,
		       .name = resolve(user, GT_OTF2_TOPOLOGY, self, name, true),
		       .comm = (OTF2_CommRef)refer(user, GT_OTF2_TOPOLOGY, self, GT_OTF2_COMM, comm, true),
		       .count = count,
		       .dimensions = keep_copy(user, dimensions, count * sizeof(*dimensions)) });
	return DONE;
}

static OTF2_CallbackCode on_coordinate(void *user, OTF2_CartTopologyRef topology, uint32_t rank,
				       uint8_t count, const uint32_t *coordinates)
{
	refer(user, GT_OTF2_TOPOLOGY, topology, GT_OTF2_TOPOLOGY, topology, false);
	append(user, GT_OTF2_COORDINATE, &(struct gt_otf2_coordinate){
		.topology = topology, .rank = rank, .count = count,
		.coordinates = keep_copy(user, coordinates, count * sizeof(*coordinates)) });
	return DONE;
}

static OTF2_CallbackCode on_paradigm(void *user, OTF2_Paradigm paradigm, OTF2_StringRef name,
				     OTF2_ParadigmClass class)
{
	append(user, GT_OTF2_PARADIGM,
	       &(struct gt_otf2_paradigm){ .paradigm = paradigm,
					   .name = resolve(user, GT_OTF2_STRING, name, name, false),
					   .class_of = class });
	return DONE;
}

/* ---- properties -------------------------------------------------------------------------------- */

static OTF2_CallbackCode own(struct gt_otf2 *read, enum gt_otf2_kind kind, uint64_t owner,
			     OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value)
{
	refer(read, kind, owner, kind, owner, false);
	append(read, GT_OTF2_PROPERTY,
	       &(struct gt_otf2_property){
		       .kind = kind,
		       .owner = owner,
		       .name = resolve(read, kind, owner, name, false),
		       .type = type,
		       .value = value,
		       .text = type == OTF2_TYPE_STRING ? gt_otf2_text(read, value.stringRef) : "" });
	gt_otf2_owned(read);
	return DONE;
}

#define OWNED(record, KIND, type_of)                                                                 \
	static OTF2_CallbackCode on_##record(void *user, type_of owner, OTF2_StringRef name, OTF2_Type type, \
					     OTF2_AttributeValue value)                              \
	{                                                                                            \
		return own(user, GT_OTF2_##KIND, owner, name, type, value);                          \
	}
OWNED(SystemTreeNodeProperty, NODE, OTF2_SystemTreeNodeRef)
OWNED(LocationGroupProperty, LOCATION_GROUP, OTF2_LocationGroupRef)
OWNED(LocationProperty, LOCATION, OTF2_LocationRef)
OWNED(CallingContextProperty, CONTEXT, OTF2_CallingContextRef)
OWNED(IoFileProperty, IO_FILE, OTF2_IoFileRef)

static OTF2_CallbackCode on_domain(void *user, OTF2_SystemTreeNodeRef node, OTF2_SystemTreeDomain domain)
{
	(void)domain;
	refer(user, GT_OTF2_NODE, node, GT_OTF2_NODE, node, false);
	return DONE;
}

const struct gt_otf2_context *gt_otf2_caller(const struct gt_otf2 *read,
					     const struct gt_otf2_context *context)
{
	const struct gt_otf2_context *caller = gt_otf2_find_context(read, context->parent);

	return caller < context ? caller : NULL;
}

/* Two owners may have the same word: their properties are in one list, then. */
static uint64_t owner_word(enum gt_otf2_kind kind, uint64_t owner)
{
	return gt_hash_mix((uint64_t)kind + 1, owner) | 1;
}

void gt_otf2_owned(struct gt_otf2 *read)
{
	struct gt_otf2_property *all = read->tables[GT_OTF2_PROPERTY].items, *first;
	uint64_t latest = read->tables[GT_OTF2_PROPERTY].count - 1;
	uint64_t word = owner_word(all[latest].kind, all[latest].owner);
	const struct gt_lookup_entry *entry = gt_lookup_find(&read->owners, word);

	all[latest].next = GT_OTF2_NOTHING;
	all[latest].last = latest;
	if (!entry) {
		if (!gt_lookup_put(&read->owners, word, (uint32_t)latest, 0))
			gt_no_memory();
		return;
	}
	first = &all[entry->value];
	all[first->last].next = latest;
	first->last = latest;
}

const struct gt_otf2_property *gt_otf2_find_owned(const struct gt_otf2 *read, enum gt_otf2_kind kind,
						  uint64_t owner, const char *name)
{
	const struct gt_lookup_entry *entry = gt_lookup_find(&read->owners, owner_word(kind, owner));

	for (uint64_t i = entry ? entry->value : GT_OTF2_NOTHING; i != GT_OTF2_NOTHING;) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);

		if (p->kind == kind && p->owner == owner && !strcmp(p->name, name))
			return p;
		i = p->next;
	}
	return NULL;
}

/* ---- all together ------------------------------------------------------------------------------ */

static void set_callbacks(OTF2_GlobalDefReaderCallbacks *c)
{
#define SET(name, function) OTF2_GlobalDefReaderCallbacks_Set##name##Callback(c, function)
#define SET_RECORD(KIND, name, record) SET(record, on_##record);
	GT_OTF2_DEFS(SET_RECORD)
	SET(ClockProperties, on_clock);
	SET(String, on_string);
	SET(Group, on_group);
	SET(MetricClass, on_class);
	SET(MetricInstance, on_instance);
	SET(Comm, on_comm);
	SET(InterComm, on_inter_comm);
	SET(IoRegularFile, on_file);
	SET(IoDirectory, on_directory);
	SET(IoParadigm, on_io_paradigm);
	SET(IoPreCreatedHandleState, on_io_state);
	SET(CartTopology, on_topology);
	SET(CartCoordinate, on_coordinate);
	SET(Paradigm, on_paradigm);
	SET(SystemTreeNodeProperty, on_SystemTreeNodeProperty);
	SET(LocationGroupProperty, on_LocationGroupProperty);
	SET(LocationProperty, on_LocationProperty);
	SET(CallingContextProperty, on_CallingContextProperty);
	SET(IoFileProperty, on_IoFileProperty);
	SET(SystemTreeNodeDomain, on_domain);
#undef SET
}

/* A process has a thread and no stream; an accelerator a stream, no thread, and the process that made it. */
static void look_at_groups(const struct gt_otf2 *read)
{
	size_t count = read->tables[GT_OTF2_LOCATION_GROUP].count;
	uint64_t(*have)[2] = calloc(count + 1, sizeof(*have));

	if (!have)
		gt_no_memory();
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++) {
		const struct gt_otf2_location *l = gt_otf2_location_at(read, i);
		ptrdiff_t g = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, l->group);

		if (g < 0)
			continue;
		have[g][0] += l->type == OTF2_LOCATION_TYPE_CPU_THREAD;
		have[g][1] += l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
	}
	for (size_t i = 0; i < count; i++) {
		const struct gt_otf2_location_group *g = gt_otf2_location_group_at(read, i), *creator;
		bool process = g->type == OTF2_LOCATION_GROUP_TYPE_PROCESS;

		if (!process && g->type != OTF2_LOCATION_GROUP_TYPE_ACCELERATOR)
			continue;
		creator = gt_otf2_find_location_group(read, g->creator);
		if (!process && (!creator || creator->type != OTF2_LOCATION_GROUP_TYPE_PROCESS))
			gt_otf2_report(read, NULL, GT_OTF2_GROUPS,
				       "accelerator group %" PRIu64
				       " \"%s\" does not name the process that made it",
				       g->id, g->name);
		if (!have[i][process ? 0 : 1] || have[i][process ? 1 : 0])
			gt_otf2_report(
				read, NULL, GT_OTF2_GROUPS,
				"%s group %" PRIu64 " \"%s\" has %" PRIu64 " threads and %" PRIu64 " streams",
				process ? "process" : "accelerator", g->id, g->name, have[i][0], have[i][1]);
	}
	free(have);
}

static void look_at_counts(const struct gt_otf2 *read, uint64_t definitions)
{
	uint64_t declared = 0, locations = 0;

	OTF2_Reader_GetNumberOfGlobalDefinitions(read->reader, &declared);
	OTF2_Reader_GetNumberOfLocations(read->reader, &locations);
	if (declared != definitions)
		gt_otf2_report(read, NULL, GT_OTF2_COUNT,
			       "%" PRIu64 " definitions are declared, %" PRIu64 " are there", declared,
			       definitions);
	if (locations != read->tables[GT_OTF2_LOCATION].count + read->again)
		gt_otf2_report(read, NULL, GT_OTF2_COUNT, "%" PRIu64 " locations are declared, %zu are there",
			       locations, read->tables[GT_OTF2_LOCATION].count);
	if (!read->have_clock)
		gt_otf2_report(read, NULL, GT_OTF2_RANGE, "no clock is defined");
}

int gt_otf2_definitions(struct gt_otf2 *read)
{
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(read->reader);
	OTF2_GlobalDefReaderCallbacks *callbacks = reader ? OTF2_GlobalDefReaderCallbacks_New() : NULL;
	uint64_t n = 0;
	OTF2_ErrorCode rc;

	if (!callbacks) {
		gt_otf2_unreadable(read, NULL, "def", "the definitions: %s", gt_otf2_complaint);
		return -EIO;
	}
	set_callbacks(callbacks);
	OTF2_Reader_RegisterGlobalDefCallbacks(read->reader, reader, callbacks, read);
	OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
	rc = OTF2_Reader_ReadAllGlobalDefinitions(read->reader, reader, &n);
	OTF2_Reader_CloseGlobalDefReader(read->reader, reader);
	if (rc != OTF2_SUCCESS) {
		read->failed = true;
		gt_otf2_unreadable(read, NULL, "def", "the definitions end after %" PRIu64 ": %s", n,
				   OTF2_Error_GetDescription(rc));
		return -EIO;
	}
	look_at_counts(read, n);
	look_at_groups(read);
	return 0;
}

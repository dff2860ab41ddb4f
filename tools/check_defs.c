/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions of an archive: read, kept as far as the events need them, and checked.
 *
 * Limits: what only other kinds of traces have (call paths, topologies, sampling) is checked for
 * its numbers, not for its references.
 */
#include "config.h"
#include "tools/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/summary.h"

#define ARCHIVE (~UINT64_C(0))
#define DONE	OTF2_CALLBACK_SUCCESS

static const char *const kind_names[KINDS] = {
	"string",
	"attribute",
	"system tree node",
	"location group",
	"location",
	"region",
	"call site",
	"call path",
	"group",
	"metric member",
	"metric",
	"communicator",
	"parameter",
	"RMA window",
	"source location",
	"calling context",
	"interrupt generator",
	"I/O file",
	"I/O handle",
	"I/O paradigm",
	"Cartesian dimension",
	"Cartesian topology",
};

static void *grow(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 64;
	items = realloc(items, *room * size);
	if (!items)
		abort(); /* in the child: the parent says that the limit of memory was reached */
	return items;
}

static const struct table *sorting;

static int by_id(const void *a, const void *b)
{
	uint64_t x = sorting->items[*(const size_t *)a].id,
		 y = sorting->items[*(const size_t *)b].id;

	return x < y ? -1 : x > y;
}

ptrdiff_t check_find(const struct check *check, enum kind kind, uint64_t id)
{
	struct table *t = (struct table *)&check->tables[kind];
	size_t low = 0, high = t->count;

	if (t->dense)
		return id < t->count ? (ptrdiff_t)id : -1;
	if (t->sorted_count != t->count) {
		free(t->sorted);
		t->sorted = calloc(t->count, sizeof(*t->sorted));
		if (!t->sorted)
			abort();
		for (size_t i = 0; i < t->count; i++)
			t->sorted[i] = i;
		sorting = t;
		qsort(t->sorted, t->count, sizeof(*t->sorted), by_id);
		t->sorted_count = t->count;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->items[t->sorted[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->count && t->items[t->sorted[low]].id == id ? (ptrdiff_t)t->sorted[low] : -1;
}

const char *check_string(const struct check *check, uint32_t id)
{
	ptrdiff_t i = check_find(check, KIND_STRING, id);

	return i < 0 ? "?" : check->text + check->tables[KIND_STRING].items[i].a;
}

const char *check_name(const struct check *check, enum kind kind, uint64_t id)
{
	ptrdiff_t i = check_find(check, kind, id);

	return i < 0 ? "?" : check_string(check, check->tables[kind].items[i].name);
}

const char *check_who(const struct check *check, uint64_t location, char text[CHECK_WHO])
{
	ptrdiff_t i = check_find(check, KIND_LOCATION, location);
	char name[64], process[64];

	gt_summary_escape(name, sizeof(name), check_name(check, KIND_LOCATION, location), 40);
	gt_summary_escape(process, sizeof(process),
			  i < 0 ? "?" : check_name(check, KIND_LOCATION_GROUP,
						   check->tables[KIND_LOCATION].items[i].a), 40);
	snprintf(text, CHECK_WHO, "\"%s\" of \"%s\"", name, process);
	return text;
}

/* Adds a definition; says if its number is not the next one. The pointer lives until the next. */
static struct definition *define(struct check *check, enum kind kind, uint64_t id)
{
	struct table *t = &check->tables[kind];

	if (!t->count)
		t->dense = true;
	if (id != t->count) {
		check_broken(check, RULE_ORDER, ARCHIVE, NO_EVENT, 0,
			     "%s %" PRIu64 " is defined where %zu would be next", kind_names[kind],
			     id, t->count);
		t->dense = false;
	}
	t->items = grow(t->items, t->count, &t->room, sizeof(*t->items));
	t->items[t->count] = (struct definition){.id = id};
	return &t->items[t->count++];
}

static bool refer(struct check *check, enum kind from, uint64_t id, enum kind to, uint64_t target,
		  bool optional)
{
	uint64_t undefined = to == KIND_LOCATION ? OTF2_UNDEFINED_UINT64 : OTF2_UNDEFINED_UINT32;

	if (optional && target == undefined)
		return true;
	if (check_defined(check, to, target))
		return true;
	check_broken(check, RULE_REFERENCES, ARCHIVE, NO_EVENT, 0,
		     "%s %" PRIu64 " refers to %s %" PRIu64 ", which is not defined yet",
		     kind_names[from], id, kind_names[to], target);
	return false;
}

static uint64_t keep_member(struct check *check, uint64_t member)
{
	check->members = grow(check->members, check->member_count, &check->member_room,
			      sizeof(*check->members));
	check->members[check->member_count] = member;
	return check->member_count++;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
				  uint64_t realtime)
{
	struct check *check = data;

	(void)realtime;
	if (check->have_clock)
		check_broken(check, RULE_ORDER, ARCHIVE, NO_EVENT, 0, "a second clock is defined");
	check->have_clock = true;
	check->resolution = resolution;
	check->begin = offset;
	check->end = offset + length;
	if (!resolution || check->end < offset)
		check_broken(check, RULE_RANGE, ARCHIVE, NO_EVENT, 0,
			     "the clock has %" PRIu64 " ticks per second and %" PRIu64 " ticks",
			     resolution, length);
	return DONE;
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *string)
{
	struct check *check = data;
	struct definition *d = define(check, KIND_STRING, self);
	size_t size = strlen(string ? string : "") + 1;

	while (check->text_size + size > check->text_room) {
		check->text_room = check->text_room ? check->text_room * 2 : 65536;
		check->text = realloc(check->text, check->text_room);
		if (!check->text)
			abort();
	}
	d->a = check->text_size;
	memcpy(check->text + check->text_size, string ? string : "", size);
	check->text_size += size;
	return DONE;
}

static OTF2_CallbackCode on_attribute(void *data, OTF2_AttributeRef self, OTF2_StringRef name,
				      OTF2_StringRef description, OTF2_Type type)
{
	struct definition *d = define(data, KIND_ATTRIBUTE, self);

	d->name = name;
	d->type = type;
	refer(data, KIND_ATTRIBUTE, self, KIND_STRING, name, false);
	refer(data, KIND_ATTRIBUTE, self, KIND_STRING, description, true);
	return DONE;
}

static OTF2_CallbackCode on_node(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
				 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
	refer(data, KIND_NODE, self, KIND_NODE, parent, true);
	define(data, KIND_NODE, self)->name = name;
	refer(data, KIND_NODE, self, KIND_STRING, name, false);
	refer(data, KIND_NODE, self, KIND_STRING, class_name, false);
	return DONE;
}

static OTF2_CallbackCode on_location_group(void *data, OTF2_LocationGroupRef self,
					   OTF2_StringRef name, OTF2_LocationGroupType type,
					   OTF2_SystemTreeNodeRef parent,
					   OTF2_LocationGroupRef creator)
{
	struct check *check = data;
	struct definition *d;
	ptrdiff_t c;

	refer(check, KIND_LOCATION_GROUP, self, KIND_LOCATION_GROUP, creator, true);
	c = check_find(check, KIND_LOCATION_GROUP, creator);
	if (type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR &&
	    (c < 0 ||
	     check->tables[KIND_LOCATION_GROUP].items[c].type != OTF2_LOCATION_GROUP_TYPE_PROCESS))
		check_broken(check, RULE_GROUPS, ARCHIVE, NO_EVENT, 0,
			     "accelerator group %u \"%s\" does not name the process that made it",
			     self, check_string(check, name));
	d = define(check, KIND_LOCATION_GROUP, self);
	d->name = name;
	d->type = type;
	d->a = type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? creator : self;
	d->b = parent;
	d->clock = CLOCK_UNTOLD;
	refer(check, KIND_LOCATION_GROUP, self, KIND_STRING, name, false);
	refer(check, KIND_LOCATION_GROUP, self, KIND_NODE, parent, false);
	return DONE;
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef group)
{
	struct definition *d = define(data, KIND_LOCATION, self);

	d->name = name;
	d->type = type;
	d->a = group;
	d->b = events;
	refer(data, KIND_LOCATION, self, KIND_STRING, name, false);
	refer(data, KIND_LOCATION, self, KIND_LOCATION_GROUP, group, false);
	return DONE;
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
				   OTF2_StringRef canonical, OTF2_StringRef description,
				   OTF2_RegionRole role, OTF2_Paradigm paradigm,
				   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
				   uint32_t end)
{
	struct definition *d = define(data, KIND_REGION, self);

	(void)flags, (void)begin, (void)end;
	d->name = name;
	d->role = role;
	d->paradigm = paradigm;
	refer(data, KIND_REGION, self, KIND_STRING, name, false);
	refer(data, KIND_REGION, self, KIND_STRING, canonical, true);
	refer(data, KIND_REGION, self, KIND_STRING, description, true);
	refer(data, KIND_REGION, self, KIND_STRING, file, true);
	return DONE;
}

static enum kind member_kind(OTF2_GroupType type)
{
	switch (type) {
	case OTF2_GROUP_TYPE_LOCATIONS:
	case OTF2_GROUP_TYPE_COMM_LOCATIONS:
		return KIND_LOCATION;
	case OTF2_GROUP_TYPE_REGIONS:
		return KIND_REGION;
	case OTF2_GROUP_TYPE_METRIC:
		return KIND_METRIC;
	}
	return KINDS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name,
				  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
				  uint32_t count, const uint64_t *members)
{
	struct check *check = data;
	struct definition *d = define(check, KIND_GROUP, self);
	enum kind kind = member_kind(type);
	uint64_t all = ARCHIVE;

	(void)flags;
	d->name = name;
	d->type = type;
	d->paradigm = paradigm;
	d->a = check->member_count;
	d->b = count;
	refer(check, KIND_GROUP, self, KIND_STRING, name, true);
	if (type == OTF2_GROUP_TYPE_COMM_GROUP) {
		uint64_t locations = check->comm_locations[paradigm];

		if (!locations) {
			check_broken(check, RULE_COMMS, ARCHIVE, NO_EVENT, 0,
				     "group %u of communicators comes before the locations of its "
				     "paradigm %u",
				     self, paradigm);
			all = 0;
		} else {
			all = check->tables[KIND_GROUP]
				      .items[check_find(check, KIND_GROUP, locations - 1)]
				      .b;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		keep_member(check, members[i]);
		if (kind != KINDS)
			refer(check, KIND_GROUP, self, kind, members[i], false);
		else if (members[i] >= all && all)
			check_broken(check, RULE_COMMS, ARCHIVE, NO_EVENT, 0,
				     "group %u has rank %" PRIu64 " of %" PRIu64, self, members[i],
				     all);
	}
	if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
		check->comm_locations[paradigm] = (uint64_t)self + 1;
	return DONE;
}

static OTF2_CallbackCode on_member(void *data, OTF2_MetricMemberRef self, OTF2_StringRef name,
				   OTF2_StringRef description, OTF2_MetricType type,
				   OTF2_MetricMode mode, OTF2_Type value, OTF2_Base base,
				   int64_t exponent, OTF2_StringRef unit)
{
	struct definition *d = define(data, KIND_METRIC_MEMBER, self);

	(void)type, (void)mode, (void)base, (void)exponent;
	d->name = name;
	d->type = value;
	refer(data, KIND_METRIC_MEMBER, self, KIND_STRING, name, false);
	refer(data, KIND_METRIC_MEMBER, self, KIND_STRING, description, true);
	refer(data, KIND_METRIC_MEMBER, self, KIND_STRING, unit, true);
	return DONE;
}

static OTF2_CallbackCode on_class(void *data, OTF2_MetricRef self, uint8_t count,
				  const OTF2_MetricMemberRef *members,
				  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind recorder)
{
	struct check *check = data;
	struct definition *d = define(check, KIND_METRIC, self);

	(void)occurrence, (void)recorder;
	d->a = check->member_count;
	d->b = count;
	for (uint8_t i = 0; i < count; i++) {
		keep_member(check, members[i]);
		refer(check, KIND_METRIC, self, KIND_METRIC_MEMBER, members[i], false);
	}
	return DONE;
}

static OTF2_CallbackCode on_instance(void *data, OTF2_MetricRef self, OTF2_MetricRef class,
				     OTF2_LocationRef recorder, OTF2_MetricScope scope,
				     uint64_t scope_id)
{
	struct check *check = data;
	ptrdiff_t i = check_find(check, KIND_METRIC, class);
	struct definition *d;

	(void)scope, (void)scope_id;
	refer(check, KIND_METRIC, self, KIND_METRIC, class, false);
	refer(check, KIND_METRIC, self, KIND_LOCATION, recorder, false);
	d = define(check, KIND_METRIC, self);
	if (i >= 0) {
		d->a = check->tables[KIND_METRIC].items[i].a;
		d->b = check->tables[KIND_METRIC].items[i].b;
	}
	return DONE;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name,
				 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct definition *d;

	(void)flags;
	refer(data, KIND_COMM, self, KIND_COMM, parent, true);
	d = define(data, KIND_COMM, self);
	d->name = name;
	d->a = d->b = group;
	refer(data, KIND_COMM, self, KIND_STRING, name, true);
	refer(data, KIND_COMM, self, KIND_GROUP, group, false);
	return DONE;
}

static OTF2_CallbackCode on_inter_comm(void *data, OTF2_CommRef self, OTF2_StringRef name,
				       OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef common,
				       OTF2_CommFlag flags)
{
	struct definition *d;

	(void)flags;
	refer(data, KIND_COMM, self, KIND_COMM, common, true);
	d = define(data, KIND_COMM, self);
	d->name = name;
	d->inter = true;
	d->a = a;
	d->b = b;
	refer(data, KIND_COMM, self, KIND_STRING, name, true);
	refer(data, KIND_COMM, self, KIND_GROUP, a, false);
	refer(data, KIND_COMM, self, KIND_GROUP, b, false);
	return DONE;
}

static OTF2_CallbackCode on_parameter(void *data, OTF2_ParameterRef self, OTF2_StringRef name,
				      OTF2_ParameterType type)
{
	struct definition *d = define(data, KIND_PARAMETER, self);

	d->name = name;
	d->type = type;
	refer(data, KIND_PARAMETER, self, KIND_STRING, name, false);
	return DONE;
}

static OTF2_CallbackCode on_window(void *data, OTF2_RmaWinRef self, OTF2_StringRef name,
				   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
	struct definition *d = define(data, KIND_RMA_WIN, self);

	(void)flags;
	d->name = name;
	d->a = comm;
	refer(data, KIND_RMA_WIN, self, KIND_STRING, name, true);
	refer(data, KIND_RMA_WIN, self, KIND_COMM, comm, false);
	return DONE;
}

static OTF2_CallbackCode on_group_property(void *data, OTF2_LocationGroupRef group,
					   OTF2_StringRef name, OTF2_Type type,
					   OTF2_AttributeValue value)
{
	struct check *check = data;
	ptrdiff_t i;

	refer(data, KIND_LOCATION_GROUP, group, KIND_LOCATION_GROUP, group, false);
	refer(data, KIND_LOCATION_GROUP, group, KIND_STRING, name, false);
	i = check_find(check, KIND_LOCATION_GROUP, group);
	if (i >= 0 && type == OTF2_TYPE_STRING &&
	    !strcmp(check_string(check, name), "GPUTRACE::CLOCK_ERROR_NS")) {
		const char *text = check_string(check, value.stringRef);
		double ns = strtod(text, NULL);

		check->several_clocks = true;
		check->tables[KIND_LOCATION_GROUP].items[i].clock =
			*text >= '0' && *text <= '9' && ns < 1e18 && check->resolution
				? (uint64_t)(ns / 1e9 * (double)check->resolution)
				: CLOCK_UNKNOWN;
	}
	return DONE;
}

static OTF2_CallbackCode on_location_property(void *data, OTF2_LocationRef location,
					      OTF2_StringRef name, OTF2_Type type,
					      OTF2_AttributeValue value)
{
	(void)value, (void)type;
	refer(data, KIND_LOCATION, location, KIND_LOCATION, location, false);
	refer(data, KIND_LOCATION, location, KIND_STRING, name, false);
	return DONE;
}

static OTF2_CallbackCode on_node_property(void *data, OTF2_SystemTreeNodeRef node,
					  OTF2_StringRef name, OTF2_Type type,
					  OTF2_AttributeValue value)
{
	(void)value, (void)type;
	refer(data, KIND_NODE, node, KIND_NODE, node, false);
	refer(data, KIND_NODE, node, KIND_STRING, name, false);
	return DONE;
}

static OTF2_CallbackCode on_domain(void *data, OTF2_SystemTreeNodeRef node,
				   OTF2_SystemTreeDomain domain)
{
	(void)domain;
	refer(data, KIND_NODE, node, KIND_NODE, node, false);
	return DONE;
}

static OTF2_CallbackCode on_paradigm(void *data, OTF2_Paradigm paradigm, OTF2_StringRef name,
				     OTF2_ParadigmClass class)
{
	(void)class, (void)paradigm;
	refer(data, KIND_STRING, name, KIND_STRING, name, false);
	return DONE;
}

static OTF2_CallbackCode on_io_file(void *data, OTF2_IoFileRef self, OTF2_StringRef name,
				    OTF2_SystemTreeNodeRef scope)
{
	define(data, KIND_IO_FILE, self)->name = name;
	refer(data, KIND_IO_FILE, self, KIND_STRING, name, false);
	refer(data, KIND_IO_FILE, self, KIND_NODE, scope, true);
	return DONE;
}

static OTF2_CallbackCode on_io_paradigm(void *data, OTF2_IoParadigmRef self, OTF2_StringRef id,
					OTF2_StringRef name, OTF2_IoParadigmClass class,
					OTF2_IoParadigmFlag flags, uint8_t count,
					const OTF2_IoParadigmProperty *properties,
					const OTF2_Type *types, const OTF2_AttributeValue *values)
{
	(void)class, (void)flags, (void)count, (void)properties, (void)types, (void)values;
	define(data, KIND_IO_PARADIGM, self)->name = name;
	refer(data, KIND_IO_PARADIGM, self, KIND_STRING, id, false);
	refer(data, KIND_IO_PARADIGM, self, KIND_STRING, name, false);
	return DONE;
}

static OTF2_CallbackCode on_io_handle(void *data, OTF2_IoHandleRef self, OTF2_StringRef name,
				      OTF2_IoFileRef file, OTF2_IoParadigmRef paradigm,
				      OTF2_IoHandleFlag flags, OTF2_CommRef comm,
				      OTF2_IoHandleRef parent)
{
	(void)flags;
	refer(data, KIND_IO_HANDLE, self, KIND_IO_HANDLE, parent, true);
	define(data, KIND_IO_HANDLE, self)->name = name;
	refer(data, KIND_IO_HANDLE, self, KIND_STRING, name, true);
	refer(data, KIND_IO_HANDLE, self, KIND_IO_FILE, file, true);
	refer(data, KIND_IO_HANDLE, self, KIND_IO_PARADIGM, paradigm, false);
	refer(data, KIND_IO_HANDLE, self, KIND_COMM, comm, true);
	return DONE;
}

/* ---- all together ---------------------------------------------------------------------------- */

/* A process has a thread and no stream; an accelerator has a stream and no thread. */
static void check_location_groups(struct check *check)
{
	struct table *groups = &check->tables[KIND_LOCATION_GROUP];
	uint64_t(*have)[2] = calloc(groups->count + 1, sizeof(*have));

	if (!have)
		abort();
	for (size_t i = 0; i < check->tables[KIND_LOCATION].count; i++) {
		const struct definition *l = &check->tables[KIND_LOCATION].items[i];
		ptrdiff_t g = check_find(check, KIND_LOCATION_GROUP, l->a);

		if (g < 0)
			continue;
		have[g][0] += l->type == OTF2_LOCATION_TYPE_CPU_THREAD;
		have[g][1] += l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
	}
	for (size_t i = 0; i < groups->count; i++) {
		const struct definition *g = &groups->items[i];
		bool process = g->type == OTF2_LOCATION_GROUP_TYPE_PROCESS;

		if (!process && g->type != OTF2_LOCATION_GROUP_TYPE_ACCELERATOR)
			continue;
		if (have[i][process ? 0 : 1] && !have[i][process ? 1 : 0])
			continue;
		check_broken(check, RULE_GROUPS, ARCHIVE, NO_EVENT, 0,
			     "%s group %" PRIu64 " \"%s\" has %" PRIu64 " threads and %" PRIu64
			     " streams",
			     process ? "process" : "accelerator", g->id,
			     check_string(check, g->name), have[i][0], have[i][1]);
	}
	free(have);
}

static OTF2_CallbackCode register_callbacks(OTF2_GlobalDefReaderCallbacks *c)
{
#define SET(name, function) OTF2_GlobalDefReaderCallbacks_Set##name##Callback(c, function)
	SET(ClockProperties, on_clock);
	SET(String, on_string);
	SET(Attribute, on_attribute);
	SET(SystemTreeNode, on_node);
	SET(LocationGroup, on_location_group);
	SET(Location, on_location);
	SET(Region, on_region);
	SET(Group, on_group);
	SET(MetricMember, on_member);
	SET(MetricClass, on_class);
	SET(MetricInstance, on_instance);
	SET(Comm, on_comm);
	SET(InterComm, on_inter_comm);
	SET(Parameter, on_parameter);
	SET(RmaWin, on_window);
	SET(LocationGroupProperty, on_group_property);
	SET(LocationProperty, on_location_property);
	SET(SystemTreeNodeProperty, on_node_property);
	SET(SystemTreeNodeDomain, on_domain);
	SET(Paradigm, on_paradigm);
	SET(IoRegularFile, on_io_file);
	SET(IoDirectory, on_io_file);
	SET(IoParadigm, on_io_paradigm);
	SET(IoHandle, on_io_handle);
#undef SET
	return DONE;
}

bool check_definitions(struct check *check)
{
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(check->reader);
	OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t declared = 0, read = 0, locations = 0;
	OTF2_ErrorCode rc;

	if (!reader || !callbacks) {
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0, "the definitions: %s",
			     check->library);
		return false;
	}
	for (int kind = 0; kind < KINDS; kind++)
		check->tables[kind].dense = true;
	register_callbacks(callbacks);
	OTF2_Reader_RegisterGlobalDefCallbacks(check->reader, reader, callbacks, check);
	OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
	rc = OTF2_Reader_ReadAllGlobalDefinitions(check->reader, reader, &read);
	OTF2_Reader_CloseGlobalDefReader(check->reader, reader);
	if (rc != OTF2_SUCCESS) {
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0,
			     "the definitions end after %" PRIu64 ": %s", read,
			     OTF2_Error_GetDescription(rc));
		return false;
	}
	OTF2_Reader_GetNumberOfGlobalDefinitions(check->reader, &declared);
	OTF2_Reader_GetNumberOfLocations(check->reader, &locations);
	if (declared != read)
		check_broken(check, RULE_COUNT, ARCHIVE, NO_EVENT, 0,
			     "%" PRIu64 " definitions are declared, %" PRIu64 " are there",
			     declared, read);
	if (locations != check->tables[KIND_LOCATION].count)
		check_broken(check, RULE_COUNT, ARCHIVE, NO_EVENT, 0,
			     "%" PRIu64 " locations are declared, %zu are there", locations,
			     check->tables[KIND_LOCATION].count);
	if (!check->have_clock)
		check_broken(check, RULE_RANGE, ARCHIVE, NO_EVENT, 0, "no clock is defined");
	check_location_groups(check);
	return true;
}

/* ---- communicators --------------------------------------------------------------------------- */

static uint64_t group_member(const struct check *check, uint64_t group, uint64_t rank, uint64_t own)
{
	ptrdiff_t i = check_find(check, KIND_GROUP, group);
	const struct definition *g;

	if (i < 0)
		return ARCHIVE;
	g = &check->tables[KIND_GROUP].items[i];
	if (g->type == OTF2_GROUP_TYPE_COMM_SELF)
		return rank == 0 ? own : ARCHIVE;
	if (rank >= g->b)
		return ARCHIVE;
	if (g->type != OTF2_GROUP_TYPE_COMM_GROUP)
		return check->members[g->a + rank];
	rank = check->members[g->a + rank];
	i = check->comm_locations[g->paradigm]
		    ? check_find(check, KIND_GROUP, check->comm_locations[g->paradigm] - 1)
		    : -1;
	if (i < 0)
		return ARCHIVE;
	g = &check->tables[KIND_GROUP].items[i];
	return rank < g->b ? check->members[g->a + rank] : ARCHIVE;
}

static size_t group_size(const struct check *check, uint64_t group)
{
	ptrdiff_t i = check_find(check, KIND_GROUP, group);

	if (i < 0)
		return 0;
	if (check->tables[KIND_GROUP].items[i].type == OTF2_GROUP_TYPE_COMM_SELF)
		return 1;
	return check->tables[KIND_GROUP].items[i].b;
}

/* The location itself if it is in the group, else one of its process: threads send for it. */
static uint64_t own_in_group(const struct check *check, uint64_t group, uint64_t location)
{
	const struct table *t = &check->tables[KIND_LOCATION];
	ptrdiff_t self = check_find(check, KIND_LOCATION, location);
	uint64_t found = ARCHIVE;
	size_t size = group_size(check, group);

	for (size_t rank = 0; rank < size; rank++) {
		uint64_t member = group_member(check, group, rank, location);
		ptrdiff_t m = check_find(check, KIND_LOCATION, member);

		if (member == location)
			return location;
		if (found == ARCHIVE && m >= 0 && self >= 0 && t->items[m].a == t->items[self].a)
			found = member;
	}
	return found;
}

uint64_t check_own(const struct check *check, uint64_t comm, uint64_t location)
{
	ptrdiff_t i = check_find(check, KIND_COMM, comm);
	uint64_t found;

	if (i < 0)
		return ARCHIVE;
	found = own_in_group(check, check->tables[KIND_COMM].items[i].a, location);
	if (found == ARCHIVE && check->tables[KIND_COMM].items[i].inter)
		found = own_in_group(check, check->tables[KIND_COMM].items[i].b, location);
	return found;
}

uint64_t check_member(const struct check *check, uint64_t comm, uint32_t rank, uint64_t own)
{
	ptrdiff_t i = check_find(check, KIND_COMM, comm);
	const struct definition *c;

	if (i < 0)
		return ARCHIVE;
	c = &check->tables[KIND_COMM].items[i];
	/* Between two groups a rank always means the other side. */
	if (c->inter && own_in_group(check, c->b, own) != ARCHIVE)
		return group_member(check, c->a, rank, own);
	return group_member(check, c->b, rank, own);
}

size_t check_comm_size(const struct check *check, uint64_t comm)
{
	ptrdiff_t i = check_find(check, KIND_COMM, comm);
	const struct definition *c;

	if (i < 0)
		return 0;
	c = &check->tables[KIND_COMM].items[i];
	return group_size(check, c->a) + (c->inter ? group_size(check, c->b) : 0);
}

uint64_t check_attribute(const struct check *check, const char *name)
{
	const struct table *table = &check->tables[KIND_ATTRIBUTE];

	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(check_string(check, table->items[i].name), name))
			return table->items[i].id;
	return ARCHIVE;
}

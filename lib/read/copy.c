/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing what was read: libotf2 hands definitions and events to callbacks with the arguments that its
 * writers take, so that each is passed on as it is.
 *
 * Limits: see copy.h.
 */
#include "config.h"

#include "lib/read/copy.h"

#include <stdlib.h>
#include <otf2/OTF2_Pthread_Locks.h> /* of 3.0 it does not include the former */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/read/read_int.h"

/* Old archives have records that libotf2 has new names for. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct gt_otf2_copy {
	const struct gt_otf2 *read;
	const char *const *without; /* properties */
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_MarkerWriter *markers;
	const struct gt_otf2_context *contexts; /* new ones */
	size_t context_count;
	uint64_t *events;     /* of each location, by its place in the table */
	uint64_t begin, end;
	pthread_mutex_t lock; /* of `why` */
	char why[256];        /* "": nothing has failed */
};

struct gt_otf2_copy_location {
	struct gt_otf2_copy *copy;
	OTF2_EvtWriter *writer;
	size_t index;
};

static bool good(struct gt_otf2_copy *copy, OTF2_ErrorCode rc)
{
	if (rc == OTF2_SUCCESS)
		return true;
	pthread_mutex_lock(&copy->lock);
	if (!*copy->why)
		snprintf(copy->why, sizeof(copy->why), "%s",
			 *gt_otf2_complaint ? gt_otf2_complaint : OTF2_Error_GetDescription(rc));
	pthread_mutex_unlock(&copy->lock);
	return false;
}

/* ---- the archive ------------------------------------------------------------------------------- */

static OTF2_FlushType pre_flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
				bool final)
{
	(void)user, (void)type, (void)location, (void)caller, (void)final;
	return OTF2_FLUSH;
}

static bool is_left_out(const struct gt_otf2_copy *copy, const char *property)
{
	for (const char *const *name = copy->without; name && *name; name++)
		if (!strcmp(*name, property))
			return true;
	return false;
}

static void copy_properties(struct gt_otf2_copy *copy)
{
	for (size_t i = 0; i < copy->read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(copy->read, i);

		if (p->kind == GT_OTF2_KINDS && !is_left_out(copy, p->name))
			gt_otf2_copy_property(copy, p->name, p->text);
	}
}

struct gt_otf2_copy *gt_otf2_copy_open(const struct gt_otf2 *read, const char *dir,
				       const char *const *without)
{
	enum { EVENTS = 1 << 20, DEFINITIONS = 4 << 20 };
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = pre_flush };
	struct gt_otf2_copy *copy = calloc(1, sizeof(*copy));
	OTF2_Archive *archive = OTF2_Archive_Open(dir, "traces", OTF2_FILEMODE_WRITE, EVENTS, DEFINITIONS,
						  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

	if (copy)
		copy->events = calloc(read->tables[GT_OTF2_LOCATION].count + 1, sizeof(*copy->events));
	if (!copy || !copy->events)
		gt_no_memory();
	copy->read = read;
	copy->without = without;
	copy->archive = archive;
	pthread_mutex_init(&copy->lock, NULL);
	if (!archive || !good(copy, OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL)) ||
	    !good(copy, OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL)) ||
	    !good(copy, OTF2_Archive_SetSerialCollectiveCallbacks(archive)) ||
	    !good(copy, OTF2_Archive_SetCreator(archive, "gputrace " PACKAGE_VERSION)) ||
	    !good(copy, OTF2_Archive_OpenEvtFiles(archive))) {
		free(copy->events);
		free(copy);
		return NULL;
	}
	copy_properties(copy);
	return copy;
}

void gt_otf2_copy_property(struct gt_otf2_copy *copy, const char *name, const char *value)
{
	good(copy, OTF2_Archive_SetProperty(copy->archive, name, value, true));
}

/* ---- events ------------------------------------------------------------------------------------ */

struct gt_otf2_copy_location *gt_otf2_copy_begin(struct gt_otf2_copy *copy, const struct gt_otf2_cursor *at)
{
	struct gt_otf2_copy_location *location = gt_zeroed(1, sizeof(*location));

	location->copy = copy;
	location->index = at->index;
	location->writer = OTF2_Archive_GetEvtWriter(copy->archive, at->location->id);
	if (!location->writer)
		good(copy, OTF2_ERROR_MEM_FAULT);
	return location;
}

/* The writer empties the list; so does the reader, before the next event. */
static OTF2_AttributeList *attributes_of(const struct gt_otf2_cursor *at)
{
	return at && at->attribute_count ? (OTF2_AttributeList *)(uintptr_t)at->attributes : NULL;
}

void gt_otf2_copy_enter(struct gt_otf2_copy_location *location, uint64_t ticks,
			const struct gt_otf2_region *region, const struct gt_otf2_cursor *at)
{
	if (location->writer && region->id != GT_OTF2_NOTHING)
		good(location->copy, OTF2_EvtWriter_Enter(location->writer, attributes_of(at), ticks,
							  (OTF2_RegionRef)region->id));
}

void gt_otf2_copy_leave(struct gt_otf2_copy_location *location, uint64_t ticks,
			const struct gt_otf2_region *region, const struct gt_otf2_cursor *at)
{
	if (location->writer && region->id != GT_OTF2_NOTHING)
		good(location->copy, OTF2_EvtWriter_Leave(location->writer, attributes_of(at), ticks,
							  (OTF2_RegionRef)region->id));
}

#define OTF2_EvtWriter_Unknown(writer, attributes, time) OTF2_SUCCESS /* nobody knows how */
#define ARG_V(type, name)       , event->name
#define ARG_R(kind, type, name) , event->name
#define WRITE(record)                                                                                        \
	static OTF2_ErrorCode write_##record(OTF2_EvtWriter *writer, OTF2_AttributeList *attributes,         \
					     uint64_t time, const struct gt_otf2_##record *event)            \
	{                                                                                                    \
		(void)writer, (void)attributes, (void)time, (void)event;                                     \
		return OTF2_EvtWriter_##record(writer, attributes, time GT_OTF2_EVT_##record(ARG_V, ARG_R)); \
	}
GT_OTF2_EVENTS_ALL(WRITE)
#undef WRITE
#undef ARG_V
#undef ARG_R

void gt_otf2_copy_event(struct gt_otf2_copy_location *location, uint64_t ticks,
			const struct gt_otf2_event *event, const struct gt_otf2_cursor *at)
{
	OTF2_EvtWriter *writer = location->writer;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	if (!writer || event->undefined)
		return;
	switch (event->type) {
#define WRITE(record)                                                                         \
	case GT_OTF2_##record:                                                                \
		rc = write_##record(writer, attributes_of(at), ticks, &event->record);        \
		break;
		GT_OTF2_EVENTS_ALL(WRITE)
#undef WRITE
	case GT_OTF2_TYPES:
		break;
	}
	good(location->copy, rc);
}

uint64_t gt_otf2_copy_end(struct gt_otf2_copy_location *location)
{
	struct gt_otf2_copy *copy = location->copy;
	uint64_t events;

	if (location->writer &&
	    good(copy, OTF2_EvtWriter_GetNumberOfEvents(location->writer, &copy->events[location->index])))
		good(copy, OTF2_Archive_CloseEvtWriter(copy->archive, location->writer));
	events = copy->events[location->index];
	free(location);
	return events;
}

/* ---- definitions ------------------------------------------------------------------------------- */

static OTF2_CallbackCode put(struct gt_otf2_copy *copy, OTF2_ErrorCode rc)
{
	return good(copy, rc) ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

/* Of the records of records.h. */
#define TAKE_S(name)             , OTF2_StringRef name
#define TAKE_V(type, name)       , type name
#define TAKE_R(kind, type, name) , type name
#define GIVE_S(name)             , name
#define GIVE_V(type, name)       , name
#define GIVE_R(kind, type, name) , name
#define PASS(KIND, name, record)                                                                             \
	static OTF2_CallbackCode on_##record(void *user, OTF2_##record##Ref self GT_OTF2_DEF_##record(       \
								 TAKE_S, TAKE_S, TAKE_R, TAKE_R, TAKE_V))    \
	{                                                                                                    \
		struct gt_otf2_copy *copy = user;                                                            \
													     \
		return put(copy,                                                                             \
			   OTF2_GlobalDefWriter_Write##record(                                               \
				   copy->definitions,                                                        \
				   self GT_OTF2_DEF_##record(GIVE_S, GIVE_S, GIVE_R, GIVE_R, GIVE_V)));      \
	}
GT_OTF2_DEFS(PASS)
#undef PASS

/* Of the others, by their types and names. */
#define LIST(...) __VA_ARGS__
#define OTHERS(O)                                                                                            \
	O(String, LIST(OTF2_StringRef a, const char *b), LIST(a, b))                                         \
	O(Paradigm, LIST(OTF2_Paradigm a, OTF2_StringRef b, OTF2_ParadigmClass c), LIST(a, b, c))            \
	O(ParadigmProperty,                                                                                  \
	  LIST(OTF2_Paradigm a, OTF2_ParadigmProperty b, OTF2_Type c, OTF2_AttributeValue d),                \
	  LIST(a, b, c, d))                                                                                  \
	O(IoParadigm,                                                                                        \
	  LIST(OTF2_IoParadigmRef a, OTF2_StringRef b, OTF2_StringRef c, OTF2_IoParadigmClass d,             \
	       OTF2_IoParadigmFlag e, uint8_t f, const OTF2_IoParadigmProperty *g, const OTF2_Type *h,       \
	       const OTF2_AttributeValue *i),                                                                \
	  LIST(a, b, c, d, e, f, g, h, i))                                                                   \
	O(Group,                                                                                             \
	  LIST(OTF2_GroupRef a, OTF2_StringRef b, OTF2_GroupType c, OTF2_Paradigm d, OTF2_GroupFlag e,       \
	       uint32_t f, const uint64_t *g),                                                               \
	  LIST(a, b, c, d, e, f, g))                                                                         \
	O(MetricClass,                                                                                       \
	  LIST(OTF2_MetricRef a, uint8_t b, const OTF2_MetricMemberRef *c, OTF2_MetricOccurrence d,          \
	       OTF2_RecorderKind e),                                                                         \
	  LIST(a, b, c, d, e))                                                                               \
	O(MetricInstance,                                                                                    \
	  LIST(OTF2_MetricRef a, OTF2_MetricRef b, OTF2_LocationRef c, OTF2_MetricScope d, uint64_t e),      \
	  LIST(a, b, c, d, e))                                                                               \
	O(MetricClassRecorder, LIST(OTF2_MetricRef a, OTF2_LocationRef b), LIST(a, b))                       \
	O(Comm, LIST(OTF2_CommRef a, OTF2_StringRef b, OTF2_GroupRef c, OTF2_CommRef d, OTF2_CommFlag e),    \
	  LIST(a, b, c, d, e))                                                                               \
	O(InterComm,                                                                                         \
	  LIST(OTF2_CommRef a, OTF2_StringRef b, OTF2_GroupRef c, OTF2_GroupRef d, OTF2_CommRef e,           \
	       OTF2_CommFlag f),                                                                             \
	  LIST(a, b, c, d, e, f))                                                                            \
	O(SystemTreeNodeProperty,                                                                            \
	  LIST(OTF2_SystemTreeNodeRef a, OTF2_StringRef b, OTF2_Type c, OTF2_AttributeValue d),              \
	  LIST(a, b, c, d))                                                                                  \
	O(SystemTreeNodeDomain, LIST(OTF2_SystemTreeNodeRef a, OTF2_SystemTreeDomain b), LIST(a, b))         \
	O(LocationGroupProperty,                                                                             \
	  LIST(OTF2_LocationGroupRef a, OTF2_StringRef b, OTF2_Type c, OTF2_AttributeValue d),               \
	  LIST(a, b, c, d))                                                                                  \
	O(CallingContextProperty,                                                                            \
	  LIST(OTF2_CallingContextRef a, OTF2_StringRef b, OTF2_Type c, OTF2_AttributeValue d),              \
	  LIST(a, b, c, d))                                                                                  \
	O(CartTopology,                                                                                      \
	  LIST(OTF2_CartTopologyRef a, OTF2_StringRef b, OTF2_CommRef c, uint8_t d,                          \
	       const OTF2_CartDimensionRef *e),                                                              \
	  LIST(a, b, c, d, e))                                                                               \
	O(CartCoordinate, LIST(OTF2_CartTopologyRef a, uint32_t b, uint8_t c, const uint32_t *d),            \
	  LIST(a, b, c, d))                                                                                  \
	O(IoFileProperty, LIST(OTF2_IoFileRef a, OTF2_StringRef b, OTF2_Type c, OTF2_AttributeValue d),      \
	  LIST(a, b, c, d))                                                                                  \
	O(IoRegularFile, LIST(OTF2_IoFileRef a, OTF2_StringRef b, OTF2_SystemTreeNodeRef c), LIST(a, b, c))  \
	O(IoDirectory, LIST(OTF2_IoFileRef a, OTF2_StringRef b, OTF2_SystemTreeNodeRef c), LIST(a, b, c))    \
	O(IoPreCreatedHandleState, LIST(OTF2_IoHandleRef a, OTF2_IoAccessMode b, OTF2_IoStatusFlag c),       \
	  LIST(a, b, c))                                                                                     \
	O(CallpathParameter,                                                                                 \
	  LIST(OTF2_CallpathRef a, OTF2_ParameterRef b, OTF2_Type c, OTF2_AttributeValue d),                 \
	  LIST(a, b, c, d))

#define PASS(record, typed, names)                                                                 \
	static OTF2_CallbackCode on_##record(void *user, typed)                                    \
	{                                                                                          \
		struct gt_otf2_copy *copy = user;                                                  \
												   \
		return put(copy, OTF2_GlobalDefWriter_Write##record(copy->definitions, names));    \
	}
OTHERS(PASS)
#undef PASS

static OTF2_CallbackCode on_location_property(void *user, OTF2_LocationRef location, OTF2_StringRef name,
					      OTF2_Type type, OTF2_AttributeValue value)
{
	struct gt_otf2_copy *copy = user;

	if (is_left_out(copy, gt_otf2_text(copy->read, name)))
		return OTF2_CALLBACK_SUCCESS;
	return put(copy, OTF2_GlobalDefWriter_WriteLocationProperty(copy->definitions, location, name, type,
								    value));
}

/* A location has as many events as were copied. */
static OTF2_CallbackCode on_copied_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
					    OTF2_LocationType type, uint64_t events,
					    OTF2_LocationGroupRef group)
{
	struct gt_otf2_copy *copy = user;
	ptrdiff_t index = gt_otf2_index(copy->read, GT_OTF2_LOCATION, self);

	(void)events;
	return put(copy, OTF2_GlobalDefWriter_WriteLocation(copy->definitions, self, name, type,
							    index < 0 ? 0 : copy->events[index], group));
}

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
				  uint64_t realtime)
{
	struct gt_otf2_copy *copy = user;

	(void)length;
	if (realtime != OTF2_UNDEFINED_TIMESTAMP && copy->begin > offset)
		realtime += gt_otf2_ns(copy->read, copy->begin);
	return put(copy, OTF2_GlobalDefWriter_WriteClockProperties(copy->definitions, resolution, copy->begin,
								   copy->end - copy->begin, realtime));
}

static OTF2_GlobalDefReaderCallbacks *callbacks(void)
{
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();

	if (!c)
		gt_no_memory();
#define SET_RECORD(KIND, name, record) OTF2_GlobalDefReaderCallbacks_Set##record##Callback(c, on_##record);
	GT_OTF2_DEFS(SET_RECORD)
#undef SET_RECORD
#define SET_OTHER(record, typed, names) OTF2_GlobalDefReaderCallbacks_Set##record##Callback(c, on_##record);
	OTHERS(SET_OTHER)
#undef SET_OTHER
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_copied_location);
	OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_location_property);
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
	return c;
}

void gt_otf2_copy_contexts(struct gt_otf2_copy *copy, const struct gt_otf2_context *contexts, size_t count)
{
	copy->contexts = contexts;
	copy->context_count = count;
}

static void new_contexts(struct gt_otf2_copy *copy)
{
	for (size_t i = 0; i < copy->context_count && !*copy->why; i++) {
		const struct gt_otf2_context *one = &copy->contexts[i];

		good(copy, OTF2_GlobalDefWriter_WriteCallingContext(
				   copy->definitions, (OTF2_CallingContextRef)one->id,
				   (OTF2_RegionRef)one->region, (OTF2_SourceCodeLocationRef)one->source,
				   (OTF2_CallingContextRef)one->parent));
	}
}

/* By a reader of its own, since each gives definitions once. */
static void copy_definitions(struct gt_otf2_copy *copy)
{
	OTF2_Reader *reader = gt_otf2_reader(copy->read);
	OTF2_GlobalDefReader *definitions = reader ? OTF2_Reader_GetGlobalDefReader(reader) : NULL;
	OTF2_GlobalDefReaderCallbacks *c = callbacks();
	uint64_t n;

	copy->definitions = OTF2_Archive_GetGlobalDefWriter(copy->archive);
	if (!definitions || !copy->definitions) {
		good(copy, OTF2_ERROR_MEM_FAULT);
	} else if (good(copy, OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, c, copy))) {
		good(copy, OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n));
		new_contexts(copy);
		good(copy, OTF2_Archive_CloseGlobalDefWriter(copy->archive, copy->definitions));
	}
	OTF2_GlobalDefReaderCallbacks_Delete(c);
	if (reader && !*copy->why)
		OTF2_Reader_Close(reader);
}

/* Readers expect a file of local definitions, even an empty one. */
static void local_definitions(struct gt_otf2_copy *copy)
{
	good(copy, OTF2_Archive_OpenDefFiles(copy->archive));
	for (size_t i = 0; i < copy->read->tables[GT_OTF2_LOCATION].count && !*copy->why; i++) {
		OTF2_DefWriter *writer =
			OTF2_Archive_GetDefWriter(copy->archive, gt_otf2_location_at(copy->read, i)->id);

		if (good(copy, writer ? OTF2_SUCCESS : OTF2_ERROR_MEM_FAULT))
			good(copy, OTF2_Archive_CloseDefWriter(copy->archive, writer));
	}
	good(copy, OTF2_Archive_CloseDefFiles(copy->archive));
}

/* ---- markers ----------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_marker_kind(void *user, OTF2_MarkerRef self, const char *group,
					const char *category, OTF2_MarkerSeverity severity)
{
	struct gt_otf2_copy *copy = user;

	return put(copy, OTF2_MarkerWriter_WriteDefMarker(copy->markers, self, group, category, severity));
}

static OTF2_CallbackCode on_marker(void *user, OTF2_TimeStamp time, OTF2_TimeStamp duration,
				   OTF2_MarkerRef kind, OTF2_MarkerScope scope, uint64_t scope_id,
				   const char *text)
{
	struct gt_otf2_copy *copy = user;

	if (time < copy->begin || time > copy->end || duration > copy->end - time)
		return OTF2_CALLBACK_SUCCESS;
	return put(copy,
		   OTF2_MarkerWriter_WriteMarker(copy->markers, time, duration, kind, scope, scope_id, text));
}

static void copy_markers(struct gt_otf2_copy *copy)
{
	OTF2_MarkerReaderCallbacks *c = OTF2_MarkerReaderCallbacks_New();
	OTF2_Reader *reader = gt_otf2_reader(copy->read);
	OTF2_MarkerReader *markers = reader ? OTF2_Reader_GetMarkerReader(reader) : NULL;
	uint64_t n;

	if (!c)
		gt_no_memory();
	OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(c, on_marker_kind);
	OTF2_MarkerReaderCallbacks_SetMarkerCallback(c, on_marker);
	copy->markers = OTF2_Archive_GetMarkerWriter(copy->archive);
	if (!markers || !copy->markers) {
		good(copy, OTF2_ERROR_MEM_FAULT);
	} else if (good(copy, OTF2_Reader_RegisterMarkerCallbacks(reader, markers, c, copy))) {
		good(copy, OTF2_Reader_ReadAllMarkers(reader, markers, &n));
		good(copy, OTF2_Archive_CloseMarkerWriter(copy->archive, copy->markers));
	}
	OTF2_MarkerReaderCallbacks_Delete(c);
	if (reader && !*copy->why)
		OTF2_Reader_Close(reader);
}

const char *gt_otf2_copy_close(struct gt_otf2_copy *copy, uint64_t begin, uint64_t end)
{
	static char why[256];
	uint64_t size;

	copy->begin = begin;
	copy->end = end;
	if (!*copy->why)
		good(copy, OTF2_Archive_CloseEvtFiles(copy->archive));
	if (!*copy->why)
		local_definitions(copy);
	if (!*copy->why)
		copy_definitions(copy);
	if (!*copy->why && gt_otf2_file(copy->read, GT_OTF2_NOTHING, "marker", &size))
		copy_markers(copy);
	/* After a failure libotf2 may be in any state. */
	if (!*copy->why)
		good(copy, OTF2_Archive_Close(copy->archive));
	memcpy(why, copy->why, sizeof(why));
	pthread_mutex_destroy(&copy->lock);
	free(copy->events);
	free(copy);
	return *why ? why : NULL;
}

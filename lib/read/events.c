/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of one location: libotf2's callbacks, the call stack, and what every event is looked at for.
 *
 * Limits: about 25 ns for an event without attributes, half of it libotf2's.
 */
#include "config.h"

#include "lib/read/read_int.h"

#include <inttypes.h>
#include <stdlib.h>

#define DONE OTF2_CALLBACK_SUCCESS

#define NAME(name) #name,
const char *const gt_otf2_type_names[GT_OTF2_TYPES] = { GT_OTF2_EVENTS_ALL(NAME) };
#undef NAME

/* ---- every event ------------------------------------------------------------------------------- */

bool gt_otf2_nth_attribute(const struct gt_otf2_cursor *at, uint32_t place, uint32_t *attribute,
			   OTF2_Type *type, OTF2_AttributeValue *value)
{
	return OTF2_AttributeList_GetAttributeByIndex(at->attributes, place, attribute, type, value) ==
	       OTF2_SUCCESS;
}

bool gt_otf2_attribute(const struct gt_otf2_cursor *at, uint64_t attribute, OTF2_Type type,
		       OTF2_AttributeValue *value)
{
	OTF2_Type found;

	return at->attribute_count && attribute < OTF2_UNDEFINED_ATTRIBUTE &&
	       OTF2_AttributeList_TestAttributeByID(at->attributes, (OTF2_AttributeRef)attribute) &&
	       OTF2_AttributeList_GetAttributeByID(at->attributes, (OTF2_AttributeRef)attribute, &found,
						   value) == OTF2_SUCCESS &&
	       found == type;
}

static void look_at_attributes(struct gt_otf2_cursor *at)
{
	for (uint32_t i = 0; i < at->attribute_count; i++) {
		const struct gt_otf2_attribute *attribute;
		OTF2_AttributeValue value;
		OTF2_Type type;
		uint32_t id;

		if (!gt_otf2_nth_attribute(at, i, &id, &type, &value))
			continue;
		attribute = gt_otf2_find_attribute(at->read, id);
		if (!attribute)
			gt_otf2_report(at->read, at, GT_OTF2_EVENTS, "attribute %u is not defined", id);
		else if (attribute->type != type)
			gt_otf2_report(at->read, at, GT_OTF2_EVENTS,
				       "attribute %u \"%s\" has a value of type %u", id, attribute->name,
				       type);
	}
}

static inline void step(struct gt_otf2_cursor *at, uint64_t ticks, const OTF2_AttributeList *list)
{
	const struct gt_otf2 *read = at->read;
	uint64_t before = at->ticks, ns = gt_otf2_ns(read, ticks);

	at->event++;
	at->ticks = ticks;
	at->time = ns > at->time ? ns : at->time;
	at->attributes = list;
	at->attribute_count = OTF2_AttributeList_GetNumberOfElements(list);
	if (ticks < before)
		gt_otf2_report(read, at, GT_OTF2_TIME, "%" PRIu64 " ticks before the event before it",
			       before - ticks);
	if (ticks < read->begin || ticks > read->end)
		gt_otf2_report(read, at, GT_OTF2_RANGE, "at tick %" PRIu64 ", not in %" PRIu64 " to %" PRIu64,
			       ticks, read->begin, read->end);
	if (at->attribute_count)
		look_at_attributes(at);
}

static bool refer(struct gt_otf2_cursor *at, enum gt_otf2_kind kind, uint64_t id)
{
	if (gt_otf2_index(at->read, kind, id) >= 0)
		return true;
	gt_otf2_report(at->read, at, GT_OTF2_EVENTS, "%s %" PRIu64 " is not defined",
		       gt_otf2_kind_names[kind], id);
	return false;
}

/* ---- regions ----------------------------------------------------------------------------------- */

static const struct gt_otf2_region unknown = { .id = GT_OTF2_NOTHING, .name = "?", .canonical = "?",
					       .description = "", .file = "" };

static const struct gt_otf2_region *region_of(struct gt_otf2_cursor *at, uint32_t id)
{
	const struct gt_otf2_region *region = gt_otf2_find_region(at->read, id);

	if (region)
		return region;
	refer(at, GT_OTF2_REGION, id);
	return &unknown;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *user, OTF2_AttributeList *list, OTF2_RegionRef id)
{
	struct gt_otf2_cursor *at = user;

	(void)location, (void)position;
	step(at, time, list);
	if (at->depth == at->room)
		at->stack = gt_otf2_grow(at->stack, at->depth, &at->room, sizeof(*at->stack));
	at->stack[at->depth++] = (struct gt_otf2_frame){ .region = region_of(at, id), .begin = at->time };
	if (at->visitor->enter)
		at->visitor->enter(at);
	return DONE;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *user, OTF2_AttributeList *list, OTF2_RegionRef id)
{
	struct gt_otf2_cursor *at = user;
	const struct gt_otf2_region *region;
	struct gt_otf2_frame *frame;

	(void)location, (void)position;
	step(at, time, list);
	region = region_of(at, id);
	if (!at->depth) {
		gt_otf2_report(at->read, at, GT_OTF2_BALANCE, "leaves \"%s\", but no region is open",
			       region->name);
		return DONE;
	}
	frame = &at->stack[at->depth - 1];
	if (frame->region != region)
		gt_otf2_report(at->read, at, GT_OTF2_BALANCE, "leaves \"%s\" inside \"%s\"", region->name,
			       frame->region->name);
	at->depth--;
	if (at->depth)
		at->stack[at->depth - 1].inside += gt_otf2_inclusive(at, frame);
	if (at->visitor->leave)
		at->visitor->leave(at, frame);
	return DONE;
}

/* ---- other events ------------------------------------------------------------------------------ */

static void look_at_metric(struct gt_otf2_cursor *at, const struct gt_otf2_Metric *e)
{
	const struct gt_otf2_metric *metric = gt_otf2_find_metric(at->read, e->metric);

	if (!metric)
		return;
	if (e->count != metric->count) {
		gt_otf2_report(at->read, at, GT_OTF2_METRICS, "metric %u has %u values, its class %u",
			       e->metric, e->count, metric->count);
		return;
	}
	for (uint8_t i = 0; i < e->count; i++) {
		const struct gt_otf2_metric_member *member =
			gt_otf2_find_metric_member(at->read, metric->members[i]);

		if (member && member->type != e->types[i])
			gt_otf2_report(at->read, at, GT_OTF2_METRICS,
				       "value %u of metric %u has type %u, not %u", i, e->metric, e->types[i],
				       member->type);
	}
}

static void look_at_parameter(struct gt_otf2_cursor *at, uint32_t id, OTF2_ParameterType type)
{
	const struct gt_otf2_parameter *parameter = gt_otf2_find_parameter(at->read, id);

	if (parameter && parameter->type != type)
		gt_otf2_report(at->read, at, GT_OTF2_METRICS,
			       "parameter %u \"%s\" has a value of another type", id, parameter->name);
}

/* What its references do not show. */
static void look_at(struct gt_otf2_cursor *at, struct gt_otf2_event *event)
{
	switch (event->type) {
	case GT_OTF2_BufferFlush:
		if (event->BufferFlush.stop < at->ticks)
			gt_otf2_report(at->read, at, GT_OTF2_TIME, "a flush ends before it begins");
		break;
	case GT_OTF2_Metric:
		look_at_metric(at, &event->Metric);
		break;
	case GT_OTF2_ParameterString:
		look_at_parameter(at, event->ParameterString.parameter, OTF2_PARAMETER_TYPE_STRING);
		break;
	case GT_OTF2_ParameterInt:
		look_at_parameter(at, event->ParameterInt.parameter, OTF2_PARAMETER_TYPE_INT64);
		break;
	case GT_OTF2_ParameterUnsignedInt:
		look_at_parameter(at, event->ParameterUnsignedInt.parameter, OTF2_PARAMETER_TYPE_UINT64);
		break;
	case GT_OTF2_ProgramBegin:
		for (uint32_t i = 0; i < event->ProgramBegin.count; i++)
			event->undefined |= !refer(at, GT_OTF2_STRING, event->ProgramBegin.arguments[i]);
		break;
	default:
		break;
	}
}

static OTF2_CallbackCode visit(struct gt_otf2_cursor *at, struct gt_otf2_event *event)
{
	look_at(at, event);
	if (at->visitor->event)
		at->visitor->event(at, event);
	return DONE;
}

#define ARG_V(type, name)         , type name
#define ARG_R(kind, type, name)   , type name
#define SET_V(type, name)         .name = name,
#define SET_R(kind, type, name)   .name = name,
#define REFER_V(type, name)
#define REFER_R(kind, type, name) event.undefined |= !refer(user, GT_OTF2_##kind, name);
#define CALLBACK(name)                                                                                       \
	static OTF2_CallbackCode on_##name(OTF2_LocationRef location, OTF2_TimeStamp time,                   \
					   uint64_t position, void *user,                                    \
					   OTF2_AttributeList *list GT_OTF2_EVT_##name(ARG_V, ARG_R))        \
	{                                                                                                    \
		struct gt_otf2_event event = { .type = GT_OTF2_##name,                                       \
					       .name = { GT_OTF2_EVT_##name(SET_V, SET_R) } };               \
													     \
		(void)location, (void)position;                                                              \
		step(user, time, list);                                                                      \
		GT_OTF2_EVT_##name(REFER_V, REFER_R) return visit(user, &event);                             \
	}
GT_OTF2_EVENTS_ALL(CALLBACK)

OTF2_EvtReaderCallbacks *gt_otf2_callbacks(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

	if (!c)
		abort();
	OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
#define SET(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_##name);
	GT_OTF2_EVENTS_ALL(SET)
#undef SET
	return c;
}

/* ---- a location -------------------------------------------------------------------------------- */

/* Tables that translate the numbers in its events, and the offsets of its clock. */
static bool read_local_definitions(OTF2_Reader *reader, struct gt_otf2_cursor *at)
{
	uint64_t size, n, id = at->location->id;
	OTF2_DefReader *one;
	bool ok;

	if (!gt_otf2_file(at->read, id, "def", &size))
		return true;
	one = OTF2_Reader_GetDefReader(reader, id);
	ok = one && OTF2_Reader_ReadAllLocalDefinitions(reader, one, &n) == OTF2_SUCCESS;
	if (!ok)
		gt_otf2_report(at->read, at, GT_OTF2_FILES, "its definitions cannot be read: %s",
			       gt_otf2_complaint);
	if (one)
		OTF2_Reader_CloseDefReader(reader, one);
	return ok;
}

/* What comes behind the last event is read into nothing: it must be the end of the file. */
static OTF2_ErrorCode read_end(OTF2_Reader *reader, OTF2_EvtReader *events)
{
	OTF2_EvtReaderCallbacks *none = OTF2_EvtReaderCallbacks_New();
	OTF2_ErrorCode rc;
	uint64_t n = 0;

	if (!none)
		abort();
	OTF2_Reader_RegisterEvtCallbacks(reader, events, none, NULL);
	OTF2_EvtReaderCallbacks_Delete(none);
	rc = OTF2_Reader_ReadLocalEvents(reader, events, 1, &n);
	return n ? OTF2_ERROR_INTEGRITY_FAULT : rc;
}

/*
 * libotf2 reads the last chunk of a file that was cut between two again and again. So not more events are
 * read than the file says it has, nor than there can be: one takes two bytes at least. A file that does not
 * say it may be compressed, and have as many as the location declares.
 */
static uint64_t most_events(OTF2_Reader *reader, const struct gt_otf2_cursor *at, uint64_t size)
{
	uint64_t all = gt_otf2_events_in_file(at->read, reader, at->location->id, size);

	if (all == GT_OTF2_NOTHING && at->location->events > size / 2)
		return at->location->events;
	return all < size / 2 ? all : size / 2;
}

static OTF2_ErrorCode read_all(OTF2_Reader *reader, OTF2_EvtReader *events, struct gt_otf2_cursor *at,
			       uint64_t size)
{
	enum { STEP = 1 << 20 };
	uint64_t most = most_events(reader, at, size), step = 0, n = 0;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (; rc == OTF2_SUCCESS && n == step && most; most -= n) {
		step = most < STEP ? most : STEP;
		rc = OTF2_Reader_ReadLocalEvents(reader, events, step, &n);
	}
	return rc == OTF2_SUCCESS && !most ? read_end(reader, events) : rc;
}

static void read_events(OTF2_Reader *reader, OTF2_EvtReaderCallbacks *callbacks, struct gt_otf2_cursor *at)
{
	OTF2_EvtReader *events;
	OTF2_ErrorCode rc;
	uint64_t size;

	if (!gt_otf2_file(at->read, at->location->id, "evt", &size)) {
		gt_otf2_report(at->read, at, GT_OTF2_FILES, "has no file of events");
		return;
	}
	events = OTF2_Reader_GetEvtReader(reader, at->location->id);
	if (!events) {
		gt_otf2_report(at->read, at, GT_OTF2_FILES, "cannot be opened: %s", gt_otf2_complaint);
		return;
	}
	OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, at);
	rc = read_all(reader, events, at, size);
	if (rc != OTF2_SUCCESS)
		gt_otf2_report(at->read, at, GT_OTF2_FILES, "the file of events cannot be read on: %s",
			       OTF2_Error_GetDescription(rc));
	at->whole = rc == OTF2_SUCCESS;
	OTF2_Reader_CloseEvtReader(reader, events);
}

/* A fault of the location as a whole is at no event. */
static void look_at_end(struct gt_otf2_cursor *at)
{
	uint64_t events = at->event;

	if (events != at->location->events) {
		at->event = 0;
		gt_otf2_report(at->read, at, GT_OTF2_COUNT, "declares %" PRIu64 " events and has %" PRIu64,
			       at->location->events, events);
		at->event = events;
	}
	if (at->depth)
		gt_otf2_report(at->read, at, GT_OTF2_DEPTH, "ends %zu deep, in \"%s\"", at->depth,
			       at->stack[at->depth - 1].region->name);
}

void gt_otf2_location(OTF2_Reader *reader, OTF2_EvtReaderCallbacks *callbacks, struct gt_otf2_cursor *at)
{
	bool local;

	at->whole = false;
	if (at->visitor->begin)
		at->visitor->begin(at);
	local = read_local_definitions(reader, at);
	read_events(reader, callbacks, at);
	if (at->whole)
		look_at_end(at);
	at->whole = at->whole && local;
	if (at->visitor->end)
		at->visitor->end(at, at->whole);
	free(at->stack);
	at->stack = NULL;
}

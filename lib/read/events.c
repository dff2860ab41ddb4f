/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that apply to every event, and libotf2's callbacks.
 *
 * Limits: libotf2 takes about 20 ns for an event, decode.c 3.
 */
#include "config.h"

#include "lib/read/visit.h"

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

bool gt_otf2_has_attribute(const struct gt_otf2_cursor *at, uint64_t attribute)
{
	return at->attribute_count && attribute < OTF2_UNDEFINED_ATTRIBUTE &&
	       OTF2_AttributeList_TestAttributeByID(at->attributes, (OTF2_AttributeRef)attribute);
}

bool gt_otf2_attribute(const struct gt_otf2_cursor *at, uint64_t attribute, OTF2_Type type,
		       OTF2_AttributeValue *value)
{
	OTF2_Type found;

	return gt_otf2_has_attribute(at, attribute) &&
	       OTF2_AttributeList_GetAttributeByID(at->attributes, (OTF2_AttributeRef)attribute, &found,
						   value) == OTF2_SUCCESS &&
	       found == type;
}

void gt_otf2_look_at_attributes(struct gt_otf2_cursor *at)
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

void gt_otf2_bad_time(struct gt_otf2_cursor *at, uint64_t before)
{
	const struct gt_otf2 *read = at->read;
	uint64_t ticks = at->ticks;

	if (ticks < before)
		gt_otf2_report(read, at, GT_OTF2_TIME, "%" PRIu64 " ticks before the event before it",
			       before - ticks);
	if (ticks < read->begin || ticks > read->end)
		gt_otf2_report(read, at, GT_OTF2_RANGE, "at tick %" PRIu64 ", not in %" PRIu64 " to %" PRIu64,
			       ticks, read->begin, read->end);
}

void gt_otf2_undefined(struct gt_otf2_cursor *at, enum gt_otf2_kind kind, uint64_t id)
{
	gt_otf2_report(at->read, at, GT_OTF2_EVENTS, "%s %" PRIu64 " is not defined",
		       gt_otf2_kind_names[kind], id);
}

static bool refer(struct gt_otf2_cursor *at, enum gt_otf2_kind kind, uint64_t id)
{
	if (gt_otf2_index(at->read, kind, id) >= 0)
		return true;
	gt_otf2_undefined(at, kind, id);
	return false;
}

/* ---- regions ----------------------------------------------------------------------------------- */

const struct gt_otf2_region gt_otf2_unknown_region = { .id = GT_OTF2_NOTHING, .name = "?", .canonical = "?",
						       .description = "", .file = "" };

void gt_otf2_grow_stack(struct gt_otf2_cursor *at)
{
	at->stack = gt_grown(at->stack, at->depth, &at->room, sizeof(*at->stack));
}

void gt_otf2_bad_leave(struct gt_otf2_cursor *at, const struct gt_otf2_region *region)
{
	if (at->depth)
		gt_otf2_report(at->read, at, GT_OTF2_BALANCE, "leaves \"%s\" inside \"%s\"", region->name,
			       at->stack[at->depth - 1].region->name);
	else
		gt_otf2_report(at->read, at, GT_OTF2_BALANCE, "leaves \"%s\", but no region is open",
			       region->name);
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

/* Checks beyond its references. */
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

#define REFER_V(type, name)
#define REFER_R(kind, type, name) undefined |= !refer(at, GT_OTF2_##kind, e->name);
#define REFER(record)                                                                                        \
	static bool refer_##record(struct gt_otf2_cursor *at, const struct gt_otf2_##record *e)              \
	{                                                                                                    \
		bool undefined = false;                                                                      \
													     \
		(void)at, (void)e;                                                                           \
		GT_OTF2_EVT_##record(REFER_V, REFER_R) return undefined;                                     \
	}
GT_OTF2_EVENTS_ALL(REFER)
#undef REFER

/* Of a calling context; what has none or is not defined is not a region. */
static uint32_t context_region(const struct gt_otf2_cursor *at, uint64_t id)
{
	const struct gt_otf2_context *context = gt_otf2_find_context(at->read, id);

	return context ? context->region : OTF2_UNDEFINED_REGION;
}

/* Calls as programs that sample write them, whose regions are entered and left as others are. */
static bool is_call(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	bool enters = event->type == GT_OTF2_CallingContextEnter;

	if (!enters && event->type != GT_OTF2_CallingContextLeave)
		return false;
	at->called = event;
	if (enters)
		gt_otf2_enter(at, context_region(at, event->CallingContextEnter.context));
	else
		gt_otf2_leave(at, context_region(at, event->CallingContextLeave.context));
	at->called = NULL;
	return true;
}

void gt_otf2_read_event(struct gt_otf2_cursor *at, struct gt_otf2_event *event)
{
	if (is_call(at, event))
		return;
	switch (event->type) {
#define REFER(record)                                                        \
	case GT_OTF2_##record:                                               \
		event->undefined = refer_##record(at, &event->record);       \
		break;
		GT_OTF2_EVENTS_ALL(REFER)
#undef REFER
	case GT_OTF2_TYPES:
		break;
	}
	look_at(at, event);
	if (at->visitor->event)
		at->visitor->event(at, event);
}

/* ---- libotf2's callbacks ------------------------------------------------------------------------- */

static void step(struct gt_otf2_cursor *at, uint64_t time, const OTF2_AttributeList *list)
{
	at->attributes = list;
	gt_otf2_step(at, time, OTF2_AttributeList_GetNumberOfElements(list));
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *user, OTF2_AttributeList *list, OTF2_RegionRef id)
{
	(void)location, (void)position;
	step(user, time, list);
	gt_otf2_enter(user, id);
	return DONE;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *user, OTF2_AttributeList *list, OTF2_RegionRef id)
{
	(void)location, (void)position;
	step(user, time, list);
	gt_otf2_leave(user, id);
	return DONE;
}

#define ARG_V(type, name)       , type name
#define ARG_R(kind, type, name) , type name
#define SET_V(type, name)       .name = name,
#define SET_R(kind, type, name) .name = name,
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
		gt_otf2_read_event(user, &event);                                                            \
		return DONE;                                                                                 \
	}
GT_OTF2_EVENTS_ALL(CALLBACK)

OTF2_EvtReaderCallbacks *gt_otf2_callbacks(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

	if (!c)
		gt_no_memory();
	OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
#define SET(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_##name);
	GT_OTF2_EVENTS_ALL(SET)
#undef SET
	return c;
}

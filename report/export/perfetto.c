/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto's own format (ui.perfetto.dev): tracks with the begins and ends of slices. The ends of messages
 * and launches are instants inside of their slices, tied by flows.
 *
 * Limits: a packet for each event; names are written once for each track that has them.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "report/export/export.h"
#include "report/export/perfetto.pb-c.h"

enum { CLEARED = 1, NEEDED = 2 }; /* sequence_flags: names begin anew, names were given */

/* Numbers of tracks. */
#define PROCESS_TRACK(index)          ((uint64_t)(index) + 1)
#define LOCATION_TRACK(index)         (UINT64_C(1) << 32 | ((uint64_t)(index) + 1))
#define COUNTER_TRACK(index, member)  (UINT64_C(2) << 48 | (uint64_t)(index) << 24 | ((uint64_t)(member) + 1))

struct perfetto {
	char **regions, **members; /* names as UTF-8 */
	struct gt_export_text text;       /* of what is of no location */
	uint64_t flows;
};

/* Of one location. */
struct state {
	bool *named, *counted; /* regions whose names, metric members whose tracks were written */
	bool begun;
};

/* ---- packets ----------------------------------------------------------------------------------- */

static void put_packet(struct gt_export_text *text, GtPf__Packet *packet)
{
	GtPf__Trace trace = GT_PF__TRACE__INIT;
	size_t size;

	trace.n_packet = 1;
	trace.packet = &packet;
	size = gt_pf__trace__get_packed_size(&trace);
	gt_text_room(text, size);
	text->count += gt_pf__trace__pack(&trace, (uint8_t *)text->data + text->count);
}

static void put_track(struct gt_export_text *text, GtPf__Track *track, uint64_t uuid, uint64_t parent,
		      uint32_t sequence)
{
	GtPf__Packet packet = GT_PF__PACKET__INIT;

	track->has_uuid = true;
	track->uuid = uuid;
	track->has_parent_uuid = parent;
	track->parent_uuid = parent;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = sequence;
	packet.track_descriptor = track;
	put_packet(text, &packet);
}

static uint32_t sequence_of(const struct gt_export_place *place)
{
	return (uint32_t)place->at->index + 2; /* 1: of no location */
}

/* An event of a location; `iid`: of its name, 0: none. */
static void put_event(struct gt_export_place *place, GtPf__Event *event, GtPf__Event__Type type,
		      uint64_t time, GtPf__Interned *names)
{
	struct state *state = place->face;
	GtPf__Packet packet = GT_PF__PACKET__INIT;

	event->has_type = true;
	event->type = type;
	packet.has_timestamp = true;
	packet.timestamp = time;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = sequence_of(place);
	packet.track_event = event;
	packet.interned_data = names;
	packet.has_sequence_flags = true;
	packet.sequence_flags = (state->begun ? 0 : CLEARED) | NEEDED;
	state->begun = true;
	put_packet(&place->text, &packet);
	gt_export_flush(place);
}

/* ---- definitions ------------------------------------------------------------------------------- */

static void put_process(struct gt_export *export, size_t i)
{
	const struct gt_otf2_location_group *group = gt_otf2_location_group_at(export->read, i);
	struct perfetto *perfetto = export->face;
	GtPf__Process process = GT_PF__PROCESS__INIT;
	GtPf__Track track = GT_PF__TRACK__INIT;
	struct gt_export_text name = { .count = 0 };

	gt_text_process(&name, export->read, group);
	process.has_pid = true;
	process.pid = (int32_t)i + 1;
	process.process_name = gt_export_clean(name.data);
	track.process = &process;
	put_track(&perfetto->text, &track, PROCESS_TRACK(i), 0, 1);
	free(process.process_name);
	free(name.data);
}

static void put_location(struct gt_export *export, size_t i)
{
	const struct gt_otf2_location *location = gt_otf2_location_at(export->read, i);
	ptrdiff_t group = gt_otf2_index(export->read, GT_OTF2_LOCATION_GROUP, location->group);
	struct perfetto *perfetto = export->face;
	GtPf__Thread thread = GT_PF__THREAD__INIT;
	GtPf__Track track = GT_PF__TRACK__INIT;

	thread.has_pid = thread.has_tid = true;
	thread.pid = (int32_t)group + 1;
	thread.tid = (int32_t)i + 1;
	thread.thread_name = gt_export_clean(location->name);
	track.thread = &thread;
	put_track(&perfetto->text, &track, LOCATION_TRACK(i), 0, 1);
	free(thread.thread_name);
}

static bool start(struct gt_export *export)
{
	const struct gt_otf2 *read = export->read;
	size_t regions = read->tables[GT_OTF2_REGION].count,
	       members = read->tables[GT_OTF2_METRIC_MEMBER].count;
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (perfetto)
		perfetto->regions = calloc(regions + members + 1, sizeof(char *));
	if (!perfetto || !perfetto->regions)
		gt_no_memory();
	perfetto->members = perfetto->regions + regions + 1;
	export->face = perfetto;
	for (size_t i = 0; i <= regions; i++)
		perfetto->regions[i] = gt_export_clean(i < regions ? gt_otf2_region_at(read, i)->name : "?");
	for (size_t i = 0; i < members; i++)
		perfetto->members[i] = gt_export_clean(gt_otf2_metric_member_at(read, i)->name);
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION_GROUP].count; i++)
		put_process(export, i);
	for (size_t i = 0; i < read->tables[GT_OTF2_LOCATION].count; i++)
		if (gt_part_has(&export->part, i))
			put_location(export, i);
	gt_export_write(export, &perfetto->text);
	return true;
}

/* ---- events ------------------------------------------------------------------------------------ */

static void begin(struct gt_export_place *place)
{
	const struct gt_otf2 *read = place->export->read;
	struct state *state = calloc(1, sizeof(*state));

	if (state)
		state->named = calloc(read->tables[GT_OTF2_REGION].count + 1, sizeof(bool));
	if (state)
		state->counted = calloc(read->tables[GT_OTF2_METRIC_MEMBER].count + 1, sizeof(bool));
	if (!state || !state->named || !state->counted)
		gt_no_memory();
	place->face = state;
}

static void enter(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time)
{
	const struct perfetto *perfetto = place->export->face;
	struct state *state = place->face;
	size_t index = gt_export_region(place, region);
	GtPf__Event event = GT_PF__EVENT__INIT;
	GtPf__Interned interned = GT_PF__INTERNED__INIT;
	GtPf__Name name = GT_PF__NAME__INIT, *names = &name;

	name.has_iid = true;
	name.iid = index + 1;
	name.name = perfetto->regions[index];
	interned.n_event_names = 1;
	interned.event_names = &names;
	event.has_name_iid = event.has_track_uuid = true;
	event.name_iid = index + 1;
	event.track_uuid = LOCATION_TRACK(place->at->index);
	put_event(place, &event, GT_PF__EVENT__TYPE__SLICE_BEGIN, time,
		  state->named[index] ? NULL : &interned);
	state->named[index] = true;
}

/* Adds its callers: functions, and the line of the innermost. The texts are to be freed. */
static void put_path(struct gt_export_place *place, const struct gt_export_call *call, GtPf__Event *event,
		     GtPf__Annotation notes[2], GtPf__Annotation *pointers[2])
{
	const struct gt_otf2_source *source = gt_call_source(place->export->read, call->path);
	char *functions = gt_call_functions(place->export->read, call->path), *line = NULL;

	gt_pf__annotation__init(&notes[0]);
	notes[0].name = (char *)"called by";
	notes[0].string_value = gt_export_clean(functions);
	free(functions);
	event->n_debug_annotations = 1;
	event->debug_annotations = pointers;
	pointers[0] = &notes[0];
	if (!source)
		return;
	if (asprintf(&line, "%s:%" PRIu32, source->file, source->line) < 0)
		gt_no_memory();
	gt_pf__annotation__init(&notes[1]);
	notes[1].name = (char *)"called at";
	notes[1].string_value = gt_export_clean(line);
	free(line);
	event->n_debug_annotations = 2;
	pointers[1] = &notes[1];
}

static void call(struct gt_export_place *place, const struct gt_export_call *call)
{
	GtPf__Event event = GT_PF__EVENT__INIT;
	GtPf__Annotation notes[2], *pointers[2];

	event.has_track_uuid = true;
	event.track_uuid = LOCATION_TRACK(place->at->index);
	if (call->path)
		put_path(place, call, &event, notes, pointers);
	put_event(place, &event, GT_PF__EVENT__TYPE__SLICE_END, call->end, NULL);
	for (size_t i = 0; i < event.n_debug_annotations; i++)
		free(notes[i].string_value);
}

/* The track of a metric's values in a location is described before the first of them. */
static void put_counter(struct gt_export_place *place, size_t member)
{
	const struct perfetto *perfetto = place->export->face;
	const struct gt_otf2_metric_member *of = gt_otf2_metric_member_at(place->export->read, member);
	GtPf__Counter counter = GT_PF__COUNTER__INIT;
	GtPf__Track track = GT_PF__TRACK__INIT;

	counter.unit_name = gt_export_clean(of->unit);
	track.name = perfetto->members[member];
	track.counter = &counter;
	put_track(&place->text, &track, COUNTER_TRACK(place->at->index, member),
		  LOCATION_TRACK(place->at->index), sequence_of(place));
	free(counter.unit_name);
}

static void put_value(struct gt_export_place *place, size_t member, OTF2_Type type, OTF2_MetricValue value)
{
	struct state *state = place->face;
	GtPf__Event event = GT_PF__EVENT__INIT;

	if (!state->counted[member])
		put_counter(place, member);
	state->counted[member] = true;
	event.has_track_uuid = true;
	event.track_uuid = COUNTER_TRACK(place->at->index, member);
	event.has_double_counter_value =
		type == OTF2_TYPE_DOUBLE || (type == OTF2_TYPE_UINT64 && value.unsigned_int > INT64_MAX);
	event.has_counter_value = !event.has_double_counter_value;
	event.double_counter_value = gt_otf2_number(type, value);
	event.counter_value = value.signed_int;
	put_event(place, &event, GT_PF__EVENT__TYPE__COUNTER, place->at->time, NULL);
}

static void metric(struct gt_export_place *place, const struct gt_otf2_event *event)
{
	const struct gt_otf2 *read = place->export->read;
	const struct gt_otf2_Metric *e = &event->Metric;
	const struct gt_otf2_metric *of;

	if (event->type != GT_OTF2_Metric || event->undefined)
		return;
	of = gt_otf2_find_metric(read, e->metric);
	for (unsigned i = 0; of && i < e->count && i < of->count; i++) {
		ptrdiff_t member = gt_otf2_index(read, GT_OTF2_METRIC_MEMBER, of->members[i]);

		if (member >= 0)
			put_value(place, (size_t)member, e->types[i], e->values[i]);
	}
}

static void end(struct gt_export_place *place)
{
	struct state *state = place->face;

	free(state->named);
	free(state->counted);
	free(state);
}

/* ---- flows ------------------------------------------------------------------------------------- */

static void put_end(struct perfetto *perfetto, const struct gt_end *end, char *kind, bool last)
{
	GtPf__Annotation bytes = GT_PF__ANNOTATION__INIT, *annotations = &bytes;
	GtPf__Packet packet = GT_PF__PACKET__INIT;
	GtPf__Event event = GT_PF__EVENT__INIT;

	bytes.name = (char *)"bytes";
	bytes.has_uint_value = true;
	bytes.uint_value = end->bytes;
	event.n_debug_annotations = end->what == GT_END_SEND;
	event.debug_annotations = &annotations;
	event.has_type = event.has_track_uuid = true;
	event.type = GT_PF__EVENT__TYPE__INSTANT;
	event.track_uuid = LOCATION_TRACK(end->location);
	event.n_categories = 1;
	event.categories = &kind;
	event.name = kind;
	event.n_flow_ids = !last;
	event.n_terminating_flow_ids = last;
	event.flow_ids = event.terminating_flow_ids = &perfetto->flows;
	packet.has_timestamp = packet.has_trusted_packet_sequence_id = true;
	packet.timestamp = end->time;
	packet.trusted_packet_sequence_id = 1;
	packet.track_event = &event;
	put_packet(&perfetto->text, &packet);
}

static void pair(struct gt_export *export, const struct gt_end *from, const struct gt_end *to)
{
	static char message[] = "message", launch[] = "launch";
	char *kind = from->what == GT_END_SEND ? message : launch;
	struct perfetto *perfetto = export->face;

	perfetto->flows++;
	put_end(perfetto, from, kind, false);
	put_end(perfetto, to, kind, true);
	if (perfetto->text.count > 1 << 16)
		gt_export_write(export, &perfetto->text);
}

static bool finish(struct gt_export *export)
{
	struct perfetto *perfetto = export->face;

	if (perfetto->text.count)
		gt_export_write(export, &perfetto->text);
	return true;
}

const struct gt_export_face gt_export_perfetto = {
	.option = "perfetto",
	.binary = true,
	.what = "A trace of Perfetto, for ui.perfetto.dev.",
	.start = start,
	.begin = begin,
	.enter = enter,
	.call = call,
	.event = metric,
	.end = end,
	.pair = pair,
	.finish = finish,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of each location, one location after the other: rules that need no other location are
 * checked here, the rest is handed to check_pairs.c.
 *
 * Limits: one pass; about 30 ns for an event without attributes.
 */
#include "config.h"
#include "tools/check_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- every event ----------------------------------------------------------------------------- */

void check_attributes(struct state *s, const OTF2_AttributeList *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		OTF2_AttributeRef attribute;
		OTF2_AttributeValue value;
		OTF2_Type type;
		ptrdiff_t d;

		if (OTF2_AttributeList_GetAttributeByIndex(list, i, &attribute, &type, &value))
			continue;
		d = check_find(s->check, KIND_ATTRIBUTE, attribute);
		if (d < 0)
			BROKEN(s, RULE_EVENTS, "attribute %u is not defined", attribute);
		else if (s->check->tables[KIND_ATTRIBUTE].items[d].type != type)
			BROKEN(s, RULE_EVENTS, "attribute %u \"%s\" has a value of type %u",
			       attribute, check_name(s->check, KIND_ATTRIBUTE, attribute), type);
		s->failed |= attribute == s->check->mpi_error;
	}
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool is_activity(struct state *s, uint32_t region)
{
	ptrdiff_t i = check_find(s->check, KIND_REGION, region);

	return i >= 0 && s->check->tables[KIND_REGION].items[i].role != OTF2_REGION_ROLE_ARTIFICIAL;
}

/* A call, or what it made a GPU do, says which belongs to which. */
static void look_at_launch(struct state *s, const OTF2_AttributeList *list, uint64_t time)
{
	const struct check *check = s->check;
	ptrdiff_t group = check_find(check, KIND_LOCATION_GROUP,
				     check->tables[KIND_LOCATION].items[s->index].a);
	uint64_t number;

	if (group < 0 || OTF2_AttributeList_GetUint64(list, (OTF2_AttributeRef)check->correlation,
						      &number) != OTF2_SUCCESS)
		return;
	pairs_add(s->check, BAG_LAUNCHES,
		  &(struct record){
			  .key = {check->tables[KIND_LOCATION_GROUP].items[group].a, number},
			  .time = time,
			  .event = s->n,
			  .location = s->index,
			  .what = s->stream ? LAUNCH_ACTIVITY : LAUNCH_CALL,
		  });
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *data, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	struct state *s = data;

	(void)location, (void)position;
	event(s, time, list);
	refer(s, KIND_REGION, region, "region");
	if (s->stream && is_activity(s, region) && s->kernels++)
		BROKEN(s, RULE_STREAMS, "\"%s\" begins inside \"%s\"",
		       check_name(s->check, KIND_REGION, region),
		       check_name(s->check, KIND_REGION, s->stack[s->depth - 1]));
	if (s->depth == s->room) {
		s->room = s->room ? s->room * 2 : 256;
		s->stack = realloc(s->stack, s->room * sizeof(*s->stack));
		s->entered = realloc(s->entered, s->room * sizeof(*s->entered));
		if (!s->stack || !s->entered)
			abort();
	}
	if (OTF2_AttributeList_GetNumberOfElements(list))
		look_at_launch(s, list, time);
	s->sent = false;
	s->entered[s->depth] = time;
	s->stack[s->depth++] = region;
	return DONE;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *data, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	struct state *s = data;

	(void)location, (void)position;
	event(s, time, list);
	refer(s, KIND_REGION, region, "region");
	if (s->failed)
		check_failed_send(s);
	s->sent = false;
	if (!s->depth) {
		BROKEN(s, RULE_BALANCE, "leaves \"%s\", but no region is open",
		       check_name(s->check, KIND_REGION, region));
		return DONE;
	}
	if (s->stack[s->depth - 1] != region)
		BROKEN(s, RULE_BALANCE, "leaves \"%s\" inside \"%s\"",
		       check_name(s->check, KIND_REGION, region),
		       check_name(s->check, KIND_REGION, s->stack[s->depth - 1]));
	s->depth--;
	if (!s->stream && OTF2_AttributeList_GetNumberOfElements(list))
		look_at_launch(s, list, s->entered[s->depth]);
	if (s->stream && is_activity(s, s->stack[s->depth]))
		s->kernels--;
	return DONE;
}

EVENT(BufferFlush, OTF2_TimeStamp stop)
BODY(BufferFlush, (data, time, stop), OTF2_TimeStamp stop)
{
	if (stop < time)
		BROKEN(s, RULE_TIME, "a flush ends before it begins");
}

EVENT(MeasurementOnOff, OTF2_MeasurementMode mode)
BODY(MeasurementOnOff, (data, time, mode), OTF2_MeasurementMode mode)
{
	(void)time, (void)mode, (void)s;
}

/* ---- threads and locks ----------------------------------------------------------------------- */

static void thread(struct state *s, uint64_t time, uint32_t comm, uint64_t number, uint32_t what)
{
	struct record r = {.key = {comm, number},
			   .order = what,
			   .time = time,
			   .event = s->n,
			   .location = s->index,
			   .what = what};

	if (refer(s, KIND_COMM, comm, "communicator"))
		pairs_add(s->check, BAG_THREADS, &r);
}

EVENT(ThreadCreate, OTF2_CommRef comm, uint64_t number)
BODY(ThreadCreate, (data, time, comm, number), OTF2_CommRef comm, uint64_t number)
{
	thread(s, time, comm, number, THREAD_CREATE);
}

EVENT(ThreadBegin, OTF2_CommRef comm, uint64_t number)
BODY(ThreadBegin, (data, time, comm, number), OTF2_CommRef comm, uint64_t number)
{
	thread(s, time, comm, number, THREAD_BEGIN);
}

EVENT(ThreadEnd, OTF2_CommRef comm, uint64_t number)
BODY(ThreadEnd, (data, time, comm, number), OTF2_CommRef comm, uint64_t number)
{
	thread(s, time, comm, number, THREAD_END);
}

EVENT(ThreadWait, OTF2_CommRef comm, uint64_t number)
BODY(ThreadWait, (data, time, comm, number), OTF2_CommRef comm, uint64_t number)
{
	thread(s, time, comm, number, THREAD_WAIT);
}

static void lock(struct state *s, uint64_t time, uint32_t id, uint32_t order, uint32_t what)
{
	const struct definition *l = &s->check->tables[KIND_LOCATION].items[s->index];
	struct record r = {.key = {l->a << 32 | id, order >> 16},
			   .order = order,
			   .time = time,
			   .event = s->n,
			   .location = s->index,
			   .what = what};

	pairs_add(s->check, BAG_LOCKS, &r);
}

EVENT(ThreadAcquireLock, OTF2_Paradigm model, uint32_t id, uint32_t order)
BODY(ThreadAcquireLock, (data, time, model, id, order), OTF2_Paradigm model, uint32_t id,
     uint32_t order)
{
	(void)model;
	lock(s, time, id, order, LOCK_ACQUIRE);
}

EVENT(ThreadReleaseLock, OTF2_Paradigm model, uint32_t id, uint32_t order)
BODY(ThreadReleaseLock, (data, time, model, id, order), OTF2_Paradigm model, uint32_t id,
     uint32_t order)
{
	(void)model;
	lock(s, time, id, order, LOCK_RELEASE);
}

/* ---- values ---------------------------------------------------------------------------------- */

EVENT(Metric, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
      const OTF2_MetricValue *values)
BODY(Metric, (data, time, metric, count, types, values), OTF2_MetricRef metric, uint8_t count,
     const OTF2_Type *types, const OTF2_MetricValue *values)
{
	struct check *check = s->check;
	ptrdiff_t i = check_find(check, KIND_METRIC, metric);
	const struct definition *d;

	(void)time, (void)values;
	if (!refer(s, KIND_METRIC, metric, "metric"))
		return;
	d = &check->tables[KIND_METRIC].items[i];
	if (count != d->b) {
		BROKEN(s, RULE_METRICS, "metric %u has %u values, its class %" PRIu64, metric,
		       count, d->b);
		return;
	}
	for (uint8_t k = 0; k < count; k++) {
		ptrdiff_t m = check_find(check, KIND_METRIC_MEMBER, check->members[d->a + k]);

		if (m >= 0 && check->tables[KIND_METRIC_MEMBER].items[m].type != types[k])
			BROKEN(s, RULE_METRICS, "value %u of metric %u has type %u, not %u", k,
			       metric, types[k], check->tables[KIND_METRIC_MEMBER].items[m].type);
	}
}

static void parameter(struct state *s, uint32_t id, unsigned type)
{
	ptrdiff_t i = check_find(s->check, KIND_PARAMETER, id);

	if (!refer(s, KIND_PARAMETER, id, "parameter"))
		return;
	if (s->check->tables[KIND_PARAMETER].items[i].type != type)
		BROKEN(s, RULE_METRICS, "parameter %u \"%s\" has a value of another type", id,
		       check_name(s->check, KIND_PARAMETER, id));
}

EVENT(ParameterString, OTF2_ParameterRef id, OTF2_StringRef string)
BODY(ParameterString, (data, time, id, string), OTF2_ParameterRef id, OTF2_StringRef string)
{
	(void)time;
	parameter(s, id, OTF2_PARAMETER_TYPE_STRING);
	refer(s, KIND_STRING, string, "string");
}

EVENT(ParameterInt, OTF2_ParameterRef id, int64_t value)
BODY(ParameterInt, (data, time, id, value), OTF2_ParameterRef id, int64_t value)
{
	(void)time, (void)value;
	parameter(s, id, OTF2_PARAMETER_TYPE_INT64);
}

EVENT(ParameterUnsignedInt, OTF2_ParameterRef id, uint64_t value)
BODY(ParameterUnsignedInt, (data, time, id, value), OTF2_ParameterRef id, uint64_t value)
{
	(void)time, (void)value;
	parameter(s, id, OTF2_PARAMETER_TYPE_UINT64);
}

/* ---- programs -------------------------------------------------------------------------------- */

EVENT(ProgramBegin, OTF2_StringRef name, uint32_t count, const OTF2_StringRef *arguments)
BODY(ProgramBegin, (data, time, name, count, arguments), OTF2_StringRef name, uint32_t count,
     const OTF2_StringRef *arguments)
{
	(void)time;
	refer(s, KIND_STRING, name, "string");
	for (uint32_t i = 0; i < count; i++)
		refer(s, KIND_STRING, arguments[i], "string");
	if (s->begins++ > s->ends)
		BROKEN(s, RULE_PROGRAM, "a second program begins before the first ends");
}

EVENT(ProgramEnd, int64_t status)
BODY(ProgramEnd, (data, time, status), int64_t status)
{
	(void)time, (void)status;
	if (s->ends++ >= s->begins)
		BROKEN(s, RULE_PROGRAM, "a program ends that never began");
}

/* ---- one reference or none ------------------------------------------------------------------- */

PLAIN(ThreadTeamBegin, KIND_COMM, "communicator", c, (data, time, c), OTF2_CommRef c)
PLAIN(ThreadTeamEnd, KIND_COMM, "communicator", c, (data, time, c), OTF2_CommRef c)

void check_plain_event(void *state, uint64_t time, OTF2_AttributeList *list)
{
	event(state, time, list);
}

void check_plain_reference(void *state, enum kind kind, uint64_t id, const char *what)
{
	refer(state, kind, id, what);
}

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

	if (!c)
		return NULL;
	check_other_callbacks(c);
	check_mpi_callbacks(c);
	OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
#define SET(name) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_##name)
	SET(BufferFlush);
	SET(MeasurementOnOff);
	SET(ThreadCreate);
	SET(ThreadBegin);
	SET(ThreadEnd);
	SET(ThreadWait);
	SET(ThreadAcquireLock);
	SET(ThreadReleaseLock);
	SET(ThreadTeamBegin);
	SET(ThreadTeamEnd);
	SET(Metric);
	SET(ParameterString);
	SET(ParameterInt);
	SET(ParameterUnsignedInt);
	SET(ProgramBegin);
	SET(ProgramEnd);
#undef SET
	return c;
}

/* ---- a location ------------------------------------------------------------------------------ */

bool check_file(const struct check *check, uint64_t location, const char *suffix, uint64_t *size)
{
	char path[sizeof(check->anchor) + 64];
	const char *dot = strrchr(check->anchor, '.');
	struct stat st;

	snprintf(path, sizeof(path), "%.*s/%" PRIu64 ".%s", (int)(dot - check->anchor),
		 check->anchor, location, suffix);
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

/* `whole`: all events could be read. */
static void finish(struct state *s, uint64_t declared, bool whole)
{
	struct check *check = s->check;

	if (whole && s->n != declared)
		check_broken(check, RULE_COUNT, s->location, NO_EVENT, 0,
			     "declares %" PRIu64 " events and has %" PRIu64, declared, s->n);
	if (whole && s->depth)
		BROKEN(s, RULE_DEPTH, "ends %zu deep, in \"%s\"", s->depth,
		       check_name(check, KIND_REGION, s->stack[s->depth - 1]));
	if (whole && s->in_collective && !check->excused)
		BROKEN(s, RULE_COLLECTIVES, "ends inside a collective");
	check->events += s->n;
	free(s->stack);
	free(s->entered);
	free(s->sequence);
	free(s->requests);
}

static void read_location(struct check *check, uint32_t index, OTF2_EvtReaderCallbacks *callbacks)
{
	enum { STEP = 1 << 20 };
	const struct definition *l = &check->tables[KIND_LOCATION].items[index];
	struct state s = {.check = check,
			  .location = l->id,
			  .index = index,
			  .own_comm = ARCHIVE,
			  .stream = l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM};
	OTF2_EvtReader *reader;
	OTF2_ErrorCode rc;
	uint64_t size, read;

	if (!check_file(check, l->id, "evt", &size)) {
		check_broken(check, RULE_FILES, l->id, NO_EVENT, 0, "has no file of events");
		return;
	}
	reader = OTF2_Reader_GetEvtReader(check->reader, l->id);
	if (!reader) {
		check_broken(check, RULE_FILES, l->id, NO_EVENT, 0, "cannot be opened: %s",
			     check->library);
		return;
	}
	OTF2_Reader_RegisterEvtCallbacks(check->reader, reader, callbacks, &s);
	do {
		rc = OTF2_Reader_ReadLocalEvents(check->reader, reader, STEP, &read);
		/* An event takes two bytes at least. libotf2 reads the last piece of a file that
		   was cut again and again. */
		if (rc == OTF2_SUCCESS && s.n > l->b && s.n > size / 2)
			rc = OTF2_ERROR_INTEGRITY_FAULT;
	} while (rc == OTF2_SUCCESS && read == STEP);
	if (rc != OTF2_SUCCESS)
		check_broken(check, RULE_FILES, l->id, s.n, s.last,
			     "the file of events cannot be read on: %s",
			     OTF2_Error_GetDescription(rc));
	OTF2_Reader_CloseEvtReader(check->reader, reader);
	finish(&s, l->b, rc == OTF2_SUCCESS);
}

/* Tables that translate the numbers in a location's events, and clock offsets. */
static void read_local_definitions(struct check *check)
{
	uint64_t size;
	bool any = false;

	for (size_t i = 0; i < check->tables[KIND_LOCATION].count; i++)
		any |= check_file(check, check->tables[KIND_LOCATION].items[i].id, "def", &size);
	if (!any || OTF2_Reader_OpenDefFiles(check->reader) != OTF2_SUCCESS)
		return;
	for (size_t i = 0; i < check->tables[KIND_LOCATION].count; i++) {
		uint64_t id = check->tables[KIND_LOCATION].items[i].id, read;
		OTF2_DefReader *reader;

		if (!check_file(check, id, "def", &size))
			continue;
		reader = OTF2_Reader_GetDefReader(check->reader, id);
		if (!reader || OTF2_Reader_ReadAllLocalDefinitions(check->reader, reader, &read))
			check_broken(check, RULE_FILES, id, NO_EVENT, 0,
				     "its definitions cannot be read: %s", check->library);
		if (reader)
			OTF2_Reader_CloseDefReader(check->reader, reader);
	}
	OTF2_Reader_CloseDefFiles(check->reader);
}

static void prepare(struct check *check)
{
	size_t comms = check->tables[KIND_COMM].count;

	check->failed = malloc((comms + 1) * sizeof(*check->failed));
	check->threads = calloc(check->tables[KIND_LOCATION_GROUP].count + 1, sizeof(*check->threads));
	check->failed_later = calloc(comms + 1, sizeof(*check->failed_later));
	if (!check->failed || !check->failed_later || !check->threads)
		abort();
	memset(check->failed, 0xff, (comms + 1) * sizeof(*check->failed));
	for (size_t i = 0; i < check->tables[KIND_LOCATION].count; i++) {
		const struct definition *l = &check->tables[KIND_LOCATION].items[i];
		ptrdiff_t group = check_find(check, KIND_LOCATION_GROUP, l->a);

		if (group >= 0 && l->type == OTF2_LOCATION_TYPE_CPU_THREAD)
			check->threads[group]++;
	}
	check->mpi_error = check_attribute(check, "MPI_ERROR");
}

void check_events(struct check *check)
{
	OTF2_EvtReaderCallbacks *callbacks = make_callbacks();
	OTF2_ErrorCode rc;

	if (!callbacks)
		abort();
	prepare(check);
	check->correlation = check_attribute(check, "CORRELATION_ID");
	for (size_t i = 0; i < check->tables[KIND_LOCATION].count; i++)
		OTF2_Reader_SelectLocation(check->reader, check->tables[KIND_LOCATION].items[i].id);
	read_local_definitions(check);
	rc = OTF2_Reader_OpenEvtFiles(check->reader);
	if (rc != OTF2_SUCCESS) {
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0, "the events: %s",
			     OTF2_Error_GetDescription(rc));
	} else {
		for (size_t i = 0; i < check->tables[KIND_LOCATION].count; i++)
			read_location(check, (uint32_t)i, callbacks);
		OTF2_Reader_CloseEvtFiles(check->reader);
	}
	OTF2_EvtReaderCallbacks_Delete(callbacks);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: lib/read and `gputrace check` on whatever libotf2 may hand over. libotf2 itself crashes
 * on damaged files, so it is not linked: the functions below take its place and call the callbacks with what
 * the input says. Damaged files, with libotf2 in a child, are in test/unit/test_read.c and
 * test/check/check.test.
 *
 * test/fuzz/run 60 read
 *
 * Input: numbers (see draw()). First definitions, each a kind and its fields, then the events of each
 * location.
 *
 * Limits: one thread. Each location has 500 events at most.
 *
 * fuzz-sources: lib/read/base.c lib/read/comm.c lib/read/decode.c lib/read/defs.c lib/read/events.c
 * fuzz-sources: lib/read/location.c lib/read/read.c
 * fuzz-sources: lib/assemble/util/io.c lib/assemble/util/lookup.c lib/assemble/util/memory.c
 * fuzz-sources: lib/assemble/util/utf8.c
 * fuzz-sources: lib/assemble/util/losses.c lib/assemble/util/places.c lib/assemble/report/word.c
 * fuzz-sources: lib/assemble/spool/sort.c lib/assemble/report/summary.c lib/assemble/util/shorten.c
 * fuzz-sources: tools/check_events.c tools/check_mpi.c tools/check_pairs.c
 * fuzz-sources: tools/check_report.c tools/check_samples.c report/model/stacks.c
 * fuzz-flags: -Wl,--wrap=stat -lpthread
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_stat(const char *path, struct stat *st);
int __real_stat(const char *path, struct stat *st);

/* ---- the input --------------------------------------------------------------------------------- */

static const uint8_t *input, *input_end;

/* A byte below 0xf8 is itself; then come "undefined" numbers of each size, and a number of eight bytes. */
static uint64_t draw(void)
{
	uint64_t number = 0;
	uint8_t byte = input < input_end ? *input++ : 0;

	switch (byte) {
	case 0xf8:
		return UINT8_MAX;
	case 0xf9:
		return UINT32_MAX;
	case 0xfa:
		return UINT64_MAX;
	case 0xfb:
		memcpy(&number, input, input_end - input < 8 ? (size_t)(input_end - input) : 8);
		input += input_end - input < 8 ? input_end - input : 8;
		return number;
	}
	return byte;
}

enum { MOST = 255 };

/* What lists in definitions and events point to; the archive has no more than the list says. */
static void *list_of(size_t count, size_t size)
{
	static void *lists[8];
	static unsigned next;
	uint8_t *list;

	free(lists[++next % 8]);
	list = lists[next % 8] = malloc(count * size + 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t number = draw();

		memset(list + i * size, 0, size);
		memcpy(list + i * size, &number, size < sizeof(number) ? size : sizeof(number));
	}
	return list;
}

static OTF2_AttributeValue value(void)
{
	return (OTF2_AttributeValue){ .uint64 = draw() };
}

static const char *text(void)
{
	static const char *const texts[] = { NULL, "", "a", "MPI_ERROR", "CORRELATION_ID",
					     "GPUTRACE::CLOCK_ERROR_NS", "100", "1e300", "\xff\x1b[31m" };

	return texts[draw() % (sizeof(texts) / sizeof(texts[0]))];
}

/* ---- callbacks --------------------------------------------------------------------------------- */

#define OTHERS(D)                                                                                   \
	D(ClockProperties) D(String) D(Group) D(MetricClass) D(MetricInstance) D(Comm) D(InterComm) \
	D(IoRegularFile) D(IoDirectory) D(IoParadigm) D(IoPreCreatedHandleState) D(CartTopology)    \
	D(CartCoordinate) D(Paradigm) D(SystemTreeNodeProperty) D(LocationGroupProperty)            \
	D(LocationProperty) D(CallingContextProperty) D(IoFileProperty) D(SystemTreeNodeDomain)

struct OTF2_GlobalDefReaderCallbacks_struct {
#define RECORD(KIND, name, record) OTF2_GlobalDefReaderCallback_##record record;
#define OTHER(record) OTF2_GlobalDefReaderCallback_##record record;
	GT_OTF2_DEFS(RECORD) OTHERS(OTHER)
};
struct OTF2_EvtReaderCallbacks_struct {
	OTF2_EvtReaderCallback_Enter Enter;
	OTF2_EvtReaderCallback_Leave Leave;
#define EVENT(name) OTF2_EvtReaderCallback_##name name;
	GT_OTF2_EVENTS_ALL(EVENT)
};
struct OTF2_DefReaderCallbacks_struct {
	OTF2_DefReaderCallback_MappingTable MappingTable;
	OTF2_DefReaderCallback_ClockOffset ClockOffset;
};
struct OTF2_MarkerReaderCallbacks_struct {
	OTF2_MarkerReaderCallback_DefMarker DefMarker;
	OTF2_MarkerReaderCallback_Marker Marker;
};

#define NEW(kind)                                                                                   \
	OTF2_##kind##ReaderCallbacks *OTF2_##kind##ReaderCallbacks_New(void)                        \
	{                                                                                           \
		return calloc(1, sizeof(OTF2_##kind##ReaderCallbacks));                             \
	}                                                                                           \
	void OTF2_##kind##ReaderCallbacks_Delete(OTF2_##kind##ReaderCallbacks *c)                   \
	{                                                                                           \
		free(c);                                                                            \
	}
NEW(GlobalDef)
NEW(Def)
NEW(Evt)
NEW(Marker)

#define SET(kind, name)                                                                             \
	OTF2_ErrorCode OTF2_##kind##ReaderCallbacks_Set##name##Callback(                            \
		OTF2_##kind##ReaderCallbacks *c, OTF2_##kind##ReaderCallback_##name f)              \
	{                                                                                           \
		c->name = f;                                                                        \
		return OTF2_SUCCESS;                                                                \
	}
#define SET_RECORD(KIND, name, record) SET(GlobalDef, record)
#define SET_OTHER(record) SET(GlobalDef, record)
#define SET_EVENT(name) SET(Evt, name)
GT_OTF2_DEFS(SET_RECORD)
OTHERS(SET_OTHER)
GT_OTF2_EVENTS_ALL(SET_EVENT)
SET(Def, MappingTable)
SET(Def, ClockOffset)
SET(Evt, Enter)
SET(Evt, Leave)
SET(Marker, DefMarker)
SET(Marker, Marker)

/* ---- a reader ---------------------------------------------------------------------------------- */

struct OTF2_Reader_struct {
	struct OTF2_GlobalDefReaderCallbacks_struct defs;
	struct OTF2_EvtReaderCallbacks_struct events;
	struct OTF2_MarkerReaderCallbacks_struct markers;
	struct OTF2_DefReaderCallbacks_struct locals;
	void *def_user, *event_user, *marker_user, *local_user;
	uint64_t definitions, time;
};

#define ARG_S(name)             , (OTF2_StringRef)draw()
#define ARG_V(type, name)       , (type)draw()
#define ARG_R(kind, type, name) , (type)draw()

static void define_record(const OTF2_GlobalDefReaderCallbacks *c, void *user, enum gt_otf2_kind kind)
{
	switch (kind) {
#define CASE(KIND, name, record)                                                                    \
	case GT_OTF2_##KIND:                                                                        \
		c->record(user, (OTF2_##record##Ref)draw()                                          \
			  GT_OTF2_DEF_##record(ARG_S, ARG_S, ARG_R, ARG_R, ARG_V));                 \
		break;
	GT_OTF2_DEFS(CASE)
	default:
		break;
	}
}

#define N(type) ((type)draw())
#define U8  N(uint8_t)
#define U32 N(uint32_t)
#define LIST(type) list_of(n, sizeof(type))

static void define_other(const OTF2_GlobalDefReaderCallbacks *c, void *user, uint64_t what)
{
	uint8_t n = (uint8_t)draw();

	switch (what) {
	case 0: c->ClockProperties(user, draw(), draw(), draw(), draw()); break;
	case 1: c->String(user, U32, text()); break;
	case 2: c->Group(user, U32, U32, U8, U8, U32, n, LIST(uint64_t)); break;
	case 3: c->MetricClass(user, U32, n, LIST(uint32_t), U8, U8); break;
	case 4: c->MetricInstance(user, U32, U32, draw(), U8, draw()); break;
	case 5: c->Comm(user, U32, U32, U32, U32, U32); break;
	case 6: c->InterComm(user, U32, U32, U32, U32, U32, U32); break;
	case 7: c->IoRegularFile(user, U32, U32, U32); break;
	case 8: c->IoDirectory(user, U32, U32, U32); break;
	case 9: c->IoParadigm(user, U8, U32, U32, U8, U32, 0, NULL, NULL, NULL); break;
	case 10: c->IoPreCreatedHandleState(user, U32, U8, U32); break;
	case 11: c->CartTopology(user, U32, U32, U32, n, LIST(uint32_t)); break;
	case 12: c->CartCoordinate(user, U32, U32, n, LIST(uint32_t)); break;
	case 13: c->Paradigm(user, U8, U32, U8); break;
	case 14: c->SystemTreeNodeProperty(user, U32, U32, U8, value()); break;
	case 15: c->LocationGroupProperty(user, U32, U32, U8, value()); break;
	case 16: c->LocationProperty(user, draw(), U32, U8, value()); break;
	case 17: c->CallingContextProperty(user, U32, U32, U8, value()); break;
	case 18: c->IoFileProperty(user, U32, U32, U8, value()); break;
	case 19: c->SystemTreeNodeDomain(user, U32, U8); break;
	}
}

OTF2_ErrorCode OTF2_Reader_ReadAllGlobalDefinitions(OTF2_Reader *r, OTF2_GlobalDefReader *defs,
						    uint64_t *read)
{
	uint64_t what;

	(void)defs;
	for (; input < input_end && r->definitions < MOST && (what = draw()); r->definitions++) {
		if (what < 64)
			define_other(&r->defs, r->def_user, what % 20);
		else
			define_record(&r->defs, r->def_user, (enum gt_otf2_kind)(what % GT_OTF2_KINDS));
	}
	*read = r->definitions;
	return input < input_end || draw() % 2 ? OTF2_SUCCESS : OTF2_ERROR_INTEGRITY_FAULT;
}

/* An event that libotf2 was not asked for is skipped. */
#define EVENT_CASE(name)                                                                            \
	case GT_OTF2_##name:                                                                        \
		if (c->name)                                                                        \
			c->name(0, r->time, 0, user, NULL GT_OTF2_EVT_##name(ARG_V, ARG_R));        \
		break;

static void metric(const OTF2_Reader *r)
{
	uint8_t n = (uint8_t)draw();

	if (r->events.Metric)
		r->events.Metric(0, r->time, 0, r->event_user, NULL, (OTF2_MetricRef)draw(), n,
				 LIST(OTF2_Type), LIST(OTF2_MetricValue));
}

static void program(const OTF2_Reader *r)
{
	uint8_t n = (uint8_t)draw();

	if (r->events.ProgramBegin)
		r->events.ProgramBegin(0, r->time, 0, r->event_user, NULL, (OTF2_StringRef)draw(), n,
				       LIST(OTF2_StringRef));
}

static void happen(const OTF2_Reader *r, uint64_t what)
{
	const struct OTF2_EvtReaderCallbacks_struct *c = &r->events;
	void *user = r->event_user;

	if (what >= 128) {
		if (what % 2 && c->Enter)
			c->Enter(0, r->time, 0, user, NULL, (OTF2_RegionRef)draw());
		else if (c->Leave)
			c->Leave(0, r->time, 0, user, NULL, (OTF2_RegionRef)draw());
		return;
	}
	if (what == GT_OTF2_Metric || what == GT_OTF2_ProgramBegin) {
		(what == GT_OTF2_Metric ? metric : program)(r);
		return;
	}
	switch ((enum gt_otf2_type)what) {
		GT_OTF2_EVENTS_ALL(EVENT_CASE)
	default:
		break;
	}
}

OTF2_ErrorCode OTF2_Reader_ReadLocalEvents(OTF2_Reader *r, OTF2_EvtReader *events, uint64_t most,
					   uint64_t *read)
{
	uint64_t what = 0;

	(void)events;
	for (*read = 0; *read < most && input < input_end && (what = draw()); ++*read) {
		r->time += draw();
		happen(r, what);
	}
	return what % 16 == 15 ? OTF2_ERROR_INTEGRITY_FAULT : OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_Reader_ReadAllMarkers(OTF2_Reader *r, OTF2_MarkerReader *markers, uint64_t *read)
{
	uint64_t what;

	(void)markers;
	for (*read = 0; *read < MOST && input < input_end && (what = draw()); ++*read) {
		if (what % 2)
			r->markers.DefMarker(r->marker_user, U32, text(), text(), U8);
		else
			r->markers.Marker(r->marker_user, draw(), draw(), U32, U8, draw(), text());
	}
	return OTF2_SUCCESS;
}

/* ---- what else is asked for -------------------------------------------------------------------- */

#define REGISTER(Kind, set, member)                                                                  \
	OTF2_ErrorCode OTF2_Reader_Register##Kind##Callbacks(                                       \
		OTF2_Reader *r, OTF2_##Kind##Reader *which, const OTF2_##Kind##ReaderCallbacks *c,  \
		void *user)                                                                         \
	{                                                                                           \
		(void)which;                                                                        \
		r->set = *c;                                                                        \
		r->member##_user = user;                                                            \
		return OTF2_SUCCESS;                                                                \
	}
REGISTER(GlobalDef, defs, def)
REGISTER(Evt, events, event)
REGISTER(Marker, markers, marker)
REGISTER(Def, locals, local)

#define NOTHING(name, ...)                                                                          \
	OTF2_ErrorCode OTF2_Reader_##name(OTF2_Reader *r __VA_ARGS__)                               \
	{                                                                                           \
		(void)r;                                                                            \
		return OTF2_SUCCESS;                                                                \
	}
NOTHING(SetSerialCollectiveCallbacks)
NOTHING(OpenDefFiles)
NOTHING(OpenEvtFiles)
NOTHING(SelectLocation, , OTF2_LocationRef location)

OTF2_Reader *OTF2_Reader_Open(const char *anchor)
{
	(void)anchor;
	return calloc(1, sizeof(OTF2_Reader));
}

OTF2_ErrorCode OTF2_Reader_Close(OTF2_Reader *r)
{
	free(r);
	return OTF2_SUCCESS;
}

const char *OTF2_Error_GetDescription(OTF2_ErrorCode code)
{
	(void)code;
	return "a reason";
}

OTF2_ErrorCallback OTF2_Error_RegisterCallback(OTF2_ErrorCallback callback, void *user)
{
	(void)callback, (void)user;
	return NULL;
}

#define READER(Kind, ...)                                                                           \
	OTF2_##Kind##Reader *OTF2_Reader_Get##Kind##Reader(OTF2_Reader *r __VA_ARGS__)              \
	{                                                                                           \
		return draw() % 16 == 15 ? NULL : (OTF2_##Kind##Reader *)r;                         \
	}                                                                                           \
	OTF2_ErrorCode OTF2_Reader_Close##Kind##Reader(OTF2_Reader *r, OTF2_##Kind##Reader *which)  \
	{                                                                                           \
		(void)r, (void)which;                                                               \
		return OTF2_SUCCESS;                                                                \
	}
READER(GlobalDef)
READER(Marker)
READER(Def, , OTF2_LocationRef location)
READER(Evt, , OTF2_LocationRef location)

#define NUMBER(Name, result)                                                                        \
	OTF2_ErrorCode OTF2_Reader_##Name(OTF2_Reader *r, uint64_t *number)                         \
	{                                                                                           \
		*number = result;                                                                   \
		return OTF2_SUCCESS;                                                                \
	}
NUMBER(GetNumberOfGlobalDefinitions, r->definitions)
NUMBER(GetNumberOfLocations, r ? draw() : 0)

OTF2_ErrorCode OTF2_Reader_GetChunkSize(OTF2_Reader *r, uint64_t *events, uint64_t *definitions)
{
	(void)r;
	*events = *definitions = draw();
	return OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_EvtReader_Seek(OTF2_EvtReader *reader, uint64_t position)
{
	(void)reader, (void)position;
	return OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_Reader_ReadAllLocalDefinitions(OTF2_Reader *r, OTF2_DefReader *which, uint64_t *read)
{
	(void)r, (void)which;
	*read = 0;
	return draw() % 16 == 15 ? OTF2_ERROR_INTEGRITY_FAULT : OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_Reader_GetPropertyNames(OTF2_Reader *r, uint32_t *count, char ***names)
{
	const char *name = text();

	(void)r;
	*count = name != NULL;
	*names = calloc(1, sizeof(char *) + 64);
	**names = (char *)(*names + 1);
	snprintf(**names, 64, "%s", name ? name : "");
	return OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_Reader_GetProperty(OTF2_Reader *r, const char *name, char **found)
{
	const char *is = text();

	(void)r, (void)name;
	*found = is ? strdup(is) : NULL;
	return OTF2_SUCCESS;
}

/* No file is what decode.c reads: fuzz_decode.c. */
OTF2_ErrorCode OTF2_Reader_GetCompression(OTF2_Reader *r, OTF2_Compression *compression)
{
	(void)r, (void)compression;
	return OTF2_ERROR_INVALID;
}

OTF2_ErrorCode OTF2_Reader_GetFileSubstrate(OTF2_Reader *r, OTF2_FileSubstrate *substrate)
{
	(void)r, (void)substrate;
	return OTF2_ERROR_INVALID;
}

OTF2_AttributeList *OTF2_AttributeList_New(void)
{
	return malloc(1);
}

OTF2_ErrorCode OTF2_AttributeList_Delete(OTF2_AttributeList *list)
{
	free(list);
	return OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_AttributeList_RemoveAllAttributes(OTF2_AttributeList *list)
{
	(void)list;
	return OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_AttributeList_AddAttribute(OTF2_AttributeList *list, OTF2_AttributeRef id, OTF2_Type type,
					       OTF2_AttributeValue is)
{
	(void)list, (void)id, (void)type, (void)is;
	return OTF2_SUCCESS;
}

uint32_t OTF2_AttributeList_GetNumberOfElements(const OTF2_AttributeList *list)
{
	(void)list;
	return draw() % 4 ? 0 : draw() % 8;
}

bool OTF2_AttributeList_TestAttributeByID(const OTF2_AttributeList *list, OTF2_AttributeRef id)
{
	(void)list, (void)id;
	return draw() % 2;
}

OTF2_ErrorCode OTF2_AttributeList_GetAttributeByID(const OTF2_AttributeList *list, OTF2_AttributeRef id,
						   OTF2_Type *type, OTF2_AttributeValue *is)
{
	(void)list, (void)id;
	*type = draw() % 2 ? OTF2_TYPE_UINT64 : (OTF2_Type)draw();
	*is = value();
	return OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_AttributeList_GetAttributeByIndex(const OTF2_AttributeList *list, uint32_t place,
						      OTF2_AttributeRef *id, OTF2_Type *type,
						      OTF2_AttributeValue *is)
{
	*id = (OTF2_AttributeRef)draw();
	return place > 6 ? OTF2_ERROR_INVALID_ARGUMENT
			 : OTF2_AttributeList_GetAttributeByID(list, *id, type, is);
}

int __wrap_stat(const char *path, struct stat *st)
{
	if (strncmp(path, "/traces", 7)) /* libFuzzer's */
		return __real_stat(path, st);
	*st = (struct stat){ .st_mode = draw() % 16 == 15 ? S_IFDIR : S_IFREG, .st_size = 1000 };
	return 0;
}

/* ---- an input ---------------------------------------------------------------------------------- */

static void forget(struct check *check)
{
	free(check->threads);
	free(check->clocks);
	free(check->life);
	free(check->left);
	free(check->met);
	free(check->failed);
	free(check->failed_later);
	for (int rule = 0; rule < RULES; rule++)
		free(check->broken[rule].example);
	pthread_mutex_destroy(&check->lock);
	free(check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check *check = calloc(1, sizeof(*check));
	FILE *out = fopen("/dev/null", "we");

	input = data;
	input_end = data + size;
	pthread_mutex_init(&check->lock, NULL);
	check->read = gt_otf2_open("/traces.otf2", &(struct gt_otf2_options){ .visitor = &check_visitor,
									      .user = check, .threads = 1 });
	if (!gt_otf2_definitions((struct gt_otf2 *)check->read)) {
		check_prepare(check);
		gt_otf2_events((struct gt_otf2 *)check->read);
		gt_otf2_markers((struct gt_otf2 *)check->read, NULL);
		check_pairs(check);
	}
	check_report(check, out, size % 2, false, false);
	((struct gt_otf2 *)check->read)->failed = false; /* the reader above can always be closed */
	gt_otf2_close((struct gt_otf2 *)check->read);
	forget(check);
	fclose(out);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does our own decoder of events (lib/read/decode.c) say the same as libotf2?
 *
 *	otf2same DIR...                   0 if so of all; each field, attribute and fault of each event counts
 *	otf2same --make SEED DIR          writes an archive with every kind of event, their fields at random
 *	otf2same --damage SEED TURNS DIR  damages an archive again and again: the same up to where one stops
 *
 * Limits: what libotf2 does not survive is not compared, and counted.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/read/guard.h"
#include "lib/read/read.h"

enum { CHUNK = 1 << 18, EVENTS = 12000, BYTES = 100000 };

/* ---- what is read ----------------------------------------------------------------------------- */

/* A sum for each event, of it and of all before it. */
struct seen {
	uint64_t *sums, sum, count, room;
};

struct side {
	struct seen *locations;
	uint64_t faults;
	bool read;
};

static void mix(struct seen *seen, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		seen->sum = (seen->sum ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void note(struct gt_otf2_cursor *at, unsigned type)
{
	struct seen *seen = &((struct side *)at->user)->locations[at->index];

	mix(seen, &type, sizeof(type));
	mix(seen, &at->ticks, sizeof(at->ticks));
	mix(seen, &at->time, sizeof(at->time));
	mix(seen, &at->event, sizeof(at->event));
	for (uint32_t i = 0; i < at->attribute_count; i++) {
		OTF2_AttributeValue value = { .uint64 = 0 };
		OTF2_Type of = OTF2_TYPE_NONE;
		uint32_t id = 0;

		gt_otf2_nth_attribute(at, i, &id, &of, &value);
		mix(seen, &id, sizeof(id));
		mix(seen, &of, sizeof(of));
		mix(seen, &value,
		    of == OTF2_TYPE_UINT8 || of == OTF2_TYPE_INT8     ? 1
		    : of == OTF2_TYPE_UINT16 || of == OTF2_TYPE_INT16 ? 2
		    : of == OTF2_TYPE_UINT64 || of == OTF2_TYPE_INT64 || of == OTF2_TYPE_DOUBLE ||
				    of == OTF2_TYPE_LOCATION || of == OTF2_TYPE_NONE ||
				    of > OTF2_TYPE_LOCATION_GROUP ? 8 : 4);
	}
}

static void done(struct gt_otf2_cursor *at)
{
	struct seen *seen = &((struct side *)at->user)->locations[at->index];

	if (seen->count == seen->room) {
		seen->room = seen->room ? 2 * seen->room : 1024;
		seen->sums = realloc(seen->sums, seen->room * sizeof(*seen->sums));
		if (!seen->sums)
			abort();
	}
	seen->sums[seen->count++] = seen->sum;
}

static void enter(struct gt_otf2_cursor *at)
{
	note(at, 1000);
	mix(&((struct side *)at->user)->locations[at->index], &at->stack[at->depth - 1].region->id, 8);
	done(at);
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	note(at, 1001);
	mix(&((struct side *)at->user)->locations[at->index], &frame->region->id, 8);
	done(at);
}

#define MIX_V(type, name)       mix(seen, &e->name, sizeof(e->name));
#define MIX_R(kind, type, name) mix(seen, &e->name, sizeof(e->name));
#define MIX_LIST(record)
#define MIX(record)                                                                  \
	static void mix_##record(struct seen *seen, const struct gt_otf2_##record *e) \
	{                                                                            \
		(void)seen, (void)e;                                                 \
		GT_OTF2_EVT_##record(MIX_V, MIX_R)                                   \
	}
GT_OTF2_EVENTS_OF(MIX, MIX_LIST)

static void mix_BufferFlush(struct seen *seen, const struct gt_otf2_BufferFlush *e)
{
	mix(seen, &e->stop, sizeof(e->stop));
}

static void mix_Metric(struct seen *seen, const struct gt_otf2_Metric *e)
{
	mix(seen, &e->metric, sizeof(e->metric));
	mix(seen, e->types, e->count * sizeof(*e->types));
	mix(seen, e->values, e->count * sizeof(*e->values));
}

static void mix_ProgramBegin(struct seen *seen, const struct gt_otf2_ProgramBegin *e)
{
	mix(seen, &e->name, sizeof(e->name));
	mix(seen, e->arguments, e->count * sizeof(*e->arguments));
}

static void event(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	struct seen *seen = &((struct side *)at->user)->locations[at->index];

	note(at, e->type);
	mix(seen, &e->undefined, 1);
	switch (e->type) {
#define MIX_CASE(record)                        \
	case GT_OTF2_##record:                  \
		mix_##record(seen, &e->record); \
		break;
		GT_OTF2_EVENTS_ALL(MIX_CASE)
	case GT_OTF2_TYPES:
		break;
	}
	done(at);
}

__attribute__((format(printf, 4, 0)))
static void fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault what, const char *format,
		  va_list args)
{
	char text[500];

	(void)user;
	if (!at || what == GT_OTF2_FILES)
		return;
	vsnprintf(text, sizeof(text), format, args);
	mix(&((struct side *)at->user)->locations[at->index], text, strlen(text));
}

static const struct gt_otf2_visitor visitor = { .enter = enter, .leave = leave, .event = event,
						.fault = fault };

static size_t read_side(const char *anchor, bool library, struct side *side)
{
	struct gt_otf2_options options = { .visitor = &visitor, .user = side, .threads = 1,
					   .by_libotf2 = library };
	struct gt_otf2 *read = gt_otf2_open(anchor, &options);
	size_t count = 0;

	if (!read || gt_otf2_definitions(read))
		return 0;
	count = read->tables[GT_OTF2_LOCATION].count;
	side->locations = calloc(count + 1, sizeof(*side->locations));
	side->read = !gt_otf2_events(read);
	return count;
}

/* Where they differ; 0: nowhere. `stops`: one of them may have stopped earlier. */
static uint64_t differ(const struct seen *a, const struct seen *b, bool stops)
{
	uint64_t least = a->count < b->count ? a->count : b->count;

	for (uint64_t i = 0; i < least; i++)
		if (a->sums[i] != b->sums[i])
			return i + 1;
	return a->count == b->count || stops ? 0 : least + 1;
}

static int compare(const char *dir, bool stops)
{
	struct side ours = { .read = false }, theirs = { .read = false };
	uint64_t events = 0, where;
	size_t count, others;
	char anchor[4000], spool[4000];

	if (gt_otf2_find_anchor(dir, anchor, sizeof(anchor), spool, sizeof(spool)))
		return 1;
	others = read_side(anchor, true, &theirs);
	count = read_side(anchor, false, &ours);
	if (count != others || (ours.read != theirs.read && !stops)) {
		printf("%s: %s by us, %s by libotf2\n", dir, ours.read ? "read" : "not read",
		       theirs.read ? "read" : "not read");
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		where = differ(&ours.locations[i], &theirs.locations[i],
			       stops && !(ours.read && theirs.read));
		events += ours.locations[i].count;
		if (where) {
			printf("%s: %zuth location: event %" PRIu64 " of %" PRIu64 " and %" PRIu64 "\n",
			       dir, i, where, ours.locations[i].count, theirs.locations[i].count);
			return 1;
		}
		free(ours.locations[i].sums);
		free(theirs.locations[i].sums);
	}
	if (!stops)
		printf("%s: the same %" PRIu64 " events\n", dir, events);
	return events || stops ? 0 : 1;
}

/* ---- what is written --------------------------------------------------------------------------- */

/* Of all lengths, and the two that are packed in one byte. */
static uint64_t draw(void)
{
	uint64_t number = (uint64_t)mrand48() << 32 ^ (uint32_t)mrand48();

	switch (lrand48() % 4) {
	case 0:
		return lrand48() % 5;
	case 1:
		return ~UINT64_C(0);
	default:
		return number >> lrand48() % 64;
	}
}

static OTF2_AttributeList *draw_attributes(OTF2_AttributeList *list)
{
	unsigned count = lrand48() % 3 ? 0 : (unsigned)(lrand48() % 40);

	for (unsigned i = 0; i < count; i++)
		OTF2_AttributeList_AddAttribute(list, i * 100,
						(OTF2_Type)(1 + lrand48() % OTF2_TYPE_LOCATION_GROUP),
						(OTF2_AttributeValue){ .uint64 = draw() });
	return count ? list : NULL;
}

static void write_Metric(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
	OTF2_MetricValue values[255];
	OTF2_Type types[255];
	uint8_t count = (uint8_t)(lrand48() % 256);

	for (unsigned i = 0; i < count; i++) {
		types[i] = lrand48() % 2 ? OTF2_TYPE_UINT64 : OTF2_TYPE_DOUBLE;
		values[i].unsigned_int = draw();
	}
	OTF2_EvtWriter_Metric(w, list, time, (OTF2_MetricRef)draw(), count, types, values);
}

static void write_ProgramBegin(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
	OTF2_StringRef arguments[300];
	uint32_t count = (uint32_t)(lrand48() % 300);

	for (unsigned i = 0; i < count; i++)
		arguments[i] = (OTF2_StringRef)draw();
	OTF2_EvtWriter_ProgramBegin(w, list, time, (OTF2_StringRef)draw(), count, arguments);
}

static void write_BufferFlush(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)
{
	OTF2_EvtWriter_BufferFlush(w, list, time, (uint64_t)draw());
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define OTF2_EvtWriter_Unknown(writer, attributes, time) OTF2_EvtWriter_Enter(writer, attributes, time, 0)
#define DRAW_V(type, name)       , (type)draw()
#define DRAW_R(kind, type, name) , (type)draw()
#define WRITE_LIST(record)
#define WRITE(record)                                                                            \
	static void write_##record(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time)   \
	{                                                                                        \
		OTF2_EvtWriter_##record(w, list, time GT_OTF2_EVT_##record(DRAW_V, DRAW_R));     \
	}
GT_OTF2_EVENTS_OF(WRITE, WRITE_LIST)

#define ADDRESS(record) write_##record,
static void (*const writers[])(OTF2_EvtWriter *w, OTF2_AttributeList *list, uint64_t time) = {
	GT_OTF2_EVENTS_ALL(ADDRESS) };

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool final)
{
	(void)user, (void)type, (void)location, (void)caller, (void)final;
	return OTF2_FLUSH;
}

static void write_events(OTF2_EvtWriter *w, OTF2_AttributeList *list, size_t kinds)
{
	uint64_t time = draw() >> 20;

	for (unsigned i = 0; i < EVENTS; i++) {
		uint32_t region = lrand48() % 4 ? (uint32_t)lrand48() % 3 : (uint32_t)draw();
		size_t kind = i < kinds ? i : (size_t)lrand48() % (2 * kinds);

		time += lrand48() % 3 ? (uint64_t)lrand48() % 1000 : 0;
		if (kind < kinds)
			writers[kind](w, draw_attributes(list), time);
		else if (kind & 1)
			OTF2_EvtWriter_Enter(w, draw_attributes(list), time, region);
		else
			OTF2_EvtWriter_Leave(w, draw_attributes(list), time, region);
	}
}

static int make(const char *dir)
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	OTF2_Archive *archive = OTF2_Archive_Open(dir, "traces", OTF2_FILEMODE_WRITE, CHUNK, 1 << 22,
						  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	OTF2_AttributeList *list = OTF2_AttributeList_New();
	OTF2_GlobalDefWriter *d;

	if (!archive)
		return 2;
	OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(archive);
	OTF2_Archive_OpenEvtFiles(archive);
	for (uint64_t location = 0; location < 2; location++) {
		OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, location);

		write_events(w, list, sizeof(writers) / sizeof(writers[0]));
		OTF2_Archive_CloseEvtWriter(archive, w);
	}
	OTF2_Archive_CloseEvtFiles(archive);
	d = OTF2_Archive_GetGlobalDefWriter(archive);
	OTF2_GlobalDefWriter_WriteClockProperties(d, 3000000007, 0, UINT64_MAX / 2, OTF2_UNDEFINED_TIMESTAMP);
	OTF2_GlobalDefWriter_WriteString(d, 0, "");
	OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	OTF2_GlobalDefWriter_WriteLocationGroup(d, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
						OTF2_UNDEFINED_LOCATION_GROUP);
	for (uint64_t location = 0; location < 2; location++)
		OTF2_GlobalDefWriter_WriteLocation(d, location, 0, OTF2_LOCATION_TYPE_CPU_THREAD, EVENTS, 0);
	for (uint32_t region = 0; region < 2; region++)
		OTF2_GlobalDefWriter_WriteRegion(d, region, 0, 0, 0, OTF2_REGION_ROLE_FUNCTION,
						 OTF2_PARADIGM_USER, 0, 0, 0, 0);
	OTF2_AttributeList_Delete(list);
	return OTF2_Archive_Close(archive) == OTF2_SUCCESS ? 0 : 1;
}

/* ---- damage ------------------------------------------------------------------------------------ */

static int damage(const char *dir, unsigned turns)
{
	static char good[BYTES], bad[BYTES];
	char path[4000];
	unsigned compared = 0, died = 0;
	FILE *file;
	size_t size;
	int status;

	snprintf(path, sizeof(path), "%s/traces/0.evt", dir);
	file = fopen(path, "r+");
	size = file ? fread(good, 1, sizeof(good), file) : 0;
	for (unsigned i = 0; i < turns && size; i++) {
		memcpy(bad, good, size);
		for (unsigned n = 1 + (unsigned)lrand48() % 3; n; n--)
			bad[(size_t)lrand48() % size] = (char)(lrand48() % (lrand48() % 3 ? 256 : 20));
		rewind(file);
		fwrite(bad, 1, size, file);
		fflush(file);
		fflush(stdout);
		if (fork() == 0) {
			alarm(10);
			_exit(compare(dir, true));
		}
		wait(&status);
		died += WIFSIGNALED(status);
		compared += WIFEXITED(status) && !WEXITSTATUS(status);
		if (WIFEXITED(status) && WEXITSTATUS(status)) {
			printf("turn %u\n", i);
			return 1;
		}
	}
	printf("%u the same, %u not survived\n", compared, died);
	return !compared;
}

int main(int argc, char **argv)
{
	int rc = argc < 2;

	if (argc > 3 && (!strcmp(argv[1], "--make") || !strcmp(argv[1], "--damage")))
		srand48(atol(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "--make"))
		return make(argv[3]);
	if (argc == 5 && !strcmp(argv[1], "--damage"))
		return damage(argv[4], (unsigned)atoi(argv[3]));
	for (int i = 1; i < argc; i++)
		rc |= compare(argv[i], false);
	return rc;
}

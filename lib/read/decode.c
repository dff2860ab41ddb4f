/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A decoder of OTF2's files of events, several times as fast as libotf2's, and without a byte read or written
 * where it should not be, whatever is in the file (doc/adr/0018-own-decoder-of-events.md).
 *
 * A file is a row of chunks of equal size; the last one may be shorter. The second byte of a chunk says which
 * order of bytes its numbers have.
 *
 *	chunk     3, 'B' (little endian) or '#', numbers of its first and last event (8 bytes each), records
 *	record    5, time (8 bytes): of all that follow
 *	          6, length, count, then for each attribute its id, its type (a byte) and its value
 *	          10 to 255: an event; those of `bare` have one number, the others a length and their fields
 *	          0: the chunk ends, what follows in it is unused; 2: the file ends
 *	length    a byte, or 255 and 8 bytes
 *	number    how many bytes follow (0: it is 0; 255: it is undefined, all ones), then these
 *
 * Fields of one byte, and time stamps, are not packed as numbers are.
 *
 * Limits: files that are big endian or of another make (compressed, SION), and locations with tables that
 * translate their numbers, or with clock offsets, are left to libotf2.
 */
#include "config.h"

#include "lib/read/calls.h"
#include "lib/read/visit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 18, LEAST_CHUNK = 1 << 10, MOST_CHUNK = 1 << 24, MOST_VALUES = 255 };
enum { CHUNK_ENDS, FILE_ENDS = 2, CHUNK, TIME = GT_OTF2_RECORD_TIME, ATTRIBUTES, BUFFER_FLUSH = 10,
       ENTER = GT_OTF2_RECORD_ENTER, LEAVE = GT_OTF2_RECORD_LEAVE };
/* More than the fields of any record without lists: they are read before it is known that they are there. */
enum { PADDING = 256 };

struct gt_otf2_decoder {
	union {
		struct gt_otf2_calls calls;
		struct {
			const unsigned char *at, *end; /* of what is read of the chunk */
			uint64_t time;
		};
	};
	bool bad; /* a number has too many bytes, a list is not what it should be */
	OTF2_AttributeList *attributes; /* of the next event */
	uint32_t attribute_count;
	OTF2_Type types[MOST_VALUES];
	OTF2_MetricValue values[MOST_VALUES];
	OTF2_StringRef *strings;
	size_t string_room;
	unsigned char *chunk;
	size_t chunk_room;
};

/* ---- fields --------------------------------------------------------------------------------------- */

static inline uint64_t take_whole(struct gt_otf2_decoder *d, size_t size)
{
	uint64_t value = gt_otf2_load(d->at);

	d->at += size;
	return size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

static inline uint64_t take_number(struct gt_otf2_decoder *d, size_t most)
{
	size_t size = *d->at++;

	if (size <= most)
		return size ? take_whole(d, size) : 0;
	d->bad |= size != 0xff;
	return ~UINT64_C(0);
}

static inline uint64_t take(struct gt_otf2_decoder *d, size_t size)
{
	return size == 1 ? *d->at++ : take_number(d, size);
}

/* False: there is less. */
static bool take_length(struct gt_otf2_decoder *d, const unsigned char **end)
{
	uint64_t length = *d->at++;

	if (length == 0xff)
		length = take_whole(d, 8);
	if (d->at > d->end || length > (uint64_t)(d->end - d->at))
		return false;
	*end = d->at + length;
	return true;
}

/* ---- events --------------------------------------------------------------------------------------- */

static void take_BufferFlush(struct gt_otf2_decoder *d, struct gt_otf2_BufferFlush *e)
{
	e->stop = take_whole(d, sizeof(e->stop));
}

static void take_Metric(struct gt_otf2_decoder *d, struct gt_otf2_Metric *e)
{
	e->metric = (OTF2_MetricRef)take(d, sizeof(e->metric));
	e->count = (uint8_t)take(d, sizeof(e->count));
	e->types = d->types;
	e->values = d->values;
	for (unsigned i = 0; i < e->count && !(d->bad |= d->at >= d->end); i++) {
		d->types[i] = (OTF2_Type)take(d, sizeof(d->types[i]));
		d->values[i].unsigned_int = take(d, sizeof(d->values[i]));
	}
}

static void take_ProgramBegin(struct gt_otf2_decoder *d, struct gt_otf2_ProgramBegin *e)
{
	e->name = (OTF2_StringRef)take(d, sizeof(e->name));
	e->count = (uint32_t)take(d, sizeof(e->count));
	d->bad |= d->at > d->end || e->count > (uint64_t)(d->end - d->at); /* each takes a byte at least */
	for (uint32_t i = 0; i < e->count && !d->bad; i++) {
		d->strings = gt_grown(d->strings, i, &d->string_room, sizeof(*d->strings));
		d->strings[i] = (OTF2_StringRef)take(d, sizeof(d->strings[i]));
		d->bad |= d->at > d->end;
	}
	e->arguments = d->strings;
}

#define TAKE_V(type, name)       e->name = (type)take(d, sizeof(type));
#define TAKE_R(kind, type, name) e->name = (type)take(d, sizeof(type));
#define TAKE(record)                                                                                \
	static inline void take_##record(struct gt_otf2_decoder *d, struct gt_otf2_##record *e)     \
	{                                                                                           \
		(void)d, (void)e;                                                                   \
		GT_OTF2_EVT_##record(TAKE_V, TAKE_R)                                                \
	}
#define TAKE_LIST(record)
GT_OTF2_EVENTS_OF(TAKE, TAKE_LIST)

/* The numbers of events in files are in the order of GT_OTF2_EVENTS_ALL, with Enter and Leave in between. */
static enum gt_otf2_type type_of(unsigned number)
{
	unsigned type = number < ENTER ? number - BUFFER_FLUSH + GT_OTF2_BufferFlush
				       : number - LEAVE - 1 + GT_OTF2_MpiSend;

	return number >= BUFFER_FLUSH && type < GT_OTF2_TYPES ? (enum gt_otf2_type)type : GT_OTF2_Unknown;
}

static bool bare(enum gt_otf2_type type)
{
	switch (type) {
	case GT_OTF2_MpiIsendComplete:
	case GT_OTF2_MpiIrecvRequest:
	case GT_OTF2_MpiRequestTest:
	case GT_OTF2_MpiRequestCancelled:
	case GT_OTF2_OmpFork:
	case GT_OTF2_OmpTaskCreate:
	case GT_OTF2_OmpTaskSwitch:
	case GT_OTF2_OmpTaskComplete:
		return true;
	default:
		return false;
	}
}

static void take_fields(struct gt_otf2_decoder *d, struct gt_otf2_event *event)
{
	switch (event->type) {
#define TAKE_CASE(record)                               \
	case GT_OTF2_##record:                          \
		take_##record(d, &event->record);       \
		break;
		GT_OTF2_EVENTS_ALL(TAKE_CASE)
	case GT_OTF2_TYPES:
		break;
	}
}

static void clear_attributes(struct gt_otf2_decoder *d)
{
	OTF2_AttributeList_RemoveAllAttributes(d->attributes);
	d->attribute_count = 0;
}

static const char *const damaged = "a record is not what its kind should be";

static const char *take_event(struct gt_otf2_decoder *d, struct gt_otf2_cursor *at, unsigned number)
{
	struct gt_otf2_event event = { .type = type_of(number) };
	const unsigned char *end = NULL;
	bool is_bare = bare(event.type);

	if (!is_bare && !take_length(d, &end))
		return damaged;
	take_fields(d, &event);
	if (is_bare)
		end = d->at;
	if (d->bad || d->at > end || end > d->end)
		return damaged;
	d->at = end; /* newer fields are behind those that are known */
	gt_otf2_step(at, d->time, d->attribute_count);
	gt_otf2_read_event(at, &event);
	if (d->attribute_count)
		clear_attributes(d);
	return NULL;
}

/* ---- attributes ----------------------------------------------------------------------------------- */

static OTF2_AttributeValue take_value(struct gt_otf2_decoder *d, OTF2_Type type)
{
	OTF2_AttributeValue value = { .uint64 = 0 };

	switch (type) {
	case OTF2_TYPE_UINT8:
	case OTF2_TYPE_INT8:
		value.uint64 = take_whole(d, 1);
		break;
	case OTF2_TYPE_UINT16:
	case OTF2_TYPE_INT16:
		value.uint16 = (uint16_t)take_whole(d, 2);
		break;
	case OTF2_TYPE_FLOAT:
		value.uint32 = (uint32_t)take_whole(d, 4);
		break;
	case OTF2_TYPE_DOUBLE:
		value.uint64 = take_whole(d, 8);
		break;
	case OTF2_TYPE_UINT32:
	case OTF2_TYPE_INT32:
		value.uint32 = (uint32_t)take_number(d, 4);
		break;
	case OTF2_TYPE_STRING ... OTF2_TYPE_ATTRIBUTE:
	case OTF2_TYPE_REGION ... OTF2_TYPE_LOCATION_GROUP: /* references of 32 bits */
		value.uint32 = (uint32_t)take_number(d, 4);
		break;
	default:
		value.uint64 = take_number(d, 8);
	}
	return value;
}

static const char *take_attributes(struct gt_otf2_decoder *d)
{
	const unsigned char *end;
	uint32_t count;

	if (!take_length(d, &end))
		return damaged;
	count = (uint32_t)take_number(d, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		OTF2_AttributeValue value;
		uint32_t id;
		OTF2_Type type;

		if (d->bad || d->at >= end)
			return damaged;
		id = (uint32_t)take_number(d, sizeof(id));
		type = (OTF2_Type)*d->at++;
		value = take_value(d, type);
		if (d->at > end ||
		    OTF2_AttributeList_AddAttribute(d->attributes, id, type, value) != OTF2_SUCCESS)
			return damaged;
		d->attribute_count++;
	}
	d->at = end;
	return d->bad ? damaged : NULL;
}

/* ---- chunks --------------------------------------------------------------------------------------- */

/*
 * Enters and leaves, which nearly all events are, with what is needed for them in registers. Ends before
 * another record, and after each if the visitor takes some itself. False: one is not what it should be.
 */
static bool take_calls(struct gt_otf2_decoder *d, struct gt_otf2_cursor *at)
{
	const unsigned char *behind, *end = d->end;
	uint64_t time = d->time;

	for (;; d->at = behind) {
		unsigned number;
		uint32_t id = 0;

		behind = gt_otf2_take_call(d->at, &time, &number, &id);
		if (!behind || behind > end)
			return (number & ~1U) != ENTER;
		d->time = time;
		gt_otf2_step(at, time, d->attribute_count);
		if (number == ENTER)
			gt_otf2_enter(at, id);
		else
			gt_otf2_leave(at, id);
		if (d->attribute_count)
			clear_attributes(d);
		if (!at->visitor->calls)
			continue;
		d->at = behind;
		at->visitor->calls(at, &d->calls);
		behind = d->at;
		time = d->time;
	}
}

/* Sets `number` to what ended the chunk. NULL, or what is wrong with it. */
static const char *take_records(struct gt_otf2_decoder *d, struct gt_otf2_cursor *at, unsigned *number)
{
	const char *why = NULL;

	while (!why) {
		if (!take_calls(d, at))
			return damaged;
		if (d->at >= d->end)
			return "it ends too early";
		if (*d->at == TIME) {
			d->time = gt_otf2_load(d->at + 1);
			d->at += 9;
		}
		*number = *d->at++;
		if (*number == ATTRIBUTES)
			why = take_attributes(d);
		else if (*number > ATTRIBUTES)
			why = take_event(d, at, *number);
		else
			return (*number == CHUNK_ENDS || *number == FILE_ENDS) && d->at <= d->end ? NULL
												  : damaged;
	}
	return why;
}

const char *gt_otf2_decode_chunk(struct gt_otf2_decoder *d, struct gt_otf2_cursor *at,
				 const unsigned char *chunk, size_t size, bool *last)
{
	const char *why;
	unsigned number;

	if (size <= HEADER || chunk[0] != CHUNK || chunk[1] != 'B')
		return "a chunk has no header";
	at->attributes = d->attributes;
	d->at = chunk + HEADER;
	d->end = chunk + size;
	why = take_records(d, at, &number);
	*last = !why && number == FILE_ENDS;
	return why;
}

/* ---- files ---------------------------------------------------------------------------------------- */

struct gt_otf2_decoder *gt_otf2_decoder_new(void)
{
	struct gt_otf2_decoder *d = calloc(1, sizeof(*d));

	if (!d || !(d->attributes = OTF2_AttributeList_New()))
		gt_no_memory();
	return d;
}

void gt_otf2_decoder_free(struct gt_otf2_decoder *d)
{
	OTF2_AttributeList_Delete(d->attributes);
	free(d->strings);
	free(d->chunk);
	free(d);
}

static size_t load_chunk(int fd, unsigned char *chunk, size_t size, off_t from)
{
	size_t all = 0;
	ssize_t got = 1;

	for (; all < size && got > 0; all += (size_t)got)
		got = pread(fd, chunk + all, size - all, from + (off_t)all);
	if (got < 0)
		all++;
	memset(chunk + all, 0, PADDING);
	return all;
}

static const char *decode_file(struct gt_otf2_decoder *d, struct gt_otf2_cursor *at, int fd, size_t chunk)
{
	const char *why = NULL;
	bool last = false;

	d->time = 0;
	d->bad = false;
	clear_attributes(d);
	for (off_t from = 0; !why && !last; from += (off_t)chunk) {
		size_t size = load_chunk(fd, d->chunk, chunk, from);

		gt_otf2_have_read(at->read, size);
		why = size ? gt_otf2_decode_chunk(d, at, d->chunk, size, &last) : "it ends too early";
	}
	return why;
}

/* The size of chunks, or 0 if the files are of another make. */
static size_t chunk_size(OTF2_Reader *reader)
{
	OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
	OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
	uint64_t chunk = 0, other;

	if (OTF2_Reader_GetChunkSize(reader, &chunk, &other) != OTF2_SUCCESS ||
	    OTF2_Reader_GetCompression(reader, &compression) != OTF2_SUCCESS ||
	    OTF2_Reader_GetFileSubstrate(reader, &substrate) != OTF2_SUCCESS)
		return 0;
	return compression == OTF2_COMPRESSION_NONE && substrate == OTF2_SUBSTRATE_POSIX &&
			       chunk >= LEAST_CHUNK && chunk <= MOST_CHUNK
		       ? (size_t)chunk : 0;
}

bool gt_otf2_decode(struct gt_otf2_decoder *d, OTF2_Reader *reader, struct gt_otf2_cursor *at,
		    const char **why)
{
	size_t chunk = chunk_size(reader);
	unsigned char header[2];
	int fd = chunk ? gt_otf2_open_file(at->read, at->location->id, "evt") : -1;
	bool ours = fd >= 0 && pread(fd, header, 2, 0) == 2 && header[0] == CHUNK && header[1] == 'B';

	if (ours && d->chunk_room < chunk + PADDING) {
		free(d->chunk);
		d->chunk_room = chunk + PADDING;
		d->chunk = gt_need(malloc(d->chunk_room));
	}
	if (ours)
		*why = decode_file(d, at, fd, chunk);
	if (fd >= 0)
		close(fd);
	return ours;
}

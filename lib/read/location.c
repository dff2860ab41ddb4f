/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One location: its own definitions, then its events, decoded by ourselves (decode.c) or by libotf2.
 *
 * Limits: see read.h.
 */
#include "config.h"

#include "lib/read/read_int.h"
#include "lib/read/visit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DONE OTF2_CALLBACK_SUCCESS

static OTF2_CallbackCode on_mapping(void *user, OTF2_MappingType type, const OTF2_IdMap *map)
{
	(void)type, (void)map;
	((struct gt_otf2_cursor *)user)->translated = true;
	return DONE;
}

static OTF2_CallbackCode on_offset(void *user, OTF2_TimeStamp time, int64_t offset, double deviation)
{
	(void)time, (void)offset, (void)deviation;
	((struct gt_otf2_cursor *)user)->translated = true;
	return DONE;
}

OTF2_DefReaderCallbacks *gt_otf2_local_callbacks(void)
{
	OTF2_DefReaderCallbacks *c = OTF2_DefReaderCallbacks_New();

	if (!c)
		gt_no_memory();
	OTF2_DefReaderCallbacks_SetMappingTableCallback(c, on_mapping);
	OTF2_DefReaderCallbacks_SetClockOffsetCallback(c, on_offset);
	return c;
}

/*
 * Is it a file of definitions without any, as nearly all of them are? libotf2 takes 4 MiB of memory to find
 * that out.
 */
static bool says_nothing(const struct gt_otf2 *read, uint64_t location, uint64_t size)
{
	/* the head of a chunk, and the end of the file */
	static const unsigned char empty[20] = { 3, 'B', 1, [18] = 2, 1 };
	unsigned char file[sizeof(empty)];
	bool same;
	int fd;

	if (size != sizeof(empty))
		return false;
	fd = gt_otf2_open_file(read, location, "def");
	if (fd < 0)
		return false;
	same = pread(fd, file, sizeof(file), 0) == (ssize_t)sizeof(file) &&
	       !memcmp(file, empty, sizeof(empty));
	close(fd);
	return same;
}

/* Tables that translate the numbers in its events, and the offsets of its clock. */
static bool read_local_definitions(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at)
{
	uint64_t size, n, id = at->location->id;
	OTF2_DefReader *one;
	bool ok;

	if (!gt_otf2_file(at->read, id, "def", &size) || says_nothing(at->read, id, size))
		return true;
	one = OTF2_Reader_GetDefReader(hand->reader, id);
	if (one)
		OTF2_Reader_RegisterDefCallbacks(hand->reader, one, hand->definitions, at);
	ok = one && OTF2_Reader_ReadAllLocalDefinitions(hand->reader, one, &n) == OTF2_SUCCESS;
	at->translated |= !ok;
	if (!ok)
		gt_otf2_unreadable(at->read, at, "def", "its definitions cannot be read: %s",
				   gt_otf2_complaint);
	if (one)
		OTF2_Reader_CloseDefReader(hand->reader, one);
	return ok;
}

/* The data after the last event are read and discarded: they must be the end of the file. */
static OTF2_ErrorCode read_end(OTF2_Reader *reader, OTF2_EvtReader *events)
{
	OTF2_EvtReaderCallbacks *none = OTF2_EvtReaderCallbacks_New();
	OTF2_ErrorCode rc;
	uint64_t n = 0;

	if (!none)
		gt_no_memory();
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

static const char *read_by_library(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at, uint64_t size)
{
	OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(hand->reader, at->location->id);
	OTF2_ErrorCode rc;

	if (!events)
		return gt_otf2_complaint;
	OTF2_Reader_RegisterEvtCallbacks(hand->reader, events, hand->callbacks, at);
	rc = read_all(hand->reader, events, at, size);
	gt_otf2_have_read(at->read, size);
	OTF2_Reader_CloseEvtReader(hand->reader, events);
	return rc == OTF2_SUCCESS ? NULL : OTF2_Error_GetDescription(rc);
}

static void read_events(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at)
{
	const char *why = NULL;
	uint64_t size;

	if (!gt_otf2_file(at->read, at->location->id, "evt", &size)) {
		gt_otf2_unreadable(at->read, at, "evt", "has no file of events");
		return;
	}
	if (at->translated || at->read->options.by_libotf2 ||
	    !gt_otf2_decode(hand->decoder, hand->reader, at, &why))
		why = read_by_library(hand, at, size);
	at->whole = !why;
	if (why)
		gt_otf2_unreadable(at->read, at, "evt", "the file of events cannot be read on: %s", why);
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

void gt_otf2_location(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at)
{
	bool local;

	at->whole = false;
	if (at->visitor->begin)
		at->visitor->begin(at);
	local = read_local_definitions(hand, at);
	read_events(hand, at);
	if (at->whole)
		look_at_end(at);
	at->whole = at->whole && local;
	if (at->visitor->end)
		at->visitor->end(at, at->whole);
	free(at->stack);
	at->stack = NULL;
}

/* ---- a part of a location ---------------------------------------------------------------------- */

static void begin_at(struct gt_otf2_cursor *at, const struct gt_otf2_place *from)
{
	at->event = from->event;
	at->ticks = from->ticks;
	at->time = from->event ? gt_otf2_ns(at->read, from->ticks) : 0;
	for (size_t i = 0; i < from->depth; i++) {
		at->stack = gt_grown(at->stack, at->depth, &at->room, sizeof(*at->stack));
		at->stack[at->depth] = from->stack[i];
		if (!at->stack[at->depth].region)
			at->stack[at->depth].region = &gt_otf2_unknown_region;
		at->depth++;
	}
}

/* By libotf2, which finds the chunk of an event by its number. */
static OTF2_ErrorCode read_until(OTF2_Reader *reader, OTF2_EvtReader *events, struct gt_otf2_cursor *at,
				 uint64_t most, uint64_t until)
{
	enum { STEP = 256 };
	OTF2_ErrorCode rc = OTF2_SUCCESS;
	uint64_t n = STEP, step = STEP;

	if (at->event && at->event < most)
		rc = OTF2_EvtReader_Seek(events, at->event + 1);
	for (; rc == OTF2_SUCCESS && n == step && at->event < most && at->time <= until;) {
		step = most - at->event < STEP ? most - at->event : STEP;
		rc = OTF2_Reader_ReadLocalEvents(reader, events, step, &n);
	}
	return rc;
}

static void read_part(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at, uint64_t until)
{
	OTF2_EvtReader *events;
	uint64_t size;

	if (!gt_otf2_file(at->read, at->location->id, "evt", &size))
		return;
	events = OTF2_Reader_GetEvtReader(hand->reader, at->location->id);
	if (!events)
		return;
	OTF2_Reader_RegisterEvtCallbacks(hand->reader, events, hand->callbacks, at);
	at->whole = read_until(hand->reader, events, at, most_events(hand->reader, at, size), until) ==
		    OTF2_SUCCESS;
	OTF2_Reader_CloseEvtReader(hand->reader, events);
}

void gt_otf2_location_part(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at,
			   const struct gt_otf2_place *from, uint64_t until)
{
	bool local;

	at->whole = false;
	begin_at(at, from);
	if (at->visitor->begin)
		at->visitor->begin(at);
	local = read_local_definitions(hand, at);
	read_part(hand, at, until);
	at->whole = at->whole && local;
	if (at->visitor->end)
		at->visitor->end(at, at->whole);
	free(at->stack);
	at->stack = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the events of an OTF2 archive, whichever tool wrote it, so that a benchmark cannot pass
 * off a tool that recorded nothing as a fast one. usage: count ANCHOR
 * Prints: locations=.. enter=.. leave=.. other=..
 *
 * Limits: reads each location by itself and never looks at names.
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

struct archive {
	OTF2_LocationRef *locations;
	size_t used, room;
	uint64_t enter, leave, other;
};

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef group)
{
	struct archive *a = data;

	(void)name;
	(void)type;
	(void)events;
	(void)group;
	if (a->used == a->room) {
		a->room = a->room ? 2 * a->room : 64;
		a->locations = realloc(a->locations, a->room * sizeof(*a->locations));
		if (!a->locations)
			return OTF2_CALLBACK_INTERRUPT;
	}
	a->locations[a->used++] = self;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
				  void *data, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	(void)location;
	(void)time;
	(void)at;
	(void)list;
	(void)region;
	((struct archive *)data)->enter++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
				  void *data, OTF2_AttributeList *list, OTF2_RegionRef region)
{
	(void)location;
	(void)time;
	(void)at;
	(void)list;
	(void)region;
	((struct archive *)data)->leave++;
	return OTF2_CALLBACK_SUCCESS;
}

static bool read_definitions(OTF2_Reader *reader, struct archive *a)
{
	OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_ErrorCode rc;
	uint64_t count;

	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, on_location);
	OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, calls, a);
	OTF2_GlobalDefReaderCallbacks_Delete(calls);
	rc = OTF2_Reader_ReadAllGlobalDefinitions(reader, defs, &count);
	OTF2_Reader_CloseGlobalDefReader(reader, defs);
	return rc == OTF2_SUCCESS;
}

static bool read_events(OTF2_Reader *reader, struct archive *a)
{
	OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New();

	OTF2_EvtReaderCallbacks_SetEnterCallback(calls, on_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, on_leave);
	for (size_t i = 0; i < a->used; i++)
		OTF2_Reader_SelectLocation(reader, a->locations[i]);
	if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS)
		return false;
	for (size_t i = 0; i < a->used; i++) {
		OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, a->locations[i]);
		uint64_t count = 0;

		if (!events)
			continue;
		OTF2_Reader_RegisterEvtCallbacks(reader, events, calls, a);
		if (OTF2_Reader_ReadAllLocalEvents(reader, events, &count) != OTF2_SUCCESS)
			return false;
		a->other += count;
		OTF2_Reader_CloseEvtReader(reader, events);
	}
	OTF2_EvtReaderCallbacks_Delete(calls);
	OTF2_Reader_CloseEvtFiles(reader);
	a->other -= a->enter + a->leave;
	return true;
}

int main(int argc, char **argv)
{
	struct archive a = { 0 };
	OTF2_Reader *reader = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;
	uint64_t locations = 0;

	if (!reader)
		return 2;
	OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	OTF2_Reader_GetNumberOfLocations(reader, &locations);
	if (!read_definitions(reader, &a) || !read_events(reader, &a)) {
		fprintf(stderr, "count: %s cannot be read to its end\n", argv[1]);
		return 1;
	}
	printf("locations=%" PRIu64 " enter=%" PRIu64 " leave=%" PRIu64 " other=%" PRIu64 "\n",
	       locations, a.enter, a.leave, a.other);
	OTF2_Reader_Close(reader);
	free(a.locations);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The markers of an archive: defined, inside the range of the clock, at something that exists.
 *
 * Limits: the text of a marker may be anything.
 */
#include "config.h"
#include "tools/check.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define ARCHIVE (~UINT64_C(0))
#define DONE    OTF2_CALLBACK_SUCCESS

struct marker_state {
	struct check *check;
	bool defined[256];
	size_t n;
};

static OTF2_CallbackCode on_marker_definition(void *data, OTF2_MarkerRef self, const char *group,
					      const char *category, OTF2_MarkerSeverity severity)
{
	struct marker_state *m = data;

	(void)group, (void)category, (void)severity;
	if (self < 256)
		m->defined[self] = true;
	return DONE;
}

static OTF2_CallbackCode on_marker(void *data, OTF2_TimeStamp time, OTF2_TimeStamp duration,
				   OTF2_MarkerRef marker, OTF2_MarkerScope scope, uint64_t scope_id,
				   const char *text)
{
	struct marker_state *m = data;
	struct check *check = m->check;
	bool fine = true;

	(void)text;
	m->n++;
	if (marker < 256 && !m->defined[marker])
		check_broken(check, RULE_MARKERS, ARCHIVE, NO_EVENT, 0,
			     "marker %zu is of kind %u, which is not defined", m->n, marker);
	if (time < check->begin || time > check->end || duration > check->end - time)
		check_broken(check, RULE_MARKERS, ARCHIVE, NO_EVENT, 0,
			     "marker %zu lies at tick %" PRIu64 ", outside the range of the clock",
			     m->n, time);
	if (scope == OTF2_MARKER_SCOPE_LOCATION)
		fine = check_defined(check, KIND_LOCATION, scope_id);
	else if (scope == OTF2_MARKER_SCOPE_LOCATION_GROUP)
		fine = check_defined(check, KIND_LOCATION_GROUP, scope_id);
	else if (scope == OTF2_MARKER_SCOPE_SYSTEM_TREE_NODE)
		fine = check_defined(check, KIND_NODE, scope_id);
	if (!fine)
		check_broken(check, RULE_MARKERS, ARCHIVE, NO_EVENT, 0,
			     "marker %zu belongs to something that is not defined", m->n);
	return DONE;
}

void check_markers(struct check *check)
{
	struct marker_state m = {.check = check};
	char path[sizeof(check->anchor) + 16];
	OTF2_MarkerReaderCallbacks *callbacks;
	OTF2_MarkerReader *reader;
	OTF2_ErrorCode rc;
	struct stat st;
	uint64_t read;

	snprintf(path, sizeof(path), "%.*s.marker",
		 (int)(strrchr(check->anchor, '.') - check->anchor), check->anchor);
	if (stat(path, &st))
		return; /* without markers there is no file */
	reader = OTF2_Reader_GetMarkerReader(check->reader);
	callbacks = OTF2_MarkerReaderCallbacks_New();
	if (!reader || !callbacks) {
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0, "the markers: %s",
			     check->library);
		return;
	}
	OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, on_marker_definition);
	OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
	OTF2_Reader_RegisterMarkerCallbacks(check->reader, reader, callbacks, &m);
	rc = OTF2_Reader_ReadAllMarkers(check->reader, reader, &read);
	if (rc != OTF2_SUCCESS)
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0, "the markers: %s",
			     OTF2_Error_GetDescription(rc));
	OTF2_MarkerReaderCallbacks_Delete(callbacks);
	OTF2_Reader_CloseMarkerReader(check->reader, reader);
}

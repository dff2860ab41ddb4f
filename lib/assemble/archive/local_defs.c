/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions of single locations; see local_defs.h.
 */
#include "config.h"

#include "lib/assemble/archive/local_defs.h"

#include "lib/assemble/archive/archive_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct gt_local_defs {
	OTF2_IdMap *maps[GT_MAPS];
};

static bool changes_nothing(const uint32_t *map, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (map[i] != i)
			return false;
	return true;
}

struct gt_local_defs *gt_local_defs_new(uint32_t *const maps[GT_MAPS], const uint32_t counts[GT_MAPS])
{
	struct gt_local_defs *local = calloc(1, sizeof(*local));

	for (unsigned i = 0; local && i < GT_MAPS; i++) {
		if (!maps[i] || changes_nothing(maps[i], counts[i]))
			continue;
		local->maps[i] = OTF2_IdMap_CreateFromUint32Array(counts[i], maps[i], true);
		if (!local->maps[i]) {
			gt_local_defs_free(local);
			return NULL;
		}
	}
	return local;
}

void gt_local_defs_free(struct gt_local_defs *local)
{
	for (unsigned i = 0; local && i < GT_MAPS; i++)
		if (local->maps[i])
			OTF2_IdMap_Free(local->maps[i]);
	free(local);
}

/* A second name for a location's definitions. False: there can be none. */
static bool same_defs(const struct gt_archive *archive, uint32_t from, uint32_t to)
{
	int dir = archive->options.dirfd;
	char source[32], target[32];

	snprintf(source, sizeof(source), "traces/%u.def", from);
	snprintf(target, sizeof(target), "traces/%u.def", to);
	return !linkat(dir, source, dir, target, 0);
}

void gt_local_defs_write(struct gt_archive *archive, const struct gt_local_defs *local,
			 uint32_t number, uint32_t same, const struct gt_offset *offsets,
			 size_t n, double deviation)
{
	static const OTF2_MappingType types[GT_MAPS] = {
		[GT_MAP_STRING] = OTF2_MAPPING_STRING,
		[GT_MAP_ATTRIBUTE] = OTF2_MAPPING_ATTRIBUTE,
		[GT_MAP_REGION] = OTF2_MAPPING_REGION,
		[GT_MAP_COMM] = OTF2_MAPPING_COMM,
		[GT_MAP_METRIC] = OTF2_MAPPING_METRIC,
		[GT_MAP_PARAMETER] = OTF2_MAPPING_PARAMETER,
		[GT_MAP_WINDOW] = OTF2_MAPPING_RMA_WIN,
		[GT_MAP_FILE] = OTF2_MAPPING_IO_FILE,
		[GT_MAP_HANDLE] = OTF2_MAPPING_IO_HANDLE,
		[GT_MAP_CONTEXT] = OTF2_MAPPING_CALLING_CONTEXT,
		[GT_MAP_GENERATOR] = OTF2_MAPPING_INTERRUPT_GENERATOR,
	};
	OTF2_DefWriter *defs;
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	if (gt_archive_bad(archive) || (same != GT_UNDEFINED && same_defs(archive, same, number)))
		return;
	defs = OTF2_Archive_GetDefWriter(archive->otf2, number);
	if (!defs) {
		gt_archive_fail(archive, "OTF2 cannot make a definition writer");
		return;
	}
	for (unsigned i = 0; local && rc == OTF2_SUCCESS && i < GT_MAPS; i++)
		if (local->maps[i])
			rc = OTF2_DefWriter_WriteMappingTable(defs, types[i], local->maps[i]);
	for (size_t i = 0; rc == OTF2_SUCCESS && i < n; i++)
		rc = OTF2_DefWriter_WriteClockOffset(defs, offsets[i].ns, offsets[i].offset,
						     deviation);
	if (!gt_otf2_bad(archive, rc, "mapping tables"))
		gt_otf2_bad(archive, OTF2_Archive_CloseDefWriter(archive->otf2, defs),
			    "closing a definition file");
}

/*
 * Event files hold global ids: nothing is to be said, but readers look for the file. Where there are
 * many, one file has many names: to make one costs much more, up to milliseconds on some disks.
 */
void gt_local_defs_none(struct gt_archive *archive, uint32_t number)
{
	OTF2_DefWriter *defs;

	if (archive->empty_defs && archive->options.locations > GT_ARCHIVE_MANY &&
	    same_defs(archive, archive->empty_defs - 1, number))
		return;
	archive->empty_defs = number + 1;
	defs = OTF2_Archive_GetDefWriter(archive->otf2, number);
	if (!defs)
		gt_archive_fail(archive, "OTF2 cannot make a definition writer");
	else
		gt_otf2_bad(archive, OTF2_Archive_CloseDefWriter(archive->otf2, defs),
			    "closing a definition file");
}

void gt_archive_empty(struct gt_archive *archive, uint32_t number)
{
	OTF2_EvtWriter *writer = gt_archive_bad(archive)
					 ? NULL
					 : OTF2_Archive_GetEvtWriter(archive->otf2, number);

	if (writer)
		gt_otf2_bad(archive, OTF2_Archive_CloseEvtWriter(archive->otf2, writer),
			    "closing an event file");
	else
		gt_archive_fail(archive, "OTF2 cannot make an event writer");
}

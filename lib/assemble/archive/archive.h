/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OTF2 archive that is being written: opening, space, memory, markers, closing.
 *
 * libotf2 3.0.2 crashes when a write fails (reliability.md): so space is reserved before it writes,
 * and after its first error it is never called again; the archive is then leaked, not closed.
 *
 * Limits: one archive at a time in a process (libotf2's error callback is global).
 */
#ifndef GT_ASSEMBLE_ARCHIVE_ARCHIVE_H
#define GT_ASSEMBLE_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/assemble/clock/clock.h"
#include "lib/assemble/defs/defs.h"
#include "lib/assemble/defs/layout.h"

struct gt_archive;
struct gt_writer;

/*
 * Called when the disk is full: shall free space that is not needed any more. Returns true if it
 * did, and the reservation is tried again.
 */
typedef bool gt_archive_make_room(void *context, uint64_t bytes);

/*
 * The whole archive; or a part of it: events and markers only, with numbers of its own (partial.h); or the
 * archive of several parts, whose events are there already.
 */
enum gt_archive_mode { GT_ARCHIVE_WHOLE, GT_ARCHIVE_PART, GT_ARCHIVE_JOINED };

struct gt_archive_options {
	enum gt_archive_mode mode;
	int dirfd;                 /* an empty folder */
	bool late_defs;            /* locations' definitions come when all events are converted */
	uint32_t locations;        /* how many event files there will be */
	unsigned threads;          /* that write at the same time */
	uint64_t bytes;            /* most that all event files together can take */
	gt_archive_make_room *make_room;
	void *context;
};

/* NULL and a sentence in `why` on failure. */
struct gt_archive *gt_archive_open(const struct gt_archive_options *options, char *why,
				   size_t why_size);

/* A property of the archive; `name` is KEY in capitals, the prefix GPUTRACE:: is added. */
void gt_archive_property(struct gt_archive *archive, const char *name, const char *value);

/* Has something gone wrong for good? Then `why` (may be NULL) gets the first reason. */
bool gt_archive_failed(struct gt_archive *archive, char *why, size_t why_size);

/* Gives up, with a reason. */
void gt_archive_fail(struct gt_archive *archive, const char *why);

/* Makes sure that `bytes` for the definitions can be written at the end. False: the disk is full. */
bool gt_archive_reserve_defs(struct gt_archive *archive, uint64_t bytes);

/* A marker at a time on a location (group: on its process). The text may be any bytes. */
void gt_archive_marker(struct gt_archive *archive, struct gt_defs *defs,
		       const struct gt_marker_def *marker, uint64_t ns, uint32_t scope, bool group,
		       const char *text);

/* Is there so much room on the disk, beside what is set aside for the definitions? */
bool gt_archive_has_room(struct gt_archive *archive, uint64_t bytes);

/* The file of a part's markers: records of this head and a text. */
#define GT_MARKERS_NAME "markers"
struct gt_marker_head {
	uint64_t ns;
	uint32_t marker, scope, group, length;
};

/* Leaves a failed archive as it is. Its files are incomplete. */
void gt_archive_abandon(struct gt_archive *archive);

#endif

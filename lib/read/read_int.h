/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the reader's files.
 *
 * Limits: for lib/read only. libotf2 has one error callback for a process: its last complaint is kept for
 * each thread.
 */
#ifndef GT_OTF2_INT_H
#define GT_OTF2_INT_H

#include "lib/assemble/util/memory.h"
#include "lib/read/read.h"

extern _Thread_local char gt_otf2_complaint[256]; /* what libotf2 said last in this thread */

/* Memory of definitions. */
struct gt_otf2_block {
	struct gt_otf2_block *next;
	size_t used, room;
	max_align_t data[];
};

/* Keeps what libotf2 says, in place of letting it print that. */
void gt_otf2_listen(void);

/* Reports a fault. */
void gt_otf2_report(const struct gt_otf2 *read, struct gt_otf2_cursor *at, enum gt_otf2_fault fault,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same of a file, traces/<location>.<suffix> or traces.<suffix>: GT_OTF2_FILES. */
void gt_otf2_unreadable(const struct gt_otf2 *read, struct gt_otf2_cursor *at, const char *suffix,
			const char *format, ...) __attribute__((format(printf, 4, 5)));
struct gt_otf2_unread *gt_otf2_unread_new(void);
/* Says in one sentence which files of events could not be read, if somebody wants to know. */
void gt_otf2_say_unread(const struct gt_otf2 *read);

/* The property that was added last becomes the last one of its owner. Ends the process without memory. */
void gt_otf2_owned(struct gt_otf2 *read);

/* Memory that lives as long as `read`. Ends the process without. */
void *gt_otf2_keep(struct gt_otf2 *read, size_t bytes);

/* An OTF2_Reader of its own for the archive, or NULL. */
OTF2_Reader *gt_otf2_reader(const struct gt_otf2 *read);

/* Says whether traces/<location>.<suffix> or, without a location, traces.<suffix> is there, and its size. */
bool gt_otf2_file(const struct gt_otf2 *read, uint64_t location, const char *suffix, uint64_t *size);

/* Before events are read. */
void gt_otf2_count_bytes(struct gt_otf2 *read);
/* So many more bytes of events have been read. */
void gt_otf2_have_read(const struct gt_otf2 *read, uint64_t bytes);
/* Opens such a file; -1: it cannot be. */
int gt_otf2_open_file(const struct gt_otf2 *read, uint64_t location, const char *suffix);

/*
 * How many events a location's file of `size` bytes has, as the header of its last chunk says;
 * GT_OTF2_NOTHING: it does not say.
 */
uint64_t gt_otf2_events_in_file(const struct gt_otf2 *read, OTF2_Reader *reader, uint64_t location,
				uint64_t size);

/* The decoder of a thread (decode.c). Aborts without memory. */
struct gt_otf2_decoder *gt_otf2_decoder_new(void);
void gt_otf2_decoder_free(struct gt_otf2_decoder *decoder);
/*
 * Reads the events of a location that has no tables of its own. False: its file is not of the common make,
 * and nothing was read; else *why is NULL, or what is wrong.
 */
bool gt_otf2_decode(struct gt_otf2_decoder *decoder, OTF2_Reader *reader, struct gt_otf2_cursor *at,
		    const char **why);
/* One chunk, followed by 256 bytes that may be read. `last`: it says that the file ends. */
const char *gt_otf2_decode_chunk(struct gt_otf2_decoder *decoder, struct gt_otf2_cursor *at,
				 const unsigned char *chunk, size_t size, bool *last);

/* How a thread reads: by itself, or by libotf2 with callbacks. */
struct gt_otf2_hand {
	OTF2_Reader *reader;
	OTF2_EvtReaderCallbacks *callbacks;   /* gt_otf2_callbacks() */
	OTF2_DefReaderCallbacks *definitions; /* gt_otf2_local_callbacks() */
	struct gt_otf2_decoder *decoder;
};

OTF2_EvtReaderCallbacks *gt_otf2_callbacks(void);
OTF2_DefReaderCallbacks *gt_otf2_local_callbacks(void);
/* Reads one location to the end; frees nothing but its stack. */
void gt_otf2_location(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at);
/* The same from a place on, until a time. */
void gt_otf2_location_part(struct gt_otf2_hand *hand, struct gt_otf2_cursor *at,
			   const struct gt_otf2_place *from, uint64_t until);

#endif

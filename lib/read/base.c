/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the reader stand on: memory, files, and what libotf2 complains of.
 *
 * Limits: see read_int.h.
 */
#include "config.h"

#include "lib/read/read_int.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local char gt_otf2_complaint[256];

static OTF2_ErrorCode on_error(void *user, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *format, va_list args)
{
	int n = snprintf(gt_otf2_complaint, sizeof(gt_otf2_complaint), "%s", OTF2_Error_GetDescription(code));

	(void)user, (void)file, (void)line, (void)function;
	if (format && *format && n >= 0 && (size_t)n + 3 < sizeof(gt_otf2_complaint)) {
		strcat(gt_otf2_complaint, ": ");
		n += 2;
		vsnprintf(gt_otf2_complaint + n, sizeof(gt_otf2_complaint) - (size_t)n, format, args);
	}
	return code;
}

void gt_otf2_listen(void)
{
	OTF2_Error_RegisterCallback(on_error, NULL);
	*gt_otf2_complaint = '\0';
}

/* Only one thread can see the first one, but for the rest nobody asks. */
static void say(const char *command, const char *format, va_list args)
{
	static bool said;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	flockfile(stderr);
	fprintf(stderr, "%s: the archive cannot be read: ", command);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void gt_otf2_report(const struct gt_otf2 *read, struct gt_otf2_cursor *at, enum gt_otf2_fault fault,
		    const char *format, ...)
{
	va_list args;

	if (fault == GT_OTF2_FILES && read->options.command) {
		va_start(args, format);
		say(read->options.command, format, args);
		va_end(args);
	}
	if (!read->options.visitor->fault)
		return;
	va_start(args, format);
	read->options.visitor->fault(read->options.user, at, fault, format, args);
	va_end(args);
}

/* ---- files ------------------------------------------------------------------------------------- */

enum { PATH_SIZE = sizeof(((struct gt_otf2 *)0)->anchor) + 64 };

static const char *path_of(const struct gt_otf2 *read, uint64_t location, const char *suffix,
			   char path[PATH_SIZE])
{
	const char *dot = strrchr(read->anchor, '.');
	int length = (int)(dot ? dot - read->anchor : 0);

	if (location == GT_OTF2_NOTHING)
		snprintf(path, PATH_SIZE, "%.*s.%s", length, read->anchor, suffix);
	else
		snprintf(path, PATH_SIZE, "%.*s/%" PRIu64 ".%s", length, read->anchor, location, suffix);
	return path;
}

bool gt_otf2_file(const struct gt_otf2 *read, uint64_t location, const char *suffix, uint64_t *size)
{
	char path[PATH_SIZE];
	struct stat st;

	if (stat(path_of(read, location, suffix, path), &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

int gt_otf2_open_file(const struct gt_otf2 *read, uint64_t location, const char *suffix)
{
	char path[PATH_SIZE];

	return open(path_of(read, location, suffix, path), O_RDONLY | O_CLOEXEC);
}

/* A chunk begins with 3, 'B' or '#' (little or big endian), and the numbers of its first and last event. */
static uint64_t last_event(const unsigned char header[18])
{
	uint64_t last;

	memcpy(&last, header + 10, sizeof(last));
	if (header[0] != 3)
		return GT_OTF2_NOTHING;
	return header[1] == 'B' ? le64toh(last) : header[1] == '#' ? be64toh(last) : GT_OTF2_NOTHING;
}

uint64_t gt_otf2_events_in_file(const struct gt_otf2 *read, OTF2_Reader *reader, uint64_t location,
				uint64_t size)
{
	unsigned char header[18] = { 0 };
	uint64_t chunk = 0, other;
	ssize_t got;
	int fd;

	if (OTF2_Reader_GetChunkSize(reader, &chunk, &other) != OTF2_SUCCESS || !chunk || !size)
		return GT_OTF2_NOTHING;
	fd = gt_otf2_open_file(read, location, "evt");
	got = pread(fd, header, sizeof(header), (off_t)((size - 1) / chunk * chunk));
	close(fd);
	return got == sizeof(header) ? last_event(header) : GT_OTF2_NOTHING;
}

OTF2_Reader *gt_otf2_reader(const struct gt_otf2 *read)
{
	OTF2_Reader *reader = OTF2_Reader_Open(read->anchor);

	if (reader)
		OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	return reader;
}

/* ---- progress ---------------------------------------------------------------------------------- */

static void (*show_progress)(uint64_t done, uint64_t all);

void gt_otf2_show_progress(void (*show)(uint64_t done, uint64_t all))
{
	show_progress = show;
}

void gt_otf2_count_bytes(struct gt_otf2 *read)
{
	uint64_t size;

	read->done = read->bytes = 0;
	for (size_t i = 0; show_progress && i < read->tables[GT_OTF2_LOCATION].count; i++)
		if (gt_otf2_file(read, gt_otf2_location_at(read, i)->id, "evt", &size))
			read->bytes += size;
}

void gt_otf2_have_read(const struct gt_otf2 *read, uint64_t bytes)
{
	uint64_t *done = (uint64_t *)(uintptr_t)&read->done; /* the only thing that threads change */

	if (show_progress && read->bytes)
		show_progress(__atomic_add_fetch(done, bytes, __ATOMIC_RELAXED), read->bytes);
}

/* ---- memory ----------------------------------------------------------------------------------- */

void *gt_otf2_keep(struct gt_otf2 *read, size_t bytes)
{
	enum { LEAST = 1 << 16 };
	struct gt_otf2_block *block = read->blocks;
	void *place;

	bytes = (bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	if (!block || block->room - block->used < bytes) {
		size_t room = bytes > LEAST ? bytes : LEAST;

		block = malloc(sizeof(*block) + room);
		if (!block)
			abort();
		*block = (struct gt_otf2_block){ .next = read->blocks, .room = room };
		read->blocks = block;
	}
	place = (char *)block->data + block->used;
	block->used += bytes;
	return place;
}

void *gt_otf2_grow(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 64;
	items = realloc(items, *room * size);
	if (!items)
		abort();
	return items;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The basis of the reader: memory, files, and libotf2's error messages.
 *
 * Limits: see read_int.h.
 */
#include "config.h"

#include "lib/read/read_int.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local char gt_otf2_complaint[256];

__attribute__((format(printf, 6, 0)))
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

void gt_otf2_report(const struct gt_otf2 *read, struct gt_otf2_cursor *at, enum gt_otf2_fault fault,
		    const char *format, ...)
{
	va_list args;

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

	return open(path_of(read, location, suffix, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* ---- files that cannot be read ----------------------------------------------------------------- */

/* What is said of them; by the threads that read, one at a time. */
struct gt_otf2_unread {
	uint64_t files;
	bool events;     /* of events */
	size_t location; /* by its index, the first one */
	char text[PATH_SIZE + 1024];
};

/* Names are anybody's: no control characters, of ASCII or (in UTF-8) of ISO 8859, for a terminal. */
static void make_harmless(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			*c = '?';
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			c[0] = c[1] = '?';
}

/* "traces/0.evt, location 0 "main" of "MPI Rank 0", after 17 events" */
static size_t put_place(const struct gt_otf2 *read, const struct gt_otf2_cursor *at, const char *suffix,
			char *text, size_t size)
{
	const struct gt_otf2_location_group *group;
	char path[PATH_SIZE];
	size_t n;

	path_of(read, at ? at->location->id : GT_OTF2_NOTHING, suffix, path);
	n = (size_t)snprintf(text, size, "%s", path);
	if (!at)
		return n;
	group = gt_otf2_find_location_group(read, at->location->group);
	n += (size_t)snprintf(text + n, size - n, ", location %" PRIu64 " \"%.200s\" of \"%.200s\"",
			      at->location->id, at->location->name, group ? group->name : "?");
	if (at->event)
		n += (size_t)snprintf(text + n, size - n, ", after %" PRIu64 " events", at->event);
	return n;
}

__attribute__((format(printf, 4, 0)))
static void note(const struct gt_otf2 *read, const struct gt_otf2_cursor *at, const char *suffix,
		 const char *format, va_list args)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct gt_otf2_unread *unread = read->unread;
	size_t n, location = at ? at->index : 0;

	pthread_mutex_lock(&lock);
	unread->events = at;
	if (!unread->files++ || location < unread->location) {
		unread->location = location;
		n = put_place(read, at, suffix, unread->text, sizeof(unread->text));
		n += (size_t)snprintf(unread->text + n, sizeof(unread->text) - n, ": ");
		vsnprintf(unread->text + n, sizeof(unread->text) - n, format, args);
		make_harmless(unread->text);
	}
	pthread_mutex_unlock(&lock);
}

void gt_otf2_unreadable(const struct gt_otf2 *read, struct gt_otf2_cursor *at, const char *suffix,
			const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note(read, at, suffix, format, args);
	va_end(args);
	if (!at)
		gt_otf2_say_unread(read);
	if (!read->options.visitor->fault)
		return;
	va_start(args, format);
	read->options.visitor->fault(read->options.user, at, GT_OTF2_FILES, format, args);
	va_end(args);
}

void gt_otf2_say_unread(const struct gt_otf2 *read)
{
	struct gt_otf2_unread *unread = read->unread;
	char count[64] = "";

	if (unread->files > 1)
		snprintf(count, sizeof(count), "%" PRIu64 " files, the first one is ", unread->files);
	if (unread->files && read->options.command)
		fprintf(stderr, "%s: %s: %s%s\n", read->options.command,
			read->options.goes_on && unread->events ? "the archive cannot be read whole"
								: "the archive cannot be read",
			count, unread->text);
	unread->files = 0;
}

struct gt_otf2_unread *gt_otf2_unread_new(void)
{
	return calloc(1, sizeof(struct gt_otf2_unread));
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

		block = gt_need(malloc(sizeof(*block) + room));
		*block = (struct gt_otf2_block){ .next = read->blocks, .room = room };
		read->blocks = block;
	}
	place = (char *)block->data + block->used;
	block->used += bytes;
	return place;
}


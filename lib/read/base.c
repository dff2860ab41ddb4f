/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the reader stand on: memory, files, and what libotf2 complains of.
 *
 * Limits: see read_int.h.
 */
#include "config.h"

#include "lib/read/read_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

bool gt_otf2_file(const struct gt_otf2 *read, uint64_t location, const char *suffix, uint64_t *size)
{
	char path[sizeof(read->anchor) + 64];
	const char *dot = strrchr(read->anchor, '.');
	int length = (int)(dot ? dot - read->anchor : 0);
	struct stat st;

	if (location == GT_OTF2_NOTHING)
		snprintf(path, sizeof(path), "%.*s.%s", length, read->anchor, suffix);
	else
		snprintf(path, sizeof(path), "%.*s/%" PRIu64 ".%s", length, read->anchor, location, suffix);
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	return true;
}

OTF2_Reader *gt_otf2_reader(const struct gt_otf2 *read)
{
	OTF2_Reader *reader = OTF2_Reader_Open(read->anchor);

	if (reader)
		OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	return reader;
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

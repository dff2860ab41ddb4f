/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that grow.
 *
 * Limits: see bytes.h.
 */
#include "config.h"

#include "report/page/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"

void gt_bytes_room(struct gt_bytes *bytes, size_t more)
{
	if (bytes->count + more <= bytes->room)
		return;
	bytes->room = 2 * bytes->room + more + 64;
	bytes->data = gt_need(realloc(bytes->data, bytes->room));
}

void gt_bytes_add(struct gt_bytes *bytes, const void *data, size_t size)
{
	gt_bytes_room(bytes, size);
	if (size)
		memcpy(bytes->data + bytes->count, data, size);
	bytes->count += size;
}

void gt_bytes_number(struct gt_bytes *bytes, uint64_t n)
{
	gt_bytes_room(bytes, 10);
	for (; n >= 128; n >>= 7)
		bytes->data[bytes->count++] = (unsigned char)(n | 128);
	bytes->data[bytes->count++] = (unsigned char)n;
}

void gt_bytes_double(struct gt_bytes *bytes, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	gt_bytes_room(bytes, sizeof(bits));
	for (unsigned i = 0; i < sizeof(bits); i++)
		bytes->data[bytes->count++] = (unsigned char)(bits >> 8 * i);
}

void gt_bytes_print(struct gt_bytes *bytes, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	gt_bytes_room(bytes, (size_t)n + 1);
	va_start(args, format);
	vsnprintf((char *)bytes->data + bytes->count, (size_t)n + 1, format, args);
	va_end(args);
	bytes->count += (size_t)n;
}

void gt_bytes_safe(struct gt_bytes *bytes, const char *json)
{
	for (; *json; json++)
		if (strchr("<>&'", *json))
			gt_bytes_print(bytes, "\\u%04x", (unsigned)*json);
		else
			gt_bytes_add(bytes, json, 1);
}

void gt_bytes_json(struct gt_bytes *bytes, const char *string)
{
	size_t size = string ? 6 * strlen(string) + 1 : 0;
	char *json;

	if (!string) {
		gt_bytes_add(bytes, "null", 4);
		return;
	}
	json = gt_need(malloc(size));
	gt_bytes_add(bytes, "\"", 1);
	gt_bytes_safe(bytes, gt_utf8_json(json, size, string));
	gt_bytes_add(bytes, "\"", 1);
	free(json);
}

int gt_bytes_read(const unsigned char *data, size_t size, size_t *at, uint64_t *n)
{
	*n = 0;
	for (unsigned shift = 0; *at < size && shift < 64; shift += 7) {
		unsigned char byte = data[(*at)++];

		*n |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return 1;
	}
	return 0;
}

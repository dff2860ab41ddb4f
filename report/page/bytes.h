/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that grow, and numbers in them: seven bits a byte (LEB128), doubles in little endian.
 *
 * Limits: memory that cannot be had ends the process.
 */
#ifndef GT_REPORT_PAGE_BYTES_H
#define GT_REPORT_PAGE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct gt_bytes {
	unsigned char *data;
	size_t count, room;
};

/* Room for `more` bytes behind those that are there. */
void gt_bytes_room(struct gt_bytes *bytes, size_t more);
void gt_bytes_add(struct gt_bytes *bytes, const void *data, size_t size);
void gt_bytes_number(struct gt_bytes *bytes, uint64_t n);
void gt_bytes_double(struct gt_bytes *bytes, double value);
/* Text of printf(), without its final zero. */
void gt_bytes_print(struct gt_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* JSON for a page: what HTML could take for markup, which is in strings only, is escaped. */
void gt_bytes_safe(struct gt_bytes *bytes, const char *json);
/*
 * A string of JSON with its quotation marks: well-formed UTF-8, and nothing in it that HTML could take for
 * markup. NULL: null.
 */
void gt_bytes_json(struct gt_bytes *bytes, const char *string);
/* The number at *at, which moves behind it. False: it does not end before `size`. */
int gt_bytes_read(const unsigned char *data, size_t size, size_t *at, uint64_t *n);

#endif

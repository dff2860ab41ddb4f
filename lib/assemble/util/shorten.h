/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names made short for people, so that what tells functions apart survives.
 *
 * Limits: goes by the text, whatever language it is of. Names of more than GT_SHORTEN_MAX bytes stay as they
 * are.
 */
#ifndef GT_ASSEMBLE_UTIL_SHORTEN_H
#define GT_ASSEMBLE_UTIL_SHORTEN_H

#include <stddef.h>

enum { GT_SHORTEN_MAX = 8192 };
#define GT_KEEP_NOTHING (~(size_t)0)

/*
 * A name in at most `columns` columns if leaving out what tells least suffices: of a thread, as "worker
 * [4711], Thread 3", first the program's name, then the process; of functions first the parameters
 * ("f(...)") and the ".so.1.2" of "libx.so.1.2+0x40", then the return type, then arguments of
 * templates ("<...>"), inner ones first, then all of the parameters, and leading scopes
 * ("...::Class::f"). The byte at `keep` stays, with what it is in, and if the name is still too long it is
 * cut around that byte; with GT_KEEP_NOTHING it is left too long, for the caller to cut. Returns `name` or
 * `buffer`, which holds GT_SHORTEN_MAX bytes.
 */
const char *gt_shorten(char *buffer, const char *name, unsigned columns, size_t keep);

/* The same of a call path, "f > g > h": each name in `columns`, cut before its end if still too long. */
const char *gt_shorten_path(char *buffer, const char *path, unsigned columns);

/* Where two different texts begin to differ: the first byte of a character. */
size_t gt_differ_at(const char *a, const char *b);

/* Columns that a UTF-8 text takes; of characters that are not wide. */
unsigned gt_columns_of(const char *text);

#endif

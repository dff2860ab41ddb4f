/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of filecalls.h.
 */
#include "report/model/filecalls.h"

#include <stdlib.h>
#include <string.h>

/* In the order of strcmp(). */
static const struct call {
	const char *name;
	enum gt_file_call what;
} calls[] = {
	{ "__fxstatat", GT_FILE_CALL_NAME },  { "__fxstatat64", GT_FILE_CALL_NAME },
	{ "__lxstat", GT_FILE_CALL_NAME },    { "__lxstat64", GT_FILE_CALL_NAME },
	{ "__open64_2", GT_FILE_CALL_OPEN },  { "__open_2", GT_FILE_CALL_OPEN },
	{ "__openat64_2", GT_FILE_CALL_OPEN }, { "__openat_2", GT_FILE_CALL_OPEN },
	{ "__xstat", GT_FILE_CALL_NAME },     { "__xstat64", GT_FILE_CALL_NAME },
	{ "access", GT_FILE_CALL_NAME },      { "close", GT_FILE_CALL_CLOSE },
	{ "closedir", GT_FILE_CALL_CLOSE },   { "creat", GT_FILE_CALL_OPEN },
	{ "creat64", GT_FILE_CALL_OPEN },     { "faccessat", GT_FILE_CALL_NAME },
	{ "fclose", GT_FILE_CALL_CLOSE },     { "fdatasync", GT_FILE_CALL_SYNC },
	{ "fopen", GT_FILE_CALL_OPEN },       { "fopen64", GT_FILE_CALL_OPEN },
	{ "freopen", GT_FILE_CALL_OPEN },     { "freopen64", GT_FILE_CALL_OPEN },
	{ "fstatat", GT_FILE_CALL_NAME },     { "fstatat64", GT_FILE_CALL_NAME },
	{ "fsync", GT_FILE_CALL_SYNC },       { "lstat", GT_FILE_CALL_NAME },
	{ "lstat64", GT_FILE_CALL_NAME },     { "mkdir", GT_FILE_CALL_NAME },
	{ "mkdirat", GT_FILE_CALL_NAME },     { "mkostemp", GT_FILE_CALL_OPEN },
	{ "mkostemp64", GT_FILE_CALL_OPEN },  { "mkstemp", GT_FILE_CALL_OPEN },
	{ "mkstemp64", GT_FILE_CALL_OPEN },   { "msync", GT_FILE_CALL_SYNC },
	{ "open", GT_FILE_CALL_OPEN },        { "open64", GT_FILE_CALL_OPEN },
	{ "openat", GT_FILE_CALL_OPEN },      { "openat64", GT_FILE_CALL_OPEN },
	{ "opendir", GT_FILE_CALL_OPEN },     { "readdir", GT_FILE_CALL_NAME },
	{ "readdir64", GT_FILE_CALL_NAME },   { "remove", GT_FILE_CALL_NAME },
	{ "rename", GT_FILE_CALL_NAME },      { "renameat", GT_FILE_CALL_NAME },
	{ "renameat2", GT_FILE_CALL_NAME },   { "rmdir", GT_FILE_CALL_NAME },
	{ "stat", GT_FILE_CALL_NAME },        { "stat64", GT_FILE_CALL_NAME },
	{ "statx", GT_FILE_CALL_NAME },       { "sync", GT_FILE_CALL_SYNC },
	{ "sync_file_range", GT_FILE_CALL_SYNC }, { "syncfs", GT_FILE_CALL_SYNC },
	{ "tmpfile", GT_FILE_CALL_OPEN },     { "tmpfile64", GT_FILE_CALL_OPEN },
	{ "unlink", GT_FILE_CALL_NAME },      { "unlinkat", GT_FILE_CALL_NAME },
};

static int by_name(const void *name, const void *call)
{
	return strcmp(name, ((const struct call *)call)->name);
}

enum gt_file_call gt_file_call_of(const char *name)
{
	const struct call *found = bsearch(name, calls, sizeof(calls) / sizeof(calls[0]), sizeof(calls[0]),
					   by_name);

	return found ? found->what : GT_FILE_CALL_OTHER;
}

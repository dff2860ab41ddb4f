/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading and copying files, and listing folders, so that a symbolic link, a pipe or an interruption by a
 * signal does no harm. All failures are negative errnos.
 *
 * Limits: gt_read_text() takes files below 2 GiB.
 */
#ifndef GT_ASSEMBLE_UTIL_IO_H
#define GT_ASSEMBLE_UTIL_IO_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads until `bytes` are there or the file ends; returns how many, or a negative errno. */
ssize_t gt_read_at(int fd, void *data, size_t bytes, uint64_t place);

/* The beginning of the regular file `name`; what it does not have is zero. Returns how many bytes it has. */
ssize_t gt_read_head(int at, const char *name, void *data, size_t bytes);

/* The whole of a regular file with a NUL behind it, to be freed. */
int gt_read_text(int at, const char *name, char **text);

/* A descriptor of the folder. */
int gt_folder_open(int at, const char *name);

/* Opens the folder (name ".": `at` itself, whose descriptor and position stay as they are); NULL: see
 * errno. */
DIR *gt_folder_list(int at, const char *name);

/* The next entry. NULL: there is none (*rc is as it was), or it cannot be read (*rc is the error, unless it
 * was one before). */
struct dirent *gt_folder_next(DIR *dir, int *rc);

/* All bytes, or the error. */
int gt_write_all(int fd, const void *data, size_t bytes);

/*
 * A new file with the content of another: -EISDIR if that is no file. `buffer` has GT_COPY_BUFFER bytes.
 */
#define GT_COPY_BUFFER (1u << 20)
int gt_copy_file(int from, const char *source, int to, const char *target, char *buffer);

#endif

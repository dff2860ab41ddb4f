/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the installed parts relative to the running program: an installed tree can be moved.
 *
 * Limits: needs /proc; paths up to PATH_MAX.
 */
#ifndef GT_TOOLS_PATHS_H
#define GT_TOOLS_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* The running program's own file; false if /proc is not there. */
bool gt_path_self(char *path, size_t size);

/* The folder of the libraries, of the headers; false (and "") if there is no such folder. */
bool gt_path_libdir(char *path, size_t size);
bool gt_path_includedir(char *path, size_t size);
/* The folder with the assembling halves of adapters of other trees; NULL: there is none. */
const char *gt_path_assemblers(void);
/* The folder of our own data (share/gputrace). */
bool gt_path_datadir(char *path, size_t size);

/*
 * Finds `command` as execvp would. 0 and the path, or the exit status that a shell would give:
 * 126 for something that cannot be run, 127 for nothing found.
 */
int gt_path_command(const char *command, char *path, size_t size);

#endif

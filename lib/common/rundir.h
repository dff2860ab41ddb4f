/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The archive directory of a run: made once, by `gputrace run` or by the first recording process;
 * joined by every other process of the run through VT_RUN_DIR.
 *
 * Limits: no malloc, no stdio, no locale; usable before main and in a traced process.
 */
#ifndef GT_RUNDIR_H
#define GT_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_FILTERS_VAR "VT_RUN_FILTERS" /* seccomp filters that `gputrace run` itself has */
#define GT_RUN_DIR_VAR "VT_RUN_DIR" /* absolute path of the archive directory, set by gputrace */

struct gt_rundir_wish {
	const char *dir;     /* this directory (-o); NULL: generate a name */
	const char *parent;  /* VT_PFORM_GDIR */
	/* VT_FILE_PREFIX: DIR = parent/prefix, or NULL: gputrace-<program>-<date>-<time> */
	const char *prefix;
	const char *program; /* base name of the program */
	const char *local;   /* VT_PFORM_LDIR: node-local folder for the spool, or NULL */
	const char *host;    /* VT_TEST_HOST: the host to pretend to be on, or NULL */
	uint64_t job;        /* processes with the same number share the directory; 0: not shared */
	int64_t when;        /* seconds since 1970 for the generated name; 0: now */
};

/*
 * Makes a new archive directory (0700) with an empty, open spool. Existing directories are never reused: the
 * name of an existing archive, and any generated name, gets ".2", ".3" ...; a given directory with other
 * contents is refused. With a `job`, joins a directory that another process of the job has made, while its
 * run is open. Returns 0 and the absolute path, or a negative errno and a sentence for the user in `why`.
 */
int gt_rundir_create(const struct gt_rundir_wish *wish, char *path, size_t path_size, char *why,
		     size_t why_size);

/*
 * Each host but the one that made the directory has a spool and a run header of its own in it:
 * DIR/spool/<folder>. Makes it unless a process of this host has; `home` gets its path.
 */
#define GT_HOST_FOLDER "host."
int gt_rundir_join_host(const char *path, const struct gt_rundir_wish *wish, char *home, size_t size,
			char *why, size_t why_size);
/*
 * Gives a complete file its name, in the same folder. If a file of that name exists, returns -EEXIST and
 * changes nothing. If several processes do this at once, one of them succeeds (without hard links and
 * renameat2: on most such file systems).
 */
int gt_rundir_appear(int dir, const char *from, const char *to);
/* The name of a host's folder. */
void gt_rundir_host_folder(const char *host, const char *boot_id, char *name, size_t size);

#endif

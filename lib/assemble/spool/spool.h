/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run's spool, opened for reading: its processes, their definitions, and the locations with the
 * extent of what each one recorded (lib/format.h says what lies where).
 *
 * Limits: believes nothing that the files say about sizes and places; what cannot be right is left
 * out and counted. Needs the run's lock: nobody may be writing.
 */
#ifndef GT_ASSEMBLE_SPOOL_SPOOL_H
#define GT_ASSEMBLE_SPOOL_SPOOL_H

#include "lib/assemble/spool/proc.h"

struct gt_spool {
	int dirfd;                   /* the archive directory */
	struct gt_run_header run;    /* of the host that made the directory */
	struct gt_root *roots;       /* that host, then the others by name */
	size_t root_count;
	size_t missing;              /* hosts whose folder was not found */
	struct gt_proc *procs;       /* by host and seq */
	size_t proc_count;
	uint64_t damaged;            /* folders and locations that could not be used */
	uint64_t unborn;             /* folders of processes that ended before they had a header */
	struct gt_partial_ref {       /* what was converted already (partial.h) */
		char path[192];      /* below the archive directory */
		char *covers;        /* lines "<root>/p<seq>.<pid>", each ended by NUL */
	} *partials;
	size_t partial_count;
	const char **covered;        /* all these lines, sorted */
	size_t covered_count;
};

#define GT_PART_FOLDER "part."     /* in the folder of a host's run header: then a number */
#define GT_PART_COVERS "processes" /* in it: which processes it is made of */
#define GT_PART_COVERS_END ".\n"  /* its last line: it is whole */

/*
 * Opens the spool of the archive directory `dirfd`, that of all hosts. Returns 0, or a negative errno
 * and a sentence in `why`. A spool without a single usable process gives -ENODATA, unless hosts are missing
 * or parts are there. Processes that a part is made of are not read again. `folders`, ended by NULL (or
 * NULL): where copies of node-local spools of other hosts may be found.
 */
int gt_spool_open(struct gt_spool *spool, int dirfd, char *const *folders, char *why,
		  size_t why_size);
/* That of one host only: `name` is the folder in DIR/spool with its run header, "": DIR/spool itself. */
int gt_spool_open_host(struct gt_spool *spool, int dirfd, const char *name, char *why,
		       size_t why_size);
void gt_spool_close(struct gt_spool *spool);

/*
 * The process `by` was told at `tick` that its child `pid` has ended, with a status as waitpid() gives it.
 * Thread-safe.
 */
void gt_spool_waited(const struct gt_proc *by, uint32_t pid, uint32_t status, uint64_t tick);

/*
 * Once all events are read: how processes ended that could not record it, but whose parents were told; and
 * what threads have lost meanwhile whose process's exit() waits for this assembly.
 */
void gt_spool_ends(struct gt_spool *spool);

#endif

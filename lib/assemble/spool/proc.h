/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a spool and its locations, as they were read: their files and definitions.
 *
 * Limits: see spool.h, which fills them in.
 */
#ifndef GT_ASSEMBLE_SPOOL_PROC_H
#define GT_ASSEMBLE_SPOOL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/assemble/spool/journal.h"
#include "lib/format.h"

struct gt_proc;
struct gt_sorter;
struct gt_spool;

struct gt_loc {
	struct gt_proc *proc;
	uint32_t id;              /* in its process */
	struct gt_win_header win; /* as found; kind, sizes and offsets have been checked */
	uint64_t begin, end;      /* stream offsets of what is there */
	uint64_t last_tick;       /* of the last record, if it had to be looked for; else 0 */
	uint64_t raw_end;         /* what lies below comes from the .raw file; then up to `spooled` */
	uint64_t missing;         /* this many slots should be in the .raw file and are not */
	uint64_t lost[GT_LOSS_N]; /* as the recorder counted; the assembly adds what it finds */
	uint32_t number;          /* global location id, or GT_NOT_WRITTEN */
	/*
	 * Set by who looks through streams before the layout is made (X/assemble); the reader leaves them
	 * 0.
	 */
	uint32_t lanes;           /* of an accelerator's stream: locations that its activities need; else 0 */
	bool plain;               /* one lane, and nothing but activities */
	bool sorted;              /* it is in order of time as it is */
	bool deferred;            /* streams of kind GT_LOC_DEFERRED hold records of this location */
	uint32_t comms;           /* bit i: it takes part in the i-th communicator for transfers */
	struct gt_split *split;   /* stream_sort.c: its lanes that have not been converted */
	struct gt_sorter *added;  /* not NULL: the location has no stream, but these: ENTER and LEAVE with
				     numbers of the archive's regions ... */
	uint32_t added_name;      /* ... a name, a string of the archive ... */
	uint32_t like;            /* ... and the context of that stream (local id) */
};

#define GT_NOT_WRITTEN UINT32_MAX
#define GT_LOC_MADE_UP UINT32_MAX /* local id of a location that the assembly has added */

/* The records of one host. */
struct gt_root {
	struct gt_run_header run;
	char name[128];              /* of its folder in DIR/spool; "": DIR/spool itself */
	int fd;                      /* the folder with the p<seq>.<pid> folders; -1: not found */
	bool elsewhere;              /* that is not in the archive directory (VT_PFORM_LDIR) ... */
	bool given;                  /* ... but a copy that the user has named: it stays */
};

struct gt_proc {
	uint32_t seq, pid;           /* from the folder's name; unique within its host */
	char folder[24];             /* name of the folder in the spool, if it has one */
	struct gt_spool *spool;
	struct gt_root *root;
	struct gt_proc_header header;
	struct gt_journal journal;
	struct gt_proc *parent;      /* the process it was forked from or has replaced, or NULL */
	struct gt_loc *locs;         /* by id */
	size_t loc_count;
	bool child;                  /* it has recorded nothing, and has no folder */
	bool ended;                  /* it closed its recording by itself ... */
	bool goes_on;                /* ... but has threads that go on, and lose events */
	uint32_t waited;             /* if not: GT_WAITED and the wait status that its parent got; atomic */
	uint64_t end_tick;           /* header.end, or the last record's tick of a killed process */
	uint64_t tick_max;           /* no honest tick is above */
	uint32_t number;             /* global location group id, or GT_NOT_WRITTEN */
	/* deferred.c: deferred records by location, once they have been asked for */
	struct gt_deferred_spread *spread;
};

#define GT_WAITED (1u << 31)

/*
 * Is this the error of a disk, or of a machine short of something, and not of what was recorded? Then
 * trying again later may give more: nothing is thrown away.
 */
bool gt_spool_try_again(int rc);

/* The folder of a process (to be closed by the caller), or a negative errno. */
int gt_proc_open(const struct gt_proc *proc);

/* Opens a location's file ("win" or "raw"); a negative errno if that fails. */
int gt_loc_open(const struct gt_loc *loc, const char *suffix, int flags);

/*
 * A definition of a process, or of the one it was forked from (ids are inherited by children).
 */
const void *gt_proc_find(const struct gt_proc *proc, unsigned type, uint32_t id, size_t *bytes);
const char *gt_proc_string(const struct gt_proc *proc, uint32_t id);

/* The decimal number that the process wrote under a key; 0: none. */
static inline uint32_t gt_proc_number(const struct gt_proc *proc, const char *key)
{
	const char *value = gt_journal_property(&proc->journal, key);

	return value ? (uint32_t)strtoul(value, NULL, 10) : 0;
}

/* User and system time, 0: not known. A process that became another program has the time of both. */
static inline uint64_t gt_proc_processor_ns(const struct gt_proc *proc)
{
	const struct gt_proc *before = proc->parent && proc->parent->pid == proc->pid ? proc->parent : NULL;
	uint64_t earlier = before ? before->header.processor_ns : 0;

	return proc->header.processor_ns > earlier ? proc->header.processor_ns - earlier : 0;
}

/* The quotas of its cgroups, and the time for which these were throttled during its life. */
static inline bool gt_proc_quotas_known(const struct gt_proc *proc)
{
	return proc->header.quotas_known == 2 || (proc->header.quotas_known && !proc->header.quotas[0].group);
}

/* The parallel program that the process is a rank of (gt_set_rank), 0: none. */
static inline uint64_t gt_proc_job(const struct gt_proc *proc)
{
	const char *job = proc->header.rank == UINT32_MAX ? NULL : gt_journal_property(&proc->journal, "job");

	return job ? strtoull(job, NULL, 16) : 0;
}

/* A process's location by its local id, or NULL. */
struct gt_loc *gt_proc_loc(const struct gt_proc *proc, uint32_t id);

/* Is this the name of a process's folder, "p<seq>.<pid>"? */
bool gt_spool_folder(const char *name, uint32_t *seq, uint32_t *pid);

/*
 * Processes that had become another user have made the folders of their children in their own. Moves
 * all of them to the folder `fd` of the spool, where the others are. Living processes may go on.
 */
int gt_spool_raise(int fd); /* 0 or a negative errno */

/* Is this the name of a location's window, "l<id>.win", as gt_loc_open() makes it of the number? */
bool gt_spool_window(const char *name, uint32_t *id);

/* Is this its host, which has not been started again since? */
bool gt_proc_same_boot(const struct gt_proc *proc);

/* Is the process that made this folder still there? (Same host and boot only.) */
bool gt_proc_alive(const struct gt_proc *proc);

#endif

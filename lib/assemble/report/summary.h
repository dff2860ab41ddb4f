/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about a run that the assembly knows better than the archive: for the summary at the end of the
 * run, which the caller of gt_assemble() makes from these and from the archive (report/summary/summary.h).
 *
 * Limits: says how a run went, not where its time did; that is the report's.
 */
#ifndef GT_ASSEMBLE_REPORT_SUMMARY_H
#define GT_ASSEMBLE_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/assemble/report/word.h"
#include "lib/format.h"

/* A process that did not end by itself. */
struct gt_killed {
	char program[48];
	uint32_t pid;           /* 0: none */
	uint32_t signal;        /* 0: not known */
	uint64_t ns;            /* when, as wall clocks count; 0: not known */
};

/* The resources that processes used, as recorded at their end. */
struct gt_used {
	uint64_t measured, unmeasured; /* processes; a killed one could not say anything */
	uint64_t processor_ns;   /* of all threads of all of them */
	uint64_t processors;     /* that they were allowed to use, of all hosts */
	uint64_t memory_peak;    /* most resident bytes of one process; 0: not known */
	uint64_t throttled_ns;   /* of the group with a limit that was throttled for longest ... */
	uint64_t quota;          /* ... and its limit, in thousandths of a processor; 0: none is known */
};

struct gt_shortfall;

enum { GT_SUMMARY_SHORTFALLS = 24, GT_SUMMARY_COSTS = 8 };

/* A loss or failure from a property: the sum over all processes. */
struct gt_summary_shortfall {
	const struct gt_shortfall *what; /* util/losses.h */
	uint64_t count;
	char first[200];        /* "": not known */
	bool told;              /* in another line */
};

/* A device runtime's cost of recording an activity, and a call that starts none. */
struct gt_summary_cost {
	uint32_t paradigm;      /* as OTF2_Paradigm */
	uint32_t activity_ns, call_ns; /* 0: the usual (util/rules.h) */
};

/* Start from (struct gt_summary){.clock_error_ns = -1} and fill in what is known. */
struct gt_summary {
	const char *dir;        /* the archive directory, as the user would type it; NULL: not to be named */
	const char *program;    /* of the first process; NULL: unknown */
	bool recovered;         /* made by `gputrace recover`, not at the end of the run */

	uint64_t wall_ns;       /* first to last event of the run, or begin to end of its processes */
	uint64_t processes;
	uint64_t ranks;         /* of them: of parallel programs */
	const char *ranks_of;   /* in a word, what kind of ranks; only if there are any */
	uint64_t silent;        /* started as ranks of such programs, but nothing of that was recorded */
	const char *silent_why; /* of one of them; NULL or "": not known */
	uint64_t threads;       /* threads that ran, not locations (these are reused) */
	uint64_t gpu_streams;
	uint64_t events;        /* in the archive */
	uint64_t archive_bytes; /* of all files of the archive, without the spool */

	/* how the first process, or what exec() made of it, ended: enum gt_end_how; exit status or signal */
	uint32_t how, status;
	/* or of the first rank that failed: which, and what it said itself; NULL or "": none, nothing */
	const char *failed_rank, *ended_by;
	uint64_t failed_ns;     /* when that rank had failed, as killed_one.ns */
	/* ranks: "2 of 6 ranks are in this archive, missing: 0-3"; NULL or "": none */
	const char *missing;
	bool spool_kept;        /* because other hosts' ranks are elsewhere */
	const char *absent;     /* which processes are not in the archive; NULL or "": none */
	uint64_t killed;        /* processes that did not end by themselves (no end recorded) ... */
	struct gt_killed killed_one; /* ... and one that is not the first process */
	struct gt_used used;

	uint64_t outside;       /* programs that were started and could not be traced ... */
	const char *outside_first; /* ... and the name of one */

	const char *unseen_setting; /* that records the functions of such a program; NULL: none is known */
	struct gt_summary_cost costs[GT_SUMMARY_COSTS];
	unsigned cost_count;

	uint64_t flushes, flush_ns, longest_flush_ns; /* of the threads' buffers to the disk */

	uint64_t lost[GT_LOSS_N]; /* sums of all locations and processes, enum gt_loss */
	struct gt_summary_shortfall shortfalls[GT_SUMMARY_SHORTFALLS];
	unsigned shortfall_count;
	uint64_t unknown_records; /* slots of a type that the assembly does not know, skipped */

	/* repairs of nesting */
	uint64_t closed_frames;   /* leave events that were added (longjmp, exceptions, end) */
	uint64_t dropped_leaves;  /* leave events without an enter, left out */
	uint64_t parts;           /* regions that were left and entered again where they are not nested */
	uint64_t clamped_times;   /* events whose time went backwards and was set to the last one */

	uint64_t unresolved;      /* functions for which no name was found (module+0xoffset) */

	unsigned hosts;
	int64_t clock_error_ns;   /* estimated error between the clocks; -1: not measured */

	/* why there may be no events; used only if events is 0 */
	bool hooks_seen;          /* some function hook or user API call reached the library */
	bool switched_off;        /* VT_MODE=off, or recording was off at the end (VT_OFF) */
};

/* Where a summary goes. */
struct gt_summary_out {
	const char *anchor;     /* of the archive, which is whole */
	unsigned threads;       /* to read it with; 0: one for each processor */
	FILE *text, *json;      /* the files SUMMARY and summary.json */
	const char *dir;        /* the archive directory, as the user would type it */
	bool show;              /* the summary on stderr, too */
};

#endif

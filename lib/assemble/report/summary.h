/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one-screen summary at the end of a run: what was recorded, where the time went, what was
 * lost, and what to do next. The assembly fills struct gt_summary and calls gt_summary_print().
 *
 * Limits: says only what it is given; computes nothing but shares and the order of the table.
 */
#ifndef GT_ASSEMBLE_REPORT_SUMMARY_H
#define GT_ASSEMBLE_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/format.h"

/*
 * One row per region, in any order; regions without calls may be left out. A frame counts for
 * `calls` when it is left (or closed by a repair). `inclusive_ns` counts nested frames of the same
 * region once (recursion), so that it never exceeds the time of the threads.
 */
struct gt_summary_region {
	const char *name;       /* demangled; may hold any bytes, is escaped and cut when printed */
	uint64_t calls;
	uint64_t exclusive_ns;
	uint64_t inclusive_ns;
	bool function;          /* recorded by the compiler's hooks */
	bool on_device;         /* an activity of a GPU: it has no share of the threads' time */
	bool script;            /* of an interpreter, and so dearer to record (util/rules.h) */
	uint8_t call;           /* enum gt_call: what it is about */
	uint32_t locations;     /* that called it */
	uint64_t most_ns;       /* of a call, inclusive */
	uint64_t apart_ns;      /* of exclusive_ns: of others than the threads that make the run, and idle */
	uint64_t idle_ns;       /* of apart_ns: what is idle (gputrace-metrics(7), "SHARES") */
};

/* A process that did not end by itself. */
struct gt_killed {
	char program[48];
	uint32_t pid;           /* 0: none */
	uint32_t signal;        /* 0: not known */
};

/* What the processes say at their end that they have used. */
struct gt_used {
	uint64_t measured, unmeasured; /* processes; a killed one could not say anything */
	uint64_t processor_ns;   /* of all threads of all of them */
	uint64_t processors;     /* that they were allowed to use, of all hosts */
	uint64_t memory_peak;    /* most resident bytes of one process; 0: not known */
};

/* The ranks of parallel programs, compared. */
struct gt_balance {
	uint32_t ranks;          /* that communicated; the rest holds if there is one */
	double in_comm;           /* part of the time, of all of them, and of two: */
	struct gt_balance_of {
		uint32_t rank;
		double in_comm;
	} least, most;
	uint64_t mean_ns;        /* outside of communication, of a rank's first thread; and the most */
	uint64_t most_ns;
	uint32_t most_rank;
	uint64_t longest_ns;     /* the most time between setting up and ending communication; 0: not known */
	uint64_t polling_ns;     /* of all ranks, in tests for what is not there yet */
};

enum { GT_SUMMARY_FINDINGS = 3 };

struct gt_tally;
struct gt_shortfall;
struct gt_devices;

struct gt_summary_finding {
	const char *id;         /* gputrace-findings(7) */
	uint64_t gain_ns;
	char text[320];
};

enum { GT_SUMMARY_SHORTFALLS = 24 };

/* What a property says is missing, or failed: the sum of all processes. */
struct gt_summary_shortfall {
	const struct gt_shortfall *what; /* util/losses.h */
	uint64_t count;
	char first[200];        /* "": not known */
	bool told;              /* in another line */
};

/* Start from (struct gt_summary){.clock_error_ns = -1} and fill in what is known. */
struct gt_summary {
	const char *dir;        /* the archive directory, as the user would type it */
	const char *program;    /* of the first process; NULL: unknown */
	bool recovered;         /* made by `gputrace recover`, not at the end of the run */

	uint64_t wall_ns;       /* first to last event of the run, or begin to end of its processes */
	uint64_t processes;
	uint64_t ranks;         /* of them: of parallel programs */
	const char *ranks_of;   /* in a word, what kind of ranks; only if there are any */
	uint64_t silent;        /* started as ranks of such programs, but nothing of that was recorded */
	uint64_t threads;       /* threads that ran, not locations (these are reused) */
	uint64_t gpu_streams;
	uint64_t events;        /* in the archive */
	uint64_t archive_bytes; /* of all files of the archive, without the spool */

	/* how the first process, or what exec() made of it, ended: enum gt_end_how; exit status or signal */
	uint32_t how, status;
	/* ranks: "2 of 6 ranks are in this archive, missing: 0-3"; NULL or "": none */
	const char *missing;
	bool spool_kept;        /* because other hosts' ranks are elsewhere */
	const char *absent;     /* which processes are not in the archive; NULL or "": none */
	uint64_t killed;        /* processes that did not end by themselves (no end recorded) ... */
	struct gt_killed killed_one; /* ... and one that is not the first process */
	struct gt_used used;

	uint64_t outside;       /* programs that were started and could not be traced ... */
	const char *outside_first; /* ... and the name of one */

	const struct gt_summary_region *regions;
	size_t region_count;
	/* lives of the threads that make the run: the 100 % of the column "% of run" and of the shares in
	   summary.json (gputrace-metrics(7), "SHARES"); 0: unknown */
	uint64_t threads_ns;
	uint64_t unseen_ns;      /* of them, in no recorded function */
	const char *unseen_setting; /* that records the functions of such a program; NULL: none is known */
	uint64_t cost_ns;        /* what the measurement took of it (brief.h) */
	uint64_t made_ns;        /* lives of all threads that are not the first of their process */

	/* of ranks */
	struct gt_balance balance;
	/* efficiencies, 0 to 1; 0: there is none. brief.h */
	double load_balance, communication; /* of ranks, or of threads */
	double rank_threads;      /* of the threads of each rank */
	const char *no_efficiency; /* why there are none of ranks or threads; NULL: no such reason */
	double offload, device_parallel, device_balance, device_copies, device_orchestration;
	uint64_t messages, message_bytes; /* sent */
	uint64_t collectives;     /* calls of all ranks */

	const struct gt_tally *tally; /* archive/worker.h: locks, files, messages, kernels, copies; or NULL */
	const struct gt_devices *devices; /* brief.h; NULL: none is known */
	uint64_t location_flush_ns; /* that one location spent writing its buffer, at most ... */
	char flushed[96];         /* ... and which it is */
	struct gt_summary_finding findings[GT_SUMMARY_FINDINGS]; /* the worst first. brief.h */
	unsigned finding_count;
	bool floods;              /* `gputrace filter suggest` is of use */

	uint64_t flushes, flush_ns, longest_flush_ns; /* of the threads' buffers to the disk */
	uint64_t idle_threads, idle_ns; /* threads that only waited; `regions` is without their calls */
	uint64_t serving_threads, serving_ns; /* others, which waited for work: part of regions' apart_ns */

	uint64_t lost[GT_LOSS_N]; /* sums of all locations and processes, enum gt_loss */
	struct gt_summary_shortfall shortfalls[GT_SUMMARY_SHORTFALLS];
	unsigned shortfall_count;
	uint64_t unknown_records; /* slots of a type that the assembly does not know, skipped */

	/* repairs of nesting */
	uint64_t closed_frames;   /* leave events that were added (longjmp, exceptions, end) */
	uint64_t dropped_leaves;  /* leave events without an enter, left out */
	uint64_t clamped_times;   /* events whose time went backwards and was set to the last one */

	uint64_t unresolved;      /* functions for which no name was found (module+0xoffset) */

	unsigned hosts;
	int64_t clock_error_ns;   /* estimated error between the clocks; -1: not measured */

	/* why there may be no events; used only if events is 0 */
	bool hooks_seen;          /* some function hook or user API call reached the library */
	bool switched_off;        /* VT_MODE=off, or recording was off at the end (VT_OFF) */
};

enum gt_summary_style {
	GT_SUMMARY_PLAIN = 0,
	GT_SUMMARY_COLOUR = 1,
};

/* Colour if `fd` is a terminal, NO_COLOR is not set and TERM is neither unset nor "dumb". */
enum gt_summary_style gt_summary_style_for(int fd);
/* Columns if `fd` is a terminal, else 0. */
unsigned gt_summary_width_for(int fd);

/* "1,234,567", and "1.23 s"; both return buffer. */
const char *gt_summary_count(char buffer[32], uint64_t value);
const char *gt_summary_time(char buffer[32], uint64_t ns);
/* "1.2 MB"; returns buffer. */
const char *gt_summary_size(char buffer[32], uint64_t bytes);
/* The product of the host's efficiencies; 0: there are none. */
double gt_summary_parallel(const struct gt_summary *summary);
/*
 * Its exclusive time in threads that make the run, but for what is idle, as a part of that;
 * less than 0: it has none.
 */
double gt_summary_share(const struct gt_summary *summary, const struct gt_summary_region *region);
/*
 * The `rows` regions with the most of it, largest first; those without a part in the run come after all
 * others, but for what devices do. Returns how many there are.
 */
unsigned gt_summary_top(const struct gt_summary *summary, const struct gt_summary_region **top,
			unsigned rows);

/*
 * Prints the summary, each line prefixed "[gputrace] ", at most 27 lines of `width` columns
 * (0: 100, as the report). Never fails; a broken stream is the caller's business.
 */
void gt_summary_print(const struct gt_summary *summary, FILE *out, enum gt_summary_style style,
		      unsigned width);

/*
 * Copies `text` to `buffer` as something a terminal shows harmlessly: control characters, DEL and
 * bytes that are not UTF-8 become \xNN. Cut to `columns` with "..." in the middle. Returns buffer.
 */
const char *gt_summary_escape(char *buffer, size_t size, const char *text, unsigned columns);

#endif

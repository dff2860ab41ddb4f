/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one-screen summary at the end of a run, and summary.json: how the run went, as the assembly says, and
 * where its time went, as the report of its archive says. All figures that both have are the report's.
 *
 * Limits: an archive is read if that takes little time beside the run (ADR 0022); else the summary says so.
 */
#ifndef GT_REPORT_SUMMARY_H
#define GT_REPORT_SUMMARY_H

#include "lib/assemble/report/summary.h"
#include "report/findings/findings.h"

/* The part of a report that only a summary shows. */
struct gt_summary_sums {
	uint64_t threads_ns;     /* lives of the threads that make the run: gputrace-metrics(7), "SHARES" */
	uint64_t unseen_ns;      /* of them, in no recorded function */
	uint64_t cost_ns;        /* what the measurement took of it */
	uint64_t device_cost_ns; /* of which: for activities of devices and calls of their runtimes */
	uint64_t callers_ns;     /* lives of threads that make such calls */
	uint64_t idle_threads, idle_ns; /* that only waited; regions are without their calls */
	uint64_t serving_threads, serving_ns; /* others, which waited for work */
	bool functions, script;  /* some were recorded: by the compiler's hooks, of an interpreter */
	bool sampled;            /* some process was, or would have been had it lived longer */
	double sample_rate;      /* samples a second of processor time, 0: not known */
	bool uncosted;           /* there are samples, and nobody knows what they took */
	bool floods;             /* `gputrace filter suggest` is of use */
	struct gt_ranks outside; /* of MPI */
	uint32_t ranks;          /* that communicated, and which part of their time; the least and the most */
	double in_comm;
	struct gt_summary_rank {
		uint32_t rank;
		double in_comm;
	} least, most;
};
struct gt_summary_sums gt_summary_sums_of(const struct gt_report *report, const struct gt_summary *facts);

/* report NULL: the archive could not be read. */
struct gt_summary_view {
	const struct gt_summary *facts;
	const struct gt_report *report;
	struct gt_summary_sums sums; /* if its events were read */
};

enum gt_summary_style {
	GT_SUMMARY_PLAIN = 0,
	GT_SUMMARY_COLOUR = 1,
};

/* Colour if `fd` is a terminal, NO_COLOR is not set and TERM is neither unset nor "dumb". */
enum gt_summary_style gt_summary_style_for(int fd);
/* Columns if `fd` is a terminal, else 0. */
unsigned gt_summary_width_for(int fd);

/*
 * Prints the summary, each line prefixed "[gputrace] ", at most 27 lines of `width` columns
 * (0: 100, as the report). Never fails; a broken stream is the caller's business.
 */
void gt_summary_print(const struct gt_summary_view *view, FILE *out, enum gt_summary_style style,
		      unsigned width);

/* Reads the archive, and writes and shows its summary. The caller looks after errors of the files. */
void gt_summarise(const struct gt_summary *facts, const struct gt_summary_out *out);
/* The same of an archive that cannot be read: what the assembly knows. */
void gt_summarise_unread(const struct gt_summary *facts, const struct gt_summary_out *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes a run beside its events: archive properties, gputrace.cfg, MANIFEST.md, and the assembly's
 * part of the summary (stderr, SUMMARY and summary.json).
 *
 * Limits: uses finished definitions; single-threaded.
 */
#ifndef GT_ASSEMBLE_REPORT_REPORT_H
#define GT_ASSEMBLE_REPORT_REPORT_H

#include "lib/assemble/assemble.h"
#include "lib/assemble/archive/conversion.h"
#include "lib/assemble/defs/properties.h"
#include "lib/assemble/report/summary.h"
#include "lib/assemble/pair/order.h"

/* Counts of the recorded processes. */
struct gt_facts {
	uint64_t processes, ranks, silent, threads, streams, killed, damaged;
	char silent_why[100];   /* of one of the silent ones; "": not known */
	uint64_t going_on;      /* processes whose threads went on losing events when these were counted */
	uint64_t outside;       /* programs that were started and could not be traced, ... */
	char outside_first[60]; /* ... and one of them */
	struct gt_killed killed_one; /* of the killed ones, not what the first process became */
	struct gt_used used;
	uint64_t lost[GT_LOSS_N];
	struct gt_tally tally;
	int64_t reading_ns;     /* how far readings of one host's clocks may be off */
	bool truncated;         /* the disk was full: the archive lacks events */
	bool hosts_missing;     /* one host, all its ranks, and others of the same jobs elsewhere */
	struct gt_facts_job {
		uint64_t job;
		uint32_t size;  /* its ranks, as they say */
	} jobs[16];             /* the first ones */
	uint32_t job_count;
	/* of the first process */
	uint32_t how, status, clock;
	double ticks_per_second;
	char program[256], ended[320];
	char failed_rank[16], ended_by[64]; /* as in struct gt_summary */
	uint64_t failed_ns;     /* when that rank had failed */
	bool of_rank;           /* the first process is one */
	char *texts;            /* its settings and its command: key, NUL, value, NUL, ... */
	uint64_t text_bytes;
};

/* 0 or -ENOMEM. */
int gt_facts_collect(struct gt_facts *facts, const struct gt_spool *spool,
		     const struct gt_layout *layout, const struct gt_clock *clock);
/* Of all hosts; a part's facts are without. */
void gt_facts_outside(struct gt_facts *facts, const struct gt_spool *spool);
/* Sums up what all processes used. */
void gt_used_collect(struct gt_used *used, const struct gt_spool *spool);
/* Of several groups with a quota the one that was throttled for longest is told, or has the least. */
void gt_used_limit(struct gt_used *used, uint64_t throttled_ns, uint64_t quota);
void gt_facts_free(struct gt_facts *facts);
void gt_facts_put_job(struct gt_facts *facts, uint64_t job, uint32_t size);

struct gt_run_report {
	const char *dir;
	int dirfd;
	const struct gt_assemble_options *options;
	const struct gt_facts *facts;
	const struct gt_layout *layout;
	const struct gt_defs *defs;
	int64_t clock_error_ns; /* the largest error of a host's clock; -1: unknown */
	unsigned hosts;
	const struct gt_order *order; /* NULL: nobody has asked for it */
	const struct gt_spool *spool;
	uint64_t length_ns;
	const struct gt_properties *properties; /* of processes and locations */
};

/* Losses of the run as a whole, as properties of the archive. */
struct gt_run_shortfall {
	char property[48];
	uint64_t count;
	bool told; /* it has a line of its own in the summary */
};
enum { GT_RUN_SHORTFALLS = 9 };
size_t gt_shortfalls_of_run(const struct gt_run_report *report,
			    struct gt_run_shortfall list[GT_RUN_SHORTFALLS]);
/* The same, and that of processes, into a summary. */
void gt_shortfalls_collect(const struct gt_run_report *report, struct gt_summary *summary);
/* Does one of them say that the archive has not all that was to be recorded? */
bool gt_shortfalls_missing(const struct gt_summary *summary);

/* Properties of the archive; before it is closed, and behind those of processes. */
void gt_report_properties(const struct gt_run_report *report, struct gt_archive *archive);

/*
 * gputrace.cfg and MANIFEST.md; with options->summarise SUMMARY and summary.json, and if `show` the summary
 * on stderr, too. 0 or a negative errno.
 */
int gt_report_files(const struct gt_run_report *report, bool show);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report: one pass over an archive's events, which all analyses share.
 *
 * An analysis is a `struct gt_analysis` in the table of report.c: a state for each location, filled by the
 * functions of a visitor (lib/read/read.h) without locks, then merged, and figures when all has been read.
 * The profile comes first: (uint32_t)frame->user is its node of the location's call tree, for all to read.
 *
 * Limits: a location's state lives until it is merged, a result until gt_report_free().
 */
#ifndef GT_REPORT_REPORT_H
#define GT_REPORT_REPORT_H

#include "lib/read/read.h"
#include "report/model/classes.h"
#include "report/print/figures.h"
#include "report/model/spread.h"

enum { GT_ANALYSES_MOST = 21 };

struct gt_report {
	struct gt_otf2 *read;
	struct gt_otf2_visitor visitor; /* for as long as it is read */
	struct gt_classes classes;
	struct gt_figures figures;
	struct gt_spread *spread; /* or NULL */
	unsigned threads;     /* that read; 0: as many as there are processors */
	const char *const *sections; /* keys of those that will be shown, NULL at the end; NULL: all */
	const struct gt_analysis *analyses[GT_ANALYSES_MOST]; /* report.c's table, NULL at the end */
	void **results;       /* of each analysis, by its place in the table */
	struct gt_calls *calls; /* report.c's */
	struct gt_whatif *whatif; /* what is changed in it (waits/whatif.h), or NULL */
	bool unread;          /* only the definitions: what events would tell is left out */
	uint64_t duration;    /* ns: from the first to the last event */
	uint64_t faults;      /* broken rules of OTF2 that were met */
	uint64_t damaged;     /* locations of which events are not there, or cannot be read */
	struct gt_picture *picture; /* to be drawn in the same pass (page/picture.h), or NULL */
};

struct gt_analysis {
	const char *name;
	size_t state_size;  /* of a location's state, zero at first */
	size_t result_size; /* of the result, zero at first */
	/*
	 * After the definitions. False: there is nothing of its kind here, and it is left out. NULL:
	 * always.
	 */
	bool (*wanted)(struct gt_report *report);
	bool loud_only; /* it does not want to see all enters and leaves: gt_profile_enter() */
	/* Before the events. */
	void (*prepare)(struct gt_report *report, void *result);
	void (*begin)(struct gt_report *report, struct gt_otf2_cursor *at, void *state);
	void (*enter)(struct gt_report *report, struct gt_otf2_cursor *at, void *state);
	void (*leave)(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame,
		      void *state);
	void (*event)(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		      void *state);
	/* Regions that are still open are in at->stack. */
	void (*end)(struct gt_report *report, struct gt_otf2_cursor *at, void *state);
	/*
	 * One location at a time, in their order. Ranks other than 0 (spread.h) merge only what they have
	 * read.
	 */
	void (*merge)(struct gt_report *report, struct gt_otf2_cursor *at, void *state, void *result);
	/*
	 * What merge() needs of a state; what reading has put into the result (spread.h). NULL: nothing, or
	 * the analysis is of a command that ranks do not share.
	 */
	void (*carry)(struct gt_report *report, struct gt_carry *carry, void *state);
	void (*carry_result)(struct gt_report *report, struct gt_carry *carry, void *result);
	/* All has been read: writes sections into report->figures. */
	void (*figures)(struct gt_report *report, void *result);
	void (*free)(void *result);
	/* Sections that are there without rows if figures() did not add them, NULL at the end. NULL: none. */
	const struct gt_section_kind *const *sections;
};

/* The room that an analysis's state takes among those of a location. */
static inline size_t gt_state_room(const struct gt_analysis *analysis)
{
	return (analysis->state_size + 15) & ~(size_t)15;
}

extern const struct gt_analysis gt_profile_analysis, gt_run_analysis, gt_messages_analysis, gt_locks_analysis,
	gt_files_analysis, gt_metrics_analysis, gt_gpu_analysis, gt_gpu_counters_analysis,
	gt_kernel_metrics_analysis, gt_losses_analysis,
	gt_efficiency_analysis, gt_solo_analysis, gt_findings_analysis, gt_states_analysis,
	gt_samples_analysis, gt_call_tree_analysis, gt_callers_analysis;

/*
 * Reads the archive of this anchor file and computes all figures. NULL: it could not be read (a sentence is
 * on stderr). To be called in the child of gt_otf2_guarded(), since libotf2 can crash.
 */
struct gt_report *gt_report_make(const char *anchor, unsigned threads);
/* The same, with an analysis that fills the picture, behind all others. */
struct gt_report *gt_report_make_picture(const char *anchor, unsigned threads,
					 const struct gt_analysis *analysis, struct gt_picture *picture);
/*
 * The same by several processes; `spread` may be NULL. Only rank 0 gets figures. `sections`: those that will
 * be shown; what takes long and only others show is left out of the figures. NULL: all.
 */
struct gt_report *gt_report_spread(const char *anchor, unsigned threads, struct gt_spread *spread,
				   const char *const *sections);
/*
 * What a summary (summary/summary.h) shows, and nothing that takes long. Without events what the definitions
 * say.
 */
struct gt_report *gt_report_summary(const char *anchor, unsigned threads, const char *const *sections,
				    bool events);
/* The critical path and how long the run takes if it is changed (waits/whatif.h). */
struct gt_report *gt_report_whatif(const char *anchor, struct gt_whatif *whatif, const char *const *sections);
void gt_report_free(struct gt_report *report);
/* Will a section be shown? */
bool gt_report_shows(const struct gt_report *report, const char *key);
/* The state of an analysis for the location that is being read. */
void *gt_report_state(const struct gt_report *report, const struct gt_otf2_cursor *at,
		      const struct gt_analysis *analysis);
/* Is anything lost, left out or broken that the section "losses" tells of? Flushes lose nothing. */
bool gt_report_lacks(const struct gt_report *report);
/* The result of an analysis, or NULL if it is left out. */
void *gt_report_result(const struct gt_report *report, const struct gt_analysis *analysis);

/*
 * "rank 3", "rank 3, Thread 1", "Thread 1", "worker [4711], Thread 1": what a location is called in
 * figures.
 */
const char *gt_report_location(struct gt_report *report, size_t location);
/* A number that the archive has as a property; NAN: it has not. */
double gt_report_property(const struct gt_report *report, const char *name);
/* "rank 3", or its name. */
const char *gt_report_process(struct gt_report *report, uint32_t process);
/* Index of a region in its table, of the first one that is the same; their number if it is not defined. */
uint32_t gt_report_region(const struct gt_report *report, const struct gt_otf2_region *region);
/* A time, size or count for a sentence. */
const char *gt_said(struct gt_report *report, uint64_t value, enum gt_unit unit);
/* When a location kept others waiting; nothing if waits were not looked for (waits/). */
struct gt_spans gt_report_kept_waiting(const struct gt_report *report, uint32_t location);
/* The name of a region by its index; "?" if it is not defined. */
const char *gt_report_region_name(const struct gt_report *report, uint64_t region);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks, summed up over all locations (samples.c).
 *
 * Limits: see samples.c.
 */
#ifndef GT_REPORT_SAMPLES_H
#define GT_REPORT_SAMPLES_H

#include "report/model/spans.h"
#include "report/model/spill.h"
#include "report/model/stacks.h"
#include "report/model/sums.h"
#include "report/sections/profile.h"

enum { GT_SAMPLES_ROWS = 20 }; /* of each table, in summary.json */
enum { GT_SAMPLES_FEW = 30 };  /* of fewer nobody can say much */
enum { GT_SAMPLES_ASIDE = GT_PROFILE_NODES }; /* instead of a node: the thread's calls are not in the tree */

/* A sample at its time. */
struct gt_stack_moment {
	uint64_t time, ns;
	uint32_t context; /* 1 + its index; 0: it is not defined */
	bool ours;
};

/*
 * Keys of samples in a recorded call that waits, or in one of the C library that yields the processor: the
 * location; the region that waits, by its index; the context, 1 + its index; and whether it is a runtime's.
 */
enum gt_waiting_keys { GT_WAITING_LOCATION, GT_WAITING_REGION, GT_WAITING_CONTEXT, GT_WAITING_RUNTIME };

/* A location's samples, and their processor time, ns: of all, and of those outside of measured calls. */
struct gt_stack_place {
	uint64_t count, all, outside;
};

struct gt_stack_sums {
	/*
	 * By calling context (1 + its index; 0: it is not defined), the node of the call tree that was open
	 * (0: none, GT_SAMPLES_ASIDE), and whether it is gputrace's own. count: samples; ns: processor time
	 * that they stand for; bytes: those of which that is known.
	 */
	struct gt_sums sums;
	struct gt_sums divided; /* ns: what they have of the node's own time (gt_stack_part()) */
	struct gt_sums waiting; /* those in waits, by struct gt_waiting_keys */
	uint64_t count;    /* of all of them */
	uint64_t own_ns;   /* of those in gputrace itself */
	uint64_t *by_process; /* ns of all samples of a process; NULL: in part of a run nobody adds up */
	uint64_t cost_ns;  /* what their signals took of the processors, but for ... */
	uint64_t uncosted; /* ... those of processes that had ended before it was measured */
	struct gt_log *moments; /* by location: struct gt_stack_moment; NULL: nobody asks for them */
	bool *asked;            /* by location: will they be asked for? */
	uint32_t location_count; /* of both */
	struct gt_stack_place *places; /* by location */
	struct gt_spill spill;  /* where moments are, if they are kept */
	struct gt_stack_objects objects;
};
/* NULL: there are no samples, or they were not read. */
const struct gt_stack_sums *gt_samples_of(const struct gt_report *report);
/* Was any process sampled, whether or not it lived long enough to have a sample? */
bool gt_samples_tried(const struct gt_report *report);
/* The total cost of all samples (ns), from the mean of those whose cost is known; GT_NO_COUNT: none is. */
uint64_t gt_samples_cost(const struct gt_report *report);
/* Of the ns that a location's thread ran, those outside of measured calls; GT_NO_COUNT: too few samples. */
uint64_t gt_samples_outside(const struct gt_report *report, size_t location, uint64_t running);
/* Samples a second of processor time; 0: not known. */
double gt_samples_rate(const struct gt_report *report);

/* Half the width of a share's 95 % interval, in percent; `number` of samples of equal weight. */
double gt_samples_interval(double share, double number);

/*
 * The function of a context: the first region that is the same, by its index. Behind all regions: one that is
 * not defined, gputrace itself, and what stands for time without samples (only in the section).
 */
uint64_t gt_samples_function(const struct gt_report *report, const struct gt_otf2_context *context);
uint64_t gt_samples_ourselves(const struct gt_report *report);
const char *gt_samples_name(const struct gt_report *report, uint64_t function);

/*
 * "(+- 4 %): alpha 55 %, step 15 %": at most three functions with the most processor time by samples, and the
 * largest half of their shares' 95 % intervals. False: there are too few, or `report` is NULL. `text` has
 * 1024 bytes at least.
 */
bool gt_samples_hottest(const struct gt_report *report, unsigned width, char *text, size_t size);

/* May the location have used a processor to wait in calls of a class? Not if they are as short as work. */
bool gt_samples_waits(const struct gt_profile_location *location, enum gt_class class);
/* Is a region one of a runtime, of MPI, OpenMP or a device, that uses a processor by design when it waits? */
bool gt_samples_runtime(const struct gt_report *report, uint64_t region);
/* "main > step > prepare (a.c:12)", to a function in a context (1 + its index; 0: not known). */
const char *gt_samples_path(struct gt_report *report, uint64_t function, uint64_t context);

/* ---- in spans of time (meanwhile.c) --------------------------------------------------------------- */

struct gt_meanwhile {
	uint64_t samples, ns; /* all of them, and the processor time that they stand for */
	double share, error;  /* of the function with most of it; half its 95 % interval, in percent */
	const char *path;     /* "main > step > prepare (a.c:12)": to it; NULL: there are too few */
};

/* Finds what some locations did in these spans. False: there are too few samples. */
bool gt_samples_meanwhile(struct gt_report *report, const bool *locations, const struct gt_spans *spans,
			  struct gt_meanwhile *found);
/* "1.20 s of processor time (1,203 samples), 62 % (+- 4 %) of it in main > prepare (a.c:12)" */
const char *gt_meanwhile_said(struct gt_report *report, const struct gt_meanwhile *found);

/* ---- below measured calls (sampled.c) ------------------------------------------------------------- */

struct gt_sampled_call {
	uint32_t node, caller;         /* caller: 1 + its node; 0: the measured one */
	unsigned depth;                /* 0: just below the measured node */
	const char *name;
	uint64_t samples;              /* of itself, as is `exclusive` */
	uint64_t exclusive, inclusive; /* ns of the measured node's exclusive time; GT_NO_COUNT: not known */
};
typedef void (*gt_sampled_visit)(void *user, const struct gt_sampled_call *call);

/* NULL: there are no samples. */
struct gt_sampled_tree *gt_sampled_make(struct gt_report *report, const struct gt_profile *profile);
/* All that is below a measured node (0: outside of all calls), callers before what they call. */
void gt_sampled_walk(const struct gt_sampled_tree *sampled, uint32_t node, gt_sampled_visit visit,
		     void *user);
void gt_sampled_free(struct gt_sampled_tree *sampled);

#endif

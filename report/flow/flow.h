/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gputrace flow: the parallel program flow graphs of an archive's processes, threads and GPU streams, and
 * which of their states others branch from (a thread from the call that created it, the members of a team
 * from its parallel region, a kernel from its launch) and where they are joined again (at the call that
 * waits).
 *
 * Limits: launches, creations and joins are held in memory until they are matched, 32 bytes each: of more
 * than MOST_ENDS some are looked at for all, as of what streams do and of waits (syncs.c).
 */
#ifndef GT_REPORT_FLOW_FLOW_H
#define GT_REPORT_FLOW_FLOW_H

#include <stdio.h>

#include "report/flow/draw.h"
#include "report/report.h"

enum gt_flow_face { GT_FLOW_TEXT, GT_FLOW_DOT, GT_FLOW_SVG, GT_FLOW_JSON };

struct gt_flow_options {
	enum gt_flow_face face;
	const char *out;      /* a file; NULL: standard output */
	FILE *page;	      /* if not NULL: only what the page needs, there (gt_flow_page()) */
	const char *patterns; /* gt_part_choose(), or NULL */
	double margin;	      /* durations differ by more than this share of the longer one ... */
	double floor;	      /* ... and by this share of the run */
	double cut;	      /* share of the run: shorter call paths are part of their callers */
	size_t columns, rows; /* boxes of the picture */
	bool safe;	      /* colours that those who are colour-blind can tell apart */
	bool colour;	      /* of text */
	uint64_t from, to;    /* ns: the part of the run */
};

enum gt_flow_kind { GT_FLOW_RANKS, GT_FLOW_PROCESSES, GT_FLOW_THREADS, GT_FLOW_STREAMS, GT_FLOW_KINDS };
extern const char *const gt_flow_kind_names[GT_FLOW_KINDS]; /* put.c */

enum gt_branch_what {
	GT_BRANCH_CREATE,
	GT_BRANCH_JOIN,
	GT_BRANCH_LAUNCH,
	GT_BRANCH_SYNCHRONIZE,
	GT_BRANCHES
};
extern const char *const gt_branch_names[];

/* From a state of a stream to one of another stream, and how often. */
struct gt_flow_branch {
	enum gt_branch_what what;
	uint32_t from, to;	       /* locations */
	uint32_t from_state, to_state; /* of their graphs */
	uint64_t count;
	bool first; /* launch of the first work on its stream */
};

/* Where a location is: in which graph, and which stream of it. */
struct gt_flow_place {
	uint32_t kind; /* GT_FLOW_KINDS: in none */
	uint32_t stream;
};

/* Call paths of calls that lead to other streams, and of their callers. */
struct gt_flow_site {
	uint64_t path, caller;
};

/* A call that waits for a device. */
struct gt_flow_wait {
	uint64_t begin, end, path;
	uint32_t location, process;
	uint32_t stream; /* its number in the names of locations, or GT_FLOW_NONE: not known */
	bool all;	 /* waits for all streams of a device */
};

/* The activities of a stream. */
struct gt_flow_done {
	uint64_t begin, end, path;
};

/* Of one location: what it waits for, or what it has done. */
struct gt_flow_syncs {
	struct gt_flow_wait *waits;
	size_t wait_count, wait_room, wait_full;
	struct gt_flow_done *dones; /* in their order */
	size_t done_count, done_room, done_full;
	uint32_t mask;	 /* slices whose hash has one of these bits are left out */
	uint32_t stream; /* that the open call says that it waits for */
};

struct gt_flow_sites {
	struct gt_flow_site *callers;
	size_t count, room;
	struct gt_lookup paths;
};

struct gt_flow {
	const struct gt_flow_options *options;
	struct gt_report report; /* its reader, classes and names */
	struct gt_flow_rule rule;
	struct gt_flow_set shared;
	struct gt_flow_graph graphs[GT_FLOW_KINDS];
	uint32_t *locations[GT_FLOW_KINDS]; /* of the streams of each graph */
	struct gt_flow_place *places;	    /* by location */
	size_t limit;			    /* of each location's call graph */
	uint64_t correlation, stream; /* attributes */
	struct gt_flow_end *ends;
	size_t end_count, end_room;
	struct gt_flow_syncs *syncs; /* by location */
	size_t most_syncs;	     /* kept of each */
	uint64_t sync_slice; /* ns */
	uint64_t sync_step;  /* one of so many is counted somewhere */
	struct gt_flow_sites sites;
	uint32_t masks[GT_BRANCHES]; /* of keys: those that have one of these bits are left out */
	struct gt_flow_branch *branches;
	size_t branch_count, branch_room;
	uint64_t raised;     /* ns: calls shorter than that were left out somewhere */
	size_t raised_count; /* in so many locations */
	size_t summed_count; /* locations with regions whose calls are summed */
};

/*
 * Reads the archive, computes and writes. 0, or 2 after a sentence on standard error: for gt_otf2_guarded(),
 * with a struct gt_flow_options.
 */
int gt_flow_archive(const char *anchor, void *options, FILE *unused);
/* The default options. */
extern const struct gt_flow_options gt_flow_defaults;

/* ---- branches.c ----------------------------------------------------------------------------------- */

struct gt_flow_end {
	uint64_t key, path, time;
	uint32_t location;
	uint8_t what, to;
};

enum { GT_FLOW_TEAMS = 16 };

struct gt_flow_team {
	uint64_t key;
	bool own; /* the location has made it */
};

/* Events of one location that may lead to others. */
struct gt_flow_ends {
	struct gt_flow_end *items;
	size_t count, room;
	struct gt_flow_sites sites;
	uint32_t masks[GT_BRANCHES];
	bool off;      /* outside of the part of the run that is looked at */
	bool forks;    /* the next team is this location's own */
	size_t begun;  /* + 1: that leads to what the location enters next */
	uint64_t left; /* path of the call that ended last */
	struct gt_flow_team teams[GT_FLOW_TEAMS]; /* that are open, innermost last */
	size_t team_count;
	struct gt_lookup known_teams;
	uint32_t *instances; /* of each of them: how often it has begun */
	size_t instance_count, instance_room;
	struct gt_flow_syncs syncs;
};

void gt_flow_end_enter(struct gt_flow *flow, struct gt_flow_ends *ends, const struct gt_otf2_cursor *at);
void gt_flow_end_leave(struct gt_flow *flow, struct gt_flow_ends *ends, const struct gt_otf2_cursor *at,
		       const struct gt_otf2_frame *frame);
void gt_flow_end_event(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at,
		       const struct gt_otf2_event *event);
void gt_flow_end_merge(struct gt_flow *flow, struct gt_flow_ends *ends, size_t location);
/* After the graphs. */
void gt_flow_branches(struct gt_flow *flow);

/* Of launches and the like each so manyth one was looked at, or more; 1: all were. */
uint64_t gt_flow_sampled(const struct gt_flow *flow);

/* All branches from one box to another one. */
struct gt_flow_link {
	uint32_t from_kind, from, to_kind, to;
	enum gt_branch_what what;
	bool joins, dashed;
	uint64_t count;
};

/* Writes at most flow->branch_count of them; returns how many. */
size_t gt_flow_links(const struct gt_flow *flow, const struct gt_flow_draw *draws,
		     struct gt_flow_link *links);

/* ---- sites.c -------------------------------------------------------------------------------------- */

/* Of two numbers in their order. */
uint64_t gt_flow_pair_key(uint64_t a, uint64_t b);
void gt_flow_add_site(struct gt_flow_sites *sites, uint64_t path, uint64_t caller);
/* The call path here, whose callers will be found by it. */
uint64_t gt_flow_path_here(struct gt_flow_ends *ends, const struct gt_otf2_cursor *at);

/* Where states begin; with path 0 all that are outermost. */
struct gt_flow_begin {
	uint64_t path, time;
	uint32_t location, state;
};

/* Where states are by their paths and times. */
struct gt_flow_index {
	struct gt_flow_begin *begins;
	size_t count, room;
};

void gt_flow_index_make(const struct gt_flow *flow, struct gt_flow_index *index);
/* The state of a call path, or of the nearest caller that has one; GT_FLOW_NONE: there is none. */
uint32_t gt_flow_state_of(const struct gt_flow *flow, const struct gt_flow_index *index, uint32_t location,
			  uint64_t path, uint64_t time);
void gt_flow_add_branch(struct gt_flow *flow, struct gt_lookup *known, const struct gt_flow_branch *branch);

/* ---- syncs.c -------------------------------------------------------------------------------------- */

void gt_flow_sync_enter(const struct gt_flow *flow, struct gt_flow_ends *ends,
			const struct gt_otf2_cursor *at);
void gt_flow_sync_leave(const struct gt_flow *flow, struct gt_flow_ends *ends,
			const struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame);
/* Finds which streams each wait of a host was for. */
void gt_flow_find_syncs(struct gt_flow *flow, const struct gt_flow_index *index, struct gt_lookup *known);

/* ---- text and faces ------------------------------------------------------------------------------- */

/* "1 process", "4 GPU streams" */
const char *gt_flow_kind_text(unsigned kind, size_t count, char buffer[48]);
const char *gt_flow_region(const struct gt_flow *flow, uint32_t region);
const char *gt_flow_stream_name(struct gt_flow *flow, unsigned kind, uint32_t stream);

/* Differences of a stream from the others (differ.c). */
struct gt_flow_difference {
	uint32_t state;				    /* of the stream; GT_FLOW_NONE: it is not there */
	uint32_t region, others;		    /* how many others are compared with */
	double calls, work, time;		    /* of the stream */
	double other_calls, other_work, other_time; /* mean of the others */
};

/* At most `most`, the largest first, for a stream of a graph; returns how many. */
size_t gt_flow_differences(const struct gt_flow_graph *graph, uint32_t stream,
			   struct gt_flow_difference *differences, size_t most);

/* ns that a stream works longer than the others do in the mean. */
double gt_flow_longer(const struct gt_flow_graph *graph, uint32_t stream);

void gt_flow_text(struct gt_flow *flow, FILE *out);
void gt_flow_dot(struct gt_flow *flow, FILE *out);
void gt_flow_svg(struct gt_flow *flow, FILE *out);
void gt_flow_json(struct gt_flow *flow, FILE *out);
/* For the page of `gputrace html` (doc/page-data.md). */
void gt_flow_page(struct gt_flow *flow, FILE *out);

/* 0 to 1 as #rrggbb. */
const char *gt_flow_colour(const struct gt_flow *flow, double alike, char buffer[8]);
/* Of the streams of a graph that are kept. */
size_t gt_flow_kept(const struct gt_flow_graph *graph);
/* Text of XML, and of a quoted string of DOT or JSON; at most `most` characters of it, 0: all. */
void gt_flow_put_xml(FILE *out, const char *text, size_t most);
void gt_flow_put_quoted(FILE *out, const char *text, bool dot);
/* "1.2 s" */
const char *gt_flow_seconds(double ns, char buffer[32]);

#endif

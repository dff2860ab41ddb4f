/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: call trees of all locations, and what follows from them (flat profile, groups, locations).
 *
 * Limits: a call tree has at most GT_PROFILE_NODES nodes; calls below that have none of their own, and their
 * time counts for the node that called them.
 */
#ifndef GT_REPORT_PROFILE_H
#define GT_REPORT_PROFILE_H

#include "report/model/lives.h"
#include "report/model/stacks.h"
#include "report/report.h"

enum { GT_PROFILE_NODES = 1 << 20, GT_PROFILE_KNOWN = 1 << 13 };

/*
 * A call path: a region called by another node; node 0 is the root, which has no region and no parent. Of
 * calls that have ended, or were open at the end. 64 bytes, so that an event touches one line of the cache.
 */
struct gt_profile_node {
	uint32_t region;      /* index in its table; its count: not defined */
	uint32_t parent;
	uint32_t child;       /* first callee, or 0 */
	uint32_t next : 29;   /* the next one of the same caller, or 0 */
	uint32_t loud : 1;    /* gt_class_loud() */
	uint32_t quiet : 1;   /* neither it nor its caller is loud */
	uint32_t inner : 1;   /* a node between it and the root is of the same region */
	uint64_t calls, exclusive; /* ns */
	uint64_t least, most; /* inclusive of a call; without one the least is UINT64_MAX */
	uint64_t most_begin;  /* when that began */
	union {
		uint64_t part;      /* while it is read: exclusive since gt_profile_flush() */
		uint64_t inclusive; /* afterwards */
	};
};

/*
 * Nodes by a hash of caller and region. A node shows by itself whether it is the one that is looked for, so
 * that `near` takes little of the cache; it has those of one caller beside each other. What must go there
 * when another takes its place, as of a caller that calls many, and what does not show it, is far.
 */
struct gt_profile_known {
	uint32_t near[GT_PROFILE_KNOWN];
	struct gt_profile_far {
		uint64_t key; /* gt_profile_key() */
		uint32_t node;
	} far[GT_PROFILE_KNOWN];
};

struct gt_profile_tree {
	struct gt_profile_node *nodes;
	uint32_t *index;      /* of nodes by caller and region, twice as many as there is room for; 0: free */
	uint32_t count, room;
};

/* By region. A region that calls itself is counted once in `inclusive`. */
struct gt_profile_region {
	uint64_t calls, inclusive, exclusive;
	uint64_t counted;     /* of exclusive: in threads that make the run, and not idle */
	uint64_t idle;        /* of exclusive: gt_profile_location's */
	uint64_t least, most; /* inclusive of a call */
	uint64_t most_begin;  /* of the longest call, and its location */
	uint32_t most_on;
	/* exclusive of a location, of those that called it */
	uint32_t locations, most_location;
	uint64_t location_least, location_most;
	uint64_t location_begin, location_call; /* of the longest call of most_location: its begin, its ns */
};

struct gt_profile_location {
	uint64_t calls, events;
	uint64_t begin, end;              /* first and last event */
	uint64_t absent;                  /* of that: between threads that it serves one after another */
	struct gt_lives lives;            /* the same, by time */
	uint64_t idle;                    /* waits for work: gt_conditions_idle() */
	uint64_t times[GT_TIMES];         /* exclusive, by whose time it is */
	uint64_t classes[GT_CLASSES];     /* exclusive */
	uint64_t class_calls[GT_CLASSES];
	bool in_teams;                    /* a thread of OpenMP's: outside of its regions it is idle */
	struct gt_profile_tree tree;      /* until it is merged */
	uint32_t *nodes;                  /* afterwards: its nodes' places in the whole tree */
	uint64_t *own;                    /* their exclusive ns here, in archives with samples; else NULL */
	uint32_t node_count;
};

/*
 * A location while it is read. The time since the last event is that of the innermost call, so nothing but
 * its node is touched at an event; what there is to say of regions follows from the nodes.
 */
struct gt_profiling {
	struct gt_profile_tree tree;
	uint32_t current;            /* node of the innermost call, or 0 */
	uint32_t beyond;             /* innermost calls that have no node: it is that of their caller */
	uint64_t continues;          /* attribute of an enter: a call goes on that was left before */
	bool begun, loud;            /* loud: everything here is, as on a stream */
	uint64_t begin, time;        /* the first event; the last one */
	uint64_t ended;              /* when the last thread did, at the begin of one that follows */
	struct gt_lives lives;
	bool may_follow, follows;    /* a thread has ended; the last event is the begin of one that follows */
	struct gt_profile_known *known;
	uint32_t *touched;           /* nodes with a part; there is room for all and one more */
	uint32_t touched_count, touched_room;
	const struct gt_otf2_region *first; /* the table of regions */
	size_t region_count;
	const uint32_t *same;               /* gt_classes */
	const unsigned char *classes;
	struct gt_profile_region *more;     /* by index: of calls that have no node of their own; or NULL */
};

/* Slow parts of what follows: a call path that is not known, and calls without a node. */
uint32_t gt_profile_call(struct gt_profiling *p, const struct gt_otf2_region *region);
void gt_profile_end_beyond(struct gt_profiling *p, const struct gt_otf2_cursor *at,
			   const struct gt_otf2_frame *frame);

/* Its index in the table; if it is not defined, some number that is no index. */
static inline size_t gt_profile_index(const struct gt_profiling *p, const struct gt_otf2_region *region)
{
	return ((uintptr_t)region - (uintptr_t)p->first) / sizeof(*region);
}

static inline uint32_t gt_profile_region_of(const struct gt_profiling *p, const struct gt_otf2_region *region)
{
	size_t index = gt_profile_index(p, region);

	return index < p->region_count ? p->same[index] : (uint32_t)p->region_count;
}

/* Where it is if it is known; `region`: its index in the table. */
static inline uint32_t gt_profile_near(uint32_t parent, uint32_t region)
{
	return (4 * parent + (region * UINT32_C(0x9e3779b1) >> 29)) % GT_PROFILE_KNOWN;
}

static inline uint32_t gt_profile_far_end(uint32_t parent, uint32_t region)
{
	return (2 * parent + (region * UINT32_C(0x85ebca6b) >> 16)) % GT_PROFILE_KNOWN;
}

/* Never 0. */
static inline uint64_t gt_profile_key(uint32_t parent, uint32_t region)
{
	return ((uint64_t)parent << 32 | region) + 1;
}

static inline bool gt_profile_is(const struct gt_profile_node *node, uint32_t parent, uint32_t region)
{
	return node->region == region && node->parent == parent;
}

/* 0: it is not known. */
static inline uint32_t gt_profile_find(const struct gt_profile_known *known,
				       const struct gt_profile_node *nodes, uint32_t parent, uint32_t region)
{
	uint32_t near = known->near[gt_profile_near(parent, region)];
	const struct gt_profile_far *far;

	if (__builtin_expect(gt_profile_is(&nodes[near], parent, region), 1))
		return near;
	far = &known->far[gt_profile_far_end(parent, region)];
	return far->key == gt_profile_key(parent, region) ? far->node : 0;
}

static inline void gt_profile_spend(struct gt_profiling *p, uint64_t now)
{
	struct gt_profile_node *node = &p->tree.nodes[p->current];

	if (now == p->time)
		return;
	if (!node->part)
		p->touched[p->touched_count++] = p->current;
	node->part += now - p->time;
	p->time = now;
}

/* True the first time. */
static inline bool gt_profile_first(struct gt_profiling *p, const struct gt_otf2_cursor *at)
{
	if (p->begun)
		return false;
	p->begun = true;
	p->begin = p->time = at->time;
	return true;
}

/* In frame->user, beside the node: its call has been counted. */
#define GT_PROFILE_CONTINUES (UINT64_C(1) << 32)

/*
 * At an enter: sets frame->user. True: others want to see it, too, because it is in, from or to a region that
 * communicates, waits or drives a GPU (gt_class_loud()), has attributes, or is the first event.
 */
static inline bool gt_profile_enter(struct gt_profiling *p, struct gt_otf2_cursor *at)
{
	struct gt_otf2_frame *frame = &at->stack[at->depth - 1];
	bool loud = gt_profile_first(p, at) | p->loud | (at->attribute_count != 0);
	size_t region = gt_profile_index(p, frame->region);
	uint32_t child = 0;

	gt_profile_spend(p, at->time);
	if (region < p->region_count && !p->beyond)
		child = gt_profile_find(p->known, p->tree.nodes, p->current, (uint32_t)region);
	if (!child)
		child = gt_profile_call(p, frame->region);
	frame->user = p->current = child;
	if (at->attribute_count && gt_otf2_has_attribute(at, p->continues))
		frame->user |= GT_PROFILE_CONTINUES;
	return loud | (p->beyond != 0) | !p->tree.nodes[child].quiet; /* one without a node may be loud */
}

static inline void gt_profile_count(struct gt_profile_node *node, uint64_t inclusive, uint64_t begin)
{
	node->calls++;
	if (inclusive < node->least)
		node->least = inclusive;
	if (inclusive > node->most) {
		node->most = inclusive;
		node->most_begin = begin;
	}
}

static inline void gt_profile_end_call(struct gt_profiling *p, const struct gt_otf2_cursor *at,
				       const struct gt_otf2_frame *frame)
{
	struct gt_profile_node *node = &p->tree.nodes[(uint32_t)frame->user];
	uint64_t inclusive = gt_otf2_inclusive(at, frame);

	if (p->beyond)
		gt_profile_end_beyond(p, at, frame);
	else if (!(frame->user & GT_PROFILE_CONTINUES))
		gt_profile_count(node, inclusive, frame->begin);
}

/* The same at a leave. */
static inline bool gt_profile_leave(struct gt_profiling *p, const struct gt_otf2_cursor *at,
				    const struct gt_otf2_frame *frame)
{
	bool loud = p->loud | !p->tree.nodes[p->current].quiet | (at->attribute_count != 0);

	gt_profile_spend(p, at->time);
	gt_profile_end_call(p, at, frame);
	p->current = at->depth ? (uint32_t)frame[-1].user : 0;
	return loud;
}

/*
 * gt_otf2_visitor.calls: those that nobody else wants to see, decoded and counted in one loop (calls.c). For
 * a profile that is alone in wanting to see all.
 */
void gt_profile_calls(struct gt_profiling *p, struct gt_otf2_cursor *at, struct gt_otf2_calls *calls);

/* The parts are counted, and others begin. */
static inline void gt_profile_flush(struct gt_profiling *p)
{
	for (uint32_t i = 0; i < p->touched_count; i++) {
		struct gt_profile_node *node = &p->tree.nodes[p->touched[i]];

		node->exclusive += node->part;
		node->part = 0;
	}
	p->touched_count = 0;
}

struct gt_profile {
	struct gt_profile_tree tree;
	struct gt_profile_region *regions;      /* by index */
	struct gt_profile_location *locations;  /* by index */
	size_t location_count;
};

/* The node of the whole tree that is `node` (frame->user) in the tree of a location that has been merged. */
static inline uint32_t gt_profile_node_at(const struct gt_profile *profile, size_t location, uint64_t node)
{
	const struct gt_profile_location *of = &profile->locations[location];

	return node < of->node_count ? of->nodes[node] : 0;
}
/* "main > solve > MPI_Recv", of a node of the whole tree; the first ones are left out if it is too long. */
const char *gt_profile_path(struct gt_report *report, const struct gt_profile *profile, uint32_t node);

/* The callers of a call (call_path.c). */
struct gt_call_path {
	uint32_t path; /* gt_stack_call_path() */
	uint32_t node; /* of the call */
};

/* The same of a call, or what is called in it, with the functions of its path. NULL: it has none. */
const char *gt_profile_call_path(struct gt_report *report, const struct gt_profile *profile, uint32_t node,
				 const struct gt_call_path *call);
/* "a.c:12": the line that made the call, or NULL. */
const char *gt_call_place(struct gt_report *report, const struct gt_call_path *call);
/* The innermost calls of a node of the whole tree, up to one whose region is not defined; and how many. */
unsigned gt_profile_open(const struct gt_report *report, const struct gt_profile *profile, uint32_t node,
			 const struct gt_otf2_region *open[GT_OPEN_MOST]);

/* Sections "regions", "groups", "locations" (profile_tables.c). */
void gt_profile_tables(struct gt_report *report, const struct gt_profile *profile);
/* How long its threads lived. */
static inline uint64_t gt_profile_life(const struct gt_profile_location *location)
{
	return location->end - location->begin - location->absent;
}
/* The part of it that counts, if gt_profile_counts(). */
static inline uint64_t gt_profile_counted(const struct gt_profile_location *location)
{
	return gt_profile_life(location) - location->idle;
}
/*
 * Threads that run one after another share a location: from the end of one, or the last call that one made
 * while it ended, to the begin of the next one there is no thread. True: this event is that begin. `ended`:
 * a thread of the location has ended; false at first.
 */
static inline bool gt_profile_follows(const struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
				      bool *ended)
{
	bool follows = event->type == GT_OTF2_ThreadBegin && *ended && !at->depth;

	*ended = (*ended && !follows) || event->type == GT_OTF2_ThreadEnd;
	return follows;
}
/* Is it a thread that did nothing but wait, as a library makes for itself? `of`: all of its life. */
bool gt_profile_serves(const struct gt_report *report, const struct gt_profile_location *of, size_t location);
/* All has been read: which waits for conditions are idle (model/conditions.h). */
void gt_profile_settle(struct gt_report *report);
/* The part of a location's time outside all regions. */
uint64_t gt_profile_unseen(const struct gt_profile_location *location);
/* Is next to nothing of its life recorded? So it is with what starts ranks, and MPI's own threads. */
bool gt_profile_blank(uint64_t life, uint64_t unseen);
/* The name of a region's group: the archive's, otherwise its kind. NULL: the region is not defined. */
const char *gt_profile_group(const struct gt_report *report, size_t region);
/* Is the location's life part of the whole of which regions and calls have a share? */
bool gt_profile_counts(const struct gt_report *report, const struct gt_profile *profile, size_t location);
/* That whole, without what is idle: gputrace-metrics(7), "SHARES". */
uint64_t gt_profile_whole(const struct gt_report *report, const struct gt_profile *profile);
/* The region's part of it; NAN: only others called it. */
double gt_profile_share(const struct gt_profile_region *region, uint64_t whole);

#endif

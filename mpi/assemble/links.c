/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the two ends of connections between parallel programs; see links.h.
 *
 * Two ends may belong together if each has as many processes as the other one expects, both name the same
 * place, and their calls overlap in time. The peer of an end that connects, or was spawned, is always among
 * those candidates, so a single one is taken. The peer of an end that accepts may not have been recorded; a
 * single candidate is taken only if there are as many ends of one kind as of the other.
 *
 * Limits: times of different hosts are compared within the errors of their clocks.
 */
#include "config.h"

#include "mpi/assemble/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/assemble/comms.h"

#define PIECES_MOST 65536u /* of one list of members */
#define DEPTH_MOST  64	   /* connections made over communicators that came of connections */

struct gt_link_endpoint {
	const struct gt_proc *proc; /* the root */
	uint32_t id;		    /* its LINK */
	const struct gt_def_link *def;
	const char *place;
	uint64_t begin, end; /* ns */
	int64_t error;	     /* of these; -1: unknown */
	struct gt_link_endpoint *other;
	size_t candidates; /* that are still free */
	uint64_t key;	   /* of this end alone, in the run; 0: not known yet */
	struct gt_mpi_member_lists members;
	bool asked; /* for its members */
};

/* A process's LINK. */
struct gt_link_view {
	const struct gt_def_link *def;
	struct gt_link_endpoint *end; /* NULL: its root was not recorded */
	uint64_t key;		 /* 0: not known yet */
};

/* ---- who can belong to whom ------------------------------------------------------------------ */

static bool first_endpoint(const struct gt_link_endpoint *e)
{
	return e->def->kind == GT_LINK_SPAWN || e->def->kind == GT_LINK_ACCEPT;
}

static bool kinds_fit(uint32_t one, uint32_t other)
{
	return (one == GT_LINK_SPAWN && other == GT_LINK_PARENT) ||
	       (one == GT_LINK_ACCEPT && other == GT_LINK_CONNECT) ||
	       (one == GT_LINK_JOIN && other == GT_LINK_JOIN);
}

static bool before(const struct gt_link_endpoint *a, uint64_t one, const struct gt_link_endpoint *b,
		   uint64_t other)
{
	if (a->proc->root == b->proc->root)
		return one <= other;
	if (a->error < 0 || b->error < 0)
		return true;
	return one <= other + (uint64_t)a->error + (uint64_t)b->error;
}

/* Only who was spawned may not know where. */
static bool knows_place(const struct gt_link_endpoint *e)
{
	return *e->place || e->def->kind != GT_LINK_PARENT;
}

static bool same_place(const struct gt_link_endpoint *a, const struct gt_link_endpoint *b)
{
	return !knows_place(a) || !knows_place(b) || !strcmp(a->place, b->place);
}

static bool fits(const struct gt_link_endpoint *a, const struct gt_link_endpoint *b)
{
	if (a == b || !kinds_fit(a->def->kind, b->def->kind) || a->def->near != b->def->far ||
	    a->def->far != b->def->near)
		return false;
	if (!same_place(a, b))
		return false;
	/* What was spawned began during the call. */
	if (a->def->kind == GT_LINK_SPAWN && !before(a, a->begin, b, b->begin))
		return false;
	return before(a, a->begin, b, b->end) && before(b, b->begin, a, a->end);
}

static bool pair_fits(const struct gt_link_endpoint *a, const struct gt_link_endpoint *b)
{
	return first_endpoint(b) ? fits(b, a) : fits(a, b);
}

static void match(struct gt_mpi_links *links, struct gt_link_endpoint *a, struct gt_link_endpoint *b)
{
	a->other = b;
	b->other = a;
	for (size_t i = 0; i < links->end_count; i++) {
		struct gt_link_endpoint *e = &links->ends[i];

		if (!e->other)
			e->candidates -= pair_fits(e, a) + pair_fits(e, b);
	}
}

static struct gt_link_endpoint *only_candidate(struct gt_mpi_links *links, const struct gt_link_endpoint *e)
{
	for (size_t i = 0; e->candidates == 1 && i < links->end_count; i++)
		if (!links->ends[i].other && pair_fits(e, &links->ends[i]))
			return &links->ends[i];
	return NULL;
}

/* Are as many ends left of the one kind as of the other, where this one was made? */
static bool balanced(const struct gt_mpi_links *links, const struct gt_link_endpoint *e)
{
	long sum = 0;

	for (size_t i = 0; i < links->end_count; i++) {
		const struct gt_link_endpoint *o = &links->ends[i];

		if (!o->other && same_place(e, o) &&
		    (o->def->kind == e->def->kind || kinds_fit(e->def->kind, o->def->kind)))
			sum += first_endpoint(o) ? 1 : -1;
	}
	return !sum;
}

static bool may_take(const struct gt_mpi_links *links, const struct gt_link_endpoint *e,
		     const struct gt_link_endpoint *other)
{
	if (e->def->kind == GT_LINK_JOIN)
		return other->candidates == 1;
	return !first_endpoint(e) || balanced(links, e);
}

static void match_all(struct gt_mpi_links *links)
{
	bool again = true;

	for (size_t i = 0; i < links->end_count; i++)
		for (size_t k = 0; k < links->end_count; k++)
			links->ends[i].candidates += pair_fits(&links->ends[i], &links->ends[k]);
	while (again) {
		again = false;
		for (size_t i = 0; i < links->end_count; i++) {
			struct gt_link_endpoint *e = &links->ends[i], *other;

			other = e->other ? NULL : only_candidate(links, e);
			if (other && may_take(links, e, other)) {
				match(links, e, other);
				again = true;
			}
		}
	}
	for (size_t i = 0; i < links->end_count; i++)
		links->alone += !links->ends[i].other && links->ends[i].candidates;
}

/* ---- reading --------------------------------------------------------------------------------- */

static size_t place_of(const struct gt_mpi_links *links, const struct gt_proc *proc)
{
	return (size_t)(proc - links->spool->procs);
}

static void add_endpoint(struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t id,
		    const struct gt_clock *clock)
{
	const struct gt_def_link *def = gt_proc_find(proc, GT_D_LINK, id, NULL);
	const struct gt_scale *scale = &clock->scales[place_of(links, proc)];
	uint64_t begin = def->begin > proc->header.begin ? def->begin : proc->header.begin;

	links->ends[links->end_count++] = (struct gt_link_endpoint){
		.proc = proc,
		.id = id,
		.def = def,
		.place = (const char *)(def + 1),
		.begin = gt_scale_ns(scale, begin),
		.end = gt_scale_ns(scale, def->end),
		.error = clock->errors[place_of(links, proc)],
	};
}

static int read_process(struct gt_mpi_links *links, const struct gt_proc *proc,
			const struct gt_clock *clock)
{
	size_t n = gt_journal_count(&proc->journal, GT_D_LINK), at = place_of(links, proc);

	if (!n || !gt_proc_job(proc))
		return 0;
	links->views[at] = calloc(n + 1, sizeof(**links->views));
	if (!links->views[at])
		return -ENOMEM;
	links->view_counts[at] = (uint32_t)n + 1;
	for (uint32_t id = 1; id <= n; id++) {
		struct gt_link_view *view = &links->views[at][id];

		view->def = gt_journal_find(&proc->journal, GT_D_LINK, id, NULL);
		if (view->def && view->def->root)
			add_endpoint(links, proc, id, clock);
	}
	return 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Of a link whose two ends are known; both ends' processes come to the same. */
static uint64_t whole_key(const struct gt_link_endpoint *e)
{
	const struct gt_link_endpoint *o = e->other;

	if (!o)
		return e->key;
	if (!o->key)
		return 0;
	return gt_hash_mix(e->key < o->key ? e->key : o->key, e->key < o->key ? o->key : e->key);
}

/* The key of the end that a view tells of; 0: what it goes back to is not known yet. */
static uint64_t end_key(const struct gt_mpi_links *links, size_t proc, const struct gt_def_link *def)
{
	const struct gt_link_view *base;

	if (!def->link)
		return def->key;
	if (def->link >= links->view_counts[proc])
		return 1;
	base = &links->views[proc][def->link];
	return base->key ? gt_hash_mix(base->key, def->key) : 0;
}

static struct gt_link_endpoint *find_endpoint(const struct gt_mpi_links *links, uint64_t key)
{
	for (size_t i = 0; i < links->end_count; i++)
		if (links->ends[i].key == key)
			return &links->ends[i];
	return NULL;
}

/* One round; `alone`: what no root has recorded is taken as it is. Returns how many came to be
 * known. */
static size_t know_more(struct gt_mpi_links *links, bool alone)
{
	size_t more = 0;

	for (size_t i = 0; i < links->end_count; i++) {
		struct gt_link_endpoint *e = &links->ends[i];

		if (!e->key) {
			e->key = end_key(links, place_of(links, e->proc), e->def);
			more += e->key != 0;
		}
	}
	for (size_t i = 0; i < links->spool->proc_count; i++)
		for (uint32_t id = 1; id < links->view_counts[i]; id++) {
			struct gt_link_view *view = &links->views[i][id];
			uint64_t key = view->def && !view->key ? end_key(links, i, view->def) : 0;

			if (!key)
				continue;
			view->end = find_endpoint(links, key);
			view->key = view->end ? whole_key(view->end) : alone ? key : 0;
			more += view->key != 0;
		}
	return more;
}

int gt_links_make(struct gt_mpi_links *links, const struct gt_spool *spool,
		  const struct gt_clock *clock)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < spool->proc_count; i++)
		n += gt_journal_count(&spool->procs[i].journal, GT_D_LINK);
	links->spool = spool;
	links->views = calloc(spool->proc_count + 1, sizeof(*links->views));
	links->view_counts = calloc(spool->proc_count + 1, sizeof(*links->view_counts));
	links->ends = calloc(n + 1, sizeof(*links->ends));
	if (!links->views || !links->view_counts || !links->ends)
		return -ENOMEM;
	for (size_t i = 0; n && !rc && i < spool->proc_count; i++)
		rc = read_process(links, &spool->procs[i], clock);
	if (!n || rc)
		return rc;
	match_all(links);
	while (know_more(links, false) || know_more(links, true))
		;
	return 0;
}

void gt_links_free(struct gt_mpi_links *links)
{
	for (size_t i = 0; links->views && i < links->spool->proc_count; i++)
		free(links->views[i]);
	for (size_t i = 0; i < links->end_count; i++)
		free(links->ends[i].members.list);
	free(links->views);
	free(links->view_counts);
	free(links->ends);
	memset(links, 0, sizeof(*links));
}

bool gt_links_any(const struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->proc_count; i++)
		if (gt_journal_count(&spool->procs[i].journal, GT_D_LINK) &&
		    gt_proc_job(&spool->procs[i]))
			return true;
	return false;
}

static const struct gt_link_view *view_of(const struct gt_mpi_links *links, const struct gt_proc *proc,
					  uint32_t id)
{
	size_t at = place_of(links, proc);

	return id && id < links->view_counts[at] ? &links->views[at][id] : NULL;
}

uint64_t gt_links_key(const struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t id)
{
	const struct gt_link_view *view = view_of(links, proc, id);

	return view ? view->key : 0;
}

/* ---- members --------------------------------------------------------------------------------- */

static int members_of(const struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t group,
		      struct gt_mpi_member_lists *members, int depth);

static const struct gt_def_group *group_of(const struct gt_proc *proc, uint32_t id)
{
	const struct gt_def_group *group = id ? gt_proc_find(proc, GT_D_GROUP, id, NULL) : NULL;

	return group && group->kind >= 1 && group->kind <= 3 ? group : NULL;
}

/* Who is at an end, as its root says. Ends that would be needed to know their own members have none. */
static const struct gt_mpi_member_lists *members_at(const struct gt_mpi_links *links,
						    struct gt_link_endpoint *e,
					       int depth)
{
	if (!e->asked && depth < DEPTH_MOST) {
		e->asked = true;
		if (members_of(links, e->proc, e->def->group, &e->members, depth + 1))
			e->members.count = 0;
	}
	return &e->members;
}

static struct gt_mpi_member far_member(const struct gt_mpi_links *links, const struct gt_proc *proc,
				       uint32_t link, uint32_t rank, int depth)
{
	const struct gt_link_view *view = view_of(links, proc, link);
	const struct gt_mpi_member_lists *there = NULL;

	if (view && view->end && view->end->other)
		there = members_at(links, view->end->other, depth);
	if (there && rank < there->count)
		return there->list[rank];
	return (struct gt_mpi_member){0, UINT32_MAX};
}

static void copy(const struct gt_mpi_links *links, const struct gt_proc *proc,
		 const struct gt_def_group *g, struct gt_mpi_member *to, int depth)
{
	const uint32_t *from = (const uint32_t *)(g + 1);
	uint64_t job = gt_proc_job(proc);

	for (uint32_t i = 0; i < g->count; i++) {
		if (g->kind == 3 && from[2 * i])
			to[i] = far_member(links, proc, from[2 * i], from[2 * i + 1], depth);
		else
			to[i] = (struct gt_mpi_member){job, g->kind == 1   ? from[i]
							    : g->kind == 2 ? from[0] + i * from[1]
									   : from[2 * i + 1]};
	}
}

static int members_of(const struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t group,
		      struct gt_mpi_member_lists *members, int depth)
{
	uint64_t total = 0;
	unsigned pieces = 0;

	memset(members, 0, sizeof(*members));
	for (const struct gt_def_group *g = group_of(proc, group); g;
	     g = group_of(proc, g->before)) {
		total += g->count;
		if (total > UINT32_MAX / 8 || ++pieces > PIECES_MOST)
			return -EPROTO;
	}
	if (!total)
		return 0;
	members->list = malloc(total * sizeof(*members->list));
	if (!members->list)
		return -ENOMEM;
	members->count = (uint32_t)total;
	for (const struct gt_def_group *g = group_of(proc, group); g;
	     g = group_of(proc, g->before)) {
		total -= g->count;
		copy(links, proc, g, members->list + total, depth);
	}
	members->hash = 1;
	for (uint32_t i = 0; i < members->count; i++)
		members->hash = gt_hash_mix(gt_hash_mix(members->hash, members->list[i].job),
					     members->list[i].rank);
	return 0;
}

int gt_links_members(const struct gt_mpi_links *links, const struct gt_proc *proc, uint32_t group,
		     struct gt_mpi_member_lists *members)
{
	return members_of(links, proc, group, members, 0);
}

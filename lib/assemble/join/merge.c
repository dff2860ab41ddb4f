/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merging partial archives; see merge.h. The first pass reads processes, locations and clocks of all of
 * them; the second reads the definitions, one partial archive after the other: unifying them with those
 * before gives its mapping tables.
 *
 * Limits: a rank that is in a communicator and in no part (it died before it knew its rank) gets a
 * process without events, so that ranks in events stay right.
 */
#include "config.h"

#include "lib/assemble/join/merge_int.h"

#include "lib/assemble/util/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who appears ------------------------------------------------------------------------------- */

struct entry { /* a process */
	uint64_t job, job_seq;
	uint32_t rank, partial, group;      /* in its part */
	uint32_t first, end;             /* its locations there */
};

struct list {
	struct entry *entries;
	size_t count, room;
};

static int add_entry(struct list *list, const struct entry *entry)
{
	if (!gt_array_has_room(list->entries, list->count, &list->room))
		return -ENOMEM;
	list->entries[list->count++] = *entry;
	return 0;
}

static uint32_t process_of(const struct gt_partial *partial, uint32_t group)
{
	if (group < partial->group_count && partial->groups[group].accelerator)
		group = partial->groups[group].creator;
	return group;
}

/* A part's processes and locations; believes nothing. */
static int list_partial(struct gt_merge *m, uint32_t number, const struct gt_partial *partial,
		     struct list *list)
{
	struct gt_merge_partial *each = &m->each[number];
	uint32_t at = 0;
	int rc = 0;

	each->group_count = partial->group_count;
	each->location_count = partial->location_count;
	each->groups = calloc(partial->group_count + 1, sizeof(*each->groups));
	each->locations = calloc(partial->location_count + 1, sizeof(*each->locations));
	if (!each->groups || !each->locations)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < partial->group_count; i++) {
		const struct gt_partial_group *g = &partial->groups[i];
		struct entry entry = { .job = g->job, .rank = g->rank, .partial = number, .group = i,
				       .first = at };

		if (g->clock >= partial->origins.count ||
		    (g->accelerator && (g->creator >= i || partial->groups[g->creator].accelerator)))
			return -EPROTO;
		if (g->accelerator)
			continue;
		while (at < partial->location_count &&
		       process_of(partial, partial->locations[at].group) == i)
			at++;
		entry.end = at;
		rc = add_entry(list, &entry);
	}
	return rc ? rc : at == partial->location_count ? 0 : -EPROTO;
}

/* Takes the clocks over. */
static int add_origins(struct gt_merge *m, uint32_t number, struct gt_partial *partial)
{
	size_t n = partial->origins.count;
	struct gt_origin *all = realloc(m->origins.list,
					(m->origins.count + n + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	m->origins.list = all;
	m->each[number].first_origin = (uint32_t)m->origins.count;
	for (size_t i = 0; i < n; i++) {
		struct gt_origin *o = &all[m->origins.count];

		*o = partial->origins.list[i];
		o->host[sizeof(o->host) - 1] = 0;
		for (size_t k = 0; k < o->point_count; k++)
			o->sync_points[k].reference[sizeof(o->sync_points[k].reference) - 1] = 0;
		partial->origins.list[i].sync_points = NULL;
		m->origins.count++;
		partial->segments[i] = NULL; /* o->scale has them now */
	}
	return 0;
}

/*
 * Hosts that have a rank that failed: which did so first, as their wall clocks say. If the first process of
 * all is no rank, but what started them, its end is that of the run unless a rank failed beside it.
 */
static void add_failed(struct gt_facts *sum, const struct gt_facts *one)
{
	bool earlier = *sum->failed_rank ? one->failed_ns < sum->failed_ns : sum->of_rank;

	if (!*one->failed_rank || *sum->ended_by || (!*one->ended_by && !earlier))
		return;
	sum->how = one->how;
	sum->status = one->status;
	sum->failed_ns = one->failed_ns;
	memcpy(sum->failed_rank, one->failed_rank, sizeof(sum->failed_rank));
	memcpy(sum->ended_by, one->ended_by, sizeof(sum->ended_by));
	memcpy(sum->ended, one->ended, sizeof(sum->ended));
}

static void add_facts(struct gt_facts *all, struct gt_facts *one, bool first)
{
	struct gt_facts sum = *all;

	if (first) {
		sum = *one;
		one->texts = NULL;
		sum.hosts_missing = false; /* what it was made of is gone */
		*all = sum;
		return;
	}
	sum.processes += one->processes;
	sum.ranks += one->ranks;
	sum.silent += one->silent;
	add_failed(&sum, one);
	if (!*sum.silent_why)
		memcpy(sum.silent_why, one->silent_why, sizeof(sum.silent_why));
	sum.going_on += one->going_on;
	sum.threads += one->threads;
	sum.streams += one->streams;
	sum.killed += one->killed;
	sum.used.measured += one->used.measured;
	sum.used.unmeasured += one->used.unmeasured;
	sum.used.processor_ns += one->used.processor_ns;
	sum.used.processors += one->used.processors;
	if (one->used.quota)
		gt_used_limit(&sum.used, one->used.throttled_ns, one->used.quota);
	if (one->used.memory_peak > sum.used.memory_peak)
		sum.used.memory_peak = one->used.memory_peak;
	if (!sum.killed_one.pid)
		sum.killed_one = one->killed_one;
	sum.damaged += one->damaged;
	for (unsigned i = 0; i < GT_LOSS_N; i++)
		sum.lost[i] += one->lost[i];
	gt_tally_add(&sum.tally, &one->tally);
	if (one->reading_ns > sum.reading_ns)
		sum.reading_ns = one->reading_ns;
	sum.truncated |= one->truncated;
	for (uint32_t i = 0; i < one->job_count; i++)
		gt_facts_put_job(&sum, one->jobs[i].job, one->jobs[i].size);
	*all = sum;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->job_seq != y->job_seq)
		return x->job_seq < y->job_seq ? -1 : 1;
	if (x->job && x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->partial != y->partial)
		return x->partial < y->partial ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

/* Ranks come first, job after job as they began; then the others. */
static int sort_entries(struct list *list)
{
	uint64_t *jobs = calloc(list->count + 1, sizeof(*jobs));
	size_t count = 0;

	if (!jobs)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		struct entry *e = &list->entries[i];

		e->job_seq = UINT64_MAX;
		for (size_t k = 0; e->job && e->job_seq == UINT64_MAX; k++) {
			if (k == count)
				jobs[count++] = e->job;
			if (jobs[k] == e->job)
				e->job_seq = k;
		}
	}
	free(jobs);
	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	return 0;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct gt_merge_rank *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Numbers for a process, what it has on accelerators, and the locations of all that. */
static void number(struct gt_merge *m, const struct entry *e, unsigned job)
{
	struct gt_merge_partial *each = &m->each[e->partial];
	struct gt_layout *layout = &m->layout;

	each->groups[e->group] = layout->group_count;
	layout->groups[layout->group_count++] = (struct gt_out_group){
		.creator = GT_UNDEFINED, .job = e->job, .rank = e->rank, .context = job,
	};
	if (e->job && e->first < e->end)
		m->ranks[m->rank_count++] = (struct gt_merge_rank){ e->job, e->rank,
								    layout->location_count };
	for (uint32_t i = e->first; i < e->end; i++)
		each->locations[i] = layout->location_count++;
}

static int number_all(struct gt_merge *m, struct list *list)
{
	struct gt_layout *layout = &m->layout;
	size_t groups = 0, locations = 0;
	unsigned jobs = 0;
	int rc = sort_entries(list);

	if (rc)
		return rc;
	for (size_t i = 0; i < m->partial_count; i++) {
		groups += m->each[i].group_count;
		locations += m->each[i].location_count;
	}
	layout->groups = calloc(groups + 1, sizeof(*layout->groups));
	layout->locations = calloc(locations + 1, sizeof(*layout->locations));
	m->ranks = calloc(list->count + 1, sizeof(*m->ranks));
	if (!layout->groups || !layout->locations || !m->ranks)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		const struct entry *e = &list->entries[i];
		struct gt_merge_partial *each = &m->each[e->partial];

		jobs += e->job && (!i || e->job != e[-1].job);
		number(m, e, e->job ? jobs : 0);
		/* Its accelerators follow it in the part, up to the next process. */
		for (uint32_t k = e->group + 1; k < each->group_count && each->groups[k] == GT_UNDEFINED;
		     k++)
			each->groups[k] = layout->group_count++;
	}
	qsort(m->ranks, m->rank_count, sizeof(*m->ranks), compare_ranks);
	return 0;
}

static int find_corrections(struct gt_merge *m)
{
	m->corrections = calloc(m->origins.count + 1, sizeof(*m->corrections));
	if (!m->corrections)
		return -ENOMEM;
	for (size_t i = 0; i < m->origins.count; i++) {
		struct gt_corrections *c = &m->corrections[i];
		const struct gt_scale *to = &m->clock.scales[i];
		size_t room = m->origins.list[i].scale.segment_count + to->segment_count + 2;
		long n;

		c->points = calloc(room, sizeof(*c->points));
		if (!c->points)
			return -ENOMEM;
		n = gt_clock_offsets(&m->origins.list[i], to, c->points, room);
		if (n < 0)
			return (int)n;
		c->count = (size_t)n;
	}
	return 0;
}

int gt_merge_who(struct gt_merge *m)
{
	struct list list = { 0 };
	uint32_t processes = 0;
	int rc = gt_defs_init(&m->defs);

	m->each = calloc(m->partial_count + 1, sizeof(*m->each));
	if (!m->each)
		rc = -ENOMEM;
	for (uint32_t i = 0; !rc && i < m->partial_count; i++) {
		struct gt_partial partial;

		m->at = m->partials[i].path;
		rc = gt_partial_load(&partial, m->dirfd, m->partials[i].path, false);
		if (rc)
			break;
		rc = list_partial(m, i, &partial, &list);
		for (uint32_t k = 0; !rc && k < partial.group_count; k++)
			if (partial.groups[k].accelerator)
				m->each[i].groups[k] = GT_UNDEFINED;
		m->each[i].first_process = processes;
		processes += partial.group_count;
		if (!rc)
			rc = add_origins(m, i, &partial);
		if (!rc)
			add_facts(&m->facts, &partial.facts, !i);
		gt_partial_free(&partial);
	}
	if (!rc) {
		m->at = NULL;
		rc = number_all(m, &list);
	}
	free(list.entries);
	if (!rc && m->origins.count)
		rc = gt_clock_join(&m->clock, &m->origins);
	return rc ? rc : find_corrections(m);
}

/* ---- the order of messages -------------------------------------------------------------------------- */

/* Which host each clock is of: the place of the host's first clock. */
static void find_hosts(const struct gt_merge *m, uint32_t *hosts)
{
	const struct gt_origin *list = m->origins.list;

	for (uint32_t i = 0; i < m->origins.count; i++) {
		hosts[i] = 0;
		while (strcmp(list[hosts[i]].host, list[i].host) != 0)
			hosts[i]++;
	}
}

/* Shifts the times of all clocks of a host, and says so in their errors. */
static int shift(struct gt_merge *m, const uint32_t *hosts)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->origins.count; i++) {
		const struct gt_shift *s = &m->order.shifts[hosts[i]];
		int64_t *error = &m->clock.errors[i];

		rc = gt_shift_correct(&m->corrections[i], s);
		if (*error >= 0)
			*error += gt_shift_most(s);
		if (m->clock.error_ns >= 0 && *error > m->clock.error_ns)
			m->clock.error_ns = *error;
	}
	return rc;
}

static int read_order(struct gt_merge *m, struct gt_messages *ends, const uint32_t *hosts)
{
	char path[256];
	int rc = 0;

	for (size_t i = 0; !rc && i < m->partial_count; i++) {
		uint32_t first = m->each[i].first_origin;

		snprintf(path, sizeof(path), "%s/" GT_ORDER_NAME, m->partials[i].path);
		rc = gt_order_read(ends, m->dirfd, path, hosts + first, m->corrections + first,
				   m->origins.count - first);
	}
	return rc;
}

int gt_merge_order(struct gt_merge *m)
{
	uint32_t *hosts = calloc(m->origins.count + 1, sizeof(*hosts));
	struct gt_messages *ends = NULL;
	int rc = hosts ? gt_messages_new(&ends, m->workfd) : -ENOMEM;

	if (!rc) {
		find_hosts(m, hosts);
		rc = read_order(m, ends, hosts);
	}
	if (!rc)
		rc = gt_order_make(&m->order, ends, m->clock.errors, m->origins.count);
	if (!rc)
		rc = shift(m, hosts);
	gt_messages_free(ends);
	free(hosts);
	return rc == -ENOSPC ? 0 : rc; /* no room to sort: the times stay as they are */
}

/* ---- all of a part --------------------------------------------------------------------------------- */

static void free_task(struct gt_merge_task *t)
{
	for (unsigned i = 0; i < GT_MAPS; i++)
		free(t->maps[i]);
	free(t->members);
	free(t->markers);
	free(t->nodes);
	free(t->spoken);
	gt_partial_free(&t->partial);
}

static int merge_partial(struct gt_merge *m, uint32_t number, struct gt_archive *archive)
{
	struct gt_merge_task t = { .m = m, .number = number, .each = &m->each[number] };
	int rc = gt_partial_load(&t.partial, m->dirfd, m->partials[number].path, true);

	if (rc)
		return rc;
	/* It was read before; in between nobody has the right to change it. */
	if (t.partial.group_count != t.each->group_count ||
	    t.partial.location_count != t.each->location_count)
		rc = -EPROTO;
	if (!rc)
		rc = gt_merge_unify(&t);
	if (!rc)
		rc = gt_merge_files(&t, archive);
	free_task(&t);
	return rc;
}

/* ---- members of communicators ---------------------------------------------------------------------- */

static struct gt_merge_rank *find_rank(const struct gt_merge *m, uint64_t job, uint32_t rank)
{
	const struct gt_merge_rank key = { .job = job, .rank = rank };

	return bsearch(&key, m->ranks, m->rank_count, sizeof(*m->ranks), compare_ranks);
}

/* A process without events for a rank that nobody has recorded. */
static int stand_in(struct gt_merge *m, struct gt_archive *archive, uint64_t job, uint32_t rank)
{
	struct gt_layout *layout = &m->layout;
	struct gt_out_group *groups = realloc(layout->groups, (layout->group_count + 1) * sizeof(*groups));
	struct gt_out_location *locations;
	const struct gt_merge_rank own = { job, rank, layout->location_count };
	struct gt_merge_rank *ranks;
	unsigned context = 1;
	size_t at;

	if (!groups)
		return -ENOMEM;
	layout->groups = groups;
	locations = realloc(layout->locations, (layout->location_count + 1) * sizeof(*locations));
	if (!locations)
		return -ENOMEM;
	layout->locations = locations;
	ranks = realloc(m->ranks, (m->rank_count + 1) * sizeof(*ranks));
	if (!ranks)
		return -ENOMEM;
	m->ranks = ranks;
	for (uint32_t i = 0; i < layout->group_count; i++)
		if (groups[i].job == job)
			context = groups[i].context;
	groups[layout->group_count] = (struct gt_out_group){
		.name = gt_layout_rank(&m->defs, rank, context), .creator = GT_UNDEFINED,
		.job = job, .rank = rank, .context = context, .missing = true,
	};
	locations[layout->location_count] = (struct gt_out_location){
		.name = gt_defs_string(&m->defs, "Master thread"), .group = layout->group_count,
		.type = GT_AS_THREAD, .thread = true,
	};
	gt_properties_add(&m->properties, &m->defs, true, layout->group_count, "MISSING", "yes");
	gt_archive_empty(archive, layout->location_count);
	gt_local_defs_write(archive, NULL, layout->location_count, GT_UNDEFINED, NULL, 0, 0);
	for (at = m->rank_count++; at && compare_ranks(&ranks[at - 1], &own) > 0; at--)
		ranks[at] = ranks[at - 1];
	ranks[at] = own;
	layout->group_count++;
	layout->location_count++;
	return m->properties.rc;
}

static int place_ranks(struct gt_merge *m, struct gt_archive *archive, uint64_t job, uint64_t *members,
		       size_t count)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++) {
		const struct gt_merge_rank *found = find_rank(m, job, (uint32_t)members[i]);

		if (!found) {
			rc = stand_in(m, archive, job, (uint32_t)members[i]);
			found = rc ? NULL : find_rank(m, job, (uint32_t)members[i]);
		}
		if (found)
			members[i] = found->location;
	}
	return rc;
}

int gt_merge_all(struct gt_merge *m, struct gt_archive *archive)
{
	struct gt_comm *comms;
	uint64_t end;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < m->partial_count; i++) {
		m->at = m->partials[i].path;
		rc = merge_partial(m, i, archive);
	}
	if (!rc)
		m->at = NULL;
	comms = m->defs.comms.items;
	for (size_t i = 0; !rc && i < gt_table_count(&m->defs.comms); i++) {
		if (!comms[i].job)
			continue;
		rc = place_ranks(m, archive, comms[i].job, comms[i].members, comms[i].member_count);
		if (!rc)
			rc = place_ranks(m, archive, comms[i].job, comms[i].remote,
					 comms[i].remote_count);
	}
	/* The readers' interpolation may round up. */
	end = m->when.length_ns > m->clock.end_ns ? m->when.length_ns : m->clock.end_ns;
	m->when.length_ns = end + 2 - m->when.offset_ns;
	m->when.start_real_ns = m->when.offset_ns;
	m->when.properties = &m->properties;
	return rc ? rc : m->defs.failed;
}

void gt_merge_free(struct gt_merge *m)
{
	for (size_t i = 0; m->each && i < m->partial_count; i++) {
		free(m->each[i].groups);
		free(m->each[i].locations);
	}
	free(m->each);
	free(m->ranks);
	for (size_t i = 0; i < m->origins.count; i++)
		free((struct gt_segment *)(uintptr_t)m->origins.list[i].scale.segments);
	for (size_t i = 0; m->corrections && i < m->origins.count; i++)
		free(m->corrections[i].points);
	free(m->corrections);
	gt_order_free(&m->order);
	gt_origins_free(&m->origins);
	gt_clock_free(&m->clock);
	gt_properties_free(&m->properties);
	gt_facts_free(&m->facts);
	gt_layout_free(&m->layout);
	gt_defs_free(&m->defs);
}

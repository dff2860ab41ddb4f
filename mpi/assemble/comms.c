/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unifying communicators of processes by their keys; see comms.h.
 *
 * Limits: memory grows with the members of distinct communicators and with the number of
 * definitions, not with their product over the ranks.
 */
#include "config.h"

#include "mpi/assemble/comms.h"

#include "lib/assemble/util/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MOST   65536u /* pieces of one list of members */

/* ---- who is which rank ---------------------------------------------------------------------- */

/* The file of the MPI library that it has loaded, from the last slash on; NULL: none. */
static const char *library_of(const struct gt_proc *proc)
{
	for (size_t i = 0; i < gt_journal_count(&proc->journal, GT_D_MODULE); i++) {
		const struct gt_def_module *module =
			gt_journal_nth(&proc->journal, GT_D_MODULE, i, NULL, NULL);
		const char *name = strrchr((const char *)(module + 1), '/');

		if (name && (!strncmp(name, "/libmpi.so", 10) || !strncmp(name, "/libmpich.so", 12) ||
			     !strncmp(name, "/libmpi_abi.so", 14)))
			return name;
	}
	return NULL;
}

bool gt_mpi_silent(const struct gt_proc *proc)
{
	const char *wish = gt_journal_property(&proc->journal, "setting:VT_MPITRACE");

	/* What a rank forks, or starts for itself, is none. */
	for (const struct gt_proc *p = proc; p; p = p->parent)
		if (p->header.rank != UINT32_MAX)
			return false;
	return proc->header.origin != 1 && (!wish || strcmp(wish, "no")) &&
	       gt_journal_property(&proc->journal, "launcher-rank") && library_of(proc);
}

/* All with MPICH's binary interface call their library libmpi.so.12, Open MPI has reached 40 and more. */
void gt_mpi_silent_why(const struct gt_proc *proc, char *text, size_t size)
{
	const char *library = library_of(proc);
	bool mpich = library && (!strncmp(library, "/libmpich", 9) || !strcmp(library, "/libmpi.so.12") ||
				 !strncmp(library, "/libmpi.so.12.", 14));

	*text = '\0';
	if (library && !strncmp(library, "/libmpi_abi", 11))
		snprintf(text, size, "programs linked with libmpi_abi (mpicc_abi) are not supported");
	else if (gt_journal_property(&proc->journal, "mpi-not-installed"))
		snprintf(text, size, "libgputrace-mpi-%s.so is not installed",
			 gt_journal_property(&proc->journal, "mpi-not-installed"));
	else if (library && mpich && !GT_HAVE_MPICH)
		snprintf(text, size, "this gputrace was built without MPICH");
	else if (library && !mpich && !GT_HAVE_OPENMPI)
		snprintf(text, size, "this gputrace was built without Open MPI");
}

static int compare_ranks(const void *a, const void *b)
{
	const struct gt_mpi_rank *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->location > y->location) - (x->location < y->location);
}

static int find_ranks(struct gt_mpi *mpi, const struct gt_layout *layout)
{
	mpi->ranks = calloc(layout->location_count + 1, sizeof(*mpi->ranks));
	mpi->rank_of = calloc(layout->location_count + 1, sizeof(*mpi->rank_of));
	if (!mpi->ranks || !mpi->rank_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < layout->location_count; i++) {
		const struct gt_proc *proc = layout->locations[i].loc->proc;
		uint64_t job = layout->locations[i].first ? gt_proc_job(proc) : 0;

		if (job)
			mpi->ranks[mpi->rank_count++] = (struct gt_mpi_rank){
				.job = job, .rank = proc->header.rank, .location = i,
			};
	}
	qsort(mpi->ranks, mpi->rank_count, sizeof(*mpi->ranks), compare_ranks);
	for (size_t i = 0; i < mpi->rank_count; i++)
		mpi->rank_of[mpi->ranks[i].location] = (uint32_t)i + 1;
	return 0;
}

static uint32_t location_of(const struct gt_mpi *mpi, uint64_t job, uint32_t rank)
{
	size_t low = 0, high = mpi->rank_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gt_mpi_rank *r = &mpi->ranks[middle];

		if (r->job < job || (r->job == job && r->rank < rank))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == mpi->rank_count || mpi->ranks[low].job != job || mpi->ranks[low].rank != rank)
		return GT_UNDEFINED;
	return mpi->ranks[low].location;
}

/* Processes of the job here, at most `most`. */
static size_t count_ranks(const struct gt_mpi *mpi, uint64_t job, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < mpi->rank_count && n < most; i++)
		n += mpi->ranks[i].job == job;
	return n;
}

bool gt_mpi_complete(int dirfd, uint64_t job)
{
	char path[64];

	snprintf(path, sizeof(path), "spool/job.%lx/complete", (unsigned long)job);
	return !faccessat(dirfd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* ---- lists of members ----------------------------------------------------------------------- */

struct members {
	uint32_t *ranks;         /* of the process's job; or, if others may be among them: */
	struct gt_mpi_member *list;
	uint32_t count;
	uint64_t hash;
};

static const struct gt_def_group *group_of(const struct gt_proc *proc, uint32_t id)
{
	const struct gt_def_group *group = id ? gt_proc_find(proc, GT_D_GROUP, id, NULL) : NULL;

	return group && (group->kind == 1 || group->kind == 2) ? group : NULL;
}

static void copy_members(uint32_t *to, const struct gt_def_group *group)
{
	const uint32_t *from = (const uint32_t *)(group + 1);

	if (group->kind == 1)
		memcpy(to, from, group->count * sizeof(*to));
	else
		for (uint32_t i = 0; i < group->count; i++)
			to[i] = from[0] + i * from[1];
}

/* How many there are, without reading them. */
static uint64_t count_members(const struct gt_proc *proc, uint32_t id)
{
	uint64_t total = 0;
	unsigned links = 0;

	for (const struct gt_def_group *g = group_of(proc, id); g && ++links <= LINKS_MOST;
	     g = group_of(proc, g->before))
		total += g->count;
	return total;
}

/* Long lists come in pieces, the last one first. */
static int read_members(const struct gt_proc *proc, uint32_t id, struct members *m)
{
	uint64_t total = 0;
	unsigned links = 0;

	memset(m, 0, sizeof(*m));
	for (const struct gt_def_group *g = group_of(proc, id); g; g = group_of(proc, g->before)) {
		total += g->count;
		if (total > UINT32_MAX / 8 || ++links > LINKS_MOST)
			return -EPROTO;
	}
	if (!total)
		return 0;
	m->ranks = malloc(total * sizeof(*m->ranks));
	if (!m->ranks)
		return -ENOMEM;
	m->count = (uint32_t)total;
	for (const struct gt_def_group *g = group_of(proc, id); g; g = group_of(proc, g->before)) {
		total -= g->count;
		copy_members(m->ranks + total, g);
	}
	m->hash = gt_hash_bytes(1, m->ranks, m->count * sizeof(*m->ranks));
	return 0;
}

/* ---- communicators -------------------------------------------------------------------------- */

static int grow_table(struct gt_mpi *mpi)
{
	size_t size = mpi->table ? 2 * (mpi->mask + 1) : 64;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	free(mpi->table);
	mpi->table = table;
	mpi->mask = size - 1;
	for (size_t i = 0; i < mpi->count; i++) {
		size_t at = gt_hash_word(mpi->comms[i]->key) >> 20 & mpi->mask;

		while (table[at])
			at = (at + 1) & mpi->mask;
		table[at] = (uint32_t)i + 1;
	}
	return 0;
}

static struct gt_mpi_archive_comm *known(const struct gt_mpi *mpi, uint64_t key)
{
	size_t at = gt_hash_word(key) >> 20 & mpi->mask;

	for (; mpi->table && mpi->table[at]; at = (at + 1) & mpi->mask)
		if (mpi->comms[mpi->table[at] - 1]->key == key)
			return mpi->comms[mpi->table[at] - 1];
	return NULL;
}

static struct gt_mpi_archive_comm *new_comm(struct gt_mpi *mpi, uint64_t key)
{
	struct gt_mpi_archive_comm *comm = calloc(1, sizeof(*comm));

	if (!gt_array_has_room(mpi->comms, mpi->count, &mpi->room)) {
		free(comm);
		return NULL;
	}
	if (!comm)
		return NULL;
	comm->key = key;
	mpi->comms[mpi->count++] = comm;
	if (2 * mpi->count > mpi->mask && grow_table(mpi))
		return NULL;
	for (size_t at = gt_hash_word(key) >> 20 & mpi->mask;;
	     at = (at + 1) & mpi->mask) {
		if (mpi->table[at] == mpi->count) /* grow_table() has done it */
			break;
		if (!mpi->table[at]) {
			mpi->table[at] = (uint32_t)mpi->count;
			break;
		}
	}
	return comm;
}

static void free_members(struct members *m)
{
	free(m->ranks);
	free(m->list);
}

/* Of a communicator that goes back to a link. */
static int read_linked(const struct gt_mpi *mpi, const struct gt_proc *proc, uint32_t id, struct members *m)
{
	struct gt_mpi_member_lists members;
	int rc = gt_links_members(&mpi->links, proc, id, &members);

	*m = (struct members){ .list = members.list, .count = members.count, .hash = members.hash };
	return rc;
}

struct task {
	struct gt_mpi *mpi;
	struct gt_defs *defs;
	const struct gt_proc *proc;
	uint64_t job;
	bool alone;           /* the job has one rank */
	bool by_rank;         /* members are kept as ranks: not all are here */
	uint32_t most;        /* COMM id */
	struct gt_mpi_view *views;
};

/*
 * The locations of the members, in order. Those that are missing are left out, and ranks get places.
 * Where not all can be here, the ranks themselves.
 */
static int locate(const struct task *task, const struct members *m, struct gt_mpi_side *side,
		  uint64_t **members, size_t *count)
{
	uint32_t kept = 0;
	uint64_t *list = malloc((m->count + 1) * sizeof(*list));

	side->size = m->count;
	side->place = malloc((m->count + 1) * sizeof(*side->place));
	if (!list || !side->place) {
		free(list);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->count; i++) {
		uint32_t location = m->list	  ? location_of(task->mpi, m->list[i].job, m->list[i].rank)
				    : task->by_rank ? m->ranks[i]
						    : location_of(task->mpi, task->job, m->ranks[i]);

		side->place[i] = location == GT_UNDEFINED ? GT_UNDEFINED : kept;
		if (location != GT_UNDEFINED)
			list[kept++] = location;
	}
	if (kept == m->count) {
		free(side->place);
		side->place = NULL;
	}
	*members = list;
	*count = kept;
	return 0;
}

static int define(struct task *task, struct gt_mpi_archive_comm *comm, const struct gt_def_shared *def,
		  const struct members *near, const struct members *far, const char *name)
{
	struct gt_comm out = {
		.name = gt_defs_string(task->defs, name), .parent = GT_UNDEFINED,
		.proc = GT_UNDEFINED, .paradigm = GT_PARADIGM_MPI,
		.self = !far->count && near->count == 1 && !task->alone, .inter = far->count != 0,
		.events = def->flags & GT_COMM_EVENTS,
	};
	/* Both sides give the archive the same order: that of the members' hash. */
	unsigned swap = far->count && far->hash < near->hash;
	uint64_t key[2] = { 'M', comm->key };
	int rc;

	if (task->by_rank && !near->list)
		out.job = task->job;
	if (def->parent && def->parent <= task->most && task->views[def->parent].comm)
		out.parent = task->views[def->parent].comm->number;
	comm->inter = out.inter;
	comm->first[swap] = near->hash;
	comm->first[!swap] = far->hash;
	if (out.self) {
		comm->sides[0].size = 1;
		comm->number = gt_defs_comm(task->defs, key, sizeof(key), &out, NULL);
		return 0;
	}
	rc = locate(task, swap ? far : near, &comm->sides[0], &out.members, &out.member_count);
	if (!rc && out.inter)
		rc = locate(task, swap ? near : far, &comm->sides[1], &out.remote,
			    &out.remote_count);
	if (rc) {
		free(out.members);
		return rc;
	}
	comm->number = gt_defs_comm(task->defs, key, sizeof(key), &out, NULL);
	if (comm->number < gt_table_count(&task->defs->comms)) {
		const struct gt_comm *made =
			(const struct gt_comm *)task->defs->comms.items + comm->number;

		comm->members[0] = made->members;
		comm->members[1] = made->remote;
		comm->job = made->job;
	}
	return 0;
}

static int look_at(struct task *task, uint32_t id)
{
	const struct gt_def_shared *def = gt_proc_find(task->proc, GT_D_COMM, id, NULL);
	const char *name = gt_proc_string(task->proc, def->name);
	uint64_t key = def->key, salt = gt_links_key(&task->mpi->links, task->proc,
						     def->flags >> GT_COMM_LINK_SHIFT);
	bool linked = def->flags >> GT_COMM_LINK_SHIFT != 0;
	struct members near = { 0 }, far = { 0 };
	struct gt_mpi_archive_comm *comm;
	int rc;

	if (linked && !salt)
		return 0;
	if (linked)
		key = gt_hash_mix(salt, key);

	/* One that other processes have told about already, with all its members. */
	comm = def->remote ? NULL : known(task->mpi, key);
	if (comm && !comm->inter && count_members(task->proc, def->group) > 1) {
		task->views[id] = (struct gt_mpi_view){ .comm = comm, .salt = salt };
		return 0;
	}
	rc = linked ? read_linked(task->mpi, task->proc, def->group, &near)
		    : read_members(task->proc, def->group, &near);
	if (!rc)
		rc = linked ? read_linked(task->mpi, task->proc, def->remote, &far)
			    : read_members(task->proc, def->remote, &far);
	if (rc || !near.count)
		goto done;
	if (!name)
		name = "";
	/* One communicator stands for all that have just their own process in them. */
	if (near.count == 1 && !far.count && !task->alone)
		key = gt_hash_text(GT_HASH_START, name);
	comm = known(task->mpi, key);
	if (!comm) {
		comm = new_comm(task->mpi, key);
		rc = comm ? define(task, comm, def, &near, &far, name) : -ENOMEM;
	}
	if (!rc)
		task->views[id] = (struct gt_mpi_view){
			.comm = comm,
			.far = comm->inter && comm->first[0] == near.hash,
			.salt = salt,
		};
done:
	free_members(&near);
	free_members(&far);
	return rc == -EPROTO ? 0 : rc;
}

/* Are the others of the job here, or is it known that they are elsewhere? */
static int find_others(struct task *task)
{
	uint32_t size = gt_proc_number(task->proc, "job-size");
	struct gt_mpi *mpi = task->mpi;
	size_t here;

	if (mpi->counted_job != task->job)
		mpi->counted = count_ranks(mpi, task->job,
					   mpi->how == GT_HOW_WHOLE ? 2 : SIZE_MAX);
	mpi->counted_job = task->job;
	here = mpi->counted;
	task->alone = here < 2;
	if (mpi->how == GT_HOW_WHOLE || here >= size)
		return 0;
	task->by_rank = gt_mpi_complete(mpi->dirfd, task->job);
	task->alone = task->alone && !task->by_rank;
	return task->by_rank || mpi->how == GT_HOW_PART ? 0 : -EAGAIN;
}

static int look_at_process(struct gt_mpi *mpi, const struct gt_proc *proc, size_t place,
			   struct gt_defs *defs)
{
	struct task task = { .mpi = mpi, .defs = defs, .proc = proc, .job = gt_proc_job(proc) };
	size_t n = gt_journal_count(&proc->journal, GT_D_COMM);
	uint32_t most = 0, id;
	int rc = 0;

	if (!task.job || !n)
		return 0;
	rc = find_others(&task);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		gt_journal_nth(&proc->journal, GT_D_COMM, i, &id, NULL);
		most = id > most && id <= n ? id : most;
	}
	task.views = calloc((size_t)n + 1, sizeof(*task.views));
	if (!task.views)
		return -ENOMEM;
	task.most = most;
	mpi->views[place] = task.views;
	mpi->view_counts[place] = most + 1;
	for (size_t i = 0; !rc && i < n; i++) {
		const struct gt_def_shared *def =
			gt_journal_nth(&proc->journal, GT_D_COMM, i, &id, NULL);

		if (id && id <= most && !task.views[id].comm && def->paradigm == GT_PARADIGM_MPI)
			rc = look_at(&task, id);
	}
	return rc;
}

int gt_mpi_make(struct gt_mpi *mpi, const struct gt_spool *spool, const struct gt_layout *layout,
		const struct gt_clock *clock, struct gt_defs *defs, enum gt_how how)
{
	int rc = find_ranks(mpi, layout);

	if (how == GT_HOW_ALONE && gt_links_any(spool))
		return -EAGAIN; /* the other ends may be on other hosts */
	if (!rc)
		rc = gt_links_make(&mpi->links, spool, clock);
	mpi->how = how;
	mpi->dirfd = spool->dirfd;
	mpi->proc_count = spool->proc_count;
	mpi->views = calloc(spool->proc_count + 1, sizeof(struct gt_mpi_view *));
	mpi->view_counts = calloc(spool->proc_count + 1, sizeof(*mpi->view_counts));
	mpi->who = calloc(spool->proc_count + 1, sizeof(*mpi->who));
	if (!mpi->views || !mpi->view_counts || !mpi->who)
		rc = -ENOMEM;
	/* In order of ranks, so that rank 0's communicators come first. */
	for (size_t i = 0; !rc && i < mpi->rank_count; i++) {
		const struct gt_proc *proc = layout->locations[mpi->ranks[i].location].loc->proc;

		rc = look_at_process(mpi, proc, (size_t)(proc - spool->procs), defs);
		mpi->who[proc - spool->procs] = gt_mpi_who(mpi->ranks[i].job, mpi->ranks[i].rank);
	}
	return rc;
}

void gt_mpi_free(struct gt_mpi *mpi)
{
	for (size_t i = 0; i < mpi->count; i++) {
		free(mpi->comms[i]->sides[0].place);
		free(mpi->comms[i]->sides[1].place);
		free(mpi->comms[i]);
	}
	for (size_t i = 0; mpi->views && i < mpi->proc_count; i++)
		free(mpi->views[i]);
	gt_links_free(&mpi->links);
	free(mpi->comms);
	free(mpi->table);
	free(mpi->views);
	free(mpi->view_counts);
	free(mpi->who);
	free(mpi->ranks);
	free(mpi->rank_of);
	memset(mpi, 0, sizeof(*mpi));
}

const struct gt_mpi_view *gt_mpi_view_of(const struct gt_mpi *mpi, size_t proc, uint32_t id)
{
	if (!mpi || proc >= mpi->proc_count || id >= mpi->view_counts[proc] ||
	    !mpi->views[proc][id].comm)
		return NULL;
	return &mpi->views[proc][id];
}

uint32_t gt_mpi_return(const struct gt_mpi_view *view, uint32_t rank)
{
	const struct gt_mpi_side *side = &view->comm->sides[view->far];

	if (rank >= side->size)
		return GT_UNDEFINED;
	return side->place ? side->place[rank] : rank;
}

uint64_t gt_mpi_who_is(const struct gt_mpi *mpi, const struct gt_proc *proc)
{
	return mpi->who[proc - proc->spool->procs];
}

uint64_t gt_mpi_who(uint64_t job, uint32_t rank)
{
	return gt_hash_mix(gt_hash_mix(1, job), rank);
}

bool gt_mpi_elsewhere(const struct gt_mpi *mpi, const struct gt_layout *layout,
		      const struct gt_mpi_view *view, uint32_t place, const struct gt_proc *proc,
		      uint64_t *who)
{
	const uint64_t *members = view->comm->members[view->far];
	uint64_t job = view->comm->job;
	uint32_t location, rank;

	if (!members)
		return false;
	if (job) {
		rank = (uint32_t)members[place];
		location = location_of(mpi, job, rank);
	} else {
		location = (uint32_t)members[place];
		job = mpi->ranks[mpi->rank_of[location] - 1].job;
		rank = mpi->ranks[mpi->rank_of[location] - 1].rank;
	}
	*who = gt_mpi_who(job, rank);
	return location == GT_UNDEFINED ||
	       strcmp(layout->locations[location].loc->proc->header.host, proc->header.host) != 0;
}

/* ---- topologies ------------------------------------------------------------------------------ */

/* Where somebody is missing, places are not what the program knows. */
static void topology_of(const struct gt_mpi *mpi, size_t place, const struct gt_def_topology *def,
		    struct gt_defs *defs)
{
	const struct gt_mpi_view *view = gt_mpi_view_of(mpi, place, def->comm);
	struct gt_topology topology = { .count = def->count };
	const struct gt_comm *comm;
	uint64_t size = 1;

	if (!view || view->comm->inter || !def->count || def->count > GT_DIMENSIONS)
		return;
	comm = (const struct gt_comm *)defs->comms.items + view->comm->number;
	topology.comm = view->comm->number;
	memcpy(topology.numbers, def + 1, 2 * (size_t)def->count * sizeof(uint32_t));
	for (uint32_t i = 0; i < def->count && size <= UINT32_MAX; i++)
		size *= topology.numbers[i];
	if (size != comm->member_count)
		return;
	if (!gt_defs_topology(defs, &topology))
		return;
	defs->other_bytes += size * (16 + 5 * (uint64_t)def->count);
}

void gt_mpi_topologies(const struct gt_mpi *mpi, const struct gt_spool *spool, struct gt_defs *defs)
{
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_journal *journal = &spool->procs[i].journal;

		for (size_t k = 0; k < gt_journal_count(journal, GT_D_TOPOLOGY); k++)
			topology_of(mpi, i, gt_journal_nth(journal, GT_D_TOPOLOGY, k, NULL, NULL), defs);
	}
}

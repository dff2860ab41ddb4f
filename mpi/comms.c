/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: who is in them, and a key by which all members recognise the same one without
 * talking to each other.
 *
 * The key of a new communicator is made of its parent's key, the number of communicators made from
 * the parent so far (MPI orders these calls: all members of the parent count the same), and its
 * members. Where only a part of the parent's members takes part (groups, inter-communicators) the
 * tag and the number of times that just these members did so take the place of that count.
 *
 * Sessions make communicators without a parent: then the string that tells them apart takes its place,
 * and also their name.
 *
 * Limits: members are known by their rank in MPI_COMM_WORLD; communicators with members of another
 * one (spawned processes, accept and connect) are not recorded.
 */
#include <string.h>
#include <sys/mman.h>

#include "mpi/events.h"
#include "mpi/generated.h"

#define BUCKETS    256u
#define PARADIGM   4u /* OTF2_PARADIGM_MPI */
#define CHUNK      64u
#define TIMES      1024u
#define DIMENSIONS 32

uint64_t gt_mpi_generation = 1;

static uint32_t lock;
static struct gt_mpi_comm *buckets[BUCKETS], *spare;
static MPI_Group world;       /* of MPI_COMM_WORLD, or the process set of that name */
static int world_size;
static unsigned users;        /* of MPI: sessions that are open, and one for MPI_Init */
static bool ready;            /* there are some */
static uint64_t own_job;

/* ---- groups --------------------------------------------------------------------------------- */

/* Member lists that have been written, by their hash. */
static struct { uint64_t hash; gt_ref ref; } lists[256];

struct members {
	uint64_t hash;
	gt_ref ref;
	int size;
	bool foreign; /* some are not in MPI_COMM_WORLD */
};

static struct members look_at(MPI_Group group)
{
	struct members m = { .hash = 1 };
	int *ranks;
	size_t slot, bytes;

	if (gt_mpi_Group_size()(group, &m.size) != MPI_SUCCESS || m.size <= 0)
		return (struct members){ .foreign = true };
	bytes = 2 * (size_t)m.size * sizeof(*ranks);
	ranks = gt_mpi_memory(bytes);
	if (!ranks)
		return (struct members){ .foreign = true };
	for (int i = 0; i < m.size; i++)
		ranks[i] = i;
	if (gt_mpi_Group_translate_ranks()(group, m.size, ranks, world, ranks + m.size) != MPI_SUCCESS)
		m.foreign = true;
	for (int i = 0; !m.foreign && i < m.size; i++) {
		m.foreign = ranks[m.size + i] < 0 || ranks[m.size + i] >= world_size;
		m.hash = gt_mpi_mix(m.hash, (uint64_t)ranks[m.size + i]);
	}
	m.hash = gt_mpi_mix(m.hash, (uint64_t)m.size);
	slot = m.hash % (sizeof(lists) / sizeof(lists[0]));
	if (!m.foreign) {
		gt_mpi_lock(&lock);
		if (lists[slot].hash == m.hash)
			m.ref = lists[slot].ref;
		gt_mpi_unlock(&lock);
	}
	if (!m.foreign && !m.ref) {
		m.ref = gt_def_ranks((const uint32_t *)ranks + m.size, (uint32_t)m.size);
		gt_mpi_lock(&lock);
		lists[slot].hash = m.hash;
		lists[slot].ref = m.ref;
		gt_mpi_unlock(&lock);
	}
	munmap(ranks, bytes);
	return m;
}

/* ---- the table ------------------------------------------------------------------------------ */

static struct gt_mpi_comm **bucket_of(uint64_t bits)
{
	return &buckets[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

static struct gt_mpi_comm **place_of(uint64_t bits)
{
	struct gt_mpi_comm **at = bucket_of(bits);

	while (*at && ((*at)->bits != bits || (*at)->leaving))
		at = &(*at)->next;
	return at;
}

static struct gt_mpi_comm *fresh(void)
{
	struct gt_mpi_comm *c = spare;

	if (!c) {
		c = gt_mpi_memory(CHUNK * sizeof(*c));
		for (unsigned i = 1; c && i < CHUNK; i++) {
			c[i].next = spare;
			spare = &c[i];
		}
	} else {
		spare = c->next;
	}
	if (c)
		memset(c, 0, sizeof(*c));
	return c;
}

static void define(struct gt_mpi_comm *c, const char *name)
{
	struct gt_comm_info info = {
		.bytes = sizeof(info), .name = name, .parent = c->parent, .ranks = c->ranks,
		.remote = c->remote, .paradigm = PARADIGM, .key = c->key,
		.flags = c->events ? GT_COMM_EVENTS : 0,
	};

	c->ref = gt_def_comm_of(&info, c->ref);
}

static bool predefined(MPI_Comm comm)
{
	return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

/* Ranks are places in row-major order: the sizes tell where each is. */
static void define_topology(MPI_Comm comm, gt_ref ref)
{
	int kind = MPI_UNDEFINED, count = 0, dims[2 * DIMENSIONS], coords[DIMENSIONS];

	if (gt_mpi_Topo_test()(comm, &kind) != MPI_SUCCESS || kind != MPI_CART ||
	    gt_mpi_Cartdim_get()(comm, &count) != MPI_SUCCESS || count < 1 || count > DIMENSIONS ||
	    gt_mpi_Cart_get()(comm, count, dims, dims + count, coords) != MPI_SUCCESS)
		return;
	for (int i = count; i < 2 * count; i++)
		dims[i] = dims[i] != 0;
	gt_def_topology(ref, (uint32_t)count, (const uint32_t *)dims);
}

/*
 * Adds a communicator that has become known. `salt` tells communicators with the same members
 * apart; of_groups: it is to be combined with the members of both sides alike.
 */
static const struct gt_mpi_comm *add(MPI_Comm comm, uint64_t salt, gt_ref parent, const char *name,
				     uint64_t (*times)(uint64_t hash))
{
	struct gt_mpi_comm entry = { .bits = GT_MPI_BITS(comm), .parent = parent };
	struct members own = { .foreign = true }, remote = { 0 };
	struct gt_mpi_comm *c, **at;
	MPI_Group group;
	int inter = 0;

	if (gt_mpi_Comm_test_inter()(comm, &inter) != MPI_SUCCESS ||
	    gt_mpi_Comm_rank()(comm, &entry.me) != MPI_SUCCESS)
		return NULL;
	if (gt_mpi_Comm_group()(comm, &group) == MPI_SUCCESS) {
		own = look_at(group);
		gt_mpi_Group_free()(&group);
	}
	if (inter && gt_mpi_Comm_remote_group()(comm, &group) == MPI_SUCCESS) {
		remote = look_at(group);
		gt_mpi_Group_free()(&group);
	}
	entry.inter = inter;
	entry.size = own.size;
	entry.far = inter ? remote.size : own.size;
	entry.ranks = own.ref;
	entry.remote = remote.ref;
	/* Both sides of an inter-communicator must come to the same key. */
	if (inter && own.hash > remote.hash)
		entry.key = gt_mpi_mix(gt_mpi_mix(salt, remote.hash), own.hash);
	else
		entry.key = gt_mpi_mix(gt_mpi_mix(salt, own.hash), remote.hash);
	if (times)
		entry.key = gt_mpi_mix(entry.key, times(entry.key));
	/* Those of one process alone are one communicator in the archive. */
	entry.events = !predefined(comm) && (own.size > 1 || inter);
	if (!own.foreign && !remote.foreign)
		define(&entry, name);
	if (entry.ref && !inter)
		define_topology(comm, entry.ref);
	gt_mpi_lock(&lock);
	at = place_of(entry.bits);
	c = *at;
	if (!c) {
		c = fresh();
		if (c)
			*at = c; /* the end of the list */
	} else {
		entry.next = c->next;
	}
	if (c)
		*c = entry;
	__atomic_add_fetch(&gt_mpi_generation, 1, __ATOMIC_RELEASE);
	gt_mpi_unlock(&lock);
	return c;
}

const struct gt_mpi_comm *gt_mpi_comm_find(MPI_Comm comm)
{
	uint64_t generation = __atomic_load_n(&gt_mpi_generation, __ATOMIC_ACQUIRE);
	const struct gt_mpi_comm *c;

	gt_mpi_lock(&lock);
	c = *place_of(GT_MPI_BITS(comm));
	gt_mpi_unlock(&lock);
	if (!c) {
		if (!ready || comm == MPI_COMM_NULL)
			return NULL;
		c = add(comm, 0, GT_NONE, NULL, NULL);
		if (!c)
			return NULL;
		generation = __atomic_load_n(&gt_mpi_generation, __ATOMIC_ACQUIRE);
	}
	gt_mpi_self.comm = c;
	gt_mpi_self.comm_bits = GT_MPI_BITS(comm);
	gt_mpi_self.generation = generation;
	return c;
}

/* ---- creation ------------------------------------------------------------------------------- */

/* How often these members have made a communicator with this tag. */
static uint64_t count_times(uint64_t hash)
{
	static struct { uint64_t hash; uint64_t times; } table[TIMES];
	uint64_t n = 0;

	gt_mpi_lock(&lock);
	for (unsigned i = 0; i < TIMES; i++) {
		size_t at = (hash + i) % TIMES;

		if (table[at].hash && table[at].hash != hash)
			continue;
		table[at].hash = hash;
		n = ++table[at].times;
		break;
	}
	gt_mpi_unlock(&lock);
	return n;
}

static void record_event(unsigned type, const struct gt_mpi_comm *c)
{
	if (c && c->ref && c->events && gt_active())
		gt_record(type, c->ref, NULL, 0);
}

uint64_t gt_mpi_comm_child(const struct gt_mpi_comm *comm)
{
	return gt_mpi_mix(comm->key ^ 3,
			  __atomic_add_fetch(&((struct gt_mpi_comm *)comm)->children, 1,
					     __ATOMIC_RELAXED));
}

uint64_t gt_mpi_comm_reserve(MPI_Comm parent, gt_ref *ref)
{
	struct gt_mpi_comm *c = (struct gt_mpi_comm *)gt_mpi_comm_of(parent);

	*ref = c ? c->ref : GT_NONE;
	return c ? gt_mpi_mix(c->key, __atomic_add_fetch(&c->children, 1, __ATOMIC_RELAXED)) : 0;
}

void gt_mpi_comm_ready(uint64_t key, gt_ref parent, const MPI_Comm *comm)
{
	if (ready && *comm != MPI_COMM_NULL)
		record_event(GT_T_COMM_CREATE, add(*comm, key, parent, NULL, NULL));
}

void gt_mpi_comm_made(MPI_Comm parent, const MPI_Comm *comm)
{
	gt_ref ref;
	uint64_t key = gt_mpi_comm_reserve(parent, &ref);

	gt_mpi_comm_ready(key, ref, comm);
}

void gt_mpi_comm_by_group(MPI_Comm parent, int tag, const MPI_Comm *comm)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(parent);
	int inter = 0;

	if (!ready || !c || *comm == MPI_COMM_NULL)
		return;
	/* The two sides of an inter-communicator have different parents. */
	gt_mpi_Comm_test_inter()(*comm, &inter);
	record_event(GT_T_COMM_CREATE,
		     add(*comm, gt_mpi_mix(inter ? 2 : c->key, (uint64_t)tag),
			 inter ? GT_NONE : c->ref, NULL, count_times));
}

void gt_mpi_comm_by_tag(const char *tag, const MPI_Comm *comm)
{
	uint64_t salt = gt_mpi_mix(own_job, 4);

	if (!ready || *comm == MPI_COMM_NULL)
		return;
	for (const char *c = tag; c && *c; c++)
		salt = gt_mpi_mix(salt, (unsigned char)*c);
	record_event(GT_T_COMM_CREATE, add(*comm, salt, GT_NONE, tag, count_times));
}

void gt_mpi_comm_later(MPI_Comm parent, MPI_Comm *comm, const MPI_Request *request)
{
	struct gt_mpi_op op = { .kind = GT_MPI_COMM, .active = true, .made = comm };

	op.id = gt_mpi_comm_reserve(parent, &op.comm);
	gt_mpi_insert(*request, &op);
}

static void note_change(void)
{
	__atomic_add_fetch(&gt_mpi_generation, 1, __ATOMIC_RELEASE);
}

/*
 * The handle may stand for another thread's new communicator before the call that freed it has
 * returned: from the call on nobody finds the entry by its handle. If the call fails, it is found again.
 */
struct gt_mpi_comm *gt_mpi_comm_leaves(const MPI_Comm *comm)
{
	struct gt_mpi_comm *c = NULL;

	if (*comm == MPI_COMM_NULL || predefined(*comm))
		return NULL;
	gt_mpi_lock(&lock);
	c = *place_of(GT_MPI_BITS(*comm));
	if (c)
		c->leaving = true;
	note_change();
	gt_mpi_unlock(&lock);
	return c;
}

void gt_mpi_comm_left(struct gt_mpi_comm *c, int rc)
{
	struct gt_mpi_comm **at;

	if (!c)
		return;
	if (rc == MPI_SUCCESS)
		record_event(GT_T_COMM_DESTROY, c);
	gt_mpi_lock(&lock);
	for (at = bucket_of(c->bits); *at && *at != c;)
		at = &(*at)->next;
	if (rc != MPI_SUCCESS) {
		c->leaving = false;
	} else if (*at) {
		*at = c->next;
		c->bits = 0;
		c->next = spare;
		spare = c;
	}
	note_change();
	gt_mpi_unlock(&lock);
}

void gt_mpi_comm_named(MPI_Comm comm, const char *name)
{
	struct gt_mpi_comm *c = (struct gt_mpi_comm *)gt_mpi_comm_of(comm);

	if (c && c->ref)
		define(c, name);
}

/* ---- MPI begins and ends ---------------------------------------------------------------------- */

/* Takes the group over. */
static void begin(MPI_Group group, uint64_t job)
{
	gt_mpi_lock(&lock);
	own_job = job;
	if (!users++) {
		world = group;
		group = MPI_GROUP_NULL;
		gt_mpi_Group_size()(world, &world_size);
		ready = true;
	}
	gt_mpi_unlock(&lock);
	if (group != MPI_GROUP_NULL)
		gt_mpi_Group_free()(&group);
}

void gt_mpi_comms_begin(uint64_t job)
{
	MPI_Group group;

	if (gt_mpi_Comm_group()(MPI_COMM_WORLD, &group) != MPI_SUCCESS)
		return;
	begin(group, job);
	add(MPI_COMM_WORLD, gt_mpi_mix(job, 1), GT_NONE, "MPI_COMM_WORLD", NULL);
	add(MPI_COMM_SELF, gt_mpi_mix(job, 2), GT_NONE, "MPI_COMM_SELF", NULL);
}

void gt_mpi_session_begun(MPI_Group all)
{
	int rank = 0, size = 0;

	if (gt_mpi_Group_rank()(all, &rank) != MPI_SUCCESS ||
	    gt_mpi_Group_size()(all, &size) != MPI_SUCCESS)
		return;
	begin(all, gt_mpi_be_rank(rank, size));
}

void gt_mpi_comms_end(void)
{
	MPI_Group group = MPI_GROUP_NULL;

	gt_mpi_lock(&lock);
	if (users && !--users) {
		group = world;
		ready = false;
	}
	gt_mpi_unlock(&lock);
	if (group != MPI_GROUP_NULL)
		gt_mpi_Group_free()(&group);
}

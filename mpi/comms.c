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
 * Members are known by their rank in MPI_COMM_WORLD, those of another one by a link (links.h). The keys of
 * communicators that go back to a link begin at it, because its two ends have no parent in common; and
 * members are told apart there by their places in the parent, which all of them see alike.
 *
 * Limits: of communicators with members that no link names only the calls are recorded.
 */
#include <string.h>

#include "gputrace/ranks.h"
#include "mpi/comms.h"
#include "mpi/hosts.h"

#define BUCKETS    256u
#define CHUNK      64u
#define TIMES      1024u
#define DIMENSIONS 32
#define FIRST_KEY  UINT64_C(0x6c696e6b) /* of what goes back to a link */

uint64_t gt_mpi_generation = 1;

static uint32_t lock;
static struct gt_mpi_comm *buckets[BUCKETS], *spare;
static MPI_Group world;       /* to be freed in the end */
static unsigned users;        /* of MPI: sessions that are open, and one for MPI_Init */
static bool ready;            /* there are some */
static uint64_t own_job;

/* ---- how often ------------------------------------------------------------------------------ */

/* How often the same was done, by its hash; never forgotten, so the table grows. */
static struct counted {
	uint64_t hash;           /* 0: free */
	uint64_t times;
} *counts;
static size_t counts_used, counts_room; /* room: a power of two */

static struct counted *counter_of(struct counted *table, size_t room, uint64_t hash)
{
	size_t at = hash & (room - 1);

	while (table[at].hash && table[at].hash != hash)
		at = (at + 1) & (room - 1);
	return &table[at];
}

static bool counts_grow(void)
{
	size_t room = counts_room ? 2 * counts_room : TIMES;
	struct counted *table = gt_memory(room * sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < counts_room; i++)
		if (counts[i].hash)
			*counter_of(table, room, counts[i].hash) = counts[i];
	if (counts)
		gt_memory_free(counts, counts_room * sizeof(*counts));
	counts = table;
	counts_room = room;
	return true;
}

/* 0: there is no memory to count it. */
static uint64_t count_times(uint64_t hash)
{
	struct counted *c;
	uint64_t n = 0;

	hash += !hash;
	gt_mpi_lock(&lock);
	if (2 * counts_used < counts_room || counts_grow()) {
		c = counter_of(counts, counts_room, hash);
		counts_used += !c->hash;
		c->hash = hash;
		n = ++c->times;
	}
	gt_mpi_unlock(&lock);
	if (!n)
		gt_mpi_lost(1);
	return n;
}

/* ---- the table ------------------------------------------------------------------------------ */

static struct gt_mpi_comm **bucket_of(uint64_t bits)
{
	return &buckets[gt_hash_word(bits) >> 56];
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
		c = gt_memory(CHUNK * sizeof(*c));
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
	struct gt_shared_info info = {
		.bytes = sizeof(info), .name = name, .parent = c->parent, .ranks = c->ranks,
		.remote = c->remote, .paradigm = GT_PARADIGM_MPI, .key = c->key,
		.flags = (c->events ? GT_COMM_EVENTS : 0) |
			 (c->link ? c->link->ref << GT_COMM_LINK_SHIFT : 0),
	};

	c->ref = gt_def_shared(GT_SHARED_COMM, &info, c->ref);
}

static bool predefined(MPI_Comm comm)
{
	return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

static void free_group(MPI_Group group)
{
	if (group != MPI_GROUP_NULL)
		gt_mpi_Group_free()(&group);
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

/* The origin of a communicator. */
struct origin {
	uint64_t salt;           /* tells communicators with the same members apart */
	gt_ref parent;
	uint64_t (*times)(uint64_t hash); /* how often this was done, or NULL */
	struct gt_mpi_link *link; /* that it goes back to, or NULL: then */
	bool side;               /* ... which end this is */
	enum { NO_PLACES, OF_PARENT, OF_LINK } placed;
	MPI_Group places[2];     /* in which members are told apart */
};

/* Both sides of an inter-communicator must come to the same key. */
static uint64_t mix_sides(uint64_t salt, uint64_t own, uint64_t remote, bool inter)
{
	if (inter && own > remote)
		return gt_hash_mix(gt_hash_mix(salt, remote), own);
	return gt_hash_mix(gt_hash_mix(salt, own), remote);
}

static int size_of(MPI_Group group)
{
	int size = 0;

	return group != MPI_GROUP_NULL && gt_mpi_Group_size()(group, &size) == MPI_SUCCESS ? size : 0;
}

/* All of the parent's members: nothing is to be told apart. */
static bool has_all(const struct origin *from, MPI_Group own, MPI_Group remote)
{
	return size_of(own) + size_of(remote) == size_of(from->places[0]) + size_of(from->places[1]);
}

/* The key of what goes back to a link; false: somebody has no place in its parent. */
static bool key_of_link(struct gt_mpi_comm *c, const struct origin *from, MPI_Group own,
			MPI_Group remote)
{
	uint64_t one = 0, other = 0, times;

	c->key = from->salt;
	c->side = from->side;
	if (from->placed == OF_LINK || (from->placed == OF_PARENT && !has_all(from, own, remote))) {
		if (!gt_mpi_link_places(own, from->places, &one) ||
		    (c->inter && !gt_mpi_link_places(remote, from->places, &other)))
			return false;
		c->side = one > other;
		c->key = mix_sides(c->key, one, other, c->inter);
	}
	if (from->times) {
		times = from->times(gt_hash_mix(c->key, from->link->key));
		c->key = gt_hash_mix(c->key, times);
		return times != 0;
	}
	return true;
}

/* Into the table. */
static const struct gt_mpi_comm *keep(struct gt_mpi_comm *entry)
{
	struct gt_mpi_link *before = NULL;
	struct gt_mpi_comm *c, **at;

	gt_mpi_lock(&lock);
	at = place_of(entry->bits);
	c = *at;
	if (!c) {
		c = fresh();
		if (c)
			*at = c; /* the end of the list */
	} else {
		entry->next = c->next;
		before = c->link;
	}
	if (c)
		*c = *entry;
	/* Pairs with gt_mpi_comm_find() and gt_mpi_comm_of(). */
	__atomic_add_fetch(&gt_mpi_generation, 1, __ATOMIC_RELEASE);
	gt_mpi_unlock(&lock);
	gt_mpi_link_use(c ? c->link : NULL);
	gt_mpi_link_leave(before);
	if (!c)
		gt_mpi_lost(1);
	return c;
}

/* Who is in it, and its key. False: that cannot be found out, or it cannot be recorded. */
static bool look_into(struct gt_mpi_comm *entry, const struct origin *from, MPI_Group group,
		      MPI_Group far)
{
	struct gt_mpi_members own = { .foreign = true }, remote = { 0 };
	uint64_t times = 1;

	if (group != MPI_GROUP_NULL)
		own = gt_mpi_members_of(group, from->link);
	if (far != MPI_GROUP_NULL)
		remote = gt_mpi_members_of(far, from->link);
	entry->size = own.size;
	entry->far = entry->inter ? remote.size : own.size;
	entry->ranks = own.ref;
	entry->remote = remote.ref;
	/* Those of one process alone are one communicator in the archive. */
	entry->events = entry->events && (own.size > 1 || entry->inter);
	if (from->link)
		return key_of_link(entry, from, group, far) && !own.foreign && !remote.foreign;
	entry->key = mix_sides(from->salt, own.hash, remote.hash, entry->inter);
	if (from->times) {
		times = from->times(entry->key);
		entry->key = gt_hash_mix(entry->key, times);
	}
	return times && !own.foreign && !remote.foreign;
}

/* Adds a communicator that has become known. */
static const struct gt_mpi_comm *add(MPI_Comm comm, const struct origin *from, const char *name)
{
	struct gt_mpi_comm entry = { .bits = GT_MPI_BITS(comm), .parent = from->parent, .link = from->link,
				     .events = !predefined(comm) };
	MPI_Group group = MPI_GROUP_NULL, far = MPI_GROUP_NULL;
	int inter = 0;

	if (gt_mpi_Comm_test_inter()(comm, &inter) != MPI_SUCCESS ||
	    gt_mpi_Comm_rank()(comm, &entry.me) != MPI_SUCCESS)
		return NULL;
	if (gt_mpi_Comm_group()(comm, &group) != MPI_SUCCESS)
		group = MPI_GROUP_NULL;
	if (inter && gt_mpi_Comm_remote_group()(comm, &far) != MPI_SUCCESS)
		far = MPI_GROUP_NULL;
	entry.inter = inter;
	if (look_into(&entry, from, group, far))
		define(&entry, name);
	free_group(group);
	free_group(far);
	if (entry.ref && !inter)
		define_topology(comm, entry.ref);
	return keep(&entry);
}

const struct gt_mpi_comm *gt_mpi_comm_find(MPI_Comm comm)
{
	uint64_t generation = __atomic_load_n(&gt_mpi_generation, __ATOMIC_ACQUIRE);
	const struct gt_mpi_comm *c;

	gt_mpi_lock(&lock);
	c = *place_of(GT_MPI_BITS(comm));
	gt_mpi_unlock(&lock);
	if (!c) {
		if (!ready || !GT_MPI_IS_COMM(comm))
			return NULL;
		/* Nobody saw it made (a callback of the program did it): counted as it is first used. */
		c = add(comm, &(struct origin){ .times = count_times }, NULL);
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

static void record_event(unsigned type, const struct gt_mpi_comm *c)
{
	if (c && c->ref && c->events && gt_active())
		gt_record(type, c->ref, NULL, 0);
}

uint64_t gt_mpi_comm_child(const struct gt_mpi_comm *comm)
{
	return gt_hash_mix(comm->key ^ 3,
			  __atomic_add_fetch(&((struct gt_mpi_comm *)comm)->children, 1,
					     __ATOMIC_RELAXED));
}

/* The next communicator that all members of the parent make. */
static struct origin child_of(MPI_Comm parent)
{
	struct gt_mpi_comm *c = (struct gt_mpi_comm *)gt_mpi_comm_of(parent);
	struct origin from = { 0 };

	if (!c)
		return from;
	from.salt = gt_hash_mix(c->key, __atomic_add_fetch(&c->children, 1, __ATOMIC_RELAXED));
	from.parent = c->ref;
	from.link = c->link;
	from.side = c->side;
	return from;
}

/* Members are known by their place in the communicator. */
static void find_places(struct origin *from, MPI_Comm parent)
{
	bool inter = false;
	int flag = 0;

	if (!from->link)
		return;
	from->placed = OF_PARENT;
	from->places[0] = from->places[1] = MPI_GROUP_NULL;
	inter = gt_mpi_Comm_test_inter()(parent, &flag) == MPI_SUCCESS && flag;
	if (gt_mpi_Comm_group()(parent, &from->places[inter && from->side]) != MPI_SUCCESS)
		from->places[inter && from->side] = MPI_GROUP_NULL;
	if (inter && gt_mpi_Comm_remote_group()(parent, &from->places[!from->side]) != MPI_SUCCESS)
		from->places[!from->side] = MPI_GROUP_NULL;
}

static void leave_places(const struct origin *from)
{
	if (from->placed == OF_PARENT) {
		free_group(from->places[0]);
		free_group(from->places[1]);
	}
}

void gt_mpi_comm_made(MPI_Comm parent, const MPI_Comm *comm)
{
	struct origin from = child_of(parent);

	if (!ready || *comm == MPI_COMM_NULL)
		return;
	find_places(&from, parent);
	record_event(GT_T_COMM_CREATE, add(*comm, &from, NULL));
	leave_places(&from);
}

/* Are some of its members in another MPI_COMM_WORLD? link: not NULL: the link that all are in, or NULL. */
static bool with_others(MPI_Comm comm, struct gt_mpi_link **link)
{
	MPI_Group own = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
	bool others = false;

	if (gt_mpi_Comm_group()(comm, &own) == MPI_SUCCESS &&
	    gt_mpi_Comm_remote_group()(comm, &remote) == MPI_SUCCESS)
		others = gt_mpi_members_of(own, NULL).foreign || gt_mpi_members_of(remote, NULL).foreign;
	if (link)
		*link = others ? gt_mpi_link_of(own, remote) : NULL;
	free_group(own);
	free_group(remote);
	return others;
}

/* Of an inter-communicator whose two sides have no parent in common. */
static void find_link(struct origin *from, MPI_Comm comm)
{
	if (!with_others(comm, &from->link) || !from->link)
		return;
	from->placed = OF_LINK;
	memcpy(from->places, from->link->ends, sizeof(from->places));
}

void gt_mpi_comm_by_group(MPI_Comm parent, int tag, const MPI_Comm *comm)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(parent);
	struct origin from = { .times = count_times };
	int inter = 0;

	if (!ready || !c || *comm == MPI_COMM_NULL)
		return;
	/* The two sides of an inter-communicator have different parents. */
	gt_mpi_Comm_test_inter()(*comm, &inter);
	from.salt = gt_hash_mix(inter ? 2 : c->key, (uint64_t)tag);
	from.parent = inter ? GT_NONE : c->ref;
	from.link = c->link;
	if (inter)
		find_link(&from, *comm);
	else
		find_places(&from, parent);
	record_event(GT_T_COMM_CREATE, add(*comm, &from, NULL));
	leave_places(&from);
	if (inter)
		gt_mpi_link_leave(from.link);
}

void gt_mpi_comm_by_tag(const char *tag, const MPI_Comm *comm)
{
	struct origin from = { .salt = gt_hash_mix(own_job, 4), .times = count_times };

	if (!ready || *comm == MPI_COMM_NULL)
		return;
	for (const char *c = tag; c && *c; c++)
		from.salt = gt_hash_mix(from.salt, (unsigned char)*c);
	record_event(GT_T_COMM_CREATE, add(*comm, &from, tag));
}

/*
 * A copy has its parent's members: they are not to be told apart. Both MPIs set the handle at once. What it
 * is set in may be gone when the copy is complete: Open MPI's Fortran hands in a variable of its own.
 */
void gt_mpi_comm_later(MPI_Comm parent, const MPI_Comm *comm, const MPI_Request *request)
{
	struct origin from = child_of(parent);
	struct gt_mpi_op op = { .kind = GT_MPI_COMM, .active = true, .made = *comm, .id = from.salt,
				.comm = from.parent, .tag = from.side,
				.bytes = (uint64_t)(uintptr_t)from.link };

	gt_mpi_link_use(from.link);
	gt_mpi_insert(*request, &op);
}

void gt_mpi_comm_ready(const struct gt_mpi_op *op)
{
	struct origin from = { .salt = op->id, .parent = op->comm, .side = op->tag,
			       .link = (struct gt_mpi_link *)(uintptr_t)op->bytes };

	if (ready && op->made != MPI_COMM_NULL)
		record_event(GT_T_COMM_CREATE, add(op->made, &from, NULL));
	gt_mpi_link_leave(from.link);
}

/* ---- processes of other jobs ---------------------------------------------------------------- */

static void add_link(struct gt_mpi_meeting m, MPI_Comm comm)
{
	struct origin parent = child_of(m.near), from = { .salt = parent.salt };
	const struct gt_mpi_comm *near = gt_mpi_comm_of(m.near);

	if (!ready || !near || comm == MPI_COMM_NULL)
		return;
	if (!with_others(comm, NULL)) {
		from.salt = gt_hash_mix(own_job, FIRST_KEY);
		from.times = count_times;
	} else {
		m.me = near->me;
		m.base = near->link;
		from.link = gt_mpi_link_new(&m, parent.salt, comm);
	}
	if (from.link) {
		from.salt = FIRST_KEY;
		from.side = from.link->side;
	}
	record_event(GT_T_COMM_CREATE, add(comm, &from, NULL));
	gt_mpi_link_leave(from.link);
}

void gt_mpi_parent_found(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	if (gt_mpi_Comm_get_parent()(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL)
		add_link((struct gt_mpi_meeting){ .kind = GT_LINK_PARENT, .near = MPI_COMM_WORLD }, parent);
}

void gt_mpi_comm_spawned(uint64_t began, MPI_Comm near, int root, const MPI_Comm *comm)
{
	add_link((struct gt_mpi_meeting){ .kind = GT_LINK_SPAWN, .near = near, .root = root,
					   .began = began }, *comm);
}

void gt_mpi_comm_met(bool accepts, uint64_t began, MPI_Comm near, int root, const char *port,
		     const MPI_Comm *comm)
{
	add_link((struct gt_mpi_meeting){ .kind = accepts ? GT_LINK_ACCEPT : GT_LINK_CONNECT,
					   .near = near, .root = root, .port = port, .began = began }, *comm);
}

void gt_mpi_comm_joined(uint64_t began, int fd, const MPI_Comm *comm)
{
	add_link((struct gt_mpi_meeting){ .kind = GT_LINK_JOIN, .near = MPI_COMM_SELF, .fd = fd,
					   .began = began }, *comm);
}

/* ---- their end ------------------------------------------------------------------------------ */

static void note_change(void)
{
	/* Pairs with gt_mpi_comm_find() and gt_mpi_comm_of(). */
	__atomic_add_fetch(&gt_mpi_generation, 1, __ATOMIC_RELEASE);
}

/*
 * The handle may stand for another thread's new communicator before the call that freed it has
 * returned: from the call on nobody finds the entry by its handle. If the call fails, it is found again.
 */
struct gt_mpi_comm *gt_mpi_comm_leaves(const MPI_Comm *comm)
{
	struct gt_mpi_comm *c = NULL;

	if (!comm || *comm == MPI_COMM_NULL || predefined(*comm))
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
	struct gt_mpi_link *link = NULL;
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
		link = c->link;
	}
	note_change();
	gt_mpi_unlock(&lock);
	gt_mpi_link_leave(link);
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
		gt_mpi_members_begin(world);
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
	add(MPI_COMM_WORLD, &(struct origin){ .salt = gt_hash_mix(job, 1) }, "MPI_COMM_WORLD");
	add(MPI_COMM_SELF, &(struct origin){ .salt = gt_hash_mix(job, 2) }, "MPI_COMM_SELF");
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
		gt_mpi_links_end();
	free_group(group);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links to processes of other MPI_COMM_WORLDs; see links.h.
 *
 * Limits: a process that is in no link of this process has no name here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gputrace/ranks.h"
#include "mpi/hosts.h"
#include "mpi/links.h"

#define PLACE 1200 /* more than the name of any port */

static uint32_t lock;
static struct gt_mpi_link *links; /* the last one first; free ones stay in the list */

/* ---- the list ------------------------------------------------------------------------------- */

static struct gt_mpi_link *fresh(void)
{
	struct gt_mpi_link *l;

	gt_mpi_lock(&lock);
	for (l = links; l && l->users; l = l->next)
		;
	if (!l) {
		l = gt_memory(sizeof(*l));
		if (l) {
			l->next = links;
			links = l;
		}
	}
	if (l) {
		struct gt_mpi_link *next = l->next;

		*l = (struct gt_mpi_link){
			.next = next, .users = 1, .ends = {MPI_GROUP_NULL, MPI_GROUP_NULL}};
	}
	gt_mpi_unlock(&lock);
	if (!l)
		gt_mpi_lost(1);
	return l;
}

/* False: it has none any more. */
static bool use(struct gt_mpi_link *link)
{
	bool there;

	gt_mpi_lock(&lock);
	there = link->users != 0;
	link->users += there;
	gt_mpi_unlock(&lock);
	return there;
}

void gt_mpi_link_use(struct gt_mpi_link *link)
{
	if (link)
		use(link);
}

static void free_groups(MPI_Group groups[2])
{
	for (int i = 0; i < 2; i++)
		if (groups[i] != MPI_GROUP_NULL)
			gt_mpi_Group_free()(&groups[i]);
}

void gt_mpi_link_leave(struct gt_mpi_link *link)
{
	MPI_Group ends[2];

	while (link) {
		struct gt_mpi_link *base = link->base;
		bool last;

		gt_mpi_lock(&lock);
		memcpy(ends, link->ends, sizeof(ends));
		last = !--link->users;
		gt_mpi_unlock(&lock);
		if (!last)
			break;
		free_groups(ends);
		link = base;
	}
}

void gt_mpi_links_end(void)
{
	for (struct gt_mpi_link *l = links; l; l = l->next)
		if (l->users)
			free_groups(l->ends);
}

/* ---- names ---------------------------------------------------------------------------------- */

static int *translate(MPI_Group group, int size, MPI_Group to, int *ranks)
{
	for (int i = 0; i < size; i++)
		ranks[i] = i;
	if (to == MPI_GROUP_NULL ||
	    gt_mpi_Group_translate_ranks()(group, size, ranks, to, ranks + size) != MPI_SUCCESS)
		return NULL;
	return ranks + size;
}

/* Room for twice as many ranks as the group has. */
static int *room_for(MPI_Group group, int *size)
{
	if (gt_mpi_Group_size()(group, size) != MPI_SUCCESS || *size <= 0)
		return NULL;
	return gt_memory(2 * (size_t)*size * sizeof(int));
}

/* ranks: of the members in the own MPI_COMM_WORLD, if they are in it. The definition of such a group. */
static gt_ref names_by(const struct gt_mpi_link *link, MPI_Group group, int size, const int *ranks)
{
	size_t bytes = (size_t)size * 2 * sizeof(uint32_t);
	uint32_t *pairs = gt_memory(bytes);
	int *space = gt_memory(bytes);
	gt_ref ref = GT_NONE;
	int missing = 0;

	for (int i = 0; pairs && i < size; i++) {
		pairs[2 * i + 1] = ranks[i] < 0 ? UINT32_MAX : (uint32_t)ranks[i];
		missing += ranks[i] < 0;
	}
	for (; pairs && space && missing && link; link = link->base) {
		const int *there = translate(group, size, link->ends[!link->side], space);

		for (int i = 0; there && i < size; i++)
			if (pairs[2 * i + 1] == UINT32_MAX && there[i] >= 0) {
				pairs[2 * i] = link->ref;
				pairs[2 * i + 1] = (uint32_t)there[i];
				missing--;
			}
	}
	if (pairs && !missing)
		ref = gt_def_far_ranks(pairs, (uint32_t)size);
	if (pairs)
		gt_memory_free(pairs, bytes);
	if (space)
		gt_memory_free(space, bytes);
	return ref;
}

bool gt_mpi_link_places(MPI_Group group, const MPI_Group places[2], uint64_t *hash)
{
	int size = 0, *space = room_for(group, &size), *at;
	bool all = space != NULL;
	uint64_t *found = all ? gt_memory((size_t)size * sizeof(*found)) : NULL;

	all = all && found;
	for (unsigned end = 0; all && end < 2; end++) {
		at = translate(group, size, places[end], space);
		for (int i = 0; at && i < size; i++)
			if (at[i] >= 0)
				found[i] = ((uint64_t)at[i] << 1 | end) + 1;
	}
	*hash = gt_hash_mix(1, (uint64_t)size);
	for (int i = 0; all && i < size; i++) {
		all = found[i] != 0;
		*hash = gt_hash_mix(*hash, found[i]);
	}
	if (space)
		gt_memory_free(space, 2 * (size_t)size * sizeof(int));
	if (found)
		gt_memory_free(found, (size_t)size * sizeof(*found));
	return all;
}

struct gt_mpi_link *gt_mpi_link_of(MPI_Group group, MPI_Group remote)
{
	struct gt_mpi_link *l;
	uint64_t hash;

	for (l = __atomic_load_n(&links, __ATOMIC_ACQUIRE); l; l = l->next) {
		if (!use(l))
			continue;
		if (l->ref && gt_mpi_link_places(group, l->ends, &hash) &&
		    gt_mpi_link_places(remote, l->ends, &hash))
			return l;
		gt_mpi_link_leave(l);
	}
	return NULL;
}

/* ---- members --------------------------------------------------------------------------------- */

static MPI_Group world; /* of MPI_COMM_WORLD, or the process set of that name */
static int world_size;

void gt_mpi_members_begin(MPI_Group group)
{
	world = group;
	gt_mpi_Group_size()(world, &world_size);
}

/* Member lists that have been written, by their hash. */
static struct { uint64_t hash; gt_ref ref; } lists[256];

struct gt_mpi_members gt_mpi_members_of(MPI_Group group, const struct gt_mpi_link *link)
{
	struct gt_mpi_members m = { .hash = 1 };
	size_t slot, bytes;
	int *ranks;
	bool known;

	if (gt_mpi_Group_size()(group, &m.size) != MPI_SUCCESS || m.size <= 0)
		return (struct gt_mpi_members){ .foreign = true };
	bytes = 2 * (size_t)m.size * sizeof(*ranks);
	ranks = gt_memory(bytes);
	if (!ranks) {
		gt_mpi_lost(1);
		return (struct gt_mpi_members){ .foreign = true };
	}
	for (int i = 0; i < m.size; i++)
		ranks[i] = i;
	known = gt_mpi_Group_translate_ranks()(group, m.size, ranks, world, ranks + m.size) == MPI_SUCCESS;
	m.foreign = !known;
	for (int i = 0; !m.foreign && i < m.size; i++) {
		m.foreign = ranks[m.size + i] < 0 || ranks[m.size + i] >= world_size;
		m.hash = gt_hash_mix(m.hash, (uint64_t)ranks[m.size + i]);
	}
	m.hash = gt_hash_mix(m.hash, (uint64_t)m.size);
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
	if (known && m.foreign && link) {
		m.ref = names_by(link, group, m.size, ranks + m.size);
		m.foreign = !m.ref;
	}
	gt_memory_free(ranks, bytes);
	return m;
}

/* ---- new ones ------------------------------------------------------------------------------- */

/*
 * Open MPI passes to a spawned process "<job>.<rank>:<number>" of the one that spawned it. In Open MPI 5 jobs
 * are called "<launcher>@<number>", and a job stands here as a hash of the launcher's name above 16 bits of
 * number.
 */
static void parent_place(char *place)
{
	const char *port = getenv("OMPI_PARENT_PORT"), *own = getenv("PMIX_NAMESPACE");
	const char *number = own ? strrchr(own, '@') : NULL;
	char job[64], name[PLACE];
	unsigned rank;

	if (!port || sscanf(port, "%63[0-9].%u:", job, &rank) != 2)
		return;
	if (number)
		snprintf(name, sizeof(name), "%.*s@%lu", (int)(number - own), own,
			 strtoul(job, NULL, 10) & 0xffff);
	snprintf(place, PLACE, "%lx.%u", (unsigned long)gt_mpi_job_of(number ? name : job), rank);
}

static bool address_text(const struct sockaddr_storage *address, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN];
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	bool old = address->ss_family == AF_INET;

	if ((!old && address->ss_family != AF_INET6) ||
	    !inet_ntop(address->ss_family, old ? (const void *)&v4->sin_addr : &v6->sin6_addr, host,
		       sizeof(host)))
		return false;
	snprintf(text, size, "%s %u", host, ntohs(old ? v4->sin_port : v6->sin6_port));
	return true;
}

/* Both ends come to the same text; the lesser address is the first end. */
static bool socket_place(int fd, char *place)
{
	struct sockaddr_storage own, other;
	socklen_t own_size = sizeof(own), other_size = sizeof(other);
	int error = errno;
	char texts[2][64];
	bool second = false;

	if (!getsockname(fd, (struct sockaddr *)&own, &own_size) &&
	    !getpeername(fd, (struct sockaddr *)&other, &other_size) &&
	    address_text(&own, texts[0], sizeof(texts[0])) &&
	    address_text(&other, texts[1], sizeof(texts[1]))) {
		second = strcmp(texts[0], texts[1]) > 0;
		snprintf(place, PLACE, "%s, %s", texts[second], texts[!second]);
	}
	errno = error;
	return second;
}

/* Returns which end this is. */
static bool find_place(const struct gt_mpi_meeting *m, char *place)
{
	*place = 0;
	switch (m->kind) {
	case GT_LINK_SPAWN:
		snprintf(place, PLACE, "%lx.%u", (unsigned long)gt_mpi_find_job(), gt_mpi_rank);
		return false;
	case GT_LINK_PARENT:
		parent_place(place);
		return true;
	case GT_LINK_JOIN:
		return socket_place(m->fd, place);
	default:
		snprintf(place, PLACE, "%.*s",
			 (int)strnlen(m->port ? m->port : "", MPI_MAX_PORT_NAME),
			 m->port ? m->port : "");
		return m->kind == GT_LINK_CONNECT;
	}
}

static void define(struct gt_mpi_link *l, const struct gt_mpi_meeting *m)
{
	struct gt_mpi_members members = gt_mpi_members_of(l->ends[0], l->base);
	struct gt_def_link def = {
		.key = l->key,
		.link = l->base ? l->base->ref : GT_NONE,
		.group = members.foreign ? GT_NONE : members.ref,
		.near = (uint32_t)members.size,
		.kind = m->kind,
		.root = m->me == m->root,
	};
	char place[PLACE];
	int size = 0;

	if (gt_mpi_Group_size()(l->ends[1], &size) != MPI_SUCCESS || !def.group)
		return;
	def.far = (uint32_t)size;
	l->side = find_place(m, place);
	if (def.root) {
		def.begin = m->began;
		def.end = gt_now();
	}
	l->ref = gt_def_link(&def, def.root ? place : NULL);
	if (l->ref >> (32 - GT_COMM_LINK_SHIFT))
		l->ref = GT_NONE;
}

struct gt_mpi_link *gt_mpi_link_new(const struct gt_mpi_meeting *m, uint64_t key, MPI_Comm inter)
{
	struct gt_mpi_link *l = fresh();

	if (!l)
		return NULL;
	l->key = key;
	l->base = m->base;
	gt_mpi_link_use(l->base);
	if (gt_mpi_Comm_group()(inter, &l->ends[0]) == MPI_SUCCESS &&
	    gt_mpi_Comm_remote_group()(inter, &l->ends[1]) == MPI_SUCCESS)
		define(l, m);
	if (!l->ref) {
		gt_mpi_link_leave(l);
		return NULL;
	}
	if (l->side) {
		MPI_Group own = l->ends[0];

		l->ends[0] = l->ends[1];
		l->ends[1] = own;
	}
	return l;
}

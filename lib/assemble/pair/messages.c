/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairing of user messages: all of them are copied into a temporary file that is mapped, sorted
 * there by communicator, tag and time, paired, and sorted again for finding them by location and
 * time when the events are written.
 *
 * Limits: sends and receives without a partner keep GT_NO_PEER.
 */
#include "config.h"

#include "lib/assemble/pair/messages.h"
#include "gputrace/otf2_numbers.h"
#include "lib/assemble/spool/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP          (GT_PAGE * sizeof(struct gt_pair_message)) /* first size: whole pages and messages */

struct gt_messages {
	int fd;
	struct gt_pair_message *list;
	size_t count, room;
};

/* ---- the file ----------------------------------------------------------------------------------- */

static int open_file(int dirfd)
{
	static const char name[] = ".sort.messages"; /* known to those who tidy up after a kill */
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	unlinkat(dirfd, name, 0);
	return fd;
}

/* Room is allocated before it is mapped: a full disk shows here, not as a signal. */
static int grow(struct gt_messages *m)
{
	size_t bytes = m->room * sizeof(*m->list), more = bytes ? bytes : STEP;
	void *list;
	int rc = posix_fallocate(m->fd, (off_t)bytes, (off_t)more);

	if (rc)
		return -rc;
	list = bytes ? mremap(m->list, bytes, bytes + more, MREMAP_MAYMOVE)
		     : mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (list == MAP_FAILED)
		return -errno;
	m->list = list;
	m->room = (bytes + more) / sizeof(*m->list);
	return 0;
}

int gt_messages_new(struct gt_messages **messages, int dirfd)
{
	struct gt_messages *m = calloc(1, sizeof(*m));

	*messages = NULL;
	if (!m)
		return -ENOMEM;
	m->fd = open_file(dirfd);
	if (m->fd < 0) {
		int rc = m->fd;

		free(m);
		return rc;
	}
	*messages = m;
	return 0;
}

int gt_messages_add(struct gt_messages *m, const struct gt_pair_message *message)
{
	int rc = m->count == m->room ? grow(m) : 0;

	if (!rc)
		m->list[m->count++] = *message;
	return rc;
}

/* ---- sorting in place ------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_pair(const struct gt_pair_message *a, const struct gt_pair_message *b)
{
	int c = compare_numbers(a->name, b->name);

	c = c ? c : compare_numbers(a->tag, b->tag);
	c = c ? c : compare_numbers(a->pair, b->pair);
	c = c ? c : compare_numbers(a->ns, b->ns);
	c = c ? c : compare_numbers(a->location, b->location);
	return c ? c : compare_numbers(a->order, b->order);
}

/* The part that gt_messages_peer() knows of a message. */
static int by_place(const struct gt_pair_message *a, const struct gt_pair_message *b)
{
	int c = compare_numbers(a->location, b->location);

	c = c ? c : compare_numbers(a->tick, b->tick);
	c = c ? c : compare_numbers(a->send, b->send);
	c = c ? c : compare_numbers(a->tag, b->tag);
	return c ? c : compare_numbers(a->pair, b->pair);
}

static void swap(struct gt_pair_message *a, struct gt_pair_message *b)
{
	struct gt_pair_message keep = *a;

	*a = *b;
	*b = keep;
}

static void sift(struct gt_pair_message *list, size_t at, size_t n, gt_messages_compare *compare)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && compare(&list[child], &list[child + 1]) < 0)
			child++;
		if (compare(&list[at], &list[child]) >= 0)
			return;
		swap(&list[at], &list[child]);
	}
}

static void sort_heap(struct gt_pair_message *list, size_t n, gt_messages_compare *compare)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(list, i, n, compare);
	for (size_t i = n; i-- > 1;) {
		swap(&list[0], &list[i]);
		sift(list, 0, i, compare);
	}
}

static size_t split(struct gt_pair_message *list, size_t n, gt_messages_compare *compare)
{
	size_t middle = n / 2, last = n - 1, kept = 0;

	if (compare(&list[middle], &list[0]) < 0)
		swap(&list[middle], &list[0]);
	if (compare(&list[last], &list[0]) < 0)
		swap(&list[last], &list[0]);
	if (compare(&list[last], &list[middle]) < 0)
		swap(&list[last], &list[middle]);
	swap(&list[middle], &list[last]); /* the median of three is the pivot */
	for (size_t i = 0; i < last; i++)
		if (compare(&list[i], &list[last]) < 0)
			swap(&list[i], &list[kept++]);
	swap(&list[kept], &list[last]);
	return kept;
}

/* Quicksort; where it goes badly (many equals, hostile order) heapsort takes over. */
static void sort(struct gt_pair_message *list, size_t n, unsigned depth, gt_messages_compare *compare)
{
	while (n > 16) {
		size_t at;

		if (!depth--) {
			sort_heap(list, n, compare);
			return;
		}
		at = split(list, n, compare);
		if (at < n - at - 1) {
			sort(list, at, depth, compare);
			list += at + 1;
			n -= at + 1;
		} else {
			sort(list + at + 1, n - at - 1, depth, compare);
			n = at;
		}
	}
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k && compare(&list[k], &list[k - 1]) < 0; k--)
			swap(&list[k], &list[k - 1]);
}

void gt_messages_sort(struct gt_messages *m, gt_messages_compare *compare)
{
	unsigned depth = 2;

	for (size_t n = m->count; n; n /= 2)
		depth += 2;
	sort(m->list, m->count, depth, compare);
}

/* ---- collecting -------------------------------------------------------------------------------------- */

struct reader {
	struct gt_messages *messages;
	struct gt_defs *defs;
	const struct gt_loc *loc;
	struct gt_scale scale;
	struct gt_stream stream;
	uint64_t last; /* see struct gt_track */
	struct gt_floors floors;
	uint32_t order;
};

static int add(struct reader *r, const struct gt_slot *slot)
{
	const struct gt_def_shared *comm =
		gt_proc_find(r->loc->proc, GT_D_COMM, (uint32_t)GT_WORD_LOW(slot->word), NULL);
	const char *name = comm ? gt_proc_string(r->loc->proc, comm->name) : NULL;
	struct gt_pair_message message;

	if (!name) /* its definition was lost: nobody can be the partner */
		return 0;
	message = (struct gt_pair_message){
		.tick = slot->time,
		.ns = gt_scale_ns(&r->scale, slot->time),
		.name = gt_defs_string(r->defs, name),
		.tag = (uint32_t)slot[1].time,
		.location = r->loc->number,
		.order = r->order++,
		.send = GT_WORD_TYPE(slot->word) == GT_T_USER_SEND,
		.peer = GT_NO_PEER,
	};
	return gt_messages_add(r->messages, &message);
}

/* One record, or one slot that makes no sense: the same as in the conversion. */
static int step(struct reader *r)
{
	const struct gt_slot *slot = r->stream.at;
	unsigned type = GT_WORD_TYPE(slot->word);
	unsigned slots = GT_TYPE_HAS_EXTRA(type) ? 1 + GT_WORD_EXTRA(slot->word) : 1;
	const struct gt_slot *half_end;
	uint64_t floor = gt_floor_at(&r->floors, slot, r->last, &half_end);

	if (!gt_type_known(type) || slot->time > r->scale.tick_max ||
	    slots > (size_t)(r->stream.end - slot) ||
	    (slot->time < r->last && slot->time < floor &&
	     !(r->loc->win.flags & GT_LOC_UNSORTED))) {
		r->stream.at++;
		return 0;
	}
	r->stream.at += slots;
	if (slot->time > r->last)
		r->last = slot->time;
	return (type == GT_T_USER_SEND || type == GT_T_USER_RECV) && slots > 1 ? add(r, slot) : 0;
}

static int read_location(struct reader *r, struct gt_slot *buffer)
{
	int rc = gt_stream_open(&r->stream, r->loc, buffer);

	if (rc)
		return gt_spool_try_again(rc) ? rc : 0; /* the conversion counts what is not there */
	while (!rc) {
		size_t rest = (size_t)(r->stream.end - r->stream.at) * sizeof(*r->stream.at);

		if (rest < GT_STREAM_TAIL && !r->stream.eof) {
			rc = gt_stream_more(&r->stream);
			if (rc) {
				rc = gt_spool_try_again(rc) ? rc : 0;
				break;
			}
			gt_floors_move(&r->floors, &r->stream);
			continue;
		}
		if (!rest)
			break;
		rc = step(r);
	}
	gt_stream_close(&r->stream);
	return rc;
}

static int collect(struct gt_messages *m, const struct gt_spool *spool,
		   const struct gt_layout *layout, const struct gt_clock *clock,
		   struct gt_defs *defs)
{
	struct gt_slot *buffer = malloc(GT_STREAM_BUFFER);
	int rc = buffer ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < layout->location_count; i++) {
		struct reader r = { .messages = m, .defs = defs,
				    .loc = layout->locations[i].loc };

		r.scale = clock->scales[r.loc->proc - spool->procs];
		r.last = r.scale.base_tick;
		rc = read_location(&r, buffer);
	}
	free(buffer);
	return rc;
}

/* ---- pairing --------------------------------------------------------------------------------- */

/* Sends and receives of one communicator and tag, in order of time: the n-th belong together. */
static void pair(struct gt_pair_message *list, size_t n)
{
	size_t send = 0, receive = 0;

	for (;;) {
		while (send < n && !list[send].send)
			send++;
		while (receive < n && list[receive].send)
			receive++;
		if (send == n || receive == n)
			return;
		list[send].peer = list[receive].location;
		list[receive++].peer = list[send++].location;
	}
}

/*
 * One communicator's messages, sorted: its members are the locations that use it. `rank` has room
 * for all locations.
 */
static int finish_comm(struct gt_pair_message *list, size_t n, const struct gt_layout *layout,
		       struct gt_defs *defs, uint32_t *rank)
{
	uint32_t key[2] = { 'U', list->name }, number;
	struct gt_comm comm = { .name = list->name, .parent = GT_UNDEFINED, .proc = GT_UNDEFINED,
				.paradigm = GT_PARADIGM_USER };

	memset(rank, 0, layout->location_count * sizeof(*rank));
	for (size_t i = 0; i < n; i++) {
		comm.member_count += !rank[list[i].location];
		rank[list[i].location] = 1;
	}
	comm.members = malloc(comm.member_count * sizeof(*comm.members));
	if (!comm.members)
		return -ENOMEM;
	comm.member_count = 0;
	for (uint32_t i = 0; i < layout->location_count; i++)
		if (rank[i]) {
			rank[i] = (uint32_t)comm.member_count;
			comm.members[comm.member_count++] = i;
		}
	number = gt_defs_comm(defs, key, sizeof(key), &comm, NULL);
	for (size_t i = 0; i < n; i++) {
		list[i].name = number;
		if (list[i].peer != GT_NO_PEER)
			list[i].peer = rank[list[i].peer];
	}
	return 0;
}

static int pair_all(struct gt_messages *m, const struct gt_layout *layout, struct gt_defs *defs)
{
	uint32_t *rank = malloc((layout->location_count + 1) * sizeof(*rank));
	int rc = rank ? 0 : -ENOMEM;

	gt_messages_sort(m, by_pair);
	for (size_t first = 0, end; !rc && first < m->count; first = end) {
		struct gt_pair_message *list = &m->list[first];

		for (size_t tag = end = first; end < m->count && m->list[end].name == list->name;
		     tag = end) {
			while (end < m->count && m->list[end].name == list->name &&
			       m->list[end].tag == m->list[tag].tag)
				end++;
			pair(&m->list[tag], end - tag);
		}
		rc = finish_comm(list, end - first, layout, defs, rank);
	}
	gt_messages_sort(m, by_place);
	free(rank);
	return rc;
}

/* ---- the door -------------------------------------------------------------------------------- */

bool gt_messages_any(const struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->proc_count; i++)
		for (size_t k = 0;; k++) {
			const struct gt_def_shared *comm = gt_journal_nth(
				&spool->procs[i].journal, GT_D_COMM, k, NULL, NULL);

			if (!comm)
				break;
			if (comm->paradigm == GT_PARADIGM_USER)
				return true;
		}
	return false;
}

int gt_messages_pair(struct gt_messages **messages, struct gt_spool *spool,
		     const struct gt_layout *layout, const struct gt_clock *clock,
		     struct gt_defs *defs, int dirfd)
{
	struct gt_messages *m;
	int rc;

	*messages = NULL;
	if (!gt_messages_any(spool))
		return 0;
	rc = gt_messages_new(&m, dirfd);
	if (!rc)
		rc = collect(m, spool, layout, clock, defs);
	if (!rc)
		rc = pair_all(m, layout, defs);
	if (rc || !m->count) {
		gt_messages_free(m); /* NULL is nothing */
		return rc == -ENOMEM || gt_spool_try_again(rc) ? rc : 0;
	}
	*messages = m;
	return 0;
}

void gt_messages_free(struct gt_messages *m)
{
	if (!m)
		return;
	if (m->list)
		munmap(m->list, m->room * sizeof(*m->list));
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

static const struct gt_pair_message *find(const struct gt_messages *m, const struct gt_pair_message *key)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&m->list[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low == m->count || by_place(&m->list[low], key) ? NULL : &m->list[low];
}

struct gt_peer gt_messages_peer(const struct gt_messages *m, uint32_t location, uint64_t tick,
				bool send, uint32_t tag)
{
	struct gt_pair_message key = { .location = location, .tick = tick, .send = send, .tag = tag };
	const struct gt_pair_message *found = find(m, &key);

	if (!found)
		return (struct gt_peer){ .rank = GT_NO_PEER };
	return (struct gt_peer){ .comm = found->name, .rank = found->peer };
}

/* ---- messages that name their partner ---------------------------------------------------------------- */

static int by_equal(const struct gt_pair_message *a, const struct gt_pair_message *b)
{
	int c = compare_numbers(a->tag, b->tag);

	return c ? c : compare_numbers(a->pair, b->pair);
}

void gt_messages_pair_equal(struct gt_messages *m)
{
	gt_messages_sort(m, by_pair);
	for (size_t first = 0, end; first < m->count; first = end) {
		for (end = first; end < m->count && !by_equal(&m->list[first], &m->list[end]);)
			end++;
		pair(&m->list[first], end - first);
	}
	gt_messages_sort(m, by_place);
}

struct gt_pair_message *gt_messages_list(struct gt_messages *m, size_t *count)
{
	*count = m->count;
	return m->list;
}

void gt_messages_cut(struct gt_messages *m, size_t count)
{
	m->count = count;
}

bool gt_messages_has_pair(const struct gt_messages *m, uint32_t location, uint64_t tick, bool send,
			  uint32_t tag, uint64_t pair_key)
{
	struct gt_pair_message key = { .location = location, .tick = tick, .send = send, .tag = tag,
				  .pair = pair_key };
	const struct gt_pair_message *found = find(m, &key);

	return found && found->peer != GT_NO_PEER;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that span locations: messages, collectives, threads and locks. What each event
 * contributes is collected, sorted by what belongs together, and then checked.
 *
 * Limits: records are sorted by their keys, in memory or on disk (lib/assemble/spool/sort.h); those of one
 * key are in memory while they are checked. A lock's records are looked at in pieces of 65,536 orders, and
 * not across their borders.
 */
#include "config.h"
#include "tools/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/spool/sort.h"
#include "lib/assemble/util/memory.h"

enum { RUN_BYTES = 32 << 20, PENDING = 128 };
enum { SLOTS = (sizeof(struct record) + sizeof(struct gt_slot) - 1) / sizeof(struct gt_slot) };

/* As the sorter takes it. */
union sorted {
	struct record record;
	struct gt_slot slots[SLOTS];
};

/* ---- bags ------------------------------------------------------------------------------------ */

/* 48 bits of the second key, in its order where it fits. Two locations: 24 bits each. */
static uint64_t tie_of(enum bag bag, const struct record *r)
{
	return bag == BAG_MESSAGES ? r->key[1] >> 32 << 24 | (r->key[1] & 0xffffff) : r->key[1];
}

static struct gt_sorter *new_bag(void)
{
	const char *dir = getenv("TMPDIR");
	struct gt_sorter *sorter;
	int fd = open(dir && *dir ? dir : P_tmpdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	sorter = gt_sorter_new(fd, RUN_BYTES); /* keeps fd */
	if (!sorter)
		gt_no_memory();
	return sorter;
}

static void spill_failed(struct check *check)
{
	if (!check->spill_failed)
		check_broken(check, RULE_FILES, GT_OTF2_NOTHING, NO_EVENT, 0,
			     "no temporary file can be written: not everything was checked");
	check->spill_failed = true;
}

static void put(struct check *check, enum bag bag, const struct record *records, size_t count)
{
	if (!check->bags[bag])
		check->bags[bag] = new_bag();
	for (size_t i = 0; i < count && !check->spill_failed; i++) {
		union sorted one = { .record = records[i] };

		if (gt_sorter_add(check->bags[bag], one.record.key[0], tie_of(bag, &one.record), one.slots,
				  SLOTS))
			spill_failed(check);
	}
}

static void put_locked(struct check *check, struct state *state, enum bag bag)
{
	pthread_mutex_lock(&check->lock);
	put(check, bag, state->pending[bag].records, state->pending[bag].count);
	pthread_mutex_unlock(&check->lock);
	state->pending[bag].count = 0;
}

void pairs_add(struct check *check, struct state *state, enum bag bag, const struct record *record)
{
	if (!state) {
		put(check, bag, record, 1);
		return;
	}
	if (!state->pending[bag].records)
		state->pending[bag].records = gt_need(malloc(PENDING * sizeof(*record)));
	state->pending[bag].records[state->pending[bag].count++] = *record;
	if (state->pending[bag].count == PENDING)
		put_locked(check, state, bag);
}

void pairs_flush(struct check *check, struct state *state)
{
	for (enum bag bag = 0; bag < BAGS; bag++) {
		if (state->pending[bag].count)
			put_locked(check, state, bag);
		free(state->pending[bag].records);
	}
}

static int compare(const void *va, const void *vb)
{
	const struct record *a = va, *b = vb;

#define BY(field)                                                                                  \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1
	BY(key[0]);
	BY(key[1]);
	BY(order);
	BY(time);
	BY(what);
	BY(location);
	BY(event);
	return 0;
}

static uint64_t id_of(const struct check *check, size_t location)
{
	return gt_otf2_location_at(check->read, location)->id;
}

#define BROKEN(check, rule, r, ...)                                                                \
	check_broken(check, rule, id_of(check, (r)->location), (r)->event, (r)->time, __VA_ARGS__)

/*
 * How far the times of two locations may be off against each other: on one host as far as its clock
 * can be read, between hosts by the errors of both. CLOCK_UNKNOWN: nobody knows.
 */
static uint64_t error_between(const struct check *check, size_t one, size_t other)
{
	const struct gt_otf2 *read = check->read;
	ptrdiff_t i, k;

	if (!check->several_clocks)
		return check->clock_error;
	i = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, gt_otf2_location_at(read, one)->group);
	k = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, gt_otf2_location_at(read, other)->group);
	if (i < 0 || k < 0 || gt_otf2_location_group_at(read, (size_t)i)->parent ==
				      gt_otf2_location_group_at(read, (size_t)k)->parent)
		return check->clock_error;
	if (check->clocks[i] >= CLOCK_UNKNOWN || check->clocks[k] >= CLOCK_UNKNOWN)
		return CLOCK_UNKNOWN;
	return check->clocks[i] + check->clocks[k];
}

/* ---- messages -------------------------------------------------------------------------------- */

static int compare_times(const void *va, const void *vb)
{
	const struct record *a = va, *b = vb;

	BY(time);
	BY(what);
	BY(location);
	BY(event);
	return 0;
}

static int compare_values(const void *va, const void *vb)
{
	const struct record *a = va, *b = vb;

	BY(value);
	return 0;
}

/* Copies the sends that were not retracted, or the receives, in the order in which they were begun. */
static size_t copy_ends(const struct record *r, size_t n, bool receives, struct record *ends)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		bool receive = r[i].what != MESSAGE_SEND && r[i].what != MESSAGE_RETRACT;
		size_t k = count;

		if (receive == receives && r[i].what != MESSAGE_RETRACT)
			ends[count++] = r[i];
		if (receives || r[i].what != MESSAGE_RETRACT)
			continue;
		while (k-- > 0 && (ends[k].event != r[i].event || ends[k].location != r[i].location))
			;
		if (k == SIZE_MAX)
			continue;
		memmove(&ends[k], &ends[k + 1], (count - k - 1) * sizeof(*ends));
		count--;
	}
	return count;
}

static bool one_location(const struct record *r, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (r[i].location != r[0].location)
			return false;
	return true;
}

/*
 * MPI's messages do not overtake each other: between two threads the n-th receive gets what the n-th send
 * has sent. With several threads, or where the user says what a message is, only the lengths together can be
 * compared.
 */
static void check_lengths(struct check *check, struct record *sends, struct record *receives, size_t n,
			  bool ordered, const char *what)
{
	bool cut = false;

	ordered = ordered && one_location(sends, n) && one_location(receives, n);
	if (!ordered) {
		qsort(sends, n, sizeof(*sends), compare_values);
		qsort(receives, n, sizeof(*receives), compare_values);
	}
	for (size_t i = 0; i < n; i++)
		cut = cut || receives[i].what != MESSAGE_RECEIVE;
	for (size_t i = 0; i < n; i++) {
		bool shorter = ordered ? receives[i].what != MESSAGE_RECEIVE : cut;

		if (receives[i].value == sends[i].value ||
		    (shorter && receives[i].value < sends[i].value))
			continue;
		BROKEN(check, RULE_MESSAGES, &receives[i],
		       "%" PRIu64 " bytes sent, %" PRIu64 " received %s", sends[i].value,
		       receives[i].value, what);
		return;
	}
}

static bool is_mpi(const struct check *check, uint64_t comm)
{
	const struct gt_otf2_comm *c = gt_otf2_find_comm(check->read, comm);
	const struct gt_otf2_group *group = c ? gt_otf2_find_group(check->read, c->group) : NULL;

	return group && group->paradigm == OTF2_PARADIGM_MPI;
}

/*
 * A program may leave messages unreceived, and end all the same. What a device or a user's message does is
 * written in pairs, and if events were lost, receives may be among them.
 */
static bool left_by_program(const struct check *check, uint64_t comm)
{
	return !check->excused && is_mpi(check, comm);
}

static void note_unreceived(struct check *check, size_t count, const char *what)
{
	if (!check->unreceived)
		snprintf(check->unreceived_what, sizeof(check->unreceived_what), "%s", what);
	check->unreceived += count;
}

/*
 * All messages of one (sender, receiver, communicator, tag), in the order in which they were begun.
 * Which receive belongs to which send is known of a thread's own only, but at any time no more can have
 * been received than were sent: the k-th receive is not before the k-th send.
 */
static void check_messages(struct check *check, struct record *r, size_t n)
{
	struct record *ends = gt_need(malloc(2 * n * sizeof(*ends)));
	size_t sends, receives, freed = 0, s = 0;
	uint64_t error;
	char from[CHECK_WHO], to[CHECK_WHO], what[sizeof(check->unreceived_what)];

	snprintf(what, sizeof(what), "from %s to %s, tag %u, communicator %u",
		 check_who(check, id_of(check, r->key[1] >> 32), from),
		 check_who(check, id_of(check, r->key[1] & 0xffffffff), to),
		 (unsigned)r->key[0], (unsigned)(r->key[0] >> 32));
	for (size_t i = 0; i < n; i++)
		freed += r[i].what == MESSAGE_FREED;
	sends = copy_ends(r, n, false, ends);
	receives = copy_ends(r, n, true, ends + n);
	if (sends == receives)
		check_lengths(check, ends, ends + n, sends,
			      is_mpi(check, r->key[0] >> 32) && !check->matched_early, what);
	free(ends);
	qsort(r, n, sizeof(*r), compare_times);
	if (sends > receives && left_by_program(check, r->key[0] >> 32))
		note_unreceived(check, sends - receives, what);
	else if (sends > receives || sends + freed < receives)
		BROKEN(check, RULE_MESSAGES, &r[n - 1], "%zu sent, %zu received %s", sends,
		       receives, what);
	for (size_t i = 0; i < n; i++) {
		if (r[i].what != MESSAGE_RECEIVE && r[i].what != MESSAGE_CUT)
			continue; /* when a freed one came is not known */
		while (s < n && r[s].what != MESSAGE_SEND)
			s++;
		if (s == n)
			break; /* a missing send was reported above */
		error = error_between(check, r[s].location, r[i].location);
		check->messages++;
		check->incomparable += error == CLOCK_UNKNOWN;
		check->within += error != CLOCK_UNKNOWN && r[s].time > r[i].time &&
				 r[s].time - r[i].time <= error;
		if (r[s].time > r[i].time && error != CLOCK_UNKNOWN &&
		    r[s].time - r[i].time > error) {
			check->early++;
			BROKEN(check, RULE_CAUSALITY, &r[i], "received %.9f s before it is sent %s",
			       (double)(r[s].time - r[i].time) / (double)check->read->resolution, what);
		}
		s++;
	}
}

/* ---- locks ----------------------------------------------------------------------------------- */

/*
 * In time the order must grow: the number and the time are taken while the lock is held. That is
 * so for one owner at a time only; readers may overtake each other between the two, so that a lock
 * that is seen with two owners at once is left out.
 */
static void check_lock_times(struct check *check, const struct record *r, size_t n)
{
	const struct record *owner = NULL, *wrong = NULL;
	uint64_t released = 0, count = 0;

	for (size_t i = 0; i < n; i++) {
		if (r[i].what == LOCK_RELEASE) {
			released = owner && owner->order == r[i].order ? r[i].time : released;
			continue;
		}
		if (owner && r[i].time < owner->time) {
			wrong = wrong ? wrong : &r[i];
			count++;
			/* The one that is earlier in time: was it still held when the other came?
			 */
			if (i + 1 < n && r[i + 1].order == r[i].order &&
			    r[i + 1].time > owner->time)
				return;
		} else if (owner && r[i].time < released) {
			return;
		}
		owner = &r[i];
		released = 0;
	}
	if (wrong)
		BROKEN(check, RULE_LOCKS, wrong,
		       "lock %u is acquired with order %" PRIu64 " before a smaller one (%" PRIu64
		       " times)",
		       (unsigned)wrong->key[0], wrong->order, count);
}

/* Acquisitions and releases of one lock, sorted by order. */
static void check_lock(struct check *check, struct record *r, size_t n)
{
	unsigned lock = (unsigned)r->key[0];
	char who[CHECK_WHO];

	for (size_t i = 0; i < n; i++) {
		const struct record *a = &r[i];
		bool first = i == 0 || r[i - 1].order != a->order;

		if (a->what == LOCK_ACQUIRE && !first)
			BROKEN(check, RULE_LOCKS, a, "lock %u, order %" PRIu64 " is acquired twice",
			       lock, a->order);
		else if (a->what == LOCK_RELEASE && (first || r[i - 1].what != LOCK_ACQUIRE))
			BROKEN(check, RULE_LOCKS, a,
			       "lock %u, order %" PRIu64 " is released but not held", lock,
			       a->order);
		else if (a->what == LOCK_RELEASE && r[i - 1].location != a->location)
			BROKEN(check, RULE_LOCKS, a,
			       "lock %u, order %" PRIu64 " is held by %s", lock, a->order,
			       check_who(check, id_of(check, r[i - 1].location), who));
	}
	check_lock_times(check, r, n);
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool later(const struct check *check, const struct record *a, const struct record *b)
{
	return a->time > b->time && a->time - b->time > check->clock_error;
}

/* One thread's life: sorted by what. */
static void check_thread(struct check *check, struct record *r, size_t n)
{
	const struct record *seen[4] = {NULL};
	static const char *const words[] = {"created", "begun", "ended", "waited for"};
	unsigned long long number = r->key[1];

	for (size_t i = 0; i < n; i++) {
		if (seen[r[i].what])
			BROKEN(check, RULE_THREADS, &r[i], "thread %llu is %s twice", number,
			       words[r[i].what]);
		else
			seen[r[i].what] = &r[i];
	}
	/* A thread may never have run, or run at the end, or never be waited for; not the reverse.
	 */
	/* Nor need its creator have come back from creating it when the process ended. */
	if (!seen[THREAD_CREATE] && (seen[THREAD_WAIT] || !seen[THREAD_BEGIN]))
		BROKEN(check, RULE_THREADS, r, "thread %llu is %s but was not created", number,
		       words[r->what]);
	if (seen[THREAD_END] && !seen[THREAD_BEGIN])
		BROKEN(check, RULE_THREADS, seen[THREAD_END], "thread %llu ends but did not begin",
		       number);
	if (seen[THREAD_END] && seen[THREAD_BEGIN] &&
	    seen[THREAD_END]->location != seen[THREAD_BEGIN]->location)
		BROKEN(check, RULE_THREADS, seen[THREAD_END],
		       "thread %llu began on another location", number);
	for (int a = 0; a < 4; a++)
		for (int b = a + 1; b < 4; b++)
			if (seen[a] && seen[b] && later(check, seen[a], seen[b]))
				BROKEN(check, RULE_THREADS, seen[b],
				       "thread %llu is %s before it is %s", number, words[b],
				       words[a]);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Operations that nobody can leave before everybody came. */
static bool synchronises(uint32_t op)
{
	switch (op) {
	case OTF2_COLLECTIVE_OP_BARRIER:
	case OTF2_COLLECTIVE_OP_ALLGATHER:
	case OTF2_COLLECTIVE_OP_ALLTOALL:
	case OTF2_COLLECTIVE_OP_ALLREDUCE:
		return true;
	}
	return false;
}

/* Members that did not complete a non-blocking one: as many as have left a request open, it may be they. */
static bool left_open(struct check *check, size_t missing)
{
	if (check->excused || check->open_later < missing)
		return false;
	check->open_later -= missing;
	check->unfinished += missing;
	return true;
}

static ptrdiff_t process_of(const struct check *check, uint64_t location)
{
	const struct gt_otf2_location *l = gt_otf2_find_location(check->read, location);

	return l ? gt_otf2_index(check->read, GT_OTF2_LOCATION_GROUP, l->group) : -1;
}

/* Has this location's process begun MPI without ending it? The program is to blame for what it left then. */
static bool has_abandoned(const struct check *check, uint64_t location)
{
	ptrdiff_t process = check->has_left ? process_of(check, location) : -1;

	return process >= 0 && check->life[process] == MPI_BEGUN;
}

static void note_abandoned(struct check *check, size_t calls, uint64_t location)
{
	if (!check->abandoned)
		check_who(check, location, check->abandoned_what);
	check->abandoned += calls;
}

/* Lists the members of this communicator whose processes ended without MPI_Finalize. */
static void find_left(struct check *check, uint64_t comm, uint64_t own, size_t size)
{
	if (check->left && check->left_comm == comm)
		return;
	check->left_comm = comm;
	check->left_count = 0;
	check->left = gt_resized(check->left, size, sizeof(*check->left));
	for (uint32_t rank = 0; rank < size; rank++) {
		uint64_t member = gt_otf2_member(check->read, comm, rank, own);

		if (has_abandoned(check, member))
			check->left[check->left_count++] = member;
	}
}

/*
 * Was one of these collectives too late for a member that takes no part? Not asked where there are two
 * groups.
 */
static bool left_early(struct check *check, const struct record *r, size_t n, const struct gt_otf2_comm *comm,
		       size_t size)
{
	bool blocking = !(r->key[0] & 1);
	ptrdiff_t process;

	if (!check->has_left || comm->inter || (blocking && n >= size))
		return false;
	find_left(check, comm->id, gt_otf2_own(check->read, comm->id, id_of(check, r->location)), size);
	check->meeting++;
	for (size_t i = 0; blocking && i < n; i++) {
		process = process_of(check, id_of(check, r[i].location));
		if (process >= 0)
			check->met[process] = check->meeting;
	}
	for (size_t i = 0; i < check->left_count; i++) {
		if (check->met[process_of(check, check->left[i])] != check->meeting) {
			note_abandoned(check, blocking ? n : n % size, check->left[i]);
			return true;
		}
	}
	return false;
}

/* A location that ends inside of a collective. */
static void check_open(struct check *check, struct record *r, size_t n)
{
	uint64_t location = id_of(check, r->location);

	for (size_t i = 0; i < n; i++)
		if (has_abandoned(check, location))
			note_abandoned(check, 1, location);
		else
			BROKEN(check, RULE_COLLECTIVES, &r[i], "ends inside a collective");
}

static void note_failure(struct check *check, uint64_t *failed, uint64_t number)
{
	pthread_mutex_lock(&check->lock);
	if (number < *failed)
		*failed = number;
	pthread_mutex_unlock(&check->lock);
}

/* One that failed has no number: which of the other members' belong together from there on is not known. */
void check_number(struct check *check, struct state *state, struct record *record, uint64_t *next)
{
	record->key[1] = record->what == COLLECTIVE_FAILED ? *next : (*next)++;
	if (record->what == COLLECTIVE_DONE)
		pairs_add(check, state, BAG_COLLECTIVES, record);
	else
		note_failure(check, &check->failed[record->key[0] >> 1], record->key[1]);
}

/* Of one process and communicator, by the times at which its threads began them. */
static void check_order(struct check *check, struct record *r, size_t n)
{
	uint64_t next = 0;

	for (size_t i = 0; i < n; i++) {
		struct record numbered = r[i];

		numbered.time = r[i].order;
		numbered.order = r[i].time;
		check_number(check, NULL, &numbered, &next);
	}
}

/*
 * Blocking ones: the n-th collective of a communicator, once for each member. Others complete in
 * any order: all of the same operation and root, equally often for each member.
 */
static void check_collective(struct check *check, struct record *r, size_t n)
{
	size_t index = r->key[0] >> 1;
	bool blocking = !(r->key[0] & 1);
	const struct gt_otf2_comm *comm = gt_otf2_comm_at(check->read, index);
	bool inter = comm->inter;
	size_t size = gt_otf2_comm_size(check->read, comm->id);
	struct record *last = r, *first = r;
	uint64_t error;
	char what[96];

	snprintf(what, sizeof(what), "communicator %" PRIu64 " \"%.40s\"", comm->id, comm->name);
	if (blocking ? r->key[1] >= check->failed[index] : check->failed_later[index])
		return;
	if (!blocking && size && n % size && left_open(check, size - n % size))
		return;
	if (size && n % size && left_early(check, r, n, comm, size))
		return;
	if (size && (blocking ? n != size : n % size)) {
		BROKEN(check, RULE_COLLECTIVES, r, "%zu of %zu members take part, %s", n, size,
		       what);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		uint64_t differ = r[i].value ^ r->value;

		if (differ >> 32)
			BROKEN(check, RULE_COLLECTIVES, &r[i], "operation %u, others %u, %s",
			       (unsigned)(r[i].value >> 32), (unsigned)(r->value >> 32), what);
		else if (differ && !inter)
			BROKEN(check, RULE_COLLECTIVES, &r[i], "root %u, others %u, %s",
			       (unsigned)r[i].value, (unsigned)r->value, what);
		if (r[i].time > last->time)
			last = &r[i];
		if (r[i].order < first->order)
			first = &r[i];
	}
	error = error_between(check, last->location, first->location);
	/* Between two groups each waits for the other one only. */
	if (blocking && !inter && synchronises((uint32_t)(r->value >> 32)) && last->time > first->order &&
	    error != CLOCK_UNKNOWN && last->time - first->order > error)
		BROKEN(check, RULE_COLLECTIVES, first, "leaves before the last member comes, %s",
		       what);
}

/* ---- launches -------------------------------------------------------------------------------- */

/*
 * A call and what it made a GPU do. Calls come first where the times are equal; a call may be missing
 * (filtered), and numbers come again after 2^32 calls.
 */
static void check_launch(struct check *check, struct record *r, size_t n)
{
	const struct record *call = NULL;

	for (size_t i = 0; i < n && !call; i++)
		call = r[i].what == LAUNCH_CALL ? &r[i] : NULL;
	for (size_t i = 0; call && i < n && r[i].time < call->time; i++)
		if (call->time - r[i].time > check->clock_error)
			BROKEN(check, RULE_CAUSALITY, &r[i],
			       "begins %.9f s before the call that caused it, number %" PRIu64,
			       (double)(call->time - r[i].time) / (double)check->read->resolution,
			       r->key[1]);
}

/* Of a partitioned message the order of the requests counts, which begin together only by chance. */
static bool has_early_match(const struct check *check)
{
	for (size_t i = 0; i < check->read->tables[GT_OTF2_REGION].count; i++)
		if (!strcmp(gt_otf2_region_at(check->read, i)->name, "MPI_Precv_init"))
			return true;
	return false;
}

/* ---- all ------------------------------------------------------------------------------------- */

typedef void group_check(struct check *check, struct record *records, size_t count);

static void check_sorted(struct check *check, struct record *r, size_t n, group_check *function)
{
	if (n)
		qsort(r, n, sizeof(*r), compare);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && r[j].key[0] == r[i].key[0] && r[j].key[1] == r[i].key[1];
		     j++)
			;
		function(check, r + i, j - i);
	}
}

/* Records that the sorter gives one after the other, of one time and tie: few different keys, mostly one. */
struct batch {
	struct record *records;
	size_t count, room;
	uint64_t time, tie;
};

static void add_to(struct batch *batch, const struct record *r)
{
	batch->records = gt_grown(batch->records, batch->count, &batch->room, sizeof(*batch->records));
	batch->records[batch->count++] = *r;
}

static void check_bag(struct check *check, enum bag bag, group_check *function)
{
	struct gt_sorter *sorter = check->bags[bag];
	struct batch batch = { .count = 0 };
	union sorted one;
	long n = 0;

	if (!sorter || gt_sorter_finish(sorter)) {
		if (sorter)
			spill_failed(check);
		return;
	}
	while ((n = gt_sorter_unit(sorter, one.slots, SLOTS)) > 0) {
		if (batch.count &&
		    (batch.time != one.record.key[0] || batch.tie != tie_of(bag, &one.record))) {
			check_sorted(check, batch.records, batch.count, function);
			batch.count = 0;
		}
		batch.time = one.record.key[0];
		batch.tie = tie_of(bag, &one.record);
		add_to(&batch, &one.record);
	}
	check_sorted(check, batch.records, batch.count, function);
	if (n < 0)
		spill_failed(check);
	free(batch.records);
}

static const char *while_off(const struct check *check)
{
	return check->was_off ? ", or while the recording was switched off" : "";
}

void check_pairs(struct check *check)
{
	static group_check *const functions[BAGS] = {
		[BAG_MESSAGES] = check_messages,
		[BAG_LOCKS] = check_lock,
		[BAG_THREADS] = check_thread,
		[BAG_ORDER] = check_order,
		[BAG_COLLECTIVES] = check_collective,
		[BAG_OPEN] = check_open,
		[BAG_LAUNCHES] = check_launch,
	};

	for (size_t i = 0; !check->excused && i < check->read->tables[GT_OTF2_LOCATION_GROUP].count; i++)
		check->has_left |= check->life[i] == MPI_BEGUN;
	check->matched_early |= has_early_match(check);
	for (enum bag bag = 0; bag < BAGS; bag++) {
		check_bag(check, bag, functions[bag]);
		gt_sorter_free(check->bags[bag]);
	}
	if (check->unreceived)
		check_tell(check,
			   "%" PRIu64 " message%s sent but never received by the program%s; the first %s",
			   check->unreceived, check->unreceived == 1 ? " was" : "s were",
			   while_off(check), check->unreceived_what);
	if (check->unfinished)
		check_tell(check, "%" PRIu64 " non-blocking collective call%s never completed by the program "
			   "(MPI_Wait, MPI_Test)%s", check->unfinished,
			   check->unfinished == 1 ? " was" : "s were", while_off(check));
	if (check->abandoned)
		check_tell(check, "%" PRIu64 " call%s of collectives %s left incomplete by processes that "
			   "ended without MPI_Finalize, first by %s", check->abandoned,
			   check->abandoned == 1 ? "" : "s", check->abandoned == 1 ? "was" : "were",
			   check->abandoned_what);
}

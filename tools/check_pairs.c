/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that span locations: messages, collectives, threads and locks. What each event
 * contributes is collected, sorted by what belongs together, and then checked.
 *
 * Limits: up to MEMORY_MAX records of a sort are kept in memory; beyond that they are spread over
 * temporary files by their key, and checked one file after the other. A lock's records are looked
 * at in pieces of 65,536 orders, and not across their borders.
 */
#include "config.h"
#include "tools/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gputrace/hash.h"

#define ARCHIVE (~UINT64_C(0))

enum { MEMORY_MAX = 1 << 19, PARTS = 64 }; /* 32 MiB for each sort of record */

struct collection {
	struct record *items;
	size_t count, room;
	FILE *parts[PARTS];
	bool spread;
};

struct pairs {
	struct collection bags[BAGS];
};

struct pairs *pairs_new(void)
{
	return calloc(1, sizeof(struct pairs));
}

void pairs_free(struct pairs *pairs)
{
	for (int bag = 0; pairs && bag < BAGS; bag++) {
		free(pairs->bags[bag].items);
		for (int part = 0; part < PARTS; part++)
			if (pairs->bags[bag].parts[part])
				fclose(pairs->bags[bag].parts[part]);
	}
	free(pairs);
}

/* Records that belong together must come into one part. */
static unsigned part_of(const struct record *r)
{
	uint64_t hash = (r->key[0] ^ gt_hash_word(r->key[1])) *
			UINT64_C(0xff51afd7ed558ccd);

	return (unsigned)(hash >> 58);
}

static bool spread(struct collection *c)
{
	for (size_t i = 0; i < c->count; i++) {
		unsigned part = part_of(&c->items[i]);

		if (!c->parts[part])
			c->parts[part] = tmpfile();
		if (!c->parts[part] ||
		    fwrite(&c->items[i], sizeof(c->items[i]), 1, c->parts[part]) != 1)
			return false;
	}
	c->count = 0;
	c->spread = true;
	return true;
}

void pairs_add(struct check *check, enum bag bag, const struct record *record)
{
	struct collection *c = &check->pairs->bags[bag];

	if (c->count == MEMORY_MAX && !spread(c)) {
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0,
			     "no temporary file can be written: not everything was checked");
		c->count = 0;
	}
	if (c->count == c->room) {
		c->room = c->room ? c->room * 2 : 1024;
		c->items = realloc(c->items, c->room * sizeof(*c->items));
		if (!c->items)
			abort();
	}
	c->items[c->count++] = *record;
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
	return check->tables[KIND_LOCATION].items[location].id;
}

#define BROKEN(check, rule, r, ...)                                                                \
	check_broken(check, rule, id_of(check, (r)->location), (r)->event, (r)->time, __VA_ARGS__)

/*
 * How far the times of two locations may be off against each other: on one host as far as its clock
 * can be read, between hosts by the errors of both. CLOCK_UNKNOWN: nobody knows.
 */
static uint64_t error_between(const struct check *check, size_t one, size_t other)
{
	const struct definition *places = check->tables[KIND_LOCATION].items;
	const struct definition *groups = check->tables[KIND_LOCATION_GROUP].items, *a, *b;
	ptrdiff_t i, k;

	if (!check->several_clocks)
		return check->clock_error;
	i = check_find(check, KIND_LOCATION_GROUP, places[one].a);
	k = check_find(check, KIND_LOCATION_GROUP, places[other].a);
	if (i < 0 || k < 0 || groups[i].b == groups[k].b)
		return check->clock_error;
	a = &groups[i];
	b = &groups[k];
	if (a->clock == CLOCK_UNTOLD || b->clock == CLOCK_UNTOLD || a->clock == CLOCK_UNKNOWN ||
	    b->clock == CLOCK_UNKNOWN)
		return CLOCK_UNKNOWN;
	return a->clock + b->clock;
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
		bool receive = r[i].what == MESSAGE_RECEIVE || r[i].what == MESSAGE_CUT;
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
 * has sent. With several threads, or where the user says what a message is, only the lengths together can be compared.
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
		cut = cut || receives[i].what == MESSAGE_CUT;
	for (size_t i = 0; i < n; i++) {
		bool shorter = ordered ? receives[i].what == MESSAGE_CUT : cut;

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
	ptrdiff_t i = check_find(check, KIND_COMM, comm);

	i = i < 0 ? i : check_find(check, KIND_GROUP, check->tables[KIND_COMM].items[i].a);
	return i >= 0 && check->tables[KIND_GROUP].items[i].paradigm == OTF2_PARADIGM_MPI;
}

/*
 * All messages of one (sender, receiver, communicator, tag), in the order in which they were begun.
 * Which receive belongs to which send is known of a thread's own only, but at any time no more can have
 * been received than were sent: the k-th receive is not before the k-th send.
 */
static void check_messages(struct check *check, struct record *r, size_t n)
{
	struct record *ends = malloc(2 * n * sizeof(*ends));
	size_t sends, receives, s = 0;
	uint64_t error;
	char from[CHECK_WHO], to[CHECK_WHO], what[2 * CHECK_WHO + 60];

	if (!ends)
		abort();
	snprintf(what, sizeof(what), "from %s to %s, tag %u, communicator %u",
		 check_who(check, id_of(check, r->key[1] >> 32), from),
		 check_who(check, id_of(check, r->key[1] & 0xffffffff), to),
		 (unsigned)r->key[0], (unsigned)(r->key[0] >> 32));
	sends = copy_ends(r, n, false, ends);
	receives = copy_ends(r, n, true, ends + n);
	if (sends == receives)
		check_lengths(check, ends, ends + n, sends,
			      is_mpi(check, r->key[0] >> 32) && !check->matched_early, what);
	free(ends);
	qsort(r, n, sizeof(*r), compare_times);
	if (sends != receives)
		BROKEN(check, RULE_MESSAGES, &r[n - 1], "%zu sent, %zu received %s", sends,
		       receives, what);
	for (size_t i = 0; i < n; i++) {
		if (r[i].what != MESSAGE_RECEIVE && r[i].what != MESSAGE_CUT)
			continue;
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
			       (double)(r[s].time - r[i].time) / (double)check->resolution, what);
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

/* One that failed has no number: which of the other members' belong together from there on is not known. */
void check_number(struct check *check, struct record *record, uint64_t *next)
{
	uint64_t *failed = &check->failed[record->key[0] >> 1];

	record->key[1] = record->what == COLLECTIVE_FAILED ? *next : (*next)++;
	if (record->what == COLLECTIVE_DONE)
		pairs_add(check, BAG_COLLECTIVES, record);
	else if (record->key[1] < *failed)
		*failed = record->key[1];
}

/* Of one process and communicator, by the times at which its threads began them. */
static void check_order(struct check *check, struct record *r, size_t n)
{
	uint64_t next = 0;

	for (size_t i = 0; i < n; i++) {
		struct record numbered = r[i];

		numbered.time = r[i].order;
		numbered.order = r[i].time;
		check_number(check, &numbered, &next);
	}
}

/*
 * Blocking ones: the n-th collective of a communicator, once for each member. Others complete in
 * any order: all of the same operation and root, equally often for each member.
 */
static void check_collective(struct check *check, struct record *r, size_t n)
{
	size_t comm = r->key[0] >> 1;
	bool blocking = !(r->key[0] & 1);
	uint64_t id = check->tables[KIND_COMM].items[comm].id;
	bool inter = check->tables[KIND_COMM].items[comm].inter;
	size_t size = check_comm_size(check, id);
	struct record *last = r, *first = r;
	uint64_t error;
	char what[96];

	snprintf(what, sizeof(what), "communicator %" PRIu64 " \"%.40s\"", id,
		 check_name(check, KIND_COMM, id));
	if (blocking ? r->key[1] >= check->failed[comm] : check->failed_later[comm])
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
			       (double)(call->time - r[i].time) / (double)check->resolution,
			       r->key[1]);
}

/* Of a partitioned message the order of the requests counts, of a probed one that of the probes. */
static bool has_early_match(const struct check *check)
{
	static const char *const names[] = {"MPI_Mrecv", "MPI_Imrecv", "MPI_Precv_init"};
	const struct table *regions = &check->tables[KIND_REGION];

	for (size_t i = 0; i < regions->count; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (!strcmp(check_name(check, KIND_REGION, regions->items[i].id), names[k]))
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

static void check_part(struct check *check, FILE *part, group_check *function)
{
	struct record *r;
	long bytes;
	size_t n;

	fflush(part);
	if (fseek(part, 0, SEEK_END) || (bytes = ftell(part)) < 0)
		return;
	rewind(part);
	n = (size_t)bytes / sizeof(*r);
	r = malloc(n * sizeof(*r) + 1);
	if (!r)
		abort();
	if (fread(r, sizeof(*r), n, part) == n)
		check_sorted(check, r, n, function);
	else
		check_broken(check, RULE_FILES, ARCHIVE, NO_EVENT, 0, "a temporary file is lost");
	free(r);
}

void check_pairs(struct check *check)
{
	static group_check *const functions[BAGS] = {
		[BAG_MESSAGES] = check_messages,
		[BAG_LOCKS] = check_lock,
		[BAG_THREADS] = check_thread,
		[BAG_ORDER] = check_order,
		[BAG_COLLECTIVES] = check_collective,
		[BAG_LAUNCHES] = check_launch,
	};

	check->matched_early = has_early_match(check);
	for (int bag = 0; bag < BAGS; bag++) {
		struct collection *c = &check->pairs->bags[bag];

		if (!c->spread) {
			check_sorted(check, c->items, c->count, functions[bag]);
			continue;
		}
		if (!spread(c))
			check_broken(
				check, RULE_FILES, ARCHIVE, NO_EVENT, 0,
				"no temporary file can be written: not everything was checked");
		for (int part = 0; part < PARTS; part++)
			if (c->parts[part])
				check_part(check, c->parts[part], functions[bag]);
	}
}

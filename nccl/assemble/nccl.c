/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NCCL's communicators, collectives and messages in the archive.
 *
 * Each process says of its rows which communicator they belong to, by its number, and which rank it is: the
 * rows of all processes with one number are the members of one communicator of OTF2. Collectives are OTF2's
 * nonblocking ones, as nobody waits for them on the host. The n-th message that a rank receives from another
 * is the n-th that was sent to it; it arrives when its operation ends, but not before it was sent: rows for
 * what is received have nothing else on them, so that this puts off nothing.
 *
 * Where a process has several ranks messages have a communicator of their own, of the rows of both kinds: all
 * readers take a location that is no member for any other of its process.
 *
 * Limits: a host alone cannot convert its spool if ranks of a communicator are elsewhere. Of two rows that
 * claim to be the same rank the first is it. NCCL before 2.27 does not say how many ranks there are: those
 * that were recorded. A message without its other end is left out and counted.
 */
#include "config.h"

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/archive/records.h"
#include "lib/assemble/assembly.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 1 << 20 };

extern const struct gt_assembler gt_assembler_nccl;

struct comm {
	uint64_t hash;
	uint32_t number, size;    /* of the archive; ranks, as NCCL counts them */
	uint32_t known;           /* of them, as far as the processes say */
	uint32_t *place;          /* by rank; GT_UNDEFINED: it was not recorded */
	uint32_t messages;        /* the communicator of its messages, and ... */
	uint32_t *to;             /* ... by rank, who receives there */
};

struct row {
	const struct gt_loc *loc;
	uint64_t hash;
	uint32_t ranks, rank, comm; /* comm: place in the list; GT_UNDEFINED: none */
	bool receives;
	const char *name;
	uint32_t *count;          /* messages with each rank until now */
	uint64_t last;            /* time of the last receive */
};

/* One end of a message. */
struct side {
	uint32_t comm, from, to, order;
	uint64_t ns;
};

struct sides {
	struct side *items;
	size_t count, room;
};

struct state {
	struct comm *comms;
	struct row *rows;         /* by their locations' addresses */
	size_t comm_count, row_count;
	struct sides sent, received;
};

static struct state *state_of(struct gt_assembly *a)
{
	return *gt_state(a, &gt_assembler_nccl);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* The property that comms.c wrote: kind, number, ranks, rank, name. */
static bool read_row(const struct gt_proc *proc, const struct gt_loc *loc, struct row *row)
{
	struct gt_loc_info info = { .bytes = sizeof(info) };
	char key[32], kind[16];
	const char *text;
	int at = 0;

	gt_read_location_info(loc, &info);
	snprintf(key, sizeof(key), "nccl-row %u", info.id);
	text = gt_read_property(proc, key);
	if (!text ||
	    sscanf(text, "%15s %" SCNx64 " %u %u %n", kind, &row->hash, &row->ranks, &row->rank, &at) != 4 ||
	    !at || row->rank >= RANKS_MOST || row->ranks > RANKS_MOST)
		return false;
	row->loc = loc;
	row->receives = !strcmp(kind, "receives");
	row->name = text + at;
	row->comm = GT_UNDEFINED;
	row->count = NULL;
	row->last = 0;
	return true;
}

static int find_rows(struct gt_assembly *a, struct state *s)
{
	const struct gt_proc *proc;
	const struct gt_loc *loc;
	size_t room = 0;

	for (size_t i = 0; (proc = gt_read_process(a, i)); i++) {
		for (size_t k = 0; (loc = gt_read_location(proc, k)); k++) {
			struct row row;

			if (gt_read_number(loc) == GT_NO_NUMBER || !read_row(proc, loc, &row))
				continue;
			if (s->row_count == room) {
				struct row *more;

				room = room ? 2 * room : 16;
				more = realloc(s->rows, room * sizeof(row));
				if (!more)
					return -ENOMEM;
				s->rows = more;
			}
			s->rows[s->row_count++] = row;
		}
	}
	return 0;
}

static int by_comm(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->receives != b->receives)
		return a->receives ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->loc->number < b->loc->number ? -1 : a->loc->number > b->loc->number;
}

static int by_location(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	return (a->loc > b->loc) - (a->loc < b->loc);
}

/* The row of this location, or NULL. */
static struct row *row_of(const struct state *s, const struct gt_loc *loc)
{
	const struct row key = { .loc = loc };

	return s->row_count ? bsearch(&key, s->rows, s->row_count, sizeof(key), by_location) : NULL;
}

/* ---- communicators ------------------------------------------------------------------------------------ */

/* Does a process have several ranks? */
static bool has_several(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count && !rows[k].receives; k++)
			if (rows[i].loc->proc == rows[k].loc->proc)
				return true;
	return false;
}

/* A communicator of all rows, those that receive behind the others. */
static bool add_receivers(struct gt_assembly *a, struct comm *comm, const struct row *rows, size_t count)
{
	struct gt_comm out = { .parent = comm->number, .proc = GT_UNDEFINED, .paradigm = OTF2_PARADIGM_NONE };
	uint64_t key[2] = { 'R', rows->hash };
	char name[128];
	bool fresh;

	comm->to = malloc(comm->size * sizeof(*comm->to));
	out.members = malloc(count * sizeof(*out.members));
	if (!comm->to || !out.members) {
		free(out.members);
		return false;
	}
	memset(comm->to, 0xff, comm->size * sizeof(*comm->to));
	for (size_t i = 0; i < count; i++) {
		if (rows[i].comm == GT_UNDEFINED)
			continue;
		if (rows[i].receives)
			comm->to[rows[i].rank] = (uint32_t)out.member_count;
		out.members[out.member_count++] = gt_read_number(rows[i].loc);
	}
	snprintf(name, sizeof(name), "%.100s messages", rows->name);
	out.name = gt_defs_string(&a->defs, name);
	comm->messages = gt_defs_comm(&a->defs, key, sizeof(key), &out, &fresh);
	if (!fresh)
		free(out.members);
	return true;
}

/* From rows of one number, ordered by rank: the first of each rank is a member. */
static int make_comm(struct gt_assembly *a, struct state *s, struct row *rows, size_t count)
{
	struct comm *comm = &s->comms[s->comm_count];
	struct gt_comm out = { .parent = GT_UNDEFINED, .proc = GT_UNDEFINED, .paradigm = OTF2_PARADIGM_NONE };
	uint64_t key[2] = { 'N', rows->hash };
	size_t members;
	bool fresh;

	*comm = (struct comm){ .hash = rows->hash };
	for (size_t i = 0; i < count; i++) {
		comm->known = rows[i].ranks > comm->known ? rows[i].ranks : comm->known;
		comm->size = rows[i].rank + 1 > comm->size ? rows[i].rank + 1 : comm->size;
	}
	comm->size = comm->known > comm->size ? comm->known : comm->size;
	comm->place = malloc(comm->size * sizeof(*comm->place));
	out.members = malloc((count + 1) * sizeof(*out.members));
	s->comm_count++;
	if (!comm->place || !out.members) {
		free(out.members);
		return -ENOMEM;
	}
	memset(comm->place, 0xff, comm->size * sizeof(*comm->place));
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].receives && comm->place[rows[i].rank] == GT_UNDEFINED) {
			comm->place[rows[i].rank] = (uint32_t)out.member_count;
			out.members[out.member_count++] = gt_read_number(rows[i].loc);
			rows[i].comm = (uint32_t)s->comm_count - 1;
		} else if (rows[i].receives && comm->place[rows[i].rank] != GT_UNDEFINED &&
			   (i == 0 || !rows[i - 1].receives || rows[i - 1].rank != rows[i].rank)) {
			rows[i].comm = (uint32_t)s->comm_count - 1;
		}
	}
	out.name = gt_defs_string(&a->defs, rows->name);
	comm->number = gt_defs_comm(&a->defs, key, sizeof(key), &out, &fresh);
	comm->messages = comm->number;
	comm->to = comm->place;
	members = out.member_count;
	if (!fresh)
		free(out.members);
	if (has_several(rows, count) && !add_receivers(a, comm, rows, count))
		return -ENOMEM;
	return comm->known > members && a->how == GT_HOW_ALONE ? -EAGAIN : 0;
}

static int make_comms(struct gt_assembly *a, struct state *s)
{
	size_t first = 0;
	int rc = 0;

	s->comms = calloc(s->row_count + 1, sizeof(*s->comms));
	if (!s->comms)
		return -ENOMEM;
	if (s->row_count)
		qsort(s->rows, s->row_count, sizeof(*s->rows), by_comm);
	for (size_t i = 1; !rc && i <= s->row_count; i++)
		if (i == s->row_count || s->rows[i].hash != s->rows[first].hash) {
			rc = make_comm(a, s, s->rows + first, i - first);
			first = i;
		}
	if (s->row_count)
		qsort(s->rows, s->row_count, sizeof(*s->rows), by_location);
	return rc;
}

/* ---- messages: which was sent when --------------------------------------------------------------------- */

struct reading {
	struct gt_assembly *a;
	struct state *s;
	const struct row *row;
	const struct gt_proc *proc;
};

static int add(struct sides *sides, const struct side *side)
{
	if (sides->count == sides->room) {
		size_t room = sides->room ? 2 * sides->room : 1024;
		struct side *more = realloc(sides->items, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		sides->items = more;
		sides->room = room;
	}
	sides->items[sides->count] = *side;
	sides->items[sides->count].order = (uint32_t)sides->count;
	sides->count++;
	return 0;
}

static int note_message(void *context, const struct gt_loc *loc, const struct gt_slot *slot)
{
	const struct reading *r = context;
	uint32_t peer;

	(void)loc;
	if (!gt_read_is_own(r->proc, slot, &gt_assembler_nccl, r->row->receives ? "receive" : "send") ||
	    GT_WORD_EXTRA(slot->word) < 2)
		return 0;
	peer = (uint32_t)slot[1].time;
	return add(r->row->receives ? &r->s->received : &r->s->sent,
		   &(struct side){
			   .comm = r->row->comm,
			   .from = r->row->receives ? peer : r->row->rank,
			   .to = r->row->receives ? r->row->rank : peer,
			   .ns = gt_read_time(r->a, r->proc, slot->time),
		   });
}

static int by_pair(const void *va, const void *vb)
{
	const struct side *a = va, *b = vb;

#define BY(member)                             \
	if (a->member != b->member)            \
	return a->member < b->member ? -1 : 1
	BY(comm);
	BY(from);
	BY(to);
	BY(order);
#undef BY
	return 0;
}

static int note_messages(struct gt_assembly *a, struct state *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->row_count; i++) {
		struct reading r = { a, s, &s->rows[i], s->rows[i].loc->proc };

		if (r.row->comm != GT_UNDEFINED)
			rc = gt_read_records(r.row->loc, note_message, &r);
	}
	if (s->sent.count)
		qsort(s->sent.items, s->sent.count, sizeof(struct side), by_pair);
	if (s->received.count)
		qsort(s->received.items, s->received.count, sizeof(struct side), by_pair);
	return rc;
}

/* The n-th message of a pair; NULL: there are fewer. */
static const struct side *nth(const struct sides *sides, const struct side *pair, uint32_t n)
{
	size_t low = 0, high = sides->count;
	const struct side *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_pair(&sides->items[middle], pair) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	found = low + n < sides->count ? &sides->items[low + n] : NULL;
	if (found && (found->comm != pair->comm || found->from != pair->from || found->to != pair->to))
		found = NULL;
	return found;
}

static int define(struct gt_assembly *a)
{
	struct state *s = calloc(1, sizeof(*s));
	int rc;

	*gt_state(a, &gt_assembler_nccl) = s;
	if (!s)
		return -ENOMEM;
	rc = find_rows(a, s);
	if (!rc && s->row_count)
		rc = make_comms(a, s);
	return rc ? rc : note_messages(a, s);
}

static void end(struct gt_assembly *a)
{
	struct state *s = state_of(a);

	for (size_t i = 0; s && i < s->comm_count; i++) {
		if (s->comms[i].to != s->comms[i].place)
			free(s->comms[i].to);
		free(s->comms[i].place);
	}
	for (size_t i = 0; s && i < s->row_count; i++)
		free(s->rows[i].count);
	if (s) {
		free(s->comms);
		free(s->rows);
		free(s->sent.items);
		free(s->received.items);
	}
	free(s);
}

/* ---- records ------------------------------------------------------------------------------------------ */

/* The row and communicator that a record of this location belongs to. */
static struct row *place_of(struct gt_track *t, const struct comm **comm)
{
	struct state *s = state_of(gt_track_assembly(t));
	struct row *row = s ? row_of(s, gt_track_location(t)) : NULL;

	if (!row || row->comm == GT_UNDEFINED) {
		gt_write_unmatched(t);
		return NULL;
	}
	*comm = &s->comms[row->comm];
	return row;
}

static void convert_request(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct comm *comm;

	if (place_of(t, &comm))
		gt_track_write(t, NonBlockingCollectiveRequest, gt_track_time(t, tick), slot[1].time);
}

/* Bytes as MPI would count them: the root of a broadcast to n ranks sends n times its buffer. */
static void count_bytes(uint32_t op, bool root, uint64_t n, uint64_t bytes, uint64_t *sent,
			uint64_t *received)
{
	bool from_root = op == OTF2_COLLECTIVE_OP_BCAST || op == OTF2_COLLECTIVE_OP_SCATTER;
	bool to_root = op == OTF2_COLLECTIVE_OP_REDUCE || op == OTF2_COLLECTIVE_OP_GATHER;
	uint64_t all = op == OTF2_COLLECTIVE_OP_ALLREDUCE ? bytes : n * bytes;

	*sent = from_root ? (root ? n * bytes : 0) : to_root ? bytes : all;
	*received = from_root ? bytes : to_root ? (root ? n * bytes : 0) : all;
}

static void convert_complete(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	uint32_t op = (uint32_t)slot[1].time, root = (uint32_t)(slot[1].time >> 32), place = root;
	uint64_t sent, received;
	const struct comm *comm;
	const struct row *row = place_of(t, &comm);

	if (!row)
		return;
	if (root != UINT32_MAX)
		place = root < comm->size ? comm->place[root] : GT_UNDEFINED;
	count_bytes(op, root == row->rank, comm->size, slot[1].word, &sent, &received);
	gt_track_write(t, NonBlockingCollectiveComplete, gt_track_time(t, tick), (OTF2_CollectiveOp)op,
		       comm->number, place, sent, received, slot[2].time);
}

/* `other`: its other end. */
static void write_message(struct gt_track *t, struct row *row, const struct comm *comm,
			  const struct side *other, const struct gt_slot *slot, uint64_t ns)
{
	uint32_t rank = (uint32_t)slot[1].time, peer = row->receives ? comm->place[rank] : comm->to[rank];

	if (!row->receives) {
		gt_track_write(t, MpiSend, ns, peer, comm->messages, 0, slot[1].word);
		return;
	}
	ns = other->ns > ns ? other->ns : ns;
	row->last = row->last > ns ? row->last : ns;
	gt_track_write(t, MpiRecv, row->last, peer, comm->messages, 0, slot[1].word);
}

static void convert_message(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const struct state *s = state_of(gt_track_assembly(t));
	uint32_t peer = (uint32_t)slot[1].time, n;
	const struct comm *comm;
	struct row *row = place_of(t, &comm);
	const struct side *other;
	struct side pair;

	if (!row)
		return;
	if (!row->count)
		row->count = calloc(comm->size, sizeof(*row->count));
	if (!row->count || peer >= comm->size || comm->place[peer] == GT_UNDEFINED) {
		gt_write_unmatched(t);
		return;
	}
	pair = (struct side){ .comm = row->comm, .from = row->receives ? peer : row->rank,
			      .to = row->receives ? row->rank : peer };
	n = row->count[peer]++;
	other = nth(row->receives ? &s->sent : &s->received, &pair, n);
	if (!other) {
		gt_write_unmatched(t);
		return;
	}
	write_message(t, row, comm, other, slot, gt_track_time(t, tick));
}

static const struct gt_own_record records[] = {
	{ "request", 2, convert_request },
	{ "complete", 2, convert_complete },
	{ "send", 2, convert_message },
	{ "receive", 2, convert_message },
	{ NULL, 0, NULL },
};

static const struct gt_paradigm paradigms[] = {
	{ .name = "NCCL", .paradigm = OTF2_PARADIGM_NONE, .kind = OTF2_PARADIGM_CLASS_PROCESS,
	  .comm_template = "NCCL communicator ${id}" },
	{ .name = NULL },
};

const struct gt_assembler gt_assembler_nccl = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "nccl",
	.records = records, .paradigms = paradigms, .define = define, .end = end,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators, and the operations on them.
 *
 * Each rank of a communicator is a row (a location beside the threads), "NCCL NAME rank 1": whatever thread
 * asks, and how many ranks a process may have, an operation is on the row of its communicator. Its region
 * lasts as long as it takes to enqueue it, or, with VT_NCCL=kernels, from the first of its channels that
 * works to the last that ends. Messages that arrive are on a second row, because they may have to wait for
 * their sender; the assembly decides that (nccl/assemble/nccl.c).
 *
 * Limits: COMMS communicators of a process at a time. While a process has several ranks of a communicator
 * their operations do not overlap on their rows.
 */
#include <string.h>

#include "nccl/nccl.h"

enum { COMMS = 1024, PENDING = 1024 };

static struct gt_nccl_comm comms[COMMS];
static struct gt_lock lock;
static gt_ref request, complete, sent, received;
static uint32_t launches; /* atomic */

/* ---- contexts ----------------------------------------------------------------------------------------- */

struct gt_nccl_comm *gt_nccl_comm_find(uint64_t handle)
{
	uint64_t place = (handle & 0xffff) - 1;

	if (place >= COMMS || __atomic_load_n(&comms[place].handle, __ATOMIC_ACQUIRE) != handle)
		return NULL;
	return &comms[place];
}

static char *append(char *to, const char *end, const char *text)
{
	while (*text && to < end)
		*to++ = *text++;
	*to = '\0';
	return to;
}

static char *append_number(char *to, const char *end, uint64_t number, unsigned base)
{
	char digits[24] = "";
	unsigned at = sizeof(digits) - 1;

	do
		digits[--at] = "0123456789abcdef"[number % base];
	while ((number /= base) && at);
	return append(to, end, digits + at);
}

/* The user's name for it, or its number. */
static void name_comm(struct gt_nccl_comm *comm, const char *name, uint64_t hash)
{
	char *end = comm->name + sizeof(comm->name) - 1;

	if (name && *name)
		append(comm->name, end, name);
	else
		append_number(append(comm->name, end, "communicator "), end, hash, 16);
	comm->text = gt_def_string(comm->name);
}

/* Under the lock of all. */
static void see_others(struct gt_nccl_comm *comm)
{
	for (unsigned i = 0; i < COMMS; i++)
		if (comms[i].handle && &comms[i] != comm && comms[i].hash == comm->hash) {
			comms[i].several = true;
			comm->several = true;
		}
}

static struct gt_nccl_comm *free_place(void)
{
	for (unsigned i = 0; i < COMMS; i++)
		if (!comms[i].handle)
			return &comms[i];
	return NULL;
}

uint64_t gt_nccl_open(const char *name, uint64_t hash, int ranks, int rank)
{
	uint64_t mask, handle = 0;
	struct gt_nccl_comm *comm;
	uint32_t turn;

	if (gt_nccl_mode == GT_NCCL_NO)
		return 0;
	mask = gt_lock(&lock);
	comm = mask == GT_LOCK_REFUSED ? NULL : free_place();
	if (comm) {
		turn = comm->turn + 1;
		memset(comm, 0, sizeof(*comm));
		comm->turn = turn;
		comm->hash = hash;
		comm->ranks = ranks;
		comm->rank = rank;
		if (hash) {
			name_comm(comm, name, hash);
			see_others(comm);
		}
		handle = (uint64_t)turn << 16 | ((uint64_t)(comm - comms) + 1);
		__atomic_store_n(&comm->handle, handle, __ATOMIC_RELEASE);
	}
	gt_unlock(&lock, mask);
	if (!handle)
		gt_lost(GT_LOSS_NO_LOCATION, 1);
	return handle;
}

void gt_nccl_comm_is(struct gt_nccl_comm *comm, const struct gt_nccl_about *about)
{
	uint64_t mask;

	if (comm->hash || !about->hash)
		return;
	mask = gt_lock(&lock);
	if (mask != GT_LOCK_REFUSED && !comm->hash) {
		comm->rank = about->rank;
		comm->hash = about->hash;
		name_comm(comm, about->name, about->hash);
		see_others(comm);
	}
	gt_unlock(&lock, mask);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

struct gt_location *gt_nccl_row(struct gt_nccl_comm *comm, const char *what, unsigned number, unsigned kind,
				unsigned flags)
{
	char text[128], *end = text + sizeof(text) - 1, *to = append(text, end, "NCCL ");
	const struct gt_location_info info = {
		.bytes = sizeof(info), .name = text, .kind = kind, .flags = flags, .key = GT_KEY_NO_DEVICE,
	};

	to = append(append(to, end, comm->name), end, " rank ");
	to = append(append_number(to, end, (uint64_t)(unsigned)comm->rank, 10), end, what);
	if (number != UINT32_MAX)
		append_number(to, end, number, 10);
	return gt_location_create(&info);
}

struct gt_location **gt_nccl_rows_of(struct gt_nccl_comm *comm, size_t offset, unsigned channel)
{
	if (!comm->rows)
		comm->rows = gt_memory(sizeof(*comm->rows));
	if (!comm->rows || channel >= GT_NCCL_ROWS)
		return NULL;
	return (struct gt_location **)((char *)comm->rows + offset) + channel;
}

/* Describes a row for the assembly: see nccl/assemble/nccl.c. */
static void describe(const struct gt_nccl_comm *comm, const struct gt_location *row, const char *kind)
{
	char key[64] = "nccl-row ", value[160], *end = value + sizeof(value) - 1, *to;

	append_number(key + strlen(key), key + sizeof(key) - 1, gt_location_id(row), 10);
	to = append(append(value, end, kind), end, " ");
	to = append(append_number(to, end, comm->hash, 16), end, " ");
	to = append(append_number(to, end, (uint64_t)(comm->ranks > 0 ? comm->ranks : 0), 10), end, " ");
	to = append(append_number(to, end, (uint64_t)(comm->rank > 0 ? comm->rank : 0), 10), end, " ");
	append(to, end, comm->name);
	gt_def_property(key, value);
}

static struct gt_location *operations_of(struct gt_nccl_comm *comm)
{
	if (!comm->operations && comm->hash) {
		comm->operations = gt_nccl_row(comm, "", UINT32_MAX, GT_LOC_GPU_STREAM,
					       GT_LOC_UNSORTED | GT_LOC_COMMITS | GT_LOC_ASIDE);
		if (comm->operations)
			describe(comm, comm->operations, "operations");
	}
	return comm->operations;
}

static struct gt_location *received_of(struct gt_nccl_comm *comm)
{
	if (!comm->received) {
		comm->received = gt_nccl_row(comm, " receives", UINT32_MAX, GT_LOC_METRIC, 0);
		if (comm->received)
			describe(comm, comm->received, "receives");
	}
	return comm->received;
}

void gt_nccl_write_parameter(struct gt_location *row, enum gt_nccl_parameter which, uint64_t value,
			     uint64_t tick)
{
	const uint64_t data[2] = { value, 0 };

	gt_location_record(row, GT_T_PARAM_UINT, gt_nccl_parameters[which], data, 1, tick);
}

/* ---- operations --------------------------------------------------------------------------------------- */

static void write_own(struct gt_location *row, gt_ref kind, uint64_t a, uint64_t b, uint64_t c, uint64_t tick)
{
	gt_location_record(row, GT_T_OWN, kind, (uint64_t[4]){ a, b, c, 0 }, 2, tick);
}

static void write_parameters(struct gt_location *row, const struct gt_nccl_event *e, uint64_t tick)
{
	if (e->params)
		gt_location_record(row, GT_T_PARAMS, e->params, NULL, 0, tick);
	gt_nccl_write_parameter(row, GT_NCCL_BYTES, e->bytes, tick);
	gt_nccl_write_parameter(row, e->type == GT_NCCL_P2P ? GT_NCCL_PEER : GT_NCCL_SEQUENCE,
				e->type == GT_NCCL_P2P ? (uint64_t)(unsigned)e->root : e->sequence, tick);
	if (e->launch)
		gt_nccl_write_parameter(row, GT_NCCL_LAUNCH, e->launch, tick);
	if (e->captured)
		gt_nccl_write_parameter(row, GT_NCCL_CAPTURED, 1, tick);
}

/* Writes its OTF2 events. Operations that are only captured into a graph are not executed. */
static void write_exchange(struct gt_nccl_comm *comm, const struct gt_nccl_event *e, uint64_t begin,
			   uint64_t end)
{
	const struct gt_nccl_function *f = gt_nccl_function_at(e->function);
	uint64_t root = f->rooted ? (uint64_t)(uint32_t)e->root : UINT32_MAX, id;

	if (e->captured)
		return;
	if (e->type == GT_NCCL_COLL && f->collective) {
		id = ++comm->requests;
		write_own(comm->operations, request, id, 0, 0, begin);
		write_own(comm->operations, complete, (f->collective - 1u) | root << 32, e->bytes, id, end);
	} else if (e->type == GT_NCCL_P2P && e->send) {
		write_own(comm->operations, sent, (uint32_t)e->root, e->bytes, 0, begin);
	} else if (e->type == GT_NCCL_P2P) {
		write_own(received_of(comm), received, (uint32_t)e->root, e->bytes, 0, end);
	}
}

/* Under the communicator's lock: all that is known of it. */
static void write_operation(struct gt_nccl_comm *comm, struct gt_nccl_event *e)
{
	uint64_t begin = e->first ? e->first : e->begin, end = e->last ? e->last : e->end;
	struct gt_location *row = operations_of(comm);

	if (gt_nccl_mode == GT_NCCL_CALLS || comm->several)
		begin = begin > comm->last_end ? begin : comm->last_end;
	end = end > begin ? end : begin;
	comm->last_end = end > comm->last_end ? end : comm->last_end;
	if (e->region) {
		gt_location_record(row, GT_T_ENTER, e->region, NULL, 0, begin);
		write_parameters(row, e, begin);
	}
	write_exchange(comm, e, begin, end);
	if (e->region)
		gt_location_record(row, GT_T_LEAVE, e->region, NULL, 0, end);
}

/* ---- the operations whose kernel has not ended yet, in their order ------------------------------------- */

static void push(struct gt_nccl_comm *comm, struct gt_nccl_event *e)
{
	struct gt_nccl_event *last = gt_nccl_event_at(comm->newest);

	comm->newest = gt_nccl_event_place(e);
	if (last)
		last->next = comm->newest;
	else
		comm->pending = comm->newest;
	comm->pending_count++;
}

static void pop(struct gt_nccl_comm *comm)
{
	struct gt_nccl_event *e = gt_nccl_event_at(comm->pending);

	comm->pending = e->next;
	if (!comm->pending)
		comm->newest = 0;
	comm->pending_count--;
	write_operation(comm, e);
	gt_nccl_event_free(e);
}

static bool is_done(const struct gt_nccl_event *e)
{
	return e->stopped && !e->open && e->done >= e->channels;
}

/* They end in their order: what is older than one that has ended, and does not work any more, has, too. */
static void pop_done(struct gt_nccl_comm *comm)
{
	const struct gt_nccl_event *e;
	unsigned known = 0, n = 0;

	e = gt_nccl_event_at(comm->pending);
	for (; e && e->stopped && !e->open; e = gt_nccl_event_at(e->next)) {
		n++;
		if (is_done(e))
			known = n;
	}
	if (comm->pending_count > PENDING && !known)
		known = 1;
	while (known--)
		pop(comm);
}

void gt_nccl_launched(struct gt_nccl_comm *comm)
{
	comm->launch = __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
	comm->launcher = gt_self_location();
}

void gt_nccl_operation_started(struct gt_nccl_comm *comm, struct gt_nccl_event *event)
{
	uint64_t mask = gt_lock(&comm->lock);

	event->thread = gt_self_location();
	if (comm->launch && comm->launcher == event->thread)
		event->launch = comm->launch;
	if (mask != GT_LOCK_REFUSED)
		push(comm, event);
	gt_unlock(&comm->lock, mask);
}

void gt_nccl_operation_stopped(struct gt_nccl_comm *comm, struct gt_nccl_event *event)
{
	uint64_t mask = gt_lock(&comm->lock);

	if (mask == GT_LOCK_REFUSED) {
		gt_lost(GT_LOSS_SANDBOX, 1);
	} else {
		event->end = gt_now();
		event->stopped = true;
		if (gt_nccl_mode < GT_NCCL_KERNELS)
			event->channels = 0;
		pop_done(comm);
	}
	gt_unlock(&comm->lock, mask);
}

/* ---- channels of kernels ------------------------------------------------------------------------------- */

/* The operation, with its communicator's lock held; NULL, and not held: it is over, or not known. */
static struct gt_nccl_event *hold(const struct gt_nccl_event *event, struct gt_nccl_comm **comm,
				  uint64_t *mask)
{
	struct gt_nccl_event *parent;

	*comm = gt_nccl_comm_find(event->comm);
	if (!*comm)
		return NULL;
	*mask = gt_lock(&(*comm)->lock);
	parent = *mask == GT_LOCK_REFUSED ? NULL : gt_nccl_event_find(event->parent);
	if (parent && parent->comm == event->comm &&
	    (parent->type == GT_NCCL_COLL || parent->type == GT_NCCL_P2P))
		return parent;
	gt_unlock(&(*comm)->lock, *mask);
	return NULL;
}

void gt_nccl_kernel_started(struct gt_nccl_event *event)
{
	struct gt_nccl_comm *comm;
	uint64_t mask;
	struct gt_nccl_event *parent = hold(event, &comm, &mask);

	event->region = gt_nccl_regions[GT_NCCL_R_KERNEL];
	if (!parent)
		return;
	event->region = gt_nccl_function_at(parent->function)->channel;
	parent->open++;
	if (!parent->first || event->begin < parent->first)
		parent->first = event->begin;
	gt_unlock(&comm->lock, mask);
}

/* Under the communicator's lock. */
static void write_channel(struct gt_nccl_comm *comm, const struct gt_nccl_event *event, uint64_t end)
{
	struct gt_location **row = gt_nccl_rows_of(comm, offsetof(struct gt_nccl_rows, channel),
						   event->channel);

	if (!row || !event->region)
		return;
	if (!*row)
		*row = gt_nccl_row(comm, " channel ", event->channel, GT_LOC_GPU_STREAM,
				   GT_LOC_UNSORTED | GT_LOC_COMMITS | GT_LOC_ASIDE);
	gt_location_record(*row, GT_T_ENTER, event->region, NULL, 0, event->begin);
	if (event->duration)
		gt_nccl_write_parameter(*row, GT_NCCL_GPU_TIME, event->duration, event->begin);
	gt_location_record(*row, GT_T_LEAVE, event->region, NULL, 0, end);
}

void gt_nccl_kernel_stopped(struct gt_nccl_event *event)
{
	struct gt_nccl_comm *comm;
	uint64_t mask, now = gt_now();
	struct gt_nccl_event *parent = hold(event, &comm, &mask);

	if (!parent)
		return;
	write_channel(comm, event, now);
	if (parent->open)
		parent->open--;
	parent->done++;
	parent->last = now;
	pop_done(comm);
	gt_unlock(&comm->lock, mask);
}

/* ---- the end ------------------------------------------------------------------------------------------ */

/* Operations whose end was not seen end now. */
static void finish(struct gt_nccl_comm *comm)
{
	uint64_t mask = gt_lock(&comm->lock);

	while (mask != GT_LOCK_REFUSED && comm->pending) {
		struct gt_nccl_event *e = gt_nccl_event_at(comm->pending);

		e->end = e->stopped ? e->end : gt_now();
		pop(comm);
	}
	gt_unlock(&comm->lock, mask);
}

void gt_nccl_close(uint64_t handle)
{
	struct gt_nccl_comm *comm = gt_nccl_comm_find(handle);
	uint64_t mask;

	if (!comm)
		return;
	finish(comm);
	gt_nccl_events_drop(handle);
	mask = gt_lock(&lock);
	if (mask != GT_LOCK_REFUSED) {
		gt_memory_free(comm->rows, sizeof(*comm->rows));
		comm->rows = NULL;
		__atomic_store_n(&comm->handle, 0, __ATOMIC_RELEASE);
	}
	gt_unlock(&lock, mask);
}

void gt_nccl_comms_begin(void)
{
	request = gt_def_record("nccl", "request");
	complete = gt_def_record("nccl", "complete");
	sent = gt_def_record("nccl", "send");
	received = gt_def_record("nccl", "receive");
}

void gt_nccl_comms_end(void)
{
	for (unsigned i = 0; i < COMMS; i++)
		if (comms[i].handle)
			finish(&comms[i]);
}

void gt_nccl_comms_forked(void)
{
	lock = (struct gt_lock){ 0 };
	for (unsigned i = 0; i < COMMS; i++)
		if (comms[i].handle) {
			comms[i].lock = (struct gt_lock){ 0 };
			comms[i].handle = 0;
		}
}

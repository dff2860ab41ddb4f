/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages, and the requests of operations that are under way.
 *
 * A send is recorded before the call, so that no receive can have an earlier time; a receive when it
 * is complete. MPI libraries hand out one and the same handle for all operations that were complete
 * at once; these are completed in the trace at once, too, and never enter the table.
 *
 * Limits: request handles that the program copies and gives to two threads are matched as MPI does.
 */
#include <string.h>

#include "mpi/io.h"
#include "mpi/messages.h"
#include "mpi/rma.h"

static uint64_t complete_handle; /* Open MPI: of operations that are complete; 0: none is known */

/* The layouts of handle and status; both are part of the libraries' ABI. */
#if defined(OPEN_MPI)
static bool always_complete(MPI_Request request)
{
	return GT_MPI_BITS(request) == complete_handle;
}
#else
static bool always_complete(MPI_Request request)
{
	return (unsigned)request >> 30 == 1; /* a handle that is built in */
}
#endif

void gt_mpi_messages_setup(void *(*find)(const char *symbol))
{
	complete_handle = GT_MPI_BITS(find("ompi_request_empty"));
}

void gt_mpi_on_device(const void *read, const void *written)
{
	static gt_ref attribute;
	uint64_t which;

	if (!gt_active())
		return;
	gt_guard(); /* the device's library is asked */
	which = (gt_on_device(read) ? 1 : 0) | (gt_on_device(written) ? 2 : 0);
	gt_unguard();
	if (!which)
		return;
	if (!__atomic_load_n(&attribute, __ATOMIC_RELAXED))
		__atomic_store_n(&attribute,
				 gt_def_attribute("MPI_DEVICE_BUFFERS",
						  "Buffers in a device's memory: 1 one "
						  "that is read, 2 one that may be written, 3 both",
						  GT_VALUE_UINT),
				 __ATOMIC_RELAXED);
	gt_attribute(attribute, which);
}

/* ---- records -------------------------------------------------------------------------------- */

static void record_message(unsigned type, gt_ref comm, uint32_t peer, uint32_t tag, uint64_t bytes,
			   uint64_t id)
{
	const uint64_t data[4] = { peer | (uint64_t)tag << 32, bytes, id, 0 };

	gt_record(type, comm, data, id ? 2 : 1);
}

static void record_request(unsigned type, uint64_t id)
{
	gt_record(type, 0, (uint64_t[2]){ id, 0 }, 1);
}

/* MPI did not take what was recorded as sent. id 0: there is no request. */
static void record_refused(uint64_t id, uint64_t bytes)
{
	gt_record(GT_T_MPI_REQUEST_CANCELLED, 0, (uint64_t[2]){ id, bytes + 1 }, 1);
}

static void record_cancelled(const struct gt_mpi_op *op)
{
	if (op->kind == GT_MPI_BOTH)
		record_request(GT_T_MPI_REQUEST_CANCELLED, op->received);
	record_request(GT_T_MPI_REQUEST_CANCELLED, op->id);
}

/* The operation was never begun. */
static void record_not_begun(const struct gt_mpi_op *op)
{
	if (op->kind == GT_MPI_BOTH)
		record_refused(op->received, op->sent);
	if (op->kind == GT_MPI_SEND)
		record_refused(op->id, op->bytes);
	else
		record_request(GT_T_MPI_REQUEST_CANCELLED, op->id);
}

void gt_mpi_send_refused(int rc, MPI_Comm comm, int dest, MPI_Count count, MPI_Datatype type)
{
	bool sent = gt_mpi_truncated(rc); /* what was cut is the message that it received */
	const struct gt_mpi_comm *c = sent || dest == MPI_PROC_NULL ? NULL : gt_mpi_comm_of(comm);

	if (c && c->ref && dest >= 0 && dest < c->far)
		record_refused(0, gt_mpi_bytes(count, type));
}

/* rc: of a message that did not fit into its buffer, which took `room` bytes of it. */
static void receive(gt_ref comm, int rc, const MPI_Status *status, uint64_t room, uint64_t id)
{
	uint64_t bytes = gt_mpi_status_bytes(status);

	if (status->MPI_SOURCE < 0)
		return;
	if (rc != MPI_SUCCESS) {
		bytes = bytes < room ? bytes : room;
		gt_mpi_failed(rc);
	}
	record_message(id ? GT_T_MPI_IRECV : GT_T_MPI_RECV, comm, (uint32_t)status->MPI_SOURCE,
		       (uint32_t)status->MPI_TAG, bytes, id);
}

void gt_mpi_recv_failed(int rc, MPI_Comm comm, const MPI_Status *status, MPI_Count count,
			MPI_Datatype type)
{
	const struct gt_mpi_comm *c = gt_mpi_truncated(rc) ? gt_mpi_comm_of(comm) : NULL;

	if (c && c->ref)
		receive(c->ref, rc, status, gt_mpi_bytes(count, type), 0);
}

/* ---- operations that begin ------------------------------------------------------------------ */

static void begin(const struct gt_mpi_op *op)
{
	if (op->kind == GT_MPI_SEND)
		record_message(GT_T_MPI_ISEND, op->comm, op->peer, op->tag, op->bytes, op->id);
	else
		record_request(op->kind == GT_MPI_RECV ? GT_T_MPI_IRECV_REQUEST
						       : GT_T_NBCOLL_REQUEST, op->id);
}

struct gt_mpi_op gt_mpi_isend_to(MPI_Comm comm, int dest, int tag, MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(comm);
	struct gt_mpi_op op = { 0 };

	if (!c || !c->ref || dest < 0 || dest >= c->far)
		return op;
	op = (struct gt_mpi_op){ .kind = GT_MPI_SEND, .active = true, .comm = c->ref,
				 .id = gt_mpi_new_id(), .peer = (uint32_t)dest, .tag = (uint32_t)tag,
				 .bytes = gt_mpi_bytes(count, type) };
	begin(&op);
	return op;
}

struct gt_mpi_op gt_mpi_irecv_from(MPI_Comm comm, int source, int tag, MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(comm);
	struct gt_mpi_op op = { 0 };

	if (!c || !c->ref)
		return op;
	op = (struct gt_mpi_op){ .kind = GT_MPI_RECV, .active = true, .comm = c->ref,
				 .id = gt_mpi_new_id(), .peer = (uint32_t)source, .tag = (uint32_t)tag,
				 .bytes = gt_mpi_bytes(count, type) };
	begin(&op);
	return op;
}

/* Two operations under one request. */
struct gt_mpi_op gt_mpi_isendrecv(bool on, MPI_Comm comm, int dest, int tag, MPI_Count sent,
				  MPI_Datatype sent_type, int source, int received_tag,
				  MPI_Count count, MPI_Datatype type)
{
	struct gt_mpi_op send, op;

	gt_mpi_isend(&send, on, comm, dest, tag, sent, sent_type);
	gt_mpi_irecv(&op, on, comm, source, received_tag, count, type);
	if (op.kind == GT_MPI_NOTHING)
		return send;
	op.posted = true;
	if (send.kind != GT_MPI_NOTHING) {
		op.kind = GT_MPI_BOTH;
		op.received = send.id;
		op.sent = send.bytes;
	}
	return op;
}

struct gt_mpi_op gt_mpi_icoll(bool on, const struct gt_mpi_coll *coll)
{
	struct gt_mpi_op op = { 0 };

	if (!on || !coll->ref)
		return op;
	op = (struct gt_mpi_op){ .kind = GT_MPI_COLL, .active = true, .comm = coll->ref,
				 .id = gt_mpi_new_id(), .peer = coll->op, .tag = coll->at,
				 .bytes = coll->sent, .received = coll->received, .near = coll->near };
	begin(&op);
	return op;
}

static void end(const struct gt_mpi_op *op, int rc, const MPI_Status *status);

void gt_mpi_bind_to(bool on, const struct gt_mpi_op *op, int rc, const MPI_Request *request)
{
	MPI_Status status;
	int flag = 0;

	if (rc != MPI_SUCCESS || *request == MPI_REQUEST_NULL) {
		if (on && op->kind == GT_MPI_IO)
			gt_mpi_io_cancelled(op);
		else if (on && op->kind == GT_MPI_COLL)
			end(op, rc, NULL); /* the others' may be complete */
		else if (on && op->kind != GT_MPI_RMA && rc != MPI_SUCCESS)
			record_not_begun(op);
		else if (on && op->kind != GT_MPI_RMA)
			record_cancelled(op);
		return;
	}
	if (!always_complete(*request)) {
		gt_mpi_insert(*request, op);
		return;
	}
	if (on && gt_mpi_Request_get_status()(*request, &flag, &status) == MPI_SUCCESS && flag)
		end(op, MPI_SUCCESS, &status);
}

void gt_mpi_persistent(enum gt_mpi_kind kind, const MPI_Request *request, MPI_Comm comm, int peer,
		       int tag, MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_comm *c = peer != MPI_PROC_NULL ? gt_mpi_comm_of(comm) : NULL;
	struct gt_mpi_op op = { .kind = kind, .persistent = true, .peer = (uint32_t)peer,
				.tag = (uint32_t)tag };

	if (!c || !c->ref)
		return;
	op.comm = c->ref;
	op.bytes = gt_mpi_bytes(count, type);
	gt_mpi_insert(*request, &op);
}

void gt_mpi_coll_init(const struct gt_mpi_coll *coll, const MPI_Request *request)
{
	struct gt_mpi_op op = { .kind = GT_MPI_COLL, .persistent = true, .comm = coll->ref,
				.peer = coll->op, .tag = coll->at, .bytes = coll->sent,
				.received = coll->received, .near = coll->near };

	if (coll->ref)
		gt_mpi_insert(*request, &op);
}

void gt_mpi_start(bool on, int count, const MPI_Request *requests)
{
	for (int i = 0; requests && i < count; i++) {
		struct gt_mpi_op op = gt_mpi_restart(requests[i], on);

		if (op.kind && on)
			begin(&op);
	}
}

/* Which of them began is not known: none is taken to have. */
void gt_mpi_start_failed(bool on, int count, const MPI_Request *requests)
{
	for (int i = 0; requests && i < count; i++) {
		struct gt_mpi_op op = gt_mpi_take(gt_mpi_look(&requests[i]));

		if (on && op.persistent && op.active && op.kind != GT_MPI_COLL)
			record_not_begun(&op);
		else if (on && op.persistent && op.active)
			record_request(GT_T_MPI_REQUEST_CANCELLED, op.id);
	}
}

/*
 * A receive whose request is freed before it is complete still takes the next message of its channel, and has
 * done so when MPI has ended. From whom is known unless it had a wildcard, with how many bytes is not.
 */
static void free_receive(const struct gt_mpi_op *op)
{
	if ((int)op->peer >= 0 && (int)op->tag >= 0)
		gt_mpi_keep_freed(op);
	else
		gt_lost(GT_LOSS_DEFINITION, 1);
}

void gt_mpi_freed_received(void)
{
	struct gt_mpi_op op;
	gt_ref attribute;

	while (gt_mpi_next_freed(&op)) {
		attribute = gt_def_attribute("MPI_REQUEST_FREED",
					     "The program freed the request before the message had come: "
					     "when it came, and with how many bytes, is not known",
					     GT_VALUE_UINT);
		gt_attribute(attribute, 1);
		record_message(GT_T_MPI_IRECV, op.comm, op.peer, op.tag, 0, op.id);
	}
}

/*
 * Nobody will ask what becomes of the operation: it is asked now, where it matters, whether it is
 * complete.
 */
void gt_mpi_forget(bool on, const MPI_Request *request)
{
	struct gt_mpi_op op;
	MPI_Status status;
	int flag = 0;

	if (!request)
		return;
	op = gt_mpi_drop(*request);
	if (!on || op.kind == GT_MPI_COMM || !op.active || *request == MPI_REQUEST_NULL)
		return;
	if (gt_mpi_Request_get_status()(*request, &flag, &status) == MPI_SUCCESS && flag)
		end(&op, MPI_SUCCESS, &status);
	else if (op.kind == GT_MPI_RECV || op.kind == GT_MPI_BOTH)
		free_receive(&op);
}

/* ---- matched probes ------------------------------------------------------------------------- */

void gt_mpi_matched(bool on, const MPI_Message *message, MPI_Comm comm)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(comm);
	struct gt_mpi_op op = { .kind = GT_MPI_MATCHED };

	if (!c || !c->ref || *message == MPI_MESSAGE_NO_PROC || *message == MPI_MESSAGE_NULL)
		return;
	op.comm = c->ref;
	op.peer = op.tag = UINT32_MAX; /* the status is the program's, and need not be there */
	if (on) {
		op.id = gt_mpi_new_id();
		record_request(GT_T_MPI_IRECV_REQUEST, op.id);
	}
	gt_mpi_insert_matched(*message, &op);
}

/* The call has failed; the message can still be received. id 0: the request was cancelled in the trace. */
static void put_back(const struct gt_mpi_op *was, uint64_t id, const MPI_Message *message)
{
	struct gt_mpi_op op = { .kind = GT_MPI_MATCHED, .comm = was->comm, .id = id, .peer = was->peer,
				.tag = was->tag };

	if (*message != MPI_MESSAGE_NULL)
		gt_mpi_insert_matched(*message, &op);
}

struct gt_mpi_op gt_mpi_mrecv(const MPI_Message *message)
{
	return message ? gt_mpi_take_matched(*message) : (struct gt_mpi_op){ 0 };
}

void gt_mpi_mrecv_done(bool on, int rc, const struct gt_mpi_op *op, const MPI_Message *message,
		       const MPI_Status *status, MPI_Count count, MPI_Datatype type)
{
	if (!op->kind)
		return;
	if (rc != MPI_SUCCESS && !gt_mpi_truncated(rc)) {
		put_back(op, op->id, message);
	} else if (on) {
		receive(op->comm, rc, status, gt_mpi_bytes(count, type), op->id);
	}
}

struct gt_mpi_op gt_mpi_imrecv(bool on, const MPI_Message *message, MPI_Count count,
			       MPI_Datatype type)
{
	struct gt_mpi_op op = gt_mpi_mrecv(message);

	if (!on || !op.kind)
		return (struct gt_mpi_op){ 0 };
	op.kind = GT_MPI_RECV;
	op.active = true;
	op.bytes = gt_mpi_bytes(count, type);
	if (!op.id) { /* the probe was not recorded */
		op.id = gt_mpi_new_id();
		begin(&op);
	}
	return op;
}

void gt_mpi_imrecv_failed(const struct gt_mpi_op *op, const MPI_Message *message)
{
	if (op->kind)
		put_back(op, 0, message);
}

/* ---- operations that are complete ----------------------------------------------------------- */

/*
 * MPICH (seen with 4.0 and 4.2) does not set the status of MPI_Isendrecv: it is that of whatever used the
 * request before. Then the message is the one that was asked for, as long as its buffer. With a wildcard
 * nobody knows.
 */
#if defined(OPEN_MPI)
#define STATUS_IS_SET(op) true
#else
#define STATUS_IS_SET(op) (!(op)->posted)
#endif

static void end_receive(const struct gt_mpi_op *op, int rc, const MPI_Status *status)
{
	if (op->kind == GT_MPI_BOTH)
		record_request(GT_T_MPI_ISEND_COMPLETE, op->received);
	if (STATUS_IS_SET(op)) {
		receive(op->comm, rc, status, op->bytes, op->id);
	} else if ((int)op->peer >= 0 && (int)op->tag >= 0) {
		record_message(GT_T_MPI_IRECV, op->comm, op->peer, op->tag, op->bytes, op->id);
	} else {
		record_request(GT_T_MPI_REQUEST_CANCELLED, op->id);
		gt_lost(GT_LOSS_DEFINITION, 1);
	}
}

static void end(const struct gt_mpi_op *op, int rc, const MPI_Status *status)
{
	bool receives = op->kind == GT_MPI_RECV || op->kind == GT_MPI_BOTH;
	bool failed = rc != MPI_SUCCESS && !(receives && gt_mpi_truncated(rc));
	int cancelled = failed;

	if (op->kind == GT_MPI_RMA) {
		if (!failed)
			gt_mpi_win_done(op);
		return;
	}
	if (op->kind == GT_MPI_IO) {
		gt_mpi_io_end(op, rc, status);
		return;
	}
	if (op->cancel && !failed)
		gt_mpi_Test_cancelled()(status, &cancelled);
	if (op->kind == GT_MPI_COLL) {
		const uint64_t data[4] = { op->peer | (uint64_t)op->tag << 32, failed ? 0 : op->bytes,
					   failed ? 0 : op->received, op->id };

		if (failed)
			gt_mpi_failed(rc);
		gt_mpi_say_neighbours(op->near);
		gt_record(GT_T_NBCOLL_COMPLETE, op->comm, data, 2);
	} else if (cancelled) {
		record_cancelled(op);
	} else if (op->kind == GT_MPI_SEND) {
		record_request(GT_T_MPI_ISEND_COMPLETE, op->id);
	} else if (receives) {
		end_receive(op, rc, status);
	}
}

static void complete(bool on, int rc, void *was, const MPI_Status *status)
{
	struct gt_mpi_op op = gt_mpi_take(was);

	if (op.kind == GT_MPI_COMM && rc == MPI_SUCCESS)
		gt_mpi_comm_ready(&op);
	else if (op.kind != GT_MPI_COMM && op.kind && op.active && on)
		end(&op, rc, status);
}

/* A call that failed has ended the operation if it took its handle, or says that a message was cut. */
void gt_mpi_complete_known(bool on, int rc, void *was, const MPI_Request *request,
			   const MPI_Status *status)
{
	if (rc == MPI_SUCCESS || *request == MPI_REQUEST_NULL || gt_mpi_truncated(rc))
		complete(on, rc, was, status);
}

/* ---- calls with many requests --------------------------------------------------------------- */

struct block {
	struct block *next;
	size_t bytes;
};
static uint32_t block_lock;
static struct block *blocks; /* not in use now */

static struct block *get_block(size_t bytes)
{
	struct block *b;

	gt_mpi_lock(&block_lock);
	b = blocks;
	if (b)
		blocks = b->next;
	gt_mpi_unlock(&block_lock);
	if (b && b->bytes >= bytes)
		return b;
	if (b)
		gt_memory_free(b, b->bytes);
	bytes = (bytes + 65535) & ~(size_t)65535;
	b = gt_memory(bytes);
	if (b)
		b->bytes = bytes;
	return b;
}

struct gt_mpi_list gt_mpi_list_of(int count, const MPI_Request *requests, MPI_Status **statuses)
{
	struct gt_mpi_list list = { 0 };
	size_t n = count > 0 ? (size_t)count : 0;
	bool own = statuses && *statuses == MPI_STATUSES_IGNORE;
	struct block *b;

	if (!n || !requests || !__atomic_load_n(&gt_mpi_live, __ATOMIC_RELAXED))
		return list;
	b = get_block(sizeof(*b) + n * (sizeof(void *) + sizeof(MPI_Status)) + 64);
	if (!b) {
		gt_mpi_lost(n);
		return list;
	}
	if (own)
		*statuses = (MPI_Status *)(b + 1);
	list.block = b;
	list.was = (void **)(((uintptr_t)((MPI_Status *)(b + 1) + n) + 15) & ~(uintptr_t)15);
	list.count = count;
	for (size_t i = 0; i < n; i++)
		list.was[i] = gt_mpi_look(&requests[i]);
	return list;
}

void gt_mpi_list_done(struct gt_mpi_list *list)
{
	struct block *b = list->block;

	if (!b)
		return;
	gt_mpi_lock(&block_lock);
	b->next = blocks;
	blocks = b;
	gt_mpi_unlock(&block_lock);
}

void gt_mpi_complete_one(bool on, int rc, const struct gt_mpi_list *list, int index,
			 const MPI_Request *requests, const MPI_Status *status)
{
	if (index >= 0 && index < list->count)
		gt_mpi_complete(on, rc, list->was[index], &requests[index], status);
}

/* Of one in a list; rc is that of the whole call. */
static void complete_in_list(bool on, int rc, void *was, const MPI_Status *status)
{
	if (rc != MPI_SUCCESS)
		rc = status->MPI_ERROR;
	if (was && rc != MPI_ERR_PENDING)
		complete(on, rc, was, status);
}

static bool in_status(int rc)
{
	return rc == MPI_SUCCESS || gt_mpi_class(rc) == MPI_ERR_IN_STATUS;
}

void gt_mpi_complete_all(bool on, int rc, const struct gt_mpi_list *list, const MPI_Status *statuses)
{
	for (int i = 0; i < list->count && in_status(rc); i++)
		complete_in_list(on, rc, list->was[i], &statuses[i]);
}

void gt_mpi_complete_some(bool on, int rc, const struct gt_mpi_list *list, int count,
			  const int *indices, const MPI_Status *statuses)
{
	if (!in_status(rc) || count == MPI_UNDEFINED)
		return;
	for (int i = 0; i < count; i++)
		if (indices[i] >= 0 && indices[i] < list->count)
			complete_in_list(on, rc, list->was[indices[i]], &statuses[i]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages, and what operations under way become when they are complete (requests.h keeps them).
 * Limits: the inline functions are parts of the wrappers.
 */
#ifndef GT_MPI_MESSAGES_H
#define GT_MPI_MESSAGES_H

#include "mpi/colls.h"
#include "mpi/comms.h"
#include "mpi/requests.h"

#pragma GCC visibility push(hidden)

void gt_mpi_messages_setup(void *(*find)(const char *symbol));

void gt_mpi_on_device(const void *read, const void *written);

/* Before the call is entered: says which of its buffers are in a device's memory. NULL: it has none. */
static inline void gt_mpi_buffers(const void *read, const void *written)
{
	if (gt_unlikely(__atomic_load_n(&gt_devices, __ATOMIC_RELAXED)))
		gt_mpi_on_device(read, written);
}

/* As gt_mpi_begin(), with the record of a message that the call sends. */
static inline __attribute__((always_inline)) bool
gt_mpi_begin_send(unsigned function, MPI_Comm comm, int dest, int tag, MPI_Count count,
		  MPI_Datatype type)
{
	const struct gt_mpi_comm *c;

	gt_mpi_self.frame = __builtin_frame_address(0);
	c = dest != MPI_PROC_NULL ? gt_mpi_comm_of(comm) : NULL;
	if (c && c->ref && dest >= 0 && dest < c->far)
		return gt_enter_send(gt_mpi_region_of(function), c->ref, (uint32_t)dest, (uint32_t)tag,
				     gt_mpi_bytes(count, type));
	return gt_enter_if_active(gt_mpi_region_of(function));
}

/* MPI returned an error from a call that was to send, and did not only cut what it received. */
void gt_mpi_send_refused(int rc, MPI_Comm comm, int dest, MPI_Count count, MPI_Datatype type);

/* The record of a message that was cut, if it is that what went wrong. */
void gt_mpi_recv_failed(int rc, MPI_Comm comm, const MPI_Status *status, MPI_Count count,
			MPI_Datatype type);

/* As gt_mpi_end(), with the record of the message that the call received. */
static inline __attribute__((always_inline)) void
gt_mpi_end_recv(unsigned function, bool on, int rc, MPI_Comm comm, const MPI_Status *status,
		MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_comm *c;

	if (gt_unlikely(rc != MPI_SUCCESS)) {
		if (on)
			gt_mpi_recv_failed(rc, comm, status, count, type);
		gt_mpi_end(function, on, rc);
		return;
	}
	c = on && status->MPI_SOURCE >= 0 ? gt_mpi_comm_of(comm) : NULL;
	if (c && c->ref)
		gt_leave_recv(gt_mpi_region_of(function), c->ref, (uint32_t)status->MPI_SOURCE,
			      (uint32_t)status->MPI_TAG, gt_mpi_status_bytes(status));
	else if (on)
		gt_leave(gt_mpi_region_of(function));
	gt_mpi_self.frame = NULL;
}

struct gt_mpi_op gt_mpi_isend_to(MPI_Comm comm, int dest, int tag, MPI_Count count, MPI_Datatype type);
struct gt_mpi_op gt_mpi_irecv_from(MPI_Comm comm, int source, int tag, MPI_Count count, MPI_Datatype type);
struct gt_mpi_op gt_mpi_isendrecv(bool on, MPI_Comm comm, int dest, int tag, MPI_Count sent,
				  MPI_Datatype sent_type, int source, int received_tag,
				  MPI_Count count, MPI_Datatype type);
void gt_mpi_bind_to(bool on, const struct gt_mpi_op *op, int rc, const MPI_Request *request);

/* Of GT_MPI_NOTHING the rest is not looked at, and not set. */
static inline void gt_mpi_isend(struct gt_mpi_op *op, bool on, MPI_Comm comm, int dest, int tag,
				MPI_Count count, MPI_Datatype type)
{
	if (on && dest != MPI_PROC_NULL)
		*op = gt_mpi_isend_to(comm, dest, tag, count, type);
	else
		op->kind = GT_MPI_NOTHING;
}

static inline void gt_mpi_irecv(struct gt_mpi_op *op, bool on, MPI_Comm comm, int source, int tag,
				MPI_Count count, MPI_Datatype type)
{
	if (on && source != MPI_PROC_NULL)
		*op = gt_mpi_irecv_from(comm, source, tag, count, type);
	else
		op->kind = GT_MPI_NOTHING;
}

/* The call has returned with the request, or failed. */
static inline void gt_mpi_bind(bool on, const struct gt_mpi_op *op, int rc, const MPI_Request *request)
{
	if (op->kind != GT_MPI_NOTHING)
		gt_mpi_bind_to(on, op, rc, request);
}
void gt_mpi_persistent(enum gt_mpi_kind kind, const MPI_Request *request, MPI_Comm comm, int peer,
		       int tag, MPI_Count count, MPI_Datatype type);
void gt_mpi_start(bool on, int count, const MPI_Request *requests);
void gt_mpi_start_failed(bool on, int count, const MPI_Request *requests);
void gt_mpi_forget(bool on, const MPI_Request *request);
/* MPI has ended: receives that the program had freed before have happened. */
void gt_mpi_freed_received(void);

/* The message is received from now on: what comes behind it on its channel is another one. */
void gt_mpi_matched(bool on, const MPI_Message *message, MPI_Comm comm);
struct gt_mpi_op gt_mpi_mrecv(const MPI_Message *message);
void gt_mpi_mrecv_done(bool on, int rc, const struct gt_mpi_op *op, const MPI_Message *message,
		       const MPI_Status *status, MPI_Count count, MPI_Datatype type);
struct gt_mpi_op gt_mpi_imrecv(bool on, const MPI_Message *message, MPI_Count count,
			       MPI_Datatype type);
void gt_mpi_imrecv_failed(const struct gt_mpi_op *op, const MPI_Message *message);

void gt_mpi_complete_known(bool on, int rc, void *was, const MPI_Request *request,
			   const MPI_Status *status);

/* Also of calls that failed: the operation may be over nevertheless. */
static inline void gt_mpi_complete(bool on, int rc, void *was, const MPI_Request *request,
				   const MPI_Status *status)
{
	if (was)
		gt_mpi_complete_known(on, rc, was, request, status);
}

/* The requests of a call as they were before it, and statuses where the program wants none. */
struct gt_mpi_list {
	void **was;              /* NULL: nothing is to be completed */
	int count;
	void *block;
};
#define GT_MPI_LIST struct gt_mpi_list __attribute__((cleanup(gt_mpi_list_done)))
struct gt_mpi_list gt_mpi_list_of(int count, const MPI_Request *requests, MPI_Status **statuses);
void gt_mpi_list_done(struct gt_mpi_list *list);
void gt_mpi_complete_one(bool on, int rc, const struct gt_mpi_list *list, int index,
			 const MPI_Request *requests, const MPI_Status *status);
void gt_mpi_complete_all(bool on, int rc, const struct gt_mpi_list *list,
			 const MPI_Status *statuses);
void gt_mpi_complete_some(bool on, int rc, const struct gt_mpi_list *list, int count,
			  const int *indices, const MPI_Status *statuses);

struct gt_mpi_op gt_mpi_icoll(bool on, const struct gt_mpi_coll *coll);
void gt_mpi_coll_init(const struct gt_mpi_coll *coll, const MPI_Request *request);

#pragma GCC visibility pop

#endif

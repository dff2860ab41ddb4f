/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the calls of MPI mean: regions, messages, collectives, communicators. Compiled once for each
 * MPI, with its mpi.h; the generated wrappers tell what happened.
 *
 * Limits: knows the core through adapter.h only, and calls MPI through gt_mpi_real. No function here
 * changes what the program's call does; none allocates with malloc.
 */
#ifndef GT_MPI_EVENTS_H
#define GT_MPI_EVENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gputrace/adapter.h"

#define GT_MPI_LIKELY(x)   __builtin_expect(!!(x), 1)
#define GT_MPI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GT_MPI_TLS         __thread __attribute__((tls_model("initial-exec")))
#define GT_MPI_BITS(h)     ((uint64_t)(uintptr_t)(h)) /* of a handle, whatever it is */

#if defined(OPEN_MPI)
#define GT_MPI_STATUS_BYTES(s) ((s)->_ucount)
#else
#define GT_MPI_STATUS_BYTES(s)                                                                     \
	((uint64_t)((unsigned)(s)->count_hi_and_cancelled >> 1) << 32 | (uint32_t)(s)->count_lo)
#endif

/*
 * Can this be such a handle at all? If not, MPI is not asked about it: it would raise an error on
 * MPI_COMM_WORLD, where the program's own call may return one.
 */
#if defined(OPEN_MPI)
#define GT_MPI_IS_COMM(h) ((h) != NULL && (h) != MPI_COMM_NULL)
#define GT_MPI_IS_TYPE(h) ((h) != NULL && (h) != MPI_DATATYPE_NULL)
#else /* what it is of, in the ABI's bits; those that are null have a kind of 0 */
#define GT_MPI_IS(h, what) ((unsigned)(h) >> 30 && ((unsigned)(h) >> 26 & 15) == (what))
#define GT_MPI_IS_COMM(h)  GT_MPI_IS(h, 1)
#define GT_MPI_IS_TYPE(h)  GT_MPI_IS(h, 3)
#endif

/* ---- regions -------------------------------------------------------------------------------- */

struct gt_mpi_function {
	const char *name;
	uint8_t role;
};
extern const struct gt_mpi_function gt_mpi_function[];
extern gt_ref gt_mpi_region[]; /* 0: not defined yet */
extern void *gt_mpi_real[];    /* 2 * i: MPI_X behind us, 2 * i + 1: PMPI_X */
#define GT_MPI_FILTERED UINT32_MAX

gt_ref gt_mpi_define(unsigned function);

static inline gt_ref gt_mpi_region_of(unsigned function)
{
	gt_ref ref = __atomic_load_n(&gt_mpi_region[function], __ATOMIC_RELAXED);

	/* 0 and the greatest: not defined yet, filtered */
	return GT_MPI_UNLIKELY(ref + 1 <= 1) ? gt_mpi_define(function) : ref;
}

struct gt_mpi_comm;
struct gt_mpi_link;

/* A wrapper's frame that was on the stack, and where it returns to. */
struct gt_mpi_place {
	uintptr_t frame, leads_to;
};
#define GT_MPI_PLACES 4u

/* What the adapter keeps of each thread. */
struct gt_mpi_self {
	/* The frame of the wrapper that the thread is in, or NULL. It may have been left by longjmp or
	 * an exception. */
	char *frame;
	const struct gt_mpi_comm *comm; /* looked up last, with the generation of the table */
	uint64_t comm_bits, generation;
	uint64_t type_bits;      /* a data type that never goes away, and its size */
	uint64_t type_size;
	struct gt_repeated polls;
	struct gt_mpi_place known[GT_MPI_PLACES];
};
extern GT_MPI_TLS struct gt_mpi_self gt_mpi_self;

extern bool gt_mpi_merge; /* VT_MPI_MERGE_POLLS */
extern gt_ref gt_mpi_calls; /* parameter: how many calls a span stands for */
extern gt_ref gt_mpi_error; /* attribute: the class of the error that a call returned */

/* Is the wrapper's frame, which is further up, still there? `from` is who calls now. */
bool gt_mpi_inside(const void *from);

/* Is this call made by the MPI library, or a tool below us, inside a call that is recorded? */
static inline __attribute__((always_inline)) bool gt_mpi_nested(void)
{
	return GT_MPI_UNLIKELY((char *)__builtin_frame_address(0) < gt_mpi_self.frame) &&
	       gt_mpi_inside(__builtin_return_address(0));
}

static inline __attribute__((always_inline)) bool gt_mpi_begin(unsigned function)
{
	gt_mpi_self.frame = __builtin_frame_address(0);
	return gt_enter_if_active(gt_mpi_region_of(function));
}

/* The class of an error code that a call returned; what has none is its own. */
int gt_mpi_class(int rc);
/* The next record has the class of the error for an attribute. */
void gt_mpi_failed(int rc);
/* The same at the end of this function. */
void gt_mpi_failed_in(unsigned function, int rc);
/* A message came, and was longer than the buffer. */
bool gt_mpi_truncated(int rc);

static inline __attribute__((always_inline)) void gt_mpi_end(unsigned function, bool on, int rc)
{
	if (on) {
		if (GT_MPI_UNLIKELY(rc != MPI_SUCCESS))
			gt_mpi_failed_in(function, rc);
		gt_leave(gt_mpi_region_of(function));
	}
	gt_mpi_self.frame = NULL;
}

/*
 * The same for calls that ask whether something has happened. They are entered at once, because something
 * of the program's may run in them, and that is taken back if they found nothing and nothing did.
 */
struct gt_mpi_poll {
	uint64_t begin, mark;    /* mark 0: not entered yet */
};

static inline __attribute__((always_inline)) bool gt_mpi_poll_begin(unsigned function,
								    struct gt_mpi_poll *poll)
{
	poll->mark = 0;
	if (!gt_mpi_merge)
		return gt_mpi_begin(function);
	gt_mpi_self.frame = __builtin_frame_address(0);
	if (GT_MPI_LIKELY(gt_enter_early(gt_mpi_region_of(function), &poll->begin, &poll->mark)))
		return true;
	if (!gt_active())
		return false;
	poll->begin = gt_now();
	return true;
}

static inline void gt_mpi_poll_found(unsigned function, bool on, const struct gt_mpi_poll *poll, bool found)
{
	if (on && gt_mpi_merge && found && !poll->mark)
		gt_enter_at(gt_mpi_region_of(function), poll->begin);
}

static inline void gt_mpi_poll_end(unsigned function, bool on, int rc, const struct gt_mpi_poll *poll,
				   bool idle)
{
	if (on && gt_mpi_merge && idle && (!poll->mark || gt_enter_withdraw(poll->mark))) {
		gt_repeat(&gt_mpi_self.polls, gt_mpi_region_of(function), gt_mpi_calls, poll->begin);
		on = false;
	}
	gt_mpi_end(function, on, rc);
}

/* ---- state ---------------------------------------------------------------------------------- */

void gt_mpi_requests_setup(void *(*find)(const char *symbol));
extern uint32_t gt_mpi_rank; /* in MPI_COMM_WORLD */
/* Says which rank this process is, once; returns the job's number. */
uint64_t gt_mpi_be_rank(int rank, int size);
void gt_mpi_initialized(void);
void gt_mpi_finalizing(void);

/* The part of an object that an address lies in; empty if there is none. */
struct gt_mpi_segment {
	uintptr_t first, end;
};
struct gt_mpi_segment gt_mpi_segment_of(const void *address);

static inline bool gt_mpi_within(const struct gt_mpi_segment *segment, const void *address)
{
	return (uintptr_t)address >= segment->first && (uintptr_t)address < segment->end;
}

/* A lock that is held for a few instructions. */
void gt_mpi_lock(uint32_t *lock);
void gt_mpi_unlock(uint32_t *lock);
/* Memory that is never given back; NULL if there is none. */
void *gt_mpi_memory(size_t bytes);

static inline uint64_t gt_mpi_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* ---- communicators (comms.c) ------------------------------------------------------------------ */

struct gt_mpi_comm {
	uint64_t bits;
	struct gt_mpi_comm *next;
	gt_ref ref;              /* GT_NONE: with members of other jobs, nothing can be recorded */
	gt_ref parent, ranks, remote;
	uint64_t key;
	uint32_t children;       /* communicators that were made from it */
	int size, me;            /* of the own side */
	int far;                 /* ranks that messages and collectives can mean: the remote side's */
	bool inter;
	bool events;             /* its making and its end are recorded */
	bool leaving;            /* the call that frees it is under way */
	bool side;               /* of an inter-communicator that goes back to a link */
	struct gt_mpi_link *link; /* what it goes back to, if processes of other jobs do */
};

/* NULL: not known, and it cannot be found out. */
const struct gt_mpi_comm *gt_mpi_comm_find(MPI_Comm comm);
extern uint64_t gt_mpi_generation;

static inline __attribute__((always_inline)) const struct gt_mpi_comm *gt_mpi_comm_of(MPI_Comm comm)
{
	struct gt_mpi_self *self = &gt_mpi_self;

	if (GT_MPI_LIKELY(self->comm && self->comm_bits == GT_MPI_BITS(comm) &&
			  self->generation == __atomic_load_n(&gt_mpi_generation, __ATOMIC_ACQUIRE)))
		return self->comm;
	return gt_mpi_comm_find(comm);
}

/* MPI_Init and MPI_Finalize, or a session with the group of all processes; its end is that of MPI, too. */
void gt_mpi_comms_begin(uint64_t job);
void gt_mpi_session_begun(MPI_Group all);
void gt_mpi_comms_end(void);
void gt_mpi_comm_made(MPI_Comm parent, const MPI_Comm *comm);
void gt_mpi_comm_by_group(MPI_Comm parent, int tag, const MPI_Comm *comm);
void gt_mpi_comm_by_tag(const char *tag, const MPI_Comm *comm);
void gt_mpi_comm_later(MPI_Comm parent, const MPI_Comm *comm, const MPI_Request *request);
/* Inter-communicators with processes of another job (links.h). */
void gt_mpi_parent_found(void);
void gt_mpi_comm_spawned(uint64_t began, MPI_Comm near, int root, const MPI_Comm *comm);
void gt_mpi_comm_met(bool accepts, uint64_t began, MPI_Comm near, int root, const char *port,
		     const MPI_Comm *comm);
void gt_mpi_comm_joined(uint64_t began, int fd, const MPI_Comm *comm);
/* The definition of a group, also of processes that `link` names, and its size; GT_NONE: there is none. */
gt_ref gt_mpi_members(MPI_Group group, const struct gt_mpi_link *link, int *size);
/* Before the call that frees it, and after that. */
struct gt_mpi_comm *gt_mpi_comm_leaves(const MPI_Comm *comm);
void gt_mpi_comm_left(struct gt_mpi_comm *comm, int rc);
void gt_mpi_comm_named(MPI_Comm comm, const char *name);
/* The key of the next thing that all members make together. */
uint64_t gt_mpi_comm_child(const struct gt_mpi_comm *comm);
/* The end of gt_mpi_comm_later(), when the request is complete. */
struct gt_mpi_op;
void gt_mpi_comm_ready(const struct gt_mpi_op *op);

/* ---- messages and requests (requests.c) --------------------------------------------------------- */

enum gt_mpi_kind {
	GT_MPI_NOTHING = 0,
	GT_MPI_SEND,
	GT_MPI_RECV,
	GT_MPI_COLL,
	GT_MPI_COMM,
	GT_MPI_MATCHED, /* a message that MPI_Mprobe has found */
	GT_MPI_RMA,     /* `comm` is a window */
	GT_MPI_IO,      /* `comm` is a file */
	GT_MPI_BOTH,    /* a receive, and a send with the id `received` */
};

/* An operation that is under way. */
struct gt_mpi_op {
	uint8_t kind;
	bool persistent, active, cancel;
	bool posted;             /* a receive: `peer` and `tag` are those that were asked for */
	gt_ref comm;
	uint64_t id;
	uint32_t peer, tag;      /* of collectives: operation, root */
	uint64_t bytes, received; /* of receives: the buffer's */
	MPI_Comm made;           /* then `bytes` is the link that it goes back to, `tag` its side */
};

uint64_t gt_mpi_bytes_of(MPI_Count count, MPI_Datatype type);

static inline uint64_t gt_mpi_bytes(MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_self *self = &gt_mpi_self;

	if (GT_MPI_LIKELY(self->type_size && self->type_bits == GT_MPI_BITS(type) && count >= 0))
		return (uint64_t)count * self->type_size;
	return gt_mpi_bytes_of(count, type);
}


/* Part of the libraries' ABI. */
static inline uint64_t gt_mpi_status_bytes(const MPI_Status *status)
{
	return GT_MPI_STATUS_BYTES(status);
}

uint64_t gt_mpi_new_id(void);

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

/* The record of a message that was cut, if it is that what went wrong. */
void gt_mpi_recv_failed(int rc, MPI_Comm comm, const MPI_Status *status, MPI_Count count,
			MPI_Datatype type);

/* As gt_mpi_end(), with the record of the message that the call received. */
static inline __attribute__((always_inline)) void
gt_mpi_end_recv(unsigned function, bool on, int rc, MPI_Comm comm, const MPI_Status *status,
		MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_comm *c;

	if (GT_MPI_UNLIKELY(rc != MPI_SUCCESS)) {
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
struct gt_mpi_op gt_mpi_irecv_from(MPI_Comm comm, MPI_Count count, MPI_Datatype type);
struct gt_mpi_op gt_mpi_isendrecv(bool on, MPI_Comm comm, int dest, int tag, MPI_Count sent,
				  MPI_Datatype sent_type, int source, int received_tag,
				  MPI_Count count, MPI_Datatype type);
void gt_mpi_bind_to(bool on, const struct gt_mpi_op *op, int rc, const MPI_Request *request);

static inline struct gt_mpi_op gt_mpi_isend(bool on, MPI_Comm comm, int dest, int tag,
					    MPI_Count count, MPI_Datatype type)
{
	struct gt_mpi_op op;

	if (on && dest != MPI_PROC_NULL)
		return gt_mpi_isend_to(comm, dest, tag, count, type);
	op.kind = GT_MPI_NOTHING; /* the rest is not looked at */
	return op;
}

static inline struct gt_mpi_op gt_mpi_irecv(bool on, MPI_Comm comm, int source, MPI_Count count,
					    MPI_Datatype type)
{
	struct gt_mpi_op op;

	if (on && source != MPI_PROC_NULL)
		return gt_mpi_irecv_from(comm, count, type);
	op.kind = GT_MPI_NOTHING;
	return op;
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
void gt_mpi_cancel(const MPI_Request *request);
void gt_mpi_forget(bool on, const MPI_Request *request);
void gt_mpi_insert(MPI_Request request, const struct gt_mpi_op *op);

void gt_mpi_matched(const MPI_Message *message, MPI_Comm comm);
struct gt_mpi_op gt_mpi_mrecv(const MPI_Message *message);
void gt_mpi_mrecv_done(bool on, int rc, const struct gt_mpi_op *op, const MPI_Message *message,
		       const MPI_Status *status, MPI_Count count, MPI_Datatype type);
struct gt_mpi_op gt_mpi_imrecv(bool on, const MPI_Message *message, MPI_Count count,
			       MPI_Datatype type);
void gt_mpi_imrecv_failed(const struct gt_mpi_op *op, const MPI_Message *message);

/*
 * What is known of the request before the call that may complete it (NULL: nothing); afterwards the
 * handle may already stand for another thread's operation.
 */
extern uint64_t gt_mpi_live; /* operations in the table */
void *gt_mpi_look_up(MPI_Request request);
void gt_mpi_complete_known(bool on, int rc, void *was, const MPI_Request *request,
			   const MPI_Status *status);

/* Pointers may be NULL: MPI says so, and this goes before it. */
static inline void *gt_mpi_look(const MPI_Request *request)
{
	return request && __atomic_load_n(&gt_mpi_live, __ATOMIC_RELAXED) ? gt_mpi_look_up(*request) : NULL;
}

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
struct gt_mpi_list gt_mpi_list(int count, const MPI_Request *requests, MPI_Status **statuses);
void gt_mpi_list_done(struct gt_mpi_list *list);
void gt_mpi_complete_one(bool on, int rc, const struct gt_mpi_list *list, int index,
			 const MPI_Request *requests, const MPI_Status *status);
void gt_mpi_complete_all(bool on, int rc, const struct gt_mpi_list *list,
			 const MPI_Status *statuses);
void gt_mpi_complete_some(bool on, int rc, const struct gt_mpi_list *list, int count,
			  const int *indices, const MPI_Status *statuses);

/* ---- collectives (colls.c) ------------------------------------------------------------------------ */

#define GT_MPI_ROOTLESS INT32_MIN

struct gt_mpi_coll {
	gt_ref ref;              /* GT_NONE: not recorded */
	uint32_t op, at;         /* OTF2_CollectiveOp; root as OTF2 wants it */
	int size, local, me;     /* ranks at the far side, on the own side, own rank */
	bool root;               /* this is the root */
	bool gives, takes;       /* it takes part as one of the others */
	int in, out;             /* neighbours that it receives from, sends to, with those that are none */
	uint64_t nulls;          /* of a Cartesian topology: those that are none, as bits */
	uint64_t sent, received;
};

struct gt_mpi_coll gt_mpi_coll(MPI_Comm comm, uint32_t op, int root);
void gt_mpi_coll_begin(const struct gt_mpi_coll *coll);
void gt_mpi_coll_end(const struct gt_mpi_coll *coll, int rc);
struct gt_mpi_op gt_mpi_icoll(bool on, const struct gt_mpi_coll *coll);
void gt_mpi_coll_init(const struct gt_mpi_coll *coll, const MPI_Request *request);
uint64_t gt_mpi_sum(int ranks, size_t size, const void *counts, MPI_Datatype type);
uint64_t gt_mpi_sum_types(int ranks, size_t size, const void *counts, const MPI_Datatype *types);

/* Of a communicator with a topology. */
void gt_mpi_neighbours(MPI_Comm comm, struct gt_mpi_coll *coll);
uint64_t gt_mpi_some(const struct gt_mpi_coll *coll, int ranks, size_t size, const void *counts,
		     const MPI_Datatype *types, bool same);

#define N                  ((uint64_t)c.size)
#define AT(list)           ((list) ? (list)[c.me] : 0)
#define NEAR(n)            ((uint64_t)((n) - __builtin_popcountll(c.nulls)))
#define NSUM(n, counts, type) gt_mpi_some(&c, n, sizeof((counts)[0]), counts, &(type), true)
#define NSUMW(n, counts, types) gt_mpi_some(&c, n, sizeof((counts)[0]), counts, types, false)
#define SUM(counts, type)  gt_mpi_sum(c.size, sizeof((counts)[0]), counts, type)
#define SUMW(counts, types) gt_mpi_sum_types(c.size, sizeof((counts)[0]), counts, types)

#include "mpi/rma.h"

#endif

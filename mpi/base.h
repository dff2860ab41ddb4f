/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The basis of the adapter: regions of functions, the state of a thread, entering and leaving, failed calls,
 * sizes of data types, a lock, and memory. Compiled once for each MPI, with its mpi.h.
 *
 * Limits: calls MPI only through real.h. No function here changes what the program's call does, and none uses
 * malloc.
 */
#ifndef GT_MPI_BASE_H
#define GT_MPI_BASE_H

#include <stdbool.h>
#include <stddef.h>

#include "gputrace/hash.h"
#include "gputrace/ranks.h"
#include "mpi/real.h"

#pragma GCC visibility push(hidden)

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

#define GT_MPI_FILTERED UINT32_MAX

gt_ref gt_mpi_define(unsigned function);

static inline gt_ref gt_mpi_region_of(unsigned function)
{
	gt_ref ref = __atomic_load_n(&gt_mpi_region[function], __ATOMIC_RELAXED);

	/* 0 and the greatest: not defined yet, filtered */
	return gt_unlikely(ref + 1 <= 1) ? gt_mpi_define(function) : ref;
}

struct gt_mpi_comm;

/* A wrapper's frame that was on the stack, and where it returns to. */
struct gt_mpi_return {
	uintptr_t frame, leads_to;
};
#define GT_MPI_RETURNS 4u

/* The adapter's state of each thread. */
struct gt_mpi_self {
	/* The frame of the wrapper that the thread is in, or NULL. It may have been left by longjmp or
	 * an exception. */
	char *frame;
	const struct gt_mpi_comm *comm; /* looked up last, with the generation of the table */
	uint64_t comm_bits, generation;
	uint64_t type_bits;      /* a data type that never goes away, and its size */
	uint64_t type_size;
	struct gt_repeated polls;
	struct gt_mpi_return known[GT_MPI_RETURNS];
};
extern GT_TLS struct gt_mpi_self gt_mpi_self;

extern bool gt_mpi_merge; /* VT_MPI_MERGE_POLLS */
extern gt_ref gt_mpi_calls; /* parameter: how many calls a span stands for */
extern gt_ref gt_mpi_error; /* attribute: the class of the error that a call returned */

/* Is the wrapper's frame, which is further up, still there? `from` is who calls now. */
bool gt_mpi_inside(const void *from);

/* Is this call made by the MPI library, or a tool below us, inside a call that is recorded? */
static inline __attribute__((always_inline)) bool gt_mpi_nested(void)
{
	return gt_unlikely((char *)__builtin_frame_address(0) < gt_mpi_self.frame) &&
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
		if (gt_unlikely(rc != MPI_SUCCESS))
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
	if (gt_likely(gt_enter_early(gt_mpi_region_of(function), &poll->begin, &poll->mark)))
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

/* ---- help ----------------------------------------------------------------------------------- */

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
/* Counts what cannot be recorded because there is no memory for it. */
void gt_mpi_lost(uint64_t events);

/* ---- sizes ---------------------------------------------------------------------------------- */

uint64_t gt_mpi_bytes_of(MPI_Count count, MPI_Datatype type);

static inline uint64_t gt_mpi_bytes(MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_self *self = &gt_mpi_self;

	if (gt_likely(self->type_size && self->type_bits == GT_MPI_BITS(type) && count >= 0))
		return (uint64_t)count * self->type_size;
	return gt_mpi_bytes_of(count, type);
}

/* Part of the libraries' ABI. */
static inline uint64_t gt_mpi_status_bytes(const MPI_Status *status)
{
	return GT_MPI_STATUS_BYTES(status);
}

/* Finds out what this is made from. find: a variable of the MPI library, NULL: it has none. */
void gt_mpi_base_setup(void *(*find)(const char *symbol));
/* Is the calling thread inside a call that is recorded? (gt_adapter.inside) */
bool gt_mpi_is_inside(void);

#pragma GCC visibility pop

#endif

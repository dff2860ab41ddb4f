/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the parts of the HIP adapter. In layers: a file needs only those above it.
 *
 *   accel/     what accelerators of all makes share
 *   api.c      rocprofiler-sdk's functions, and its numbers of kinds by their names
 *   state.c    data of all parts; the account: what happened to every call and record
 *   agents.c   agents and streams -> location groups and locations
 *   calls.c    callbacks on the program's threads: HIP's calls -> regions, and entries of the table of calls
 *   markers.c  ranges, marks and names by roctx
 *   memory.c   records of allocations -> a metric of each device; whose memory an address is
 *   records.c  records of kernels and copies -> events of streams
 *   life.c     start, end, fork
 *
 * Limits: the core is known through gputrace/ and accel/ only.
 */
#ifndef GT_HIP_HIP_H
#define GT_HIP_HIP_H

#include "accel/accel.h"
#include "gputrace/lock.h"
#include "hip/rocprofiler.h"


/* ---- rocprofiler-sdk (api.c) --------------------------------------------------------------------- */

struct gt_hip_api {
	int (*create_context)(struct rocp_id *context);
	int (*start_context)(struct rocp_id context);
	int (*create_buffer)(struct rocp_id context, size_t size, size_t watermark, uint32_t policy,
			     rocp_buffer callback, void *data, struct rocp_id *buffer);
	int (*flush)(struct rocp_id buffer);
	int (*trace_calls)(struct rocp_id context, uint32_t kind, const int32_t *operations, size_t count,
			   rocp_callback callback, void *data);
	int (*trace_records)(struct rocp_id context, uint32_t kind, const int32_t *operations, size_t count,
			     struct rocp_id buffer);
	int (*callback_kind)(uint32_t kind, const char **name, uint64_t *length);
	int (*operation)(uint32_t kind, int32_t operation, const char **name, uint64_t *length);
	int (*buffer_kind)(uint32_t kind, const char **name, uint64_t *length);
	int (*timestamp)(uint64_t *ns);
	int (*agents)(uint32_t version, rocp_agents callback, size_t size, void *data);     /* or NULL */
	int (*request_ids)(struct rocp_id context, const uint32_t *kinds, size_t count, rocp_request callback,
			   void *data);                                                     /* or NULL */
	const char *(*status_text)(int status);                                             /* or NULL */
	/* Of HSA's runtime; both or none. */
	int (*pointer)(const void *address, struct hsa_pointer *info, void *, void *, void *);
	int (*agent_info)(uint64_t agent, int what, uint32_t *value);
};
extern GT_HIDDEN struct gt_hip_api gt_hip_api;

/* Finds them in the library that has this code; false: one is missing, its name is in `missing`. */
GT_HIDDEN bool gt_hip_api_load(const void *code, const char **missing);
/* The text of a status; never NULL. */
GT_HIDDEN const char *gt_hip_status(int status);
/* The number of a kind of callbacks, of records; 0: this version has none. */
GT_HIDDEN uint32_t gt_hip_callback_kind(const char *name);
GT_HIDDEN uint32_t gt_hip_buffer_kind(const char *name);

/* ---- state and the account (state.c) -------------------------------------------------------------- */

enum gt_hip_state {
	GT_HIP_COLD = 0,
	GT_HIP_READY,
	GT_HIP_OFF, /* not recorded, the recording has ended, or a forked child */
};

extern GT_HIDDEN uint32_t gt_hip_state; /* atomic */

static inline bool gt_hip_ready(void)
{
	return __atomic_load_n(&gt_hip_state, __ATOMIC_ACQUIRE) == GT_HIP_READY;
}

struct gt_hip_counts {
	uint64_t calls, failed, unmatched; /* any thread */
	uint64_t requested; /* kernels and copies that are to have records */
	/* With the lock. */
	uint64_t records, kernels, copies, unknown, wrong_size, zero_time, early, no_parent, off, no_location;
	uint64_t allocations, dropped;
};
extern GT_HIDDEN struct gt_hip_counts gt_hip_counts;

static inline void gt_hip_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Of definitions by name, records, locations. GT_LOCK_REFUSED: see gputrace/lock.h. */
extern GT_HIDDEN struct gt_lock gt_hip_lock;

/* How many kernels and copies have no record yet. */
GT_HIDDEN uint64_t gt_hip_pending(void);
/* Writes the account as properties. `last`: a message, too. */
GT_HIDDEN void gt_hip_account(bool last);

/* ---- agents and streams (agents.c) ---------------------------------------------------------------- */

/* Asks for the agents. Returns a status. */
GT_HIDDEN int gt_hip_agents_find(void);
/* With the lock. Where something of this agent goes that was on a stream (its number + 1; 0: not known), or
 * else on a queue (0: none). NULL: there is no room. */
GT_HIDDEN struct gt_location *gt_hip_place(uint64_t agent, uint64_t stream, uint64_t queue);
GT_HIDDEN bool gt_hip_is_gpu(uint64_t agent);
/* With the lock. The program has this handle for a stream; it calls it so. */
GT_HIDDEN void gt_hip_stream_handle(uint64_t stream, uint64_t handle);
GT_HIDDEN void gt_hip_stream_name(uint64_t handle, const char *name);
/* Its location group. */
GT_HIDDEN gt_ref gt_hip_group(uint64_t agent);

/* ---- calls (calls.c) ------------------------------------------------------------------------------ */

#define GT_HIP_CALL_OFF 1u /* flag of a call: recording was switched off */

extern GT_HIDDEN struct gt_accel_call *gt_hip_calls; /* the table */

/* False: no memory. */
GT_HIDDEN bool gt_hip_calls_setup(uint32_t kind);
GT_HIDDEN void gt_hip_call(struct rocp_call call, union rocp_user *user, void *data);
GT_HIDDEN void gt_hip_stream(struct rocp_call call, union rocp_user *user, void *data);
GT_HIDDEN int gt_hip_request(uint64_t thread, struct rocp_id context, uint32_t kind, int32_t operation,
			     uint64_t internal, union rocp_user *external, void *data);
/* gt_adapter.inside, and in a forked child. */
GT_HIDDEN bool gt_hip_inside(void);
GT_HIDDEN void gt_hip_calls_forked(void);

/* ---- markers (markers.c) -------------------------------------------------------------------------- */

GT_HIDDEN void gt_hip_markers_setup(uint32_t kind);
GT_HIDDEN void gt_hip_marker(struct rocp_call call, union rocp_user *user, void *data);
GT_HIDDEN void gt_hip_name(struct rocp_call call, union rocp_user *user, void *data);

/* ---- memory (memory.c) ----------------------------------------------------------------------------- */

/* With the lock. */
GT_HIDDEN void gt_hip_memory(const struct rocp_allocation *a);
/* gt_adapter.holds */
GT_HIDDEN bool gt_hip_holds(const void *address);

/* ---- records (records.c) -------------------------------------------------------------------------- */

/* kinds of records: of kernels, of copies, of allocations; 0: there are none. */
GT_HIDDEN void gt_hip_records_setup(uint32_t kernels, uint32_t copies, uint32_t allocations);
GT_HIDDEN void gt_hip_code_object(struct rocp_call call, union rocp_user *user, void *data);
GT_HIDDEN void gt_hip_buffer(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers,
			     size_t count, void *data, uint64_t dropped);

#endif

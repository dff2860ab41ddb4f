/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the adapter for NCCL: plugin.c is what NCCL calls, in each version of its interface; calls.c
 * has what each event means, comms.c the communicators and what is written of their operations, proxy.c the
 * proxies; events.c keeps the events that are open, names.c has functions and parameters.
 *
 * What NCCL is given as contexts and handles are numbers, which are never followed: those of another process
 * (a proxy may serve its neighbours), stale ones and those of a forked parent are found to be unknown.
 *
 * Limits: those of each file.
 */
#ifndef GT_NCCL_NCCL_H
#define GT_NCCL_NCCL_H

#include "gputrace/accel.h"
#include "gputrace/lock.h"

#include "nccl/plugin.h"

enum gt_nccl_mode { GT_NCCL_NO, GT_NCCL_CALLS, GT_NCCL_KERNELS, GT_NCCL_DETAIL };

/* The description of an event, in any version. */
struct gt_nccl_about {
	uint64_t type, parent;
	int rank, root;          /* root: or the other rank of a message */
	const char *function, *datatype, *algorithm, *protocol;
	uint64_t count, sequence;
	unsigned channels, warps;
	int depth;               /* of a group: 1: NCCL's own, around one call */
	bool captured, send;
	const char *name;        /* of the communicator, in versions that say it here, ... */
	uint64_t hash;           /* ... and its number */
	int pid;                 /* of a proxy's operation: whose it is */
	unsigned channel;
	int step, steps;
	uint64_t timer;          /* of the GPU, in nanoseconds */
};

/* An event between its start and its stop; an operation stays until its kernel has ended. */
struct gt_nccl_event {
	uint64_t handle;         /* 0: free */
	uint32_t used;           /* atomic */
	uint32_t turn;           /* how often this place was used */
	uint64_t type, comm, parent;
	uint64_t begin, end;     /* ticks */
	uint64_t first, last;    /* of its kernel, ticks; 0: not seen */
	uint64_t bytes, sequence, timer, duration;
	uint32_t thread;         /* that it began on */
	gt_ref region, params;
	int root, step;
	uint32_t launch;
	uint32_t next;           /* pending operation of the communicator, or call of the group: its place */
	uint32_t calls, last_call; /* of a group: places */
	uint16_t open, done, channels, channel;
	uint8_t function, state;
	bool stopped, send, implicit, captured;
	uint64_t waits[6];       /* ticks at which a step came into its states */
	uint8_t kinds[6], wait_count;
};

#define GT_NCCL_ROWS 64 /* channels */
struct gt_nccl_rows {
	struct gt_location *channel[GT_NCCL_ROWS], *proxy[GT_NCCL_ROWS], *steps[GT_NCCL_ROWS];
};

struct gt_nccl_comm {
	uint64_t handle;         /* 0: free */
	uint32_t turn;
	uint64_t hash;           /* 0: not known yet */
	int ranks, rank;         /* ranks 0: not known */
	char name[64];
	bool several;            /* this process has another rank of it */
	gt_ref text;             /* its name as a string */
	struct gt_lock lock;     /* of all that follows */
	struct gt_location *operations, *received;
	struct gt_nccl_rows *rows;
	uint64_t last_end;
	uint64_t requests;
	uint32_t pending, newest, pending_count; /* operations, place + 1 */
	uint32_t launch, launcher; /* number of the last launch, and its thread */
};

#pragma GCC visibility push(hidden)

/* ---- calls.c --------------------------------------------------------------------------------------- */

uint64_t gt_nccl_start(uint64_t comm, const struct gt_nccl_about *about);
void gt_nccl_state(uint64_t event, int state, uint64_t value);
void gt_nccl_stop(uint64_t event);

/* ---- names.c ------------------------------------------------------------------------------------------ */

struct gt_nccl_function {
	char name[32];
	gt_ref api, operation, channel; /* regions: of the call, of what it starts, of each of its channels */
	uint8_t collective;      /* OTF2_CollectiveOp + 1; 0: none */
	bool rooted;
};

enum gt_nccl_region {
	GT_NCCL_R_GROUP_END, GT_NCCL_R_LAUNCH, GT_NCCL_R_SEND, GT_NCCL_R_RECV,
	GT_NCCL_R_SEND_STEP, GT_NCCL_R_RECV_STEP, GT_NCCL_R_GPU_WAIT, GT_NCCL_R_PEER_WAIT,
	GT_NCCL_R_NET_WAIT, GT_NCCL_R_FLUSH_WAIT, GT_NCCL_R_NET, GT_NCCL_R_IDLE, GT_NCCL_R_ACTIVE,
	GT_NCCL_R_SLEEP, GT_NCCL_R_WAKEUP, GT_NCCL_R_APPEND, GT_NCCL_R_KERNEL, GT_NCCL_R_COUNT
};
extern gt_ref gt_nccl_regions[GT_NCCL_R_COUNT];

enum gt_nccl_parameter {
	GT_NCCL_BYTES, GT_NCCL_SEQUENCE, GT_NCCL_LAUNCH, GT_NCCL_PEER, GT_NCCL_STEP, GT_NCCL_STEPS,
	GT_NCCL_GPU_TIME, GT_NCCL_COMM, GT_NCCL_CAPTURED, GT_NCCL_PARAMETERS
};
extern gt_ref gt_nccl_parameters[GT_NCCL_PARAMETERS];

void gt_nccl_names_begin(void);
void gt_nccl_names_forked(void);
/* By its name, which may be NULL: a place for gt_nccl_function_at(). */
unsigned gt_nccl_function_number(const char *name);
const struct gt_nccl_function *gt_nccl_function_at(unsigned place);
uint64_t gt_nccl_bytes(const char *datatype, uint64_t count);
/* Algorithm, protocol, type, channels, warps: a set of parameters. */
gt_ref gt_nccl_params(const struct gt_nccl_about *about);

/* ---- events.c ----------------------------------------------------------------------------------------- */

extern enum gt_nccl_mode gt_nccl_mode;
int gt_nccl_mask(void);

/* A free one, or NULL; what is not known of it is 0. */
struct gt_nccl_event *gt_nccl_event_new(uint64_t comm, const struct gt_nccl_about *about);
struct gt_nccl_event *gt_nccl_event_find(uint64_t handle);
struct gt_nccl_event *gt_nccl_event_at(uint32_t place); /* from 1 */
uint32_t gt_nccl_event_place(const struct gt_nccl_event *event);
void gt_nccl_event_free(struct gt_nccl_event *event);
/* All of a communicator that is gone. */
void gt_nccl_events_drop(uint64_t comm);
void gt_nccl_events_forked(void);

/* ---- comms.c ------------------------------------------------------------------------------------------ */

/* The number of a new one, or 0. ranks 0: the events will say what it is. */
uint64_t gt_nccl_open(const char *name, uint64_t hash, int ranks, int rank);
void gt_nccl_close(uint64_t comm);
struct gt_nccl_comm *gt_nccl_comm_find(uint64_t handle);
/* Versions 2 and 3 say which communicator it is when something happens on it. */
void gt_nccl_comm_is(struct gt_nccl_comm *comm, const struct gt_nccl_about *about);
void gt_nccl_launched(struct gt_nccl_comm *comm);
void gt_nccl_operation_started(struct gt_nccl_comm *comm, struct gt_nccl_event *event);
void gt_nccl_operation_stopped(struct gt_nccl_comm *comm, struct gt_nccl_event *event);
/* A channel of the kernel works for it, and is done. */
void gt_nccl_kernel_started(struct gt_nccl_event *event);
void gt_nccl_kernel_stopped(struct gt_nccl_event *event);
/* A row of a communicator, "NCCL NAME rank 1 WHAT 3"; under its lock. */
struct gt_location *gt_nccl_row(struct gt_nccl_comm *comm, const char *what, unsigned number, unsigned kind,
				unsigned flags);
struct gt_location **gt_nccl_rows_of(struct gt_nccl_comm *comm, size_t offset, unsigned channel);
void gt_nccl_write_parameter(struct gt_location *row, enum gt_nccl_parameter which, uint64_t value,
			     uint64_t tick);
void gt_nccl_comms_begin(void);
void gt_nccl_comms_end(void);
void gt_nccl_comms_forked(void);

/* ---- proxy.c ------------------------------------------------------------------------------------------ */

void gt_nccl_proxy_started(struct gt_nccl_event *event, const struct gt_nccl_about *about);
void gt_nccl_proxy_state(struct gt_nccl_event *event, int state, uint64_t value);
void gt_nccl_proxy_stopped(struct gt_nccl_event *event);

#pragma GCC visibility pop

#endif

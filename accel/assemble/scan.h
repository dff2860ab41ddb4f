/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans GPU streams before anything is written: how many lanes each needs, which locations take part in
 * transfers, and which transfers have only one endpoint.
 *
 * Limits: reads the streams of GPUs and of kind GT_LOC_DEFERRED once (twice where one is not in order);
 * at most GT_GPU_COMMS communicators and windows in a run.
 */
#ifndef GT_ACCEL_SCAN_H
#define GT_ACCEL_SCAN_H

#include "lib/assemble/adapters/assemblers.h"
#include "lib/assemble/defs/layout.h"
#include "lib/assemble/pair/messages.h"

#define GT_GPU_COMMS 32u

/* A communicator for transfers, or a window for one-sided ones. */
struct gt_gpu_comm {
	uint32_t name;         /* string */
	uint8_t paradigm;
	bool window;
	uint32_t number;       /* global: of the communicator, or of the window */
	uint32_t *rank;        /* by global location; GT_NO_PEER: not in it */
};

struct gt_accel_gpu {
	struct gt_gpu_comm comms[GT_GPU_COMMS];
	unsigned count;
	uint64_t sum[2];       /* over all ends of transfers; 0: each has its other end */
	struct gt_messages *unpaired; /* NULL: all transfers have both ends */
};

extern const struct gt_assembler gt_assembler_accel;

/* That of an assembly. */
struct gt_accel_gpu *gt_gpu_of(struct gt_assembly *a);

/* Before the layout is made. 0 or a negative errno. */
int gt_gpu_scan(struct gt_accel_gpu *gpu, struct gt_spool *spool, struct gt_defs *defs, int dirfd);

/* After it: numbers the members, and pairs the transfers if some lack their other end. */
int gt_gpu_finish(struct gt_accel_gpu *gpu, const struct gt_spool *spool, const struct gt_layout *layout,
		  struct gt_defs *defs, int dirfd);
void gt_gpu_free(struct gt_accel_gpu *gpu);

/* The place in gpu->comms of a process's COMM (or WINDOW) definition, or GT_GPU_COMMS. */
unsigned gt_gpu_find(const struct gt_accel_gpu *gpu, struct gt_defs *defs, const struct gt_proc *proc,
		     uint32_t id, bool window);

/* One end of a transfer, as recorded. */
struct gt_xfer {
	const struct gt_loc *at;  /* where it was recorded */
	uint64_t tick;
	unsigned comm;            /* place in gpu->comms */
	bool send;
	uint32_t other, tag;      /* local id of the far end */
	uint64_t bytes;
};

/* Does it have its other end? Any thread. */
bool gt_gpu_paired(const struct gt_accel_gpu *gpu, const struct gt_xfer *xfer);

#endif

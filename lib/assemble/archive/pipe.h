/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second thread for one large location: the worker reads, names and nests its enters and leaves,
 * the other hands them to libotf2.
 *
 * Limits: only enters, leaves and readings of counters without attributes go through it; before libotf2 is
 * called for the location otherwise, the pipe must be empty (gt_pipe_drain). Memory: GT_PIPE_BYTES.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_PIPE_H
#define GT_ASSEMBLE_ARCHIVE_PIPE_H

#include "lib/assemble/archive/archive_int.h"

#define GT_PIPE_BATCH   4096u /* events that change hands at once */
#define GT_PIPE_BATCHES 8u
/* Most that what is in the pipe takes in the archive. */
#define GT_PIPE_BYTES   (GT_PIPE_BATCHES * GT_PIPE_BATCH * 24u)

struct gt_plain {
	uint64_t ns;     /* nanoseconds of the archive, times two, plus one for a leave */
	uint32_t region; /* or metric: its types and values are in the places behind it */
	uint32_t values; /* of a metric; 0: an enter or leave */
};

struct gt_pipe {
	struct gt_plain *at, *end; /* the batch that is being filled */
	uint64_t seen;             /* batches that were handed over when it was last looked at */
	unsigned hasty;            /* times that it was emptied after a few events */
	struct gt_pipe_inner *inner;
};

/* Starts the thread. NULL if there is no memory or no thread: then it goes without. */
struct gt_pipe *gt_pipe_open(struct gt_archive *archive, OTF2_EvtWriter *evt);

/* Empties the pipe and ends the thread. NULL is allowed. */
void gt_pipe_close(struct gt_pipe *pipe);

/* Waits until libotf2 has everything. */
void gt_pipe_drain(struct gt_pipe *pipe);

/* The batch is full. */
void gt_pipe_turn(struct gt_pipe *pipe);

/* More trouble than use: the location has too much that cannot go through it. */
static inline bool gt_pipe_useless(const struct gt_pipe *pipe)
{
	return pipe->hasty > 256;
}

static inline void gt_pipe_put(struct gt_pipe *pipe, uint64_t ns, uint32_t region, bool leave)
{
	pipe->at->ns = 2 * ns + leave;
	pipe->at->region = region;
	pipe->at->values = 0;
	if (++pipe->at == pipe->end)
		gt_pipe_turn(pipe);
}

/* A reading of `count` values, which are copied. */
void gt_pipe_put_metric(struct gt_pipe *pipe, uint64_t ns, uint32_t metric, uint8_t count,
			const OTF2_Type *types, const OTF2_MetricValue *values);

#endif

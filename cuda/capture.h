/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that VT_CUPTI_CAPTURE makes: what CUPTI delivered, verbatim and in order, so that it can be
 * played back where there is no GPU (test/cuda/replay.c).
 *
 * struct gt_cap_header, then pieces: struct gt_cap_piece and `bytes` bytes. Times are CUPTI's, as the
 * records have them. Pointers to names in records are those of the captured process; each is explained
 * by a GT_CAP_STRING before the buffer.
 *
 * Limits: for tests of gputrace; one write system call for each callback. Byte order of the host.
 */
#ifndef GT_CUDA_CAPTURE_H
#define GT_CUDA_CAPTURE_H

#include <stdint.h>

#define GT_CAP_MAGIC 0x3150414354475421ull

struct gt_cap_header {
	uint64_t magic;
	uint32_t version;     /* of CUPTI */
	uint32_t reserved;
};

enum gt_cap_type {
	GT_CAP_CALL = 1,      /* struct gt_cap_call */
	GT_CAP_BUFFER = 2,    /* uint64_t time of reading, then the buffer */
	GT_CAP_STRING = 3,    /* uint64_t address, then text and a NUL */
	GT_CAP_NAME = 4,      /* uint32_t domain, id; then the name of the callback and a NUL */
	GT_CAP_SIZE = 5,      /* uint32_t kind, bytes of its records */
};

struct gt_cap_piece {
	uint32_t type, bytes;
};

struct gt_cap_call {
	uint64_t time;
	uint32_t thread;
	uint32_t domain, id, site;
	uint32_t correlation, context;
	int32_t result;
	uint32_t reserved;
};

#endif

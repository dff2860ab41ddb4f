/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For adapters of I/O: handles, and operations on them in compact records.
 *
 * Limits: as adapter.h. Files that several processes share are in ranks.h.
 */
#ifndef GPUTRACE_IO_H
#define GPUTRACE_IO_H

#include "gputrace/adapter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open file for I/O records. paradigm: enum gt_io_paradigm; flags: GT_HANDLE_*. */
GT_API gt_ref gt_def_handle(const char *name, uint32_t paradigm, uint32_t flags);

/*
 * Enters a region and begins an operation on a handle (from gt_def_handle, or 0). mode: enum
 * gt_io_operation_mode; bytes: UINT64_MAX if unknown. Returns the matching id for gt_io_end(), or GT_IO_NOT
 * if this thread is not recorded now: it calls gt_active() itself. [signal-safe]
 */
#define GT_IO_NOT UINT64_MAX
GT_API uint64_t gt_io_begin(gt_ref region, gt_ref handle, unsigned mode, uint64_t bytes);
GT_API void gt_io_end(gt_ref region, gt_ref handle, uint64_t bytes, uint64_t id);

#ifdef __cplusplus
}
#endif
#endif

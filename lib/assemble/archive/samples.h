/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks; see samples.c.
 *
 * Limits: internal.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_SAMPLES_H
#define GT_ASSEMBLE_ARCHIVE_SAMPLES_H

#include "lib/assemble/spool/proc.h"

/* The most bytes that a sample of one slot takes in the archive beyond twice its size. */
#define GT_SAMPLE_BYTES 32u

/* May the process have samples? */
bool gt_samples_any(const struct gt_proc *proc);

#endif

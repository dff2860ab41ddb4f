/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks; see samples.c.
 *
 * Limits: internal.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_SAMPLES_H
#define GT_ASSEMBLE_ARCHIVE_SAMPLES_H

#include "lib/assemble/spool/proc.h"

/* What a sample of one slot takes in the archive beyond twice its size, at most. */
#define GT_SAMPLE_BYTES 32u

/* Nanoseconds of processor time between samples of the process, as it wanted them; 0: not known. */
uint64_t gt_samples_period(const struct gt_proc *proc);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples and cubins (cuda/samples/pcsampling.c): from the spool into DIR/gpu, and what is in OTF2.
 *
 * Limits: internal. Files that could not be written cost a sentence, not the archive.
 */
#ifndef GT_CUDA_PCSAMPLES_H
#define GT_CUDA_PCSAMPLES_H

#include "gputrace/assemble.h"

/* Hooks of struct gt_assembler; `self` has records with these functions. */
int gt_pcsamples_scan(struct gt_assembly *a, const struct gt_assembler *self);
void gt_pcsamples_properties(struct gt_assembly *a, const struct gt_proc *proc,
			     const struct gt_assembler *self);
void gt_pcsamples_end(struct gt_assembly *a, const struct gt_assembler *self);

/* The metric of how many samples there were; other records become no event. */
void gt_pcsamples_drain(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);
void gt_pcsamples_none(struct gt_track *t, const struct gt_slot *slot, uint64_t tick);

#endif

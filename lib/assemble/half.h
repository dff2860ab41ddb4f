/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What adapters of the tree tell the assembly in addition to struct gt_assembler: they may know its insides.
 *
 * Limits: internal. All members may be NULL.
 */
#ifndef GT_ASSEMBLE_HALF_H
#define GT_ASSEMBLE_HALF_H

#include "lib/assemble/assemblers.h"

struct gt_half {
	/* Was the process started as a rank of a parallel program, and nothing of that was recorded? */
	bool (*is_silent)(const struct gt_proc *proc);
	/* An I/O handle that several processes share: the communicator and a key that is the same in all of
	 * them. False: it is not known. */
	bool (*shared_handle)(struct gt_track *t, const struct gt_def_shared *def, uint32_t *comm,
			      uint64_t *key);
};

static inline bool gt_half_silent(const struct gt_proc *proc)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->is_silent &&
		    gt_assembler(i)->half->is_silent(proc))
			return true;
	return false;
}

static inline bool gt_half_shared(struct gt_track *t, const struct gt_def_shared *def, uint32_t *comm,
				  uint64_t *key)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->shared_handle &&
		    gt_assembler(i)->half->shared_handle(t, def, comm, key))
			return true;
	return false;
}

#endif

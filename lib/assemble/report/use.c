/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a run used: processor time, processors, memory.
 *
 * Limits: of a process that was killed nothing is known.
 */
#include "config.h"

#include "lib/assemble/report/report.h"

static uint64_t count_processors(const struct gt_spool *spool, const struct gt_root *root)
{
	enum { WORDS = sizeof(spool->procs->header.processors) / sizeof(uint64_t) };
	uint64_t allowed[WORDS] = { 0 }, count = 0;

	for (size_t i = 0; i < spool->proc_count; i++)
		for (unsigned k = 0; k < WORDS && spool->procs[i].root == root; k++)
			allowed[k] |= spool->procs[i].header.processors[k];
	for (unsigned k = 0; k < WORDS; k++)
		count += (uint64_t)__builtin_popcountll(allowed[k]);
	return count;
}

void gt_used_collect(struct gt_used *used, const struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];

		used->measured += proc->header.processor_ns != 0;
		used->unmeasured += !proc->header.processor_ns && proc->number != GT_NOT_WRITTEN;
		used->processor_ns += gt_proc_processor_ns(proc);
		if (proc->header.memory_peak > used->memory_peak)
			used->memory_peak = proc->header.memory_peak;
	}
	for (size_t i = 0; i < spool->root_count; i++)
		used->processors += count_processors(spool, &spool->roots[i]);
}

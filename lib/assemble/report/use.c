/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums up the resources that a run's processes used (processor time, processors, memory), and reads the
 * limits of their cgroups.
 *
 * Limits: of a process that was killed nothing is known.
 */
#include "config.h"

#include "lib/assemble/report/report.h"

#include <stdlib.h>

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

/* ---- quotas ------------------------------------------------------------------------------------------ */

/* A group of one host, by one of its processes. */
struct limit {
	const struct gt_root *root;
	struct gt_quota quota;
};

static int by_group(const void *a, const void *b)
{
	const struct limit *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return (x->quota.group > y->quota.group) - (x->quota.group < y->quota.group);
}

static size_t list_limits(const struct gt_spool *spool, struct limit *list)
{
	size_t count = 0;

	for (size_t i = 0; i < spool->proc_count; i++)
		for (unsigned k = 0; k < GT_QUOTAS && spool->procs[i].header.quotas_known == 2; k++)
			if (spool->procs[i].header.quotas[k].group)
				list[count++] = (struct limit){ spool->procs[i].root,
								spool->procs[i].header.quotas[k] };
	return count;
}

void gt_used_limit(struct gt_used *used, uint64_t throttled_ns, uint64_t quota)
{
	if (used->quota && (throttled_ns < used->throttled_ns ||
			    (throttled_ns == used->throttled_ns && quota >= used->quota)))
		return;
	used->throttled_ns = throttled_ns;
	used->quota = quota;
}

/* A group is throttled with all of its processes: from the first one's begin to the last one's end. */
static void find_limit(struct gt_used *used, struct limit *list, size_t count)
{
	if (count)
		qsort(list, count, sizeof(*list), by_group);
	for (size_t i = 0, k; i < count; i = k) {
		struct gt_quota all = list[i].quota;

		for (k = i + 1; k < count && !by_group(&list[i], &list[k]); k++) {
			if (list[k].quota.before < all.before)
				all.before = list[k].quota.before;
			if (list[k].quota.after > all.after)
				all.after = list[k].quota.after;
		}
		gt_used_limit(used, all.after > all.before ? all.after - all.before : 0, all.part);
	}
}

static void collect_limits(struct gt_used *used, const struct gt_spool *spool)
{
	struct limit *list = calloc(spool->proc_count * GT_QUOTAS + 1, sizeof(*list));

	if (list)
		find_limit(used, list, list_limits(spool, list));
	free(list);
}

/*
 * What processes have noted at their end, or what the kernel has told `gputrace run`, if that is more: it has
 * their end, too, and programs that are not recorded, but not who was left to itself.
 */
static uint64_t processor_ns(const struct gt_spool *spool, const struct gt_root *root)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < spool->proc_count; i++)
		ns += spool->procs[i].root == root ? gt_proc_processor_ns(&spool->procs[i]) : 0;
	return ns > root->run.used_ns ? ns : root->run.used_ns;
}

void gt_used_collect(struct gt_used *used, const struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];

		used->measured += proc->header.processor_ns != 0;
		used->unmeasured += !proc->header.processor_ns && proc->number != GT_NOT_WRITTEN;
		if (proc->header.memory_peak > used->memory_peak)
			used->memory_peak = proc->header.memory_peak;
	}
	for (size_t i = 0; i < spool->root_count; i++) {
		used->processors += count_processors(spool, &spool->roots[i]);
		used->processor_ns += processor_ns(spool, &spool->roots[i]);
	}
	collect_limits(used, spool);
}

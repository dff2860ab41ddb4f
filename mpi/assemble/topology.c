/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies; see topology.h.
 */
#include "config.h"

#include "mpi/assemble/topology.h"

#include <string.h>

static void look_at(const struct gt_mpi *mpi, size_t place, const struct gt_def_topology *def,
		    struct gt_defs *defs)
{
	const struct gt_mpi_view *view = gt_mpi_view(mpi, place, def->comm);
	struct gt_topology topology = { .count = def->count };
	const struct gt_comm *comm;
	uint64_t size = 1;

	if (!view || view->comm->inter || !def->count || def->count > GT_DIMENSIONS)
		return;
	comm = (const struct gt_comm *)defs->comms.items + view->comm->number;
	topology.comm = view->comm->number;
	memcpy(topology.numbers, def + 1, 2 * (size_t)def->count * sizeof(uint32_t));
	for (uint32_t i = 0; i < def->count && size <= UINT32_MAX; i++)
		size *= topology.numbers[i];
	/* Where somebody is missing, places are not what the program knows. */
	if (size != comm->member_count)
		return;
	if (!gt_defs_topology(defs, &topology))
		return;
	defs->other_bytes += size * (16 + 5 * (uint64_t)def->count);
}

void gt_topologies_make(const struct gt_mpi *mpi, const struct gt_spool *spool, struct gt_defs *defs)
{
	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_journal *journal = &spool->procs[i].journal;

		for (size_t k = 0; k < gt_journal_count(journal, GT_D_TOPOLOGY); k++)
			look_at(mpi, i, gt_journal_nth(journal, GT_D_TOPOLOGY, k, NULL, NULL), defs);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's assembling half: what the assembly calls, and when.
 *
 * Limits: a host alone cannot convert its spool if a job has ranks elsewhere that have not been found, or
 * connections to other jobs.
 */
#include "config.h"

#include "lib/assemble/archive/track.h"
#include "lib/assemble/adapters/half.h"
#include "mpi/assemble/mpi.h"

#include <errno.h>
#include <stdlib.h>

struct gt_mpi *gt_mpi_of(struct gt_assembly *a)
{
	return *gt_state(a, &gt_assembler_mpi);
}

const struct gt_mpi_view *gt_track_view(const struct gt_track *t, uint32_t id)
{
	size_t proc = (size_t)(t->loc->proc - t->conv->spool->procs);

	return gt_mpi_view_of(gt_mpi_of(t->conv->assembly), proc, id);
}

static int define(struct gt_assembly *a)
{
	struct gt_mpi *mpi = calloc(1, sizeof(*mpi));
	int rc;

	*gt_state(a, &gt_assembler_mpi) = mpi;
	if (!mpi)
		return -ENOMEM;
	rc = gt_mpi_make(mpi, &a->spool, &a->layout, &a->clock, &a->defs, a->how);
	if (!rc && mpi->links.alone)
		gt_assembly_say(a, 1, "%zu MPI connect/accept/spawn endpoints are ambiguous; messages "
				"on them are omitted", mpi->links.alone);
	if (!rc)
		gt_mpi_topologies(mpi, &a->spool, &a->defs);
	return rc;
}

static void end(struct gt_assembly *a)
{
	struct gt_mpi *mpi = gt_mpi_of(a);

	if (mpi)
		gt_mpi_free(mpi);
	free(mpi);
}

/* A file that the members of a communicator have opened together. */
static bool shared_handle(struct gt_track *t, const struct gt_def_shared *def, uint32_t *comm, uint64_t *key)
{
	const struct gt_mpi_view *view = gt_track_view(t, def->parent);

	if (!view)
		return false;
	*comm = view->comm->number;
	*key = gt_mpi_key(view, def->key);
	return true;
}

static const struct gt_paradigm paradigms[] = {
	{ .name = "MPI", .paradigm = OTF2_PARADIGM_MPI, .kind = OTF2_PARADIGM_CLASS_PROCESS,
	  .comm_template = "MPI Communicator ${id}" },
	{ .name = NULL },
};

static const struct gt_shared_io io = { .number = 3, .id = "MPI-IO", .name = "MPI-IO" };

static const struct gt_half half = {
	.ranks = "MPI", .io = &io, .is_silent = gt_mpi_silent,
	.silent_why = gt_mpi_silent_why, .shared_handle = shared_handle,
};

const struct gt_assembler gt_assembler_mpi = {
	.bytes = sizeof(struct gt_assembler), .abi = GT_ASSEMBLER_ABI, .name = "mpi",
	.paradigms = paradigms,
	.define = define, .end = end, .half = &half,
};

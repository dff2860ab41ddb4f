/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's set-up, and the beginning and end of MPI.
 * Limits: see init.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gputrace/word.h"
#include "mpi/comms.h"
#include "mpi/hosts.h"
#include "mpi/init.h"
#include "mpi/messages.h"

void gt_mpi_initialized(void)
{
	static uint32_t done;
	int rank, size;
	uint64_t job;

	if (__atomic_exchange_n(&done, 1, __ATOMIC_ACQ_REL) ||
	    gt_mpi_Comm_rank()(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
	    gt_mpi_Comm_size()(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
		return;
	job = gt_mpi_be_rank(rank, size);
	gt_mpi_comms_begin(job);
	gt_mpi_parent_found();
	gt_mpi_hosts_ready(job, rank, size);
}

void gt_mpi_finalizing(void)
{
	gt_mpi_hosts_end();
	gt_mpi_comms_end();
}

void gt_mpi_aborting(int code)
{
	const char *dir = getenv("VT_RUN_DIR");
	char text[64], word[1300];

	snprintf(text, sizeof(text), "MPI_Abort with error code %d", code);
	gt_def_property("ended-by", text);
	/* MPI is not asked: where there is no MPI_COMM_WORLD (sessions alone) that would end the program. */
	if (dir && gt_mpi_rank != UINT32_MAX)
		gt_message(1, "rank %u calls MPI_Abort with error code %d; to see what was recorded: "
			   "gputrace report %s", gt_mpi_rank, code, gt_word(word, sizeof(word), dir));
}

bool gt_mpi_setup(void *(*find)(const char *symbol))
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter), .abi = GT_ADAPTER_ABI, .name = "mpi", .inside = gt_mpi_is_inside,
		.fork_child = gt_mpi_hosts_forked,
	};
	const char *mode = gt_setting("VT_MODE");
	int begun = 0, over = 0;

	if ((mode && !strcmp(mode, "OFF")) || gt_adapter_register(&adapter))
		return false;
	gt_mpi_base_setup(find);
	gt_mpi_messages_setup(find);
	/* MPI may have begun before the first call that we see. */
	if (gt_mpi_Initialized()(&begun) == MPI_SUCCESS && begun &&
	    gt_mpi_Finalized()(&over) == MPI_SUCCESS && !over)
		gt_mpi_initialized();
	return true;
}

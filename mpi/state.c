/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's set-up, the regions of the functions, and the beginning and end of MPI.
 *
 * Limits: no messages, no communicators (comms.c, requests.c, colls.c).
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi/choose.h"
#include "mpi/events.h"
#include "mpi/generated.h"
#include "mpi/hosts.h"

#define PARADIGM_MPI 4 /* OTF2_PARADIGM_MPI */

GT_MPI_TLS struct gt_mpi_self gt_mpi_self;
bool gt_mpi_merge;
gt_ref gt_mpi_calls, gt_mpi_error;
uint32_t gt_mpi_rank;

static uint32_t define_lock;

/* ---- help ----------------------------------------------------------------------------------- */

void gt_mpi_lock(uint32_t *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

void gt_mpi_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

void *gt_mpi_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* ---- regions -------------------------------------------------------------------------------- */

gt_ref gt_mpi_define(unsigned function)
{
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = gt_mpi_function[function].name,
		.group = "MPI",
		.role = gt_mpi_function[function].role,
		.paradigm = PARADIGM_MPI,
	};
	gt_ref ref;

	ref = __atomic_load_n(&gt_mpi_region[function], __ATOMIC_RELAXED);
	if (ref == GT_MPI_FILTERED)
		return GT_NONE;
	gt_mpi_lock(&define_lock);
	ref = gt_mpi_region[function];
	if (!ref) {
		ref = gt_def_region(&info);
		if (!ref)
			ref = GT_MPI_FILTERED;
		__atomic_store_n(&gt_mpi_region[function], ref, __ATOMIC_RELAXED);
	}
	gt_mpi_unlock(&define_lock);
	return ref == GT_MPI_FILTERED ? GT_NONE : ref;
}

/* ---- calls that fail ------------------------------------------------------------------------ */

static int class_of(int rc)
{
	int class = rc;

	return gt_mpi_Error_class()(rc, &class) == MPI_SUCCESS ? class : rc;
}

void gt_mpi_failed(int rc)
{
	gt_attribute(gt_mpi_error, (uint64_t)(uint32_t)class_of(rc));
}

bool gt_mpi_truncated(int rc)
{
	return rc != MPI_SUCCESS && class_of(rc) == MPI_ERR_TRUNCATE;
}

/* ---- the job -------------------------------------------------------------------------------- */

uint64_t gt_mpi_be_rank(int rank, int size)
{
	static uint32_t done;
	uint64_t job = gt_mpi_find_job();

	gt_mpi_rank = (uint32_t)rank;
	if (!__atomic_exchange_n(&done, 1, __ATOMIC_ACQ_REL))
		gt_set_rank((uint32_t)rank, (uint32_t)size, job);
	return job;
}

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

/* ---- set-up --------------------------------------------------------------------------------- */

static bool setup(void *(*find)(const char *symbol))
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter), .abi = GT_ADAPTER_ABI, .name = "mpi",
	};
	const char *merge = gt_setting("VT_MPI_MERGE_POLLS"), *mode = gt_setting("VT_MODE");
	int begun = 0, over = 0;

	if ((mode && !strcmp(mode, "OFF")) || gt_adapter_register(&adapter))
		return false;
	gt_mpi_requests_setup(find);
	gt_mpi_merge = merge && !strcmp(merge, "yes");
	gt_mpi_calls = gt_def_parameter("calls", GT_VALUE_UINT);
	gt_mpi_error = gt_def_attribute("MPI_ERROR", "Class of the error that the call returned",
					GT_VALUE_UINT);
	/* MPI may have begun before the first call that we see. */
	if (gt_mpi_Initialized()(&begun) == MPI_SUCCESS && begun &&
	    gt_mpi_Finalized()(&over) == MPI_SUCCESS && !over)
		gt_mpi_initialized();
	return true;
}

extern void *const gt_mpi_wrappers[];
extern const unsigned gt_mpi_functions;
struct gt_mpi_flavour gt_mpi_flavour __attribute__((visibility("default"))) = {
	.wrappers = gt_mpi_wrappers,
	.real = gt_mpi_real,
	.setup = setup,
};

__attribute__((constructor)) static void begin(void)
{
	gt_mpi_flavour.functions = gt_mpi_functions;
}

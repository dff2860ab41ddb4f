/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that send and receive what is in a device's memory, in the host's by the device's runtime, and in
 * memory that both share: of HIP, or of Level Zero (-DLEVEL_ZERO). What is freed is sent no more.
 *
 * Limits: memory of the device can be read by the host, as that of the fakes; HIP has none that is shared.
 */
#include <mpi.h>
#include <stdlib.h>

enum { BYTES = 4096, KINDS = 3 };

static char *memory[KINDS]; /* device, host, shared; NULL: none */

#define MUST(call) \
	if (call)  \
	exit(3)

#ifdef LEVEL_ZERO
#include <level_zero/ze_api.h>

static ze_context_handle_t context;

static void begin(void)
{
	ze_context_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_device_mem_alloc_desc_t on_device = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_host_mem_alloc_desc_t on_host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	uint32_t one = 1;

	MUST(zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
	     zeContextCreate(driver, &desc, &context));
	MUST(zeMemAllocDevice(context, &on_device, BYTES, 64, device, (void **)&memory[0]));
	MUST(zeMemAllocHost(context, &on_host, BYTES, 64, (void **)&memory[1]));
	MUST(zeMemAllocShared(context, &on_device, &on_host, BYTES, 64, device, (void **)&memory[2]));
}

static void end(void)
{
	for (int i = 0; i < KINDS; i++)
		MUST(zeMemFree(context, memory[i]));
	MUST(zeContextDestroy(context));
}
#else
#include "fake.h"

static void begin(void)
{
	MUST(hipMalloc((void **)&memory[0], BYTES));
	MUST(hipHostMalloc((void **)&memory[1], BYTES, 0));
}

static void end(void)
{
	MUST(hipFree(memory[0]));
}
#endif

int main(int argc, char **argv)
{
	static char plain[BYTES];
	int me, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	begin();
	for (int i = 0; i < KINDS; i++)
		if (memory[i])
			MPI_Sendrecv(memory[i] + BYTES - 64, 64, MPI_CHAR, (me + 1) % size, i, plain, 64,
				     MPI_CHAR, (me + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(memory[0], memory[0] + BYTES / 2, 8, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Bcast(plain, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
	end();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(plain, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}

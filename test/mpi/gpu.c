/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that use a (fake) GPU each and exchange what it has: kernels on two streams, copies, messages of MPI,
 * and markers and, if asked to ("user"), messages of their own along the ranks (VT_MSG_...).
 * With "device" the driver says that what they send and receive is in its device's memory.
 * Limits: arguments: turns, user or device.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "vt_user.h"

static int me, size;
static char host[4096];

static void compute(int turn)
{
	void *streams[] = { (void *)13, (void *)14 };

	cudaMemcpy((void *)0x7000, host, 100 * (size_t)(me + 1), 1);
	for (int i = 0; i <= me % 3; i++)
		cudaLaunchKernel(turn % 2 ? "_Z3addPfi" : "_Z5scalePff", 16, 128, streams[i % 2]);
	cuMemcpyHtoDAsync_v2(0x7000, host, 64, streams[1]);
	cudaDeviceSynchronize();
	cudaMemcpy(host, (void *)0x7000, 200 * (size_t)(me + 1), 2);
}

static void exchange(void)
{
	MPI_Sendrecv_replace(host, 256, MPI_CHAR, (me + 1) % size, 1, (me + size - 1) % size, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Buffers that are read, written, both, or not the device's. */
static void exchange_more(void)
{
	static double mine, all;
	MPI_Request request;

	MPI_Irecv(host + 1024, 64, MPI_CHAR, (me + size - 1) % size, 3, MPI_COMM_WORLD, &request);
	MPI_Send(host, 64, MPI_CHAR, (me + 1) % size, 3, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce(host + 2048, host + 3072, 8, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

/* One process after the other, so that the order is the same in each run. */
static void pass(unsigned comm, unsigned turn)
{
	int token;

	VT_USER_START("turn");
	if (me)
		MPI_Recv(&token, 1, MPI_INT, me - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (me)
		VT_MSG_RECV(comm, turn * (unsigned)size + (unsigned)me - 1, 8);
	if (me + 1 < size) {
		VT_MSG_SEND(comm, turn * (unsigned)size + (unsigned)me, 8);
		MPI_Send(&token, 1, MPI_INT, me + 1, 2, MPI_COMM_WORLD);
	}
	VT_USER_END("turn");
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 5, device = argc > 2 && !strcmp(argv[2], "device");
	int user = argc > 2 && !device;
	unsigned comm = 0, marker = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (user)
		comm = VT_MSG_COMM_DEF("chain");
	if (device)
		fake_on_device(host, sizeof(host));
	marker = VT_MARKER_DEF("turns", VT_MARKER_TYPE_HINT);
	for (int i = 0; i < turns; i++) {
		compute(i);
		exchange();
		if (device)
			exchange_more();
		VT_MARKER(marker, "turn");
		if (user)
			pass(comm, (unsigned)i);
	}
	MPI_Finalize();
	return 0;
}

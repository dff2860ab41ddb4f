/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI and CUDA together: each rank works on a device, and hands what it computed to its neighbour, through
 * the host, and from device to device if this MPI can do that. Rank 0 prints the sums of all ranks' counts.
 *
 * Limits: `ranks [ROUNDS [device]]`; devices are taken in turn. "device": only messages and sums of the
 * devices' memory, of 64 bytes to 4 MiB. Exit status 77: this MPI takes no such memory.
 */
#include "count.h"

#include <mpi.h>
#include <mpi-ext.h>
#include <vector>

static uint64_t n_messages, b_messages;

static bool can_send_from_device()
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
	return MPIX_Query_cuda_support();
#else
	return false;
#endif
}

static void exchange(void *out, void *in, int bytes, int rank, int size, int tag)
{
	MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, tag, in, bytes, MPI_BYTE,
		     (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	n_messages++;
	b_messages += (uint64_t)bytes;
}

static void total(const char *name, uint64_t mine, int rank)
{
	unsigned long long one = mine, all = 0;

	MPI_Reduce(&one, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		put_count(name, all);
}

/* Rank and round are in each byte; the counts are those of calls that are given a device's memory. */
static void from_device(int rounds, int rank, int size)
{
	const int sizes[] = { 64, 2048, 1 << 16, 1 << 20, 1 << 22 }, most = 1 << 22;
	int next = (rank + 1) % size, last = (rank + size - 1) % size, wrong = 0, n = 0;
	std::vector<unsigned char> host(most);
	unsigned char *out, *in;
	uint64_t bytes = 0;
	MPI_Request request;

	CK(cudaMalloc(&out, most));
	CK(cudaMalloc(&in, most));
	for (int i = 0; i < rounds; i++)
		for (int b : sizes) {
			CK(cudaMemset(out, 16 * rank + i % 16, (size_t)b));
			CK(cudaDeviceSynchronize());
			MPI_Irecv(in, b, MPI_BYTE, last, i, MPI_COMM_WORLD, &request);
			MPI_Send(out, b, MPI_BYTE, next, i, MPI_COMM_WORLD);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			CK(cudaMemcpy(host.data(), in, (size_t)b, cudaMemcpyDeviceToHost));
			for (int k = 0; k < b; k++)
				wrong += host[k] != 16 * last + i % 16;
			MPI_Allreduce(out, in, b, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
			CK(cudaMemcpy(host.data(), in, (size_t)b, cudaMemcpyDeviceToHost));
			for (int k = 0; k < b; k++)
				wrong += host[k] != 16 * (size - 1) + i % 16;
			/* One side only, and none. */
			MPI_Sendrecv(out, b, MPI_BYTE, next, i, host.data(), b, MPI_BYTE, last, i, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
			MPI_Bcast(host.data(), b, MPI_BYTE, 0, MPI_COMM_WORLD);
			bytes += (uint64_t)b;
			n++;
		}
	total("calls", (uint64_t)n, rank);
	total("bytes", bytes, rank);
	total("wrong", (uint64_t)wrong, rank);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20, rank, size, devices = 0;
	const int floats = 1 << 16, bytes = floats * (int)sizeof(float);
	std::vector<float> out(floats), in(floats);
	float *device[2];
	bool direct;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	CK(cudaGetDeviceCount(&devices));
	CK(cudaSetDevice(rank % devices));
	if (argc > 2) {
		if (can_send_from_device())
			from_device(rounds, rank, size);
		direct = can_send_from_device();
		MPI_Finalize();
		return direct ? 0 : 77;
	}
	CK(cudaMalloc(&device[0], (size_t)bytes));
	CK(cudaMalloc(&device[1], (size_t)bytes));
	CK(cudaMemset(device[0], 0, (size_t)bytes));
	n_memset++;
	direct = can_send_from_device();
	for (int i = 0; i < rounds; i++) {
		LAUNCH(k_square, floats / 256, 256, 0, 0, device[0], (size_t)floats);
		CK(cudaMemcpy(out.data(), device[0], (size_t)bytes, cudaMemcpyDeviceToHost));
		count_copy(cudaMemcpyDeviceToHost, (uint64_t)bytes);
		out[0] = (float)rank;
		exchange(out.data(), in.data(), bytes, rank, size, i);
		if (in[0] != (float)((rank + size - 1) % size)) {
			fprintf(stderr, "rank %d got %g\n", rank, in[0]);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
		CK(cudaMemcpy(device[1], in.data(), (size_t)bytes, cudaMemcpyHostToDevice));
		count_copy(cudaMemcpyHostToDevice, (uint64_t)bytes);
		if (direct)
			exchange(device[1], device[0], bytes, rank, size, rounds + i);
	}
	CK(cudaDeviceSynchronize());
	if (!rank)
		put_count("direct", direct);
	total("messages", n_messages, rank);
	total("message_bytes", b_messages, rank);
	total("kernels", n_kernels, rank);
	total("memsets", n_memset, rank);
	total("h2d", n_h2d, rank);
	total("d2h", n_d2h, rank);
	total("h2d_bytes", b_h2d, rank);
	total("d2h_bytes", b_d2h, rank);
	total("ranks", 1, rank);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}

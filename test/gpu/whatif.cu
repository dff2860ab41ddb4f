/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that can be changed, for `gputrace whatif`: kernels that take as long as they are told, copies of as
 * much, in shapes that differ in who waits for whom. "COUNT loop_ns" is how long the rounds took.
 *
 *	whatif SHAPE ROUNDS FIRST SECOND THIRD
 *
 * FIRST to THIRD: microseconds of k_first(), k_second(), k_third(); of "copies" and "overlapped", THIRD is the KiB
 * that are copied to the device in a round.
 *
 * Limits: one device, 64 MiB a copy at most.
 */
#include "count.h"

#include <thread>
#include <unistd.h>

#define KERNEL(name)                                                                               \
	__global__ void name(uint64_t ns)                                                          \
	{                                                                                          \
		uint64_t begin, now;                                                               \
												\
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));                          \
		do                                                                                 \
			asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));                    \
		while (now - begin < ns);                                                          \
	}
KERNEL(k_first)
KERNEL(k_second)
KERNEL(k_third)

enum { MOST = 64 << 20 };
static uint64_t first, second, third; /* ns; of a copy: KiB */
static unsigned rounds;
static cudaStream_t a, b;
static cudaEvent_t event[2];

/* The host waits in each round. */
static void serial(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		LAUNCH(k_first, 1, 1, 0, a, first);
		LAUNCH(k_second, 1, 1, 0, a, second);
		CK(cudaStreamSynchronize(a));
		usleep((useconds_t)(third / 1000));
	}
}

/* Two streams beside each other, and both at the end of a round. */
static void streams(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		LAUNCH(k_first, 1, 1, 0, a, first);
		LAUNCH(k_second, 1, 1, 0, b, second);
		CK(cudaDeviceSynchronize());
		LAUNCH(k_third, 1, 1, 0, a, third);
		CK(cudaStreamSynchronize(a));
	}
}

/* The second stream waits for the first one's kernel, which has another one beside it then. */
static void chain(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		LAUNCH(k_first, 1, 1, 0, a, first);
		CK(cudaEventRecord(event[0], a));
		CK(cudaStreamWaitEvent(b, event[0], 0));
		LAUNCH(k_second, 1, 1, 0, b, second);
		LAUNCH(k_third, 1, 1, 0, a, third);
		CK(cudaDeviceSynchronize());
	}
}

/* The host does not wait before the end. */
static void ahead(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		LAUNCH(k_first, 1, 1, 0, a, first);
		LAUNCH(k_second, 1, 1, 0, a, second);
		usleep((useconds_t)(third / 1000));
	}
	CK(cudaDeviceSynchronize());
}

/* Two threads, a stream and a kernel each. */
static void threads(void)
{
	std::thread other([] {
		for (unsigned i = 0; i < rounds; i++) {
			LAUNCH(k_second, 1, 1, 0, b, second);
			CK(cudaStreamSynchronize(b));
		}
	});

	for (unsigned i = 0; i < rounds; i++) {
		LAUNCH(k_first, 1, 1, 0, a, first);
		CK(cudaStreamSynchronize(a));
	}
	other.join();
	LAUNCH(k_third, 1, 1, 0, a, third);
	CK(cudaDeviceSynchronize());
}

/* Each round's data is copied, then used; with `beside`, while the round before is computed. */
static void copies(bool beside)
{
	size_t bytes = third / 1000 << 10;
	void *host, *device[2];

	CK(cudaMallocHost(&host, MOST));
	CK(cudaMalloc(&device[0], MOST));
	CK(cudaMalloc(&device[1], MOST));
	for (unsigned i = 0; i < rounds; i++) {
		if (i > 1 && beside)
			CK(cudaStreamWaitEvent(b, event[i % 2], 0)); /* that data is used */
		CK(cudaMemcpyAsync(device[i % 2], host, bytes, cudaMemcpyHostToDevice, beside ? b : a));
		if (beside) {
			cudaEvent_t there;

			CK(cudaEventCreateWithFlags(&there, cudaEventDisableTiming));
			CK(cudaEventRecord(there, b));
			CK(cudaStreamWaitEvent(a, there, 0));
			CK(cudaEventDestroy(there));
		}
		LAUNCH(k_first, 1, 1, 0, a, first);
		CK(cudaEventRecord(event[i % 2], a));
	}
	CK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const char *shape = argc == 6 ? argv[1] : "";
	uint64_t begin;

	rounds = argc == 6 ? (unsigned)atoi(argv[2]) : 0;
	first = argc == 6 ? 1000 * (uint64_t)atoi(argv[3]) : 0;
	second = argc == 6 ? 1000 * (uint64_t)atoi(argv[4]) : 0;
	third = argc == 6 ? 1000 * (uint64_t)atoi(argv[5]) : 0;
	CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	CK(cudaEventCreateWithFlags(&event[0], cudaEventDisableTiming));
	CK(cudaEventCreateWithFlags(&event[1], cudaEventDisableTiming));
	k_first<<<1, 1, 0, a>>>(0); /* loads the code */
	k_second<<<1, 1, 0, a>>>(0);
	k_third<<<1, 1, 0, a>>>(0);
	CK(cudaDeviceSynchronize());
	begin = now_ns();
	if (!strcmp(shape, "serial"))
		serial();
	else if (!strcmp(shape, "streams"))
		streams();
	else if (!strcmp(shape, "chain"))
		chain();
	else if (!strcmp(shape, "ahead"))
		ahead();
	else if (!strcmp(shape, "threads"))
		threads();
	else if (!strcmp(shape, "copies") || !strcmp(shape, "overlapped"))
		copies(!strcmp(shape, "overlapped"));
	else
		return 2;
	put_count("loop_ns", now_ns() - begin);
	return 0;
}

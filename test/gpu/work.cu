/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs do with the CUDA runtime, one mode each, counted by the program itself.
 *
 * Limits: `work MODE [NUMBER]`; one device.
 */
#include "count.h"

#include <csignal>
#include <cerrno>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static void streams(unsigned n)
{
	cudaStream_t stream[4];

	for (auto &s : stream)
		CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (unsigned i = 0; i < n; i++) {
		LAUNCH(k_empty, 1, 32, 0, stream[i % 4]);
		LAUNCH(k_spin, 2, 64, 128, stream[i % 4], 2000);
	}
	CK(cudaDeviceSynchronize());
	for (auto &s : stream)
		CK(cudaStreamDestroy(s));
}

/* Every direction and kind of memory, synchronous and not. */
static void copies(unsigned n)
{
	const size_t most = 1 << 20;
	char *pageable = (char *)malloc(most), *pinned, *a, *b;
	unsigned paged = 0;
	cudaArray_t array;
	cudaStream_t stream;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();

	memset(pageable, 1, most);
	CK(cudaMallocHost(&pinned, most));
	memset(pinned, 2, most);
	CK(cudaMalloc(&a, most));
	CK(cudaMalloc(&b, most));
	CK(cudaMallocArray(&array, &desc, 256, 256));
	CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < n; i++) {
		size_t bytes = 64 + 997 * (i % 1000);

		CK(cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, stream));
		count_copy(cudaMemcpyHostToDevice, bytes);
		CK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream));
		count_copy(cudaMemcpyDeviceToDevice, bytes);
		CK(cudaMemcpyAsync(pinned, b, bytes, cudaMemcpyDeviceToHost, stream));
		count_copy(cudaMemcpyDeviceToHost, bytes);
		CK(cudaMemsetAsync(b, 0, bytes, stream));
		n_memset++;
		if (i % 8)
			continue;
		CK(cudaStreamSynchronize(stream));
		CK(cudaMemcpy(a, pinned, bytes, cudaMemcpyHostToDevice));
		count_copy(cudaMemcpyHostToDevice, bytes);
		CK(cudaMemcpy(pinned, a, bytes, cudaMemcpyDeviceToHost));
		count_copy(cudaMemcpyDeviceToHost, bytes);
		CK(cudaMemcpy2DToArray(array, 0, 0, pinned, 1024, 1024, 16,
				       cudaMemcpyHostToDevice));
		count_copy(cudaMemcpyHostToDevice, 1024 * 16);
		CK(cudaMemcpy(pageable, a, 40000, cudaMemcpyDeviceToHost));
		count_copy(cudaMemcpyDeviceToHost, 40000);
		paged++;
	}
	put_count("pageable", paged);
	CK(cudaDeviceSynchronize());
}

/* A chain of nodes, and branches that run side by side. */
static void graphs(unsigned n, bool branches)
{
	cudaStream_t stream, other[3];
	cudaEvent_t fork, join[3];
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	char *a, *b;

	CK(cudaMalloc(&a, 1 << 16));
	CK(cudaMallocHost(&b, 1 << 16));
	CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	CK(cudaMemcpyAsync(a, b, 4096, cudaMemcpyHostToDevice, stream));
	for (unsigned i = 0; i < 10; i++)
		k_empty<<<1, 32, 0, stream>>>();
	if (branches) {
		CK(cudaEventRecord(fork, stream));
		for (unsigned i = 0; i < 3; i++) {
			CK(cudaStreamCreateWithFlags(&other[i], cudaStreamNonBlocking));
			CK(cudaEventCreateWithFlags(&join[i], cudaEventDisableTiming));
			CK(cudaStreamWaitEvent(other[i], fork));
			k_spin<<<1, 32, 0, other[i]>>>(100000);
			CK(cudaEventRecord(join[i], other[i]));
		}
		k_spin<<<1, 32, 0, stream>>>(100000);
		for (unsigned i = 0; i < 3; i++)
			CK(cudaStreamWaitEvent(stream, join[i]));
	}
	CK(cudaMemsetAsync(a, 0, 4096, stream));
	CK(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDeviceToHost, stream));
	CK(cudaStreamEndCapture(stream, &graph));
	CK(cudaGraphInstantiate(&exec, graph, 0));
	for (unsigned i = 0; i < n; i++) {
		CK(cudaGraphLaunch(exec, stream));
		n_kernels += branches ? 14 : 10;
		n_memset++;
		count_copy(cudaMemcpyHostToDevice, 4096);
		count_copy(cudaMemcpyDeviceToHost, 4096);
	}
	CK(cudaStreamSynchronize(stream));
	put_count("graphs", n);
}

static void many_threads(unsigned n)
{
	std::vector<std::thread> threads;

	for (unsigned t = 0; t < 8; t++)
		threads.emplace_back([n] {
			cudaStream_t stream;

			CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
			for (unsigned i = 0; i < n; i++)
				LAUNCH(k_empty, 1, 32, 0, stream);
			CK(cudaStreamSynchronize(stream));
		});
	for (auto &t : threads)
		t.join();
}

/* After IPM's example: one long kernel, then a copy back that must wait for it. */
static void square(unsigned ms)
{
	const size_t n = 64 << 20;
	float *host, *device;

	CK(cudaMallocHost(&host, n * sizeof(*host)));
	CK(cudaMalloc(&device, n * sizeof(*device)));
	LAUNCH(k_square, (unsigned)(n / 256), 256, 0, 0, device, n);
	LAUNCH(k_spin, 1, 1, 0, 0, (uint64_t)ms * 1000000);
	CK(cudaMemcpy(host, device, n * sizeof(*host), cudaMemcpyDeviceToHost));
	count_copy(cudaMemcpyDeviceToHost, n * sizeof(*host));
}

static void launch(unsigned n, uint64_t ns)
{
	for (unsigned i = 0; i < n; i++)
		LAUNCH(k_spin, 1, 1, 0, 0, ns);
}

/* Device memory in use, as the program itself adds it up. */
static void memory(unsigned n)
{
	uint64_t held = 0, most = 0, changes = 0;
	char *blocks[16] = { nullptr };
	size_t bytes[16] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned at = i * 7 % 16;

		if (blocks[at]) {
			CK(cudaFree(blocks[at]));
			held -= bytes[at];
			changes++;
		}
		bytes[at] = 4096 + 100003 * (size_t)(i % 37);
		CK(cudaMalloc(&blocks[at], bytes[at]));
		held += bytes[at];
		changes++;
		most = held > most ? held : most;
	}
	LAUNCH(k_empty, 1, 32, 0, 0);
	CK(cudaDeviceSynchronize());
	for (unsigned at = 0; at < 15; at++) {
		CK(cudaFree(blocks[at]));
		held -= bytes[at];
		changes++;
	}
	put_count("changes", changes);
	put_count("held_most", most);
	put_count("held_last", held);
}

/* Streams that come and go. */
static void short_streams(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		cudaStream_t stream;

		CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		for (unsigned k = 0; k < 5; k++)
			LAUNCH(k_spin, 1, 1, 0, stream, 2000);
		CK(cudaStreamSynchronize(stream));
		CK(cudaStreamDestroy(stream));
	}
}

/* Asks again and again until a kernel is over. */
static void polls(unsigned n)
{
	uint64_t calls = 0;
	cudaEvent_t event;

	CK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	for (unsigned i = 0; i < n; i++) {
		LAUNCH(k_spin, 1, 1, 0, 0, 1000000);
		CK(cudaEventRecord(event));
		do
			calls++;
		while (cudaEventQuery(event) == cudaErrorNotReady);
	}
	put_count("polls", calls);
}

/* Captures that are invalidated: their end fails, and is one. */
static int failing_captures(void)
{
	cudaStream_t stream;
	cudaGraph_t graph;

	CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < 5; i++) {
		CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		k_empty<<<1, 32, 0, stream>>>();
		cudaStreamSynchronize(stream); /* may not be called now */
		if (cudaStreamEndCapture(stream, &graph) == cudaSuccess)
			return 4;
		cudaGetLastError();
		for (unsigned k = 0; k < 60; k++)
			LAUNCH(k_empty, 1, 32, 0, stream);
	}
	CK(cudaDeviceSynchronize());
	put_count("captured", 5);
	return 0;
}

static void told(int number)
{
	_exit(number == SIGTERM ? 6 : 99);
}

/* main() is gone, this thread goes on: it ends the process, or is told to. */
static void main_gone(bool by_signal)
{
	std::thread([by_signal] {
		usleep(50000);
		for (unsigned i = 0; i < 50; i++) {
			LAUNCH(k_spin, 1, 1, 0, 0, 1000000);
			usleep(8000);
		}
		CK(cudaDeviceSynchronize());
		put_counts();
		if (!by_signal)
			exit(5);
		kill(getpid(), SIGTERM);
		sleep(20);
		_exit(98);
	}).detach();
	pthread_exit(NULL);
}

/* Other threads launch while this one does something. */
static std::atomic<bool> enough{false};

static void with_launches(void (*something)(void))
{
	std::vector<std::thread> threads;

	CK(cudaFree(NULL));
	for (unsigned i = 0; i < 3; i++)
		threads.emplace_back([] {
			cudaStream_t stream;
			char byte = 0, *place;

			CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
			while (!enough) {
				LAUNCH(k_spin, 1, 1, 0, stream, 20000);
				CK(cudaMalloc(&place, 4096));
				CK(cudaMemcpyAsync(place, &byte, 1, cudaMemcpyHostToDevice, stream));
				count_copy(cudaMemcpyHostToDevice, 1);
				CK(cudaFree(place));
			}
			CK(cudaStreamSynchronize(stream));
		});
	something();
	enough = true;
	for (auto &t : threads)
		t.join();
}

static void failing_execs(void)
{
	char *none[] = {NULL};

	for (unsigned i = 0; i < 20; i++) {
		usleep(20000);
		execve("/nonexistent", none, none);
	}
}

static void exit_at_once(void)
{
	usleep(700000);
	_exit(7);
}

/* How the program ends while, or after, the GPU works. Counts are printed before it ends. */
static int ends(const char *how)
{
	if (!strcmp(how, "pending")) {
		launch(1000, 200000);
	} else if (!strcmp(how, "others_go_on")) {
		launch(1000, 1000);
		CK(cudaDeviceSynchronize());
		std::thread([] {
			for (;;)
				k_spin<<<1, 1>>>(1000);
		}).detach();
		usleep(100000);
		exit(7);
	} else if (!strcmp(how, "_exit")) {
		launch(1000, 1000);
		CK(cudaDeviceSynchronize());
		usleep(1500000); /* more than one period of flushing */
		put_counts();
		_exit(7);
	} else if (!strcmp(how, "killed")) {
		launch(1000, 1000);
		CK(cudaDeviceSynchronize());
		usleep(2500000);
		put_counts();
		raise(SIGKILL);
	} else if (!strcmp(how, "reset")) {
		launch(500, 1000);
		CK(cudaDeviceSynchronize());
		CK(cudaDeviceReset());
		launch(100, 1000);
		CK(cudaDeviceSynchronize());
	} else if (!strcmp(how, "fork_before")) {
		pid_t child = fork();
		int status;

		launch(child ? 300 : 200, 1000);
		CK(cudaDeviceSynchronize());
		if (!child)
			exit(0);
		waitpid(child, &status, 0);
		n_kernels += 200;
		put_counts();
		return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
	} else if (!strcmp(how, "fork_after")) {
		pid_t child;
		int status;

		launch(300, 1000);
		CK(cudaDeviceSynchronize());
		child = fork();
		if (!child)
			exit(cudaDeviceSynchronize() == cudaSuccess ? 1 : 0); /* cannot work */
		waitpid(child, &status, 0);
		launch(50, 1000);
		CK(cudaDeviceSynchronize());
		put_counts();
		return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
	} else if (!strcmp(how, "fails")) {
		void *held, *never;

		CK(cudaMalloc(&held, 1 << 20));
		launch(100, 1000);
		CK(cudaDeviceSynchronize());
		put_counts();
		fflush(stdout);
		if (cudaMalloc(&never, (size_t)1 << 60) == cudaSuccess)
			return 4;
		put_count("went_on", 1);
		return 0;
	} else if (!strcmp(how, "failing_captures")) {
		if (failing_captures())
			return 4;
	} else if (!strcmp(how, "failing_execs")) {
		with_launches(failing_execs);
	} else if (!strcmp(how, "main_gone")) {
		main_gone(false);
	} else if (!strcmp(how, "main_gone_told")) {
		signal(SIGTERM, told);
		main_gone(true);
	} else if (!strcmp(how, "_exit_busy")) {
		with_launches(exit_at_once);
	} else if (!strcmp(how, "no_device")) {
		int devices = -1;
		cudaError_t error = cudaGetDeviceCount(&devices);

		fprintf(stderr, "devices %d, error %d\n", devices, (int)error);
	}
	put_counts();
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "streams";
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100;

	if (!strcmp(mode, "streams"))
		streams(n);
	else if (!strcmp(mode, "copies"))
		copies(n);
	else if (!strcmp(mode, "graph"))
		graphs(n, false);
	else if (!strcmp(mode, "branches"))
		graphs(n, true);
	else if (!strcmp(mode, "threads"))
		many_threads(n);
	else if (!strcmp(mode, "square"))
		square(n);
	else if (!strcmp(mode, "memory"))
		memory(n);
	else if (!strcmp(mode, "short"))
		short_streams(n);
	else if (!strcmp(mode, "polls"))
		polls(n);
	else
		return ends(mode);
	put_counts();
	return 0;
}

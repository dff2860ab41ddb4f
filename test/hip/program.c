/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses HIP: threads with streams of their own launch kernels and copy, and it says how often.
 *
 *	program THREADS ROUNDS [kill|killed|fork|leave|errors|exec|sync|graph|open]
 *
 * Limits: none.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

enum { BYTES = 4096 };

static unsigned long kernels, copies, bytes, calls;
static hipFunction_t add, scale;
static const char *mode = "";
static int rounds;
static uint64_t across; /* a range that ends on another thread */
static pthread_barrier_t begun;

#define COUNT(counter, n) __atomic_fetch_add(&(counter), (n), __ATOMIC_RELAXED)

static void check(hipError_t result)
{
	COUNT(calls, 1);
	if (result != hipSuccess) {
		fprintf(stderr, "program: a call failed\n");
		exit(3);
	}
}

static void launch(hipFunction_t f, hipStream_t stream)
{
	check(hipModuleLaunchKernel(f, 8, 2, 1, 64, 1, 1, 256, stream, NULL, NULL));
	COUNT(kernels, 1);
}

static void copy(void *to, const void *from, hipMemcpyKind kind, hipStream_t stream)
{
	if (stream && strcmp(mode, "sync") != 0)
		check(hipMemcpyAsync(to, from, BYTES, kind, stream));
	else
		check(hipMemcpy(to, from, BYTES, kind));
	COUNT(copies, 1);
	COUNT(bytes, BYTES);
}

/* Until the fake has delivered so many kernels, which FAKE_DELIVERED says; half a minute at most. */
static void wait_for(unsigned long kernels)
{
	unsigned long taken = 0, given;

	for (int i = 0; taken < kernels && i < 3000; i++) {
		FILE *file = fopen(getenv("FAKE_DELIVERED"), "r");
		char line[80];

		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "taken %lu", &given) == 1)
				taken = given;
		if (file)
			fclose(file);
		if (taken < kernels)
			usleep(10000);
	}
}

static void *run(void *argument)
{
	static char host[BYTES];
	int number = (int)(intptr_t)argument;
	hipStream_t stream;
	void *memory;

	pthread_barrier_wait(&begun); /* so that each has a location of its own */
	check(hipSetDevice(number & 1));
	check(hipMalloc(&memory, BYTES));
	roctxNameOsThread(number & 1 ? "odd thread" : "even thread");
	roctxRangeStop(across);
	check(hipStreamCreate(&stream));
	if (number == 0)
		roctxNameHipStream("first", stream);
	for (int i = 0; i < rounds; i++) {
		roctxRangePushA(i % 2 ? "odd" : "even");
		copy(memory, host, hipMemcpyHostToDevice, stream);
		launch(add, stream);
		launch(scale, stream);
		copy(memory, memory, hipMemcpyDeviceToDevice, stream);
		copy(host, memory, hipMemcpyDeviceToHost, stream);
		roctxRangePop();
		if (i % 16 == 15)
			check(hipStreamSynchronize(stream));
		if (!strcmp(mode, "kill") && i == rounds / 2) {
			wait_for(2 * (unsigned long)(i + 1));
			raise(SIGKILL);
		}
		if (!strcmp(mode, "killed")) {
			usleep(700);
			if (i == rounds - 1) {
				wait_for(1);
				raise(SIGKILL);
			}
		}
	}
	copy(memory, host, hipMemcpyHostToDevice, NULL);
	if (strcmp(mode, "leave") != 0)
		check(hipStreamSynchronize(stream));
	check(hipFree(memory));
	if (strcmp(mode, "leave") != 0)
		check(hipStreamDestroy(stream));
	return NULL;
}

/* Ranges that overlap. */
static void ranges(void)
{
	uint64_t one = roctxRangeStartA("one"), two;

	across = roctxRangeStartA("across");
	two = roctxRangeStartA("two");
	roctxRangeStop(one);
	roctxRangeStop(two);
	roctxRangeStop(12345);
}

static void graph(void)
{
	static char host[BYTES];
	hipGraphExec_t made;
	hipStream_t stream;
	hipGraph_t graph;

	check(hipStreamCreate(&stream));
	roctxNameHipStream("the graph's", stream);
	check(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	launch(add, stream);
	launch(scale, stream);
	launch(add, stream);
	check(hipMemcpyAsync(host, host, BYTES, hipMemcpyHostToDevice, stream));
	check(hipStreamEndCapture(stream, &graph));
	check(hipGraphInstantiate(&made, graph, NULL, NULL, 0));
	for (int i = 0; i < rounds; i++)
		check(hipGraphLaunch(made, stream));
	kernels = 3 * (unsigned long)rounds; /* the captured calls had none */
	copies = (unsigned long)rounds;
	bytes = copies * BYTES;
	check(hipStreamSynchronize(stream));
}

static void errors(void)
{
	void *memory;

	if (hipMalloc(NULL, 1) == hipSuccess || hipSetDevice(7) == hipSuccess)
		exit(4);
	check(hipMalloc(&memory, BYTES));
	copy(memory, memory, hipMemcpyHostToDevice, NULL);
	check(hipMemcpyPeerAsync(memory, 1, memory, 0, BYTES, NULL));
	COUNT(copies, 1);
	COUNT(bytes, BYTES);
	launch(add, NULL);
	while (hipStreamQuery(NULL) == hipErrorNotReady)
		;
	check(hipDeviceSynchronize());
	check(hipFree(memory));
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[16];
	hipModule_t module;

	rounds = argc > 2 ? atoi(argv[2]) : 10;
	mode = argc > 3 ? argv[3] : "";
	roctxMarkA("begin");
	check(hipModuleLoad(&module, "x"));
	check(hipModuleGetFunction(&add, module, "_Z3addPfi"));
	check(hipModuleGetFunction(&scale, module, "scale"));
	if (!strcmp(mode, "errors"))
		errors();
	if (!strcmp(mode, "graph"))
		graph();
	ranges();
	if (!strcmp(mode, "open"))
		roctxRangeStartA("never stopped");
	pthread_barrier_init(&begun, NULL, (unsigned)threads);
	for (intptr_t i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, run, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (unsigned i = 0; i < 8 && !strcmp(mode, "fork"); i++) {
		pid_t child;

		usleep(5000 * i);
		child = fork();
		if (!child) {
			launch(add, NULL);
			_exit(5);
		}
		waitpid(child, NULL, 0);
		launch(add, NULL);
		check(hipDeviceSynchronize());
	}
	if (!strcmp(mode, "exec")) {
		execl("/nowhere", "nowhere", (char *)NULL);
		launch(add, NULL);
		check(hipDeviceSynchronize());
	}
	if (strcmp(mode, "leave") != 0)
		check(hipDeviceSynchronize());
	printf("kernels %lu copies %lu bytes %lu calls %lu\n", kernels, copies, bytes, calls);
	fflush(stdout);
	if (!strcmp(mode, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of known sizes on the fake device, and ranges by NVTX. Argument: how. Prints what it did.
 * Limits: a kernel of the fake takes as many microseconds as it has blocks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "gputrace/records.h"
#include "nvtx_like.h"
#include "vt_user.h"

static unsigned launches;

static void launch(const char *name, unsigned blocks, unsigned threads)
{
	cudaLaunchKernel(name, blocks, threads, (void *)13);
	__atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
}

/* One of each, and two of "add" with other sizes. */
static void step(void)
{
	launch("_Z6vecaddPKfS0_Pfm", 100, 256);
	launch("_ZN4math5scaleIfLi4EEEvPT_m", 50, 128);
	launch("plain", 10, 32);
}

static void *steps(void *unused)
{
	for (int i = 0; i < 10; i++)
		step();
	return unused;
}

static void threads(void)
{
	pthread_t others[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&others[i], NULL, steps, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(others[i], NULL);
}

static void ranges(void)
{
	for (int i = 0; i < 5; i++) {
		nvtxRangePushA("step");
		nvtxRangePushA("inner");
		step();
		nvtxRangePop();
		nvtxRangePop();
		nvtxRangePushA("rest");
		launch("plain", 10, 32);
		nvtxRangePop();
	}
}

static void *short_ranges(void *unused)
{
	void *context;

	cuCtxCreate_v2(&context, 0, 1);
	for (int i = 0; i < 5; i++) {
		nvtxRangePushA("step");
		launch("plain", 10, 32);
		nvtxRangePop();
	}
	return unused;
}

/* A thread has ranges while this one waits for it in a range of its own; both make a context there. */
static void waits(void)
{
	void *context;
	pthread_t other;

	nvtxRangePushA("epoch");
	cuCtxCreate_v2(&context, 0, 1);
	pthread_create(&other, NULL, short_ranges, NULL);
	pthread_join(other, NULL);
	nvtxRangePop();
	short_ranges(NULL);
}

static sem_t in_range, destroyed;

static void *long_range(void *unused)
{
	nvtxRangePushA("epoch");
	launch("plain", 10, 32);
	sem_post(&in_range);
	sem_wait(&destroyed);
	nvtxRangePop();
	return unused;
}

/* A context is destroyed while another thread is in a range. Returns how often this thread waited for it. */
static long destroy_beside(void *context)
{
	struct rusage before, after;
	pthread_t other;

	pthread_create(&other, NULL, long_range, NULL);
	sem_wait(&in_range);
	getrusage(RUSAGE_THREAD, &before);
	cuCtxDestroy_v2(context);
	getrusage(RUSAGE_THREAD, &after);
	sem_post(&destroyed);
	pthread_join(other, NULL);
	return after.ru_nvcsw - before.ru_nvcsw;
}

/* That of another device, and the range's own. */
static void destroys(void)
{
	void *context;
	long waits;

	sem_init(&in_range, 0, 0);
	sem_init(&destroyed, 0, 0);
	cuCtxCreate_v2(&context, 0, 1);
	waits = destroy_beside(context);
	waits += destroy_beside((void *)0x1000);
	printf("%s ", waits < 10 ? "at once" : "waited");
}

/* The first one begins before CUDA does. */
static void regions(void)
{
	for (int i = 0; i < 4; i++) {
		VT_USER_START("region");
		VT_USER_START("other");
		launch("plain", 10, 32);
		VT_USER_END("other");
		if (i == 2) {
			VT_USER_START("left open");
			step();
		}
		VT_USER_END("region");
	}
}

static void graph(void)
{
	void *made = NULL;

	step();
	cuStreamBeginCapture_v2((void *)13, 0);
	launch("plain", 10, 32);
	cuStreamEndCapture((void *)13, &made);
	cuGraphLaunch(made, (void *)13);
	step();
}

static jmp_buf back;

static void jump(void)
{
	longjmp(back, 1);
}

/* The call of a launch never returns. */
static void jumps(void)
{
	fake_inside = jump;
	if (!setjmp(back))
		launch("_Z6vecaddPKfS0_Pfm", 100, 256);
	step();
}

static unsigned leaves;

/* In front of the core's: counts what is over in the streams, once it is written. */
void gt_location_record(void *location, unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
			uint64_t tick);
void gt_location_record(void *location, unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
			uint64_t tick)
{
	static void (*real)(void *, unsigned, uint64_t, const uint64_t *, unsigned, uint64_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "gt_location_record");
	real(location, type, low, data, extra, tick);
	__atomic_add_fetch(&leaves, type == GT_T_LEAVE, __ATOMIC_SEQ_CST);
}

/* A block that ends by a leave is an activity, or its end. */
void gt_location_block(void *location, const struct gt_slot *slots, unsigned count);
void gt_location_block(void *location, const struct gt_slot *slots, unsigned count)
{
	static void (*real)(void *, const struct gt_slot *, unsigned);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "gt_location_block");
	real(location, slots, count);
	__atomic_add_fetch(&leaves, GT_WORD_TYPE(slots[count - 1].word) == GT_T_LEAVE, __ATOMIC_SEQ_CST);
}

/* As soon as all kernels are recorded, at the latest after 50 s. */
static void be_killed(void)
{
	for (int i = 0; i < 50000 && __atomic_load_n(&leaves, __ATOMIC_SEQ_CST) < launches; i++)
		usleep(1000);
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "regions"))
		cuInit(0);
	if (!strcmp(how, "threads"))
		threads();
	else if (!strcmp(how, "ranges"))
		ranges();
	else if (!strcmp(how, "regions"))
		regions();
	else if (!strcmp(how, "waits"))
		waits();
	else if (!strcmp(how, "destroys"))
		destroys();
	else if (!strcmp(how, "graph"))
		graph();
	else if (!strcmp(how, "jump"))
		jumps();
	else
		for (int i = 0; i < 4; i++)
			step();
	if (!strcmp(how, "fork")) {
		if (!fork()) {
			step();
			_exit(0);
		}
		wait(NULL);
		step();
	}
	if (!strcmp(how, "destroy")) {
		cuCtxDestroy_v2((void *)0x1000);
		step();
	}
	if (!strcmp(how, "destroy in a range")) {
		nvtxRangePushA("step");
		launch("plain", 10, 32);
		cuCtxDestroy_v2((void *)0x1000);
		nvtxRangePop();
	}
	if (!strcmp(how, "kill"))
		be_killed();
	if (!strcmp(how, "fails"))
		cuLaunchKernel("_Z6vecaddPKfS0_Pfm", 0, 1, 1, 256, 1, 1, 0, (void *)13, NULL, NULL);
	cuCtxSynchronize();
	printf("launches %u\n", launches);
	return 7;
}

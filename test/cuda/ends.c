/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that end in an unusual way on the fake device. Argument: how.
 * Limits: the numbers are those that fake.test expects.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "nvtx_like.h"

static void launch(int n, unsigned us)
{
	for (int i = 0; i < n; i++)
		cudaLaunchKernel("_Z4workv", us, 32, (void *)13);
}

static void *for_ever(void *unused)
{
	for (;;) {
		launch(16, 1);
		usleep(10);
	}
	return unused;
}

/* ---- calls that do not come back ------------------------------------------------------------- */

static jmp_buf away;

static void jump(void)
{
	longjmp(away, 1);
}

/* The call goes on. */
static void jump_inside(void)
{
	volatile char handler[8192];
	jmp_buf here;

	memset((char *)handler, 1, sizeof(handler));
	if (!setjmp(here))
		longjmp(here, 1);
}

static void *just_end(void *unused)
{
	return unused;
}

/* Something that another adapter records. */
static void make_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, just_end, NULL);
	pthread_join(thread, NULL);
}

/* Leaves a wait, a launch and a query by longjmp(); each time goes on with a thread and launches. */
static int jumps(void)
{
	volatile int times = 0;

	setjmp(away);
	make_a_thread();
	launch(10, 1);
	fake_inside = jump;
	switch (times++) {
	case 0:
		cudaDeviceSynchronize();
		break;
	case 1:
		launch(1, 1);
		break;
	case 2:
		cudaEventQuery((void *)13);
		break;
	default:
		fake_inside = jump_inside;
		return cudaDeviceSynchronize() + 7;
	}
	return 1;
}

static void end_thread(void)
{
	pthread_exit(NULL);
}

static void *wait_and_end(void *unused)
{
	launch(10, 1);
	fake_inside = end_thread;
	cudaDeviceSynchronize();
	return unused;
}

static void fork_inside(void)
{
	int status = 1;

	if (!fork()) {
		make_a_thread();
		exit(3);
	}
	wait(&status);
	if (WEXITSTATUS(status) != 3)
		_exit(1);
}

/* Captures of streams: one that fails, one whose end is not recorded, one that cannot be ended at first. */
static int captures(void)
{
	void (*guard)(void) = NULL, (*unguard)(void) = NULL;
	void *graph;

	*(void **)&guard = dlsym(RTLD_DEFAULT, "gt_guard");
	*(void **)&unguard = dlsym(RTLD_DEFAULT, "gt_unguard");
	launch(1, 1);
	cuStreamBeginCapture_v2((void *)13, 0);
	launch(1, 1);
	if (cuStreamEndCapture((void *)13, &graph) != 901)
		return 1;
	launch(50, 1);
	cuStreamBeginCapture_v2((void *)14, 0);
	launch(2, 1);
	if (guard)
		guard();
	cuStreamEndCapture((void *)14, &graph);
	if (unguard)
		unguard();
	launch(50, 1);
	cuStreamBeginCapture_v2((void *)15, 0);
	cuStreamEndCapture((void *)15, NULL);
	launch(4, 1);
	cuStreamEndCapture((void *)15, &graph);
	launch(50, 1);
	return cudaDeviceSynchronize() + 7;
}

/* ---- who writes to the streams ------------------------------------------------------------------------ */

static pid_t writers[16];
static volatile int stop;

static void note_writer(void)
{
	pid_t own = (pid_t)syscall(SYS_gettid);

	for (unsigned i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		pid_t none = 0;

		if (writers[i] == own || __atomic_compare_exchange_n(&writers[i], &none, own, 0,
								     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			break;
	}
}

/* In front of the core's: note the threads that come here. */
void gt_location_record(void *location, unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
			uint64_t tick);
void gt_location_record(void *location, unsigned type, uint64_t low, const uint64_t *data, unsigned extra,
			uint64_t tick)
{
	void (*real)(void *, unsigned, uint64_t, const uint64_t *, unsigned, uint64_t);

	note_writer();
	*(void **)&real = dlsym(RTLD_NEXT, "gt_location_record");
	real(location, type, low, data, extra, tick);
}

void gt_location_block(void *location, const void *slots, unsigned count);
void gt_location_block(void *location, const void *slots, unsigned count)
{
	void (*real)(void *, const void *, unsigned);

	note_writer();
	*(void **)&real = dlsym(RTLD_NEXT, "gt_location_block");
	real(location, slots, count);
}

/* Calls that wait for the device, so that something of them is written later. */
static void *busy(void *stream)
{
	char bytes[64];
	uint64_t p;

	while (!stop) {
		cudaLaunchKernel("_Z4workv", 30, 32, stream);
		cudaMemcpy(bytes, (void *)0x7000000000, sizeof(bytes), 2);
		cuMemAlloc_v2(&p, 100);
		cudaLaunchKernel("_Z4workv", 40, 32, stream);
		cuMemFree_v2(p);
	}
	return NULL;
}

/* Becoming another program fails, again and again, while other threads are at work. */
static int failing_execs(void)
{
	char *none[] = { NULL };
	pthread_t threads[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, busy, (void *)(13 + i));
	for (int i = 0; i < 15; i++) {
		usleep(20000);
		execve("/nonexistent", none, none);
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	cudaDeviceSynchronize();
	return writers[0] && !writers[1] ? 7 : 8;
}

/* What a wait of the parent is still to be told is none of the child's affairs. */
static int fork_waiting(void)
{
	char bytes[64];
	uint64_t p;

	launch(1, 3000);
	cudaMemcpy(bytes, (void *)0x7000000000, sizeof(bytes), 2);
	usleep(700000);
	cuMemAlloc_v2(&p, 100);
	launch(1, 20000);
	cuMemFree_v2(p);
	usleep(700000); /* the records have come */
	if (!fork())
		exit(0);
	wait(NULL);
	return 7;
}

/* ---- a program that confines itself ------------------------------------------------------------ */

#define KILL(call)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                             \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* In all threads: no more memory, files, threads; and no sleep with a timeout, which our threads alone do. */
static int confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(mmap), KILL(munmap), KILL(mremap), KILL(brk), KILL(openat), KILL(clone), KILL(clone3),
		KILL(prctl), KILL(gettid), KILL(getpid),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT_PRIVATE, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* 100 kernels before, 40 after, the last of them on a stream that nobody has used yet. */
static int confined(int in_vain)
{
	launch(100, 1);
	cudaDeviceSynchronize();
	if (in_vain ? !prctl(PR_SET_SECCOMP, ~0ul, NULL) : confine())
		return 77;
	launch(30, 1);
	cudaDeviceSynchronize();
	usleep(300000); /* a thread that goes on makes its calls now */
	for (int i = 0; i < 10; i++)
		cudaLaunchKernel("_Z4workv", 1, 32, (void *)99);
	cudaDeviceSynchronize();
	return 7;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	int status = 0;

	if (!strcmp(how, "pending")) { /* 0.3 s of work */
		launch(300, 1000);
		return 7;
	}
	if (!strcmp(how, "endless")) {
		launch(3, 1000);
		launch(1, 60000000);
		return 7;
	}
	if (!strcmp(how, "_exit")) {
		launch(100, 1);
		cudaDeviceSynchronize();
		_exit(7);
	}
	if (!strcmp(how, "kill")) {
		launch(100, 1);
		cudaDeviceSynchronize();
		sleep(2); /* more than one flush */
		launch(100, 1);
		kill(getpid(), SIGKILL);
	}
	if (!strcmp(how, "exec fails, kill")) {
		char *none[] = { NULL };

		launch(100, 1);
		cudaDeviceSynchronize();
		execve("/nonexistent", none, none);
		launch(100, 1);
		cudaDeviceSynchronize();
		kill(getpid(), SIGKILL);
	}
	if (!strcmp(how, "thread")) {
		launch(1, 1);
		pthread_create(&thread, NULL, for_ever, NULL);
		usleep(20000);
		exit(7);
	}
	if (!strcmp(how, "fork")) { /* after CUDA: the child may not use it, but ends as others do */
		launch(100, 1);
		if (!fork())
			exit(3);
		wait(&status);
		launch(100, 1);
		cudaDeviceSynchronize();
		return WEXITSTATUS(status) + 4;
	}
	if (!strcmp(how, "early fork")) { /* before CUDA: both use it, at the same time */
		int parent[2];
		char started;

		if (pipe(parent))
			return 1;
		if (!fork()) {
			close(parent[1]);
			launch(100, 1);
			cudaDeviceSynchronize();
			exit(read(parent[0], &started, 1) == 1 ? 3 : 1);
		}
		launch(100, 1);
		cudaDeviceSynchronize();
		if (write(parent[1], "", 1) != 1)
			return 1;
		wait(&status);
		return WEXITSTATUS(status) + 4;
	}
	if (!strcmp(how, "off")) {
		void (*off)(void) = NULL, (*on)(void) = NULL;

		*(void **)&off = dlsym(RTLD_DEFAULT, "vt_user_off");
		*(void **)&on = dlsym(RTLD_DEFAULT, "vt_user_on");
		launch(10, 1);
		if (off)
			off();
		launch(20, 1);
		if (on)
			on();
		launch(10, 1);
		cudaDeviceSynchronize();
		return 7;
	}
	if (!strcmp(how, "names")) {
		void *stream[2];

		for (int i = 0; i < 2; i++) {
			cuStreamCreate(&stream[i], 0);
			cudaLaunchKernel("_Z4workv", 100, 32, stream[i]);
		}
		nvtxNameCudaStreamA(stream[1], "copies");
		nvtxNameCudaStreamW(stream[1], NULL); /* no name: the one that it has stays */
		cudaDeviceSynchronize();
		return 7;
	}
	if (!strcmp(how, "streams")) { /* two at a time, 20 in all */
		void *stream[20];

		for (int i = 0; i < 20; i++) {
			cuStreamCreate(&stream[i], 0);
			cudaLaunchKernel("_Z4workv", 100, 32, stream[i]);
			if (i % 2 == 0)
				continue;
			cuStreamSynchronize(stream[i - 1]);
			cuStreamSynchronize(stream[i]);
			cuStreamDestroy_v2(stream[i - 1]);
			cuStreamDestroy_v2(stream[i]);
		}
		cudaDeviceSynchronize();
		return 7;
	}
	if (!strcmp(how, "fatal inside")) { /* the wait is the 49th call, and what is inside of it the 50th */
		launch(24, 1);
		cudaDeviceSynchronize();
		make_a_thread();
		return 7;
	}
	if (!strcmp(how, "long")) { /* a launch each millisecond, for more flushes than are remembered */
		for (int i = 0; i < 6000; i++) {
			launch(1, 1);
			usleep(900);
		}
		cudaDeviceSynchronize();
		return 7;
	}
	if (!strcmp(how, "queries")) { /* a swarm, one that fails, a swarm */
		launch(1, 1);
		for (int i = 0; i < 101; i++)
			cudaEventQuery(i == 50 ? (void *)0xbad : (void *)13);
		return 7;
	}
	if (!strncmp(how, "confined", 8))
		return confined(how[8]);
	if (!strcmp(how, "failing execs"))
		return failing_execs();
	if (!strcmp(how, "fork waiting"))
		return fork_waiting();
	if (!strcmp(how, "copies")) { /* many, and the window is full again and again */
		char bytes[64];

		for (int i = 0; i < 3000; i++) {
			cuMemcpyHtoDAsync_v2(0x7000000000, bytes, sizeof(bytes), (void *)13);
			if (i % 5 == 0)
				cudaMemcpy(bytes, (void *)0x7000000000, sizeof(bytes), 2);
		}
		return cudaDeviceSynchronize() + 7;
	}
	if (!strcmp(how, "captures"))
		return captures();
	if (!strcmp(how, "jumps"))
		return jumps();
	if (!strcmp(how, "thread ends inside")) {
		pthread_create(&thread, NULL, wait_and_end, NULL);
		pthread_join(thread, NULL);
		launch(10, 1);
		cudaDeviceSynchronize();
		return 7;
	}
	if (!strcmp(how, "fork inside")) {
		launch(10, 1);
		fake_inside = fork_inside;
		cudaDeviceSynchronize();
		launch(10, 1);
		cudaDeviceSynchronize();
		return 7;
	}
	if (!strcmp(how, "exec")) {
		launch(100, 1);
		cudaDeviceSynchronize();
		execl(argv[0], argv[0], "_exit", (char *)NULL);
	}
	return 1;
}

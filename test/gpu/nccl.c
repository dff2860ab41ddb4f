/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one NCCL communicator, in processes or in threads of one process, on the GPUs that there are:
 * every collective a few times, alone and in groups, and messages around a ring. Each result is looked at;
 * what each rank has called is printed, "RANK FUNCTION CALLS BYTES", and its device, "RANK device NUMBER 0".
 *
 *	nccl LIBRARY RANKS TIMES [threads | graph | cost | hosts | ""] [NUMBERS]
 *
 * NUMBERS (4,096) is how many floats there are in a buffer: a multiple of 16.
 *
 * "cost" has its ranks in threads of one process: processes take turns on a GPU, a few milliseconds each,
 * and a collective of two of them waits for several of these.
 *
 * Limits: NCCL is declared here and loaded, so that any version can be tried. Several ranks on one GPU need
 * NCCL 2.30 and NCCL_MULTI_RANK_GPU_ENABLE=1; or, "hosts", each rank says that it is on a host of its own,
 * and all goes over sockets. Exit status 77: NCCL refuses.
 */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, INT8 = 0, FLOAT32 = 7, SUM = 0, BURST = 20 };

struct id {
	char bytes[128];
};

typedef void *comm_t;
static int (*GetVersion)(int *);
static int (*GetUniqueId)(struct id *);
static int (*CommInitRank)(comm_t *, int, struct id, int);
static int (*CommDestroy)(comm_t);
static int (*GroupStart)(void), (*GroupEnd)(void);
static int (*AllReduce)(const void *, void *, size_t, int, int, comm_t, cudaStream_t);
static int (*Broadcast)(const void *, void *, size_t, int, int, comm_t, cudaStream_t);
static int (*Reduce)(const void *, void *, size_t, int, int, int, comm_t, cudaStream_t);
static int (*AllGather)(const void *, void *, size_t, int, comm_t, cudaStream_t);
static int (*ReduceScatter)(const void *, void *, size_t, int, int, comm_t, cudaStream_t);
static int (*Send)(const void *, size_t, int, int, comm_t, cudaStream_t);
static int (*Recv)(void *, size_t, int, int, comm_t, cudaStream_t);

static struct shared {
	struct id id;
	volatile int ready, refused;
} *shared;
static int ranks, times, N = 1 << 12;
static const char *what;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(77);
	}
#define FIND(name) *(void **)&name = dlsym(lib, "nccl" #name)
	FIND(GetVersion); FIND(GetUniqueId); FIND(CommInitRank); FIND(CommDestroy); FIND(GroupStart);
	FIND(GroupEnd); FIND(AllReduce); FIND(Broadcast); FIND(Reduce); FIND(AllGather);
	FIND(ReduceScatter); FIND(Send); FIND(Recv);
}

static void must(int rc, const char *call)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %d\n", call, rc);
	_exit(1);
}
#define MUST(call) must(call, #call)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct rank {
	int rank, wrong;
	comm_t comm;
	cudaStream_t stream;
	float *in, *out, *big;
	float *host;
};

/* All of `n` numbers at `at` are `value`. */
static void look(struct rank *r, const float *at, int n, float value)
{
	MUST(cudaStreamSynchronize(r->stream));
	MUST(cudaMemcpy(r->host, at, (size_t)n * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		r->wrong += r->host[i] != value;
}

static void one_turn(struct rank *r)
{
	int next = (r->rank + 1) % ranks, last = (r->rank + ranks - 1) % ranks, n = N / MOST;
	float sum = (float)ranks * (float)(ranks + 1) / 2;

	MUST(AllReduce(r->in, r->out, (size_t)N, FLOAT32, SUM, r->comm, r->stream));
	look(r, r->out, N, sum);
	MUST(GroupStart());
	MUST(AllGather(r->in, r->big, (size_t)n, FLOAT32, r->comm, r->stream));
	MUST(ReduceScatter(r->in, r->out, (size_t)n, FLOAT32, SUM, r->comm, r->stream));
	MUST(GroupEnd());
	look(r, r->out, n, sum);
	look(r, r->big + (ranks - 1) * n, n, (float)ranks);
	MUST(Broadcast(r->in, r->out, (size_t)N, FLOAT32, ranks - 1, r->comm, r->stream));
	look(r, r->out, N, (float)ranks);
	MUST(Reduce(r->in, r->out, (size_t)N, FLOAT32, SUM, 0, r->comm, r->stream));
	if (r->rank == 0)
		look(r, r->out, N, sum);
	MUST(GroupStart());
	MUST(Send(r->in, (size_t)N, FLOAT32, next, r->comm, r->stream));
	MUST(Recv(r->out, (size_t)N, FLOAT32, last, r->comm, r->stream));
	MUST(GroupEnd());
	look(r, r->out, N, (float)last + 1);
}

static void report(struct rank *r, double seconds)
{
	int n = N / MOST * 4, device = -1;

	MUST(cudaGetDevice(&device));

	pthread_mutex_lock(&output);
	printf("%d AllReduce %d %d\n%d AllGather %d %d\n%d ReduceScatter %d %d\n%d Broadcast %d %d\n"
	       "%d Reduce %d %d\n%d Send %d %d\n%d Recv %d %d\n%d wrong %d 0\n%d us %.0f 0\n"
	       "%d device %d 0\n",
	       r->rank, times, N * 4, r->rank, times, n, r->rank, times, n, r->rank, times, N * 4,
	       r->rank, times, N * 4, r->rank, times, N * 4, r->rank, times, N * 4, r->rank, r->wrong,
	       r->rank, seconds * 1e6, r->rank, device);
	fflush(stdout);
	pthread_mutex_unlock(&output);
}

/* A step that is captured once and launched often. */
static void graph(struct rank *r)
{
	cudaGraph_t g;
	cudaGraphExec_t e;

	MUST(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	MUST(AllReduce(r->in, r->out, (size_t)N, FLOAT32, SUM, r->comm, r->stream));
	MUST(cudaStreamEndCapture(r->stream, &g));
	MUST(cudaGraphInstantiate(&e, g, 0));
	for (int i = 0; i < times; i++)
		MUST(cudaGraphLaunch(e, r->stream));
	look(r, r->out, N, (float)ranks * (float)(ranks + 1) / 2);
	MUST(cudaGraphExecDestroy(e));
	MUST(cudaGraphDestroy(g));
}

static int by_value(const void *va, const void *vb)
{
	const double *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* How long a call takes until it is enqueued, and until all is done: medians of `times` bursts of 20. */
static void cost(struct rank *r)
{
	double *call = calloc((size_t)times, sizeof(*call)), *all = calloc((size_t)times, sizeof(*all));
	double begin;

	for (int i = -5; i < times; i++) {
		begin = now();
		for (int k = 0; k < BURST; k++)
			MUST(AllReduce(r->in, r->out, (size_t)N, FLOAT32, SUM, r->comm, r->stream));
		call[i < 0 ? 0 : i] = (now() - begin) * 1e6 / BURST;
		MUST(cudaStreamSynchronize(r->stream));
		all[i < 0 ? 0 : i] = (now() - begin) * 1e6 / BURST;
	}
	qsort(call, (size_t)times, sizeof(*call), by_value);
	qsort(all, (size_t)times, sizeof(*all), by_value);
	pthread_mutex_lock(&output);
	printf("%d cost %.3f 0\n%d done %.3f 0\n", r->rank, call[times / 2], r->rank, all[times / 2]);
	fflush(stdout);
	pthread_mutex_unlock(&output);
	free(call);
	free(all);
}

static void *run(void *number)
{
	struct rank *r = calloc(1, sizeof(*r));
	int devices = 1;
	double begin;

	r->rank = (int)(long)number;
	r->host = calloc((size_t)N, sizeof(float));
	MUST(cudaGetDeviceCount(&devices));
	MUST(cudaSetDevice(r->rank % devices));
	while (!shared->ready)
		usleep(1000);
	if (CommInitRank(&r->comm, ranks, shared->id, r->rank)) {
		shared->refused = 1;
		return NULL;
	}
	MUST(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	MUST(cudaMalloc((void **)&r->in, (size_t)N * sizeof(float)));
	MUST(cudaMalloc((void **)&r->out, (size_t)N * sizeof(float)));
	MUST(cudaMalloc((void **)&r->big, (size_t)N * sizeof(float)));
	for (int i = 0; i < N; i++)
		r->host[i] = (float)r->rank + 1;
	MUST(cudaMemcpy(r->in, r->host, (size_t)N * sizeof(float), cudaMemcpyHostToDevice));
	begin = now();
	if (!strcmp(what, "graph")) {
		graph(r);
		printf("%d wrong %d 0\n", r->rank, r->wrong);
	} else if (!strcmp(what, "cost")) {
		cost(r);
	} else {
		for (int i = 0; i < times; i++)
			one_turn(r);
		report(r, now() - begin);
	}
	MUST(CommDestroy(r->comm));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST];
	int version = 0, status, bad = 0;
	const char *library = argc > 1 ? argv[1] : "libnccl.so.2";
	char host[16];
	int threads;

	ranks = argc > 2 ? atoi(argv[2]) : 2;
	times = argc > 3 ? atoi(argv[3]) : 20;
	what = argc > 4 ? argv[4] : "";
	N = argc > 5 ? atoi(argv[5]) : N;
	threads = !strcmp(what, "threads") || !strcmp(what, "cost");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (threads) {
		load(library);
		MUST(GetUniqueId(&shared->id));
		shared->ready = 1;
		for (long i = 0; i < ranks; i++)
			pthread_create(&thread[i], NULL, run, (void *)i);
		for (int i = 0; i < ranks; i++)
			pthread_join(thread[i], NULL);
		return shared->refused ? 77 : 0;
	}
	for (long i = 0; i < ranks; i++) {
		if (fork())
			continue;
		if (!strcmp(what, "hosts")) {
			snprintf(host, sizeof(host), "host%ld", i);
			setenv("NCCL_HOSTID", host, 1);
		}
		load(library);
		if (i == 0) {
			MUST(GetUniqueId(&shared->id));
			MUST(GetVersion(&version));
			printf("# NCCL %d\n", version);
			fflush(stdout);
			shared->ready = 1;
		}
		run((void *)i);
		exit(shared->refused ? 77 : 0);
	}
	while (wait(&status) > 0)
		bad = WIFEXITED(status) && !WEXITSTATUS(status) ? bad
		      : WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 1;
	return bad;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays NCCL towards its profiler plug-in: loads what NCCL_PROFILER_PLUGIN names, as NCCL does, and makes the
 * calls of a few collectives and messages in the order in which NCCL makes them, in a process for each rank.
 * What it has done itself it counts, and appends to the file that COUNTS names.
 *
 *	fake VERSION RANKS WHAT [TURNS]
 *
 * Limits: WHAT is one of the names in main(). No collective is really made. NCCL_PROFILER_PLUGIN=empty, with
 * version 5 or 6: a plug-in that does nothing, for measurements.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl/plugin.h"

enum { CHANNELS = 2, MOST = 16 };

static int version, ranks, mask;
static int turns = 200000; /* of loop */
static bool captured; /* all is put into a graph */
static void *library;
static FILE *counts;

/* A communicator as one of its ranks sees it. */
struct comm {
	void *context;
	const char *name;
	uint64_t hash, sequence;
	int rank, ranks;
};

static union {
	void *any;
	struct gt_nccl_v2 *v2;
	struct gt_nccl_v3 *v3;
	struct gt_nccl_v4 *v4;
	struct gt_nccl_v6 *v6;
} table;

/* A plug-in that does nothing: what NCCL's part of it costs. */
static gt_nccl_result empty_init(void **context, uint64_t hash, int *answer, const char *name, int nodes,
				 int n, int rank, gt_nccl_logger *log)
{
	(void)hash, (void)name, (void)nodes, (void)n, (void)rank, (void)log;
	*context = (void *)&ranks;
	*answer = GT_NCCL_COLL | GT_NCCL_P2P | GT_NCCL_GROUP_API | GT_NCCL_COLL_API | GT_NCCL_P2P_API |
		  GT_NCCL_KERNEL_LAUNCH;
	return 0;
}

static gt_nccl_result empty_start(void *context, void **handle, struct gt_nccl_v6_event *event)
{
	(void)event;
	*handle = context;
	return 0;
}

static gt_nccl_result empty_stop(void *handle)
{
	(void)handle;
	return 0;
}

static gt_nccl_result empty_state(void *handle, int what, union gt_nccl_state_args *args)
{
	(void)handle, (void)what, (void)args;
	return 0;
}

static struct gt_nccl_v6 empty = { "empty", empty_init, empty_start, empty_stop, empty_state, empty_stop };

static void load(void)
{
	char name[32];
	const char *path = getenv("NCCL_PROFILER_PLUGIN");

	if (path && !strcmp(path, "empty")) {
		table.v6 = &empty;
		return;
	}
	library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	snprintf(name, sizeof(name), "ncclProfiler_v%d", version);
	table.any = library ? dlsym(library, name) : NULL;
	if (!table.any)
		mask = 0;
}

static void open_comm(struct comm *c)
{
	if (!table.any)
		return;
	if (version < 4)
		table.v2->init(&c->context, &mask);
	else if (version == 4)
		table.v4->init(&c->context, &mask, c->name, c->hash, 1, c->ranks, c->rank, NULL);
	else
		table.v6->init(&c->context, c->hash, &mask, c->name, 1, c->ranks, c->rank, NULL);
}

static void close_comm(const struct comm *c)
{
	if (table.any && c->context)
		table.v2->finalize(c->context);
}

/* What an event is described by, in any version. */
struct event {
	uint64_t type;
	void *parent;
	const char *function, *datatype, *algorithm, *protocol;
	size_t count;
	int root, channel, depth, pid, steps, step, send;
	uint64_t timer;
};

#define SAY_PROXY(out, e)                                                                            \
	do {                                                                                         \
		if ((e)->type == GT_NCCL_PROXY_OP) {                                                 \
			(out).proxy_op.pid = (e)->pid;                                               \
			(out).proxy_op.channel = (uint8_t)(e)->channel;                              \
			(out).proxy_op.peer = (e)->root;                                             \
			(out).proxy_op.steps = (e)->steps;                                           \
			(out).proxy_op.is_send = (e)->send;                                          \
		} else if ((e)->type == GT_NCCL_PROXY_STEP) {                                        \
			(out).proxy_step.step = (e)->step;                                           \
		}                                                                                    \
	} while (0)

#define SAY_TASK(out, c, e)                                                                          \
	do {                                                                                         \
		if ((e)->type == GT_NCCL_COLL) {                                                     \
			(out).coll.sequence = (c)->sequence;                                         \
			(out).coll.function = (e)->function;                                         \
			(out).coll.count = (e)->count;                                               \
			(out).coll.root = (e)->root;                                                 \
			(out).coll.datatype = (e)->datatype;                                         \
			(out).coll.channels = CHANNELS;                                              \
			(out).coll.warps = 16;                                                       \
			(out).coll.algorithm = (e)->algorithm;                                       \
			(out).coll.protocol = (e)->protocol;                                         \
		} else if ((e)->type == GT_NCCL_P2P) {                                               \
			(out).p2p.function = (e)->function;                                          \
			(out).p2p.datatype = (e)->datatype;                                          \
			(out).p2p.count = (e)->count;                                                \
			(out).p2p.peer = (e)->root;                                                  \
		}                                                                                    \
	} while (0)

#define SAY_COMM(out, c, e)                                                                          \
	do {                                                                                         \
		if ((e)->type == GT_NCCL_COLL) {                                                     \
			(out).coll.name = (c)->name;                                                 \
			(out).coll.hash = (c)->hash;                                                 \
		} else if ((e)->type == GT_NCCL_P2P) {                                               \
			(out).p2p.name = (c)->name;                                                  \
			(out).p2p.hash = (c)->hash;                                                  \
		}                                                                                    \
	} while (0)

#define BEGIN(out, c, e) (out).type = (e)->type, (out).parent = (e)->parent, (out).rank = (c)->rank

static void start2(const struct comm *c, const struct event *e, void **handle)
{
	struct gt_nccl_v2_event out = { 0 };

	BEGIN(out, c, e);
	SAY_TASK(out, c, e);
	SAY_COMM(out, c, e);
	SAY_PROXY(out, e);
	table.v2->start(c->context, handle, &out);
}

static void start3(const struct comm *c, const struct event *e, void **handle)
{
	struct gt_nccl_v3_event out = { 0 };

	BEGIN(out, c, e);
	SAY_TASK(out, c, e);
	SAY_COMM(out, c, e);
	SAY_PROXY(out, e);
	if (e->type == GT_NCCL_KERNEL_CH)
		out.kernel_ch.channel = (uint8_t)e->channel;
	table.v3->start(c->context, handle, &out);
}

#define SAY_CHANNEL(out, e)                                                                          \
	do {                                                                                         \
		if ((e)->type == GT_NCCL_P2P)                                                        \
			(out).p2p.channels = CHANNELS;                                               \
		if ((e)->type == GT_NCCL_KERNEL_CH) {                                                \
			(out).kernel_ch.channel = (uint8_t)(e)->channel;                             \
			(out).kernel_ch.timer = (e)->timer;                                          \
		}                                                                                    \
	} while (0)

static void start4(const struct comm *c, const struct event *e, void **handle)
{
	struct gt_nccl_v4_event out = { 0 };

	BEGIN(out, c, e);
	SAY_TASK(out, c, e);
	SAY_PROXY(out, e);
	SAY_CHANNEL(out, e);
	table.v4->start(c->context, handle, &out);
}

static void start6(const struct comm *c, const struct event *e, void **handle)
{
	struct gt_nccl_v6_event out = { 0 };

	BEGIN(out, c, e);
	SAY_TASK(out, c, e);
	SAY_PROXY(out, e);
	SAY_CHANNEL(out, e);
	if (e->type == GT_NCCL_GROUP_API) {
		out.group_api.depth = e->depth;
		out.group_api.captured = captured;
	} else if (e->type == GT_NCCL_COLL_API) {
		out.coll_api.function = e->function;
		out.coll_api.count = e->count;
		out.coll_api.datatype = e->datatype;
		out.coll_api.root = e->root;
		out.coll_api.captured = captured;
	} else if (e->type == GT_NCCL_P2P_API) {
		out.p2p_api.function = e->function;
		out.p2p_api.count = e->count;
		out.p2p_api.datatype = e->datatype;
		out.p2p_api.captured = captured;
	} else if (e->type == GT_NCCL_CE_COLL) {
		out.ce_coll.function = e->function;
		out.ce_coll.count = e->count;
		out.ce_coll.datatype = e->datatype;
		out.ce_coll.strategy = "UC";
	}
	table.v6->start(c->context, handle, &out);
}

/* NCCL asks for what is in the mask only. */
static void *start(const struct comm *c, const struct event *e)
{
	void *handle = NULL;

	if (!table.any || !((uint64_t)mask & e->type))
		return NULL;
	if (e->type > 128 && version < 5)
		return NULL;
	if (version == 2)
		start2(c, e, &handle);
	else if (version == 3)
		start3(c, e, &handle);
	else if (version == 4)
		start4(c, e, &handle);
	else
		start6(c, e, &handle);
	return handle;
}

static void stop(void *handle)
{
	if (table.any && handle)
		table.v2->stop(handle);
}

static void state(void *handle, int what, uint64_t value)
{
	union gt_nccl_state_args args = { .step = { value } };

	if (table.any && handle)
		table.v2->state(handle, what, &args);
}

/* ---- operations --------------------------------------------------------------------------------------- */

struct task {
	const char *function, *datatype;
	size_t count, size;
	int root;
	void *api, *handle;
};

static bool is_message(const struct task *t)
{
	return !strcmp(t->function, "Send") || !strcmp(t->function, "Recv");
}

static void count(const struct comm *c, const struct task *t)
{
	if (counts && !captured)
		fprintf(counts, "%s %d %d %s %zu %d\n", c->name, c->ranks, c->rank, t->function,
			t->count * t->size, t->root);
}

static void call(const struct comm *c, struct task *t, void *group)
{
	t->api = start(c, &(struct event){ .type = is_message(t) ? GT_NCCL_P2P_API : GT_NCCL_COLL_API,
					   .parent = group, .function = t->function, .datatype = t->datatype,
					   .count = t->count, .root = t->root });
	stop(t->api);
}

struct work {
	const struct comm *comm;
	struct task *tasks;
	int count;
};

/* A transfer of a proxy, step by step. */
static void proxy(const struct comm *c, void *parent, int channel, int pid)
{
	void *op = start(c, &(struct event){ .type = GT_NCCL_PROXY_OP, .parent = parent, .channel = channel,
					     .pid = pid, .steps = 3, .root = 1, .send = channel & 1 });
	void *steps[3];

	state(op, 19, 0);
	for (int i = 0; i < 3; i++) {
		steps[i] = start(c, &(struct event){ .type = GT_NCCL_PROXY_STEP, .parent = op, .step = i });
		state(steps[i], GT_NCCL_STEP_SEND_GPU_WAIT, 0);
		state(steps[i], GT_NCCL_STEP_SEND_PEER_WAIT, 4096);
		state(steps[i], GT_NCCL_STEP_SEND_WAIT, 4096);
	}
	for (int i = 0; i < 3; i++)
		stop(steps[i]);
	stop(op);
}

/* What the proxy thread sees of the kernels. */
static void *progress(void *context)
{
	const struct work *w = context;
	void *handle = start(w->comm, &(struct event){ .type = GT_NCCL_PROXY_CTRL });

	state(handle, GT_NCCL_CTRL_APPEND, 1);
	state(handle, GT_NCCL_CTRL_APPEND_END, 1);
	stop(handle);
	for (int i = 0; i < w->count; i++) {
		void *channels[CHANNELS];

		for (int k = 0; k < CHANNELS; k++)
			channels[k] = start(w->comm, &(struct event){
				.type = GT_NCCL_KERNEL_CH, .channel = k, .timer = 1000,
				.parent = w->tasks[i].handle });
		usleep(200);
		for (int k = 0; k < CHANNELS; k++) {
			proxy(w->comm, w->tasks[i].handle, k, (int)getpid());
			state(channels[k], GT_NCCL_KERNEL_CH_STOP, 201000);
			stop(channels[k]);
		}
	}
	return NULL;
}

/* As NCCL does: the calls, the launch, then all tasks are begun and all are ended. */
static void run(struct comm *c, struct task *tasks, int n, int depth)
{
	struct work work = { c, tasks, n };
	pthread_t thread;
	void *group = start(c, &(struct event){ .type = GT_NCCL_GROUP_API, .depth = depth }), *launch, *old;

	state(group, 23, 0);
	for (int i = 0; i < n; i++)
		call(c, &tasks[i], group);
	state(group, GT_NCCL_GROUP_END_BEGINS, 0);
	launch = start(c, &(struct event){ .type = GT_NCCL_KERNEL_LAUNCH, .parent = group });
	stop(launch);
	old = start(c, &(struct event){ .type = GT_NCCL_GROUP });
	for (int i = 0; i < n; i++) {
		c->sequence++;
		count(c, &tasks[i]);
		tasks[i].handle = NULL;
		if (version == 6 && !strcmp(tasks[i].function, "Broadcast"))
			continue; /* as NCCL 2.30 */
		tasks[i].handle = start(c, &(struct event){
			.type = is_message(&tasks[i]) ? GT_NCCL_P2P : GT_NCCL_COLL, .parent = tasks[i].api,
			.function = tasks[i].function, .datatype = tasks[i].datatype, .count = tasks[i].count,
			.root = tasks[i].root, .algorithm = "RING", .protocol = n > 1 ? "LL" : "SIMPLE" });
	}
	for (int i = 0; i < n; i++)
		stop(tasks[i].handle);
	stop(old);
	stop(group);
	if (mask & (GT_NCCL_KERNEL_CH | GT_NCCL_PROXY_OP)) {
		pthread_create(&thread, NULL, progress, &work);
		pthread_join(thread, NULL);
	}
}

/* A little of everything, on one communicator. */
static void all(struct comm *c)
{
	int next = (c->rank + 1) % c->ranks, last = (c->rank + c->ranks - 1) % c->ranks;
	struct task one[] = { { "AllReduce", "ncclFloat32", 1000, 4, 0, 0, 0 } };
	struct task three[] = { { "AllGather", "ncclInt8", 256, 1, 0, 0, 0 },
				{ "ReduceScatter", "ncclBfloat16", 64, 2, 0, 0, 0 },
				{ "Broadcast", "ncclInt8", 512, 1, c->ranks - 1, 0, 0 } };
	struct task rooted[] = { { "Reduce", "ncclFloat64", 10, 8, 1 % c->ranks, 0, 0 } };
	struct task ring[] = { { "Send", "ncclInt8", 4096, 1, next, 0, 0 },
			       { "Recv", "ncclInt8", 4096, 1, last, 0, 0 } };

	for (int i = 0; i < 10; i++) {
		run(c, one, 1, 1);
		run(c, three, 3, 2);
		run(c, rooted, 1, 1);
		/* One receives long before the other sends. */
		if (c->rank == 0)
			usleep(2000);
		run(c, ring, 2, 2);
	}
}

/* All, on a communicator of all and on one of each half. */
static void rank_of(int rank, bool halves)
{
	struct comm world = { .name = "world", .hash = 0x1234567890abcdef, .rank = rank, .ranks = ranks };
	struct comm half = { .name = rank % 2 ? "odd" : "even", .hash = 0xfeed + (uint64_t)(rank % 2),
			     .rank = rank / 2, .ranks = (ranks + 1 - rank % 2) / 2 };

	open_comm(&world);
	all(&world);
	if (halves) {
		open_comm(&half);
		all(&half);
		close_comm(&half);
	}
	close_comm(&world);
}

/* ---- what NCCL may do, and what it should not ---------------------------------------------------- */

static void odd(int rank)
{
	struct comm c = { .name = NULL, .hash = 0xabc, .rank = rank, .ranks = ranks };
	const struct comm other = { .context = (void *)(uintptr_t)0x10001 };
	const struct comm none = { .context = (void *)(uintptr_t)0xdeadbeef0 };
	struct gt_nccl_v6_event later = { .type = version < 5 ? 255 : 1 << 20 };
	struct comm unnamed = { .name = "later", .hash = 0xdef, .rank = rank, .ranks = ranks };
	struct task task = { "AllReduce", "ncclFloat32", 8, 4, 0, 0, 0 };
	void *open, *api, *again = NULL;

	open_comm(&c);
	c.name = "communicator abc"; /* what it is called without a name */
	run(&c, &task, 1, 1);
	if (!table.any)
		return;
	/* An event that a later version may have, one without names, one of nobody. */
	table.v2->start(c.context, &again, (void *)&later);
	if (again)
		puts("an unknown event has a handle");
	open = start(&c, &(struct event){ .type = GT_NCCL_COLL });
	stop(open);
	stop(open); /* twice */
	state(open, GT_NCCL_KERNEL_CH_STOP, 1);
	state((void *)(uintptr_t)0x7fff12345678, 12345, 1);
	stop((void *)(uintptr_t)UINT64_MAX);
	table.v2->stop(NULL);
	table.v2->state(NULL, 9, NULL);
	table.v2->finalize(NULL);
	/* A proxy that works for a rank in another process: its numbers mean nothing here. */
	proxy(&other, other.context, 0, 1);
	proxy(&none, none.context, 63, 1);
	proxy(&c, NULL, 255, (int)getpid());
	/* It ends while something is open, whose end comes later. */
	api = start(&c, &(struct event){ .type = GT_NCCL_GROUP_API, .depth = 2 });
	open = start(&c, &(struct event){ .type = GT_NCCL_COLL, .function = "AllReduce", .count = 4,
					  .datatype = "ncclInt8", .algorithm = "TREE" });
	count(&c, &(struct task){ "AllReduce", NULL, 4, 1, 0, 0, 0 });
	close_comm(&c);
	close_comm(&c);
	stop(open);
	stop(api);
	/* NCCL unloads it with its last communicator, and loads it for the next one. */
	dlclose(library);
	load();
	open_comm(&unnamed);
	run(&unnamed, &task, 1, 1);
	/* The process ends with it. */
}

static void *thread_of(void *rank)
{
	rank_of((int)(intptr_t)rank, false);
	return NULL;
}

/* One process has all ranks, each in a thread. */
static void threads(void)
{
	pthread_t thread[MOST];

	for (int i = 0; i < ranks; i++)
		pthread_create(&thread[i], NULL, thread_of, (void *)(intptr_t)i);
	for (int i = 0; i < ranks; i++)
		pthread_join(thread[i], NULL);
}

/* NCCL cannot be used in a forked child; what may be called there on the way out must do nothing. */
static void forks(int rank)
{
	struct comm c = { .name = "forked", .hash = 0xf0, .rank = rank, .ranks = ranks };
	struct task task = { "AllReduce", "ncclFloat32", 8, 4, 0, 0, 0 };
	void *open;
	pid_t child;

	open_comm(&c);
	run(&c, &task, 1, 1);
	open = start(&c, &(struct event){ .type = GT_NCCL_COLL, .function = "AllReduce",
					  .datatype = "ncclInt8" });
	child = fork();
	stop(open);
	if (child == 0) {
		close_comm(&c);
		_exit(0);
	}
	count(&c, &(struct task){ "AllReduce", NULL, 0, 1, 0, 0, 0 });
	waitpid(child, NULL, 0);
	run(&c, &task, 1, 1);
	close_comm(&c);
}

static void killed(int rank)
{
	struct comm c = { .name = "world", .hash = 0x77, .rank = rank, .ranks = ranks };
	struct task task = { "AllReduce", "ncclFloat32", 8, 4, 0, 0, 0 };

	open_comm(&c);
	for (int i = 0; i < 100; i++)
		run(&c, &task, 1, 1);
	fflush(counts);
	start(&c, &(struct event){ .type = GT_NCCL_COLL, .function = "AllReduce", .datatype = "ncclInt8" });
	if (rank == 0)
		raise(SIGKILL);
	count(&c, &(struct task){ "AllReduce", NULL, 0, 1, 0, 0, 0 });
	close_comm(&c);
}

/* All of it into a graph, which is launched once: NCCL says that from a thread of CUDA's. */
static void *launched(void *context)
{
	struct comm *c = context;
	struct task task = { "AllReduce", "ncclFloat32", 8, 4, 0, 0, 0 };
	void *handle = start(c, &(struct event){ .type = GT_NCCL_COLL, .parent = (void *)(uintptr_t)0x10001,
						 .function = "AllReduce", .datatype = "ncclFloat32",
						 .count = 8 });

	stop(handle);
	count(c, &task);
	return NULL;
}

static void graph(int rank)
{
	struct comm c = { .name = "world", .hash = 0x55, .rank = rank, .ranks = ranks };
	pthread_t thread;

	open_comm(&c);
	captured = true;
	all(&c);
	captured = false;
	pthread_create(&thread, NULL, launched, &c);
	pthread_join(thread, NULL);
	close_comm(&c);
}

/* A long loop of one call, for measurements: how long each took. */
static void loop(int rank)
{
	struct comm c = { .name = "world", .hash = 0x99, .rank = rank, .ranks = ranks };
	struct task task = { "AllReduce", "ncclFloat32", 8, 4, 0, 0, 0 };
	struct timespec a, b;
	int n = turns;

	open_comm(&c);
	counts = NULL;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < n; i++)
		run(&c, &task, 1, 1);
	clock_gettime(CLOCK_MONOTONIC, &b);
	close_comm(&c);
	printf("ns_per_call=%.1f\n",
	       ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / n);
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[3] : "all", *file = getenv("COUNTS");
	int bad = 0, status;

	version = argc > 1 ? atoi(argv[1]) : 5;
	ranks = argc > 2 ? atoi(argv[2]) : 2;
	turns = argc > 4 ? atoi(argv[4]) : turns;
	counts = file ? fopen(file, "a") : NULL;
	if (counts)
		setvbuf(counts, NULL, _IOLBF, 0);
	if (!strcmp(what, "threads")) {
		load();
		threads();
		return puts(mask ? "recorded" : "alone") < 0;
	}
	for (int i = 0; i < ranks; i++) {
		if (fork())
			continue;
		load();
		if (!strcmp(what, "odd"))
			odd(i);
		else if (!strcmp(what, "fork"))
			forks(i);
		else if (!strcmp(what, "killed"))
			killed(i);
		else if (!strcmp(what, "graph"))
			graph(i);
		else if (!strcmp(what, "loop"))
			loop(i);
		else
			rank_of(i, true);
		exit(0);
	}
	while (wait(&status) > 0)
		bad += status != 0;
	printf("%d\n", bad);
	return 0;
}

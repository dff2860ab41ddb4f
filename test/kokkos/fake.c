/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that calls a tool as Kokkos does, and writes into the file COUNTS what it has called how often:
 *
 *	fake all         every callback, from two threads
 *	fake fork        the same in a forked child, too
 *	fake early       calls before Kokkos' initialization, if it is linked with a tool
 *	fake hostile     what Kokkos should not do: nothing of it is counted
 *	fake names N     N different names
 *	fake pairs N     N kernels of one name: what a begin and an end cost
 *
 * Limits: needs kokkoscore.c.
 */
#include "kokkoscore.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SERIAL = 0, OPENMP = 1 << 24, CUDA = 2 << 24 };

static FILE *counts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(const char *group, const char *name)
{
	pthread_mutex_lock(&lock);
	if (counts)
		fprintf(counts, "%s\t%s\n", group, name);
	pthread_mutex_unlock(&lock);
}

/* `shown`: as it should be in the archive. */
static void kernel(const char *group, const char *name, const char *shown, uint32_t device)
{
	begin_function *begin = *group == 'f' ? kk_events.begin_for : *group == 'r' ? kk_events.begin_reduce
									  : kk_events.begin_scan;
	end_function *end = *group == 'f' ? kk_events.end_for : *group == 'r' ? kk_events.end_reduce
								      : kk_events.end_scan;
	char whole[64];
	uint64_t id = UINT64_MAX;

	kk_may_fence((void *)begin);
	if (begin)
		begin(name, device, &id);
	kk_may_fence((void *)end);
	if (end)
		end(id);
	snprintf(whole, sizeof(whole), "Kokkos parallel_%s", group);
	count(whole, shown);
}

static void fence(const char *name, uint32_t device)
{
	uint64_t id = 0;

	if (kk_events.begin_fence)
		kk_events.begin_fence(name, device, &id);
	if (kk_events.end_fence)
		kk_events.end_fence(id);
	count("Kokkos fence", name);
}

static void push(const char *name)
{
	if (kk_events.push)
		kk_events.push(name);
	count("Kokkos region", name);
}

static void pop(void)
{
	if (kk_events.pop)
		kk_events.pop();
}

static struct kk_space space(const char *name)
{
	struct kk_space handle;

	memset(&handle, '#', sizeof(handle)); /* Kokkos does not clear it either */
	memcpy(handle.name, name, strlen(name) + 1);
	return handle;
}

static void memory(bool free, const char *where, const char *view, uint64_t bytes)
{
	data_function *function = free ? kk_events.deallocate : kk_events.allocate;
	char name[64];

	if (function)
		function(space(where), view, &lock, bytes);
	snprintf(name, sizeof(name), "Kokkos::%s %s", free ? "deallocate" : "allocate", where);
	count("Kokkos memory", name);
}

static void copy(const char *to, const char *from, uint64_t bytes)
{
	char name[64];

	if (kk_events.begin_copy)
		kk_events.begin_copy(space(to), "target", NULL, space(from), "source", &lock, bytes);
	fence("Kokkos::deep_copy: fence", CUDA | 0xffffff);
	if (kk_events.end_copy)
		kk_events.end_copy();
	snprintf(name, sizeof(name), "Kokkos::deep_copy %s to %s", from, to);
	count("Kokkos deep copy", name);
	if (strcmp(to, from))
		count("message", from);
}

/* ---- what is called ------------------------------------------------------------------------------- */

static void kernels(void)
{
	char path[64] = "(lambda at /home/x/solver.cc:12:5)";

	for (int i = 0; i < 10; i++)
		kernel("for", "axpy", "axpy", OPENMP);
	kernel("for", "Kokkos::View::initialization [A]", "Kokkos::View::initialization [A]", OPENMP);
	kernel("for", "spmv<NoTranspose>", "spmv<NoTranspose>", OPENMP | 3);
	kernel("for", "1D", "1D", SERIAL);
	kernel("for", "Zeta", "Zeta", SERIAL);
	kernel("for", "MPI_exchange", "MPI_exchange", SERIAL);
	kernel("for", "sleep", "sleep", SERIAL);
	kernel("reduce", "dot", "dot", CUDA | 1 << 17 | 2);
	kernel("scan", "axpy", "axpy", CUDA);
	/* Without a label: the functor's type. */
	kernel("for", "11SomeFunctor", "SomeFunctor", OPENMP);
	kernel("for", "N6solver4AxpyIN6Kokkos4ViewIPdJEEEdEE/N6solver3TagE", "solver::Axpy/solver::Tag",
	       OPENMP);
	kernel("for", "N6solver4AxpyIdEE/3Tag", "solver::Axpy/Tag", OPENMP);
	kernel("reduce", "Z4mainEUliE_", "main::lambda#1", OPENMP);
	kernel("for", "ZL4stepN6Kokkos4ViewIPdJEEES2_iEUliE1_", "step::lambda#3", OPENMP);
	kernel("reduce", "ZN6solver3runIdEEvT_EUliRdE0_", "solver::run::lambda#2", OPENMP);
	kernel("reduce", "ZNK6Solver3runEiEUliE_", "Solver::run::lambda#1", OPENMP);
	kernel("for", "main(int, char**)::<lambda(int)>", "main::lambda", OPENMP);
	kernel("for", "void solver::run(T) [with T = double]::<lambda(int)>", "solver::run::lambda", OPENMP);
	kernel("for", path, "lambda@solver.cc:12", OPENMP);
	kernel("for",
	       "solver::Axpy<Kokkos::View<double *, Kokkos::LayoutRight, Kokkos::Device<Kokkos::OpenMP> > >",
	       "solver::Axpy", OPENMP);
	kernel("reduce",
	       "CombinedFunctorReducer<solver::dot<Kokkos::View<double*> >(Kokkos::View<double*>)"
	       "::<lambda(int)>, "
	       "FunctorAnalysis<REDUCE, Kokkos::RangePolicy<Kokkos::OpenMP>, double>::Reducer, void>",
	       "solver::dot::lambda", OPENMP);
	kernel("reduce", "N6Kokkos4Impl22CombinedFunctorReducerIN6solver3SumIdEEdvEE", "solver::Sum", OPENMP);
	kernel("for", "solver::Axpy<Kokkos::View<double *> >/solver::Axpy<Kokkos::View<double *> >::Tag",
	       "solver::Axpy/solver::Axpy::Tag", OPENMP);
	kernel("for", "17__nv_dl_wrapper_tI11__nv_dl_tagIPFivEXadL_Z4mainEELj1EEJ4Nx_1EE", "main::lambda#1",
	       CUDA);
	kernel("for", "17__nv_dl_wrapper_tI11__nv_dl_tagIPFviEXadL_ZN3sim3runEiEELj2EEJEE",
	       "sim::run::lambda#2", CUDA);
}

static void sections(void)
{
	uint32_t one = 0, two = 0;

	if (!kk_events.create_section)
		return;
	kk_events.create_section("one", &one);
	kk_events.create_section("two", &two);
	for (int i = 0; i < 3; i++) {
		kk_events.start_section(one);
		kk_events.start_section(two); /* they overlap */
		kk_events.stop_section(one);
		kernel("for", "in a section", "in a section", SERIAL);
		kk_events.stop_section(two);
		count("Kokkos section", "one");
		count("Kokkos section", "two");
	}
	kk_events.destroy_section(one);
	kk_events.destroy_section(two);
}

static void everything(void)
{
	push("outer");
	kernels();
	push("inner");
	fence("Kokkos::fence: Unnamed Global Fence", OPENMP);
	memory(false, "Host", "A", 1000);
	memory(false, "Host", "B", 500);
	memory(false, "Cuda", "A", 4096);
	memory(true, "Host", "B", 500);
	copy("Cuda", "Host", 1000);
	copy("Host", "Host", 64);
	copy("Host", "Cuda", 8);
	memory(true, "Host", "A", 1000);
	memory(true, "Cuda", "A", 4096);
	pop();
	sections();
	if (kk_events.mark)
		kk_events.mark("half way");
	count("mark", "half way");
	if (kk_events.sync)
		kk_events.sync("dual", NULL, true);
	count("Kokkos view", "Kokkos::DualView sync to device");
	if (kk_events.modify)
		kk_events.modify("dual", NULL, false);
	count("Kokkos view", "Kokkos::DualView modify on host");
	pop();
}

static void *thread(void *argument)
{
	(void)argument;
	push("of a thread");
	for (int i = 0; i < 20; i++) {
		kernel("for", "axpy", "axpy", OPENMP);
		kernel("for", i & 1 ? "odd" : "even", i & 1 ? "odd" : "even", OPENMP | (uint32_t)i);
	}
	pop();
	return NULL;
}

static void all(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	everything();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (kk_events.metadata)
		kk_events.metadata("backend", "fake");
}

static void forked(void)
{
	pid_t pid;

	everything();
	push("across a fork");
	fflush(counts);
	pid = fork();
	everything();
	pop();
	if (!pid) {
		fflush(counts);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* ---- what Kokkos should not do -------------------------------------------------------------------- */

static void *lonely(void *argument)
{
	uint64_t *id = argument;

	kk_events.end_for(*id); /* begun elsewhere */
	kk_events.pop();
	kk_events.end_copy();
	for (int i = 0; i < 5000; i++)
		kk_events.push("deep");
	return NULL; /* and never popped */
}

static void hostile(void)
{
	static char big[8192];
	uint32_t section = 0;
	uint64_t id = 0;
	pthread_t other;

	kk_events.pop();
	kk_events.end_copy();
	kk_events.end_for(12345678);
	kk_events.end_fence(UINT64_MAX);
	kk_events.start_section(0);
	kk_events.stop_section(UINT32_MAX);
	kk_events.destroy_section(77);
	memset(big, 'x', sizeof(big) - 1);
	kk_events.begin_for(big, UINT32_MAX, &id);
	kk_events.end_for(id);
	memset(big, 'N', 1);
	memset(big + 1, '<', sizeof(big) - 2);
	kk_events.begin_for(big, 9 << 24, &id);
	kk_events.end_for(id);
	kk_events.begin_for(NULL, SERIAL, &id);
	kk_events.end_for(id);
	kk_events.begin_reduce("", SERIAL, &id);
	kk_events.end_reduce(id);
	kk_events.begin_scan("\n\xff\x01 %s", SERIAL, &id);
	kk_events.end_scan(id);
	kk_events.push(NULL);
	kk_events.mark(NULL);
	kk_events.metadata(NULL, NULL);
	kk_events.metadata(big, big);
	kk_events.create_section(NULL, &section);
	kk_events.stop_section(section);
	kk_events.start_section(section);
	kk_events.start_section(section);
	for (int i = 0; i < 100; i++) {
		char name[64];

		snprintf(name, sizeof(name), "space %d", i);
		kk_events.allocate(space(name), NULL, NULL, UINT64_MAX);
		kk_events.deallocate(space(name), "never allocated", NULL, 77);
		kk_events.deallocate(space(name), NULL, NULL, UINT64_MAX);
		kk_events.begin_copy(space(name), NULL, NULL, space("Host"), NULL, NULL, UINT64_MAX);
	}
	kk_events.begin_for("ends elsewhere", SERIAL, &id);
	pthread_create(&other, NULL, lonely, &id);
	pthread_join(other, NULL);
	for (int i = 0; i < 5000; i++)
		kk_events.create_section("many", &section);
	kk_events.sync(NULL, NULL, true);
	kk_events.pop();
	dlclose(dlopen(getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW));
	dlclose(dlopen(getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW));
	kernel("for", "after it all", "after it all", SERIAL);
}

static void many_names(int n)
{
	char name[64];
	uint64_t id;

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "kernel number %d", i);
		kk_events.begin_for(name, OPENMP, &id);
		kk_events.end_for(id);
	}
}

static void pairs(int n)
{
	struct timespec begin, end;
	uint64_t id = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < n; i++) {
		if (kk_events.begin_for)
			kk_events.begin_for("Kokkos::View::initialization [pressure]", OPENMP, &id);
		if (kk_events.end_for)
			kk_events.end_for(id);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("pair_ns=%.3f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / n);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *file = getenv("COUNTS");

	if (file)
		counts = fopen(file, "w");
	if (!strcmp(what, "early"))
		everything();
	kk_initialize();
	if (!strcmp(what, "all") || !strcmp(what, "early"))
		all();
	else if (!strcmp(what, "fork"))
		forked();
	else if (!strcmp(what, "hostile"))
		hostile();
	else if (!strcmp(what, "names"))
		many_names(atoi(argv[2]));
	else if (!strcmp(what, "pairs"))
		pairs(atoi(argv[2]));
	if (kk_events.finalize)
		kk_events.finalize();
	if (counts)
		fclose(counts);
	if (strcmp(what, "pairs"))
		printf("%d fences of the tool\n", kk_fences);
	return 0;
}

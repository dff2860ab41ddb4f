/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops of one operation, timed by the program: empty launches or 4 KB copies.
 *
 *   loop launch|copy NUMBER [REPORTS]   once; with REPORTS the size of the process is printed so many
 *                                       times on the way
 *   loop serve CPU                      reads "launch NUMBER" or "copy NUMBER" from stdin and answers with
 *                                       the nanoseconds of each operation, until stdin ends. Several such
 *                                       processes can be measured in turns of milliseconds. The thread
 *                                       that measures, and no other, stays on that CPU.
 *   loop turns launch|copy NUMBER ROUNDS CPU   with turns.c in the process: rounds in which each of its
 *                                       modes has a turn, in another order each time; after a few turns
 *                                       before anything was enabled, if TURNS_LATE is set
 *
 * Limits: a turn begins with a tenth of its operations, unmeasured.
 */
#include "count.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

static cudaStream_t stream;
static char *host, *device;

static unsigned long long resident_kb(void)
{
	unsigned long long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
}

static void repeat(bool copy, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (copy)
			cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream);
		else
			k_empty<<<1, 32, 0, stream>>>();
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Nanoseconds of one operation, until all are done and until all are asked for. */
static void one_turn(const char *name, bool copy, uint64_t n)
{
	uint64_t begin, asked;

	repeat(copy, n / 10);
	CK(cudaStreamSynchronize(stream));
	begin = now_ns();
	repeat(copy, n);
	asked = now_ns();
	CK(cudaStreamSynchronize(stream));
	printf("TURN%s%s %.3f %.3f\n", *name ? " " : "", name, (double)(now_ns() - begin) / (double)n,
	       (double)(asked - begin) / (double)n);
}

/* Turns of the modes of turns.c. */
static int turns(bool copy, uint64_t n, uint64_t rounds, int cpu)
{
	static const char *const modes[] = { "none", "records", "empty", "runtime", "calls", "gputrace" };
	const char *library = getenv("TURNS_LIBRARY");
	void *cupti = library ? dlopen(library, RTLD_NOW | RTLD_NOLOAD) : NULL;
	int (*set_mode)(int) = NULL;
	unsigned order[] = { 0, 1, 2, 3, 4, 5 };
	int refused = 0;

	if (cupti)
		*(void **)&set_mode = dlsym(cupti, "turns_mode");
	if (!set_mode)
		return printf("TURNS no library\n"), 4;
	stay_on(cpu);
	srand((unsigned)getpid());
	for (int i = 0; i < 5 && getenv("TURNS_LATE"); i++)
		one_turn("never", copy, n);
	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned i = 0; i < 6; i++) {
			unsigned other = i + (unsigned)rand() % (6 - i), mode = order[other];

			order[other] = order[i];
			order[i] = mode;
			refused += set_mode((int)mode);
			one_turn(modes[mode], copy, n);
		}
	refused += set_mode(5);
	if (refused)
		fprintf(stderr, "turns: CUPTI refused %d calls\n", refused);
	CK(cudaGetLastError());
	return 0;
}

/* Turns of `n` operations, when somebody asks for them. */
static int serve(int cpu)
{
	uint64_t done[2] = { 5000, 5000 }, n;
	char what[16];

	stay_on(cpu);
	printf("READY\n");
	fflush(stdout);
	while (scanf("%15s %lu", what, &n) == 2) {
		bool copy = !strcmp(what, "copy");

		one_turn("", copy, n);
		fflush(stdout);
		done[copy] += n + n / 10;
	}
	CK(cudaGetLastError());
	put_count("kernels", done[0]);
	put_count("h2d", done[1]);
	return 0;
}

int main(int argc, char **argv)
{
	bool copy = argc > 1 && !strcmp(argv[1], "copy");
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	uint64_t reports = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, begin;

	CK(cudaMallocHost(&host, 4096));
	CK(cudaMalloc(&device, 4096));
	CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < 5000; i++) {
		k_empty<<<1, 32, 0, stream>>>();
		CK(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream));
	}
	CK(cudaStreamSynchronize(stream));
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return serve(argc > 2 ? atoi(argv[2]) : 0);
	if (argc > 5 && !strcmp(argv[1], "turns"))
		return turns(!strcmp(argv[2], "copy"), strtoull(argv[3], NULL, 10),
			     strtoull(argv[4], NULL, 10), atoi(argv[5]));
	begin = now_ns();
	for (uint64_t i = 0; i < n; i++) {
		if (copy)
			cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream);
		else
			k_empty<<<1, 32, 0, stream>>>();
		if (reports && (i + 1) % (n / reports) == 0)
			printf("RESIDENT at=%llu kb=%llu\n", (unsigned long long)i + 1, resident_kb());
	}
	CK(cudaStreamSynchronize(stream));
	printf("TIME ns=%.3f\n", (double)(now_ns() - begin) / (double)n);
	CK(cudaGetLastError());
	put_count("kernels", 5000 + (copy ? 0 : n));
	put_count("h2d", 5000 + (copy ? n : 0));
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructs of OpenMP, with numbers that do not depend on how threads are scheduled.
 *
 *	constructs [fork|pause|cancel]
 *
 * How often it waits for locks it adds to the file that OMP_COUNTS names, "omp lock COUNT".
 *
 * Limits: four threads.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double sum;
static int sets; /* calls of omp_set_lock and omp_set_nest_lock */

static void work(int n)
{
	volatile double x = 0;

	for (int i = 0; i < n; i++)
		x += i;
}

static void loops(void)
{
#pragma omp parallel num_threads(4) reduction(+ : sum)
	{
#pragma omp for
		for (int i = 0; i < 100; i++)
			sum += i;
#pragma omp for schedule(dynamic, 3) nowait
		for (int i = 0; i < 100; i++)
			work(100);
#pragma omp for ordered schedule(static, 1)
		for (int i = 0; i < 20; i++)
#pragma omp ordered
			work(10);
#pragma omp barrier
#pragma omp sections
		{
#pragma omp section
			work(1000);
#pragma omp section
			work(1000);
		}
#pragma omp masked
		work(10);
	}
}

static void tasks(void)
{
	int a = 0, b = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
	{
		for (int i = 0; i < 50; i++)
#pragma omp task
			work(1000);
#pragma omp taskwait
#pragma omp taskgroup
		{
			for (int i = 0; i < 20; i++)
#pragma omp task untied
			{
				work(100);
#pragma omp task
				work(100);
#pragma omp taskyield
				work(100);
			}
		}
#pragma omp task depend(out : a)
		a = 1;
#pragma omp task depend(in : a) depend(out : b)
		b = a;
#pragma omp task if (0)
		work(10);
#pragma omp taskloop num_tasks(6)
		for (int i = 0; i < 60; i++)
			work(10);
	}
	sum += b;
}

static omp_lock_t lock;
static omp_nest_lock_t nest;

/* All tests fail, but for the owner's of a nest lock. */
static void tests(void)
{
	int got = 0;

#pragma omp parallel num_threads(4) reduction(+ : got)
	{
		int last = omp_get_thread_num() == omp_get_num_threads() - 1;

		if (last) {
			omp_set_lock(&lock);
			omp_set_nest_lock(&nest);
		}
#pragma omp barrier
		for (int i = 0; i < 10; i++) {
			got += omp_test_lock(&lock);
			got += omp_test_nest_lock(&nest);
		}
#pragma omp barrier
		if (last) {
			for (int i = 0; i < 11; i++)
				omp_unset_nest_lock(&nest);
			omp_unset_lock(&lock);
		}
#pragma omp barrier
		if (last && omp_test_lock(&lock))
			omp_unset_lock(&lock);
	}
	sets += 2;
	sum += got; /* 2 + ... + 11 */
}

static void locks(void)
{
	static int hits, others, nests;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	tests();
#pragma omp parallel num_threads(4)
	{
		for (int i = 0; i < 25; i++) {
#pragma omp critical(first)
			hits++;
			omp_set_lock(&lock);
			others++;
			omp_unset_lock(&lock);
		}
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		nests++;
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
#pragma omp atomic
		sets += 25 + 2;
	}
	sum += hits + others + nests;
}

static void nested(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp for
	for (int i = 0; i < 8; i++)
		work(100);
#pragma omp parallel num_threads(4) if (0)
	work(10);
	/* Outside of a parallel region. */
#pragma omp task
	work(10);
}

/* Without OMP_CANCELLATION all goes on. LLVM 14 itself fails if sections or a dynamic loop are cancelled. */
static void cancelled(void)
{
	int done = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup
	for (int i = 0; i < 200; i++)
#pragma omp task shared(done)
	{
#pragma omp cancellation point taskgroup
#pragma omp atomic
		done++;
		work(1000);
#pragma omp cancel taskgroup if (i == 20)
	}
#pragma omp parallel num_threads(4)
#pragma omp for
	for (int i = 0; i < 1000; i++) {
		work(100);
#pragma omp cancel for if (i == 50)
	}
#pragma omp parallel num_threads(4)
	{
		if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
		}
#pragma omp barrier
		work(100);
	}
	printf("%s\n", done < 200 ? "cancelled" : "all");
}

static void all(void)
{
	loops();
	tasks();
	locks();
	nested();
}

static void count(void)
{
	const char *name = getenv("OMP_COUNTS");
	FILE *file = name ? fopen(name, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "omp lock\t%d\n", sets);
	fclose(file);
}

int main(int argc, char **argv)
{
	all();
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		pid_t pid = fork();

		if (!pid) {
			sum = sets = 0;
			all();
			printf("%g\n", sum);
			count();
			exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	if (argc > 1 && !strcmp(argv[1], "pause")) {
		omp_pause_resource_all(omp_pause_soft);
		all();
	}
	if (argc > 1 && !strcmp(argv[1], "cancel"))
		cancelled();
	printf("%g\n", sum);
	count();
	return 0;
}

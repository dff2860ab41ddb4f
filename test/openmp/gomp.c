/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libgomp alone has, and what its wrappers could break. Counts what it does itself, and prints it,
 * "NAME COUNT" a line, on the file that OMP_COUNTS names; on standard output what does not depend on how
 * threads are scheduled.
 *
 * Limits: three threads; gcc 12 or later.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct big {
	char fill[3000];
	long value;
};

static long sum, forks, teams, loops, singles, tasks, made, locks;

static void count(long *what)
{
#pragma omp atomic
	++*what;
}

static void add(long value)
{
#pragma omp atomic
	sum += value;
}

static void task(long value)
{
	add(value);
	count(&tasks);
}

static void say(const char *what)
{
	printf("%s %ld\n", what, sum);
	sum = 0;
}

static void worksharing(void)
{
	int x;

	forks++;
#pragma omp parallel num_threads(3) private(x)
	{
		count(&teams);
		count(&loops);
#pragma omp for schedule(dynamic, 2)
		for (unsigned long long i = ~0ull - 20; i < ~0ull - 3; i++)
			add(i & 7);
		count(&loops);
#pragma omp for schedule(runtime)
		for (unsigned long long i = 30; i > 2; i -= 3)
			add((long)i);
		count(&loops);
#pragma omp for schedule(guided)
		for (long i = 100; i > 0; i -= 7)
			add(i);
		count(&loops);
#pragma omp for ordered(1) schedule(dynamic)
		for (int i = 0; i < 20; i++) {
#pragma omp ordered depend(sink : i - 1)
			add(i);
#pragma omp ordered depend(source)
		}
#pragma omp single copyprivate(x)
		{
			count(&singles);
			x = 7;
		}
		add(x);
#pragma omp single nowait
		count(&singles);
		count(&loops);
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 9; i++)
			add(i);
#pragma omp barrier
	}
	forks++;
#pragma omp parallel for num_threads(3) schedule(dynamic)
	for (int i = 0; i < 12; i++)
		add(i);
	teams += 3;
	loops += 3;
	say("worksharing");
}

static void taskloops(void)
{
	long total = 0;

#pragma omp taskloop grainsize(7)
	for (long i = 100; i > 0; i -= 3)
		add(i);
#pragma omp taskloop num_tasks(5) nogroup
	for (long i = 0; i < 23; i++)
		add(i);
#pragma omp taskwait
#pragma omp taskloop reduction(+ : total) grainsize(strict : 4)
	for (unsigned long long i = 0; i < 33; i++)
		total += (long)i;
	add(total);
	made += 4 + 5 + 9; /* 34 iterations by 7 and more; 5; 33 by 4 */
	tasks += 4 + 5 + 9;
}

static void some_tasks(void)
{
	struct big big = { .fill = { 1 }, .value = 3 };
	omp_event_handle_t event;
	int data = 0;

	for (int i = 0; i < 30; i++)
#pragma omp task firstprivate(big, i)
		task(big.value + big.fill[0] + i);
#pragma omp task detach(event)
	{
		task(5);
		omp_fulfill_event(event);
	}
#pragma omp taskwait
#pragma omp task depend(out : data) shared(data)
	task(data = 1);
#pragma omp task depend(in : data) shared(data)
	task(data);
#pragma omp taskwait depend(in : data)
#pragma omp task if (0) firstprivate(big)
	task(big.value);
#pragma omp task final(1)
	{
#pragma omp task
		task(2);
#pragma omp taskwait
		task(2);
	}
	made += 30 + 1 + 2 + 1 + 2;
}

static void tasking(void)
{
	long total = 0;

	forks++;
#pragma omp parallel num_threads(3)
	{
		count(&teams);
#pragma omp single
		{
			count(&singles);
			taskloops();
			some_tasks();
		}
	}
	forks++;
#pragma omp parallel num_threads(3) reduction(task, + : total)
	{
		count(&teams);
#pragma omp task in_reduction(+ : total)
		{
			total += 2;
			count(&tasks);
		}
	}
	made += 3;
	add(total);
	/* Outside of a parallel region. */
#pragma omp task
	task(3);
	made++;
	say("tasks");
}

static void cancelling(void)
{
	int ran = 0;

	forks++;
#pragma omp parallel num_threads(3)
	{
		count(&teams);
#pragma omp for schedule(dynamic)
		for (int i = 0; i < 1000; i++) {
#pragma omp cancel for if (i == 10)
			add(0);
		}
#pragma omp single
#pragma omp taskgroup
		for (int i = 0; i < 100; i++)
#pragma omp task shared(ran)
		{
#pragma omp cancel taskgroup
#pragma omp atomic
			ran++;
		}
#pragma omp cancel parallel
#pragma omp barrier
	}
	printf("cancelled %d\n", getenv("OMP_CANCELLATION") ? ran < 100 : ran == 100);
	loops += 3;
	singles++;
	made += 100;
	tasks += 100;
}

static void some_locks(void)
{
	omp_lock_t lock;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	forks++;
#pragma omp parallel num_threads(3)
	{
		count(&teams);
		if (omp_test_lock(&lock)) {
			count(&locks);
			omp_unset_lock(&lock);
		}
		if (omp_test_nest_lock(&nest)) {
			count(&locks);
			omp_set_nest_lock(&nest);
			omp_unset_nest_lock(&nest);
			omp_unset_nest_lock(&nest);
		}
	}
	printf("locks %d\n", locks > 0);
}

/* As gcc up to 4.8 compiles a parallel region. */
void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);

static void body(void *data) /* omp parallel */
{
	count(&teams);
	add(*(long *)data + omp_get_thread_num());
#pragma omp barrier
}

static void old(void)
{
	long data = 10;

	forks++;
	GOMP_parallel_start(body, &data, 3);
	body(&data);
	GOMP_parallel_end();
	say("old");
}

static void devices(void)
{
	int x = 0;

#pragma omp target map(tofrom : x)
	x = 4;
#pragma omp target data map(tofrom : x)
	{
#pragma omp target update to(x)
#pragma omp target
		x++;
	}
#pragma omp target enter data map(to : x)
#pragma omp target exit data map(from : x)
	printf("devices %d\n", x);
}

int main(void)
{
	const char *name = getenv("OMP_COUNTS");
	FILE *file = name ? fopen(name, "w") : NULL;

	worksharing();
	tasking();
	cancelling();
	some_locks();
	old();
	devices();
	if (file) {
		fprintf(file, "fork\t%ld\njoin\t%ld\nteam\t%ld\nteam end\t%ld\n", forks, forks, teams, teams);
		fprintf(file, "create\t%ld\ncomplete\t%ld\nomp for\t%ld\n", made, tasks, loops);
		fprintf(file, "omp single\t%ld\n", singles);
		fprintf(file, "omp taskloop\t3\nomp taskwait\t4\nomp taskgroup\t3\ndependences\t2\n");
		fprintf(file, "acquire\t%ld\nrelease\t%ld\n", locks, locks);
		fprintf(file, "omp target\t2\nomp target data\t1\n");
		fprintf(file, "omp target update\t1\nomp target enter data\t1\nomp target exit data\t1\n");
		fclose(file);
	}
	return 0;
}

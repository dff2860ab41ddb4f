/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of doc/worked-case.md: ranks of three threads compute cells, count them in a table and write
 * them to a file. Three things are wrong with it; each word as an argument puts one right.
 *
 *	mpirun -np 2 worked FILE [even] [apart] [buffered]
 *
 * even: all ranks get the same number of cells. apart: each thread has a table of its own. buffered: cells
 * are written by stdio.
 *
 * Limits: work() only sleeps, so that findings do not depend on the number of processors.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, CELLS = 4800, TABLE = 64, LINES = 80 };

static bool even, apart, buffered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned table[TABLE], mine[THREADS][TABLE];
static int cells; /* of each thread */

static void work(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void count(unsigned *in, int cell)
{
	work(300);
	in[cell % TABLE]++;
}

static void *compute(void *arg)
{
	unsigned *own = arg;

	for (int i = 0; i < cells; i++) {
		work(200);
		if (apart) {
			count(own, i);
			continue;
		}
		pthread_mutex_lock(&lock);
		count(table, i);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void compute_cells(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, compute, mine[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS * TABLE; i++)
		table[i % TABLE] += mine[i / TABLE][i % TABLE];
}

static void write_cells(const char *name)
{
	int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	FILE *stream = fdopen(file, "w");
	char text[32];

	for (int i = 0; i < LINES * THREADS * cells; i++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "%d %u\n", i, table[i % TABLE]);
		size_t done = buffered ? fwrite(text, 1, n, stream) : (size_t)write(file, text, n);

		if (done != n)
			perror(name);
	}
	fclose(stream);
}

int main(int argc, char **argv)
{
	unsigned sum[TABLE];
	char name[4096];
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 2; i < argc; i++) {
		even |= !strcmp(argv[i], "even");
		apart |= !strcmp(argv[i], "apart");
		buffered |= !strcmp(argv[i], "buffered");
	}
	/* The last rank gets what the division leaves over, and somebody has divided wrongly. */
	cells = even ? CELLS / ranks / THREADS : CELLS / ranks / THREADS / 2;
	if (!even && rank == ranks - 1)
		cells = CELLS / THREADS - (ranks - 1) * cells;
	compute_cells();
	MPI_Reduce(table, sum, TABLE, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
	snprintf(name, sizeof(name), "%s.%d", argc > 1 ? argv[1] : "cells", rank);
	write_cells(name);
	MPI_Finalize();
	return 0;
}

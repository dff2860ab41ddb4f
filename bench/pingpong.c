/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what a tool adds to an MPI call: messages of 8 bytes between 2 ranks, 2 calls of each rank per
 * round; and calls without a partner (MPI_PROC_NULL), 3 per round: the fixed cost, without the wait.
 *
 *     pingpong ping ROUNDS | pingpong null ROUNDS
 * One of them, from its first round to its last: with all that a tool does meanwhile.
 *
 *     pingpong TURNS LIBRARY        (libmpi.so.40)
 * The calls alone: short turns through the tool's MPI_X and past it, through the library's own, follow each
 * other in one process, in changing order: what disturbs the machine disturbs both, and the medians leave
 * out what happens rarely, as writing a full buffer. Without a tool both are the same.
 *
 * Limits: each rank needs a processor of its own; the rest of the ranks, if there are more, do nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 500, MOST = 20000 }; /* of a turn; turns */

struct calls {
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
	int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
	int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
	int (*wait)(MPI_Request *, MPI_Status *);
};

static double ping(const struct calls *f, int me, int rounds)
{
	double t;
	long v = 0;

	PMPI_Barrier(MPI_COMM_WORLD);
	t = PMPI_Wtime();
	for (int i = 0; i < rounds && me < 2; i++) {
		if (me == 0)
			f->send(&v, 1, MPI_LONG, 1, 7, MPI_COMM_WORLD);
		f->recv(&v, 1, MPI_LONG, 1 - me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (me == 1)
			f->send(&v, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD);
	}
	return (PMPI_Wtime() - t) * 1e9 / (2.0 * rounds);
}

static double alone(const struct calls *f, int me, int rounds)
{
	MPI_Request request = MPI_REQUEST_NULL;
	double t;
	long v = 0;

	(void)me;
	PMPI_Barrier(MPI_COMM_WORLD);
	t = PMPI_Wtime();
	for (int i = 0; i < rounds; i++) {
		f->irecv(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
		f->wait(&request, MPI_STATUS_IGNORE);
		f->send(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	}
	return (PMPI_Wtime() - t) * 1e9 / (3.0 * rounds);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), by_size);
	return values[n / 2];
}

/* Medians over the turns: of a call past the tool, and of what the tool adds to the one beside it. */
static void measure(const char *name, double (*turn)(const struct calls *, int, int),
		    const struct calls *tool, const struct calls *plain, int turns, int me)
{
	static double past[MOST], added[MOST];

	for (int i = 0; i < turns; i++) {
		double with = i % 2 ? turn(tool, me, ROUNDS) : 0;

		past[i] = turn(plain, me, ROUNDS);
		if (i % 2 == 0)
			with = turn(tool, me, ROUNDS);
		added[i] = with - past[i];
	}
	if (me == 0)
		printf("ns_%s=%.2f added_%s=%.2f ", name, median(past, turns), name, median(added, turns));
}

static int whole(const struct calls *f, int is_ping, int rounds)
{
	double ns;
	int me;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	ns = (is_ping ? ping : alone)(f, me, rounds);
	if (me == 0)
		printf("ns=%.2f\n", ns);
	MPI_Finalize();
	return 0;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 2000, me;
	void *library = argc > 2 && turns ? dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD) : NULL;
	struct calls tool = { MPI_Send, MPI_Recv, MPI_Irecv, MPI_Wait }, plain;

	if (argc > 2 && (!strcmp(argv[1], "ping") || !strcmp(argv[1], "null")))
		return whole(&tool, argv[1][0] == 'p', atoi(argv[2]));
	if (!library || turns > MOST) {
		fprintf(stderr, "usage: pingpong ping|null ROUNDS | TURNS LIBRARY\n");
		return 2;
	}
	plain.send = (__typeof__(plain.send))dlsym(library, "PMPI_Send");
	plain.recv = (__typeof__(plain.recv))dlsym(library, "PMPI_Recv");
	plain.irecv = (__typeof__(plain.irecv))dlsym(library, "PMPI_Irecv");
	plain.wait = (__typeof__(plain.wait))dlsym(library, "PMPI_Wait");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	for (int i = 0; i < 20; i++)
		ping(&tool, me, ROUNDS);
	measure("per_call", ping, &tool, &plain, turns, me);
	measure("alone", alone, &tool, &plain, turns, me);
	if (me == 0)
		printf("\n");
	MPI_Finalize();
	return 0;
}

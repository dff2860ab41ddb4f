/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of MPI, planted by coming late to a call. Rank 0 prints how long each waited by the clock of the
 * program: lines "class,location,seconds". Four ranks on one machine.
 *
 * Limits: each step begins at a time of its own; on a machine where a step takes longer than STEP_MS what is
 * printed is still what was.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { PLANTED_MS = 150, STEP_MS = 300, RANKS = 4 };
enum { SENDER, ISENDER, RECEIVER, BARRIER, N_TO_N, BROADCAST, REDUCE, SCAN, STEPS };

static int rank;
static double start, came[STEPS], all[RANKS][STEPS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void until(double time)
{
	struct timespec t = { (time_t)time, (long)((time - (double)(time_t)time) * 1e9) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* The step begins: one comes late. */
static void step(int number, int late)
{
	until(start + number * STEP_MS * 1e-3 + (rank == late ? PLANTED_MS * 1e-3 : 0));
	came[number] = now();
}

static void messages(void)
{
	static char large[1 << 22];
	MPI_Request request;
	int data = 0;

	step(SENDER, 0);
	if (rank == 0)
		MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 3)
		MPI_Irecv(&data, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &request);
	step(ISENDER, 2);
	if (rank == 2)
		MPI_Send(&data, 1, MPI_INT, 3, 2, MPI_COMM_WORLD);
	if (rank == 3)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	step(RECEIVER, 1);
	if (rank == 0)
		MPI_Ssend(large, sizeof(large), MPI_CHAR, 1, 3, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(large, sizeof(large), MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
	int data = 0, sum;

	step(BARRIER, 3);
	MPI_Barrier(MPI_COMM_WORLD);
	step(N_TO_N, 2);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	step(BROADCAST, 1);
	MPI_Bcast(&data, 1, MPI_INT, 1, MPI_COMM_WORLD);
	step(REDUCE, 3);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	step(SCAN, 0);
	MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void say(const char *class, int number, int waits, int late)
{
	printf("%s,rank %d,%.9f\n", class, waits, all[late][number] - all[waits][number]);
}

static void say_all(void)
{
	say("late sender", SENDER, 1, 0);
	say("late sender", ISENDER, 3, 2);
	say("late receiver", RECEIVER, 0, 1);
	for (int i = 0; i < RANKS; i++) {
		if (i != 3)
			say("wait at barrier", BARRIER, i, 3);
		if (i != 2)
			say("wait at N x N", N_TO_N, i, 2);
		if (i != 1)
			say("late broadcast", BROADCAST, i, 1);
		if (i)
			say("early scan", SCAN, i, 0);
	}
	say("early reduce", REDUCE, 0, 3);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	start = now() + 0.2;
	MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	messages();
	collectives();
	until(start + STEPS * STEP_MS * 1e-3);
	MPI_Gather(came, STEPS, MPI_DOUBLE, all, STEPS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rank == 0)
		say_all();
	MPI_Finalize();
	return 0;
}

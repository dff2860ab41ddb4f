/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of MPI, planted by coming late to a call. Rank 0 prints how long each waited by the clock of the
 * program, at least and at most: lines "class,location,seconds,seconds". Four ranks on one machine. With
 * entered.c.
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
static double start, came[2 * STEPS], all[RANKS][2 * STEPS]; /* not before, and not after */
extern double entered;

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
	if (number)
		came[STEPS + number - 1] = entered;
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

/* How long it waited for the last of the ranks from `first` to `end`: usually who was to come late. */
static void say(const char *class, int number, int waits, int first, int end)
{
	double least = 0, most = 0;

	for (int i = first; i < end; i++) {
		if (i == waits)
			continue;
		least = all[i][number] > least ? all[i][number] : least;
		most = all[i][STEPS + number] > most ? all[i][STEPS + number] : most;
	}
	printf("%s,rank %d,%.9f,%.9f\n", class, waits, least - all[waits][STEPS + number],
	       most - all[waits][number]);
}

static void say_all(void)
{
	say("late sender", SENDER, 1, 0, 1);
	say("late sender", ISENDER, 3, 2, 3);
	say("late receiver", RECEIVER, 0, 1, 2);
	for (int i = 0; i < RANKS; i++) {
		if (i != 3)
			say("wait at barrier", BARRIER, i, 0, RANKS);
		if (i != 2)
			say("wait at N x N", N_TO_N, i, 0, RANKS);
		if (i != 1)
			say("late broadcast", BROADCAST, i, 1, 2);
		if (i)
			say("early scan", SCAN, i, 0, i);
	}
	say("early reduce", REDUCE, 0, 1, RANKS);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	start = now() + 0.2;
	MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	messages();
	collectives();
	came[2 * STEPS - 1] = entered;
	until(start + STEPS * STEP_MS * 1e-3);
	MPI_Gather(came, 2 * STEPS, MPI_DOUBLE, all, 2 * STEPS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rank == 0)
		say_all();
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits in runtimes, while another thread or rank computes for a second of its processor time. With OpenMP:
 * at a barrier (whether the thread spins there is up to OMP_WAIT_POLICY). With MPI: in MPI_Wait ("wait"), by
 * asking again and again ("test"), or by asking between pieces of work ("work"). With "spin" or in MPI the
 * other one computes until the waiting one has used a processor for half a second, too.
 *
 * Limits: two threads, or two ranks of one host.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#else
#include <mpi.h>
#endif

static double used(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void __attribute__((noinline)) compute(double seconds)
{
	double end = used(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (used(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

/* Of `other`, the clock of its processor time. */
static void __attribute__((noinline)) compute_beside(clockid_t other)
{
	double end = used(other) + 0.5;

	do
		compute(1);
	while (used(other) < end);
}

#ifdef _OPENMP

int main(int argc, char **argv)
{
	static clockid_t volatile other;

	(void)argv;
#pragma omp parallel num_threads(2)
	{
		clockid_t own;

		if (omp_get_thread_num() == 1) {
			pthread_getcpuclockid(pthread_self(), &own);
			other = own;
		} else if (argc > 1) {
			while (!other)
				compute(0.001);
			compute_beside(other);
		} else {
			compute(1);
		}
#pragma omp barrier
		compute(0.01);
	}
	return 0;
}

#else

static void __attribute__((noinline)) await(const char *how)
{
	MPI_Request request;
	int word, came = 0;

	MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
	if (!strcmp(how, "wait"))
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	while (strcmp(how, "wait") && !came) {
		if (!strcmp(how, "work"))
			compute(0.02);
		MPI_Test(&request, &came, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank, word = getpid();
	clockid_t other;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		clock_getcpuclockid(word, &other);
		compute_beside(other);
		MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	} else {
		MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		await(argv[1]);
	}
	MPI_Finalize();
	return 0;
}

#endif

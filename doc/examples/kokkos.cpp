// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program of Kokkos and MPI: ranks smooth a line of numbers, rank 3 four times as many as rank 0.
 * doc/kokkos.md reads its trace.
 */
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

typedef Kokkos::View<double *> Line;

static void exchange(Line u, int n, int rank, int size)
{
	Kokkos::Profiling::pushRegion("halo");
	MPI_Sendrecv(&u(n), 1, MPI_DOUBLE, (rank + 1) % size, 0, &u(0), 1, MPI_DOUBLE,
		     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	Kokkos::Profiling::popRegion();
}

static double step(Line u, Line next, int n)
{
	Kokkos::RangePolicy<> inner(1, n + 1);
	double rest = 0;

	Kokkos::parallel_for(
		"smooth", inner,
		KOKKOS_LAMBDA(int i) { next(i) = 0.25 * u(i - 1) + 0.5 * u(i) + 0.25 * u(i + 1); });
	Kokkos::parallel_reduce(
		"rest", inner,
		KOKKOS_LAMBDA(int i, double &sum) { sum += (next(i) - u(i)) * (next(i) - u(i)); }, rest);
	Kokkos::deep_copy(u, next);
	MPI_Allreduce(MPI_IN_PLACE, &rest, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return rest;
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	Kokkos::initialize(argc, argv);
	{
		const int n = (argc > 1 ? atoi(argv[1]) : 1000000) * (rank + 1);
		Line u("u", n + 2), next("next", n + 2);
		double rest = 0;

		Kokkos::parallel_for(
			"start", n + 2, KOKKOS_LAMBDA(int i) { u(i) = i % 17; });
		for (int i = 0; i < 10; i++) {
			Kokkos::Profiling::pushRegion("step");
			exchange(u, n, rank, size);
			rest = step(u, next, n);
			Kokkos::Profiling::popRegion();
		}
		if (!rank)
			printf("%.6e\n", rest);
	}
	Kokkos::finalize();
	MPI_Finalize();
	return 0;
}

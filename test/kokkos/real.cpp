// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program of a real Kokkos: kernels with labels and without, regions, copies, a mark; with MPI, -DWITH_MPI,
 * ranks exchange their borders.
 */
#include <Kokkos_Core.hpp>
#include <cstdio>
#ifdef WITH_MPI
#include <mpi.h>
#endif

typedef Kokkos::View<double *> Vector;

namespace solver
{
template <class V> struct Axpy {
	struct Tag {
	};
	V x, y;
	double a;
	KOKKOS_INLINE_FUNCTION void operator()(int i) const { y(i) += a * x(i); }
	KOKKOS_INLINE_FUNCTION void operator()(const Tag &, int i) const { y(i) -= a * x(i); }
};

template <class V> double dot(V x, V y)
{
	double sum = 0;

	Kokkos::parallel_reduce(
		x.extent(0), KOKKOS_LAMBDA(int i, double &s) { s += x(i) * y(i); }, sum);
	return sum;
}
} // namespace solver

static void exchange(Vector x, int n)
{
	(void)x;
	(void)n;
#ifdef WITH_MPI
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Sendrecv(&x(n - 1), 1, MPI_DOUBLE, (rank + 1) % size, 0, &x(0), 1, MPI_DOUBLE,
		     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
}

static void step(Vector x, Vector y, Vector sums, int n)
{
	Kokkos::Profiling::pushRegion("step");
	Kokkos::Profiling::pushRegion("exchange");
	exchange(x, n);
	Kokkos::Profiling::popRegion();
	Kokkos::parallel_for(
		"scale", n, KOKKOS_LAMBDA(int i) { y(i) *= 0.5; });
	Kokkos::parallel_for(n, solver::Axpy<Vector>{ x, y, 0.1 });
	Kokkos::parallel_for(Kokkos::RangePolicy<solver::Axpy<Vector>::Tag>(0, n),
			     solver::Axpy<Vector>{ x, y, 0.1 });
	Kokkos::parallel_scan(
		"prefix", n, KOKKOS_LAMBDA(int i, double &s, bool last) {
			s += y(i);
			if (last)
				sums(i) = s;
		});
	Kokkos::parallel_for(
		n, KOKKOS_LAMBDA(int i) { sums(i) = 0; });
#if KOKKOS_VERSION >= 30500
	Kokkos::fence("end of a step");
#else
	Kokkos::fence();
#endif
	Kokkos::Profiling::popRegion();
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
#endif
	Kokkos::initialize(argc, argv);
	{
		const int n = 1000;
		Vector x("x", n), y("y", n), sums("sums", n);
		Vector::HostMirror host = Kokkos::create_mirror(x);

		for (int i = 0; i < n; i++)
			host(i) = i % 7;
		Kokkos::deep_copy(x, host);
		Kokkos::deep_copy(y, 1.0);
		for (int i = 0; i < 20; i++)
			step(x, y, sums, n);
		printf("%.6e\n", solver::dot(x, y));
		Kokkos::deep_copy(host, y);
		Kokkos::Profiling::markEvent("done");
	}
	Kokkos::finalize();
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}

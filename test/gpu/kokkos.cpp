// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program of Kokkos with the back end CUDA: kernels with labels and without, on the device and on the host,
 * copies between them, regions and fences. It prints what it has called: group, name, calls, and bytes of copies.
 *
 * Limits: what Kokkos does by itself (fences, copies of its own) is not in it.
 */
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>

typedef Kokkos::View<double *> Vector;
typedef Kokkos::View<double *, Kokkos::HostSpace> HostVector;
typedef Kokkos::RangePolicy<Kokkos::Serial> OnHost;

namespace solver
{
struct Axpy {
	struct Tag {};
	Vector x, y;
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

static void step(Vector x, Vector y, Vector sums, int n)
{
	double sum = 0;

	Kokkos::Profiling::pushRegion("step");
	Kokkos::parallel_for(
		"scale", n, KOKKOS_LAMBDA(int i) { y(i) *= 0.5; });
	Kokkos::parallel_for(n, solver::Axpy{ x, y, 0.1 });
	Kokkos::parallel_for(Kokkos::RangePolicy<solver::Axpy::Tag>(0, n), solver::Axpy{ x, y, 0.1 });
	Kokkos::parallel_for(
		n, KOKKOS_LAMBDA(int i) { sums(i) = 0; });
	Kokkos::parallel_for(
		n, KOKKOS_LAMBDA(int i) { sums(i) += i; });
	Kokkos::parallel_scan(
		"prefix", n, KOKKOS_LAMBDA(int i, double &s, bool last) {
			s += y(i);
			if (last)
				sums(i) = s;
		});
	Kokkos::parallel_reduce(
		"norm", n, KOKKOS_LAMBDA(int i, double &s) { s += y(i) * y(i); }, sum);
	Kokkos::fence("end of a step");
	Kokkos::Profiling::popRegion();
}

static void say(const char *group, const char *name, int calls, size_t bytes)
{
	printf("%s\t%s\t%d\t%zu\n", group, name, calls, bytes);
}

static void say_counts(int steps, size_t bytes)
{
	say("region", "step", steps, 0);
	say("parallel_for", "scale", steps, 0);
	say("parallel_for", "solver::Axpy", steps, 0);
	say("parallel_for", "solver::Axpy/solver::Axpy::Tag", steps, 0);
	say("parallel_for", "step::lambda#2", steps, 0);
	say("parallel_for", "step::lambda#3", steps, 0);
	say("parallel_scan", "prefix", steps, 0);
	say("parallel_reduce", "norm", steps, 0);
	say("parallel_reduce", "solver::dot::lambda#1", 1, 0);
	say("parallel_for", "fill on the host", 2, 0);
	say("fence", "end of a step", steps, 0);
	say("section", "section", 1, 0);
	say("mark", "done", 1, 0);
	say("copy", "Host to Cuda", steps + 1, (steps + 1) * bytes);
	say("copy", "Cuda to Host", steps, steps * bytes);
}

static void work(int n, int steps)
{
	Vector x("x", n), y("y", n), sums("sums", n);
	HostVector host("host", n);
	uint32_t section;

	Kokkos::Profiling::createProfileSection("section", &section);
	Kokkos::Profiling::startSection(section);
	for (int k = 0; k < 2; k++)
		Kokkos::parallel_for(
			"fill on the host", OnHost(0, n), KOKKOS_LAMBDA(int i) { host(i) = i % 7; });
	Kokkos::deep_copy(x, host);
	Kokkos::deep_copy(y, 1.0);
	for (int i = 0; i < steps; i++) {
		step(x, y, sums, n);
		Kokkos::deep_copy(host, y);
		Kokkos::deep_copy(y, host);
	}
	Kokkos::Profiling::stopSection(section);
	fprintf(stderr, "%.6e\n", solver::dot(x, y));
	Kokkos::Profiling::destroyProfileSection(section);
	Kokkos::Profiling::markEvent("done");
}

int main(int argc, char **argv)
{
	const int n = 1000000, steps = argc > 1 ? atoi(argv[1]) : 50;

	Kokkos::initialize(argc, argv);
	work(n, steps);
	Kokkos::finalize();
	say_counts(steps, n * sizeof(double));
	return 0;
}

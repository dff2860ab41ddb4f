/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/assemble/util/shorten.c: what of a name survives, and that no name does harm.
 *
 * Limits: columns are counted by characters.
 */
#include "lib/assemble/util/shorten.h"
#include "lib/assemble/util/utf8.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char buffer[GT_SHORTEN_MAX];

static void is(const char *name, unsigned columns, const char *want)
{
	const char *got = gt_shorten(buffer, name, columns, GT_KEEP_NOTHING);

	cr_expect_str_eq(got, want, "%s in %u: %s", name, columns, got);
}

static const char multiply[] =
	"Matrix<double, 64>::multiply_accumulate(Matrix<double, 64> const&, Matrix<double, 64> const&)";

Test(shorten, step_by_step)
{
	is(multiply, 200, multiply);
	is(multiply, 92, "Matrix<double, 64>::multiply_accumulate(...)");
	is(multiply, 44, "Matrix<double, 64>::multiply_accumulate(...)");
	is(multiply, 43, "Matrix<...>::multiply_accumulate(...)");
	is(multiply, 37, "Matrix<...>::multiply_accumulate(...)");
	is(multiply, 36, "Matrix<...>::multiply_accumulate");
	is(multiply, 31, "...::multiply_accumulate");
	is("solve(int)", 5, "solve");
	is("a_long_function_name()", 10, "a_long_function_name"); /* the caller cuts */
}

Test(shorten, version_of_a_library)
{
	static const char name[] = "omp parallel @libgromacs_mpi.so.7.0.0+0x463d30";

	is(name, 46, name);
	is(name, 45, "omp parallel @libgromacs_mpi+0x463d30");
	is(name, 20, "omp parallel @libgromacs_mpi+0x463d30"); /* the caller cuts */
	is("libm.so+0xdeadbeef", 17, "libm+0xdeadbeef");
	is("server.2+0x12", 10, "server.2+0x12");
	is("+0x12", 3, "+0x12");
	is(".so+0x12", 3, ".so+0x12");
	is("f(x.so.1+0x12)", 9, "f(...)");
}

Test(shorten, process_of_a_thread)
{
	static const char name[] = "python3 [6142], pt_autograd_0";

	is(name, 29, name);
	is(name, 28, "[6142], pt_autograd_0");
	is(name, 20, "pt_autograd_0");
	is(name, 5, "pt_autograd_0"); /* the caller cuts */
	is("a program [12], CUDA[0:7] lane 2", 25, "[12], CUDA[0:7] lane 2");
	is("table[12], column of numbers", 20, "table[12], column of numbers");
	is("worker [12], ", 5, "worker [12], ");
	/* Which process it is differs. */
	cr_expect_str_eq(gt_shorten(buffer, "worker [12], Thread 1", 16, 9), "[12], Thread 1");
	cr_expect_str_eq(gt_shorten(buffer, "worker [12], Thread 1", 13, 20), "Thread 1");
}

Test(shorten, call_path)
{
	const char *path = "main(int, char**) > Grid<double, 3>::exchange(Face const&) > MPI_Recv";

	cr_expect_str_eq(gt_shorten_path(buffer, path, 50), path);
	cr_expect_str_eq(gt_shorten_path(buffer, path, 20),
			 "main(int, char**) > ...::exchange(...) > MPI_Recv", "%s", buffer);
	/* One that is no name of C++, and an end that is none. */
	cr_expect_str_eq(gt_shorten_path(buffer, "<module> > main > a > ", 30), "<module> > main > a > ");
	cr_expect_str_eq(gt_shorten_path(buffer, "A<B<int> > > f", 5), "A<...> > f", "%s", buffer);
	cr_expect_str_eq(gt_shorten_path(buffer, "", 5), "");
	cr_expect_str_eq(gt_shorten_path(buffer, "sm90_gemm_bf16_tilesize128x64x64_kernel > sync", 20),
			 "sm90_g...4x64_kernel > sync", "%s", buffer);
}

Test(shorten, inner_arguments_first)
{
	static const char name[] = "std::map<int, std::vector<std::pair<int, long>>>::at(int const&)";

	is(name, 58, "std::map<int, std::vector<std::pair<int, long>>>::at(...)");
	is(name, 51, "std::map<int, std::vector<std::pair<...>>>::at(...)");
	is(name, 40, "std::map<int, std::vector<...>>::at(...)");
	is(name, 39, "std::map<...>::at(...)");
	is(name, 21, "std::map<...>::at");
	is(name, 16, "...::at");
}

Test(shorten, return_type)
{
	static const char name[] =
		"std::vector<double, std::allocator<double>> make<double>(unsigned long, int)";

	is(name, 70, "std::vector<double, std::allocator<double>> make<double>(...)");
	is(name, 40, "make<double>(...)");
	is("void run<Kernel>(Kernel, unsigned long)", 20, "run<Kernel>(...)");
	/* The words of other texts are no types. */
	is("main > solve > exchange(double*, int)", 30, "main > solve > exchange(...)");
	is("main > solve > exchange(double*, int)", 20, "main > solve > exchange");
}

Test(shorten, operators)
{
	is("std::ostream& operator<< <char>(std::ostream&, char const*)", 36,
	   "std::ostream& operator<< <char>(...)");
	is("std::ostream& operator<< <char>(std::ostream&, char const*)", 30, "operator<< <char>(...)");
	is("Functor<int, long, short>::operator()(int, int) const", 50,
	   "Functor<int, long, short>::operator()(...) const");
	is("Functor<int, long, short>::operator()(int, int) const", 40,
	   "Functor<...>::operator()(...) const");
	is("Big<1234567>::operator->() const", 28, "Big<...>::operator->() const");
	is("Big<1234567>::operator<(Big<1234567> const&)", 30, "Big<1234567>::operator<(...)");
	is("bool operator>><A, B, C, D>(Stream&)", 24, "operator>><...>(...)");
	is("Holder<abcdef>::operator unsigned long() const", 43,
	   "Holder<...>::operator unsigned long() const");
}

Test(shorten, lambdas_and_namespaces)
{
	is("run(std::vector<int>&)::{lambda(int, int)#2}::operator()(int, int) const", 60,
	   "run(...)::{lambda(...)#2}::operator()(...) const");
	is("(anonymous namespace)::Solver<double, 3>::step(double)", 51,
	   "(anonymous namespace)::Solver<double, 3>::step(...)");
	is("main::<lambda(int)>::operator()(int, char)", 40, "main::<lambda(int)>::operator()(...)");
	is("package.module.<listcomp>", 10, "package.module.<listcomp>");
	is("f(T) [with T = std::vector<int>]", 20, "f(T)");
}

Test(shorten, comparisons_in_arguments)
{
	is("Table<(1234>12), int>::find(Key const&)", 32, "Table<(1234>12), int>::find(...)");
	is("Table<(1234>12), int>::find(Key const&)", 24, "Table<...>::find(...)");
	is("Table<(1234<12), int>::find(Key const&)", 24, "Table<...>::find(...)");
	is("get<decltype(a->b()), int>(Key const&)", 20, "get<...>(...)");
}

/* Brackets without a partner are text. */
Test(shorten, unbalanced)
{
	is("f(((((((((((", 4, "f(((((((((((");
	is("f)>)>)>)>)>)>", 4, "f)>)>)>)>)>)>");
	is("a<b<c<d(e<f", 4, "a<b<c<d(e<f");
	is("f<(aaaaa>)(bbbbb)", 4, "f<(aaaaa>)");
	is("(((aaaa)))", 4, "(((aaaa)))");
	is("", 0, "");
	is("operator", 3, "operator");
	is("operator<", 3, "operator<");
}

Test(shorten, what_differs_stays)
{
	static const char *const twins[2] = {
		"Kokkos::Impl::ParallelFor<Solver::step(double)::{lambda(int)#1}, "
		"Kokkos::RangePolicy<Kokkos::Cuda>>",
		"Kokkos::Impl::ParallelFor<Solver::step(double)::{lambda(int)#2}, "
		"Kokkos::RangePolicy<Kokkos::Cuda>>",
	};
	size_t at = gt_differ_at(twins[0], twins[1]);
	char other[GT_SHORTEN_MAX];

	cr_expect_eq(twins[0][at], '1');
	for (unsigned columns = 16; columns < 110; columns++) {
		const char *a = gt_shorten(buffer, twins[0], columns, at),
			   *b = gt_shorten(other, twins[1], columns, at);

		cr_expect(strcmp(a, b), "%u: %s", columns, a);
		cr_expect(gt_columns_of(a) <= columns, "%u: %s", columns, a);
	}
	cr_expect_str_eq(gt_shorten(buffer, twins[0], 75, at),
			 "...::ParallelFor<Solver::step(...)::{lambda(int)#1}, Kokkos::RangePolicy...", "%s",
			 buffer);
	/* One that is the beginning of the other, and names of no language. */
	at = gt_differ_at("rank 0 channel 0 of device 1", "rank 0 channel 0 of device 11");
	cr_expect_str_eq(gt_shorten(buffer, "rank 0 channel 0 of device 11", 20, at), "rank 0...f device 11");
	cr_expect_eq(gt_differ_at("na\xc3\xafve", "na\xc3\xa9ve"), 2);
}

Test(shorten, utf8)
{
	is("gr\xc3\xb6\xc3\x9f" "e<\xce\xb1\xce\xb2\xce\xb3\xce\xb4>(\xce\xb5\xce\xb6\xce\xb7\xce\xb8)", 16,
	   "gr\xc3\xb6\xc3\x9f" "e<\xce\xb1\xce\xb2\xce\xb3\xce\xb4>(...)");
	cr_expect_eq(gt_columns_of("gr\xc3\xb6\xc3\x9f" "e"), 5);
	for (unsigned columns = 16; columns < 40; columns++) /* never within a character */
		for (size_t keep = 0; keep < 80; keep += 2) {
			char name[81];

			for (size_t i = 0; i < 80; i += 2)
				memcpy(name + i, "\xc3\xb6", 3);
			gt_shorten(buffer, name, columns, keep);
			for (const char *c = buffer; *c; c++)
				cr_assert(*c == '.' || (c[0] == '\xc3' && c[1] == '\xb6') ||
					  (*c == '\xb6' && c[-1] == '\xc3'), "%s", buffer);
		}
}

/* Deep, long and random ones: bounded, ended, and in time. */
Test(shorten, hostile, .timeout = 60)
{
	static char name[GT_SHORTEN_MAX + 100];
	static const char letters[] = "ab:<>()[]{} -operator,*&~\xc3\xb6\x80\n";

	for (size_t n = 4096; n < sizeof(name); n += 4095) {
		memset(name, '<', n);
		name[0] = 'f';
		gt_shorten(buffer, name, 30, GT_KEEP_NOTHING);
		for (size_t i = 1; i < n; i++)
			name[i] = "<(a)>"[i % 5];
		cr_expect(gt_shorten(buffer, name, 30, n / 2));
		memset(name, 0, sizeof(name));
	}
	srand(1);
	for (unsigned turn = 0; turn < 3000; turn++) {
		size_t n = (size_t)rand() % 200, keep;

		for (size_t i = 0; i < n; i++)
			name[i] = letters[(size_t)rand() % (sizeof(letters) - 1)];
		name[n] = '\0';
		keep = rand() % 2 ? GT_KEEP_NOTHING : (size_t)rand() % (n + 1);
		cr_assert(strlen(gt_shorten(buffer, name, (unsigned)rand() % 60, keep)) <= n + 3);
		cr_assert(strlen(gt_shorten_path(buffer, name, (unsigned)rand() % 60)) <= 2 * n + 3);
	}
}

Test(shorten, harmless)
{
	static const char name[] = "a\033[1m\n\"\\\xc2\x9b\xe2\x80\xae\xc3\xb6\xff";
	char small[8], line[4 * sizeof(name)], json[6 * sizeof(name)], *put = NULL;
	size_t size;
	FILE *out = open_memstream(&put, &size);

	cr_expect_str_eq(gt_utf8_line(line, sizeof(line), name),
			 "a\\x1b[1m\\x0a\"\\\\xc2\\x9b\\xe2\\x80\\xae\xc3\xb6\\xff");
	cr_expect_str_eq(gt_utf8_json(json, sizeof(json), name),
			 "a\\u001b[1m\\u000a\\\"\\\\\\u009b\\u202e\xc3\xb6\\\\xff");
	cr_expect_str_eq(gt_utf8_json(small, sizeof(small), "ab\033"), "ab");
	gt_utf8_json_put(out, name);
	fclose(out);
	cr_expect(!strncmp(put + 1, json, strlen(json)) && put[0] == '"' && !strcmp(put + size - 1, "\""));
	free(put);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ functions that are looked up by test_symbols.c: the mangled name is the last column.
 *
 * Limits: none.
 */
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#define NOINLINE __attribute__((noinline))

template <typename F> static void show(const char *name, int line, F function)
{
	void *address;

	std::memcpy(&address, &function, sizeof(address)); /* a plain member's address comes first */
	std::printf("F\t%s\t%s\t%d\t%s\t%p\n", name, __FILE__, line, "g", address);
}

static volatile int sink;

namespace deep { namespace er {
template <typename T> struct Box {
	T value;
	static const int get_line = __LINE__ + 1;
	NOINLINE int get(int x) const { return value + x + sink; }
};
static const int free_line = __LINE__ + 1;
NOINLINE int free(double x, const std::string &s) { return (int)x + (int)s.size() + sink; }
}}

struct Outer {
	int a;
	NOINLINE Outer(int x);
	NOINLINE int operator+(int x) const;
};
static const int ctor_line = __LINE__ + 1;
Outer::Outer(int x) : a(x + sink) {}
static const int plus_line = __LINE__ + 1;
int Outer::operator+(int x) const { return a + x + sink; }

extern "C" NOINLINE int plain_c(int x)
{
	struct Local {
		NOINLINE static int inside(int y) { return y * 5 + sink; }
	};
	static const int inside_line = __LINE__ - 2;

	show("plain_c::Local::inside(int)", inside_line, &Local::inside);
	return Local::inside(x);
}

int main()
{
	char line[4096];
	Outer o(3);
	deep::er::Box<int> box = {4};
	auto lambda = [](int x) NOINLINE { return x + sink; };
	int (*as_pointer)(int) = lambda;

	show("deep::er::Box<int>::get(int) const", deep::er::Box<int>::get_line,
	     &deep::er::Box<int>::get);
	show("deep::er::free(double, std::__cxx11::basic_string<char, std::char_traits<char>, "
	     "std::allocator<char> > const&)", deep::er::free_line, &deep::er::free);
	show("Outer::operator+(int) const", plus_line, &Outer::operator+);
	sink = plain_c(2) + box.get(1) + (o + 2) + deep::er::free(1, "x") + as_pointer(7) + ctor_line;
	std::FILE *maps = std::fopen("/proc/self/maps", "r");
	while (maps && std::fgets(line, sizeof(line), maps))
		std::printf("M\t%s", line);
	return 0;
}

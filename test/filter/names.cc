/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ functions with known numbers of calls: each is called 10 times; exceptions with an argument.
 *
 * Limits: none of the functions may be inlined.
 */
#include <cstdio>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

struct Domain {
	int n = 0;
	KEEP int nodes(int i) { return n += i; }
	KEEP int nodes(double d) { return n += static_cast<int>(d); }
	KEEP int edges(const std::vector<int> &v) const { return n + static_cast<int>(v.size()); }
	KEEP int operator--() { return --n; }
};

namespace util {
template <class T> KEEP int twice(T t)
{
	__asm__ volatile("" : "+r"(t));
	return static_cast<int>(t + t);
}
}

namespace {
KEEP int hidden(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}
}

KEEP void thrower(int i)
{
	if (i >= 0)
		throw i;
}

KEEP void between(int i)
{
	thrower(i);
	hidden(i);
}

KEEP int catcher(int i)
{
	try {
		between(i);
	} catch (int caught) {
		return caught;
	}
	return 0;
}

int main(int argc, char **)
{
	std::vector<int> v(3);
	Domain d;
	int s = 0;

	for (int i = 0; i < 10; i++) {
		s += d.nodes(i) + d.nodes(1.5) + d.edges(v) + --d;
		s += util::twice(i) + util::twice(static_cast<long>(i)) + hidden(i);
	}
	for (int i = 0; argc > 1 && i < 1000; i++)
		s += catcher(i);
	for (int i = 0; argc > 1 && i < 10; i++)
		s += hidden(i);
	std::printf("%d\n", s != 0);
	return 0;
}

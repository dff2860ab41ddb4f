// SPDX-License-Identifier: BSD-3-Clause
// The library of free.hpp, and with -DPROGRAM a program that calls it and prints what comes back.
// Limits: one thread.
#include "free.hpp"

#include <cstdio>
#include <stdexcept>

#ifndef PROGRAM

int fr_global(int a, double b) noexcept { return a + static_cast<int>(b * 2); }
long fr_plain_c(bool flag, const char *text) { return flag ? text[0] : -1; }

namespace fr {
int Counted::copies, Counted::moves, Counted::alive;
Counted::Counted(int v) : value(v) { alive++; }
Counted::Counted(const Counted &other) : value(other.value) { copies++, alive++; }
Counted::Counted(Counted &&other) noexcept : value(other.value) { moves++, alive++; }
Counted::~Counted() { alive--; }
MoveOnly::MoveOnly(int v) : owned(new int(v)) {}
MoveOnly::MoveOnly(MoveOnly &&other) noexcept : owned(other.owned) { other.owned = nullptr; }
MoveOnly::~MoveOnly() { delete owned; }
int over(int a) { return a + 1; }
double over(double a) { return a / 3; }
int over(const std::string &a) { return static_cast<int>(a.size()); }
int over(std::string &&a)
{
	std::string taken(std::move(a));
	return -static_cast<int>(taken.size());
}
Plain plain(Plain a, const Plain &b, Plain *c) { return { a.a + b.a + c->a, a.b * b.b }; }
Counted counted(Counted a, Counted &b, const Counted &c)
{
	b.value += 5;
	return Counted(a.value + b.value + c.value);
}
int owner(MoveOnly a) { return *a.owned; }
MoveOnly make(int v) { return MoveOnly(v); }
std::string text(const std::vector<std::string> &words, std::string separator)
{
	std::string all;
	for (const auto &word : words)
		all += word + separator;
	return all;
}
Colour colour(Colour c) { return c == Colour::red ? Colour::green : Colour::red; }
int array(const int (&a)[3], int (*f)(int), int Plain::*member, Plain p)
{
	return a[2] + f(a[1]) + p.*member;
}
void thrower(int value)
{
	if (value > 1)
		throw std::runtime_error("thrown " + std::to_string(value));
}
void always() { throw 42; }
bool operator==(const Plain &a, const Plain &b) { return a.a == b.a; }
int variadic(int n, ...) { return n; }
inline namespace v2 {
namespace deep {
unsigned long inner(std::size_t n, Hidden *) { return n * 3; }
}
}
}

#else

using namespace fr;

static int ten(int a) { return a * 10; }

int main()
{
	Counted b(2), c(3);
	Plain p{ 1, 1.5 }, q{ 2, 2.5 };
	const int three[3] = { 1, 2, 3 };
	std::string s("moved from");
	const std::string fixed("fixed");

	std::printf("%d %d %ld %ld\n", fr_global(1), fr_global(1, 7), fr_plain_c(true, "x"),
		    fr_plain_c(false, ""));
	std::printf("%d %.17g %d %d %zu\n", over(1), over(1.0), over(fixed), over(std::move(s)), s.size());
	const Plain r = plain(p, q, &q);
	std::printf("%d %.17g %d\n", r.a, r.b, r == p);
	std::printf("%d\n", counted(Counted(1), b, c).value);
	std::printf("%d\n", counted(c, b, c).value);
	std::printf("copies %d moves %d alive %d\n", Counted::copies, Counted::moves, Counted::alive);
	std::printf("%d %d\n", owner(MoveOnly(8)), *make(9).owned);
	std::printf("%s\n", text({ "a", "bc", "a word that is longer than the small buffer" }, "+").c_str());
	std::printf("%d\n", static_cast<int>(colour(Colour::red)));
	std::printf("%d %lu\n", array(three, ten, &Plain::a, q), deep::inner(7, nullptr));
	for (int i = 0; i < 4; i++) {
		try {
			thrower(i);
			std::printf("no\n");
		} catch (const std::exception &e) {
			std::printf("%s\n", e.what());
		}
	}
	try {
		always();
	} catch (int n) {
		std::printf("%d %d %d %d\n", n, generic(5), inlined(6), variadic(7, 8));
	}
}

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Free functions of C++ as headers have them; free.cc defines them.
#ifndef FREE_HPP
#define FREE_HPP
#include <string>
#include <vector>

int fr_global(int a, double b = 2.5) noexcept;
extern "C" long fr_plain_c(bool flag, const char *text);

namespace fr {
struct Plain {
	int a;
	double b;
};
struct Counted {
	static int copies, moves, alive;
	int value;
	explicit Counted(int v);
	Counted(const Counted &other);
	Counted(Counted &&other) noexcept;
	~Counted();
};
struct MoveOnly {
	int *owned;
	explicit MoveOnly(int v);
	MoveOnly(const MoveOnly &) = delete;
	MoveOnly(MoveOnly &&other) noexcept;
	~MoveOnly();
};
enum class Colour : unsigned char { red = 3, green = 200 };
class Hidden;

int over(int a);
double over(double a);
int over(const std::string &a);
int over(std::string &&a);                        // left out: castxml hides it
Plain plain(Plain a, const Plain &b, Plain *c);
Counted counted(Counted a, Counted &b, const Counted &c);
int owner(MoveOnly a);
MoveOnly make(int v);
std::string text(const std::vector<std::string> &words, std::string separator);
Colour colour(Colour c);
int array(const int (&a)[3], int (*f)(int), int Plain::*member, Plain p);
void thrower(int value);
[[noreturn]] void always();
bool operator==(const Plain &a, const Plain &b); // left out: an operator
template <class T> T generic(T a) { return a; }  // left out: a template
inline int inlined(int a) { return a + 1; }      // left out: inline
int variadic(int n, ...);                        // left out
inline namespace v2 {
namespace deep {
unsigned long inner(std::size_t n, Hidden *opaque);
}
}
}
#endif

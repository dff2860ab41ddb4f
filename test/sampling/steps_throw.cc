// SPDX-License-Identifier: BSD-3-Clause
// Exceptions through functions that clean up, catch and throw again.
#include <stdexcept>
#include <string>

namespace
{
volatile int cleaned;

struct cleans {
	~cleans() { cleaned = cleaned + 1; }
};

__attribute__((noinline)) int fall(int n)
{
	cleans one;

	if (n == 0)
		throw std::runtime_error(std::string(100, 'x'));
	return fall(n - 1) + 1;
}

__attribute__((noinline)) int again(int n)
{
	try {
		return fall(n);
	} catch (const std::runtime_error &) {
		cleans two;

		throw;
	}
}
} // namespace

extern "C" int steps_throw(void)
{
	try {
		return again(3);
	} catch (const std::exception &e) {
		return e.what()[0] == 'x' ? cleaned : 0;
	}
}

// SPDX-License-Identifier: BSD-3-Clause
// C++ exceptions through instrumented frames, chosen by the first argument. gcc runs the exit hooks
// while unwinding, clang does not.
//
// Limits: counts enters; the ways that terminate set RLIMIT_CORE to 0.
#include "trouble.h"

#include <pthread.h>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

struct Guard {
	CALLED ~Guard()
	{
		work(1);
		HERE();
	}
};

CALLED int dig(int depth)
{
	Guard guard;
	if (!depth)
		throw std::runtime_error("bottom");
	int r = dig(depth - 1);
	HERE();
	return r + 1;
}

CALLED void again(int depth)
{
	try {
		dig(depth);
	} catch (const std::runtime_error &) {
		work(2);
		throw;
	}
}

CALLED void translate(int depth)
{
	try {
		again(depth);
	} catch (...) {
		throw 42;
	}
}

CALLED void never() noexcept
{
	dig(3);
	HERE();
}

CALLED void thread_body()
{
	work(1);
	dig(3);
	HERE();
}

int main(int argc, char **argv)
{
	std::string way = argc > 1 ? argv[1] : "deep";
	struct rlimit none = { 0, 0 };
	int caught = 0;

	setrlimit(RLIMIT_CORE, &none);
	if (way == "deep") {
		for (int i = 0; i < 20; i++) {
			try {
				dig(999);
			} catch (const std::exception &) {
				caught++;
			}
		}
		say("calls dig 20000\ncalls work 20000\n");
	} else if (way == "rethrow") {
		for (int i = 0; i < 200; i++) {
			try {
				translate(9);
			} catch (int) {
				caught++;
			}
		}
		say("calls dig 2000\ncalls again 200\ncalls translate 200\ncalls work 2200\n");
	} else if (way == "thread") {
		say("calls thread_body 1\ncalls dig 4\n");
		std::thread t(thread_body);
		t.join();
	} else if (way == "noexcept") {
		say("calls never 1\ncalls dig 4\n");
		never();
	} else if (way == "main") {
		say("calls dig 4\n");
		dig(3);
	}
	say("caught %d\n", caught);
	return 0;
}

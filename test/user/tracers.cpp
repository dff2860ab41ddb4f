/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_TRACER in four threads, with exceptions and early returns, and prints what the trace must hold,
 * for facts.py. Limits: C++11 for the threads.
 */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "vt_user.h"

namespace
{
const int threads = 4, turns = 100;
const int defined_at = __LINE__ + 1;
const unsigned int before_main = VT_USER_DEF("defined before main", "Early", __FILE__, __LINE__);

int early(int n)
{
	VT_TRACER("early");

	if (n % 2)
		return 1;
	return 2;
}

void throws(int depth)
{
	VT_TRACER("throws");

	if (!depth)
		throw std::runtime_error("out");
	throws(depth - 1);
}

void work(int number)
{
	std::string name = "thread " + std::to_string(number);

	VT_TRACER(name.c_str());
	for (int i = 0; i < turns; i++) {
		VT_TRACER(before_main);
		early(i);
		try {
			VT_TRACER("try");
			throws(3);
		} catch (const std::exception &) {
			VT_TRACER("catch");
		}
	}
}
} // namespace

int main()
{
	VT_TRACER("main");
	std::vector<std::thread> all;

	for (int i = 0; i < threads; i++)
		std::printf("calls\tthread %d\t1\n", i);
	std::printf("calls\tdefined before main\t%d\ncalls\tearly\t%d\ncalls\ttry\t%d\n", threads * turns,
		    threads * turns, threads * turns);
	std::printf("calls\tthrows\t%d\ncalls\tcatch\t%d\n", 4 * threads * turns, threads * turns);
	std::printf("region\tdefined before main\tEarly\t%s\t%d\n", __FILE__, defined_at);
	for (int i = 0; i < threads; i++)
		all.push_back(std::thread(work, i));
	for (auto &thread : all)
		thread.join();
}

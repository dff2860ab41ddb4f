// SPDX-License-Identifier: BSD-3-Clause
// C++ objects that live longer than main, and thread_local ones that die with their thread; their
// constructors and destructors are instrumented.
//
// Limits: what runs after gputrace's end may be missing from the trace, if it is counted.
#include "trouble.h"

#include <thread>
#include <vector>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

struct Speaker {
	const char *name;
	CALLED explicit Speaker(const char *n) : name(n)
	{
		work(1);
		HERE();
	}
	CALLED ~Speaker()
	{
		work(2);
		say("end of %s\n", name);
	}
};

static Speaker global("global");

struct Local {
	CALLED Local() { work(3); HERE(); }
	CALLED ~Local() { work(4); HERE(); }
	int value = 5;
};

static thread_local Local local;

CALLED void in_thread()
{
	work(local.value);
	HERE();
}

int main()
{
	static Speaker function_static("function static");
	for (int round = 0; round < 20; round++) {
		std::vector<std::thread> threads;
		for (int i = 0; i < 8; i++)
			threads.emplace_back(in_thread);
		for (auto &t : threads)
			t.join();
	}
	/* per thread: constructor, body, destructor */
	say("atleast work %d\n", 160 * 3);
	say("calls in_thread 160\n");
	return 0;
}

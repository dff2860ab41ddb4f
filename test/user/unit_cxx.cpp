/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the user API in C++: VT_TRACER in all the ways that a scope can end, and the macros
 * where only C++ can use them. Limits: against a stand-in for the core (double.h).
 */
#include <criterion/criterion.h>
#include <stdexcept>
#include <string>
#include <vector>

#define VTRACE
#include "vt_user.h"
#include "double.h"

namespace
{

/* As programs have it: ids that are members, defined in initialisers, used before main. */
struct counters {
	unsigned int group;
	unsigned int id;
	counters()
		: group(VT_COUNT_GROUP_DEF("Tasks")),
		  id(VT_COUNT_DEF("queue", "tasks", VT_COUNT_TYPE_UNSIGNED, group))
	{
	}
};

const counters global;
const unsigned int global_region = VT_USER_DEF("global", "G", __FILE__, __LINE__);

/* Only the enters and leaves. */
std::string events()
{
	std::string all = double_log(), result;

	for (std::string::size_type at = 0, end; (end = all.find('\n', at)) != std::string::npos;
	     at = end + 1) {
		std::string line = all.substr(at, end - at);

		if (line.compare(0, 6, "enter ") == 0)
			result += "+" + line.substr(6);
		else if (line.compare(0, 6, "leave ") == 0)
			result += "-" + line.substr(6);
	}
	return result;
}

int early(int n)
{
	VT_TRACER("early");

	if (n > 0)
		return n;
	return -n;
}

void throws(int depth)
{
	VT_TRACER("throws");

	if (!depth)
		throw std::runtime_error("out");
	throws(depth - 1);
}

template <typename T> void generic(const char *name)
{
	VT_TRACER(name);
	VT_USER_START("generic");
	VT_USER_END("generic");
}

} // namespace

#define EXPECT(want)                                                                               \
	do {                                                                                       \
		std::string got = events();                                                        \
		cr_expect(got == want, "%s", got.c_str());                                         \
	} while (0)

Test(tracer, scope)
{
	{
		VT_TRACER("outer");
		{
			VT_TRACER("inner");
		}
		VT_TRACER("second");
	}
	EXPECT("+outer+inner-inner+second-second-outer");
}

Test(tracer, early_return)
{
	early(1);
	early(-1);
	EXPECT("+early-early+early-early");
}

Test(tracer, exception)
{
	try {
		VT_TRACER("try");
		throws(2);
	} catch (const std::exception &) {
		VT_TRACER("catch");
	}
	EXPECT("+try+throws+throws+throws-throws-throws-throws-try+catch-catch");
}

Test(tracer, break_continue_goto)
{
	for (int i = 0; i < 3; i++) {
		VT_TRACER("turn");
		if (i == 0)
			continue;
		if (i == 1)
			break;
	}
	for (int i = 0;;) {
		VT_TRACER("jump");
		if (++i == 1)
			goto out;
	}
out:
	EXPECT("+turn-turn+turn-turn+jump-jump");
}

Test(tracer, ids)
{
	int as_int = static_cast<int>(global_region);

	{
		VT_TRACER(global_region);
		VT_TRACER(as_int);
	}
	EXPECT("+global+global-global-global");
}

Test(tracer, run_time_names)
{
	std::vector<std::string> names;

	names.push_back("first");
	names.push_back("second");
	for (std::vector<std::string>::size_type i = 0; i < 4; i++) {
		std::string name = names[i % 2];

		VT_TRACER(name.c_str());
		name = "changed before the end"; /* the region is left that was entered */
	}
	EXPECT("+first-first+second-second+first-first+second-second");
}

Test(tracer, without_semicolon_as_vampirtrace_allowed)
{
	VT_TRACER("plain")
	EXPECT("+plain");
}

Test(tracer, templates_and_lambdas)
{
	generic<int>("int");
	generic<double>("double");
	EXPECT("+int+generic-generic-int+double+generic-generic-double");
#if __cplusplus >= 201103L
	auto lambda = [] { VT_TRACER("lambda"); };
	lambda();
	EXPECT("+lambda-lambda");
#endif
}

Test(tracer, wrong)
{
	const char *none = NULL;
	{
		VT_TRACER("around");
		VT_TRACER(none);
		VT_TRACER(12345u);
	}
	EXPECT("+around-around");
}

Test(cxx, counters_defined_before_main)
{
	VT_COUNT_UNSIGNED_VAL(global.id, 3);
	std::string got = double_log();
	cr_expect(got == "metric \"queue\" unit=tasks group=Tasks type=4 mode=17 scope=0\n"
			 "value queue uint 3\n",
		  "%s", got.c_str());
}

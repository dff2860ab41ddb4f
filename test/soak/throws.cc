// SPDX-License-Identifier: BSD-3-Clause
/*
 * Exceptions for the player: thrown at some depth of instrumented C++ functions, caught by one above.
 *
 * Limits: C functions are not left by exceptions: the player is C.
 */
#include "play.h"

#include <stdexcept>
#include <string>

extern "C" CALLED int thrower(int depth)
{
	std::string text("thrown");

	hit(NAME_THROW);
	if (!depth)
		throw std::runtime_error(text);
	if (depth % 3 == 0) {
		VT_TRACER("u1");
		hit(U + 1);
		return thrower(depth - 1) + 1;
	}
	return thrower(depth - 1) + (int)text.size();
}

/* Every fifth one throws on; the outermost does not. */
extern "C" CALLED int catcher(int depth)
{
	hit(NAME_CATCH);
	try {
		if (depth > 0)
			catcher(depth - 1);
		return thrower(depth);
	} catch (const std::exception &) {
		if (depth % 5 == 4)
			throw;
		return depth;
	}
}

UNSEEN int throw_and_catch(int depth)
{
	try {
		return catcher(depth);
	} catch (const std::runtime_error &) {
		return -1;
	}
}

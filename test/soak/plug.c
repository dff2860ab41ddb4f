/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in that the player loads and unloads: says how often it has called itself.
 *
 * Limits: none of its own.
 */
#include "trouble/trouble.h"

CALLED int plug(int depth);
CALLED int plug(int depth)
{
	int r = depth > 0 ? plug(depth - 1) : 0;

	HERE();
	return r + 1;
}

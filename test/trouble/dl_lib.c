/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with one instrumented function, whose name is NAME: compiled twice, the two have the
 * same layout, so that the second comes to lie where the first was.
 *
 * Limits: goes with dl.c.
 */
#include "trouble.h"

int NAME(int x);

CALLED int NAME(int x)
{
	HERE();
	return x + 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library through which test/python/stacks.py pushes and pops NVTX ranges, as extension modules do.
 *
 * Limits: the default domain.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nvtx_like.h"

void range_push(const char *name);
void range_pop(void);

void range_push(const char *name)
{
	nvtxRangePushA(name);
}

void range_pop(void)
{
	nvtxRangePop();
}

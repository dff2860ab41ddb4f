/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches, copies and an allocation with known callers, on the fake device: ten launches by one function,
 * which is called by two others. The allocation takes a millisecond. Who copies and allocates has a name like
 * the runtime's.
 *
 * Limits: prints nothing.
 */
#include <stdlib.h>

#include "fake.h"

#define ALONE __attribute__((noipa))

static char host[1000];

ALONE static int take(int n)
{
	int rc = cudaLaunchKernel("_Z3addPfi", 10, 128, (void *)13); /* TAKE */

	return rc + n;
}

ALONE static int frequent(int n)
{
	return take(n) + n;
}

ALONE static int rare(int n)
{
	return take(-n) - n;
}

/* The program's, of a name like the runtime's. */
ALONE int cudaFetch(void);
ALONE int cudaFetch(void)
{
	int rc = cudaMemcpy(host, (void *)0x7000, sizeof(host), 2); /* FETCH */

	return -rc;
}

/* As of a runtime that is linked into the program. */
ALONE int cudaMalloc(void **at, size_t size);
ALONE int cudaMalloc(void **at, size_t size)
{
	uint64_t found = 0;
	int rc = cuMemAlloc_v2(&found, size);

	*at = (void *)(uintptr_t)found;
	return rc;
}

ALONE uint64_t cudaReserve(void);
ALONE uint64_t cudaReserve(void)
{
	void *at = NULL;
	int rc = cudaMalloc(&at, 1000); /* RESERVE */

	return (uint64_t)(uintptr_t)at + (uint64_t)rc;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += i % 5 ? frequent(i) : rare(i);
	for (int i = 0; i < 3; i++)
		sum += cudaFetch();
	fake_allocation(1000000);
	sum += (int)cudaReserve();
	return sum == 12345;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches, copies and a wait with known callers: ten launches of one kernel by one function, which is called by
 * two others; copies; and a kernel of 5 ms for which the host waits.
 *
 * Limits: one thread. The lines that are looked for end with a word in a comment.
 */
#include "count.h"

#define ALONE extern "C" __attribute__((noinline))
enum { TURNS = 10, COPIES = 3 };

__global__ void k_mark(int *out, int n)
{
	*out += n;
}

ALONE void take(int *out, int n)
{
	k_mark<<<1, 1>>>(out, n); /* TAKE */
	n_kernels++;
}

ALONE void frequent(int *out, int n)
{
	take(out, n);
	CK(cudaGetLastError());
}

ALONE void rare(int *out, int n)
{
	take(out, -n);
	CK(cudaGetLastError());
}

ALONE void fetch(int *to, const int *from)
{
	CK(cudaMemcpy(to, from, sizeof(*to), cudaMemcpyDeviceToHost)); /* FETCH */
	n_d2h++;
	b_d2h += sizeof(*to);
}

ALONE void settle(void)
{
	k_spin<<<1, 1>>>(5000000); /* SPIN */
	n_kernels++;
	CK(cudaDeviceSynchronize()); /* SETTLE */
}

int main(void)
{
	int *out, got = 0;

	CK(cudaMalloc(&out, sizeof(*out)));
	for (int i = 0; i < TURNS; i++) {
		if (i % 5)
			frequent(out, i);
		else
			rare(out, i);
	}
	settle();
	for (int i = 0; i < COPIES; i++)
		fetch(&got, out);
	put_counts();
	return 0;
}

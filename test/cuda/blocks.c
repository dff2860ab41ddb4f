/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves blocks as kernels with include/gputrace/blocks.cuh leave them (compiled as C++, without nvcc), of
 * launches on the fake device, which follow each other on one stream:
 *
 *   ahead    200 ms, without blocks: the others wait for it
 *   even     3.01 ms; 4 SMs, 3 blocks of 1 ms each, one after the other
 *   other    100 us, without blocks
 *   uneven   4.01 ms; 4 SMs, of which 2 has one block of 4 ms and the others one of 1 ms; room for 4 of 5
 *            blocks, and one row more that an earlier launch has left
 *   a graph  three times; of its first node, 20 us, blocks the second time
 *   nobody   a number that no launch has
 *
 * Limits: as many as are here.
 */
#include "gputrace/blocks.cuh"

extern "C" {
#include "fake.h"
}

#define US 1000ull
#define MS 1000000ull
#define START 1700000000000000000ull /* of `even`, as the GPU's clock has it */
#define STREAM ((void *)13)

int main(void)
{
	FILE *out = gputrace_blocks_open(); /* as gputrace_blocks_make() does */
	struct gputrace_block rows[12];
	int error = 0;

	if (out)
		fclose(out);
	cudaLaunchKernel("_Z5aheadv", 200000, 1, STREAM);
	cudaLaunchKernel("_Z4evenPf", 3010, 1, STREAM);
	cudaLaunchKernel("_Z5otherv", 100, 1, STREAM);
	cudaLaunchKernel("_Z6unevenv", 4010, 1, STREAM);
	for (int i = 0; i < 3; i++)
		cuGraphLaunch((void *)5, STREAM);
	cudaDeviceSynchronize();
	for (unsigned i = 0; i < 12; i++) {
		rows[i].sm = i % 4;
		rows[i].grid = 2;
		rows[i].begin = START + 5 * US + i / 4 * MS;
		rows[i].end = rows[i].begin + MS;
	}
	error |= gputrace_blocks_save(rows, 12, "even(float*)", 12);
	for (unsigned i = 0; i < 4; i++) {
		rows[i].sm = i;
		rows[i].grid = 4;
		rows[i].begin = START + 3115 * US;
		rows[i].end = rows[i].begin + (i == 2 ? 4 : 1) * MS;
	}
	error |= gputrace_blocks_save(rows, 5, "uneven\x1b[31m", 5);
	rows[0].grid = 1000001;
	rows[0].begin = START + 7172 * US;
	rows[0].end = rows[0].begin + 18 * US;
	error |= gputrace_blocks_save(rows, 1, "node", 1);
	rows[0].grid = 77;
	return error | gputrace_blocks_save(rows, 1, "nobody", 1);
}

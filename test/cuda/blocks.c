/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves blocks as kernels with include/gputrace/blocks.cuh leave them (compiled as C++, without nvcc):
 *
 *   even     4 SMs, 3 blocks of 1 ms each, one after the other
 *   uneven   4 SMs, of which 2 has one block of 4 ms and the others one of 1 ms; room for 4 of 5 blocks
 *
 * Limits: as many as are here.
 */
#include "gputrace/blocks.cuh"

#define MS 1000000ull
#define START 1700000000000000000ull /* as the GPU's clock has it */

int main(void)
{
	struct gputrace_block rows[12];
	int error;

	for (unsigned i = 0; i < 12; i++) {
		rows[i].sm = i % 4;
		rows[i].begin = START + i / 4 * MS;
		rows[i].end = rows[i].begin + MS;
	}
	error = gputrace_blocks_save(rows, 12, "even(float*)", 12);
	for (unsigned i = 0; i < 4; i++) {
		rows[i].sm = i;
		rows[i].begin = START;
		rows[i].end = START + (i == 2 ? 4 : 1) * MS;
	}
	return error ? error : gputrace_blocks_save(rows, 4, "uneven\x1b[31m", 5);
}

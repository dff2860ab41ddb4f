/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When each block of a CUDA kernel ran, and on which multiprocessor: for kernels that ask for it.
 *
 *	#include <gputrace/blocks.cuh>
 *
 *	__global__ void kernel(float *data, gputrace_blocks blocks)
 *	{
 *		gputrace_block_timer timer(blocks);
 *		...
 *	}
 *
 *	gputrace_blocks blocks = gputrace_blocks_make(grid);     // room for that many blocks of a launch
 *	kernel<<<grid, 256>>>(data, blocks);
 *	gputrace_blocks_write(blocks, "kernel", grid);           // waits for the kernel; once for each launch
 *	gputrace_blocks_free(blocks);
 *
 * gputrace source --blocks DIR shows them, and which launch of the trace they belong to. A program that is
 * not recorded writes nothing; the kernel's two reads of a timer and an atomic for each warp remain.
 *
 * Limits: C++ and nvcc; without nvcc only gputrace_blocks_save(). Times are the GPU's own (%globaltimer),
 * which steps by 32 ns on an H100 and by a microsecond on older GPUs; the launch's number (%gridid), which
 * the trace has, too, says where they lie in it. Launches that overlap need a buffer each: of what two of
 * them have left in one, the later is kept. What has no room is counted. The files are written into the
 * archive directory (VT_RUN_DIR), which other hosts must share.
 */
#ifndef GPUTRACE_BLOCKS_CUH
#define GPUTRACE_BLOCKS_CUH

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct gputrace_block {
	unsigned long long begin, end; /* ns; end 0: it did not run, or has not ended */
	unsigned sm, grid;             /* the low half of %gridid, which CUPTI's records have; 0: not known */
};

/* For a kernel: by value. */
struct gputrace_blocks {
	struct gputrace_block *rows;   /* of the device */
	unsigned room;
};

/* The file of this process in the archive; NULL: nothing is recorded, or errno. */
static inline FILE *gputrace_blocks_open(void)
{
	const char *dir = getenv("VT_RUN_DIR");
	char path[4096], host[256] = "";
	FILE *out;

	errno = 0;
	if (!dir || gethostname(host, sizeof(host) - 1))
		return NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/gpu", dir) >= sizeof(path) - 300)
		return NULL;
	if (mkdir(path, 0700) && errno != EEXIST)
		return NULL;
	errno = 0;
	sprintf(path + strlen(path), "/blocks.%s.%d", host, (int)getpid());
	out = fopen(path, "ae");
	if (out && !ftell(out))
		fprintf(out, "gputrace-blocks 1\nprocess %d %s\n", (int)getpid(), host);
	return out;
}

/*
 * Writes a launch of `launched` blocks, of which `kept` are in rows[] (in the host's memory). `kernel` is the
 * name that it gets. 0, also if nothing is recorded, or an errno.
 */
static inline int gputrace_blocks_save(const struct gputrace_block *rows, size_t kept, const char *kernel,
				       size_t launched)
{
	FILE *out = gputrace_blocks_open();
	unsigned long long first = 0, last = 0;
	size_t length = strcspn(kernel, "\n");
	unsigned grid = 0;
	int error;

	if (!out)
		return errno;
	for (size_t i = 0; i < kept; i++)
		if (rows[i].end > last) {
			last = rows[i].end;
			grid = rows[i].grid;
		}
	for (size_t i = 0; i < kept; i++)
		if (rows[i].end && rows[i].grid == grid && (!first || rows[i].begin < first))
			first = rows[i].begin;
	fprintf(out, "launch %zu %.*s\ngrid %u %llu\n", launched, (int)length, kernel, grid, first);
	for (size_t i = 0; i < kept; i++)
		if (rows[i].end >= rows[i].begin && rows[i].end && rows[i].grid == grid)
			fprintf(out, "block %zu %u %llu %llu\n", i, rows[i].sm, rows[i].begin - first,
				rows[i].end - first);
	error = ferror(out) ? EIO : 0;
	return fclose(out) && !error ? errno : error;
}

#ifdef __CUDACC__
static __device__ __forceinline__ unsigned long long gputrace_block_now(void)
{
	unsigned long long now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}

/* Stands at the top of the kernel, before any thread can leave it. */
struct gputrace_block_timer {
	struct gputrace_block *row;

	__device__ __forceinline__ explicit gputrace_block_timer(struct gputrace_blocks blocks)
	{
		unsigned long long block =
			blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y +
			(unsigned long long)gridDim.y * blockIdx.z);

		row = block < blocks.room ? blocks.rows + block : nullptr;
		if (row && !(threadIdx.x | threadIdx.y | threadIdx.z)) {
			unsigned long long grid;
			unsigned sm;

			asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
			asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
			row->sm = sm;
			row->grid = (unsigned)grid;
			row->begin = gputrace_block_now();
		}
	}

	/* The last of the warps ends the block. */
	__device__ __forceinline__ ~gputrace_block_timer()
	{
		unsigned lane;

		asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
		if (row && lane == (unsigned)__ffs((int)__activemask()) - 1)
			atomicMax(&row->end, gputrace_block_now());
	}
};

/* Room for a launch of so many blocks; none (and no times) without memory. */
static inline struct gputrace_blocks gputrace_blocks_make(size_t blocks)
{
	struct gputrace_blocks b = { nullptr, 0 };
	FILE *out = gputrace_blocks_open(); /* from now on launches have their numbers in the trace */

	if (!out)
		return b;
	fclose(out);
	if (cudaMalloc(&b.rows, blocks * sizeof(*b.rows)))
		return b;
	b.room = (unsigned)blocks;
	cudaMemset(b.rows, 0, blocks * sizeof(*b.rows));
	return b;
}

/* Writes what the launch before it left, `launched` blocks, and clears it. 0 or an errno. */
static inline int gputrace_blocks_write(struct gputrace_blocks b, const char *kernel, size_t launched)
{
	size_t kept = launched < b.room ? launched : b.room;
	struct gputrace_block *rows;
	int error;

	if (!b.room)
		return 0;
	rows = (struct gputrace_block *)malloc(kept * sizeof(*rows));
	if (!rows)
		return ENOMEM;
	error = cudaDeviceSynchronize() ||
		cudaMemcpy(rows, b.rows, kept * sizeof(*rows), cudaMemcpyDeviceToHost) ? EIO : 0;
	if (!error)
		error = gputrace_blocks_save(rows, kept, kernel, launched);
	cudaMemset(b.rows, 0, b.room * sizeof(*b.rows));
	free(rows);
	return error;
}

static inline void gputrace_blocks_free(struct gputrace_blocks b)
{
	cudaFree(b.rows);
}
#endif

#endif

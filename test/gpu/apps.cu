/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs as applications are, for what sampling costs and counts (gpu_sampled.py):
 *
 *   apps bfs SCALE N       N breadth-first searches, level by level, in a graph of 2^SCALE nodes with 16
 *                          random edges each; the host reads a flag after each level
 *   apps hydro SIDE N      N steps of explicit hydrodynamics on SIDE^3 elements of eight nodes each, after
 *                          LULESH: forces, motion, volumes, energy, and a time step that the host reads
 *   apps blocks N MS       a kernel of N blocks of MS milliseconds, of which one takes four times as long;
 *                          then "left" and "right" at the same time, of 8 blocks of MS and of 2 * MS, and
 *                          three launches of a graph of one such kernel, of 3 * MS
 *
 * Limits: prints COUNT lines as all programs of test/gpu; "warps": of all launches; "ns": from the first to
 * the end of the last. The search is checked on the host, and the sum of the forces, which must be 0.
 */
#include <cmath>
#include <vector>

#include <gputrace/blocks.cuh>

#include "count.h"

#define EDGES 16
#define BLOCK 256

static std::atomic<uint64_t> n_warps{0};

#define RUN(kernel, items, ...)                                                                    \
	do {                                                                                       \
		unsigned blocks_ = (unsigned)(((items) + BLOCK - 1) / BLOCK);                       \
		LAUNCH(kernel, blocks_, BLOCK, 0, 0, __VA_ARGS__);                                  \
		n_warps += (uint64_t)blocks_ * (BLOCK / 32);                                        \
	} while (0)

__global__ void fill(unsigned *at, size_t n, unsigned value)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		at[i] = value;
}

template <typename T> static T *room(size_t n)
{
	T *at;

	CK(cudaMalloc(&at, n * sizeof(T)));
	RUN(fill, n, (unsigned *)at, n, 0); /* by a kernel: its warps are known, those of cudaMemset() are not */
	return at;
}

template <typename T> static void fetch(T *to, const T *from, size_t n)
{
	CK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost));
	count_copy(cudaMemcpyDeviceToHost, n * sizeof(T));
}

/* ---- breadth-first search ------------------------------------------------------------------------ */

static __host__ __device__ unsigned edge(unsigned node, unsigned k, unsigned mask)
{
	unsigned x = (node * EDGES + k) * 2654435761u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return x & mask;
}

__global__ void make_edges(unsigned *edges, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned k = 0; i < n && k < EDGES; k++)
		edges[(size_t)i * EDGES + k] = edge(i, k, n - 1);
}

__global__ void reset(int *level, unsigned n, unsigned from)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		level[i] = i == from ? 0 : -1;
}

__global__ void expand(const unsigned *edges, int *level, unsigned n, int now, int *found)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n || level[i] != now)
		return;
	for (unsigned k = 0; k < EDGES; k++) {
		unsigned to = edges[(size_t)i * EDGES + k];

		if (level[to] < 0) {
			level[to] = now + 1;
			*found = 1;
		}
	}
}

static unsigned search(const unsigned *edges, int *level, int *found, unsigned n, unsigned from)
{
	int more = 1, now = 0;

	RUN(reset, n, level, n, from);
	for (; more; now++) {
		RUN(fill, 1, (unsigned *)found, 1, 0);
		RUN(expand, n, edges, level, n, now, found);
		fetch(&more, found, 1);
	}
	return (unsigned)now;
}

static int check_search(const int *level, unsigned n, unsigned from)
{
	std::vector<int> seen(n), own(n, -1);
	std::vector<unsigned> front{from}, next;

	fetch(seen.data(), level, n);
	own[from] = 0;
	for (int now = 1; !front.empty(); now++, front.swap(next), next.clear())
		for (unsigned node : front)
			for (unsigned k = 0; k < EDGES; k++) {
				unsigned to = edge(node, k, n - 1);

				if (own[to] >= 0)
					continue;
				own[to] = now;
				next.push_back(to);
			}
	return own == seen ? 0 : 1;
}

static int bfs(int scale, int times)
{
	unsigned n = 1u << scale, levels = 0;
	unsigned *edges = room<unsigned>((size_t)n * EDGES);
	int *level = room<int>(n), *found = room<int>(1);
	uint64_t begin;

	RUN(make_edges, n, edges, n);
	CK(cudaDeviceSynchronize());
	begin = now_ns();
	for (int i = 0; i < times; i++)
		levels += search(edges, level, found, n, (unsigned)i);
	put_count("ns", now_ns() - begin);
	put_count("levels", levels);
	return check_search(level, n, (unsigned)times - 1);
}

/* ---- hydrodynamics ------------------------------------------------------------------------------- */

struct mesh {
	unsigned side;                         /* elements; one node more */
	float *x[3], *v[3], *f[3];             /* of nodes */
	float *volume, *energy, *pressure, *q; /* of elements */
	float *step;                           /* the next time step */
};

static __device__ unsigned node_of(unsigned side, unsigned e, unsigned corner)
{
	unsigned i = e % side, j = e / side % side, k = e / side / side, m = side + 1;

	return (i + (corner & 1)) + m * ((j + (corner >> 1 & 1)) + m * (k + (corner >> 2)));
}

__global__ void start(struct mesh m)
{
	unsigned n = m.side + 1, i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned at[3] = { i % n, i / n % n, i / n / n };

	for (unsigned a = 0; i < n * n * n && a < 3; a++) {
		m.x[a][i] = (float)at[a] / (float)m.side;
		m.v[a][i] = 0;
	}
	if (i < m.side * m.side * m.side) {
		m.energy[i] = i ? 1e-6f : 1.0f;
		m.volume[i] = 1.0f / (float)(m.side * m.side * m.side);
		m.pressure[i] = m.q[i] = 0;
	}
	if (!i)
		*m.step = 1e-6f;
}

__global__ void clear_forces(struct mesh m)
{
	unsigned n = m.side + 1, i = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned a = 0; i < n * n * n && a < 3; a++)
		m.f[a][i] = 0;
}

__global__ void add_forces(struct mesh m)
{
	unsigned e = blockIdx.x * blockDim.x + threadIdx.x, n = m.side * m.side * m.side;
	float area, push;

	if (e >= n)
		return;
	area = cbrtf(m.volume[e]);
	push = 0.25f * (m.pressure[e] + m.q[e]) * area * area;
	for (unsigned c = 0; c < 8; c++)
		for (unsigned a = 0; a < 3; a++)
			atomicAdd(&m.f[a][node_of(m.side, e, c)], c >> a & 1 ? push : -push);
}

__global__ void move(struct mesh m)
{
	unsigned n = m.side + 1, i = blockIdx.x * blockDim.x + threadIdx.x;
	float step = *m.step, mass = 1.0f / (float)(m.side * m.side * m.side);

	for (unsigned a = 0; i < n * n * n && a < 3; a++) {
		m.v[a][i] += m.f[a][i] / mass * step;
		m.x[a][i] += m.v[a][i] * step;
	}
}

__global__ void measure(struct mesh m)
{
	unsigned e = blockIdx.x * blockDim.x + threadIdx.x, n = m.side * m.side * m.side;
	float volume = 1, strain = 0;

	if (e >= n)
		return;
	for (unsigned a = 0; a < 3; a++) {
		float low = 0, high = 0, slow = 0, fast = 0;

		for (unsigned c = 0; c < 8; c++) {
			unsigned at = node_of(m.side, e, c);

			(c >> a & 1 ? high : low) += m.x[a][at];
			(c >> a & 1 ? fast : slow) += m.v[a][at];
		}
		volume *= 0.25f * (high - low);
		strain += 0.25f * (fast - slow);
	}
	m.q[e] = strain < 0 ? 2.0f * strain * strain : 0;
	m.energy[e] -= (m.pressure[e] + m.q[e]) * (volume - m.volume[e]);
	m.volume[e] = volume;
}

__global__ void pressures(struct mesh m)
{
	unsigned e = blockIdx.x * blockDim.x + threadIdx.x, n = m.side * m.side * m.side;

	for (int i = 0; e < n && i < 8; i++) { /* as an equation of state is iterated */
		float p = 0.4f * m.energy[e] / (m.volume[e] * (float)n);

		m.pressure[e] += 0.5f * (p - m.pressure[e]);
	}
}

__global__ void next_step(struct mesh m, float *least)
{
	unsigned e = blockIdx.x * blockDim.x + threadIdx.x, n = m.side * m.side * m.side;
	float speed = e < n ? sqrtf(1.4f * fabsf(m.pressure[e]) + 1e-3f) : 1e-3f;
	float step = 0.1f * cbrtf(1.0f / (float)n) / speed;

	for (int i = 16; i; i /= 2)
		step = fminf(step, __shfl_xor_sync(0xffffffffu, step, i));
	if (!(threadIdx.x & 31))
		atomicMin((int *)least, __float_as_int(step)); /* of numbers above 0 */
}

static int hydro(int side, int steps)
{
	struct mesh m = { .side = (unsigned)side };
	size_t elements = (size_t)side * side * side, nodes = (size_t)(side + 1) * (side + 1) * (side + 1);
	double sum = 0, size = 0;
	uint64_t begin;
	float step;

	for (int a = 0; a < 3; a++) {
		m.x[a] = room<float>(nodes);
		m.v[a] = room<float>(nodes);
		m.f[a] = room<float>(nodes);
	}
	m.volume = room<float>(elements);
	m.energy = room<float>(elements);
	m.pressure = room<float>(elements);
	m.q = room<float>(elements);
	m.step = room<float>(1);
	RUN(start, nodes, m);
	CK(cudaDeviceSynchronize());
	begin = now_ns();
	for (int i = 0; i < steps; i++) {
		RUN(clear_forces, nodes, m);
		RUN(add_forces, elements, m);
		RUN(move, nodes, m);
		RUN(measure, elements, m);
		RUN(pressures, elements, m);
		RUN(fill, 1, (unsigned *)m.step, 1, 0x3f3f3f3f);
		RUN(next_step, elements, m, m.step);
		fetch(&step, m.step, 1);
	}
	put_count("ns", now_ns() - begin);
	std::vector<float> force(nodes);
	fetch(force.data(), m.f[0], nodes);
	for (float f : force) {
		sum += f;
		size += fabs(f);
	}
	return step > 0 && size > 0 && fabs(sum) < 1e-4 * size ? 0 : 1;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

__global__ void spin(gputrace_blocks blocks, uint64_t ns)
{
	gputrace_block_timer timer(blocks);
	uint64_t begin = gputrace_block_now(), time = blockIdx.x ? ns : 4 * ns;

	while (gputrace_block_now() - begin < time)
		;
}

static int run_blocks(int count, int ms)
{
	gputrace_blocks some = gputrace_blocks_make((size_t)count), other = gputrace_blocks_make(8);
	uint64_t ns = (uint64_t)ms * 1000000u;
	cudaStream_t left, right;
	cudaGraphExec_t launched;
	cudaGraph_t graph;
	int wrong;

	LAUNCH(spin, count, 1024, 0, 0, some, ns);
	wrong = gputrace_blocks_write(some, "spin", (size_t)count);
	CK(cudaStreamCreate(&left));
	CK(cudaStreamCreate(&right));
	LAUNCH(spin, 8, 32, 0, left, some, ns);
	LAUNCH(spin, 8, 32, 0, right, other, 2 * ns);
	wrong |= gputrace_blocks_write(some, "left", 8);
	wrong |= gputrace_blocks_write(other, "right", 8);
	CK(cudaStreamBeginCapture(left, cudaStreamCaptureModeGlobal));
	spin<<<8, 32, 0, left>>>(other, 3 * ns);
	CK(cudaStreamEndCapture(left, &graph));
	CK(cudaGraphInstantiate(&launched, graph, 0));
	for (int i = 0; i < 3; i++, n_kernels++) {
		CK(cudaGraphLaunch(launched, left));
		CK(cudaStreamSynchronize(left));
		wrong |= gputrace_blocks_write(other, "graph", 8);
	}
	gputrace_blocks_free(some);
	gputrace_blocks_free(other);
	return wrong;
}

int main(int argc, char **argv)
{
	int size = argc > 2 ? atoi(argv[2]) : 20, times = argc > 3 ? atoi(argv[3]) : 10;
	const char *what = argc > 1 ? argv[1] : "";
	int wrong = !strcmp(what, "hydro") ? hydro(size, times) :
		!strcmp(what, "blocks") ? run_blocks(size, times) : bfs(size, times);

	CK(cudaDeviceSynchronize());
	put_count("warps", n_warps);
	put_counts();
	return wrong;
}

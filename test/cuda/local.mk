# SPDX-License-Identifier: BSD-3-Clause
# The CUDA adapter without a GPU: a fake driver and a fake CUPTI.
dist_check_SCRIPTS += test/cuda/fake.test test/cuda/replay.test test/cuda/abi.test test/cuda/nvtx.test test/cuda/options.test test/cuda/metrics.test test/cuda/sampling.test test/cuda/exact.test test/cuda/events.test
EXTRA_DIST += test/cuda/fake.h test/cuda/fake_cuda.c test/cuda/fake_cupti.c test/cuda/fake_profiler.c test/cuda/buffers.c test/cuda/sampling.c test/cuda/exact.c test/cuda/simple.c test/cuda/blocks.c test/cuda/ends.c test/cuda/errors.c test/cuda/options.c test/cuda/nvtx.c test/cuda/nvtx_trouble.c test/cuda/nvtx_abi.c test/cuda/nvtx_like.h \
	test/cuda/fake_events.c test/cuda/fake_pcsampling.c test/cuda/fake_sass.c test/cuda/common.sh test/cuda/versions.sh test/cuda/abi.c test/cuda/abi_events.c test/cuda/golden
dist_check_SCRIPTS += test/cuda/pcsampling.test test/cuda/source.test test/cuda/sass.test test/cuda/blocks.test \
	test/cuda/callers.test
EXTRA_DIST += test/cuda/callers.c

# Captures of real GPUs, played into the adapter: replay links it with a double of the core.
check_PROGRAMS += test/cuda/replay
test_cuda_replay_SOURCES = test/cuda/replay.c
test_cuda_replay_CFLAGS = $(AM_CFLAGS)
test_cuda_replay_LDADD = cuda/libgtcuda.la -ldl -lpthread
EXTRA_DIST += test/cuda/libgputrace-cuda.symbols

# SPDX-License-Identifier: BSD-3-Clause
# The suite for a machine with a GPU: run by hand, test/gpu/run.
EXTRA_DIST += test/gpu/run test/gpu/table.py test/gpu/gpu_trace.py test/gpu/gpu_cases.py test/gpu/gpu_bench.py test/gpu/gpu_capture.py \
	test/gpu/count.h test/gpu/self.h test/gpu/work.cu test/gpu/driver.cu test/gpu/blas.cu test/gpu/kernels.cu \
	test/gpu/loop.cu test/gpu/peer.cu test/gpu/reference.c test/gpu/torch_step.py \
	test/gpu/torch_loop.py test/gpu/torch_two.py test/gpu/cupy_some.py test/gpu/jax_some.py \
	test/gpu/turns.c test/gpu/gpu_wrapped.py test/gpu/gpu_sampled.py test/gpu/sampled.cu test/gpu/gpu_exact.py test/gpu/exact.cu test/gpu/calls.h test/gpu/fft.cu test/gpu/solve.cu test/gpu/sparse.cu \
	test/gpu/sums.cu test/gpu/gpu_more.py test/gpu/host.cu test/gpu/nvtx.cu test/gpu/subscriber.c test/gpu/ranks.cu \
	test/gpu/gpu_kokkos.py test/gpu/kokkos.cpp test/gpu/gpu_nccl.py test/gpu/nccl.c \
	test/gpu/gpu_findings.py test/gpu/faults.cu test/gpu/gpu_pc.py test/gpu/pc.cu test/gpu/apps.cu test/gpu/callers.cu \
	test/gpu/gpu_whatif.py test/gpu/whatif.cu

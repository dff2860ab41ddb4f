# SPDX-License-Identifier: BSD-3-Clause
# Rules about the tree itself.
dist_check_SCRIPTS += test/tree/layers.test test/tree/messages.test test/tree/symbols.test test/tree/headers.test \
	test/tree/style.test
EXTRA_DIST += test/tree/libgputrace.symbols test/tree/libgputrace-pthread.symbols \
	test/tree/libgputrace-counters.symbols test/tree/libgputrace-kokkos.symbols test/tree/libgputrace-nccl.symbols test/tree/libgputrace-hip.symbols test/tree/libgputrace-levelzero.symbols test/tree/libgputrace-opencl.symbols test/tree/libgputrace-openmp.symbols \
	test/tree/libgputrace-python.symbols \
	test/tree/libgputrace-cuda.symbols test/tree/libgputrace-mpi-openmpi.symbols \
	test/tree/libgputrace-mpi-mpich.symbols \
	test/tree/libgputrace.needs test/tree/codespell.ignore

# SPDX-License-Identifier: BSD-3-Clause
# The HIP adapter without a GPU: a fake runtime and a fake rocprofiler-sdk.
dist_check_SCRIPTS += test/hip/fake.test test/hip/abi.test
EXTRA_DIST += test/hip/fake.h test/hip/fake_hip.c test/hip/fake_hsa.c test/hip/fake_rocprofiler.c test/hip/program.c test/hip/abi.c
EXTRA_DIST += test/hip/libgputrace-hip.symbols

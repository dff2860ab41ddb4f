# SPDX-License-Identifier: BSD-3-Clause
# OpenCL.
dist_check_SCRIPTS += test/opencl/opencl.test
EXTRA_DIST += test/opencl/abi.c test/opencl/compare.py test/opencl/program.c
EXTRA_DIST += test/opencl/libgputrace-opencl.symbols

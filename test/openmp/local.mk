# SPDX-License-Identifier: BSD-3-Clause
# OpenMP.
dist_check_SCRIPTS += test/openmp/openmp.test
EXTRA_DIST += test/openmp/abi.c test/openmp/compare.py test/openmp/constructs.c test/openmp/counts.c test/openmp/fake.c test/openmp/gomp.c
EXTRA_DIST += test/openmp/libgputrace-openmp.symbols

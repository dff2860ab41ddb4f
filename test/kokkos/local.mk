# SPDX-License-Identifier: BSD-3-Clause
# Kokkos.
dist_check_SCRIPTS += test/kokkos/kokkos.test test/kokkos/real.test
EXTRA_DIST += test/kokkos/abi.c test/kokkos/compare.py test/kokkos/counts.c test/kokkos/fake.c test/kokkos/real.cpp \
	 test/kokkos/kokkoscore.c test/kokkos/kokkoscore.h
EXTRA_DIST += test/kokkos/libgputrace-kokkos.symbols

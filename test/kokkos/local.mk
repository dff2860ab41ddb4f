# SPDX-License-Identifier: BSD-3-Clause
# Kokkos.
dist_check_SCRIPTS += test/kokkos/kokkos.test
EXTRA_DIST += test/kokkos/compare.py test/kokkos/fake.c test/kokkos/kokkoscore.c test/kokkos/kokkoscore.h

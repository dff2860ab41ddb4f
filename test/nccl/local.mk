# SPDX-License-Identifier: BSD-3-Clause
# NCCL.
dist_check_SCRIPTS += test/nccl/nccl.test
EXTRA_DIST += test/nccl/compare.py test/nccl/fake.c
EXTRA_DIST += test/nccl/libgputrace-nccl.symbols

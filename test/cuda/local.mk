# SPDX-License-Identifier: BSD-3-Clause
# The CUDA adapter without a GPU: a fake driver and a fake CUPTI.
dist_check_SCRIPTS += test/cuda/fake.test
EXTRA_DIST += test/cuda/fake.h test/cuda/fake_cuda.c test/cuda/fake_cupti.c test/cuda/simple.c \
	test/cuda/common.sh

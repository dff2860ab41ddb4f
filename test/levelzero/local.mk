# SPDX-License-Identifier: BSD-3-Clause
# Level Zero.
dist_check_SCRIPTS += test/levelzero/levelzero.test
EXTRA_DIST += test/levelzero/abi.c test/levelzero/compare.py test/levelzero/device.c test/levelzero/driver.c \
	test/levelzero/driver.h test/levelzero/program.c test/levelzero/tables.c
EXTRA_DIST += test/levelzero/libgputrace-levelzero.symbols

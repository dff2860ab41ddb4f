# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += test/assemble/own.c test/assemble/count_threads.c test/assemble/mixed.c
dist_check_SCRIPTS += test/assemble/threads.test test/assemble/own.test

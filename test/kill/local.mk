# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/kill/kill.test test/kill/grown.test test/kill/rate.test
EXTRA_DIST += test/kill/rate.c

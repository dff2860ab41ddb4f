# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/proc/proc.test
EXTRA_DIST += test/proc/waits.c

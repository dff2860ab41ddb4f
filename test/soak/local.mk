# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/soak/soak.test
EXTRA_DIST += test/soak/soak.c

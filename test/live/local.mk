# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/live/live.test
EXTRA_DIST += test/live/state.c

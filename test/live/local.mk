# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/live/live.test test/live/ranks.test
EXTRA_DIST += test/live/ranks.c test/live/state.c

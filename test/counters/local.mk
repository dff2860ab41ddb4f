# SPDX-License-Identifier: BSD-3-Clause
# Counters: what the sources said is in the archive, where it belongs.
dist_check_SCRIPTS += test/counters/counters.test
EXTRA_DIST += test/counters/sums.py test/counters/usage.c

# SPDX-License-Identifier: BSD-3-Clause
# Sampling: the unwinder at every instruction; what programs see of it; whose time it finds.
dist_check_SCRIPTS += test/sampling/same.test test/sampling/split.test test/sampling/steps.test
EXTRA_DIST += test/sampling/signals.c test/sampling/split.c test/sampling/split.py test/sampling/steps.c
EXTRA_DIST += test/sampling/libgputrace-sampling.symbols

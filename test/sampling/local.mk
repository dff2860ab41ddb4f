# SPDX-License-Identifier: BSD-3-Clause
# Sampling: the unwinder at every instruction.
dist_check_SCRIPTS += test/sampling/steps.test
EXTRA_DIST += test/sampling/steps.c

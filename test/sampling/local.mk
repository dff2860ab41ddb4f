# SPDX-License-Identifier: BSD-3-Clause
# Sampling: the unwinder at every instruction, and on stacks and tables of all kinds; what programs see of it;
# whose time it finds, and the paths in the archive.
dist_check_SCRIPTS += test/sampling/auto.test test/sampling/callers.test test/sampling/inlined.test \
	test/sampling/jit.test test/sampling/paths.test test/sampling/same.test test/sampling/split.test \
	test/sampling/stacks.test test/sampling/steps.test \
	test/sampling/sums.test
EXTRA_DIST += test/sampling/auto.c test/sampling/callers.c test/sampling/callers.py test/sampling/contexts.py \
	test/sampling/damaged.c \
	test/sampling/inlined.c test/sampling/jit.c test/sampling/own_stack.h \
	test/sampling/paths.c test/sampling/paths.py test/sampling/rewind.c test/sampling/signals.c \
	test/sampling/split.c test/sampling/split.py test/sampling/recount.py test/sampling/stacks.c test/sampling/steps.c \
	test/sampling/steps_throw.cc test/sampling/sums.c test/sampling/swapped.c test/sampling/swapped_lib.c \
	test/sampling/unwinder.sh
EXTRA_DIST += test/sampling/libgputrace-sampling.symbols

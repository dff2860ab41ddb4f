# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/filter/tool.test
dist_check_SCRIPTS += test/filter/record.test
EXTRA_DIST += test/filter/calls.c test/filter/names.cc test/filter/again.c test/filter/full.c
dist_check_SCRIPTS += test/filter/suggest.test
dist_check_SCRIPTS += test/filter/off.test
EXTRA_DIST += test/filter/off.c test/filter/off_refused.c
EXTRA_DIST += test/filter/flood.cc

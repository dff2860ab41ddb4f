# SPDX-License-Identifier: BSD-3-Clause
# Counters: what the sources said is in the archive, where it belongs.
if HAVE_CRITERION
CRITERION_TESTS += test/counters/perf
test_counters_perf_SOURCES = test/counters/test_perf.c counters/perf.c counters/rapl.c
test_counters_perf_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_counters_perf_LDADD = $(CRITERION_LIBS)
endif

dist_check_SCRIPTS += test/counters/counters.test
EXTRA_DIST += test/counters/alone.c test/counters/blocks.c test/counters/descriptors.c test/counters/fake_nvml.c test/counters/grow.c test/counters/last.c test/counters/late_reads.c test/counters/steps.c test/counters/sums.py test/counters/usage.c
dist_check_SCRIPTS += test/counters/plugins.test test/counters/readers.test
EXTRA_DIST += test/counters/sums.awk test/counters/sums_pipit.py test/counters/units.c test/counters/units_plugin.c
EXTRA_DIST += test/counters/bad_plugin.c test/counters/forks.c test/counters/known.c test/counters/scorep_like.c test/counters/update.c
EXTRA_DIST += test/counters/libgputrace-counters.symbols

# SPDX-License-Identifier: BSD-3-Clause
# Criterion programs that link lib/libgtcommon.la and the sources they test.
if HAVE_CRITERION
UNIT_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
UNIT_LIBS = lib/libgtcommon.la $(CRITERION_LIBS)

CRITERION_TESTS += test/unit/settings
test_unit_settings_SOURCES = test/unit/test_settings.c
test_unit_settings_CFLAGS = $(UNIT_CFLAGS)
test_unit_settings_LDADD = $(UNIT_LIBS)

CRITERION_TESTS += test/unit/summary
test_unit_summary_SOURCES = test/unit/test_summary.c
test_unit_summary_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_summary_LDADD = report/libgtreport.la lib/libgtassemble.la $(UNIT_LIBS) -lutil

CRITERION_TESTS += test/unit/signals
test_unit_signals_SOURCES = test/unit/test_signals.c
test_unit_signals_CFLAGS = $(UNIT_CFLAGS)
test_unit_signals_LDADD = lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/sized
test_unit_sized_SOURCES = test/unit/test_sized.c
test_unit_sized_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_sized_LDADD = $(UNIT_LIBS)

CRITERION_TESTS += test/unit/shorten
test_unit_shorten_SOURCES = test/unit/test_shorten.c
test_unit_shorten_CFLAGS = $(UNIT_CFLAGS)
test_unit_shorten_LDADD = lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/windows
test_unit_windows_SOURCES = test/unit/test_windows.c live/windows.c live/windows.h
test_unit_windows_CFLAGS = $(UNIT_CFLAGS)
test_unit_windows_LDADD = lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/pcsamples
test_unit_pcsamples_SOURCES = test/unit/test_pcsamples.c
test_unit_pcsamples_CFLAGS = $(UNIT_CFLAGS)
test_unit_pcsamples_LDADD = report/libgtreport.la lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/match
test_unit_match_SOURCES = test/unit/test_match.c
test_unit_match_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_match_LDADD = report/libgtreport.la lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/jit
test_unit_jit_SOURCES = test/unit/test_jit.c
test_unit_jit_CFLAGS = $(UNIT_CFLAGS)
test_unit_jit_LDADD = lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/symbols
test_unit_symbols_SOURCES = test/unit/test_symbols.c
test_unit_symbols_CFLAGS = $(UNIT_CFLAGS)
test_unit_symbols_LDADD = lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/filter
test_unit_filter_SOURCES = test/unit/test_filter.c
test_unit_filter_CFLAGS = $(UNIT_CFLAGS)
test_unit_filter_LDADD = $(UNIT_LIBS)

CRITERION_TESTS += test/unit/elfsym
test_unit_elfsym_SOURCES = test/unit/test_elfsym.c lib/record/elfsym.c lib/record/elfsym.h
test_unit_elfsym_CFLAGS = $(UNIT_CFLAGS)
test_unit_elfsym_LDADD = $(UNIT_LIBS) -ldl

CRITERION_TESTS += test/unit/needed
test_unit_needed_SOURCES = test/unit/test_needed.c
test_unit_needed_CFLAGS = $(UNIT_CFLAGS)
test_unit_needed_LDFLAGS = $(AM_LDFLAGS) -rdynamic
test_unit_needed_LDADD = $(UNIT_LIBS)

CRITERION_TESTS += test/unit/quota
test_unit_quota_SOURCES = test/unit/test_quota.c
test_unit_quota_CFLAGS = $(UNIT_CFLAGS)
test_unit_quota_LDADD = $(UNIT_LIBS)

CRITERION_TESTS += test/unit/states
test_unit_states_SOURCES = test/unit/test_states.c
test_unit_states_CFLAGS = $(UNIT_CFLAGS)
test_unit_states_LDADD = $(UNIT_LIBS)

CRITERION_TESTS += test/unit/accel_clock
test_unit_accel_clock_SOURCES = test/unit/test_accel_clock.c accel/clock.c
test_unit_accel_clock_CFLAGS = $(UNIT_CFLAGS)
test_unit_accel_clock_LDADD = $(UNIT_LIBS)

# The filter on the recording side, with a double of the core.
check_LTLIBRARIES += test/unit/libgtverdicts.la
test_unit_libgtverdicts_la_SOURCES = test/unit/double_core.c test/unit/double_core.h lib/record/lock.c \
	lib/record/verdict.c lib/record/verdict_first.c lib/record/verdict_name.c lib/record/elfsym.c \
	lib/record/callstack.c
test_unit_libgtverdicts_la_CFLAGS = $(UNIT_CFLAGS)

CRITERION_TESTS += test/unit/verdict
test_unit_verdict_SOURCES = test/unit/test_verdict.c
test_unit_verdict_CFLAGS = $(UNIT_CFLAGS)
test_unit_verdict_LDADD = test/unit/libgtverdicts.la $(UNIT_LIBS) -lpthread

CRITERION_TESTS += test/unit/callstack
test_unit_callstack_SOURCES = test/unit/test_callstack.c
test_unit_callstack_CFLAGS = $(UNIT_CFLAGS)
test_unit_callstack_LDADD = test/unit/libgtverdicts.la $(UNIT_LIBS)
CRITERION_TESTS += test/unit/pack test/unit/rundir
test_unit_pack_SOURCES = test/unit/test_pack.c
test_unit_pack_CFLAGS = $(UNIT_CFLAGS)
test_unit_pack_LDADD = $(UNIT_LIBS)
test_unit_rundir_SOURCES = test/unit/test_rundir.c
test_unit_rundir_CFLAGS = $(UNIT_CFLAGS)
test_unit_rundir_LDADD = $(UNIT_LIBS)

# The assembly from made-up spools, its archives read back with lib/read.
check_LTLIBRARIES += test/unit/libgtspools.la
test_unit_libgtspools_la_SOURCES = test/unit/mkspool.c test/unit/mkspool.h test/unit/readback.c \
	test/unit/readback.h test/unit/expect.c test/unit/expect.h
test_unit_libgtspools_la_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
UNIT_SPOOL = test/unit/libgtspools.la lib/libgtassemble.la $(UNIT_LIBS)

CRITERION_TESTS += test/unit/unpack
test_unit_unpack_SOURCES = test/unit/test_unpack.c
test_unit_unpack_CFLAGS = $(UNIT_CFLAGS)
test_unit_unpack_LDADD = $(UNIT_SPOOL)
CRITERION_TESTS += test/unit/archive
test_unit_archive_SOURCES = test/unit/test_archive.c
test_unit_archive_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_archive_LDFLAGS = -Wl,--wrap=gt_convert_metric
test_unit_archive_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble
test_unit_assemble_SOURCES = test/unit/test_assemble.c
test_unit_assemble_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble_records
test_unit_assemble_records_SOURCES = test/unit/test_assemble_records.c
test_unit_assemble_records_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_records_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble_clock
test_unit_assemble_clock_SOURCES = test/unit/test_assemble_clock.c
test_unit_assemble_clock_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_clock_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/order
test_unit_order_SOURCES = test/unit/test_order.c
test_unit_order_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_order_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble_gpu
test_unit_assemble_gpu_SOURCES = test/unit/test_assemble_gpu.c
test_unit_assemble_gpu_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_gpu_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble_io
test_unit_assemble_io_SOURCES = test/unit/test_assemble_io.c
test_unit_assemble_io_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_io_LDADD = $(UNIT_SPOOL)

# It looks for lines of its own code: the debug information must have them.
CRITERION_TESTS += test/unit/assemble_samples
test_unit_assemble_samples_SOURCES = test/unit/test_assemble_samples.c
test_unit_assemble_samples_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS) -g
test_unit_assemble_samples_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble_ranges
test_unit_assemble_ranges_SOURCES = test/unit/test_assemble_ranges.c test/unit/test_assemble_stacks.c
test_unit_assemble_ranges_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_ranges_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/assemble_links
test_unit_assemble_links_SOURCES = test/unit/test_assemble_links.c
test_unit_assemble_links_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_assemble_links_LDADD = $(UNIT_SPOOL)

CRITERION_TESTS += test/unit/read
test_unit_read_SOURCES = test/unit/test_read.c
test_unit_read_CFLAGS = $(UNIT_CFLAGS) $(OTF2_CFLAGS)
test_unit_read_LDADD = $(UNIT_SPOOL)

endif

# The unit tests alone.
check-unit: $(CRITERION_TESTS)
	@test -n "$(CRITERION_TESTS)" || { echo "check-unit: configure found no Criterion" >&2; exit 1; }
	@$(AM_TESTS_ENVIRONMENT) for t in $(CRITERION_TESTS); do echo $$t; ./$$t --quiet || exit 1; done
.PHONY: check-unit

if HAVE_CXX
# Speaks TAP by itself.
check_PROGRAMS += test/unit/demangle
TESTS += test/unit/demangle
test_unit_demangle_SOURCES = test/unit/test_demangle.cc
test_unit_demangle_LDADD = lib/libgtcommon.la
endif
EXTRA_DIST += test/unit/symbols.src/show.h test/unit/symbols.src/main.c test/unit/symbols.src/other.c \
	test/unit/symbols.src/lib.h test/unit/symbols.src/lib.c test/unit/symbols.src/lib.map test/unit/symbols.src/cxx.cc

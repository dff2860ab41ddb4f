# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-counters.so: the adapter for counters. A source of them is one file and a line in sources.def.
lib_LTLIBRARIES += counters/libgputrace-counters.la
counters_libgputrace_counters_la_SOURCES = counters/async.c counters/counters.h counters/heap.c counters/host.c \
	counters/life.c counters/list.c counters/names.c counters/nvml.c counters/papi.c counters/perf.c \
	counters/perf.h counters/plugins.c counters/proc.c counters/rapl.c counters/reader.c counters/rusage.c \
	counters/scorep.c counters/scorep.h counters/sink.c counters/sources.c counters/sources.def counters/sync.c
counters_libgputrace_counters_la_CFLAGS = $(AM_CFLAGS) -fno-plt
counters_libgputrace_counters_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/counters/libgputrace-counters.map
counters_libgputrace_counters_la_LIBADD = lib/libgputrace.la -ldl -lpthread
EXTRA_counters_libgputrace_counters_la_DEPENDENCIES = counters/libgputrace-counters.map
EXTRA_DIST += counters/libgputrace-counters.map

SETTINGS += counters/settings.def
include test/counters/local.mk

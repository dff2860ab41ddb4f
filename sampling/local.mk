# SPDX-License-Identifier: BSD-3-Clause
# Samples of unmodified programs. libgtunwind.la: the unwinder, which runs in a signal handler.
noinst_LTLIBRARIES += sampling/libgtunwind.la
sampling_libgtunwind_la_SOURCES = sampling/cpu.h sampling/objects.c sampling/objects.h sampling/peek.c \
	sampling/peek.h sampling/rows.c sampling/rows.h sampling/tables.c sampling/tables.h sampling/unwind.h \
	sampling/walk.c
# A handler saves no vector registers, calls nothing of libc, and reads what a sanitizer would object to.
sampling_libgtunwind_la_CFLAGS = $(AM_CFLAGS) $(HANDLER_CFLAGS)

# libgputrace-sampling.so: the adapter.
lib_LTLIBRARIES += sampling/libgputrace-sampling.la
sampling_libgputrace_sampling_la_SOURCES = sampling/arm.c sampling/hide.c sampling/life.c sampling/paths.c sampling/sample.c \
	sampling/sampling.h
sampling_libgputrace_sampling_la_CFLAGS = $(AM_CFLAGS) -fno-plt
sampling_libgputrace_sampling_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/sampling/libgputrace-sampling.map
sampling_libgputrace_sampling_la_LIBADD = sampling/libgtunwind.la lib/libgputrace.la
EXTRA_sampling_libgputrace_sampling_la_DEPENDENCIES = sampling/libgputrace-sampling.map
EXTRA_DIST += sampling/libgputrace-sampling.map

SETTINGS += sampling/settings.def
dist_doc_DATA += doc/sampling.md
include test/sampling/local.mk

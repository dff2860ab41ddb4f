# SPDX-License-Identifier: BSD-3-Clause
# Samples of unmodified programs. libgtunwind.la: the unwinder, which runs in a signal handler.
noinst_LTLIBRARIES += sampling/libgtunwind.la
sampling_libgtunwind_la_SOURCES = sampling/objects.c sampling/objects.h sampling/peek.c sampling/peek.h \
	sampling/rows.c sampling/rows.h sampling/tables.c sampling/tables.h sampling/unwind.h sampling/walk.c
# A handler saves no vector registers, calls nothing of libc, and reads what a sanitizer would object to.
sampling_libgtunwind_la_CFLAGS = $(AM_CFLAGS) $(HANDLER_CFLAGS)
include test/sampling/local.mk

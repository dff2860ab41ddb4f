# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-openmp.so: the adapter for OpenMP.
lib_libgtassemble_la_SOURCES += openmp/assemble/openmp.c
lib_LTLIBRARIES += openmp/libgputrace-openmp.la
openmp_libgputrace_openmp_la_SOURCES = openmp/adapter.c openmp/gomp.c openmp/gomp.def openmp/gomp.h openmp/gomp_real.c \
	openmp/gomp_sync.c openmp/gomp_task.c openmp/ompt.h openmp/openmp.h openmp/record.c openmp/regions.c
openmp_libgputrace_openmp_la_CFLAGS = $(AM_CFLAGS) -fno-plt
openmp_libgputrace_openmp_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/openmp/libgputrace-openmp.map
openmp_libgputrace_openmp_la_LIBADD = lib/libgputrace.la
EXTRA_openmp_libgputrace_openmp_la_DEPENDENCIES = openmp/libgputrace-openmp.map
EXTRA_DIST += openmp/libgputrace-openmp.map

SETTINGS += openmp/settings.def
dist_doc_DATA += doc/openmp.md
include test/openmp/local.mk

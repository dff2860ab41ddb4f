# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-kokkos.so: the adapter for Kokkos.
lib_LTLIBRARIES += kokkos/libgputrace-kokkos.la
kokkos_libgputrace_kokkos_la_SOURCES = kokkos/adapter.c kokkos/kokkos.h kokkos/kokkosp.h kokkos/names.c \
	kokkos/sections.c kokkos/spaces.c
kokkos_libgputrace_kokkos_la_CFLAGS = $(AM_CFLAGS) -fno-plt
kokkos_libgputrace_kokkos_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/kokkos/libgputrace-kokkos.map
kokkos_libgputrace_kokkos_la_LIBADD = lib/libgputrace.la
EXTRA_kokkos_libgputrace_kokkos_la_DEPENDENCIES = kokkos/libgputrace-kokkos.map
EXTRA_DIST += kokkos/libgputrace-kokkos.map

SETTINGS += kokkos/settings.def
dist_doc_DATA += doc/kokkos.md
include test/kokkos/local.mk

# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-nccl.so: the adapter for NCCL, a profiler plug-in.
lib_libgtassemble_la_SOURCES += nccl/assemble/nccl.c
lib_LTLIBRARIES += nccl/libgputrace-nccl.la
nccl_libgputrace_nccl_la_SOURCES = nccl/calls.c nccl/comms.c nccl/events.c nccl/names.c nccl/nccl.h nccl/plugin.c nccl/plugin.h \
	nccl/proxy.c
nccl_libgputrace_nccl_la_CFLAGS = $(AM_CFLAGS) -fno-plt
nccl_libgputrace_nccl_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/nccl/libgputrace-nccl.map
nccl_libgputrace_nccl_la_LIBADD = lib/libgputrace.la
EXTRA_nccl_libgputrace_nccl_la_DEPENDENCIES = nccl/libgputrace-nccl.map
EXTRA_DIST += nccl/libgputrace-nccl.map

SETTINGS += nccl/settings.def
dist_doc_DATA += doc/nccl.md
include test/nccl/local.mk

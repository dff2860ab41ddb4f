# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-levelzero.so: the adapter for Level Zero, by the tracing layer of its loader.
lib_libgtassemble_la_SOURCES += levelzero/assemble/levelzero.c
lib_LTLIBRARIES += levelzero/libgputrace-levelzero.la
levelzero_libgputrace_levelzero_la_SOURCES = levelzero/abi.h levelzero/api.c levelzero/clock.c levelzero/commands.c levelzero/events.c \
	levelzero/layer.c levelzero/levelzero.h levelzero/objects.c levelzero/work.c
levelzero_libgputrace_levelzero_la_CFLAGS = $(AM_CFLAGS) -fno-plt
levelzero_libgputrace_levelzero_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/levelzero/libgputrace-levelzero.map
levelzero_libgputrace_levelzero_la_LIBADD = accel/libgtaccel.la lib/libgputrace.la -ldl -lpthread
EXTRA_levelzero_libgputrace_levelzero_la_DEPENDENCIES = levelzero/libgputrace-levelzero.map
EXTRA_DIST += levelzero/calls.def levelzero/libgputrace-levelzero.map

SETTINGS += levelzero/settings.def
dist_doc_DATA += doc/levelzero.md
include test/levelzero/local.mk

# SPDX-License-Identifier: BSD-3-Clause
# libgputrace.so: the core (lib/common, lib/record) with the function hooks and the user API.
lib_LTLIBRARIES += lib/libgputrace.la
lib_libgputrace_la_SOURCES =
# nodelete: an instrumented plug-in may bring the library into a program that did not ask for it; the
# dlclose of the plug-in must not take it away again.
lib_libgputrace_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/lib/libgputrace.map
lib_libgputrace_la_LIBADD =
EXTRA_lib_libgputrace_la_DEPENDENCIES = lib/libgputrace.map
EXTRA_DIST += lib/libgputrace.map

# What the tools and the recording side share, and the assembly (tools only).
noinst_LTLIBRARIES += lib/libgtcommon.la lib/libgtassemble.la
lib_libgtcommon_la_SOURCES =
lib_libgtassemble_la_SOURCES =
lib_libgtassemble_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS) $(DW_CFLAGS)
lib_libgtassemble_la_LIBADD = lib/libgtcommon.la $(OTF2_LIBS) $(DW_LIBS) $(DEMANGLE_LIBS) -lpthread
lib_libgputrace_la_LIBADD += lib/libgtcommon.la

EXTRA_DIST += lib/format.h
include lib/common/local.mk
include lib/record/local.mk
include lib/assemble/local.mk
include lib/read/local.mk

# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-hip.so: the adapter for HIP, a tool of rocprofiler-sdk. It needs nothing of ROCm to build, and links none.
lib_libgtassemble_la_SOURCES += hip/assemble/hip.c
lib_LTLIBRARIES += hip/libgputrace-hip.la
hip_libgputrace_hip_la_SOURCES = hip/agents.c hip/api.c hip/calls.c hip/hip.h hip/life.c hip/markers.c hip/memory.c hip/records.c \
	hip/rocprofiler.h hip/state.c
hip_libgputrace_hip_la_CFLAGS = $(AM_CFLAGS) -fno-plt
hip_libgputrace_hip_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/hip/libgputrace-hip.map
hip_libgputrace_hip_la_LIBADD = accel/libgtaccel.la lib/libgputrace.la -ldl -lpthread
EXTRA_hip_libgputrace_hip_la_DEPENDENCIES = hip/libgputrace-hip.map
EXTRA_DIST += hip/libgputrace-hip.map

SETTINGS += hip/settings.def
dist_doc_DATA += doc/hip.md
include test/hip/local.mk

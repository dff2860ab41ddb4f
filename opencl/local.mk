# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-opencl.so: the adapter for OpenCL, a layer of its loader.
lib_libgtassemble_la_SOURCES += opencl/assemble/opencl.c
lib_LTLIBRARIES += opencl/libgputrace-opencl.la
opencl_libgputrace_opencl_la_SOURCES = opencl/clock.c opencl/commands.c opencl/layer.c opencl/opencl.h opencl/queues.c
opencl_libgputrace_opencl_la_CFLAGS = $(AM_CFLAGS) -fno-plt
opencl_libgputrace_opencl_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/opencl/libgputrace-opencl.map
opencl_libgputrace_opencl_la_LIBADD = accel/libgtaccel.la lib/libgputrace.la -lpthread
EXTRA_opencl_libgputrace_opencl_la_DEPENDENCIES = opencl/libgputrace-opencl.map
EXTRA_DIST += opencl/libgputrace-opencl.map

SETTINGS += opencl/settings.def
dist_doc_DATA += doc/opencl.md
include test/opencl/local.mk

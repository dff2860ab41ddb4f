# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-python.so: the adapter for Python.
lib_LTLIBRARIES += python/libgputrace-python.la
python_libgputrace_python_la_SOURCES = python/adapter.c python/api.c python/greenlets.c \
	python/python.h python/regions.c
python_libgputrace_python_la_CFLAGS = $(AM_CFLAGS) -fno-plt
python_libgputrace_python_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/python/libgputrace-python.map
python_libgputrace_python_la_LIBADD = lib/libgputrace.la
EXTRA_python_libgputrace_python_la_DEPENDENCIES = python/libgputrace-python.map
EXTRA_DIST += python/libgputrace-python.map

SETTINGS += python/settings.def
dist_doc_DATA += doc/python.md
include test/python/local.mk

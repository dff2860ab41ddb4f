# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-pthread.so: the adapter for threads and locks.
lib_libgtassemble_la_SOURCES += pthread/assemble/threads.c
lib_LTLIBRARIES += pthread/libgputrace-pthread.la
pthread_libgputrace_pthread_la_SOURCES = pthread/events.c pthread/events.h pthread/functions.def \
	pthread/real.c pthread/real.h pthread/regions.def pthread/threads.c pthread/unwind.c \
	pthread/wrap_locks.c pthread/wrap_threads.c pthread/wrap_waits.c
# Cleanup attributes run when a thread is cancelled; the fast paths may not call through the PLT.
pthread_libgputrace_pthread_la_CFLAGS = $(AM_CFLAGS) -fexceptions -fno-plt
pthread_libgputrace_pthread_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/pthread/libgputrace-pthread.map
pthread_libgputrace_pthread_la_LIBADD = lib/libgputrace.la
EXTRA_pthread_libgputrace_pthread_la_DEPENDENCIES = pthread/libgputrace-pthread.map
EXTRA_DIST += pthread/libgputrace-pthread.map doc/pthread.md

SETTINGS += pthread/settings.def
dist_doc_DATA += doc/pthread.md
include test/pthread/local.mk

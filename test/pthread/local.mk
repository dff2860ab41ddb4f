# SPDX-License-Identifier: BSD-3-Clause
# The pthread adapter: what calls mean (unit), and programs with threads in trouble.
if HAVE_CRITERION
CRITERION_TESTS += test/pthread/events
test_pthread_events_SOURCES = test/pthread/test_events.c test/pthread/double.c \
	test/pthread/double.h pthread/events.c pthread/threads.c
test_pthread_events_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_pthread_events_LDADD = $(CRITERION_LIBS)
endif

dist_check_SCRIPTS += test/pthread/same.test test/pthread/symbols.test test/pthread/trace.test
EXTRA_DIST += test/pthread/counts.c test/pthread/say.h test/pthread/attributes.c test/pthread/c11.c \
	test/pthread/cancel.c test/pthread/cxx.cpp test/pthread/early.c test/pthread/ends.c \
	test/pthread/fork_locked.c test/pthread/keys.c test/pthread/longjmp_out.c \
	test/pthread/many.c test/pthread/mutex_types.c test/pthread/own_wrapper.c \
	test/pthread/robust.c test/pthread/rwlocks.c test/pthread/semaphores.c test/pthread/unload.c
EXTRA_DIST += test/pthread/libgputrace-pthread.symbols

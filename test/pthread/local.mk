# SPDX-License-Identifier: BSD-3-Clause
# The pthread adapter: what calls mean (unit), and programs with threads in trouble.
if HAVE_CRITERION
CRITERION_TESTS += test/pthread/events
test_pthread_events_SOURCES = test/pthread/test_events.c test/pthread/double.c \
	test/pthread/double.h pthread/events.c pthread/threads.c
test_pthread_events_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
test_pthread_events_LDADD = $(CRITERION_LIBS)
endif

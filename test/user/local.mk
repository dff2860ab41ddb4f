# SPDX-License-Identifier: BSD-3-Clause
# The user API: unit tests against a stand-in for the core, the headers by themselves, and programs
# that use every macro under gputrace.
if HAVE_CRITERION
USER_DOUBLE = test/user/double.c test/user/double.h instrument/user.c instrument/user.h \
	instrument/user_table.c
CRITERION_TESTS += test/user/unit_c test/user/unit_messages
test_user_unit_c_SOURCES = test/user/unit_c.c $(USER_DOUBLE)
test_user_unit_c_CFLAGS = $(UNIT_CFLAGS)
test_user_unit_c_LDADD = $(CRITERION_LIBS) -lpthread
if HAVE_CXX
CRITERION_TESTS += test/user/unit_cxx
test_user_unit_cxx_SOURCES = test/user/unit_cxx.cpp $(USER_DOUBLE)
test_user_unit_cxx_CFLAGS = $(UNIT_CFLAGS)
test_user_unit_cxx_CXXFLAGS = -Wall -Wextra $(CRITERION_CFLAGS)
test_user_unit_cxx_LDADD = $(CRITERION_LIBS)
endif
test_user_unit_messages_SOURCES = test/user/unit_messages.c
test_user_unit_messages_CFLAGS = $(UNIT_CFLAGS)
test_user_unit_messages_LDADD = lib/libgtassemble.la $(UNIT_LIBS)
endif
dist_check_SCRIPTS += test/user/headers.test test/user/fortran.test test/user/user.test
EXTRA_DIST += test/user/everything.inc test/user/double_fortran.c test/user/fixed.F \
	test/user/free.F90 test/user/fortran.want test/user/every.c test/user/tracers.cpp \
	test/user/wrong.c test/user/lost.c test/user/ring.c test/user/onoff.c test/user/facts.py test/user/fixed.facts

# SPDX-License-Identifier: BSD-3-Clause
# The Nth failure. test/fault/libgputrace.la is the whole library again, with a hook before each of
# its system calls; tool_fault is preloaded into the gputrace command.
check_LTLIBRARIES += test/fault/libgputrace.la test/fault/tool_fault.la
test_fault_libgputrace_la_SOURCES = $(lib_libgputrace_la_SOURCES) $(lib_libgtcommon_la_SOURCES) \
	test/fault/core_fault.c
test_fault_libgputrace_la_CPPFLAGS = $(AM_CPPFLAGS) -DGT_TEST_HOOKS
test_fault_libgputrace_la_CFLAGS = $(AM_CFLAGS) $(lib_libgputrace_la_CFLAGS)
test_fault_libgputrace_la_LDFLAGS = -rpath /nowhere $(lib_libgputrace_la_LDFLAGS)
test_fault_tool_fault_la_SOURCES = test/fault/tool_fault.c
test_fault_tool_fault_la_CFLAGS = -std=gnu11 -U_FORTIFY_SOURCE -fno-builtin
test_fault_tool_fault_la_LDFLAGS = -module -avoid-version -rpath /nowhere
test_fault_tool_fault_la_LIBADD = -ldl
dist_check_SCRIPTS += test/fault/core.test test/fault/tool.test
EXTRA_DIST += test/fault/many_regions.c

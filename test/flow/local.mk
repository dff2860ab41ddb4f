# SPDX-License-Identifier: BSD-3-Clause
# gputrace flow.
dist_check_SCRIPTS += test/flow/flow.test
EXTRA_DIST += test/flow/streams.py test/flow/names.py test/flow/branches.py test/flow/slow.c
if HAVE_CRITERION
CRITERION_TESTS += test/flow/graph
test_flow_graph_SOURCES = test/flow/test_flow.c
test_flow_graph_CFLAGS = $(UNIT_CFLAGS)
test_flow_graph_LDADD = report/libgtreport.la lib/libgtassemble.la $(UNIT_LIBS)
endif

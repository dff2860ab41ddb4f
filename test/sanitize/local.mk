# SPDX-License-Identifier: BSD-3-Clause
# The recording side with sanitizers; tools.sh, which runtests calls, has the commands. The list of its sources is made here, where it is known.
dist_check_SCRIPTS += test/sanitize/address.test test/sanitize/thread.test
EXTRA_DIST += test/sanitize/common.sh test/sanitize/tools.sh test/sanitize/thread.suppress \
	test/sanitize/thread_rounds.h
check_DATA += test/sanitize/sources.list
test/sanitize/sources.list: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && printf '%s\n' $(lib_libgputrace_la_SOURCES) \
		$(lib_libgtcommon_la_SOURCES) | grep '\.c$$' >$@
CLEANFILES += test/sanitize/sources.list

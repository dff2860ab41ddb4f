# SPDX-License-Identifier: BSD-3-Clause
lib_libgputrace_la_SOURCES += instrument/hooks.c instrument/wrap_exec.c instrument/wrap_dl.c \
	instrument/exec_look.c instrument/exec_look.h instrument/shown.c instrument/shown.h instrument/wrap_jump.c instrument/wrap_user.c instrument/wrap.h \
	instrument/wrap_stack.c instrument/wrap_fcontext.c instrument/wrap_fcontext.h instrument/wrap_syscall.c instrument/wrap_syscall.h
# The compiler wrappers: one program under several names.
bin_PROGRAMS += instrument/gputrace-cc
instrument_gputrace_cc_SOURCES = registry/adapters.def instrument/cc.c instrument/cc.h instrument/cc_read.c \
	instrument/cc_ask.c tools/paths.c tools/paths.h tools/wraps.c tools/wraps.h
instrument_gputrace_cc_LDFLAGS = $(HARDEN_LDFLAGS)
WRAPPERS = gputrace-c++ gputrace-fc gputrace-mpicc gputrace-mpic++ gputrace-mpifc gputrace-nvcc

install-exec-hook: install-wrapper-links
install-wrapper-links:
	$(AM_V_at)cd '$(DESTDIR)$(bindir)' && for name in $(WRAPPERS); do \
		rm -f $$name && $(LN_S) gputrace-cc $$name || exit 1; done
uninstall-hook: uninstall-wrapper-links
uninstall-wrapper-links:
	$(AM_V_at)cd '$(DESTDIR)$(bindir)' && rm -f $(WRAPPERS)
.PHONY: install-wrapper-links uninstall-wrapper-links

# The user API.
lib_libgputrace_la_SOURCES += instrument/user.c instrument/user.h instrument/user_table.c \
	instrument/user_fortran.c
include_HEADERS += include/vt_user.h include/vt_user.inc

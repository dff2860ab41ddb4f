# SPDX-License-Identifier: BSD-3-Clause
# The `gputrace` command. A new sub-command: tools/cmd_<name>.c here, one line in tools/cmds.h and
# one in the table of tools/gputrace.c.
bin_PROGRAMS += tools/gputrace
tools_gputrace_SOURCES = tools/gputrace.c tools/cmds.h tools/options.c tools/options.h \
	tools/paths.c tools/paths.h tools/archive.c tools/progress.c tools/progress.h tools/archive.h tools/binary.c tools/binary.h \
	tools/cmd_run.c tools/hand_on.c tools/hand_on.h tools/run_parent.c tools/run_parent.h tools/watch.c tools/interruption.c tools/anew.c tools/anew.h \
	tools/cmd_info.c tools/cmd_libwrapgen.c tools/wraps.c tools/wraps.h
tools_gputrace_SOURCES += tools/cmd_assemble.c tools/cmd_recover.c tools/cmd_report.c
tools_gputrace_SOURCES += tools/cmd_check.c tools/check.h tools/check_report.c tools/check_events.c \
	tools/check_mpi.c tools/check_pairs.c tools/check_samples.c
tools_gputrace_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
tools_gputrace_LDADD = live/libgtlive.la report/libgtreport.la lib/libgtassemble.la $(NCURSES_LIBS) -ldl
# What assembling halves of other trees call (<gputrace/assemble.h>).
tools_gputrace_LDFLAGS = $(HARDEN_LDFLAGS) -Wl,--dynamic-list=$(top_srcdir)/tools/assemble.list
EXTRA_tools_gputrace_DEPENDENCIES = tools/assemble.list
EXTRA_DIST += tools/assemble.list

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = tools/gputrace.pc
cmakeconfigdir = $(libdir)/cmake/gputrace
cmakeconfig_DATA = tools/gputrace-config.cmake tools/gputrace-config-version.cmake

# Its name is the version, as Environment Modules want it.
moduledir = $(pkgdatadir)/modulefiles/gputrace
DATA_HOOKS += install-modulefile
UNINSTALL_HOOKS += uninstall-modulefile
install-modulefile: tools/gputrace.modulefile
	$(AM_V_at)$(MKDIR_P) '$(DESTDIR)$(moduledir)' && $(INSTALL_DATA) tools/gputrace.modulefile '$(DESTDIR)$(moduledir)/$(VERSION)'
uninstall-modulefile:
	$(AM_V_at)rm -f '$(DESTDIR)$(moduledir)/$(VERSION)'
.PHONY: install-modulefile uninstall-modulefile install-completion-links uninstall-completion-links

completiondir = $(bashcompdir)
if INSTALL_COMPLETION
dist_completion_DATA = tools/completion/gputrace
# bash looks for a file of the command's name.
DATA_HOOKS += install-completion-links
UNINSTALL_HOOKS += uninstall-completion-links
install-completion-links: install-dist_completionDATA
	$(AM_V_at)cd '$(DESTDIR)$(completiondir)' && for name in gputrace-cc $(WRAPPERS); do \
		rm -f $$name && $(LN_S) gputrace $$name || exit 1; done
uninstall-completion-links:
	$(AM_V_at)test ! -d '$(DESTDIR)$(completiondir)' || \
		{ cd '$(DESTDIR)$(completiondir)' && rm -f gputrace-cc $(WRAPPERS); }
else
EXTRA_DIST += tools/completion/gputrace
endif
tools_gputrace_SOURCES += tools/cmd_export.c tools/cmd_slice.c tools/cmd_suggest.c tools/cmd_diff.c tools/cmd_whatif.c tools/sections.c tools/sections.h
tools_gputrace_SOURCES += tools/cmd_filter.c tools/cmd_top.c
tools_gputrace_SOURCES += tools/cmd_source.c tools/cmd_timeline.c
tools_gputrace_SOURCES += tools/cmd_html.c tools/cmd_view.c
tools_gputrace_SOURCES += tools/cmd_flow.c

# SPDX-License-Identifier: BSD-3-Clause
# Tools of the tests, and the test of the test library itself.
dist_check_SCRIPTS += test/tools/lib.test test/tools/install.test test/tools/module.test test/tools/adapter.test test/tools/versions.test
EXTRA_DIST += test/tools/field.py
EXTRA_DIST += test/tools/gtcheck.py
EXTRA_DIST += test/tools/counts.py
check_PROGRAMS += test/tools/otf2counts
test_tools_otf2counts_SOURCES = test/tools/otf2counts.c
test_tools_otf2counts_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
test_tools_otf2counts_LDADD = report/libgtreport.la lib/libgtassemble.la
check_PROGRAMS += test/tools/otf2same
test_tools_otf2same_SOURCES = test/tools/otf2same.c
test_tools_otf2same_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
test_tools_otf2same_LDADD = lib/libgtassemble.la

# The same on the real installation.
installcheck-local:
	for name in install versions module adapter; do \
		GT_SRC='$(abs_top_srcdir)' GT_BUILD='$(abs_top_builddir)' GT_STAGE='$(DESTDIR)$(prefix)' \
			$(BASH) $(srcdir)/test/tools/$$name.test || exit 1; \
	done

# SPDX-License-Identifier: BSD-3-Clause
# The tests. Every test speaks TAP, and each folder registers its own in its local.mk:
#   shell:     dist_check_SCRIPTS += test/x/y.test     (starts with `. "$(dirname "$0")/../lib.sh"`)
#   Criterion: CRITERION_TESTS += test/x/y             (inside `if HAVE_CRITERION`, with _SOURCES)
# Both lists are TESTS and are built by `make check`. Data and helper sources: EXTRA_DIST.
# One test: make check TESTS=test/x/y.test    By hand: bash test/x/y.test in the build folder.
TEST_EXTENSIONS = .test
TESTS += $(CRITERION_TESTS) $(dist_check_SCRIPTS)
check_PROGRAMS += $(CRITERION_TESTS)

TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
TEST_LOG_DRIVER = $(TAP_DRIVER)
# A test that hangs is ended and fails; single commands have shorter limits of their own (lib.sh).
LOG_COMPILER = timeout
AM_LOG_FLAGS = -k 5 300
TEST_LOG_COMPILER = timeout
AM_TEST_LOG_FLAGS = -k 5 $(TEST_LIMIT) $(BASH)
TEST_LIMIT = 1800
BASH = bash

AM_TESTS_ENVIRONMENT = \
	CRITERION_OUTPUTS=tap:/dev/stdout; export CRITERION_OUTPUTS; \
	GT_SRC='$(abs_top_srcdir)'; GT_BUILD='$(abs_top_builddir)'; export GT_SRC GT_BUILD; \
	GT_BUILD_CC='$(CC)'; export GT_BUILD_CC;

# Everything is installed into stage/ before the tests run, and tested there. It is installed below
# another folder and then moved, so that the tests also prove that no path is fixed.
check_DATA = stage/.done
STAGED = $(lib_LTLIBRARIES) $(mpiflavour_LTLIBRARIES) $(bin_PROGRAMS) $(bin_SCRIPTS) $(gtinclude_HEADERS) \
	$(include_HEADERS) $(pkglibexec_PROGRAMS) $(dist_bin_SCRIPTS) \
	$(dist_libwrapgen_DATA) $(dist_gtwrap_DATA) $(WRAPPERS_MADE)
stage/.done: $(STAGED)
	$(AM_V_GEN)rm -rf stage stage.tmp
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) install DESTDIR='$(abs_top_builddir)/stage.tmp' \
		>stage.log 2>&1 || { tail -n 30 stage.log; exit 1; }
	$(AM_V_at)mv 'stage.tmp$(prefix)' stage && rm -rf stage.tmp && touch $@
stage: stage/.done
.PHONY: stage
clean-local-stage:
	rm -rf stage stage.tmp stage.log
clean-local: clean-local-stage
.PHONY: clean-local-stage

EXTRA_DIST += test/lib.sh

# make starts tests in this order: the unit tests, the adapters' (each registers its own), then the longest.
include test/trouble/local.mk
include test/kill/local.mk
include test/fuzz/local.mk
include test/sanitize/local.mk
include test/live/local.mk
include test/proc/local.mk
include test/fault/local.mk
include test/report/local.mk
include test/truth/local.mk
include test/flow/local.mk
include test/check/local.mk
include test/export/local.mk
include test/page/local.mk
include test/timeline/local.mk
include test/systems/local.mk
include test/user/local.mk
include test/cc/local.mk
include test/filter/local.mk
include test/tree/local.mk
include test/assemble/local.mk
include test/soak/local.mk
include test/gpu/local.mk
include test/cli/local.mk
include test/tools/local.mk
include test/unit/local.mk

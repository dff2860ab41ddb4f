# SPDX-License-Identifier: BSD-3-Clause
# Criterion programs that link lib/libgtcommon.la and the sources they test.
if HAVE_CRITERION
UNIT_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
UNIT_LIBS = lib/libgtcommon.la $(CRITERION_LIBS)

CRITERION_TESTS += test/unit/settings
test_unit_settings_SOURCES = test/unit/test_settings.c
test_unit_settings_CFLAGS = $(UNIT_CFLAGS)
test_unit_settings_LDADD = $(UNIT_LIBS)
endif

# SPDX-License-Identifier: BSD-3-Clause
SETTINGS += lib/common/settings.def
lib_libgtcommon_la_SOURCES += lib/common/settings.h registry/settings.def $(SETTINGS) lib/common/rundir.h
lib_libgtcommon_la_SOURCES += lib/common/sys.h lib/common/text.h lib/common/text.c lib/common/rundir.c \
	lib/common/pack.h lib/common/pack.c lib/common/sized.h lib/common/sized.c
lib_libgtcommon_la_SOURCES += lib/common/settings.c lib/common/settings_names.h \
	lib/common/settings_names.c
lib_libgtcommon_la_SOURCES += lib/common/filter.h lib/common/filter_internal.h lib/common/filter.c \
	lib/common/filter_match.c
lib_libgtcommon_la_SOURCES += lib/common/elfnames.h lib/common/elfnames.c lib/common/needed.h lib/common/needed.c
lib_libgtcommon_la_SOURCES += lib/common/quota.h lib/common/quota.c
lib_libgtcommon_la_SOURCES += lib/common/process.h lib/common/process.c \
	lib/common/ending.h lib/common/ending.c
lib_libgtcommon_la_SOURCES += lib/common/demangle.c lib/common/demangle.h \
	lib/common/demangle_internal.h lib/common/demangle_name.c

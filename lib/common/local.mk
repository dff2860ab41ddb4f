# SPDX-License-Identifier: BSD-3-Clause
lib_libgtcommon_la_SOURCES += lib/common/settings.h lib/common/settings.def lib/common/rundir.h

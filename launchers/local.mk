# SPDX-License-Identifier: BSD-3-Clause
# What is known of launchers of parallel programs.
lib_libgtcommon_la_SOURCES += launchers/launchers.def launchers/hydra.h launchers/job.h launchers/job.c

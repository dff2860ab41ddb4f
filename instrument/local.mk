# SPDX-License-Identifier: BSD-3-Clause
lib_libgputrace_la_SOURCES += instrument/hooks.c instrument/wrap_exec.c instrument/wrap_dl.c

# SPDX-License-Identifier: BSD-3-Clause
# The reader of archives: tools and tests.
lib_libgtassemble_la_SOURCES += lib/read/read.h lib/read/records.h lib/read/read_int.h lib/read/base.c lib/read/read.c \
	lib/read/defs.c lib/read/events.c lib/read/comm.c lib/read/guard.h lib/read/guard.c lib/read/copy.h lib/read/copy.c \
	lib/read/decode.c lib/read/calls.h lib/read/visit.h lib/read/location.c

# SPDX-License-Identifier: BSD-3-Clause
# What accelerators of all makes share. It knows no runtime.
lib_libgtassemble_la_SOURCES += accel/assemble/accel.c accel/assemble/scan.h accel/assemble/scan.c accel/assemble/idle.h \
	accel/assemble/idle.c accel/assemble/transfers.c
# Their recording half: each adapter has its own copy, which its callbacks reach without the PLT.
noinst_LTLIBRARIES += accel/libgtaccel.la
accel_libgtaccel_la_SOURCES = accel/accel.h accel/alive.c accel/clock.c accel/failed.c accel/names.c accel/ranges.c accel/record.c accel/table.c accel/threads.c \
	accel/wait.h
accel_libgtaccel_la_CFLAGS = $(AM_CFLAGS) -fno-plt

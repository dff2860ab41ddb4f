# SPDX-License-Identifier: BSD-3-Clause
# What accelerators of all makes share. It knows no runtime.
lib_libgtassemble_la_SOURCES += accel/assemble/accel.c accel/assemble/scan.h accel/assemble/scan.c accel/assemble/idle.h \
	accel/assemble/idle.c accel/assemble/transfers.c

# SPDX-License-Identifier: BSD-3-Clause
lib_libgtassemble_la_SOURCES += lib/assemble/summary.h
lib_libgtassemble_la_SOURCES += lib/assemble/symbols.h

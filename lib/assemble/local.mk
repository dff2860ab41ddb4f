# SPDX-License-Identifier: BSD-3-Clause
lib_libgtassemble_la_SOURCES += lib/assemble/summary.h lib/assemble/summary.c
lib_libgtassemble_la_SOURCES += lib/assemble/symbols.h lib/assemble/symbols.c \
	lib/assemble/symbols_priv.h lib/assemble/symbols_elf.c lib/assemble/symbols_dwarf.c

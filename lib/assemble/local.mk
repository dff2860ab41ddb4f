# SPDX-License-Identifier: BSD-3-Clause
lib_libgtassemble_la_SOURCES += lib/assemble/summary.h lib/assemble/summary.c
lib_libgtassemble_la_SOURCES += lib/assemble/unpack.c lib/assemble/unpack.h
lib_libgtassemble_la_SOURCES += lib/assemble/symbols.h lib/assemble/symbols.c \
	lib/assemble/symbols_priv.h lib/assemble/symbols_elf.c lib/assemble/symbols_dwarf.c
lib_libgtassemble_la_SOURCES += lib/assemble/journal.h lib/assemble/journal.c \
	lib/assemble/spool.h lib/assemble/spool.c lib/assemble/window.h lib/assemble/window.c \
	lib/assemble/sort.h lib/assemble/sort.c lib/assemble/stream.h lib/assemble/stream.c \
	lib/assemble/stream_sort.c lib/assemble/units.h lib/assemble/units.c \
	lib/assemble/deferred.h lib/assemble/deferred.c \
	lib/assemble/clock.h lib/assemble/clock.c lib/assemble/clock_chain.h lib/assemble/clock_chain.c lib/assemble/clock_now.c \
	lib/assemble/clock_rate.h lib/assemble/clock_rate.c lib/assemble/clock_source.h \
	lib/assemble/defs.h lib/assemble/defs.c lib/assemble/names.h lib/assemble/names.c \
	lib/assemble/properties.h lib/assemble/properties.c \
	lib/assemble/layout.h lib/assemble/layout.c lib/assemble/loss.h lib/assemble/loss.c \
	lib/assemble/use.h lib/assemble/use.c \
	lib/assemble/messages.h lib/assemble/messages.c lib/assemble/order.h lib/assemble/order.c lib/assemble/clean.h lib/assemble/clean.c \
	lib/assemble/lookup.h lib/assemble/lookup.c lib/assemble/events.h lib/assemble/archive.h lib/assemble/archive.c \
	lib/assemble/archive_pipe.h lib/assemble/archive_pipe.c \
	lib/assemble/archive_int.h lib/assemble/archive_defs.c lib/assemble/archive_track.h \
	lib/assemble/archive_events.c lib/assemble/archive_records.c lib/assemble/archive_io.c lib/assemble/archive_metrics.c \
	lib/assemble/partial.h lib/assemble/partial.c lib/assemble/merge.h lib/assemble/merge_int.h lib/assemble/merge.c \
	lib/assemble/merge_defs.c lib/assemble/merge_files.c lib/assemble/spool_partials.c \
	lib/assemble/assembly.h lib/assemble/assemble_partials.c \
	lib/assemble/assemblers.h lib/assemble/assemblers.c lib/assemble/half.h \
	lib/assemble/outside.c lib/assemble/archive_write.c \
	lib/assemble/report.h lib/assemble/report.c lib/assemble/assemble.h lib/assemble/assemble.c
lib_libgtassemble_la_SOURCES += lib/assemble/utf8.h lib/assemble/utf8.c
lib_libgtassemble_la_SOURCES += lib/assemble/collect.h lib/assemble/collect.c lib/assemble/io.h lib/assemble/io.c

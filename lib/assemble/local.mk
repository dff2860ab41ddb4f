# SPDX-License-Identifier: BSD-3-Clause
lib_libgtassemble_la_SOURCES += lib/assemble/assemble.c lib/assemble/assemble.h \
	lib/assemble/assembly.c lib/assemble/assembly.h lib/assemble/halves.c lib/assemble/halves.h \
	lib/assemble/hosts.c lib/assemble/hosts.h
lib_libgtassemble_la_SOURCES += lib/assemble/util/array.h lib/assemble/util/memory.c \
	lib/assemble/util/memory.h lib/assemble/util/interpreter.c lib/assemble/util/interpreter.h \
	lib/assemble/util/io.c lib/assemble/util/io.h lib/assemble/util/losses.c lib/assemble/util/losses.h \
	registry/losses.def mpi/losses.def cuda/losses.def hip/losses.def lib/assemble/util/lookup.c \
	lib/assemble/util/lookup.h lib/assemble/util/places.c lib/assemble/util/places.h \
	lib/assemble/util/signals.c lib/assemble/util/signals.h lib/assemble/util/utf8.c lib/assemble/util/utf8.h \
	lib/assemble/util/shorten.c lib/assemble/util/shorten.h
lib_libgtassemble_la_SOURCES += lib/assemble/spool/collect.c lib/assemble/spool/collect.h \
	lib/assemble/spool/deferred.c lib/assemble/spool/deferred.h lib/assemble/spool/journal.c \
	lib/assemble/spool/journal.h lib/assemble/spool/ended.c lib/assemble/spool/ended.h \
	lib/assemble/spool/partials.c lib/assemble/spool/partials.h lib/assemble/spool/proc.c \
	lib/assemble/spool/proc.h lib/assemble/spool/sort.c lib/assemble/spool/sort.h \
	lib/assemble/spool/spool.c lib/assemble/spool/spool.h lib/assemble/spool/stream.c \
	lib/assemble/spool/stream.h lib/assemble/spool/stream_sort.c lib/assemble/spool/stream_sort.h \
	lib/assemble/spool/units.c lib/assemble/spool/units.h lib/assemble/spool/unpack.c \
	lib/assemble/spool/unpack.h lib/assemble/spool/window.c lib/assemble/spool/window.h
lib_libgtassemble_la_SOURCES += lib/assemble/adapters/assemblers.c \
	lib/assemble/adapters/assemblers.h lib/assemble/adapters/half.h
lib_libgtassemble_la_SOURCES += lib/assemble/clock/chain.c lib/assemble/clock/chain.h \
	lib/assemble/clock/clock.c lib/assemble/clock/clock.h lib/assemble/clock/now.c \
	lib/assemble/clock/now.h lib/assemble/clock/rate.c lib/assemble/clock/rate.h \
	lib/assemble/clock/source.c lib/assemble/clock/source.h
lib_libgtassemble_la_SOURCES += lib/assemble/names/names.c lib/assemble/names/names.h lib/assemble/names/brief.c \
	lib/assemble/names/jit.c lib/assemble/names/jit.h \
	lib/assemble/names/symbols.c lib/assemble/names/symbols.h lib/assemble/names/symbols_dwarf.c \
	lib/assemble/names/symbols_elf.c lib/assemble/names/symbols_frames.c lib/assemble/names/symbols_priv.h
lib_libgtassemble_la_SOURCES += lib/assemble/defs/defs.c lib/assemble/defs/defs.h \
	lib/assemble/defs/layout.c lib/assemble/defs/layout.h lib/assemble/defs/properties.c \
	lib/assemble/defs/properties.h
lib_libgtassemble_la_SOURCES += lib/assemble/pair/messages.c lib/assemble/pair/messages.h \
	lib/assemble/pair/order.c lib/assemble/pair/order.h
lib_libgtassemble_la_SOURCES += lib/assemble/archive/archive.c lib/assemble/archive/archive.h \
	lib/assemble/archive/archive_int.h lib/assemble/archive/clean.c lib/assemble/archive/clean.h \
	lib/assemble/archive/conversion.c lib/assemble/archive/conversion.h lib/assemble/archive/defs.c \
	lib/assemble/archive/defs.h lib/assemble/archive/frames.c lib/assemble/archive/io.c lib/assemble/archive/io.h \
	lib/assemble/archive/local_defs.c lib/assemble/archive/local_defs.h lib/assemble/archive/metrics.c \
	lib/assemble/archive/metrics.h lib/assemble/archive/outside.c lib/assemble/archive/pipe.c \
	lib/assemble/archive/pipe.h lib/assemble/archive/ranges.c lib/assemble/archive/ranges.h \
	lib/assemble/archive/records.c lib/assemble/archive/records.h \
	lib/assemble/archive/samples.c lib/assemble/archive/samples.h \
	lib/assemble/archive/stacks.c lib/assemble/archive/stacks.h \
	lib/assemble/archive/track.c lib/assemble/archive/track.h \
	lib/assemble/archive/worker.c lib/assemble/archive/worker.h lib/assemble/archive/write.c \
	lib/assemble/archive/writer.c lib/assemble/archive/writer.h
lib_libgtassemble_la_SOURCES += lib/assemble/report/report.c lib/assemble/report/report.h \
	lib/assemble/report/summary.h lib/assemble/report/shortfalls.c lib/assemble/report/use.c \
	lib/assemble/report/word.c lib/assemble/report/word.h
lib_libgtassemble_la_SOURCES += lib/assemble/join/merge.c lib/assemble/join/merge.h \
	lib/assemble/join/merge_defs.c lib/assemble/join/merge_files.c lib/assemble/join/merge_int.h \
	lib/assemble/join/partial.c lib/assemble/join/partial.h

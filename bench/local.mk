# SPDX-License-Identifier: BSD-3-Clause
# `make bench` measures the staged installation; its programs are built by run.py, outside of the
# tree's own flags. `make bench-instructions` counts instructions, which repeats to the digit.
BENCH_ARGS =
BENCH_RUN_WITH = python3

bench: stage
	$(AM_V_at)$(BENCH_RUN_WITH) $(srcdir)/bench/run.py --stage stage --build bench-out $(BENCH_ARGS)
# The tables of doc/PERFORMANCE.md, on a machine that does nothing else: eight minutes a round.
BENCH_DOC_ARGS = --rounds 1
bench-doc: stage
	$(AM_V_at)$(BENCH_RUN_WITH) $(srcdir)/bench/run.py --stage stage --build bench-out $(BENCH_DOC_ARGS) \
		--json bench-out/run.json --doc $(srcdir)/doc/PERFORMANCE.md $(BENCH_ARGS)
bench-instructions: stage
	$(AM_V_at)bash $(srcdir)/bench/instructions stage bench-out
# How it grows with the number of MPI ranks: minutes, and most of the machine.
EXTRA_PROGRAMS = bench/parts
CLEANFILES += bench/parts$(EXEEXT)
bench_parts_SOURCES = bench/parts.c
bench_parts_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
bench_parts_LDADD = lib/libgtassemble.la
bench-scale: stage bench/parts
	$(AM_V_at)python3 $(srcdir)/bench/scale.py --stage stage --build bench-out --parts bench/parts --svg bench-out/scale.svg \
		--json bench-out/scale.json $(BENCH_ARGS)
.PHONY: bench bench-doc bench-instructions bench-scale

clean-local: clean-local-bench
clean-local-bench:
	rm -rf bench-out
.PHONY: clean-local-bench

EXTRA_DIST += bench/bench.h bench/calls.c bench/calls.h bench/calls_lib.c bench/count.c \
	bench/event.c bench/floor.c bench/instructions bench/locks.c bench/pass.c bench/real.c bench/run.py \
	bench/tables.py bench/document.py bench/tools.py bench/work.c bench/work.h bench/mpi.py bench/pingpong.c bench/wrap.py bench/counted.c bench/counters.py bench/flow.c bench/flow.py bench/omp.c bench/omp.py bench/io.c \
	bench/archive.c bench/reading.py bench/page.py bench/models.py bench/opencl.c bench/devices.c bench/kokkos.py bench/samples.py \
	bench/scale.c bench/scale.py

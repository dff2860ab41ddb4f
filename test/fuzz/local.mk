# SPDX-License-Identifier: BSD-3-Clause
# Fuzz targets are not built by make: test/fuzz/run builds each with clang and runs it.
dist_check_SCRIPTS += test/fuzz/fuzz.test test/fuzz/damage.test
EXTRA_DIST += test/fuzz/run test/fuzz/damage.py test/fuzz/damage.c test/fuzz/fuzz_cubin.c \
	test/fuzz/fuzz_decode.c test/fuzz/fuzz_demangle.c test/fuzz/fuzz_elfsym.c test/fuzz/fuzz_filter.c \
	test/fuzz/fuzz_metrics.c test/fuzz/fuzz_read.c test/fuzz/fuzz_samples.c test/fuzz/fuzz_settings.c \
	test/fuzz/fuzz_spool.c test/fuzz/corpus

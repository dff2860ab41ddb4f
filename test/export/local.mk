# SPDX-License-Identifier: BSD-3-Clause
# gputrace export.
dist_check_SCRIPTS += test/export/export.test test/export/arrow.test test/export/slice.test test/export/diff.test \
	test/export/pprof.test test/export/contexts.test
EXTRA_DIST += test/export/archives.py test/export/arrow.py test/export/readers.sh test/export/compare.py \
	test/export/calls.py test/export/contexts.c test/export/paths.c test/export/extremes.py test/export/flame.py \
	test/export/packets.proto test/export/pprof.py test/export/questions.py \
	test/export/runs.py

# SPDX-License-Identifier: BSD-3-Clause
# Rules about the tree itself.
dist_check_SCRIPTS += test/tree/layers.test test/tree/messages.test test/tree/symbols.test test/tree/headers.test \
	test/tree/style.test test/tree/analysis.test test/tree/abi.test test/tree/tables.test
EXTRA_DIST += test/tree/abi.py test/tree/abi.txt test/tree/rooms.sh test/tree/libgputrace.symbols test/tree/libgputrace.needs test/tree/codespell.ignore

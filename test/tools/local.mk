# SPDX-License-Identifier: BSD-3-Clause
# Tools of the tests, and the test of the test library itself.
dist_check_SCRIPTS += test/tools/lib.test
EXTRA_DIST += test/tools/field.py
EXTRA_DIST += test/tools/gtcheck.py

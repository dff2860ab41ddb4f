# SPDX-License-Identifier: BSD-3-Clause
# Python.
dist_check_SCRIPTS += test/python/python.test
EXTRA_DIST += test/python/count.py test/python/embed.c test/python/program.py test/python/ranges.c test/python/stacks.py
EXTRA_DIST += test/python/libgputrace-python.symbols

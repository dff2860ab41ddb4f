# SPDX-License-Identifier: BSD-3-Clause
# The generator of library wrappers and what it makes.
dist_check_SCRIPTS += test/libwrapgen/awkward.test test/libwrapgen/input.test test/libwrapgen/forms.test \
	test/libwrapgen/headers.test test/libwrapgen/solver.test \
	test/libwrapgen/shipped.test test/libwrapgen/absent.test test/libwrapgen/dlsym.test
EXTRA_DIST += test/libwrapgen/io.c test/libwrapgen/names.c test/libwrapgen/memory.cc test/libwrapgen/group_time.py test/libwrapgen/awkward.py test/libwrapgen/print.h test/libwrapgen/special.h \
	test/libwrapgen/special_lib.c test/libwrapgen/free.hpp \
	test/libwrapgen/free.cc test/libwrapgen/special_main.c

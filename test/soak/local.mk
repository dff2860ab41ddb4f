# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/soak/soak.test test/soak/play.test
EXTRA_DIST += test/soak/soak.c test/soak/acts.c test/soak/play.c test/soak/play.h test/soak/play.py \
	test/soak/plug.c test/soak/ranks.c test/soak/scenes.c test/soak/soak.py test/soak/team.c \
	test/soak/throws.cc test/soak/truth.h
check_PROGRAMS += test/soak/judge
test_soak_judge_SOURCES = test/soak/judge.c
test_soak_judge_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
test_soak_judge_LDADD = lib/libgtassemble.la

# SPDX-License-Identifier: BSD-3-Clause
# The live view: what is published of running processes, and `gputrace top`.
noinst_LTLIBRARIES += live/libgtlive.la
live_libgtlive_la_SOURCES = live/follow.c live/follow.h live/print.c live/publish.c live/rows.c live/run.c live/run.h live/screen.c live/segment.c \
	live/segment.h live/show.h live/windows.c live/windows.h
live_libgtlive_la_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSES_CFLAGS)
live_libgtlive_la_LIBADD = lib/libgtassemble.la $(RT_LIBS)

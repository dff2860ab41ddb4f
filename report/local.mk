# SPDX-License-Identifier: BSD-3-Clause
# What is computed from an archive, and its faces.
noinst_LTLIBRARIES += report/libgtreport.la
report_libgtreport_la_SOURCES = report/figures.c report/figures.h report/faces.c report/classes.c report/classes.h \
	report/report.c report/report.h report/profile.c report/profile.h report/run.c
report_libgtreport_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS) $(JANSSON_CFLAGS)
report_libgtreport_la_LIBADD = $(JANSSON_LIBS) -lm

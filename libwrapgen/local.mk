# SPDX-License-Identifier: BSD-3-Clause
# gputrace libwrapgen: Python as it is, run from where it is installed.
libwrapgendir = $(pkgdatadir)/libwrapgen
dist_libwrapgen_DATA = libwrapgen/main.py libwrapgen/runtime.c
gtwrapdir = $(libwrapgendir)/gtwrap
dist_gtwrap_DATA = libwrapgen/gtwrap/castxml.py libwrapgen/gtwrap/elf.py libwrapgen/gtwrap/emit.py \
	libwrapgen/gtwrap/fail.py libwrapgen/gtwrap/options.py libwrapgen/gtwrap/project.py \
	libwrapgen/gtwrap/rules.py libwrapgen/gtwrap/select.py libwrapgen/gtwrap/spell.py

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Which stages of a build are complete, for quickstart and runtests: an interrupt may come at any moment, and
# what it leaves must not be taken for a result. To be sourced.
#
# Limits: goes by what each tool writes last; it does not see whether a result is of an older source (make does).

# prepared SOURCE: has autoreconf come to its end? Last it lets automake write Makefile.in, which ends so.
prepared()
{
	[ -f "$1/config.h.in" ] && sh -n "$1/configure" 2>/dev/null &&
		[ "$(tail -n 1 "$1/Makefile.in" 2>/dev/null)" = .NOEXPORT: ]
}

# prepare SOURCE: autoreconf. What would look complete if a second one were interrupted goes first.
prepare() { rm -f "$1/Makefile.in" && (cd "$1" && autoreconf -fi); }

# configured BUILD: has configure come to its end? Last config.status makes libtool, under another name at first.
configured() { [ -f "$1/Makefile" ] && [ -f "$1/config.h" ] && [ -x "$1/libtool" ]; }

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# To be sourced after lib.sh by tests of the unwinder alone: programs are linked with its objects.
# Limits: x86-64 and aarch64.
case $(uname -m) in x86_64 | aarch64) ;; *) skip_all "no unwinder for $(uname -m)" ;; esac
unwinder=$GT_BUILD/sampling/.libs/libgtunwind.a
[ -e "$unwinder" ] || skip_all "no unwinder was built"
# Those that compile for another processor (test/systems/emulated.sh).
compilers=${GT_CROSS_COMPILERS:-gcc clang}
first=${compilers%% *}

# unwinding CC OPT NAME FLAGS...: a program from NAME.c -> $T/NAME, as a claim.
unwinding()
{
	local cc=$1 opt=$2 name=$3
	shift 3
	plain "$cc" "$opt" "$name" "$here/$name.c" -I"$GT_SRC" "$@" "$unwinder" -lm -ldl -lpthread && return
	fail "$name: compiles"
	diag_file "$T/build.log"
	return 1
}

number() { sed -n "s/^$1 //p" "$T/stdout"; }

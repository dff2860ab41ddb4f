#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands of a gputrace that was built with sanitizers, over spools that another one records:
#
#   test/sanitize/tools.sh GPUTRACE STAGE
#
# GPUTRACE is the command, STAGE where gputrace was installed. A command that ends otherwise than it should,
# or of which a sanitizer says something, is named, and the exit status is 1.
#
# Limits: one program with threads, one with MPI if there is one; what devices record is not among it.
# gputrace view, top and source are not called.
set -u
gputrace=$1 stage=$2
src=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gtsan.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
bad=0

# try STATUS COMMAND... : it ends with that status (a pattern), and no sanitizer complains.
try()
{
	local want=$1 got
	shift
	timeout -k 5 120 "$gputrace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	# shellcheck disable=SC2053 # a pattern
	if [[ $got != $want ]] || grep -qE 'Sanitizer|runtime error:' "$tmp/err" "$tmp/out"; then
		echo "gputrace $*: exit status $got"
		tail -n 40 "$tmp/err"
		bad=1
	fi
}

# record NAME COMMAND... : a spool, which nothing has assembled.
record()
{
	local name=$1
	shift
	VT_UNIFY=no "$stage/bin/gputrace" run -q -o "$tmp/$name" "$@" >"$tmp/$name.log" 2>&1 </dev/null ||
		{ tail -n 20 "$tmp/$name.log"; return 1; }
}

commands()
{
	local dir=$1 other=$2 form forms out
	forms=$("$gputrace" info | sed -n 's/^ *export  *//p')
	try 0 check "$dir"
	try 0 check --json "$dir"
	try 0 report "$dir"
	try 0 report --json "$dir"
	try '[01]' diff "$dir" "$other"
	try '[01]' diff --json "$dir" "$other"
	try 0 slice -o "$dir.slice" -t 0:20ms "$dir"
	[ -n "$forms" ] || { echo "gputrace info names no formats"; bad=1; }
	for form in $forms; do
		out=$dir.$form
		case $form in
		pprof) try '[02]' export --$form -o "$out" "$dir" ;; # 2: no samples
		*) try 0 export --$form -o "$out" "$dir" ;;
		esac
	done
	try 0 flow "$dir"
	for form in svg dot json; do try 0 flow -o "$dir.flow.$form" "$dir"; done
	try 0 whatif "$dir" '**0.5'
	try 0 timeline "$dir"
	for form in svg png; do try 0 timeline -o "$dir.timeline.$form" "$dir"; done
	try 0 html -o "$dir.html" "$dir"
	try '[01]' filter suggest "$dir"
}

"$stage/bin/gputrace-cc" -g -O1 -pthread -o "$tmp/demo" "$src/doc/examples/demo.c" -lm || exit 1
record threads "$tmp/demo" || exit 1
[ -d "$tmp/threads/spool" ] || { echo "no spool was left"; exit 1; }
cp -a "$tmp/threads" "$tmp/again"
# A spool that ends in the middle of a write.
cp -a "$tmp/threads" "$tmp/torn"
find "$tmp/torn/spool" -name '*.win' -exec truncate -s -4096 {} +
try 0 recover "$tmp/threads"
try 0 recover "$tmp/again"
try '[012]' recover "$tmp/torn"
commands "$tmp/threads" "$tmp/again"
if command -v mpirun >/dev/null && [ -x "$stage/bin/gputrace-mpicc" ] &&
	"$stage/bin/gputrace-mpicc" -g -O1 -pthread -o "$tmp/ranks" "$src/doc/examples/worked.c" \
		>"$tmp/mpicc.log" 2>&1; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
	export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
	record mpi mpirun -n 2 "$tmp/ranks" || exit 1
	try 0 recover "$tmp/mpi"
	commands "$tmp/mpi" "$tmp/threads"
fi
exit $bad

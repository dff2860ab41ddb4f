# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# How an awkward program is tried: built plain and with gputrace-cc, run both ways, compared, and
# its archive checked and counted.
#
# Limits: goes with ../lib.sh; programs follow trouble.h.

# The full matrix of compilers and levels runs the linked program; these run under gputrace too.
RUN_COMBINATION="gcc -O2"
_tried=0

# prepare CC OPT PROGRAM [flags...]: PROGRAM.c or .cc -> $bin (traced) and $bin.plain. Extra flags
# come before -l flags of their own. Fails with a claim if it does not build.
prepare()
{
	local cc=$1 opt=$2 src
	program=$3
	combo="$1 $2"
	# Every judge sees one combination; the others go without the slow one.
	GT_QUICK_CHECK=1
	[ "$combo" = "$RUN_COMBINATION" ] && GT_QUICK_CHECK=$(sample 1 "" "")
	shift 3
	src=$here/$program.c
	[ -e "$src" ] || src=$here/$program.cc
	mkdir -p "$T/$cc$opt" "$T/cwd"
	bin=$T/$cc$opt/$program
	if ! plain "$cc" "$opt" "$cc$opt/$program.plain" "$src" "$@"; then
		fail "$program builds ($combo)"
		diag_file "$T/build.log"
		return 1
	fi
	if ! build "$cc" "$opt" "$cc$opt/$program" "$src" "$@"; then
		fail "$program builds with gputrace-cc ($combo)"
		diag_file "$T/build.log"
		return 1
	fi
}

# shared CC OPT NAME SRC FLAGS...: a library, plain in CCOPT/plain and instrumented in CCOPT.
shared()
{
	local cc=$1 opt=$2 out=$3
	shift 3
	if ! build "$cc" "$opt" "$cc$opt/$out" "$@" -shared -fPIC ||
		! plain "$cc" "$opt" "$cc$opt/plain/$out" "$@" -shared -fPIC; then
		fail "library $out builds ($cc $opt)"
		diag_file "$T/build.log"
		return 1
	fi
}

# The plain program beside the plain libraries.
plain_beside()
{
	mv "$bin.plain" "$T/$1$2/plain/$program"
	ln -sf "plain/$program" "$bin.plain"
}

# Waits until whoever assembles the archive in the background is done. $1 seconds at most.
wait_archive()
{
	local i
	for ((i = 0; i < $1 * 20 * GT_TIME_FACTOR; i++)); do
		[ -s "$trace/traces.otf2" ] && [ ! -e "$trace/spool" ] && return 0
		sleep 0.05
	done
	return 1
}

_clean_cwd() { cd "$T/cwd" && find . -mindepth 1 -delete; }

# _judge ENDS LABEL WAY: after a traced run: status and output as in the plain run, archive there
# (or made by recover), counts right. Uses ref_status, ref.out, $counts and $late.
_judge()
{
	local ends=$1 label=$2 how=$3
	[ -z "${late:-}" ] || wait_archive "$late"
	if [ "$status" != "$ref_status" ]; then
		fail "$label: ends as without gputrace"
		diag "status $status instead of $ref_status"
		diag_file "$T/stderr"
	elif ! cmp -s <(sort "$T/ref.out") <(sort "$T/stdout"); then
		fail "$label: ends as without gputrace"
		diff <(sort "$T/ref.out") <(sort "$T/stdout") | head -n 10 | sed 's/^/#   /'
		diag_file "$T/stderr"
	else
		pass "$label: ends as without gputrace"
	fi
	# What the summary says, if it came to one: of a process that a signal ended it says the signal.
	# shellcheck disable=SC2155
	local told=$(sed -n 's/^\[gputrace\] .*s, exit status \([0-9]*\);.*/\1/p' "$T/stderr")
	[ -z "$told" ] || is "$told" "$ref_status" "$label: the summary tells the exit status"
	if [ "$ends" = archive ] || { [ "$ends" = either ] && [ -s "$trace/traces.otf2" ]; }; then
		check_trace "$trace" "$label: archive" || return
	else
		recover_trace "$trace" "$label: archive after recover" || return
	fi
	[ "$how" = plain ] && return
	case ${counts:-stdout} in
	none) ;;
	*) trace_expect "$trace" "$T/${counts:-stdout}" "$label: every call is in the archive" ;;
	esac
}

# trouble ENDS ARG...: runs the prepared program with ARG... plain and traced. ENDS says what there
# is after it: archive (complete at once), recover, or either.
trouble()
{
	local ends=$1 label
	shift
	label="$program${1:+ $1} ($combo)"
	_clean_cwd
	run "$bin.plain" "$@"
	# Background processes of the program still write to its stdout.
	[ -z "${late:-}" ] || sleep "${settle:-0.8}"
	ref_status=$status
	cp "$T/stdout" "$T/ref.out"
	if [ "$ref_status" -eq 99 ]; then
		fail "$label: the program works without gputrace"
		diag_file "$T/ref.out"
		return
	fi
	_clean_cwd
	trace_linked t "$bin" "$@"
	_judge "$ends" "$label" linked
	[ "$combo" = "$RUN_COMBINATION" ] || return 0
	# ./runtests --quick: of every second one.
	[ "$(($(sample 1 0 0) * _tried++ % 2))" = 0 ] || return 0
	_clean_cwd
	trace_run t -- "$bin" "$@"
	_judge "$ends" "$label under gputrace run" linked
	_clean_cwd
	trace_run t -- "$bin.plain" "$@"
	_judge "$ends" "$label uninstrumented under gputrace run" plain
}

# callers FUNCTION...: which of them are called by which function in the archive, sorted.
callers()
{
	otf2-print "$trace/traces.otf2" | tr -d '"' | awk -v list="$*" '
		BEGIN { n = split(list, names, " "); for (i = 1; i <= n; i++) asked[names[i]] }
		$1 == "ENTER" { if ($5 in asked) print $5 " in " (depth ? stack[depth] : "-"); stack[++depth] = $5 }
		$1 == "LEAVE" { depth-- }' | sort -u | paste -sd , | sed 's/,/, /g'
}

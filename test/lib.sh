# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What every *.test script shares: TAP output, time limits, the staged installation, compiling with
# several compilers, running under gputrace and checking archives.
#
# Limits: bash and coreutils; GNU timeout. Nothing here knows what a single test is about.
#
#   . "$(dirname "$0")/../lib.sh"
#   build gcc -O2 hello "$here/hello.c"         # with gputrace-cc over gcc -> $T/hello
#   trace_run hello -- "$T/hello" 5             # gputrace run -o $T/hello.trace ...
#   is "$status" 0 "exit status"
#   check_trace "$trace" "archive is well formed"
#   is "$(trace_calls "$trace" work)" 5 "work() was called five times"
#   done_testing
#
# A script ends with done_testing; without it the TAP driver reports an error. Each line of TAP is
# one claim. A command that hangs is killed and fails its claim. KEEP=1 keeps the temporary folder
# of a script that failed.

set -u
# shellcheck disable=SC2034 # the scripts use it
here=$(cd "$(dirname "$0")" && pwd)
GT_SRC=${GT_SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
if [ -z "${GT_BUILD:-}" ]; then
	GT_BUILD=$GT_SRC
	[ -e "$PWD/config.status" ] && GT_BUILD=$PWD
fi
GT_STAGE=${GT_STAGE:-$GT_BUILD/stage}
GT_TIME_FACTOR=${GT_TIME_FACTOR:-1} # slow machines and sanitizers: multiplies every time limit
PATH=$GT_STAGE/bin:$PATH
OTF2_PYTHON=${OTF2_PYTHON:-/usr/bin/python3} # the one that has Debian's python3-otf2
export GT_SRC GT_BUILD GT_STAGE PATH
# No setting of the caller may leak into a test.
for _v in $(compgen -e | grep -E '^(VT_|GT_TEST_|LD_PRELOAD$)' || true); do
	unset "$_v"
done
# Samples come when the timer comes: what is counted has none, unless a script is about them (unset VT_SAMPLING).
export VT_SAMPLING=0
umask 022

T=$(mktemp -d "${TMPDIR:-/tmp}/gtt.XXXXXX") || exit 99
export T
# Programs write their archives where they stand: give each test an empty place.
cd "$T" || exit 99
_count=0
_failed=0
_finished=
status=0

_at_exit()
{
	local rc=$?
	cd / || exit 99
	times >"$T/.times"
	_times=$(tail -n 1 "$T/.times")
	if [ -z "$_finished" ]; then
		echo "Bail out! $(basename "$0") ended early with status $rc"
		_failed=1
	fi
	if [ "$_failed" -ne 0 ] && [ -n "${KEEP:-}" ]; then
		echo "# kept: $T"
	else
		chmod -R u+rwx "$T" 2>/dev/null
		rm -rf "$T"
	fi
	# runtests lists the slowest; other tests run at the same time, so the processor's time is there, too.
	echo "# time: $SECONDS s"
	echo "# of the processor, user and system: $_times"
}
trap _at_exit EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# ---- TAP ------------------------------------------------------------------------------------------

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# The first lines of a file as diagnostics.
diag_file()
{
	[ -s "$1" ] || return 0
	head -c 4000 "$1" | head -n "${2:-15}" | tr -c '\11\12\40-\176' '?' | sed 's/^/#   /'
}

pass()
{
	_count=$((_count + 1))
	echo "ok $_count - ${*//#/}"
}

fail()
{
	_count=$((_count + 1))
	_failed=$((_failed + 1))
	echo "not ok $_count - ${*//#/}"
	return 1
}

# ok STATUS NAME: the claim holds if STATUS is 0.
ok()
{
	local rc=$1
	shift
	if [ "$rc" -eq 0 ]; then pass "$@"; else fail "$@"; fi
}

is()
{
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "got:  $1"
		diag "want: $2"
		return 1
	fi
}

isnt()
{
	if [ "$1" != "$2" ]; then pass "$3"; else fail "$3"; diag "got: $1"; return 1; fi
}

# like TEXT REGEX NAME (extended regular expression)
like()
{
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		pass "$3"
	else
		fail "$3"
		diag "got: $(printf '%s' "$1" | head -c 600)"
		diag "want: /$2/"
		return 1
	fi
}

unlike()
{
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		fail "$3"
		diag "got: $(printf '%s' "$1" | head -c 600)"
		diag "unwanted: /$2/"
		return 1
	fi
	pass "$3"
}

# in_range VALUE LOW HIGH NAME
in_range()
{
	if [ "$1" -ge "$2" ] 2>/dev/null && [ "$1" -le "$3" ]; then
		pass "$4"
	else
		fail "$4"
		diag "got $1, want $2 to $3"
		return 1
	fi
}

same_file()
{
	if cmp -s "$1" "$2"; then
		pass "$3"
	else
		fail "$3"
		diff "$1" "$2" 2>&1 | head -n 12 | sed 's/^/#   /'
		return 1
	fi
}

# skip NAME REASON: a claim that cannot be tested here.
skip()
{
	_count=$((_count + 1))
	echo "ok $_count - ${1//#/} # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $*"
	_finished=1
	exit 0
}

done_testing()
{
	echo "1..$_count"
	_finished=1
	exit $((_failed > 0))
}

# sample QUICK USUAL THOROUGH: how much of what is large or random: of ./runtests --quick (GT_QUICK=1), of
# ./runtests, and with GT_THOROUGH=1.
sample()
{
	if [ -n "${GT_THOROUGH:-}" ]; then
		echo "$3"
	elif [ -n "${GT_QUICK:-}" ]; then
		echo "$1"
	else
		echo "$2"
	fi
}

# some N WORD...: in ./runtests --quick N of the words, others each time; else all.
some()
{
	local n=$1
	shift
	[ "$(sample part all all)" = part ] || n=$#
	shuf -n "$n" -e -- "$@"
}

# one_in N: for things of their own; in ./runtests --quick true by chance, once in N times.
one_in() { [ "$((RANDOM % $(sample "$1" 1 1)))" = 0 ]; }

# ---- running --------------------------------------------------------------------------------------

# limit SECONDS COMMAND...: ends with 124 or 137 if the command takes longer.
limit()
{
	local secs=$(($1 * GT_TIME_FACTOR))
	shift
	timeout -k 5 "$secs" "$@"
}

hung() { [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; }

# run COMMAND...: $status, $T/stdout, $T/stderr. A time limit of $run_limit seconds (default 60).
# Death by signal n gives 128 + n, as in the shell.
run()
{
	# The shell's own "Killed" lines go to _shell; stdin is empty.
	{ limit "${run_limit:-60}" "$@" >"$T/stdout" 2>"$T/stderr" </dev/null; } 2>"$T/_shell"
	status=$?
	return 0
}

out() { cat "$T/stdout"; }
err() { cat "$T/stderr"; }

# run_ok NAME COMMAND...: the claim that the command succeeds in time.
run_ok()
{
	local name=$1
	shift
	run "$@"
	if [ "$status" -eq 0 ]; then
		pass "$name"
	else
		fail "$name"
		if hung "$status"; then diag "time limit or killed"; fi
		diag "status $status of: $*"
		diag_file "$T/stdout" 8
		diag_file "$T/stderr"
		return 1
	fi
}

# need_stage: end the script with a SKIP unless there is an installation to test.
need_stage()
{
	[ -x "$GT_STAGE/bin/gputrace" ] || skip_all "no staged installation (make stage)"
}

# The installed library, as `gputrace run` preloads it.
gt_lib() { find "$GT_STAGE" -name libgputrace.so | head -n 1; }

have() { command -v "$1" >/dev/null 2>&1; }

# trace_run NAME [option...] -- COMMAND...: runs under `gputrace run`, archive in $trace.
trace_run()
{
	trace=$T/$1.trace
	shift
	rm -rf "$trace" "$trace.json"
	run gputrace run -o "$trace" "$@"
}

# trace_linked NAME COMMAND...: a program built with gputrace-cc, by itself; archive in $trace. With
# GT_EMULATED=1 recover makes it: qemu-user cannot start a process without a signal at its end.
trace_linked()
{
	trace=$T/$1.trace
	rm -rf "$trace"
	VT_PFORM_GDIR=$T VT_FILE_PREFIX=$1.trace
	export VT_PFORM_GDIR VT_FILE_PREFIX
	shift
	run "$@"
	unset VT_PFORM_GDIR VT_FILE_PREFIX
	if [ -n "${GT_EMULATED:-}" ] && [ ! -e "$trace/traces.otf2" ]; then
		gputrace recover "$trace" >"$T/recover.log" 2>&1
	fi
}

# ---- compiling ------------------------------------------------------------------------------------

# ./runtests --quick: one compiler, one level.
GT_COMPILERS=${GT_COMPILERS:-$(sample gcc "gcc clang" "gcc clang")}
GT_OPTS=${GT_OPTS:-$(sample -O2 "-O0 -O2" "-O0 -O2")}

# The C++ compiler that belongs to a C compiler.
cxx_of()
{
	case $1 in
	*clang*) echo "${1/clang/clang++}" ;;
	*gcc*) echo "${1/gcc/g++}" ;;
	*) echo c++ ;;
	esac
}

_is_cxx() { case $1 in *.cc | *.cpp | *.cxx) return 0 ;; *) return 1 ;; esac; }

# plain CC OPT OUT SRC [flags...]: without gputrace -> $T/OUT. Returns the compiler's status.
plain()
{
	local cc=$1 opt=$2 out=$3 src=$4
	shift 4
	_is_cxx "$src" && cc=$(cxx_of "$cc")
	limit 60 "$cc" "$opt" -g -pthread -I"$GT_SRC/test" -I"$GT_SRC/include" -o "$T/$out" "$src" "$@" \
		>"$T/build.log" 2>&1
}

# build CC OPT OUT SRC [flags...]: with gputrace-cc or gputrace-c++ over CC -> $T/OUT.
build()
{
	local cc=$1 opt=$2 out=$3 src=$4 wrapper=gputrace-cc real
	shift 4
	real=$cc
	if _is_cxx "$src"; then
		wrapper=gputrace-c++
		real=$(cxx_of "$cc")
		VT_CXX=$real limit 60 $wrapper "$opt" -g -pthread -I"$GT_SRC/test" \
			-I"$GT_SRC/include" -o "$T/$out" "$src" "$@" >"$T/build.log" 2>&1
	else
		VT_CC=$real limit 60 $wrapper "$opt" -g -pthread -I"$GT_SRC/test" \
			-I"$GT_SRC/include" -o "$T/$out" "$src" "$@" >"$T/build.log" 2>&1
	fi
}

# build_ok ...: the same, as a claim.
build_ok()
{
	if build "$@"; then
		pass "builds: $3 ($1 $2)"
	else
		fail "builds: $3 ($1 $2)"
		diag_file "$T/build.log"
		return 1
	fi
}

# matrix FUNCTION ARGS...: calls FUNCTION CC OPT ARGS... for each compiler found and each level.
matrix()
{
	local f=$1 cc opt
	shift
	for cc in $GT_COMPILERS; do
		if ! have "$cc"; then
			skip "$f with $cc" "$cc is not installed"
			continue
		fi
		for opt in $GT_OPTS; do
			"$f" "$cc" "$opt" "$@"
		done
	done
}

# ---- archives -------------------------------------------------------------------------------------

# It fills tables of 190 MB before it reads anything: in large pages that takes half of the time.
otf2-print() { GLIBC_TUNABLES=glibc.malloc.hugetlb=1 command otf2-print "$@"; }

# _archive_ok DIR: all independent judges agree; complaints in $T/check.log. GT_QUICK_CHECK=1 leaves
# out the Python reader (a third of a second): for matrices that try the same thing many times. In
# ./runtests --quick `gputrace check` sees all archives, otf2-print every fourth, the Python reader every eighth.
_judged=$RANDOM
_archive_ok()
{
	local dir=$1 anchor=$1/traces.otf2
	: >"$T/check.log"
	rm -f "$dir.json"
	if [ ! -s "$anchor" ]; then
		{ echo "no $anchor; there is:"; find "$dir" 2>&1 | head -n 20; } >"$T/check.log"
		return 1
	fi
	limit 240 gputrace check "$dir" >"$T/check.log" 2>&1 || {
		echo "gputrace check: status $?" >>"$T/check.log"
		return 1
	}
	[ "$((++_judged % $(sample 4 1 1)))" = 0 ] || return 0
	GLIBC_TUNABLES=glibc.malloc.hugetlb=1 limit 240 otf2-print --silent -Werror "$anchor" >"$T/check.log" 2>&1 || {
		echo "otf2-print: status $?" >>"$T/check.log"
		return 1
	}
	# The Python reader takes a third of a million events a second: archives of more than about five
	# million are left to the others.
	[ "$((_judged % $(sample 8 1 1)))" = 0 ] || return 0
	[ -n "${GT_QUICK_CHECK:-}" ] || [ "$(du -sm "$dir/traces" | cut -f 1)" -gt 64 ] || _facts "$dir"
}

# _facts DIR: what the Python reader says about the archive, in DIR.json.
_facts()
{
	limit 240 "$OTF2_PYTHON" "$GT_SRC/test/tools/gtcheck.py" --json "$1.json" "$1/traces.otf2" \
		>"$T/check.log" 2>&1 || {
		echo "gtcheck.py: status $?" >>"$T/check.log"
		return 1
	}
}

# check_trace DIR NAME: `gputrace check`, otf2-print and our Python reader all accept the archive.
check_trace()
{
	if _archive_ok "$1"; then
		pass "$2"
	else
		fail "$2"
		diag_file "$T/check.log" 25
		diag "the run's stderr:"
		diag_file "$T/stderr" 12
		return 1
	fi
}

# recover_trace DIR NAME: `gputrace recover`, then check_trace.
recover_trace()
{
	if ! limit 120 gputrace recover "$1" >"$T/recover.log" 2>&1; then
		fail "$2"
		diag "gputrace recover failed"
		diag_file "$T/recover.log"
		return 1
	fi
	check_trace "$1" "$2"
}

# trace_json DIR: the name of the file with what the Python reader found.
trace_json()
{
	[ -s "$1.json" ] || _facts "$1"
	echo "$1.json"
}

# trace_field DIR PATH: a value that the Python reader found (gtcheck.py), as "a.b.c"; the length of
# a list or object; "" if absent.
trace_field()
{
	"$OTF2_PYTHON" "$GT_SRC/test/tools/field.py" "$(trace_json "$1")" "$2"
}

# trace_calls DIR NAME: how often the function NAME was entered, on all locations. A C++ name is known
# without its arguments, a clone that the compiler made by the name of the original.
trace_calls() { fast_counts "$1" | awk -F '\t' -v name="$2" "$_plain_name"' plain($1) == name { n += $2 } END { print n + 0 }'; }
_plain_name='function plain(s) { sub(/\(.*/, "", s); sub(/\.(constprop|isra|part|cold|lto_priv)\.[0-9]+.*/, "", s); return s }'

# trace_expect DIR FILE NAME: FILE holds lines "calls FUNCTION N" and "atleast FUNCTION N" (what
# test/trouble/trouble.h prints), which add up; the archive has these numbers.
trace_expect()
{
	if fast_counts "$1" >"$T/fast" 2>"$T/expect.log" && awk "$_plain_name"'
		FNR == NR { split($0, f, "\t"); got[plain(f[1])] += f[2]; next }
		NF == 3 && ($1 == "calls" || $1 == "atleast") { want[$2] += $3; kind[$2] = $1; seen++ }
		END {
			for (name in want)
				if (kind[name] == "calls" ? got[name] + 0 != want[name] : got[name] + 0 < want[name]) {
					printf "%s: %d calls in the archive, %s %d\n", name, got[name], kind[name], want[name]
					wrong = 1
				}
			if (!seen) {
				print "nothing was expected: no line \"calls FUNCTION N\""
				wrong = 1
			}
			exit wrong
		}' "$T/fast" "$2" >>"$T/expect.log" 2>&1; then
		pass "$3"
	else
		fail "$3"
		diag_file "$T/expect.log" 20
		return 1
	fi
}

# fast_counts DIR: REGION <tab> ENTERS <tab> LEAVES <tab> LOCATION for each pair; also for archives
# that are too large for the Python reader.
fast_counts() { limit 300 "$GT_BUILD/test/tools/otf2counts" "$1/traces.otf2"; }

# archive_property DIR NAME: the value of the archive's property GPUTRACE::NAME; "" if it has none.
archive_property()
{
	otf2-print -I "$1/traces.otf2" 2>/dev/null | awk -v name="GPUTRACE::$2" '
		$1 == "Property" && $2 == "name" { at = $3 }
		$1 == "Property" && $2 == "value" && at == name { print $3; exit }'
}

# lost_events DIR: the sum of all losses that the archive tells of.
lost_events()
{
	otf2-print -I "$1/traces.otf2" 2>/dev/null | awk '
		$1 == "Property" && $2 == "name" { at = $3 }
		$1 == "Property" && $2 == "value" && at ~ /::LOST_/ && at !~ /FILTER|REWIND|DEFINITION/ { n += $3 }
		END { print n + 0 }'
}

# counts_agree DIR FILE [at_end]: the archive has what FILE says (test/trouble/counts.h); at_end:
# recording ended before the program did, so there may be less. Complaints in $T/check.log.
counts_agree()
{
	fast_counts "$1" >"$T/fast" 2>"$T/check.log" || return 1
	"$OTF2_PYTHON" "$GT_SRC/test/tools/counts.py" ${3:+--late} "$2" <"$T/fast" >"$T/check.log" 2>&1
}

# fast_check DIR: the judges that can read millions of events. Complaints in $T/check.log.
fast_check()
{
	limit 300 gputrace check "$1" >"$T/check.log" 2>&1 &&
		limit 300 otf2-print --silent -Werror "$1/traces.otf2" >"$T/check.log" 2>&1
}

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Builds libgputrace with a sanitizer, in a copy of the installation, and runs the stress programs
# linked with it.
#
# Limits: clang only; the tool that assembles is the ordinary one. Sanitizers and LD_PRELOAD do not
# mix, so nothing is preloaded here.

TROUBLE=$GT_SRC/test/trouble

# sanitized_stage FLAG [compiler flag...]: a copy of the installation whose library has FLAG.
sanitized_stage()
{
	local so f sources=()
	have clang || skip_all "no clang"
	echo 'int main(void) { return 0; }' >"$T/x.c"
	clang "$1" -o "$T/x" "$T/x.c" 2>/dev/null && "$T/x" || skip_all "clang has no working $1 here"
	[ -s "$GT_BUILD/test/sanitize/sources.list" ] || skip_all "no list of sources (make check makes it)"
	while IFS= read -r f; do sources+=("$GT_SRC/$f"); done <"$GT_BUILD/test/sanitize/sources.list"
	cp -a "$GT_STAGE" "$T/stage"
	so=$(readlink -f "$(find "$T/stage" -name libgputrace.so)")
	if ! limit 300 clang "$@" -fno-omit-frame-pointer -O1 -g -std=gnu11 -fPIC -shared -D_GNU_SOURCE \
		-I"$GT_BUILD" -I"$GT_SRC" -I"$GT_SRC/include" -Wl,-soname,libgputrace.so.0 -Wl,-z,nodelete \
		-Wl,--version-script="$GT_SRC/lib/libgputrace.map" -fvisibility=hidden \
		-o "$so" "${sources[@]}" >"$T/build.log" 2>&1; then
		fail "the library builds with $1"
		diag_file "$T/build.log"
		done_testing
	fi
	pass "the library builds with $1"
	GT_STAGE=$T/stage
	sanitizer=$1
	lib=$(dirname "$so")
}

# stress PROGRAM WANTED_STATUS ARG...: no report of the sanitizer, status and archive right.
stress()
{
	local program=$1 wanted=$2 label reports
	shift 2
	label="$program $*"
	if [ ! -x "$T/$program" ]; then
		local cc=clang src=$TROUBLE/$program.c
		[ -e "$src" ] || { src=$TROUBLE/$program.cc; cc=clang++; }
		if ! limit 120 $cc "$sanitizer" -O1 -g -w -pthread -finstrument-functions-after-inlining -I"$TROUBLE" \
			-I"$GT_SRC/include" -o "$T/$program" "$src" -L"$lib" -lgputrace \
			-Wl,-rpath,"$lib" -ldl >"$T/build.log" 2>&1; then
			fail "$program builds with $sanitizer"
			diag_file "$T/build.log"
			return
		fi
	fi
	rm -f "$T"/report.*
	trace_linked s "$T/$program" "$@"
	reports=$(cat "$T"/report.* 2>/dev/null)
	if [ -n "$reports" ]; then
		fail "$label: no report"
		diag "$(printf '%s\n' "$reports" | head -n 45)"
	elif [ "$status" -ne "$wanted" ]; then
		fail "$label: status"
		diag "status $status, wanted $wanted"
		diag_file "$T/stdout" 30
		diag_file "$T/stderr" 20
	else
		pass "$label: no report"
	fi
	if [ ! -s "$trace/traces.otf2" ]; then
		limit 60 gputrace recover "$trace" >/dev/null 2>&1
	fi
	if fast_check "$trace"; then
		pass "$label: archive"
	else
		fail "$label: archive"
		diag_file "$T/check.log"
		diag_file "$T/stderr"
	fi
}

# What both sanitizers run.
stress_all()
{
	VT_BUFFER_SIZE=64K stress events 0 200000 4
	VT_BUFFER_SIZE=64K VT_BUFFER_POLICY=ring VT_MAX_FLUSHES=2 stress events 0 100000 3
	VT_BUFFER_SIZE=64K VT_BUFFER_POLICY=stop VT_MAX_FLUSHES=2 stress events 0 100000 3
	stress threads 0 short 1000
	stress threads 0 alive 200
	stress static_object 0
	stress jump 0 frames
	stress jump 0 handler
	stress exec_path 34 vfork_exec
	stress exec_path 33 execv
	stress exec_path 34 system
	stress exit_path 4 _exit
	stress exit_path 3 thread_exit
	stress dl 0 fail
	stress clock_hop 0
	local i
	for i in 1 2 3 4 5; do
		stress main_returns 0 counts $((i * 5000))
	done
}

# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the CUDA tests share: the fake driver and CUPTI, and looking at the account.
# Limits: gcc; nothing of NVIDIA.

W="-O1 -g -Wall -Wextra -I$GT_SRC -I$GT_SRC/include -I$GT_SRC/test/cuda"
mkdir -p "$T/fake"
# shellcheck disable=SC2086
{
	gcc $W -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$T/fake/libcuda.so.1" \
		"$GT_SRC/test/cuda/fake_cuda.c" -ldl -lpthread &&
		gcc $W -shared -fPIC -Wl,-soname,libcupti.so.13 -o "$T/fake/libcupti.so.13" \
			"$GT_SRC/test/cuda/fake_cupti.c" "$GT_SRC/test/cuda/fake_profiler.c" \
			"$GT_SRC/test/cuda/fake_pcsampling.c" "$GT_SRC/test/cuda/fake_sass.c" \
			"$GT_SRC/test/cuda/fake_events.c" -lpthread
} >"$T/build.log" 2>&1 || { fail "the fakes build"; diag_file "$T/build.log"; }
export LD_LIBRARY_PATH=$T/fake

# cuda_program NAME [ARGUMENT...]: $here/NAME.c, linked with the fake driver, as $T/NAME.
cuda_program()
{
	# shellcheck disable=SC2086
	gcc $W -rdynamic -o "$T/$1" "$GT_SRC/test/cuda/$1.c" "$T/fake/libcuda.so.1" "${@:2}" -lpthread -ldl \
		>"$T/build.log" 2>&1 || { fail "$1 builds"; diag_file "$T/build.log"; }
}

# definitions: those of the archive, which is printed once.
definitions()
{
	local now
	now="$trace $(stat -c '%i %y' "$trace/traces.otf2" 2>&1)"
	if [ "$now" != "$(cat "$T/definitions.of" 2>/dev/null)" ]; then
		otf2-print -G "$trace/traces.otf2" >"$T/definitions"
		echo "$now" >"$T/definitions.of"
	fi
	cat "$T/definitions"
}

# account NAME: the number that the adapter wrote into the archive.
account()
{
	definitions |
		sed -n "s/^LOCATION_GROUP_PROPERTY.*\"GPUTRACE::CUDA_$1\".*Value: \"\(.*\)\" <.*/\1/p" | head -n 1
}

# total NAME: the same, added up over all processes.
total()
{
	definitions | sed -n "s/^LOCATION_GROUP_PROPERTY.*\"GPUTRACE::CUDA_$1\".*Value: \"\(.*\)\" <.*/\1/p" |
		awk '{ n += $1 } END { print n + 0 }'
}

# balanced WHAT: every record that CUPTI delivered is an event of a stream, or counted otherwise; over all
# processes.
balanced()
{
	is "$({ definitions; otf2-print "$trace/traces.otf2"; } | awk '
		/^REGION .*Role: ARTIFICIAL/ { artificial[$2] = 1 }
		/^LOCATION .*Type: ACCELERATOR_STREAM/ { stream[$2] = 1 }
		/^ENTER/ && stream[$2] { gsub(/[<>]/, "", $NF); n += !artificial[$NF] }
		/^LOCATION_GROUP_PROPERTY.*"GPUTRACE::CUDA_(ZERO_TIME|EXACT_CUPTIS|SWITCHED_OFF|UNKNOWN_KINDS|NO_LOCATION|OTHERS|RECORDS)"/ {
			value = $0
			sub(/.*Value: "/, "", value)
			if (/CUDA_RECORDS"/) records += value; else n += value
		}
		END { print n + 0, records + 0 }' | tee "$T/balance" | cut -d ' ' -f 1)" "$(cut -d ' ' -f 2 "$T/balance")" \
		"$1: records in are events out and counted losses"
}

# told WHAT COUNT PROPERTY SENTENCE: the summary, the report (as text, JSON and CSV), summary.json and `gputrace
# check` all say it; SENTENCE is an extended regular expression of what follows the number.
told()
{
	local form
	like "$(cat "$trace/SUMMARY")" "^\\[gputrace\\] $2 $4\$" "$1: the summary tells it"
	# A long one is wrapped below its first word.
	like "$(gputrace report "$trace" | sed -e ':a' -e 'N; $!ba' -e 's/\n \{12\}\([^ ]\)/ \1/g')" "^ +$2  $4\$" \
		"$1: so does the short report"
	like "$(gputrace report -s losses --csv "$trace")" "^$2,\"?$2 $4\"?,CUDA_$3\$" "$1: as CSV"
	gputrace report --json "$trace" >"$T/told.json"
	for form in "$T/told.json" "$trace/summary.json"; do
		is "$(python3 -c 'import json, sys
for r in json.load(open(sys.argv[1]))["losses"]["shortfalls"]: print(r["property"], r["count"], r["text"])' "$form" |
			grep -cE "^CUDA_$3 $2 $2 $4\$")" 1 "$1: ${form##*/}"
	done
	like "$(gputrace check "$trace")" "^(NOTE|WARN) +$2 $4\$" "$1: gputrace check"
}

# none NAME...: these numbers of the account are 0.
none()
{
	local name
	for name in "$@"; do
		is "$(account "$name")" 0 "$name: none"
	done
}

# events: every event of the archive as text.
events() { otf2-print "$trace/traces.otf2"; }

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Traces the program with the plug-ins, and compares the archive with what they must have delivered.
# Limits: needs otf2-print, which comes with OTF2.
set -eu

rm -rf trace
VT_PLUGIN_CNTR_PATH=$PWD VT_PLUGIN_CNTR_METRICS=calls_events:squares_i:later_i gputrace run -q -o trace ./program
gputrace check trace
otf2-print trace/traces.otf2 >events

bad=0
# compare WHAT FOUND EXPECTED
compare()
{
	if [ "$2" = "$3" ]; then
		echo "ok: $1: $2"
	else
		echo "WRONG: $1: $2 in the archive, expected $3"
		bad=1
	fi
}
# values METRIC: those in the archive, one a line.
values() { sed -n "s/^METRIC .*(\"$1\" <[0-9]*>; [A-Z0-9]*; \([-0-9]*\)).*/\1/p" events; }

values calls::events >values
compare "readings with enters and leaves" "$(wc -l <values | tr -d ' ')" "$(grep -cE '^(ENTER|LEAVE)' events)"
compare "... count up" "$(awk '$1 != NR { print NR; exit }' values)" ""
values squares::i >values
compare "squares that were delivered meanwhile are squares" "$(awk '$1 != (NR - 1) ^ 2 { print NR; exit }' values)" ""
compare "... 20 at least" "$([ "$(wc -l <values)" -ge 20 ] && echo yes)" yes
values later::i >values
compare "squares that were delivered at the end" "$(wc -l <values | tr -d ' ')" 100
compare "... are squares" "$(awk '$1 != (NR - 1) ^ 2 { print NR; exit }' values)" ""
rm -f values
exit $bad

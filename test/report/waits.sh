# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the tests of waits share.
# Limits: sourced behind lib.sh.

# is_whole DIR NAME: what holds for every archive (whole.py)
is_whole()
{
	gputrace report --json "$1" >"$T/json" 2>>"$T/err"
	"$OTF2_PYTHON" "$here/whole.py" "$T/json" >"$T/whole.log" 2>&1
	ok $? "$2: the critical path is as long as the run, and all time has a class" || diag_file "$T/whole.log"
}

# planted NAME DIR EXPECTED: lines "class,rank,seconds" of what the program measured are found, to 2 % or 1 ms
planted()
{
	gputrace report --json "$2" >"$T/json" 2>>"$T/err"
	"$OTF2_PYTHON" - "$T/json" "$3" <<'PY' >"$T/planted.log"
import json, sys
waits = json.load(open(sys.argv[1]))["waits"]
bad = 0
for line in open(sys.argv[2]):
    kind, who, seconds = line.strip().split(",")
    seconds = float(seconds)
    found = [w for w in waits if w["class"] == kind and w["location"] == who]
    near = [w["longest_s"] for w in found if abs(w["longest_s"] - seconds) <= max(0.02 * seconds, 0.001)]
    if not near:
        print("%s, %s: %.6f s planted, found %s" % (kind, who, seconds, [w["longest_s"] for w in found]))
        bad = 1
sys.exit(bad)
PY
	ok $? "$1: waits are as long as planted" || diag_file "$T/planted.log"
	is_whole "$2" "$1"
}

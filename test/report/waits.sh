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

# planted NAME DIR EXPECTED: lines "class,rank,seconds" of what the program measured are found, to 2 % or 1 ms;
# or "class,rank,seconds,seconds": at least and at most
planted()
{
	gputrace report --json "$2" >"$T/json" 2>>"$T/err"
	"$OTF2_PYTHON" - "$T/json" "$3" <<'PY' >"$T/planted.log"
import json, sys
waits = json.load(open(sys.argv[1]))["waits"]
bad = 0
for line in open(sys.argv[2]):
    kind, who, *seconds = line.strip().split(",")
    least, most = float(seconds[0]), float(seconds[-1])
    found = [w for w in waits if w["class"] == kind and w["location"] == who]
    off = max(0.02 * least, 0.001)
    if most < off: # another was late, on a busy machine
        continue
    near = [w["longest_s"] for w in found if least - off <= w["longest_s"] <= most + off]
    if not near:
        print("%s, %s: %.6f to %.6f s planted, found %s" % (kind, who, least, most, [w["longest_s"] for w in found]))
        bad = 1
sys.exit(bad)
PY
	ok $? "$1: waits are as long as planted" || diag_file "$T/planted.log"
	is_whole "$2" "$1"
}

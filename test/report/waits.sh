# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What the tests of waits share.
# Limits: sourced behind lib.sh.

# The parts of the critical path are as long as the run.
is_whole()
{
	gputrace report --json "$1" >"$T/json" 2>>"$T/err"
	"$OTF2_PYTHON" -c '
import json, sys
r = json.load(open(sys.argv[1]))
for key in "critical_path", "critical_path_locations":
    parts = sum(round(1e9 * row["seconds"]) for row in r.get(key, []))
    whole = round(1e9 * (r["duration_s"] or 0))
    if parts != whole and (key in r or whole) and key == "critical_path":
        sys.exit("%s: %d ns of %d" % (key, parts, whole))' "$T/json"
	ok $? "$2: the critical path is as long as the run"
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

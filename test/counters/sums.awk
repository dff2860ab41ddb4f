# SPDX-License-Identifier: BSD-3-Clause
# Inclusive and exclusive sums of each synchronous metric for each region, from what otf2-print says:
# lines "METRIC<tab>REGION<tab>CALLS<tab>INCLUSIVE<tab>EXCLUSIVE".
# Limits: accumulated metrics, whole numbers below 2^53.
function region(line) {
	sub(/.*Region: "/, "", line)
	sub(/" <.*/, "", line)
	return line
}

$1 == "METRIC" {
	for (rest = $0; match(rest, /\("[^"]*" <[0-9]*>; [A-Z0-9]*; -?[0-9]*\)/); rest = substr(rest, RSTART + RLENGTH)) {
		one = substr(rest, RSTART + 2, RLENGTH - 3)
		name = one
		sub(/".*/, "", name)
		sub(/.*; /, "", one)
		names[name] = 1
		value[$2, name] = one
	}
}

$1 == "ENTER" {
	depth = ++depths[$2]
	for (name in names) {
		begin[$2, depth, name] = value[$2, name]
		inside[$2, depth, name] = 0
	}
}

$1 == "LEAVE" {
	depth = depths[$2]--
	for (name in names) {
		took = value[$2, name] - begin[$2, depth, name]
		key = name "\t" region($0)
		calls[key]++
		inclusive[key] += took
		exclusive[key] += took - inside[$2, depth, name]
		inside[$2, depth - 1, name] += took
	}
}

END {
	for (key in calls)
		printf "%s\t%d\t%d\t%d\n", key, calls[key], inclusive[key], exclusive[key]
}

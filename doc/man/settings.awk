# SPDX-License-Identifier: BSD-3-Clause
# Makes gputrace-settings(7) from the settings.def of the core and of each adapter.
# Limits: a setting begins at the start of a line and ends with a parenthesis at the end of one.
function strings(line,    n, s, in_string, i, c) {
	# The quoted strings of the line go to text[1..], numbers between the commas to number[1..].
	n = 0; numbers = 0; in_string = 0; s = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (in_string && c == "\\") { i++; s = s substr(line, i, 1) }
		else if (c == "\"") { if (in_string) { text[++n] = s; s = "" } in_string = !in_string }
		else if (in_string) s = s c
	}
	return n
}
function plain(s) { gsub(/[\\_*<>#~`]/, "\\\\&", s); return s }
function bytes(n) {
	if (n >= 1073741824 && n % 1073741824 == 0) return n / 1073741824 "G"
	if (n >= 1048576 && n % 1048576 == 0) return n / 1048576 "M"
	if (n >= 1024 && n % 1024 == 0) return n / 1024 "K"
	return n ""
}
BEGIN {
	print "gputrace-settings(7)\n\n# NAME\n\ngputrace-settings - environment variables that control recording\n"
	print "# DESCRIPTION\n"
	print "Each setting is an environment variable. *gputrace run --set* sets one for a single run, and *gputrace"
	print "info --config* shows the current values. An invalid value is reported, and the default is used. Names that"
	print "exist in VampirTrace have the same meaning.\n"
	print "# SETTINGS\n"
}
/^GT_[A-Z]+\(/ { whole = "" }
/^GT_[A-Z]+\(/, /\)$/ { whole = whole $0 }
/\)$/ && whole != "" {
	$0 = whole; whole = ""
	kind = substr($0, 4, index($0, "(") - 4)
	n = strings($0)
	help = text[n]; def = text[2]
	if (kind == "BOOL") type = "yes or no"
	else if (kind == "ENUM") { type = text[3]; gsub(/\|/, ", ", type) }
	else if (kind == "PATH") type = "path; $NAME and ${NAME} are replaced"
	else if (kind == "TEXT") type = "text"
	else {
		match($0, /, *-?[0-9]+, *-?[0-9]+, *"/)
		split(substr($0, RSTART, RLENGTH), part, /, */)
		if (kind == "SIZE") type = "bytes, with K, M or G; " bytes(part[2]) " to " bytes(part[3])
		else type = "number; " part[2] " to " part[3]
	}
	print "*" plain(text[1]) "*"
	print "\t" plain(help) "++"
	print "\tValues: " plain(type) ". Default: " (def == "" ? "none" : "\"*" plain(def) "*\"") ".\n"
}
END { print "# SEE ALSO\n\n*gputrace*(1), *gputrace-run*(1), *gputrace-info*(1)" }

# SPDX-License-Identifier: BSD-3-Clause
# Makes the table of records in doc/FORMAT.md from include/gputrace/records.def: prints FORMAT.md with the
# lines between its two "records" marks made anew.
#
#	awk -f doc/records.awk include/gputrace/records.def doc/FORMAT.md
#
# Limits: an entry begins at the start of a line; its last line ends with a parenthesis.
function fields(s,    n, i, c, quoted, word) {
	n = 1; word = ""; quoted = 0
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "\"") quoted = !quoted
		else if (c == "," && !quoted) { field[n++] = word; word = "" }
		else if (quoted || c !~ /[ \t]/) word = word c
	}
	field[n] = word
	return n
}
function row(s) {
	fields(s)
	data = field[7]
	if (data == "") data = "-"
	else if (field[3] > 1) data = field[3] " slots: " data
	text = field[6] == "" || field[6] == "0" ? "-" : field[6]
	return "| " field[2] " | " field[1] " | " text " | " data " | " field[8] " | " field[5] " |"
}
FNR == 1 { file++ }
file == 1 && /^GT_RECORD\(/ { entry = "" ; inside = 1 }
file == 1 && inside { entry = entry $0 }
file == 1 && inside && /\)$/ {
	inside = 0
	rows[++count] = row(substr(entry, 11, length(entry) - 11))
}
file == 2 && /^<!-- records: end/ { skip = 0 }
file == 2 && !skip { print }
file == 2 && /^<!-- records:/ && !/end/ {
	skip = 1
	print "| type | name | payload | data | in the archive | recorded by |"
	print "| --- | --- | --- | --- | --- | --- |"
	for (i = 1; i <= count; i++) print rows[i]
}

# SPDX-License-Identifier: BSD-3-Clause
# Makes the tables of layouts in doc/FORMAT.md from the headers that define them: prints FORMAT.md with the
# lines between each pair of "layouts" marks made anew.
#
#	awk -f doc/layouts.awk include/gputrace/records.h lib/format.h lib/common/pack.h doc/FORMAT.md
#
# Limits: a field or value is one line, its comment may go on in the next ones. A struct with padding is an
# error.
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
function count(word) { return word ~ /^[0-9]+$/ ? word + 0 : value[word] }
function stop(why) { print why >"/dev/stderr"; exit failed = 1 }
function row(first, name, what) { rows[item, ++n[item]] = "| " first " | " name " | " what " |" }
function fields(text, what,    type, names, i, parts, k, name, times, where) {
	type = text
	sub(/ [a-z_]+[a-z0-9_]*(\[[A-Za-z0-9_]+\])?(,.*)?$/, "", type)
	names = substr(text, length(type) + 1)
	text = ""
	k = split(trim(names), parts, /, */)
	if (!(type in size)) stop(type " is unknown")
	for (i = 1; i <= k; i++) {
		name = parts[i]
		times = 1
		if (match(name, /\[[A-Za-z0-9_]+\]/)) {
			times = count(substr(name, RSTART + 1, RLENGTH - 2))
			name = substr(name, 1, RSTART - 1) "[" times "]"
		}
		if (at % align[type]) stop(item "." name " is padded")
		if (align[type] > widest) widest = align[type]
		where = where (i > 1 ? ", " : "") at
		text = text (i > 1 ? ", " : "") name
		at += size[type] * times
	}
	row(where, short[type] " " text, what)
}
function finish(    struct) {
	if (at % widest) stop(item " is padded")
	struct = "struct " item
	size[struct] = at
	align[struct] = widest
	short[struct] = item
	if (before != "") row(at, "-", before)
	inside = ""
}
BEGIN {
	chosen["headers"] = "gt_sched gt_states gt_quota gt_calib gt_run_job gt_run_exec gt_run_header gt_proc_header gt_win_header " \
		"gt_file_header gt_pack_header"
	chosen["definitions"] = "gt_def gt_def_type gt_def_region gt_def_metric gt_def_marker gt_def_attribute " \
		"gt_def_shared gt_def_group gt_def_params gt_def_param gt_def_topology gt_def_channel " \
		"gt_def_record gt_def_location gt_def_loc_name gt_def_locgroup gt_def_module gt_def_module_gone " \
		"gt_def_cut gt_def_calib gt_def_sync gt_def_clock gt_def_sync_point gt_def_link"
	chosen["values"] = "gt_loc_kind gt_loss gt_end_how gt_thread_end gt_clock_kind gt_link_kind " \
		"gt_sample_flag gt_frame_flag gt_proc_state gt_run_state gt_absent"
	split("uint8_t uint16_t uint32_t uint64_t int32_t int64_t char", types, " ")
	split("1 2 4 8 4 8 1", sizes, " ")
	split("u8 u16 u32 u64 i32 i64 char", shorts, " ")
	for (i in types) {
		size[types[i]] = align[types[i]] = sizes[i]
		short[types[i]] = shorts[i]
	}
}
FNR == 1 { document = ++file == ARGC - 1 }
document && /^<!-- layouts: end/ { skip = 0 }
document && !skip { print }
document && /^<!-- layouts:/ && !/: end/ {
	skip = 1
	k = split(chosen[$3], wanted, " ")
	if (!k) stop("no layouts are called " $3)
	print "| offset or value | field | what it is |"
	print "| --- | --- | --- |"
	for (i = 1; i <= k; i++) {
		if (!(wanted[i] in n)) stop(wanted[i] " is not found")
		struct = "struct " wanted[i]
		print "| | **" wanted[i] "** | " (struct in size ? size[struct] " bytes" : "values") " |"
		for (j = 1; j <= n[wanted[i]]; j++) print rows[wanted[i], j]
	}
}
document { next }
/^#define [A-Z0-9_]+ +[0-9]+u?$/ { sub(/u$/, "", $3); value[$2] = $3 }
/^(struct|enum) [a-z_]+ \{$/ {
	inside = $1; item = $2
	at = widest = 0
	before = ""
	next
}
inside && /^\};/ {
	if (inside == "struct") finish()
	inside = ""
}
!inside { next }
{
	line = line == "" ? trim($0) : line " " trim($0)
	if (line ~ /\/\*/ && line !~ /\*\//) next
	what = ""
	text = line
	line = ""
	if (match(text, /\/\*.*\*\//)) {
		what = trim(substr(text, RSTART + 2, RLENGTH - 4))
		text = trim(substr(text, 1, RSTART - 1))
	}
	gsub(/\|/, "\\|", what)
	if (text == "") { before = what; next }
	sub(/\.$/, "", before)
	if (before != "") what = what == "" ? before : before "; " what
	before = ""
	if (inside == "struct") {
		sub(/;.*$/, "", text)
		fields(text, what)
	} else if (split(text, parts, / = |,/) > 1 && parts[2] ~ /^[0-9]+$/) {
		value[parts[1]] = parts[2]
		if (parts[1] !~ /_N$/) row(parts[2], parts[1], what)
	}
}
END { exit failed }

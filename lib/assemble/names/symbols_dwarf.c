/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DWARF: from an address to the function's source file and line (symbols_priv.h).
 *
 * Limits: an index of the compilation units is made at the first question, one of a unit's
 * functions at the first question about that unit, one of what was inlined in a function at the first
 * question about that; nothing else is read.
 */
#include "config.h"

#include "lib/assemble/names/symbols_priv.h"

#include "lib/assemble/util/array.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH_MAX = 32, /* of nested scopes that may hold functions */
	INLINED_DEPTH_MAX = 128, /* of scopes in a function that was inlined in one, and so on */
	RANGES_MAX = 1 << 24,
	FUNCTIONS_MAX = 1 << 22,
	INLINED_MAX = 1 << 20,
};

struct range {
	uint64_t low, high;
	uint64_t reach; /* largest `high` of this and all entries before */
	union {
		size_t unit;
		Dwarf_Die die;
	};
};

struct ranges {
	struct range *items;
	size_t count, room;
};

struct inlined {
	bool indexed;
	struct ranges calls;
};

struct unit {
	Dwarf_Die die; /* of the unit, or of its split part */
	bool indexed;
	struct ranges functions;
	struct inlined *inlined; /* by function; NULL: nobody has asked */
};

struct gt_lines {
	Dwarf *dwarf;
	const struct gt_elf *elf;
	struct unit *units;
	size_t unit_count;
	struct ranges ranges;
};

static bool in_code(const struct gt_lines *lines, uint64_t low, uint64_t high)
{
	if (low >= high)
		return false;
	for (size_t i = 0; i < lines->elf->segment_count; i++) {
		const struct gt_elf_segment *s = &lines->elf->segments[i];

		if (s->executable && low >= s->address && low - s->address < s->size)
			return true;
	}
	return false;
}

/* Ranges of functions that the linker threw away begin at 0 or -1: in_code() leaves them out. */
static struct range *add(struct gt_lines *lines, struct ranges *to, uint64_t low, uint64_t high,
			 size_t max)
{
	if (!in_code(lines, low, high) || to->count >= max)
		return NULL;
	if (!gt_array_has_room(to->items, to->count, &to->room))
		return NULL;
	to->items[to->count] = (struct range){.low = low, .high = high};
	return &to->items[to->count++];
}

static int compare(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->high < b->high ? 1 : a->high > b->high ? -1 : 0; /* the inner one last */
}

/* Of the same range the inner one comes later in the DWARF. */
static int compare_calls(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;
	int by = compare(a, b);

	return by ? by : ((const char *)a->die.addr > (const char *)b->die.addr) -
			 ((const char *)a->die.addr < (const char *)b->die.addr);
}

static void settle(struct ranges *ranges, int (*order)(const void *, const void *))
{
	uint64_t reach = 0;

	if (!ranges->count)
		return;
	qsort(ranges->items, ranges->count, sizeof(*ranges->items), order);
	for (size_t i = 0; i < ranges->count; i++) {
		if (ranges->items[i].high > reach)
			reach = ranges->items[i].high;
		ranges->items[i].reach = reach;
	}
}

/* The innermost range before `high` that holds the address. */
static struct range *find_before(const struct ranges *ranges, size_t high, uint64_t address)
{
	size_t low = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && ranges->items[low - 1].reach > address; low--)
		if (ranges->items[low - 1].high > address)
			return &ranges->items[low - 1];
	return NULL;
}

static struct range *find(const struct ranges *ranges, uint64_t address)
{
	return find_before(ranges, ranges->count, address);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void add_unit(struct gt_lines *lines, Dwarf_Die *ranges_of, Dwarf_Die *die, size_t room)
{
	size_t index = lines->unit_count;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	if (index == room)
		return;
	for (size_t n = 0;
	     n < RANGES_MAX && (at = dwarf_ranges(ranges_of, at, &base, &low, &high)) > 0; n++) {
		struct range *r = add(lines, &lines->ranges, low, high, RANGES_MAX);

		if (r)
			r->unit = index;
	}
	lines->units[lines->unit_count++] = (struct unit){.die = *die};
}

static void read_units(struct gt_lines *lines)
{
	Dwarf_CU *unit = NULL;
	size_t room = 0;

	for (;;) {
		Dwarf_Die die, split;
		uint8_t type;

		if (dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, &split))
			break;
		if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
			continue;
		if (!gt_array_has_room(lines->units, lines->unit_count, &room))
			break;
		add_unit(lines, &die, type == DW_UT_skeleton && split.addr ? &split : &die, room);
	}
	settle(&lines->ranges, compare);
}

struct gt_lines *gt_lines_new(void *elf_handle, const struct gt_elf *elf)
{
	struct gt_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->elf = elf;
	lines->dwarf = dwarf_begin_elf(elf_handle, DWARF_C_READ, NULL);
	if (!lines->dwarf) {
		free(lines);
		return NULL;
	}
	read_units(lines);
	return lines;
}

static void free_unit(struct unit *unit)
{
	for (size_t i = 0; unit->inlined && i < unit->functions.count; i++)
		free(unit->inlined[i].calls.items);
	free(unit->inlined);
	free(unit->functions.items);
}

void gt_lines_free(struct gt_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++)
		free_unit(&lines->units[i]);
	free(lines->units);
	free(lines->ranges.items);
	dwarf_end(lines->dwarf);
	free(lines);
}

/* ---- functions of a unit --------------------------------------------------------------------- */

static void add_code(struct gt_lines *lines, struct ranges *to, Dwarf_Die *die, size_t max)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	for (size_t n = 0; n < 64 && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0; n++) {
		struct range *r = add(lines, to, low, high, max);

		if (r)
			r->die = *die;
	}
}

/* Where definitions of functions can stand; blocks only hold those of local classes and of C's
   nested functions. */
static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	}
	return false;
}

/*
 * A walk sees entries in the order of the file, each once. Damaged links may lead back, also to what a scope
 * before has had: such a walk would never end, or take as long as there are paths. `last`: the entry that was
 * seen last.
 */
static bool is_new(Dwarf_Die *die, Dwarf_Off *last)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	if (at <= *last)
		return false;
	*last = at;
	return true;
}

static bool first_die(Dwarf_Die *scope, Dwarf_Die *die, Dwarf_Off *last)
{
	return !dwarf_child(scope, die) && is_new(die, last);
}

static bool next_die(Dwarf_Die *die, Dwarf_Off *last)
{
	return !dwarf_siblingof(die, die) && is_new(die, last);
}

static void index_scope(struct gt_lines *lines, struct unit *unit, Dwarf_Die *scope, unsigned depth,
			Dwarf_Off *last)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || !first_die(scope, &die, last))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_code(lines, &unit->functions, &die, FUNCTIONS_MAX);
		if (may_hold_functions(tag) && dwarf_haschildren(&die) > 0)
			index_scope(lines, unit, &die, depth + 1, last);
	} while (next_die(&die, last));
}

static struct range *function_at(struct gt_lines *lines, struct unit *unit, uint64_t address)
{
	if (!unit->indexed) {
		Dwarf_Off last = dwarf_dieoffset(&unit->die);

		unit->indexed = true;
		index_scope(lines, unit, &unit->die, 0, &last);
		settle(&unit->functions, compare);
	}
	return find(&unit->functions, address);
}

/* ---- what was inlined in a function ---------------------------------------------------------- */

static bool may_hold_calls(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

static void index_calls(struct gt_lines *lines, struct ranges *calls, Dwarf_Die *scope, unsigned depth,
			Dwarf_Off *last)
{
	Dwarf_Die die;

	if (depth > INLINED_DEPTH_MAX || !first_die(scope, &die, last))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine)
			add_code(lines, calls, &die, INLINED_MAX);
		if (may_hold_calls(tag) && dwarf_haschildren(&die) > 0)
			index_calls(lines, calls, &die, depth + 1, last);
	} while (next_die(&die, last));
}

/* The calls that were replaced in the function at the address; NULL: none is known. */
static const struct ranges *calls_at(struct gt_lines *lines, uint64_t address)
{
	struct range *r = find(&lines->ranges, address);
	struct unit *unit = r ? &lines->units[r->unit] : NULL;
	struct inlined *inlined;

	r = unit ? function_at(lines, unit, address) : NULL;
	if (r && !unit->inlined)
		unit->inlined = calloc(unit->functions.count, sizeof(*unit->inlined));
	if (!r || !unit->inlined)
		return NULL;
	inlined = &unit->inlined[r - unit->functions.items];
	if (!inlined->indexed) {
		Dwarf_Off last = dwarf_dieoffset(&r->die);

		inlined->indexed = true;
		index_calls(lines, &inlined->calls, &r->die, 0, &last);
		settle(&inlined->calls, compare_calls);
	}
	return &inlined->calls;
}

/* ---- questions ------------------------------------------------------------------------------- */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/*
 * The file that an attribute names by its number. Not dwarf_decl_file(), which ends the program when the unit
 * has no table of files, and which says "none" to number 0: since DWARF 5 (section 6.2.4) that is
 * the unit's own source, and clang uses it when the source lies outside of its working directory.
 */
static const char *file_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	Dwarf_Half version;
	size_t count;

	if (!dwarf_attr_integrate(die, name, &attribute) ||
	    dwarf_formudata(&attribute, &number) ||
	    dwarf_cu_info(attribute.cu, &version, NULL, &unit, NULL, NULL, NULL, NULL) ||
	    (!number && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) ||
	    number >= count)
		return NULL;
	return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

/* The line of the code itself, as for code without a function in the DWARF (assembler). */
static bool line_of_code(struct unit *unit, uint64_t address, struct gt_line *out)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	int number = 0;

	if (!line)
		return false;
	out->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) || number < 0)
		number = 0;
	out->line = (unsigned)number;
	return out->file != NULL;
}

bool gt_lines_code(struct gt_lines *lines, uint64_t address, struct gt_line *out)
{
	struct range *r = find(&lines->ranges, address);

	memset(out, 0, sizeof(*out));
	return r && line_of_code(&lines->units[r->unit], address, out);
}

/* Where it is declared, and what it is called. */
static void read_function(Dwarf_Die *die, struct gt_line *out)
{
	int number = 0;

	out->file = file_of(die, DW_AT_decl_file);
	if (dwarf_decl_line(die, &number) || number < 0)
		number = 0;
	out->line = out->file ? (unsigned)number : 0;
	out->linkage = text_of(die, DW_AT_linkage_name);
	if (!out->linkage)
		out->linkage = text_of(die, DW_AT_MIPS_linkage_name);
	out->name = text_of(die, DW_AT_name);
}

bool gt_lines_find(struct gt_lines *lines, uint64_t address, struct gt_line *out)
{
	struct range *r = find(&lines->ranges, address);
	struct unit *unit;

	memset(out, 0, sizeof(*out));
	if (!r)
		return false;
	unit = &lines->units[r->unit];
	r = function_at(lines, unit, address);
	if (!r)
		return line_of_code(unit, address, out);
	read_function(&r->die, out);
	if (dwarf_entrypc(&r->die, &out->low))
		out->low = r->low;
	return true;
}

static void read_call(Dwarf_Die *die, struct gt_inlined *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0;
	struct gt_line line;

	read_function(die, &line);
	*out = (struct gt_inlined){ .name = line.name, .linkage = line.linkage, .file = line.file,
				    .line = line.line, .call_file = file_of(die, DW_AT_call_file) };
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) || number > UINT32_MAX)
		number = 0;
	out->call_line = (unsigned)number;
}

unsigned gt_lines_inlined(struct gt_lines *lines, uint64_t address, struct gt_inlined *out)
{
	const struct ranges *calls = calls_at(lines, address);
	struct range *r = calls ? find(calls, address) : NULL;
	unsigned count = 0;

	for (; r && count < GT_INLINED; r = find_before(calls, (size_t)(r - calls->items), address)) {
		read_call(&r->die, &out[count]);
		count += out[count].name || out[count].linkage;
	}
	return count;
}

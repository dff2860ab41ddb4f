/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing is loaded from the object: its bytes come through the walker's window, which is filled by
 * gt_peek(). Reading beyond what can be read gives zeros and marks the cursor, so that every loop ends.
 */
#include "sampling/tables.h"

#include "sampling/peek.h"

#define ENTRY      8u /* bytes in the search table: where a function starts and its entry lies */
#define AT_ONCE    (GT_WALK_WINDOW / ENTRY)
#define HEADER     12u
#define PROBES     40

/* DW_EH_PE_... */
enum {
	PE_UDATA2 = 2,
	PE_UDATA4 = 3,
	PE_UDATA8 = 4,
	PE_SDATA2 = 10,
	PE_SDATA4 = 11,
	PE_SDATA8 = 12,
	PE_PCREL = 0x10,
};

static bool fill(struct gt_walker *walker, uint64_t at, unsigned bytes)
{
	walker->window_at = at;
	walker->window_bytes = (unsigned)gt_peek(walker->window, at, bytes);
	return walker->window_bytes != 0;
}

static uint8_t byte(struct gt_walker *walker)
{
	struct gt_walk_cursor *c = &walker->cursor;

	if (c->at >= c->end ||
	    (c->at - walker->window_at >= walker->window_bytes && !fill(walker, c->at, 256))) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	return walker->window[c->at++ - walker->window_at];
}

static uint64_t fixed(struct gt_walker *walker, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)byte(walker) << 8 * i;
	return value;
}

static int64_t leb(struct gt_walker *walker, bool with_sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = byte(walker);
		value |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
		shift += 7;
	} while (b & 128);
	if (with_sign && shift < 64 && b & 64)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

static uint64_t uleb(struct gt_walker *walker)
{
	return (uint64_t)leb(walker, false);
}

/* A value of the encoding's size: without what it is relative to. */
static uint64_t encoded(struct gt_walker *walker, uint8_t encoding)
{
	switch (encoding & 15) {
	case PE_UDATA2:
		return fixed(walker, 2);
	case PE_SDATA2:
		return (uint64_t)(int16_t)fixed(walker, 2);
	case PE_UDATA4:
		return fixed(walker, 4);
	case PE_SDATA4:
		return (uint64_t)(int32_t)fixed(walker, 4);
	case 0:
	case PE_UDATA8:
	case PE_SDATA8:
		return fixed(walker, 8);
	default:
		walker->cursor.bad = true;
		return 0;
	}
}

static uint64_t pointer(struct gt_walker *walker, uint8_t encoding)
{
	uint64_t at = walker->cursor.at, value = encoded(walker, encoding);

	walker->cursor.bad |= (encoding & 0xf0) != PE_PCREL && (encoding & 0xf0) != 0;
	return encoding & PE_PCREL ? value + at : value;
}

static int32_t entry_word(const struct gt_walker *walker, unsigned i, unsigned word)
{
	return *(const int32_t *)(walker->window + i * ENTRY + 4 * word);
}

/* The last of the window's entries that starts at or before `rel`, the first of which does. */
static unsigned bisect(const struct gt_walker *walker, unsigned n, int64_t rel)
{
	unsigned at = 0;

	while (n > 1) {
		unsigned half = n / 2;

		if (entry_word(walker, at + half, 0) <= rel) {
			at += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return at;
}

/* Where to look next: where functions of the same size would have it, and every other time in the middle. */
static uint64_t guess(const struct gt_walk_range *r, int64_t rel, unsigned probe)
{
	uint64_t n = r->high - r->low, at = n / 2;

	if (!(probe & 1) && rel > r->from && r->to > rel)
		at = n * (uint64_t)(rel - r->from) / (uint64_t)(r->to - r->from);
	at = at < AT_ONCE / 2 ? 0 : at - AT_ONCE / 2;
	return r->low + (at > n - AT_ONCE ? n - AT_ONCE : at);
}

/* Where the entry lies of the last function that starts at or before `address`; 0: there is none. */
static __attribute__((noinline)) uint64_t search(struct gt_walker *walker, uint64_t count, uint64_t address)
{
	const struct gt_walk_object *object = &walker->object;
	uint64_t table = object->table + HEADER;
	int64_t rel = (int64_t)(address - object->table);
	struct gt_walk_range *r = &walker->range;

	*r = (struct gt_walk_range){ 0, count, (int64_t)(object->low - object->table),
				     (int64_t)(object->high - object->table) };
	for (unsigned probe = 0; probe < PROBES && r->low < r->high; probe++) {
		bool all = r->high - r->low <= AT_ONCE;
		uint64_t at = all ? r->low : guess(r, rel, probe);
		unsigned n = all ? (unsigned)(r->high - r->low) : AT_ONCE;

		if (!fill(walker, table + at * ENTRY, n * ENTRY) || walker->window_bytes < n * ENTRY)
			break;
		if (entry_word(walker, 0, 0) > rel) {
			r->high = at;
			r->to = entry_word(walker, 0, 0);
		} else if (entry_word(walker, n - 1, 0) <= rel && !all) {
			r->low = at + n - 1;
			r->from = entry_word(walker, n - 1, 0);
		} else {
			n = bisect(walker, n, rel);
			return object->table + (uint64_t)(int64_t)entry_word(walker, n, 1);
		}
	}
	return 0;
}

static uint64_t find_entry(struct gt_walker *walker, uint64_t address)
{
	uint32_t encodings;

	walker->cursor.at = walker->object.table;
	walker->cursor.end = walker->cursor.at + HEADER;
	encodings = (uint32_t)fixed(walker, 4);
	/* Version 1, a pointer to .eh_frame of 4 bytes, a count of 4 bytes, pairs relative to the header. */
	if ((encodings & 0xffff00ff) != 0x3b030001 ||
	    ((encodings >> 8 & 15) != PE_UDATA4 && (encodings >> 8 & 15) != PE_SDATA4))
		return 0;
	fixed(walker, 4);
	return search(walker, fixed(walker, 4), address);
}

/* The cursor goes to what an entry of .eh_frame has behind its length. */
static void open_entry(struct gt_walker *walker, uint64_t at)
{
	struct gt_walk_cursor *c = &walker->cursor;
	uint64_t length;

	*c = (struct gt_walk_cursor){ at, at + 4, false };
	length = fixed(walker, 4);
	c->bad |= length < 4 || length > GT_TABLES_PROGRAM;
	c->end = c->bad ? c->at : c->at + length;
}

static void augmentation(struct gt_walker *walker, uint64_t letters)
{
	for (letters >>= 8; letters; letters >>= 8) {
		switch (letters & 255) {
		case 'R':
			walker->function.encoding = byte(walker);
			break;
		case 'P':
			encoded(walker, byte(walker));
			break;
		case 'L':
			byte(walker);
			break;
		case 'S':
			walker->function.signal = true;
			break;
		case 'B': /* aarch64: which key signs return addresses */
			break;
		default:
			return;
		}
	}
}

/* Data common to all functions of a kind. */
static bool read_common(struct gt_walker *walker, uint64_t at)
{
	struct gt_walk_function *f = &walker->function;
	struct gt_walk_cursor *c = &walker->cursor;
	uint64_t letters = 0, length;
	unsigned n = 0;
	uint8_t b;

	open_entry(walker, at);
	if (fixed(walker, 4) != 0)
		return false;
	byte(walker);
	while ((b = byte(walker)) && n < 8)
		letters |= (uint64_t)b << 8 * n++;
	f->code_unit = uleb(walker);
	f->data_unit = leb(walker, true);
	uleb(walker);
	f->sized = (letters & 255) == 'z';
	length = f->sized ? uleb(walker) : 0;
	f->common = c->at + length;
	f->common_end = c->end;
	if (f->sized)
		augmentation(walker, letters);
	return !c->bad && n < 8 && (f->sized || !letters) && f->common <= f->common_end;
}

GT_HIDDEN bool gt_tables_find(struct gt_walker *walker, uint64_t address)
{
	struct gt_walk_function *f = &walker->function;
	struct gt_walk_cursor *c = &walker->cursor;
	uint64_t at = find_entry(walker, address), back;

	*f = (struct gt_walk_function){ 0 };
	if (!at)
		return false;
	open_entry(walker, at);
	back = fixed(walker, 4);
	if (c->bad || !back || !read_common(walker, at + 4 - back))
		return false;
	open_entry(walker, at);
	c->at += 4;
	f->low = pointer(walker, f->encoding);
	f->high = f->low + encoded(walker, f->encoding & 15);
	back = f->sized ? uleb(walker) : 0;
	f->own = c->at + back;
	f->own_end = c->end;
	return !c->bad && back <= c->end - c->at && address >= f->low && address < f->high &&
	       f->high - f->low < UINT32_MAX;
}

/* How a register is saved: by CFA or by rbp, at a word that the rule has room for. */
static bool pack_slot(uint64_t *rule, unsigned which, const struct gt_walk_state *s)
{
	int slot = s->slot[which];

	if (s->saved[which] != GT_SAVED_NOT && (slot < -1024 || slot > 1023))
		return false;
	*rule |= (uint64_t)s->saved[which] << (5 + 2 * which) | (uint64_t)(slot & 2047) << (9 + 11 * which);
	return true;
}

/* The return address is saved, alone or behind rbp. */
static bool is_next(const struct gt_walk_state *s)
{
	return GT_CPU_LINKS && s->saved[1] == GT_SAVED_BY_CFA && s->slot[1] > -0x200000 &&
	       s->slot[1] <= 0x200000 &&
	       (s->saved[0] == GT_SAVED_NOT ||
		(s->saved[0] == GT_SAVED_BY_CFA && s->slot[0] == s->slot[1] - 1));
}

static uint64_t pack_jump(const struct gt_walk_state *s)
{
	uint32_t registers = (s->in[0] - 1u) | (uint32_t)s->in[1] << 5 | (uint32_t)s->in[2] << 10;

	if (!s->in[0] || (!s->in[1] && (s->kind != GT_RULE_SP || s->cfa & ~0xffff)))
		return GT_RULE_NONE;
	return GT_RULE_JUMP | (uint64_t)(registers | (s->in[1] ? 0 : (uint32_t)s->cfa << 16)) << 32;
}

static uint64_t pack(const struct gt_walk_state *s)
{
	uint64_t rule = s->kind | (uint64_t)(uint32_t)s->cfa << 32;

	if (s->ends)
		return GT_RULE_END;
	if (s->in[0] || s->in[1] || s->in[2])
		return pack_jump(s);
	if (s->kind <= GT_RULE_NONE)
		return GT_RULE_NONE;
	if (is_next(s))
		return rule | (uint64_t)s->saved[0] << 5 | GT_SAVED_NEXT << 7 |
		       (uint64_t)((s->slot[1] - 1) & 0x3fffff) << 9;
	return pack_slot(&rule, 0, s) && pack_slot(&rule, 1, s) ? rule : GT_RULE_NONE;
}

/* Ends the row that began at run.start; the next one is at `next`. */
static void end_row(struct gt_walker *walker, uint64_t next)
{
	struct gt_walk_run *run = &walker->run;
	uint64_t rule = pack(&walker->state);

	if (next <= run->start)
		return;
	if (run->start <= run->wanted)
		run->answer = rule;
	if (run->n < run->most && !(run->n && run->row[run->n - 1].rule == rule)) {
		run->row[run->n].off = (uint32_t)(run->start - walker->function.low);
		run->row[run->n++].rule = rule;
	}
	run->start = next;
}

static void advance(struct gt_walker *walker, uint64_t units)
{
	uint64_t next = walker->run.start + units * walker->function.code_unit;

	if (units > UINT32_MAX || walker->function.code_unit > 16 || next > walker->function.high)
		next = walker->function.high;
	end_row(walker, next);
}

/* `at`: bytes from the CFA, or from rbp. */
static void save(struct gt_walk_state *s, uint64_t reg, uint8_t how, int64_t at)
{
	unsigned which = reg == DWARF_BX;

	if (reg == DWARF_BP || reg == DWARF_BX) {
		s->saved[which] = how;
		s->slot[which] = at & 7 || at / 8 != (int32_t)(at / 8) ? INT32_MAX : (int32_t)(at / 8);
	} else if (reg == DWARF_RA && (how != GT_SAVED_BY_CFA || at != -8)) {
		s->kind = GT_RULE_NONE;
	}
}

static void restore(struct gt_walk_state *s, const struct gt_walk_state *initial, uint64_t reg)
{
	unsigned which = reg == DWARF_BX;

	if (reg == DWARF_BP || reg == DWARF_BX) {
		s->saved[which] = initial->saved[which];
		s->slot[which] = initial->slot[which];
	}
	if (reg == DWARF_RA) {
		s->ends = initial->ends;
		s->in[0] = 0;
	}
}

static void keep_in(struct gt_walk_state *s, uint64_t reg, uint64_t in)
{
	if ((reg == DWARF_RA || reg == DWARF_SP || reg == DWARF_BP) && in < DWARF_REGISTERS)
		s->in[reg == DWARF_RA ? 0 : reg == DWARF_SP ? 1 : 2] = (uint8_t)(in + 1);
}

/* A register that is lost, or the same as in the caller. */
static void leave(struct gt_walk_state *s, uint64_t reg, bool lost)
{
	if (reg == DWARF_BP || reg == DWARF_BX)
		s->saved[reg == DWARF_BX] = GT_SAVED_NOT;
	if (reg == DWARF_RA)
		s->ends = lost;
}

static void set_cfa(struct gt_walk_state *s, uint64_t reg, int64_t offset)
{
	if (reg == DWARF_BP || reg == DWARF_SP)
		s->kind = reg == DWARF_BP ? GT_RULE_BP : GT_RULE_SP;
	else
		s->kind = !GT_CPU_LINKS && reg < 16 ? (uint8_t)(GT_RULE_REGISTER + reg) : GT_RULE_NONE;
	if (offset != (int32_t)offset)
		s->kind = GT_RULE_NONE;
	s->cfa = (int32_t)offset;
}

/* DW_OP_breg7 8, breg16 0, lit15, and, lit N, ge, lit3, shl, plus */
static bool is_plt(const uint8_t *e, uint64_t n)
{
	static const uint8_t plt[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22 };
	bool same = n == sizeof(plt);

	for (unsigned i = 0; i < sizeof(plt) && same; i++)
		same = i == 6 ? (e[i] & 0xf0) == 0x30 : e[i] == plt[i];
	return same;
}

/* DW_OP_breg of rbp or rsp N, deref, perhaps plus_uconst M, in the run's cursor up to `end` */
static void cfa_at(struct gt_walker *walker, struct gt_walk_state *s, uint64_t end)
{
	uint8_t base = byte(walker);
	int64_t from = leb(walker, true), plus = 0;
	bool fits = (base == DWARF_OF_BP || base == DWARF_OF_SP) && byte(walker) == 0x06;

	if (walker->cursor.at < end) {
		fits &= byte(walker) == 0x23;
		plus = leb(walker, false);
	}
	fits &= walker->cursor.at == end && from >= -(1 << 23) && from < 1 << 23 && plus >= 0 && plus < 256;
	s->kind = !fits ? GT_RULE_NONE : base == DWARF_OF_BP ? GT_RULE_AT_BP : GT_RULE_AT_SP;
	s->cfa = (int32_t)((uint32_t)plus << 24 | ((uint32_t)from & 0xffffff));
}

static void cfa_expression(struct gt_walker *walker, struct gt_walk_state *s)
{
	uint64_t n = uleb(walker), begin = walker->cursor.at;
	uint8_t start[11];

	if (n > walker->cursor.end - begin)
		walker->cursor.bad = true;
	if (walker->cursor.bad)
		return;
	for (unsigned i = 0; i < sizeof(start); i++)
		start[i] = i < n ? byte(walker) : 0;
	walker->cursor.at = begin;
	if (is_plt(start, n)) {
		s->kind = GT_RULE_PLT;
		s->cfa = start[6] & 15;
	} else {
		cfa_at(walker, s, begin + n);
	}
	walker->cursor.at = begin + n;
}

/* Saved at the place that an expression computes: that of rbp + N is known. */
static void save_expression(struct gt_walker *walker, struct gt_walk_state *s, uint64_t reg)
{
	uint64_t n = uleb(walker), end = walker->cursor.at + n;
	bool by_bp;
	int64_t at;

	if (n > walker->cursor.end - walker->cursor.at)
		walker->cursor.bad = true;
	if (walker->cursor.bad)
		return;
	by_bp = byte(walker) == DWARF_OF_BP;
	at = leb(walker, true);
	if (by_bp && walker->cursor.at == end)
		save(s, reg, GT_SAVED_BY_BP, at);
	else if (reg == DWARF_BP || reg == DWARF_RA)
		s->kind = GT_RULE_NONE;
	walker->cursor.at = end;
}

static void remember(struct gt_walker *walker, struct gt_walk_state *s)
{
	if (walker->run.depth < sizeof(walker->remembered) / sizeof(*walker->remembered))
		walker->remembered[walker->run.depth++] = *s;
	else
		walker->cursor.bad = true;
}

static void recall(struct gt_walker *walker, struct gt_walk_state *s)
{
	if (walker->run.depth)
		*s = walker->remembered[--walker->run.depth];
	else
		walker->cursor.bad = true;
}

/* The instructions that have a byte of their own: DW_CFA_... of the standard, by number. */
static void extended(struct gt_walker *walker, struct gt_walk_state *s, uint8_t op)
{
	struct gt_walk_cursor *c = &walker->cursor;
	int64_t unit = walker->function.data_unit;
	uint64_t reg = 0;

	if (op >= 0x05 && op != 0x0a && op != 0x0b && op != 0x0e && op != 0x0f && op != 0x13 && op != 0x2d &&
	    op != 0x2e)
		reg = uleb(walker);
	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x01: /* set_loc */
		end_row(walker, pointer(walker, walker->function.encoding));
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		advance(walker, fixed(walker, 1u << (op - 2)));
		break;
	case 0x05: /* offset_extended */
		save(s, reg, GT_SAVED_BY_CFA, leb(walker, false) * unit);
		break;
	case 0x06: /* restore_extended */
		restore(s, &walker->initial, reg);
		break;
	case 0x07: /* undefined */
	case 0x08: /* same_value */
		leave(s, reg, op == 0x07);
		break;
	case 0x09: /* register */
		keep_in(s, reg, uleb(walker));
		break;
	case 0x0a:
		remember(walker, s);
		break;
	case 0x0b:
		recall(walker, s);
		break;
	case 0x0c: /* def_cfa */
		set_cfa(s, reg, leb(walker, false));
		break;
	case 0x0d: /* def_cfa_register */
		set_cfa(s, reg, s->cfa);
		break;
	case 0x0e: /* def_cfa_offset */
		s->cfa = (int32_t)uleb(walker);
		break;
	case 0x0f:
		cfa_expression(walker, s);
		break;
	case 0x10:
		save_expression(walker, s, reg);
		break;
	case 0x11: /* offset_extended_sf */
		save(s, reg, GT_SAVED_BY_CFA, leb(walker, true) * unit);
		break;
	case 0x12: /* def_cfa_sf */
		set_cfa(s, reg, leb(walker, true) * unit);
		break;
	case 0x13: /* def_cfa_offset_sf */
		s->cfa = (int32_t)(leb(walker, true) * unit);
		break;
	case 0x2d: /* AARCH64_negate_ra_state: gt_cpu_code() takes signatures off, where there are any */
		break;
	case 0x2e: /* GNU_args_size */
		uleb(walker);
		break;
	default: /* val_offset, val_expression and what is new: rows end here */
		c->bad = true;
	}
}

static void instructions(struct gt_walker *walker, uint64_t at, uint64_t end)
{
	struct gt_walk_state *s = &walker->state;
	struct gt_walk_cursor *c = &walker->cursor;

	c->at = at;
	c->end = end;
	while (c->at < c->end && !c->bad) {
		uint8_t op = byte(walker);

		if (op >> 6 == 1)
			advance(walker, op & 63);
		else if (op >> 6 == 2)
			save(s, op & 63, GT_SAVED_BY_CFA, leb(walker, false) * walker->function.data_unit);
		else if (op >> 6 == 3)
			restore(s, &walker->initial, op & 63);
		else
			extended(walker, s, op);
	}
}

GT_HIDDEN void gt_tables_run(struct gt_walker *walker, uint64_t address, struct gt_row *row, unsigned most)
{
	const struct gt_walk_function *f = &walker->function;

	walker->run = (struct gt_walk_run){ row, most, 0, 0, f->low, address, GT_RULE_NONE };
	walker->cursor.bad = false;
	walker->state = (struct gt_walk_state){ .kind = f->signal ? GT_RULE_SIGNAL : GT_RULE_NONE };
	if (!f->signal) {
		instructions(walker, f->common, f->common_end);
		walker->initial = walker->state;
		instructions(walker, f->own, f->own_end);
	}
	if (walker->cursor.bad)
		walker->state.kind = GT_RULE_NONE;
	end_row(walker, f->high);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The demangler's names: substitutions, template arguments, everything with "::".
 *
 * Limits: expressions as template arguments are not understood.
 */
#include "lib/common/demangle_internal.h"

/* ---- substitutions, template parameters and arguments ---------------------------------------- */

/* The number before "_" in S_, S0_, T_, T0_: 0 for none, else one more than the number. */
static unsigned take_sequence(unsigned base)
{
	unsigned n = 0;

	if (take('_'))
		return 0;
	while (peek(0) && peek(0) != '_' && n < 1000000) {
		char c = *gt_dm.at++;

		if (is_digit(c))
			n = n * base + (unsigned)(c - '0');
		else if (base == 36 && c >= 'A' && c <= 'Z')
			n = n * base + (unsigned)(c - 'A' + 10);
		else
			fail();
	}
	if (!take('_'))
		fail();
	return n + 1;
}

struct piece gt_dm_substitution(void)
{
	static const struct {
		char letter;
		const char *plain, *whole;
	} known[] = {
		{ 'a', "std::allocator", "std::allocator" },
		{ 'b', "std::basic_string", "std::basic_string" },
		{ 's', "std::string",
		  "std::basic_string<char, std::char_traits<char>, std::allocator<char> >" },
		{ 'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >" },
		{ 'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >" },
		{ 'd', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >" },
	};
	unsigned n;

	take('S');
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		bool structor;

		if (peek(0) != known[i].letter)
			continue;
		gt_dm.at++;
		structor = (peek(0) == 'C' || peek(0) == 'D') && is_digit(peek(1));
		return text(structor ? known[i].whole : known[i].plain);
	}
	n = take_sequence(36);
	return n < gt_dm.sub_count ? gt_dm.subs[n] : fail();
}

struct piece gt_dm_template_param(void)
{
	const struct argument *arg;
	unsigned n, start;

	take('T');
	n = take_sequence(10);
	if (n >= gt_dm.arg_count)
		return fail();
	arg = &gt_dm.args[n];
	if (!arg->pack)
		return gt_dm.elements[arg->first];
	if (gt_dm.pack_at >= 0) {
		gt_dm.pack_size = arg->count;
		return gt_dm.pack_at < arg->count ? gt_dm.elements[arg->first + gt_dm.pack_at] : text("");
	}
	start = gt_dm.used;
	for (unsigned i = 0; i < arg->count; i++) {
		add(i ? ", " : "");
		add_piece(gt_dm.elements[arg->first + i]);
	}
	return whole(start);
}

/* A number as a template argument: 5, 5u, 5l, true, (Color)5. */
static struct piece parse_literal(void)
{
	static const char letters[] = "ijlmxy";
	static const char *const suffixes[] = { "", "u", "l", "ul", "ll", "ull" };
	const char *letter, *value;
	struct piece type = { 0 };
	char kind = peek(1);
	unsigned start;
	bool minus;

	take('L');
	letter = kind ? strchr(letters, kind) : NULL;
	if (kind == 'b' && (peek(1) == '0' || peek(1) == '1') && peek(2) == 'E') {
		gt_dm.at += 3;
		return text(gt_dm.at[-2] == '1' ? "true" : "false");
	}
	if (kind == '_' || kind == 'f' || kind == 'd' || kind == 'e')
		return fail();
	if (letter)
		gt_dm.at++;
	else
		type = gt_dm_type();
	minus = take('n');
	value = gt_dm.at;
	while (is_digit(peek(0)))
		gt_dm.at++;
	start = gt_dm.used;
	if (!letter) {
		add("(");
		add_piece(type);
		add(")");
	}
	add(minus ? "-" : "");
	add_bytes(value, (size_t)(gt_dm.at - value));
	add(letter ? suffixes[letter - letters] : "");
	if (value == gt_dm.at || !take('E'))
		return fail();
	return whole(start);
}

static struct piece parse_argument(void)
{
	if (peek(0) == 'L')
		return parse_literal();
	if (peek(0) == 'X')
		return fail(); /* an expression */
	return gt_dm_type();
}

/* I ... E; returns "<...>". At the top of a name the arguments are what T_ means from now on. */
static struct piece parse_template_args(bool after_less)
{
	struct argument args[32];
	struct piece elements[64];
	unsigned count = 0, used = 0, start;
	bool first = true;

	if (!deeper())
		return fail();
	take('I');
	gt_dm.in_arguments++;
	while (peek(0) && !take('E')) {
		bool pack = take('J');

		if (count == 32)
			return fail();
		args[count] = (struct argument){ (uint16_t)used, 0, pack };
		while (peek(0) && !(pack && take('E'))) {
			if (used == 64)
				return fail();
			elements[used++] = parse_argument();
			args[count].count++;
			if (!pack)
				break;
		}
		count++;
	}
	gt_dm.in_arguments--;
	gt_dm.depth--;
	start = gt_dm.used;
	add(after_less ? " <" : "<");
	for (unsigned i = 0; i < used; i++) {
		if (!elements[i].length)
			continue;
		add(first ? "" : ", ");
		add_piece(elements[i]);
		first = false;
	}
	/* "> >", but not behind an empty pack: so the library does it. */
	first = count && args[count - 1].pack && !args[count - 1].count;
	add(gt_dm.used > start && gt_dm.pool[gt_dm.used - 1] == '>' && !first ? " >" : ">");
	if (!gt_dm.in_arguments && !gt_dm.failed) {
		memcpy(gt_dm.args, args, count * sizeof(args[0]));
		memcpy(gt_dm.elements, elements, used * sizeof(elements[0]));
		gt_dm.arg_count = count;
	}
	return whole(start);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char operators[][14] = {
	"nw new", "na new[]", "dl delete", "da delete[]", "ps+", "ng-", "ad&", "de*", "co~", "pl+",
	"mi-", "ml*", "dv/", "rm%", "an&", "or|", "eo^", "aS=", "pL+=", "mI-=", "mL*=", "dV/=",
	"rM%=", "aN&=", "oR|=", "eO^=", "ls<<", "rs>>", "lS<<=", "rS>>=", "eq==", "ne!=", "lt<",
	"gt>", "le<=", "ge>=", "ss<=>", "nt!", "aa&&", "oo||", "pp++", "mm--", "cm,", "pm->*",
	"pt->", "cl()", "ix[]", "qu?", "aw co_await",
};

struct piece gt_dm_source_name(void)
{
	unsigned length = take_number();
	const char *name = gt_dm.at;
	unsigned start = gt_dm.used;

	if (!length || length > (size_t)(gt_dm.end - gt_dm.at))
		return fail();
	gt_dm.at += length;
	if (length >= 10 && !memcmp(name, "_GLOBAL_", 8) && name[9] == 'N')
		return text("(anonymous namespace)");
	add_bytes(name, length);
	return whole(start);
}

/* Parameter types up to the end or `stop`; "()" for void. */
struct piece gt_dm_parameters(void)
{
	struct piece types[64];
	unsigned count = 0, start;
	bool first = true;

	if (peek(0) == 'v' && (!peek(1) || peek(1) == 'E' || peek(1) == '.')) {
		gt_dm.at++;
		return text("()");
	}
	gt_dm.in_arguments++;
	while (peek(0) && peek(0) != 'E' && peek(0) != '.' &&
	       !((peek(0) == 'R' || peek(0) == 'O') && peek(1) == 'E')) {
		if (count == 64)
			return fail();
		types[count++] = gt_dm_type();
	}
	gt_dm.in_arguments--;
	start = gt_dm.used;
	add("(");
	for (unsigned i = 0; i < count; i++) {
		if (!types[i].length)
			continue;
		add(first ? "" : ", ");
		add_piece(types[i]);
		first = false;
	}
	add(")");
	return count ? whole(start) : fail();
}

/* Ut_, Ut0_, UlvE_, UliE0_ */
static struct piece parse_unnamed(void)
{
	struct piece parameters = { 0 };
	bool lambda = peek(1) == 'l';
	unsigned n, start;
	char digits[12];
	int at = 11;

	gt_dm.at += 2;
	if (lambda) {
		parameters = gt_dm_parameters();
		if (!take('E'))
			return fail();
	}
	n = take_sequence(10) + 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	start = gt_dm.used;
	add(lambda ? "{lambda" : "{unnamed type");
	add_piece(parameters);
	add("#");
	add(digits + at);
	add("}");
	return whole(start);
}

static struct piece parse_operator(struct name *name)
{
	unsigned start;
	struct piece p;

	if (peek(0) == 'c' && peek(1) == 'v') {
		gt_dm.at += 2;
		name->no_return = true;
		p = gt_dm_type();
		start = gt_dm.used;
		add("operator ");
		add_piece(p);
		return whole(start);
	}
	if (peek(0) == 'l' && peek(1) == 'i') {
		gt_dm.at += 2;
		p = gt_dm_source_name();
		start = gt_dm.used;
		add("operator\"\" ");
		add_piece(p);
		return whole(start);
	}
	for (unsigned i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (peek(0) != operators[i][0] || peek(1) != operators[i][1])
			continue;
		gt_dm.at += 2;
		start = gt_dm.used;
		add("operator");
		add(operators[i] + 2);
		return whole(start);
	}
	return fail();
}

/* The name of the class for its constructor: the last part of what stands before, no arguments. */
static struct piece class_name(struct piece scope)
{
	int nested = 0;
	unsigned end = scope.at + scope.length, at = end;

	while (at > scope.at) {
		char c = gt_dm.pool[at - 1];

		if (c == '>' || c == ')' || c == ']') {
			nested++;
		} else if (c == '<' || c == '(' || c == '[') {
			nested--;
			if (!nested && c != '(')
				end = at - 1; /* arguments, or [abi:...] */
		} else if (c == ':' && !nested) {
			break;
		}
		at--;
	}
	return (struct piece){ (uint16_t)at, (uint16_t)(end - at), (uint16_t)(end - at), false };
}

static struct piece parse_structor(struct name *name, struct piece scope)
{
	bool destructor = peek(0) == 'D';
	unsigned start;

	gt_dm.at++;
	if (!destructor && take('I'))
		return fail(); /* an inherited constructor */
	if (!is_digit(peek(0)))
		return fail();
	gt_dm.at++;
	name->no_return = true;
	scope = class_name(scope);
	start = gt_dm.used;
	add(destructor ? "~" : "");
	add_piece(scope);
	return whole(start);
}

static struct piece parse_unqualified(struct name *name, struct piece scope)
{
	struct piece p;
	char c;

	take('L'); /* internal linkage says nothing to people */
	c = peek(0);
	name->templated = false;
	name->no_return = false;
	if (is_digit(c))
		p = gt_dm_source_name();
	else if (c == 'U' && (peek(1) == 't' || peek(1) == 'l'))
		p = parse_unnamed();
	else if ((c == 'C' || c == 'D') && scope.length && (is_digit(peek(1)) || peek(1) == 'I'))
		p = parse_structor(name, scope);
	else
		p = parse_operator(name);
	while (take('B')) {
		struct piece tag = gt_dm_source_name();
		unsigned start = gt_dm.used;

		add_piece(p);
		add("[abi:");
		add_piece(tag);
		add("]");
		p = whole(start);
	}
	return p;
}

static struct piece join(struct piece scope, struct piece p)
{
	unsigned start = gt_dm.used;

	if (!scope.length)
		return p;
	add_piece(scope);
	add("::");
	add_piece(p);
	return whole(start);
}

struct piece gt_dm_with_args(struct piece p)
{
	struct piece args = parse_template_args(last_of(p) == '<');
	unsigned start = gt_dm.used;

	add_piece(p);
	add_piece(args);
	return whole(start);
}

struct piece gt_dm_quals(bool with_reference)
{
	unsigned start = gt_dm.used;
	bool restricted = take('r'), is_volatile = take('V'), is_const = take('K');

	add(is_const ? " const" : "");
	add(is_volatile ? " volatile" : "");
	add(restricted ? " restrict" : "");
	if (with_reference)
		add(take('R') ? " &" : take('O') ? " &&" : "");
	return whole(start);
}

/* N ... E */
static struct name parse_nested(void)
{
	struct name name = { 0 };
	bool first = true;

	take('N');
	name.quals = gt_dm_quals(true);
	while (!gt_dm.failed && !take('E')) {
		struct piece scope = name.text;

		if (first && peek(0) == 'S' && peek(1) == 't') {
			gt_dm.at += 2;
			name.text = text("std");
			first = false;
			continue;
		}
		if (first && peek(0) == 'S') {
			name.text = gt_dm_substitution();
			first = false;
			continue;
		}
		if (first && peek(0) == 'T') {
			name.text = gt_dm_template_param();
		} else if (!first && peek(0) == 'I') {
			name.text = gt_dm_with_args(scope);
			name.templated = true;
		} else if (!peek(0)) {
			fail();
		} else {
			name.text = join(scope, parse_unqualified(&name, scope));
		}
		first = false;
		/* Whatever something else follows may be referred to. */
		if (peek(0) != 'E')
			remember(name.text);
	}
	return name;
}

static void skip_discriminator(void)
{
	if (!take('_'))
		return;
	if (take('_')) {
		take_number();
		if (!take('_'))
			fail();
	} else {
		take_number();
	}
}

static struct name parse_local_parts(void)
{
	struct name name = { 0 };
	struct piece outer;
	int saved = gt_dm.in_arguments;

	take('Z');
	gt_dm.in_arguments = 0;
	outer = gt_dm_encoding(NULL, false);
	gt_dm.in_arguments = saved;
	if (!take('E')) {
		fail();
		return name;
	}
	if (take('s')) {
		name.text = join(outer, text("string literal"));
	} else {
		if (take('d')) {
			if (peek(0) != '_')
				take_number();
			if (!take('_'))
				fail();
			fail(); /* a default argument: nobody filters that */
		}
		name = gt_dm_name();
		name.text = join(outer, name.text);
	}
	skip_discriminator();
	return name;
}

/* Z function E name: something inside a function */
static struct name parse_local(void)
{
	static struct {
		unsigned count;
		struct argument args[ARGS_MAX];
		struct piece elements[ARGS_MAX];
	} saved[LOCALS_MAX];
	struct name name = { 0 };

	/* At the top its template parameters stay valid, inside of arguments they are its own. */
	if (!gt_dm.in_arguments)
		return parse_local_parts();
	if (gt_dm.locals == LOCALS_MAX) {
		fail();
		return name;
	}
	saved[gt_dm.locals].count = gt_dm.arg_count;
	memcpy(saved[gt_dm.locals].args, gt_dm.args, sizeof(gt_dm.args));
	memcpy(saved[gt_dm.locals].elements, gt_dm.elements, sizeof(gt_dm.elements));
	gt_dm.locals++;
	name = parse_local_parts();
	gt_dm.locals--;
	gt_dm.arg_count = saved[gt_dm.locals].count;
	memcpy(gt_dm.args, saved[gt_dm.locals].args, sizeof(gt_dm.args));
	memcpy(gt_dm.elements, saved[gt_dm.locals].elements, sizeof(gt_dm.elements));
	return name;
}

struct name gt_dm_name(void)
{
	struct name name = { 0 };
	struct piece none = { 0 };

	if (!deeper())
		return name;
	if (peek(0) == 'N') {
		name = parse_nested();
	} else if (peek(0) == 'Z') {
		name = parse_local();
	} else {
		if (peek(0) == 'S' && peek(1) != 't') {
			name.text = gt_dm_substitution();
			if (peek(0) != 'I')
				fail();
		} else {
			bool in_std = peek(0) == 'S';

			gt_dm.at += in_std ? 2 : 0;
			name.text = parse_unqualified(&name, none);
			if (in_std)
				name.text = join(text("std"), name.text);
			if (peek(0) == 'I')
				remember(name.text);
		}
		if (peek(0) == 'I') {
			name.text = gt_dm_with_args(name.text);
			name.templated = true;
		}
	}
	gt_dm.depth--;
	return name;
}

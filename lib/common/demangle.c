/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ names as people write them: a recursive descent through the Itanium ABI's grammar.
 *
 * Limits: see demangle.h. Not thread-safe (one static work space). Hostile names end in "not
 * understood": text, depth and steps are bounded. Text is written as __cxa_demangle writes it.
 */
#include "lib/common/demangle.h"

#include <stdint.h>
#include <string.h>

#define POOL_MAX  32768
#define SUBS_MAX  256
#define ARGS_MAX  128
#define DEPTH_MAX 96
#define STEPS_MAX 20000
#define LOCALS_MAX 4

/*
 * A piece of text in the pool. A type whose declarator stands inside (a function, an array) is cut
 * in two: "void (" and ")(int)"; `left` is where. `open`: the parenthesis before the cut is there.
 */
struct piece {
	uint16_t at, length, left;
	bool open;
};

struct argument {
	uint16_t first, count; /* in elements; a pack has any number */
	bool pack;
};

struct name {
	struct piece text;
	struct piece quals;  /* " const", of a member function */
	bool templated;      /* ends with template arguments: has a return type */
	bool no_return;      /* constructor, destructor, conversion */
};

static struct {
	const char *at, *end;
	bool failed;
	int depth, steps, locals;
	int in_arguments;    /* inside template arguments or parameters: "T_" is somebody else's */
	int pack_at;         /* element of packs that is being written, or -1 */
	int pack_size;       /* of the pack met while pack_at >= 0, or -1 */
	bool replay;         /* the same input once more: no new substitutions */
	unsigned used, sub_count, arg_count;
	struct piece subs[SUBS_MAX];
	struct argument args[ARGS_MAX];
	struct piece elements[ARGS_MAX];
	char pool[POOL_MAX];
} d;

static struct piece parse_type(void);
static struct name parse_name(void);
static struct piece parse_encoding(struct piece *plain, bool with_return);

/* ---- input and text ------------------------------------------------------------------------------ */

static struct piece fail(void)
{
	d.failed = true;
	d.at = d.end; /* ends every loop */
	return (struct piece){ 0 };
}

static char peek(unsigned ahead)
{
	return (size_t)(d.end - d.at) > ahead ? d.at[ahead] : '\0';
}

static bool take(char c)
{
	if (peek(0) != c)
		return false;
	d.at++;
	return true;
}

static void add_bytes(const char *bytes, size_t length)
{
	if (d.used + length > POOL_MAX) {
		fail();
		return;
	}
	memcpy(d.pool + d.used, bytes, length);
	d.used += (unsigned)length;
}

static void add(const char *text)
{
	add_bytes(text, strlen(text));
}

static void add_piece(struct piece p)
{
	if (d.used + p.length > POOL_MAX) {
		fail();
		return;
	}
	memcpy(d.pool + d.used, d.pool + p.at, p.length);
	d.used += p.length;
}

static struct piece left_of(struct piece p)
{
	return (struct piece){ p.at, p.left, p.left, false };
}

static struct piece right_of(struct piece p)
{
	return (struct piece){ (uint16_t)(p.at + p.left), (uint16_t)(p.length - p.left),
			       (uint16_t)(p.length - p.left), false };
}

/* What has been added since `start`, with the cut at its end. */
static struct piece whole(unsigned start)
{
	uint16_t length = (uint16_t)(d.used - start);

	return (struct piece){ (uint16_t)start, length, length, false };
}

static struct piece text(const char *string)
{
	unsigned start = d.used;

	add(string);
	return whole(start);
}

static char last_of(struct piece p)
{
	return p.length ? d.pool[p.at + p.length - 1] : '\0';
}

static void remember(struct piece p)
{
	if (d.replay || d.failed)
		return;
	if (d.sub_count == SUBS_MAX)
		fail();
	else
		d.subs[d.sub_count++] = p;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static unsigned take_number(void)
{
	unsigned n = 0;

	while (is_digit(peek(0)) && n < 1000000)
		n = n * 10 + (unsigned)(*d.at++ - '0');
	return n;
}

/* Every recursion passes here; false: enough. */
static bool deeper(void)
{
	if (d.failed || ++d.depth > DEPTH_MAX || ++d.steps > STEPS_MAX) {
		d.depth--;
		fail();
		return false;
	}
	return true;
}

/* ---- substitutions, template parameters and arguments ------------------------------------------------ */

/* The number before "_" in S_, S0_, T_, T0_: 0 for none, else one more than the number. */
static unsigned take_sequence(unsigned base)
{
	unsigned n = 0;

	if (take('_'))
		return 0;
	while (peek(0) && peek(0) != '_' && n < 1000000) {
		char c = *d.at++;

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

static struct piece parse_substitution(void)
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
		d.at++;
		structor = (peek(0) == 'C' || peek(0) == 'D') && is_digit(peek(1));
		return text(structor ? known[i].whole : known[i].plain);
	}
	n = take_sequence(36);
	return n < d.sub_count ? d.subs[n] : fail();
}

static struct piece parse_template_param(void)
{
	const struct argument *arg;
	unsigned n, start;

	take('T');
	n = take_sequence(10);
	if (n >= d.arg_count)
		return fail();
	arg = &d.args[n];
	if (!arg->pack)
		return d.elements[arg->first];
	if (d.pack_at >= 0) {
		d.pack_size = arg->count;
		return d.pack_at < arg->count ? d.elements[arg->first + d.pack_at] : text("");
	}
	start = d.used;
	for (unsigned i = 0; i < arg->count; i++) {
		add(i ? ", " : "");
		add_piece(d.elements[arg->first + i]);
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
		d.at += 3;
		return text(d.at[-2] == '1' ? "true" : "false");
	}
	if (kind == '_' || kind == 'f' || kind == 'd' || kind == 'e')
		return fail();
	if (letter)
		d.at++;
	else
		type = parse_type();
	minus = take('n');
	value = d.at;
	while (is_digit(peek(0)))
		d.at++;
	start = d.used;
	if (!letter) {
		add("(");
		add_piece(type);
		add(")");
	}
	add(minus ? "-" : "");
	add_bytes(value, (size_t)(d.at - value));
	add(letter ? suffixes[letter - letters] : "");
	if (value == d.at || !take('E'))
		return fail();
	return whole(start);
}

static struct piece parse_argument(void)
{
	if (peek(0) == 'L')
		return parse_literal();
	if (peek(0) == 'X')
		return fail(); /* an expression */
	return parse_type();
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
	d.in_arguments++;
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
	d.in_arguments--;
	d.depth--;
	start = d.used;
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
	add(d.used > start && d.pool[d.used - 1] == '>' && !first ? " >" : ">");
	if (!d.in_arguments && !d.failed) {
		memcpy(d.args, args, count * sizeof(args[0]));
		memcpy(d.elements, elements, used * sizeof(elements[0]));
		d.arg_count = count;
	}
	return whole(start);
}

/* ---- names ------------------------------------------------------------------------------------------ */

static const char operators[][14] = {
	"nw new", "na new[]", "dl delete", "da delete[]", "ps+", "ng-", "ad&", "de*", "co~", "pl+",
	"mi-", "ml*", "dv/", "rm%", "an&", "or|", "eo^", "aS=", "pL+=", "mI-=", "mL*=", "dV/=",
	"rM%=", "aN&=", "oR|=", "eO^=", "ls<<", "rs>>", "lS<<=", "rS>>=", "eq==", "ne!=", "lt<",
	"gt>", "le<=", "ge>=", "ss<=>", "nt!", "aa&&", "oo||", "pp++", "mm--", "cm,", "pm->*",
	"pt->", "cl()", "ix[]", "qu?", "aw co_await",
};

static struct piece parse_source_name(void)
{
	unsigned length = take_number();
	const char *name = d.at;
	unsigned start = d.used;

	if (!length || length > (size_t)(d.end - d.at))
		return fail();
	d.at += length;
	if (length >= 10 && !memcmp(name, "_GLOBAL_", 8) && name[9] == 'N')
		return text("(anonymous namespace)");
	add_bytes(name, length);
	return whole(start);
}

/* Parameter types up to the end or `stop`; "()" for void. */
static struct piece parse_parameters(void)
{
	struct piece types[64];
	unsigned count = 0, start;
	bool first = true;

	if (peek(0) == 'v' && (!peek(1) || peek(1) == 'E' || peek(1) == '.')) {
		d.at++;
		return text("()");
	}
	d.in_arguments++;
	while (peek(0) && peek(0) != 'E' && peek(0) != '.' &&
	       !((peek(0) == 'R' || peek(0) == 'O') && peek(1) == 'E')) {
		if (count == 64)
			return fail();
		types[count++] = parse_type();
	}
	d.in_arguments--;
	start = d.used;
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

	d.at += 2;
	if (lambda) {
		parameters = parse_parameters();
		if (!take('E'))
			return fail();
	}
	n = take_sequence(10) + 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	start = d.used;
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
		d.at += 2;
		name->no_return = true;
		p = parse_type();
		start = d.used;
		add("operator ");
		add_piece(p);
		return whole(start);
	}
	if (peek(0) == 'l' && peek(1) == 'i') {
		d.at += 2;
		p = parse_source_name();
		start = d.used;
		add("operator\"\" ");
		add_piece(p);
		return whole(start);
	}
	for (unsigned i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (peek(0) != operators[i][0] || peek(1) != operators[i][1])
			continue;
		d.at += 2;
		start = d.used;
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
		char c = d.pool[at - 1];

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

	d.at++;
	if (!destructor && take('I'))
		return fail(); /* an inherited constructor */
	if (!is_digit(peek(0)))
		return fail();
	d.at++;
	name->no_return = true;
	scope = class_name(scope);
	start = d.used;
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
		p = parse_source_name();
	else if (c == 'U' && (peek(1) == 't' || peek(1) == 'l'))
		p = parse_unnamed();
	else if ((c == 'C' || c == 'D') && scope.length && (is_digit(peek(1)) || peek(1) == 'I'))
		p = parse_structor(name, scope);
	else
		p = parse_operator(name);
	while (take('B')) {
		struct piece tag = parse_source_name();
		unsigned start = d.used;

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
	unsigned start = d.used;

	if (!scope.length)
		return p;
	add_piece(scope);
	add("::");
	add_piece(p);
	return whole(start);
}

static struct piece with_args(struct piece p)
{
	struct piece args = parse_template_args(last_of(p) == '<');
	unsigned start = d.used;

	add_piece(p);
	add_piece(args);
	return whole(start);
}

static struct piece parse_quals(bool with_reference)
{
	unsigned start = d.used;
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
	name.quals = parse_quals(true);
	while (!d.failed && !take('E')) {
		struct piece scope = name.text;

		if (first && peek(0) == 'S' && peek(1) == 't') {
			d.at += 2;
			name.text = text("std");
			first = false;
			continue;
		}
		if (first && peek(0) == 'S') {
			name.text = parse_substitution();
			first = false;
			continue;
		}
		if (first && peek(0) == 'T') {
			name.text = parse_template_param();
		} else if (!first && peek(0) == 'I') {
			name.text = with_args(scope);
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
	int saved = d.in_arguments;

	take('Z');
	d.in_arguments = 0;
	outer = parse_encoding(NULL, false);
	d.in_arguments = saved;
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
		name = parse_name();
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
	if (!d.in_arguments)
		return parse_local_parts();
	if (d.locals == LOCALS_MAX) {
		fail();
		return name;
	}
	saved[d.locals].count = d.arg_count;
	memcpy(saved[d.locals].args, d.args, sizeof(d.args));
	memcpy(saved[d.locals].elements, d.elements, sizeof(d.elements));
	d.locals++;
	name = parse_local_parts();
	d.locals--;
	d.arg_count = saved[d.locals].count;
	memcpy(d.args, saved[d.locals].args, sizeof(d.args));
	memcpy(d.elements, saved[d.locals].elements, sizeof(d.elements));
	return name;
}

static struct name parse_name(void)
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
			name.text = parse_substitution();
			if (peek(0) != 'I')
				fail();
		} else {
			bool in_std = peek(0) == 'S';

			d.at += in_std ? 2 : 0;
			name.text = parse_unqualified(&name, none);
			if (in_std)
				name.text = join(text("std"), name.text);
			if (peek(0) == 'I')
				remember(name.text);
		}
		if (peek(0) == 'I') {
			name.text = with_args(name.text);
			name.templated = true;
		}
	}
	d.depth--;
	return name;
}

/* ---- types --------------------------------------------------------------------------------------------- */

static const char *builtin(char c)
{
	static const char *const names[26] = {
		"signed char", "bool", "char", "double", "long double", "float", "__float128",
		"unsigned char", "int", "unsigned int", NULL, "long", "unsigned long", "__int128",
		"unsigned __int128", NULL, NULL, NULL, "short", "unsigned short", NULL, "void",
		"wchar_t", "long long", "unsigned long long", "...",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static const char *builtin_d(char c)
{
	switch (c) {
	case 'a': return "auto";
	case 'c': return "decltype(auto)";
	case 'd': return "decimal64";
	case 'e': return "decimal128";
	case 'f': return "decimal32";
	case 'h': return "half";
	case 'i': return "char32_t";
	case 'n': return "decltype(nullptr)";
	case 's': return "char16_t";
	case 'u': return "char8_t";
	default: return NULL;
	}
}

/* `inner` with `mark` ("*", "&", " A::*") where its declarator is. */
static struct piece declare(struct piece inner, const char *mark, struct piece owner)
{
	struct piece left = left_of(inner), right = right_of(inner), result;
	bool opens = right.length && !inner.open;
	unsigned start = d.used;

	add_piece(left);
	if (opens)
		add(last_of(left) && strchr(" (*", last_of(left)) ? "(" : " (");
	else if (owner.length)
		add(" ");
	if (owner.length) {
		add_piece(owner);
		add("::");
	}
	add(mark);
	result = whole(start);
	add(opens ? ")" : "");
	add_piece(right);
	result.length = (uint16_t)(d.used - start);
	result.open = right.length > 0;
	return result;
}

static struct piece parse_pointer(void)
{
	char c = *d.at++;
	struct piece inner = parse_type(), none = { 0 };
	struct piece left = left_of(inner);

	/* References to references, which only template parameters make, fall together. */
	if (c != 'P' && last_of(left) == '&') {
		bool two = left.length > 1 && d.pool[left.at + left.length - 2] == '&';

		if (c == 'O' || !two)
			return inner;
		if (inner.left != inner.length)
			return fail();
		inner.length--;
		inner.left--;
		return inner;
	}
	return declare(inner, c == 'P' ? "*" : c == 'R' ? "&" : "&&", none);
}

/* F return parameters E */
static struct piece parse_function(void)
{
	struct piece ret, parameters, result;
	unsigned start;
	const char *reference;

	take('F');
	take('Y');
	ret = parse_type();
	parameters = parse_parameters();
	reference = take('R') ? " &" : take('O') ? " &&" : "";
	if (!take('E'))
		return fail();
	start = d.used;
	add_piece(left_of(ret));
	if (ret.left == ret.length)
		add(" ");
	result = whole(start);
	add_piece(parameters);
	add(reference);
	add_piece(right_of(ret));
	result.length = (uint16_t)(d.used - start);
	return result;
}

/* A number _ type */
static struct piece parse_array(void)
{
	struct piece inner, right, result;
	const char *number;
	size_t digits;
	unsigned start;

	take('A');
	number = d.at;
	take_number();
	digits = (size_t)(d.at - number);
	if (!take('_'))
		return fail();
	inner = parse_type();
	right = right_of(inner);
	start = d.used;
	add_piece(left_of(inner));
	result = whole(start);
	add(" [");
	add_bytes(number, digits);
	add("]");
	if (right.length && !inner.open && d.pool[right.at] == ' ') {
		right.at++;
		right.length--;
	}
	add_piece(right);
	result.length = (uint16_t)(d.used - start);
	return result;
}

static struct piece parse_qualified(void)
{
	struct piece quals = parse_quals(false), result;
	/* "const" of a member function belongs to its type: no substitution without it. */
	struct piece inner = peek(0) == 'F' ? parse_function() : parse_type();
	bool function = inner.left < inner.length && !inner.open &&
			d.pool[inner.at + inner.left] == '(';
	unsigned start = d.used;

	add_piece(left_of(inner));
	if (!function)
		add_piece(quals);
	result = whole(start);
	add_piece(right_of(inner));
	if (function)
		add_piece(quals);
	result.length = (uint16_t)(d.used - start);
	result.open = inner.open;
	return result;
}

/* Dp pattern: the pattern once for each element of the pack in it */
static struct piece parse_expansion(void)
{
	const char *pattern;
	unsigned start = d.used;
	struct piece elements[64];
	int count = 0, saved_size = d.pack_size;
	bool saved_replay = d.replay;

	d.at += 2;
	pattern = d.at;
	if (d.pack_at >= 0)
		return parse_type(); /* an expansion in an expansion: as it stands */
	d.pack_size = -1;
	do {
		d.at = pattern;
		d.pack_at = count;
		elements[count++] = parse_type();
		d.replay = true;
	} while (count < d.pack_size && count < 64 && !d.failed);
	if (d.pack_size > 64)
		fail();
	count = d.pack_size < 0 ? 1 : d.pack_size;
	d.pack_at = -1;
	d.pack_size = saved_size;
	d.replay = saved_replay;
	start = d.used;
	for (int i = 0; i < count && !d.failed; i++) {
		add(i ? ", " : "");
		add_piece(elements[i]);
	}
	return whole(start);
}

/* A type that substitutions can mean: all but the built-in ones. */
static struct piece parse_compound(void)
{
	struct piece owner, inner;

	switch (peek(0)) {
	case 'r':
	case 'V':
	case 'K':
		return parse_qualified();
	case 'P':
	case 'R':
	case 'O':
		return parse_pointer();
	case 'F':
		return parse_function();
	case 'A':
		return parse_array();
	case 'M':
		d.at++;
		owner = parse_type();
		inner = parse_type();
		return declare(inner, "*", owner);
	case 'D':
		if (peek(1) == 'p')
			return parse_expansion();
		if (peek(1) == 'o' && peek(2) == 'F') {
			d.at += 2;
			inner = parse_function();
			return inner.length ? fail() : inner; /* noexcept: nobody filters that */
		}
		return fail();
	case 'T':
		inner = parse_template_param();
		if (peek(0) != 'I')
			return inner;
		remember(inner);
		return with_args(inner);
	default:
		return parse_name().text;
	}
}

static struct piece parse_type(void)
{
	const char *name = builtin(peek(0));
	struct piece p;

	if (!deeper())
		return fail();
	if (name && peek(0) != 'r') {
		d.at++;
		p = text(name);
	} else if (peek(0) == 'D' && builtin_d(peek(1))) {
		p = text(builtin_d(peek(1)));
		d.at += 2;
	} else if (peek(0) == 'u') {
		d.at++;
		p = parse_source_name();
		remember(p);
	} else if (peek(0) == 'S' && peek(1) != 't') {
		p = parse_substitution();
		if (peek(0) == 'I') {
			p = with_args(p);
			remember(p);
		}
	} else {
		p = parse_compound();
		remember(p);
	}
	d.depth--;
	return p;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* A function with its parameters, or a variable; *plain: its name alone. */
static struct piece parse_encoding(struct piece *plain, bool with_return)
{
	struct name name;
	struct piece parameters, ret = { 0 };
	unsigned start;

	if (!deeper())
		return fail();
	if (peek(0) == 'T' || peek(0) == 'G')
		return fail(); /* tables, guards, thunks: no functions of the user's */
	name = parse_name();
	d.depth--;
	if (plain && !d.failed)
		*plain = name.text;
	if (!peek(0) || peek(0) == 'E' || peek(0) == '.')
		return name.text;
	if (name.templated && !name.no_return) {
		d.in_arguments++;
		ret = parse_type();
		d.in_arguments--;
	}
	parameters = parse_parameters();
	if (!with_return)
		ret.length = ret.left = 0;
	start = d.used;
	add_piece(left_of(ret));
	if (ret.length && ret.left == ret.length)
		add(" ");
	add_piece(name.text);
	add_piece(parameters);
	add_piece(name.quals);
	add_piece(right_of(ret));
	return whole(start);
}

static bool copy_out(struct piece p, char *buffer)
{
	if (!p.length || p.length >= GT_DEMANGLE_MAX)
		return false;
	memcpy(buffer, d.pool + p.at, p.length);
	buffer[p.length] = '\0';
	return true;
}

bool gt_demangle(const char *mangled, char *full, char *plain)
{
	struct piece whole_text, name = { 0 };
	size_t length = strlen(mangled);

	full[0] = plain[0] = '\0';
	if (length < 4 || length > GT_DEMANGLE_MAX || memcmp(mangled, "_Z", 2))
		return false;
	d.at = mangled + 2;
	d.end = mangled + length;
	d.failed = d.replay = false;
	d.depth = d.steps = d.locals = d.in_arguments = 0;
	d.pack_at = d.pack_size = -1;
	d.used = d.sub_count = d.arg_count = 0;
	whole_text = parse_encoding(&name, true);
	if (!d.failed && (!peek(0) || peek(0) == '.'))
		copy_out(whole_text, full);
	return copy_out(name, plain);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ names as people write them: a recursive descent through the Itanium ABI's grammar. Here are
 * the types and the whole; the names are in demangle_name.c.
 *
 * Limits: not thread-safe (one static work space). Hostile names end in "not
 * understood": text, depth and steps are bounded. Text is written as __cxa_demangle writes it.
 */
#include "lib/common/demangle_internal.h"

struct demangler gt_dm;

/* ---- types ----------------------------------------------------------------------------------- */

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
	unsigned start = gt_dm.used;

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
	result.length = (uint16_t)(gt_dm.used - start);
	result.open = right.length > 0;
	return result;
}

static struct piece parse_pointer(void)
{
	char c = *gt_dm.at++;
	struct piece inner = gt_dm_type(), none = { 0 };
	struct piece left = left_of(inner);

	/* References to references, which only template parameters make, fall together. */
	if (c != 'P' && last_of(left) == '&') {
		bool two = left.length > 1 && gt_dm.pool[left.at + left.length - 2] == '&';

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
	ret = gt_dm_type();
	parameters = gt_dm_parameters();
	reference = take('R') ? " &" : take('O') ? " &&" : "";
	if (!take('E'))
		return fail();
	start = gt_dm.used;
	add_piece(left_of(ret));
	if (ret.left == ret.length)
		add(" ");
	result = whole(start);
	add_piece(parameters);
	add(reference);
	add_piece(right_of(ret));
	result.length = (uint16_t)(gt_dm.used - start);
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
	number = gt_dm.at;
	take_number();
	digits = (size_t)(gt_dm.at - number);
	if (!take('_'))
		return fail();
	inner = gt_dm_type();
	right = right_of(inner);
	start = gt_dm.used;
	add_piece(left_of(inner));
	result = whole(start);
	add(" [");
	add_bytes(number, digits);
	add("]");
	if (right.length && !inner.open && gt_dm.pool[right.at] == ' ') {
		right.at++;
		right.length--;
	}
	add_piece(right);
	result.length = (uint16_t)(gt_dm.used - start);
	return result;
}

static struct piece parse_qualified(void)
{
	struct piece quals = gt_dm_quals(false), result;
	/* "const" of a member function belongs to its type: no substitution without it. */
	struct piece inner = peek(0) == 'F' ? parse_function() : gt_dm_type();
	bool function = inner.left < inner.length && !inner.open &&
			gt_dm.pool[inner.at + inner.left] == '(';
	unsigned start = gt_dm.used;

	add_piece(left_of(inner));
	if (!function)
		add_piece(quals);
	result = whole(start);
	add_piece(right_of(inner));
	if (function)
		add_piece(quals);
	result.length = (uint16_t)(gt_dm.used - start);
	result.open = inner.open;
	return result;
}

/* Dp pattern: the pattern once for each element of the pack in it */
static struct piece parse_expansion(void)
{
	const char *pattern;
	unsigned start = gt_dm.used;
	struct piece elements[64];
	int count = 0, saved_size = gt_dm.pack_size;
	bool saved_replay = gt_dm.replay;

	gt_dm.at += 2;
	pattern = gt_dm.at;
	if (gt_dm.pack_at >= 0)
		return gt_dm_type(); /* an expansion in an expansion: as it stands */
	gt_dm.pack_size = -1;
	do {
		gt_dm.at = pattern;
		gt_dm.pack_at = count;
		elements[count++] = gt_dm_type();
		gt_dm.replay = true;
	} while (count < gt_dm.pack_size && count < 64 && !gt_dm.failed);
	if (gt_dm.pack_size > 64)
		fail();
	count = gt_dm.pack_size < 0 ? 1 : gt_dm.pack_size;
	gt_dm.pack_at = -1;
	gt_dm.pack_size = saved_size;
	gt_dm.replay = saved_replay;
	start = gt_dm.used;
	for (int i = 0; i < count && !gt_dm.failed; i++) {
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
		gt_dm.at++;
		owner = gt_dm_type();
		inner = gt_dm_type();
		return declare(inner, "*", owner);
	case 'D':
		if (peek(1) == 'p')
			return parse_expansion();
		if (peek(1) == 'o' && peek(2) == 'F') {
			gt_dm.at += 2;
			inner = parse_function();
			return inner.length ? fail() : inner; /* noexcept: nobody filters that */
		}
		return fail();
	case 'T':
		inner = gt_dm_template_param();
		if (peek(0) != 'I')
			return inner;
		remember(inner);
		return gt_dm_with_args(inner);
	default:
		return gt_dm_name().text;
	}
}

struct piece gt_dm_type(void)
{
	const char *name = builtin(peek(0));
	struct piece p;

	if (!deeper())
		return fail();
	if (name && peek(0) != 'r') {
		gt_dm.at++;
		p = text(name);
	} else if (peek(0) == 'D' && builtin_d(peek(1))) {
		p = text(builtin_d(peek(1)));
		gt_dm.at += 2;
	} else if (peek(0) == 'u') {
		gt_dm.at++;
		p = gt_dm_source_name();
		remember(p);
	} else if (peek(0) == 'S' && peek(1) != 't') {
		p = gt_dm_substitution();
		if (peek(0) == 'I') {
			p = gt_dm_with_args(p);
			remember(p);
		}
	} else {
		p = parse_compound();
		remember(p);
	}
	gt_dm.depth--;
	return p;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A function with its parameters, or a variable; *plain: its name alone. */
struct piece gt_dm_encoding(struct piece *plain, bool with_return)
{
	struct name name;
	struct piece parameters, ret = { 0 };
	unsigned start;

	if (!deeper())
		return fail();
	if (peek(0) == 'T' || peek(0) == 'G')
		return fail(); /* tables, guards, thunks: no functions of the user's */
	name = gt_dm_name();
	gt_dm.depth--;
	if (plain && !gt_dm.failed)
		*plain = name.text;
	if (!peek(0) || peek(0) == 'E' || peek(0) == '.')
		return name.text;
	if (name.templated && !name.no_return) {
		gt_dm.in_arguments++;
		ret = gt_dm_type();
		gt_dm.in_arguments--;
	}
	parameters = gt_dm_parameters();
	if (!with_return)
		ret.length = ret.left = 0;
	start = gt_dm.used;
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
	memcpy(buffer, gt_dm.pool + p.at, p.length);
	buffer[p.length] = '\0';
	return true;
}

/* "a::b" from two parts of a name; the second without what a compiler adds to a copy (".part.0"). */
static bool join(const char *module, size_t length, const char *procedure, size_t rest, char *plain)
{
	const char *dot = memchr(procedure, '.', rest);

	if (dot)
		rest = (size_t)(dot - procedure);
	if (!length || !rest || length + rest + 3 > GT_DEMANGLE_MAX)
		return false;
	memcpy(plain, module, length);
	memcpy(plain + length, "::", 2);
	memcpy(plain + length + 2, procedure, rest);
	plain[length + 2 + rest] = '\0';
	return true;
}

bool gt_demangle_fortran(const char *mangled, char *plain)
{
	size_t length = strlen(mangled);
	const char *at;

	if (!strncmp(mangled, "__", 2) && (at = strstr(mangled + 2, "_MOD_")))
		return join(mangled + 2, (size_t)(at - mangled) - 2, at + 5,
			    length - (size_t)(at + 5 - mangled), plain);
	/* Capitals mark what follows: M a module, P a procedure. */
	if (!strncmp(mangled, "_QM", 3) && (at = strchr(mangled + 3, 'P')))
		return join(mangled + 3, (size_t)(at - mangled) - 3, at + 1,
			    length - (size_t)(at + 1 - mangled), plain);
	if (length > 5 && mangled[length - 1] == '_' && (at = strstr(mangled, "_mp_")) && at[4])
		return join(mangled, (size_t)(at - mangled), at + 4,
			    length - 1 - (size_t)(at + 4 - mangled), plain);
	return false;
}

bool gt_demangle(const char *mangled, char *full, char *plain)
{
	struct piece whole_text, name = { 0 };
	size_t length = strlen(mangled);

	full[0] = plain[0] = '\0';
	if (gt_demangle_fortran(mangled, plain))
		return true;
	if (length < 4 || length > GT_DEMANGLE_MAX || memcmp(mangled, "_Z", 2))
		return false;
	gt_dm.at = mangled + 2;
	gt_dm.end = mangled + length;
	gt_dm.failed = gt_dm.replay = false;
	gt_dm.depth = gt_dm.steps = gt_dm.locals = gt_dm.in_arguments = 0;
	gt_dm.pack_at = gt_dm.pack_size = -1;
	gt_dm.used = gt_dm.sub_count = gt_dm.arg_count = 0;
	whole_text = gt_dm_encoding(&name, true);
	if (!gt_dm.failed && (!peek(0) || peek(0) == '.'))
		copy_out(whole_text, full);
	if (!copy_out(name, plain))
		full[0] = '\0';
	return plain[0] != '\0';
}

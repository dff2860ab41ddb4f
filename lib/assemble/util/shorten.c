/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names made short; see shorten.h.
 *
 * A name is parsed once into brackets and their partners, then written with more and more left out, until it
 * fits. Brackets that belong to an operator's name, that compare in an argument of a template, or that have
 * no partner are text as any other.
 *
 * Limits: see shorten.h. Linear in the length of the name.
 */
#include "lib/assemble/util/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BETWEEN " > " /* a call path's functions */

enum { NONE = 0xffff, DEEPEST = 32, DOTS = 3 };

struct parsed {
	const char *s;
	size_t n;
	uint16_t partner[GT_SHORTEN_MAX]; /* of a bracket; NONE */
	uint8_t level[GT_SHORTEN_MAX];    /* brackets around it, at most DEEPEST */
	uint8_t nested[GT_SHORTEN_MAX];   /* of these, "<" */
	bool in_operator[GT_SHORTEN_MAX]; /* belongs to an operator's name */
};

/* The omitted part. */
struct cut {
	bool parameters;
	unsigned templates; /* as deep as this, or deeper; DEEPEST + 1: none */
	size_t from, end;   /* what is before, if `dots` as "...", and what is behind */
	size_t kind, offset; /* from ".so.1.2" of a library to the offset in it; equal: nothing */
	bool dots;
	size_t keep;
};

struct out {
	char *at;
	size_t n;
	size_t keep; /* where the byte that is kept is */
};

/* ---- parsing ------------------------------------------------------------------------------------- */

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Length of the operator in "operator<<", which begins at `i`; 0: there is none. */
static size_t operator_at(const char *s, size_t i)
{
	static const char *const signs[] = { "<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()",
					     "[]",  "<",   ">",	  NULL };
	static const char word[] = "operator";
	size_t n = strlen(word);

	if (strncmp(s + i, word, n) || (i && in_word(s[i - 1])))
		return 0;
	for (size_t k = 0; signs[k]; k++)
		if (!strncmp(s + i + n, signs[k], strlen(signs[k])))
			return n + strlen(signs[k]);
	return 0;
}

static char closing(char c)
{
	return c == '(' ? ')' : c == '<' ? '>' : c == '[' ? ']' : c == '{' ? '}' : '\0';
}

/* "a->b": not the end of anything. */
static bool is_closing(const char *s, size_t i)
{
	return strchr(")>]}", s[i]) && !(s[i] == '>' && i && s[i - 1] == '-');
}

/* A ">" ends only what "<" has begun last; any other bracket also gives up each "<" in between. */
static size_t close_bracket(struct parsed *p, uint16_t *open, size_t opened, size_t i)
{
	size_t k = opened;

	while (k && closing(p->s[open[k - 1]]) != p->s[i] && p->s[i] != '>' && p->s[open[k - 1]] == '<')
		k--;
	if (!k || closing(p->s[open[k - 1]]) != p->s[i])
		return opened;
	p->partner[i] = open[k - 1];
	p->partner[open[k - 1]] = (uint16_t)i;
	return k - 1;
}

static void find_brackets(struct parsed *p)
{
	uint16_t open[GT_SHORTEN_MAX];
	size_t opened = 0;

	for (size_t i = 0; i < p->n; i++) {
		size_t n = operator_at(p->s, i);

		memset(p->partner + i, 0xff, (n ? n : 1) * sizeof(*p->partner));
		memset(p->in_operator + i, n != 0, n ? n : 1);
		if (n)
			i += n - 1;
		else if (closing(p->s[i]))
			open[opened++] = (uint16_t)i;
		else if (is_closing(p->s, i))
			opened = close_bracket(p, open, opened, i);
	}
}

static void find_levels(struct parsed *p)
{
	size_t level = 0, nested = 0;

	for (size_t i = 0; i < p->n; i++) {
		bool bracket = p->partner[i] != NONE, end = bracket && p->partner[i] < i;

		level -= end;
		nested -= end && p->s[i] == '>';
		p->level[i] = (uint8_t)(level < DEEPEST ? level : DEEPEST);
		p->nested[i] = (uint8_t)(nested < DEEPEST ? nested : DEEPEST);
		level += bracket && !end;
		nested += bracket && !end && p->s[i] == '<';
	}
}

/* Is it behind a name: parameters or arguments, rather than "(anonymous namespace)" or "<lambda()>"? */
static bool belongs_to_name(const struct parsed *p, size_t i)
{
	if (!i)
		return false;
	return in_word(p->s[i - 1]) || strchr(">)]}", p->s[i - 1]) || p->in_operator[i - 1] ||
	       (p->s[i - 1] == ' ' && i > 1 && p->in_operator[i - 2]);
}

/* Where the parameters of the whole begin; its length if there are none. */
static size_t find_parameters(const struct parsed *p)
{
	for (size_t i = p->n; i-- > 0;)
		if (p->s[i] == '(' && p->partner[i] != NONE && !p->level[i] && belongs_to_name(p, i))
			return i;
	return p->n;
}

/* Where a function's name begins behind its return type; 0: there is none, or it is no type. */
static size_t find_name(const struct parsed *p, size_t parameters)
{
	size_t name = 0;

	for (size_t i = 0; i < parameters && parameters < p->n; i++) {
		if (p->level[i] || p->partner[i] != NONE)
			continue;
		if (p->in_operator[i] || !strncmp(p->s + i, "operator ", 9))
			break;
		if (p->s[i] == ' ')
			name = i + 1;
		else if (!in_word(p->s[i]) && !strchr(":*&~", p->s[i]))
			return 0;
	}
	return name;
}

/* "libx.so.1.2+0x40", a function without a name: where ".so" and the offset begin. False: it is none. */
static bool find_offset(const struct parsed *p, size_t keep, size_t *kind, size_t *offset)
{
	size_t at = p->n;

	while (at && isxdigit((unsigned char)p->s[at - 1]))
		at--;
	if (at < 3 || strncmp(p->s + at - 3, "+0x", 3))
		return false;
	*offset = at -= 3;
	while (at && (isdigit((unsigned char)p->s[at - 1]) || p->s[at - 1] == '.'))
		at--;
	*kind = at - 3;
	return at > 3 && !strncmp(p->s + at - 3, ".so", 3) && (keep < *kind || keep >= *offset);
}

/*
 * "worker [4711], Thread 3", a thread of one of several processes: where the number of the process begins,
 * and the thread. False: it is none.
 */
static bool find_process(const char *s, size_t *number, size_t *thread)
{
	const char *at = strchr(s, '[');
	size_t digits = at ? strspn(at + 1, "0123456789") : 0;

	if (!digits || at == s || at[-1] != ' ' || strncmp(at + 1 + digits, "], ", 3))
		return false;
	*number = (size_t)(at - s);
	*thread = *number + 1 + digits + 3;
	return s[*thread];
}

/* ---- writing ------------------------------------------------------------------------------------- */

static void put(struct out *out, const char *text, size_t n)
{
	if (n > GT_SHORTEN_MAX - 1 - out->n)
		n = GT_SHORTEN_MAX - 1 - out->n;
	memcpy(out->at + out->n, text, n);
	out->n += n;
}

/* Does the bracket at `i` give way? */
static bool gives_way(const struct parsed *p, const struct cut *cut, size_t i)
{
	size_t end = p->partner[i];
	bool keeps = cut->keep > i && cut->keep <= end;

	if (end == NONE || end < i + 2 + DOTS || keeps || !belongs_to_name(p, i))
		return false;
	return p->s[i] == '(' ? cut->parameters : p->s[i] == '<' && p->nested[i] + 1u >= cut->templates;
}

/* " [with T = int]", which gcc adds. */
static bool is_with(const struct parsed *p, const struct cut *cut, size_t i)
{
	size_t end = i + 1 < p->n ? p->partner[i + 1] : NONE;

	return cut->parameters && !strncmp(p->s + i, " [with ", 7) && end != NONE &&
	       (cut->keep <= i || cut->keep > end);
}

/* True: it fits. */
static bool write_name(const struct parsed *p, const struct cut *cut, unsigned columns, struct out *out)
{
	out->n = 0;
	out->keep = GT_KEEP_NOTHING;
	if (cut->dots)
		put(out, "...", DOTS);
	for (size_t i = cut->from; i < cut->end; i++) {
		if (i == cut->keep)
			out->keep = out->n;
		if (i == cut->kind && cut->offset > i)
			i = cut->offset;
		if (is_with(p, cut, i)) {
			i = p->partner[i + 1];
			continue;
		}
		put(out, p->s + i, 1);
		if (!gives_way(p, cut, i))
			continue;
		put(out, "...", DOTS);
		i = p->partner[i];
		put(out, p->s + i, 1);
	}
	if (cut->keep == p->n)
		out->keep = out->n;
	out->at[out->n] = '\0';
	return gt_columns_of(out->at) <= columns;
}

/* Leading scopes, as few as possible. */
static bool leave_scopes(const struct parsed *p, struct cut *cut, size_t parameters, unsigned columns,
			 struct out *out)
{
	for (size_t i = cut->from + 1; i + 2 < parameters; i++) {
		if (p->level[i] || strncmp(p->s + i, "::", 2) || p->in_operator[i])
			continue;
		if (cut->keep < i)
			return false;
		cut->from = i++;
		cut->dots = true;
		if (write_name(p, cut, columns, out))
			return true;
	}
	return false;
}

/* First the program's name, then which process it is. */
static bool leave_process(const struct parsed *p, size_t number, size_t thread, unsigned columns, size_t keep,
			  struct out *out)
{
	struct cut cut = { .templates = DEEPEST + 1, .from = keep < number ? 0 : number, .end = p->n,
			   .keep = keep };

	if (write_name(p, &cut, columns, out) || keep < thread)
		return gt_columns_of(out->at) <= columns;
	cut.from = thread;
	return write_name(p, &cut, columns, out);
}

static bool leave_out(const struct parsed *p, unsigned columns, size_t keep, struct out *out)
{
	size_t number, thread;
	size_t parameters = find_parameters(p), name = find_name(p, parameters);
	struct cut cut = { .parameters = true, .templates = DEEPEST + 1, .end = p->n, .keep = keep };

	if (find_process(p->s, &number, &thread))
		return leave_process(p, number, thread, columns, keep, out);
	if (!find_offset(p, keep, &cut.kind, &cut.offset))
		cut.kind = cut.offset = 0;
	if (write_name(p, &cut, columns, out))
		return true;
	cut.from = keep >= name ? name : 0;
	for (; cut.templates; cut.templates--)
		if (write_name(p, &cut, columns, out))
			return true;
	if (keep < parameters || keep == GT_KEEP_NOTHING)
		cut.end = parameters;
	return write_name(p, &cut, columns, out) || leave_scopes(p, &cut, parameters, columns, out);
}

/* ---- cutting around a byte ------------------------------------------------------------------------- */

/* The byte where the character of that number begins. */
static size_t byte_of(const char *text, size_t character)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && !character--)
			break;
	return i;
}

static size_t character_of(const char *text, size_t byte)
{
	size_t character = 0;

	for (size_t i = 0; i < byte && text[i]; i++)
		character += ((unsigned char)text[i] & 0xc0) != 0x80;
	return character;
}

/* A third of the room for how it begins, the rest for what begins shortly before `keep`. */
static void cut_around(struct out *out, unsigned columns)
{
	enum { BEFORE = 4, LEAST = 16 };
	size_t all = character_of(out->at, out->n), at = character_of(out->at, out->keep), head = columns / 3,
	       room, first, last;
	char copy[GT_SHORTEN_MAX];

	if (out->keep == GT_KEEP_NOTHING || columns < LEAST)
		return;
	room = columns - head - DOTS;
	first = at > BEFORE ? at - BEFORE : 0;
	first = first + room > all ? all - room : first;
	if (at + BEFORE + DOTS < columns) { /* nothing to leave out before it */
		head = first = 0;
		room = columns;
	}
	last = first + room < all ? first + room - DOTS : all;
	memcpy(copy, out->at, out->n + 1);
	out->n = 0;
	put(out, copy, byte_of(copy, head));
	if (head)
		put(out, "...", DOTS);
	put(out, copy + byte_of(copy, first), byte_of(copy, last) - byte_of(copy, first));
	if (last < all)
		put(out, "...", DOTS);
	out->at[out->n] = '\0';
}

/* ---- all ------------------------------------------------------------------------------------------- */

const char *gt_shorten(char *buffer, const char *name, unsigned columns, size_t keep)
{
	struct out out = { .at = buffer };
	struct parsed p; /* large, and written for as many bytes as the name has */

	p.s = name;
	p.n = strlen(name);
	if (p.n >= GT_SHORTEN_MAX || gt_columns_of(name) <= columns)
		return name;
	find_brackets(&p);
	find_levels(&p);
	if (!leave_out(&p, columns, keep, &out))
		cut_around(&out, columns);
	return buffer;
}

const char *gt_shorten_path(char *buffer, const char *path, unsigned columns)
{
	char name[GT_SHORTEN_MAX], brief[GT_SHORTEN_MAX];
	struct out out = { .at = buffer };
	struct parsed p;
	size_t first = 0;

	p.s = path;
	p.n = strlen(path);
	if (p.n >= GT_SHORTEN_MAX)
		return path;
	find_brackets(&p);
	find_levels(&p);
	for (size_t i = 0; i <= p.n; i++) {
		const char *text;

		if (i < p.n && (p.level[i] || strncmp(path + i, BETWEEN, strlen(BETWEEN))))
			continue;
		memcpy(name, path + first, i - first);
		name[i - first] = '\0';
		text = gt_shorten(brief, name, columns, i - first); /* cut before its end, if at all */
		put(&out, first ? BETWEEN : "", first ? strlen(BETWEEN) : 0);
		put(&out, text, strlen(text));
		first = i + strlen(BETWEEN);
		i = first - 1;
	}
	buffer[out.n] = '\0';
	return buffer;
}

size_t gt_differ_at(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	while (i && ((unsigned char)a[i] & 0xc0) == 0x80)
		i--;
	return i;
}

unsigned gt_columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

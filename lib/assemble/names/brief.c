/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of C++ made short: from "void Solver<double>::run(int)::{lambda(int)#2}" to "Solver::run::lambda#2".
 *
 * Limits: goes by the text, as libstdc++, gcc, clang and nvcc spell it. A conversion operator's type is
 * taken for a return type.
 */
#include "config.h"

#include "lib/assemble/names/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	const char *at, *end;
	char *out;
	size_t n;
};

static bool at(const struct text *t, const char *word)
{
	return (size_t)(t->end - t->at) >= strlen(word) && !strncmp(t->at, word, strlen(word));
}

static void put(struct text *t, const char *word, size_t n)
{
	if (n > GT_NAME_MAX - t->n)
		n = GT_NAME_MAX - t->n;
	memcpy(t->out + t->n, word, n);
	t->n += n;
}

/* Over what is in brackets, with what is nested in it. */
static void skip_brackets(struct text *t)
{
	unsigned depth = 0;

	do {
		if (strchr("(<{[", *t->at))
			depth++;
		else if (strchr(")}]", *t->at) || (*t->at == '>' && t->at[-1] != '-'))
			depth--;
		t->at++;
	} while (depth && t->at < t->end);
}

/* Where a compiler says that a lambda is: "file.cc:12" of "(lambda at /x/file.cc:12:5)". */
static void put_place(struct text *t, const char *start, size_t n)
{
	static const char before[] = "(lambda at ";
	const char *slash = memrchr(start, '/', n), *end;

	slash = slash ? slash + 1 : start + strlen(before);
	if (n <= strlen(before) || slash >= t->at)
		return;
	end = memchr(slash, ':', (size_t)(t->at - slash));
	end = end ? memchr(end + 1, ':', (size_t)(t->at - end) - 1) : NULL;
	end = end ? end : t->at - 1;
	put(t, "@", 1);
	put(t, slash, (size_t)(end - slash));
}

/* "{lambda(int)#1}", "<lambda(int)>", "(lambda at /x/file.cc:12:5)": a lambda, and what is known of it. */
static void put_lambda(struct text *t)
{
	const char *start = t->at, *mark;
	size_t n;

	skip_brackets(t);
	n = (size_t)(t->at - start);
	put(t, "lambda", 6);
	mark = memrchr(start, '#', n);
	if (mark)
		put(t, mark, (size_t)(t->at - mark) - 1);
	else if (*start == '(')
		put_place(t, start, n);
}

/* "operator()", "operator<": brackets that are a name. */
static bool put_operator(struct text *t)
{
	static const char word[] = "operator";
	size_t n = strlen(word);

	if (!at(t, word) || (t->n && t->out[t->n - 1] != ':'))
		return false;
	put(t, word, n);
	t->at += n;
	n = 0;
	if (at(t, "()") || at(t, "[]"))
		n = 2;
	else
		while (t->at + n < t->end && strchr("<>=-", t->at[n]))
			n++;
	put(t, t->at, n);
	t->at += n;
	return true;
}

/* Skips the text after a parameter list: " const", " [with T = int]". */
static void skip_to_scope(struct text *t)
{
	while (t->at < t->end && !at(t, "::")) {
		if (strchr("(<{[", *t->at))
			skip_brackets(t);
		else
			t->at++;
	}
}

static void put_short(struct text *t, const char *name, size_t n)
{
	size_t start = t->n;

	t->at = name;
	t->end = name + n;
	while (t->at < t->end) {
		if (at(t, "{lambda") || at(t, "<lambda") || at(t, "(lambda")) {
			put_lambda(t);
		} else if (at(t, "(anonymous namespace)::") || at(t, "{anonymous}::")) {
			t->at = strstr(t->at, "::") + 2;
		} else if (put_operator(t)) {
			continue;
		} else if (*t->at == '(') {
			skip_brackets(t);
			skip_to_scope(t);
		} else if (strchr("<{[", *t->at)) {
			skip_brackets(t);
		} else if (*t->at == ' ') { /* what came before is a type */
			t->n = start;
			t->at++;
		} else {
			put(t, t->at++, 1);
		}
	}
}

/* Over an argument of a template. */
static void skip_argument(struct text *t)
{
	while (t->at < t->end && *t->at != ',' && *t->at != '>')
		if (strchr("(<{[", *t->at))
			skip_brackets(t);
		else
			t->at++;
}

/* A functor in a type with the one that combines its results: "x::CombinedFunctorReducer<Functor, ...>". */
static void unwrap(const char **name, size_t *n)
{
	static const char wrapper[] = "CombinedFunctorReducer<";
	const char *start = memmem(*name, *n, wrapper, strlen(wrapper));
	struct text t = { .end = *name + *n };

	if (!start || memchr(*name, '<', (size_t)(start - *name)))
		return;
	start += strlen(wrapper);
	t.at = start;
	skip_argument(&t);
	*name = start;
	*n = (size_t)(t.at - start);
}

/* The function that a lambda is in for nvcc: it follows a type in "__nv_dl_tag<int (*)(), &main, 1u>". */
static bool find_function(struct text *t, const char *name, size_t n)
{
	static const char tag[] = "__nv_dl_tag<";
	const char *start = n > 5 && !strncmp(name, "__nv_", 5) ? memmem(name, n, tag, strlen(tag)) : NULL;

	if (!start)
		return false;
	*t = (struct text){ .at = start + strlen(tag), .end = name + n };
	skip_argument(t);
	if (!at(t, ", "))
		return false;
	t->at += at(t, ", &") ? 3 : 2;
	return true;
}

/* nvcc wraps a lambda into a type with the function that it is in, and its number there:
 * "__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &main, 1u>, ...>", "&(run(int))", or by gcc "main, 1". */
static void put_half(struct text *t, const char *name, size_t n)
{
	struct text rest;
	const char *function;

	unwrap(&name, &n);
	if (!find_function(&rest, name, n)) {
		put_short(t, name, n);
		return;
	}
	function = rest.at;
	skip_argument(&rest);
	n = (size_t)(rest.at - function);
	if (n > 1 && *function == '(')
		put_short(t, function + 1, n - 2);
	else
		put_short(t, function, n);
	put(t, "::lambda", 8);
	if (at(&rest, ", ")) {
		put(t, "#", 1);
		rest.at += 2;
		while (rest.at < rest.end && *rest.at >= '0' && *rest.at <= '9')
			put(t, rest.at++, 1);
	}
}

/* A linker's name, or one that is spelt out already. */
static void put_name(struct text *t, const char *name, size_t n)
{
	char mangled[GT_NAME_MAX + 1], demangled[GT_NAME_MAX + 1];
	size_t length = n < sizeof(mangled) ? n : sizeof(mangled) - 1;

	memcpy(mangled, name, length);
	mangled[length] = '\0';
	if (gt_demangled(mangled, demangled))
		put_half(t, demangled, strlen(demangled));
	else if (!strncmp(mangled, "_Z", 2))
		put(t, mangled + 2, length - 2); /* it was none */
	else
		put_half(t, mangled, length);
}

/* The "/" between two names: one that is in no brackets. NULL: there is one name. */
static const char *find_tag(const char *name)
{
	struct text t = { .at = name, .end = name + strlen(name) };

	while (t.at < t.end && *t.at != '/') {
		if (strchr("(<{[", *t.at))
			skip_brackets(&t);
		else
			t.at++;
	}
	return t.at < t.end ? t.at : NULL;
}

const char *gt_brief_name(const char *canonical, char *name)
{
	struct text text = { .out = name };
	const char *tag = find_tag(canonical);
	size_t n = strlen(canonical);

	if (tag) {
		put_name(&text, canonical, (size_t)(tag - canonical));
		put(&text, "/", 1);
		put_name(&text, tag + 1, n - (size_t)(tag - canonical) - 1);
	} else {
		put_name(&text, canonical, n);
	}
	if (!text.n)
		put(&text, canonical, n);
	name[text.n] = '\0';
	return name;
}

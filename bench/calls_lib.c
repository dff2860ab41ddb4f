/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of calls.h.
 *
 * Limits: a session's nodes are a fixed array; text that needs more of them is cut off.
 */
#include <stdlib.h>
#include <string.h>
#include "calls.h"

int calls_peek(struct calls_session *s)
{
	while (*s->at == ' ')
		s->at++;
	return (unsigned char)*s->at;
}

int calls_next(struct calls_session *s)
{
	int c = calls_peek(s);

	if (c)
		s->at++;
	return c;
}

int calls_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

int calls_is_letter(int c)
{
	return c >= 'a' && c <= 'z';
}

int64_t calls_read_number(struct calls_session *s)
{
	int64_t value = 0;

	while (calls_is_digit(calls_peek(s)))
		value = value * 10 + calls_next(s) - '0';
	return value;
}

int calls_read_name(struct calls_session *s)
{
	char *name = s->names[s->named % 64];
	int length = 0;

	memset(name, 0, sizeof(s->names[0]));
	while (calls_is_letter(calls_peek(s))) {
		int c = calls_next(s);

		if (length < (int)sizeof(s->names[0]) - 1)
			name[length++] = (char)c;
	}
	return s->named++ % 64;
}

struct calls_node *calls_new(struct calls_session *s, enum calls_kind kind, int64_t value,
			     struct calls_node *left, struct calls_node *right)
{
	struct calls_node *node = &s->nodes[s->used < 255 ? s->used++ : 255];

	*node = (struct calls_node){ kind, value, left, right };
	return node;
}

struct calls_node *calls_parse_atom(struct calls_session *s)
{
	int c = calls_peek(s);
	struct calls_node *node;

	if (c == '(') {
		calls_next(s);
		node = calls_parse(s);
		calls_next(s);
		return node;
	}
	if (calls_is_letter(c))
		return calls_new(s, CALLS_VARIABLE, calls_read_name(s), NULL, NULL);
	return calls_new(s, CALLS_NUMBER, calls_read_number(s), NULL, NULL);
}

struct calls_node *calls_parse_product(struct calls_session *s)
{
	struct calls_node *node = calls_parse_atom(s);

	while (calls_peek(s) == '*') {
		calls_next(s);
		node = calls_new(s, CALLS_MUL, 0, node, calls_parse_atom(s));
	}
	return node;
}

struct calls_node *calls_parse_sum(struct calls_session *s)
{
	struct calls_node *node = calls_parse_product(s);
	int c;

	while ((c = calls_peek(s)) == '+' || c == '-') {
		calls_next(s);
		node = calls_new(s, c == '+' ? CALLS_ADD : CALLS_SUB, 0, node,
				 calls_parse_product(s));
	}
	return node;
}

struct calls_node *calls_parse(struct calls_session *s)
{
	struct calls_node *node = calls_parse_sum(s);

	if (calls_peek(s) == '<') {
		calls_next(s);
		node = calls_new(s, CALLS_LESS, 0, node, calls_parse_sum(s));
	}
	return node;
}

int64_t calls_apply(enum calls_kind kind, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b; /* wraps around, by definition */

	switch (kind) {
	case CALLS_ADD:
		return (int64_t)(x + y);
	case CALLS_SUB:
		return (int64_t)(x - y);
	case CALLS_MUL:
		return (int64_t)(x * y);
	default:
		return a < b;
	}
}

struct calls_node *calls_fold(struct calls_session *s, struct calls_node *node)
{
	if (node->kind == CALLS_NUMBER || node->kind == CALLS_VARIABLE)
		return node;
	node->left = calls_fold(s, node->left);
	node->right = calls_fold(s, node->right);
	if (node->left->kind == CALLS_NUMBER && node->right->kind == CALLS_NUMBER) {
		node->value = calls_apply(node->kind, node->left->value, node->right->value);
		node->kind = CALLS_NUMBER;
	}
	return node;
}

int calls_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

struct calls_variable *calls_find(struct calls_session *s, const char *name)
{
	struct calls_variable **at = &s->root;
	int order;

	while (*at && (order = calls_compare(name, (*at)->name)) != 0)
		at = order < 0 ? &(*at)->less : &(*at)->more;
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (!*at)
			abort();
		strncpy((*at)->name, name, sizeof((*at)->name) - 1);
	}
	return *at;
}

int64_t calls_evaluate(struct calls_session *s, const struct calls_node *node)
{
	int64_t a, b;

	if (node->kind == CALLS_NUMBER)
		return node->value;
	if (node->kind == CALLS_VARIABLE)
		return calls_find(s, s->names[node->value])->value;
	a = calls_evaluate(s, node->left);
	b = calls_evaluate(s, node->right);
	return calls_apply(node->kind, a, b);
}

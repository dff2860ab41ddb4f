/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small calculator language as a library: tokens, a recursive-descent parser, a tree that is
 * folded and walked, and variables in an ordered tree. Many small functions, all of them called
 * through the library's interface, so that every kind of tool can see every call.
 *
 * Limits: integers only; one session a thread; no error recovery.
 */
#ifndef GT_BENCH_CALLS_H
#define GT_BENCH_CALLS_H

#include <stdint.h>

enum calls_kind { CALLS_NUMBER, CALLS_VARIABLE, CALLS_ADD, CALLS_SUB, CALLS_MUL, CALLS_LESS };

struct calls_node {
	enum calls_kind kind;
	int64_t value; /* number, or index of the variable's name */
	struct calls_node *left, *right;
};

struct calls_variable {
	char name[8];
	int64_t value;
	struct calls_variable *less, *more;
};

struct calls_session {
	const char *at; /* the text that is not read yet */
	struct calls_node nodes[256];
	int used;
	char names[64][8];
	int named;
	struct calls_variable *root;
};

int calls_peek(struct calls_session *s);
int calls_next(struct calls_session *s);
int calls_is_digit(int c);
int calls_is_letter(int c);
int64_t calls_read_number(struct calls_session *s);
int calls_read_name(struct calls_session *s);
struct calls_node *calls_new(struct calls_session *s, enum calls_kind kind, int64_t value,
			     struct calls_node *left, struct calls_node *right);
struct calls_node *calls_parse_atom(struct calls_session *s);
struct calls_node *calls_parse_product(struct calls_session *s);
struct calls_node *calls_parse_sum(struct calls_session *s);
struct calls_node *calls_parse(struct calls_session *s);
int64_t calls_apply(enum calls_kind kind, int64_t a, int64_t b);
struct calls_node *calls_fold(struct calls_session *s, struct calls_node *node);
int calls_compare(const char *a, const char *b);
struct calls_variable *calls_find(struct calls_session *s, const char *name);
int64_t calls_evaluate(struct calls_session *s, const struct calls_node *node);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads VampirTrace's filter file and groups file, and finds the rule that applies to a function.
 *
 * Limits: no malloc, no stdio, no locale (the traced process reads them before main): one piece of
 * unreserved memory holds everything. gputrace-filter(5) has the format. Counting calls and following
 * the call stack is the record side's business (lib/record/verdict.h, callstack.h).
 */
#ifndef GT_FILTER_H
#define GT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GT_FILTER_FILE_MAX     (1u << 20) /* bytes of a file */
#define GT_FILTER_LINE_MAX     4096u      /* bytes of a line, without its end */
#define GT_FILTER_PATTERNS_MAX 65536u     /* patterns, call-path members and group members */
#define GT_FILTER_RULES_MAX    65536u     /* lines with rules, or with groups */
#define GT_FILTER_CLAUSES_MAX  1024u      /* '@' lines; eight times as many ranges of ranks */

#define GT_RULE_NONE UINT32_MAX

struct gt_filter;

enum gt_filter_kind { GT_FILTER_RULES, GT_FILTER_GROUPS };

/* One sentence for each line that cannot be used: `file:7: "text" is ignored: why`. */
typedef void gt_filter_complaint(const char *sentence);

/* An empty filter: everything is recorded. NULL when there is no memory. */
struct gt_filter *gt_filter_new(void);
void gt_filter_free(struct gt_filter *filter);

/* Reports every line that is ignored; otherwise the first ten, and the number of the others. */
void gt_filter_report_all(struct gt_filter *filter);

/*
 * Adds a file's rules or groups; each kind may be read once. It must be a regular file. Returns the number
 * of lines that were ignored, or a negative errno (with a complaint) if the file as a whole cannot be used,
 * which leaves the filter unchanged.
 */
int gt_filter_read(struct gt_filter *filter, enum gt_filter_kind kind, const char *path,
		   gt_filter_complaint *complain);

/*
 * The two halves of it: the text is read to where the second one looks for it, whose `size` is what the first
 * one returned: bytes, or a negative errno. Only the first opens anything; it says nothing.
 */
ssize_t gt_filter_load(struct gt_filter *filter, enum gt_filter_kind kind, const char *path);
int gt_filter_take(struct gt_filter *filter, enum gt_filter_kind kind, const char *path, ssize_t size,
		   gt_filter_complaint *complain);

/* The same from memory; `path` is for the complaints only. -EFBIG, -EALREADY. */
int gt_filter_parse(struct gt_filter *filter, enum gt_filter_kind kind, const char *path,
		    const char *text, size_t size, gt_filter_complaint *complain);

/*
 * Rules below an '@' line apply to the ranks that it names, and to none until a rank is set (-1: none).
 * Returns false if the file switches the rank off altogether ("@ ... -- OFF").
 */
bool gt_filter_set_rank(struct gt_filter *filter, int64_t rank);

/* Lines with rules, or with groups. */
uint32_t gt_filter_count(const struct gt_filter *filter, enum gt_filter_kind kind);

/* What the rules require of their user, for the present rank. */
enum {
	GT_FILTER_HAS_RULES = 1,   /* anything at all */
	GT_FILTER_HAS_LIMITS = 2,  /* calls must be counted */
	GT_FILTER_HAS_LEVELS = 4,  /* S: the depth of the call stack must be known */
	GT_FILTER_HAS_RECURSIVE = 8, /* R: callees fall with their caller */
	GT_FILTER_HAS_PATHS = 16,  /* C: the whole call path must be known */
	GT_FILTER_HAS_CLAUSES = 32,/* '@': the answers change when the rank becomes known */
	GT_FILTER_HAS_GROUPS = 64, /* a groups file */
};
unsigned gt_filter_needs(const struct gt_filter *filter);

/* The names of one function; any may be NULL. A pattern matches if it matches one of the names. */
struct gt_filter_names {
	const char *name;  /* the linker's, or the one that the program gave a region */
	const char *full;  /* demangled: "Domain::nodes(int)" */
	const char *plain; /* demangled without parameters: "Domain::nodes" */
	const char *group; /* the function's group if the groups file does not give it one */
};

struct gt_filter_rule {
	int64_t limit;       /* calls that are recorded; -1: all, 0: none */
	uint32_t min, max;   /* level of the call stack, 1 is the outermost; UINT32_MAX: no limit */
	bool recursive;      /* callees of a call that is not recorded are not recorded either */
	bool group, path;
	uint32_t line;
};

/*
 * The first rule, in the order of the file, that matches (call-path rules aside), or GT_RULE_NONE.
 * A function without any name is matched by patterns of nothing but '*'.
 */
uint32_t gt_filter_match(const struct gt_filter *filter, const struct gt_filter_names *names);
/* The rule of an index that gt_filter_match or gt_filter_path_* returned. */
struct gt_filter_rule gt_filter_rule_at(const struct gt_filter *filter, uint32_t rule);
/* The rule's line as it stands in the file, cut to fit. */
void gt_filter_rule_text(const struct gt_filter *filter, uint32_t rule, char *buffer, size_t size);

/* The group that the groups file gives a function, else names->group. */
const char *gt_filter_group(const struct gt_filter *filter, const struct gt_filter_names *names);

/*
 * Call-path rules as an automaton: state 0 is the empty call stack. gt_filter_path_word() gives a
 * function its letter (0: in no path), gt_filter_path_step() the state after a call of it from a
 * state, gt_filter_path_rule() the rule whose path ends there.
 */
#define GT_PATH_NOWHERE UINT32_MAX /* no path begins like this; stays so */
uint32_t gt_filter_path_word(const struct gt_filter *filter, const struct gt_filter_names *names);
uint32_t gt_filter_path_step(const struct gt_filter *filter, uint32_t state, uint32_t word);
uint32_t gt_filter_path_rule(const struct gt_filter *filter, uint32_t state);

/*
 * Does the pattern match the whole name? '*' stands for any number of characters, all else for
 * itself. Linear in both lengths. `table` is scratch for `length` numbers.
 */
bool gt_wildcard_match(const char *pattern, size_t length, const uint16_t *table, const char *name,
		       size_t name_length);
void gt_wildcard_prepare(const char *pattern, size_t length, uint16_t *table);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive as tables, for CSV, SQLite and Arrow. gputrace-export(1) has them for users; test/export
 * compares.
 *
 * Limits: rows of different locations come in any order, those of one in the order of their ends.
 */
#ifndef GT_REPORT_EXPORT_TABLES_H
#define GT_REPORT_EXPORT_TABLES_H

#include "report/export/export.h"

/* KIND(name, columns): columns by ;, of type integer unless ":r" (real) or ":t" (text) follows. */
#define GT_TABLES(T)                                                                                         \
	T(INFO, info, "name:t;value:t")                                                                      \
	T(PROCESSES, processes, "process;name:t;kind:t;creator;rank")                                        \
	T(THREADS, threads, "thread;name:t;kind:t;process;events")                                           \
	T(REGIONS, regions, "region;name:t;canonical:t;paradigm:t;file:t;line")                              \
	T(METRICS, metrics, "metric;name:t;unit:t;description:t")                                            \
	T(COMMUNICATORS, communicators, "communicator;name:t;size")                                          \
	T(CALLS, calls, "call;thread;region;parent;depth;begin_ns;end_ns;self_ns;whole")                     \
	T(PATHS, call_paths, "call;path:t;file:t;line")                                                      \
	T(VALUES, metric_values, "thread;metric;time_ns;value:r;integer")                                   \
	T(PARAMETERS, parameters, "call;thread;time_ns;name:t;value:t")                                      \
	T(MESSAGES, messages,                                                                                \
	  "sender;receiver;send_ns;receive_ns;bytes;tag;communicator;send_call;receive_call")                \
	T(LAUNCHES, launches, "call;activity;correlation")                                                   \
	T(COLLECTIVES, collectives,                                                                          \
	  "thread;call;begin_ns;end_ns;operation:t;communicator;root;sent_bytes;received_bytes")             \
	T(IO, io, "thread;call;begin_ns;end_ns;operation:t;file:t;bytes")

#define GT_TABLE_ENUM(KIND, name, columns) GT_TABLE_##KIND,
enum gt_export_table { GT_TABLES(GT_TABLE_ENUM) GT_TABLE_COUNT };
#undef GT_TABLE_ENUM

enum { GT_TABLE_COLUMNS = 10 };

struct gt_table_kind {
	const char *name;
	unsigned count;
	struct {
		char name[24];
		char type; /* 'i', 'r', 't' */
	} columns[GT_TABLE_COLUMNS];
};

struct gt_export_value {
	char type; /* 'i', 'r', 't', or 0: there is none */
	union {
		int64_t integer;
		double real;
		const char *text;
	};
};

struct gt_tables {
	struct gt_table_kind kinds[GT_TABLE_COUNT];
	/* Of the face: writes a row; `place` is NULL if it is of no location. */
	void (*row)(struct gt_export *export, struct gt_export_place *place, enum gt_export_table table,
		    const struct gt_export_value *values);
	void *face;
};

/* For the face's start(): sets export->face to a struct gt_tables, of which `row` is to be set. */
struct gt_tables *gt_tables_new(struct gt_export *export);
/* Writes the rows that are known before events are read. */
void gt_tables_definitions(struct gt_export *export);

/* Functions shared by the faces. */
void gt_tables_begin(struct gt_export_place *place);
void gt_tables_call(struct gt_export_place *place, const struct gt_export_call *call);
void gt_tables_event(struct gt_export_place *place, const struct gt_otf2_event *event);
void gt_tables_end(struct gt_export_place *place);
void gt_tables_pair(struct gt_export *export, const struct gt_end *from, const struct gt_end *to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives in the formats of other programs. One visitor (export.c) finds calls, messages, launches and
 * values in the window and the selection; a face writes them.
 *
 * Limits: calls come when they end, in parallel over locations.
 */
#ifndef GT_REPORT_EXPORT_EXPORT_H
#define GT_REPORT_EXPORT_EXPORT_H

#include <pthread.h>
#include <stdio.h>

#include "report/model/stacks.h"
#include "report/part/match.h"
#include "report/part/part.h"

struct gt_export_options {
	const struct gt_export_face *face;
	const char *out;      /* a file, or a folder (face->folder); NULL: standard output */
	const char *patterns; /* gt_part_choose(), or NULL */
	struct gt_part part;  /* its window */
	const char *window;   /* as the user wrote it, or NULL */
	/* of --flame: */
	const char *against;  /* anchor file of another archive, or NULL */
	const char *title;
	bool split;           /* a level for each process and location */
};

/*
 * Reads the archive and writes `out`, which is there only if all went well. 0, or 2 after a sentence on
 * standard error: for gt_otf2_guarded(), with a struct gt_export_options.
 */
int gt_export_archive(const char *anchor, void *options, FILE *unused);

extern const struct gt_export_face gt_export_chrome, gt_export_speedscope, gt_export_folded, gt_export_flame,
	gt_export_csv, gt_export_sqlite, gt_export_perfetto, gt_export_arrow, gt_export_pprof;

/* ---- faces ------------------------------------------------------------------------------------- */

struct gt_export {
	const struct gt_export_options *options;
	const struct gt_otf2 *read;
	struct gt_part part;
	pthread_mutex_t lock; /* of `out` and of what a face shares */
	FILE *out;            /* of faces that write one file; else NULL */
	const char *path;     /* where the face writes: a temporary name */
	uint64_t correlation, mpi_error; /* attributes */
	struct gt_stack_ids stacks;
	struct gt_ends ends;
	int error;            /* errno of the first write that failed */
	bool cut;             /* something was left out, and that was said */
	void *face;           /* the face's own */
};

struct gt_export_text {
	char *data;
	size_t count, room;
};

/* A region that is open: see gt_otf2_frame. */
struct gt_open {
	uint64_t id, inside;
};

struct gt_export_place {
	struct gt_export *export;
	const struct gt_otf2_cursor *at;
	bool selected;
	bool entered, over;     /* the window */
	uint64_t last;          /* id of a call */
	struct gt_open *open;   /* beside at->stack */
	size_t open_count, room;
	struct gt_match match;
	struct gt_export_text text;    /* what is not written yet */
	void *face, *more;      /* the face's own */
};

/* A call, as much of it as lies in the window. */
struct gt_export_call {
	uint64_t id, parent; /* parent: 0: none */
	const struct gt_otf2_region *region;
	uint64_t begin, end, self; /* ns */
	size_t depth;        /* 1: the outermost */
	bool whole;          /* begin and end are what the program did */
	uint32_t path;       /* who made it: gt_stack_call_path() */
};

struct gt_export_face {
	const char *option, *what; /* "chrome", and what it is */
	bool folder;   /* writes a folder */
	bool seekable; /* a file, and not standard output */
	bool binary;   /* nothing for a terminal */
	bool serial;   /* one location after the other */
	/* Functions may be NULL. False: it failed, and has said why. */
	bool (*start)(struct gt_export *export);
	void (*begin)(struct gt_export_place *place);
	/* A region was entered, or is open where the window begins. */
	void (*enter)(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time);
	void (*call)(struct gt_export_place *place, const struct gt_export_call *call);
	void (*event)(struct gt_export_place *place, const struct gt_otf2_event *event);
	void (*end)(struct gt_export_place *place);
	/* Both ends are in the window and the selection. */
	void (*pair)(struct gt_export *export, const struct gt_end *from, const struct gt_end *to);
	bool (*finish)(struct gt_export *export);
};

/* The id of the innermost call that is open, or 0. */
uint64_t gt_export_inner(const struct gt_export_place *place);

/* ---- text -------------------------------------------------------------------------------------- */

/*
 * Adds to the text of a location; it is written when there is much of it, and at the location's end. Others
 * may write behind it: of an event in several parts this is the last, those before are gt_text_add()'s.
 */
void gt_export_print(struct gt_export_place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gt_export_flush(struct gt_export_place *place); /* if there is much */
void gt_export_write(struct gt_export *export, struct gt_export_text *text);
/* Room for `more` bytes behind text->count. */
void gt_text_room(struct gt_export_text *text, size_t more);
void gt_text_add(struct gt_export_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* With quotation marks, for JSON and for CSV. */
void gt_text_json(struct gt_export_text *text, const char *string);
void gt_text_csv(struct gt_export_text *text, const char *string);
/* A copy that is well-formed UTF-8. */
char *gt_export_clean(const char *string);
/* "name": all regions' names as JSON has them, by their place in the table; freed with free(). */
char **gt_export_region_names(const struct gt_otf2 *read);
/* One definition's place in its table. */
size_t gt_export_region(const struct gt_export_place *place, const struct gt_otf2_region *region);
/* "MPI Rank 0"; an accelerator has the name of its process before its own: "MPI Rank 0: GPU 0". NULL: "?". */
void gt_text_process(struct gt_export_text *text, const struct gt_otf2 *read,
		     const struct gt_otf2_location_group *group);
/* "MPI Rank 0/Master thread", "MPI Rank 0: GPU 0/Stream 7". */
void gt_text_location(struct gt_export_text *text, const struct gt_otf2 *read,
		      const struct gt_otf2_location *location);

#endif

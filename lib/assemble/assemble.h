/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a spool to an archive: the whole of the assembly behind one function.
 *
 * Limits: the caller holds the run's lock. Prints on stderr only. Changes the process's umask,
 * descriptor limit and the handling of SIGXFSZ and SIGPIPE: it is meant for a tool's process.
 */
#ifndef GT_ASSEMBLE_ASSEMBLE_H
#define GT_ASSEMBLE_ASSEMBLE_H

#include <stdbool.h>

struct gt_summary;
struct gt_summary_out;

struct gt_assemble_options {
	bool recovered;    /* asked for by the user after the run, not by its last process */
	bool keep_spool;   /* VT_CLEAN=no */
	char *const *folders; /* copies of node-local spools of other hosts, ended by NULL; or NULL */
	const char *assemblers; /* folder with the assembling halves of other adapters; NULL: none */
	bool again;        /* also if there is an archive already: it is replaced */
	bool partial;      /* also without the spools of some hosts */
	bool in_order;     /* messages between hosts correct their clocks (VT_CLOCK_CORRECTION) */
	unsigned threads;  /* 0: one for each processor */
	int verbose;       /* as VT_VERBOSE: 0 errors, 1 summary and warnings, 2 what is done */
	/* Writes the summary of the run when the archive is in its place; NULL: there is none. 0, or -EIO. */
	int (*summarise)(const struct gt_summary *facts, const struct gt_summary_out *out);
};

/*
 * Assembles the archive in the directory `dir`. Returns the exit status: 0 the archive is complete
 * (events that were lost are counted in it), 1 there is no archive, or it lacks what did not fit on
 * the disk.
 */
int gt_assemble(const char *dir, const struct gt_assemble_options *options);

/*
 * Converts what one host has recorded into a part of the archive (partial.h), in the folder `home` of its run
 * header, which the caller has locked. 0: it is there, and the processes' folders have been removed.
 * 1: it cannot be made by a host alone, or not now; everything is as it was.
 */
int gt_assemble_partial(const char *dir, const char *home, const struct gt_assemble_options *options);

/* Installs handlers that say one sentence if libotf2 or we crash, and end with status 1. */
void gt_assemble_guard(const char *dir);

#endif

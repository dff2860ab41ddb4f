/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's definitions as global ones: which function lay at an address at a time, and what its
 * region ids mean.
 *
 * Limits: the lookups here are slow (locks, symbol tables); the assembly asks once per location and
 * function and remembers the answer. Only addresses that had several owners are asked by time.
 */
#ifndef GT_ASSEMBLE_NAMES_NAMES_H
#define GT_ASSEMBLE_NAMES_NAMES_H

#include <pthread.h>

#include "lib/assemble/defs/defs.h"
#include "lib/assemble/spool/spool.h"
#include "lib/assemble/names/jit.h"
#include "lib/assemble/names/symbols.h"
#include "lib/common/filter.h"

/* Symbol lookup, shared by all threads. */
struct gt_symbolizer {
	pthread_mutex_t lock;
	struct gt_symbols *symbols;
	struct gt_filter *groups; /* VT_GROUPS_SPEC; NULL: none */
	struct gt_jits jits;      /* code of no file */
};

/* Reads the groups file that gt_settings names; NULL if there is none or it cannot be read (the
 * recording process has reported). */
struct gt_filter *gt_names_groups(void);

/* A file that was mapped executable for some time. */
struct gt_mapping {
	const struct gt_def_module *module;
	const char *path;
	uint64_t seen, gone; /* ticks; gone UINT64_MAX: to the end */
};

struct gt_names {
	const struct gt_proc *proc;
	struct gt_defs *defs;
	struct gt_symbolizer *symbolizer;
	struct gt_mapping *mappings;
	uint32_t mapping_count;
};

#define GT_NO_MAPPING UINT32_MAX

int gt_names_make(struct gt_names *names, const struct gt_proc *proc, struct gt_defs *defs,
		  struct gt_symbolizer *symbolizer);
void gt_names_free(struct gt_names *names);

/* The mapping that held `address` at `tick`: a number, or GT_NO_MAPPING. */
uint32_t gt_names_mapping(const struct gt_names *names, uint64_t address, uint64_t tick);

/* Did different files lie at `address` in the course of time? */
bool gt_names_reused(const struct gt_names *names, uint64_t address);

/* Global region of the function at `address` in a mapping. */
uint32_t gt_names_function(struct gt_names *names, uint64_t address, uint32_t mapping);

/* What lies at an address of code in a mapping, for a sample: the function's region, and the line. In no
 * mapping it is what a JIT compiler has made. */
void gt_names_place(struct gt_names *names, uint64_t address, uint32_t mapping, struct gt_place *place);

/* Global region of a REGION definition; made up if the definition is lost. */
uint32_t gt_names_region(struct gt_names *names, uint32_t id);

/* A string definition as a global string; `fallback` if it is not there. */
uint32_t gt_names_string(struct gt_names *names, uint32_t id, const char *fallback);

#endif

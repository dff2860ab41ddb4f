/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a code address to the function it belongs to: name, mangled name, source file and line,
 * read from the ELF symbols and DWARF of the file that was mapped there.
 *
 * Limits: not thread-safe (the assembly holds a lock around each call). Never fails: without
 * symbols the name is "module+0xoffset", without a module "0xaddress". Files are only read, and
 * one that is no longer the file the program ran is not used.
 */
#ifndef GT_ASSEMBLE_NAMES_SYMBOLS_H
#define GT_ASSEMBLE_NAMES_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/assemble/defs/defs.h"
#include "lib/format.h"

struct gt_symbols;

struct gt_symbol {
	const char *name;      /* as the user knows it: demangled */
	const char *canonical; /* mangled name, or the same text as `name`; never NULL */
	const char *file;      /* source file, or NULL */
	unsigned line;	       /* 0: unknown */
	bool exact;	       /* false: no symbol covers the address, `name` is made up */
};

/*
 * NULL without memory. Takes DEBUGINFOD_URLS out of the environment, so that no server is asked for debug
 * files: call it before there are threads.
 */
struct gt_symbols *gt_symbols_new(void);
void gt_symbols_free(struct gt_symbols *symbols);

/*
 * Separate debug files are looked for below `path` instead of /usr/lib/debug (kept, not copied).
 * Only before the first lookup.
 */
void gt_symbols_debug_root(struct gt_symbols *symbols, const char *path);

/*
 * The function at `address` in a process that had `path` mapped as `module` says (both NULL if no
 * mapping covers the address). The strings in `out` stay valid until the next call with the same
 * `symbols`. Returns 0 if a symbol was found, -ENOENT if the name had to be made up; `out` is
 * filled in either case.
 */
int gt_symbols_lookup(struct gt_symbols *symbols, const struct gt_def_module *module,
		      const char *path, uint64_t address, struct gt_symbol *out);
/* The same, but file and line are those of the code at the address, where the DWARF knows them. */
int gt_symbols_code(struct gt_symbols *symbols, const struct gt_def_module *module, const char *path,
		    uint64_t address, struct gt_symbol *out);

/* A call that the compiler has replaced by the function's own code. */
struct gt_inlined {
	const char *name, *linkage; /* as in the DWARF; linkage may be NULL */
	const char *file;           /* where the function is declared; NULL: unknown */
	unsigned line;
	const char *call_file;      /* where the call stood; NULL: unknown */
	unsigned call_line;
};

/* Code at an address: its function, line, and inlined calls. */
struct gt_code {
	uint64_t function; /* where the function begins, in the process; 0: nothing says it */
	const char *file;  /* of the code's line, or NULL */
	unsigned line;
	unsigned inlined_count;
	struct gt_inlined inlined[GT_INLINED]; /* innermost first; of more the outermost ones are missing */
};
/* The strings stay valid until gt_symbols_free(). */
void gt_symbols_place(struct gt_symbols *symbols, const struct gt_def_module *module, const char *path,
		      uint64_t address, struct gt_code *out);

/* The symbol of the variable at `address`, which lies behind the code of this mapping, or NULL. */
const char *gt_symbols_variable(struct gt_symbols *symbols, const struct gt_def_module *module,
				const char *path, uint64_t address);

/* A linker's name as people write it, of C++ or of a Fortran module: at most GT_NAME_MAX bytes and a NUL.
 * False: it is neither, and `name` is not touched. Thread-safe. */
bool gt_demangled(const char *canonical, char *name);

/*
 * The name of a type or function of C++, mangled or as a compiler spells it, without template arguments,
 * parameters and return type; what has no name is called by what it is in ("main::lambda#1"). Two names with
 * "/" in between are shortened each. Returns `name`: at most GT_NAME_MAX bytes and a NUL. Thread-safe.
 */
const char *gt_brief_name(const char *canonical, char *name);

#endif

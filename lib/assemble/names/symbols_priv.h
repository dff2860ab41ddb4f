/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the symbol lookup: ELF symbols of one file (symbols_elf.c) and source lines from its
 * DWARF (symbols_dwarf.c). Only symbols*.c and its test include this.
 *
 * Limits: not thread-safe; nothing here trusts a number that comes from a file.
 */
#ifndef GT_ASSEMBLE_NAMES_SYMBOLS_PRIV_H
#define GT_ASSEMBLE_NAMES_SYMBOLS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/assemble/names/symbols.h"

/* ---- ELF ------------------------------------------------------------------------------------- */

struct gt_elf_sym {
	uint64_t address; /* as linked */
	uint64_t size;	  /* 0: unknown, reaches to `limit` */
	uint64_t limit;	  /* end of the section, or of the segment */
	const char *name; /* lies in the file's string table; may carry "@VERSION" */
	uint32_t order;	  /* how good the name is: smaller is better, see symbols_elf.c */
};

struct gt_elf_segment {
	uint64_t offset, address, size;
	bool executable;
};

struct gt_elf {
	void *handle; /* Elf *, of the file itself */
	int fd;
	struct gt_elf_segment *segments;
	size_t segment_count;
	struct gt_elf_sym *syms; /* sorted by address, one for each address */
	size_t sym_count;
	bool has_symtab;
	bool has_dwarf;
	void *debug_handle; /* Elf * of the separate debug file, or NULL */
	int debug_fd;
	const char *debug_root;
	const unsigned char *index; /* .eh_frame_hdr, and .eh_frame behind it; NULL: none */
	const unsigned char *frames;
	size_t index_size, frames_size;
	uint64_t index_at, frames_at; /* as linked */
	void *mini_handle; /* Elf * of what .gnu_debugdata holds, or NULL; only without a symbol table */
};

/*
 * Opens `path` if it is still the file that `module` describes, and reads its symbols; those of a
 * separate debug file below `debug_root` ("/usr/lib/debug") if it has none. Returns 0 or a
 * negative errno: -ESTALE if it is another file now.
 */
int gt_elf_open(struct gt_elf *elf, const struct gt_def_module *module, const char *path,
		const char *debug_root);
void gt_elf_close(struct gt_elf *elf);

/* From an offset in the file to the address it was linked for; false if no segment holds it. */
bool gt_elf_address(const struct gt_elf *elf, uint64_t offset, uint64_t *address);

/* The symbol that covers an address, or NULL. */
const struct gt_elf_sym *gt_elf_find(const struct gt_elf *elf, uint64_t address);

/*
 * What stripped files still say of functions: where they begin and end, for unwinding. The first reads that,
 * the second gives the beginning of the function that holds an address as linked; 0: it is not known.
 */
void gt_elf_read_frames(struct gt_elf *elf);
uint64_t gt_elf_frame(const struct gt_elf *elf, uint64_t address);

/* The variable that covers an address as linked, or NULL: looks at all symbols. */
const char *gt_elf_variable(const struct gt_elf *elf, uint64_t address);

/* ---- DWARF ----------------------------------------------------------------------------------- */

struct gt_lines;

/*
 * Lines from the DWARF in `elf_handle` (an Elf *, which must stay open). NULL if there is none.
 * Only compilation units that overlap a segment of `elf` are kept.
 */
struct gt_lines *gt_lines_new(void *elf_handle, const struct gt_elf *elf);
void gt_lines_free(struct gt_lines *lines);

struct gt_line {
	const char *file; /* as the compiler was told, made absolute; NULL: unknown */
	unsigned line;	  /* where the function is declared */
	const char *name; /* without symbols: the name in the DWARF, or its linkage name */
	const char *linkage;
	uint64_t low; /* where the function begins; 0: unknown */
};

/* The function that holds the address; false if the DWARF knows none. */
bool gt_lines_find(struct gt_lines *lines, uint64_t address, struct gt_line *out);
/* File and line of the code at the address; false if the DWARF does not say. */
bool gt_lines_code(struct gt_lines *lines, uint64_t address, struct gt_line *out);
/* The functions that were inlined there, innermost first; at most GT_INLINED. Returns how many. */
unsigned gt_lines_inlined(struct gt_lines *lines, uint64_t address, struct gt_inlined *out);

#endif

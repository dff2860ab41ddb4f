/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions from an ELF file, in the process that runs it: .symtab, else .dynsym.
 *
 * Limits: files of this machine's class and byte order; no debug information, no separate symbol
 * files, no compressed sections. Everything is checked, and read into memory of our own: a file
 * that is cut or changed meanwhile cannot hurt. No malloc, async-signal-safe.
 */
#ifndef GT_ELFSYM_H
#define GT_ELFSYM_H

#include <stddef.h>
#include <stdint.h>

#define GT_ELFSYM_LOADS_MAX 32

struct gt_elfsym_function {
	uint64_t value;
	uint32_t size;
	uint32_t name; /* offset in strings */
};

struct gt_elfsym {
	struct gt_elfsym_function *functions; /* sorted by value, one each */
	size_t functions_mapped;
	uint32_t count;
	uint32_t load_count;
	char *strings;
	size_t strings_mapped;
	struct {
		uint64_t offset, size, address;
	} loads[GT_ELFSYM_LOADS_MAX];
};

/* Returns 0 or a negative errno (-ENOEXEC: not an ELF file we can read); then nothing is held. */
int gt_elfsym_open(struct gt_elfsym *elf, const char *path);
void gt_elfsym_close(struct gt_elfsym *elf);

/*
 * The name of the function at an offset in the file, or NULL. If several share the address it is
 * the most visible one (global, weak, local), then the first in the order of the alphabet.
 */
const char *gt_elfsym_find(const struct gt_elfsym *elf, uint64_t offset);
/* The same; *rest: bytes from there to the function's end, 0 if that is not known. */
const char *gt_elfsym_find_rest(const struct gt_elfsym *elf, uint64_t offset, uint32_t *rest);

#endif

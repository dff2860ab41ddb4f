/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a file's dynamic section as the loader does: the libraries it needs, where they are searched, and
 * the names it defines.
 *
 * Limits: files of this machine's class, byte order and kind. Everything is read into memory of the caller's
 * and checked: a file that is damaged, or changed meanwhile, gives wrong answers and no more. No malloc,
 * async-signal-safe.
 */
#ifndef GT_ELFNAMES_H
#define GT_ELFNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_ELF_NEEDED = 256, GT_ELF_LOADS = 24 };

struct gt_elf_names {
	bool has_loader; /* names a loader: is a program */
	uint32_t loads_n, needed_n;
	struct {
		uint64_t address, size, offset;
	} loads[GT_ELF_LOADS];
	uint64_t strings, symbols, gnu_hash, hash; /* addresses; 0: none */
	const char *map; /* of the file, or NULL */
	uint64_t map_size;
	/* Offsets in its strings, of which 0 is "". */
	uint32_t rpath, runpath, needed[GT_ELF_NEEDED];
};

/* False: not a file that the loader could load here; then there is nothing in *elf. */
bool gt_elf_names_read(struct gt_elf_names *elf, int fd);
/* The string at an offset; false if there is none, or it does not fit. */
bool gt_elf_names_text(const struct gt_elf_names *elf, int fd, uint64_t offset, char *text, size_t size);
/* Is it defined for others? */
bool gt_elf_names_defines(const struct gt_elf_names *elf, int fd, const char *symbol);

/*
 * For many questions: the file as memory, if that can be had. Then who cuts it meanwhile ends the process,
 * as with a file that the loader maps.
 */
void gt_elf_names_map(struct gt_elf_names *elf, int fd);
void gt_elf_names_unmap(struct gt_elf_names *elf);

#endif

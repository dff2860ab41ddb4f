/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cubin: from an instruction to source lines, with the calls that were inlined there (nvcc -lineinfo), and
 * to its text, where nvdisasm is found.
 *
 * Limits: line tables as nvcc and LLVM write them (.debug_line with a relocation for each function).
 */
#ifndef GT_REPORT_SOURCE_CUBIN_H
#define GT_REPORT_SOURCE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_cubin;

struct gt_cubin_frame {
	const char *file;     /* as the compiler had it */
	unsigned line;
	const char *function; /* the inlined one that has the line (a linker's name); NULL: the kernel */
};

#define GT_CUBIN_FRAMES 32u

/* NULL: it cannot be read, or is no cubin. The names in frames live as long as the cubin. */
struct gt_cubin *gt_cubin_open(int folder, uint64_t crc);
void gt_cubin_close(struct gt_cubin *cubin);

/* Has any line of any function? */
bool gt_cubin_has_lines(const struct gt_cubin *cubin);

/*
 * The lines of the instruction at `offset` of the function (its number in the symbol table, and its name, by
 * which it is found if that is another one's): innermost first. Returns how many; 0: not known.
 */
size_t gt_cubin_frames(const struct gt_cubin *cubin, uint32_t index, const char *name, uint64_t offset,
		       struct gt_cubin_frame *frames);

/* Has nvdisasm (of PATH, or of the CUDA toolkit) disassemble it. False: it is not there, or fails. */
bool gt_cubin_disassemble(struct gt_cubin *cubin);
/* The instruction's text, or NULL. */
const char *gt_cubin_text(const struct gt_cubin *cubin, const char *name, uint64_t offset);

#endif

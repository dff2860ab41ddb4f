/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Controls which names of our libraries (GT_SHOWN_WITH of adapters.def) the loader finds in this process:
 * those that libraries of the process have, too. What a library lacks that has most of them (an older MPI)
 * stays hidden, so that dlsym() and weak references say what they would say without us (doc/adr/0020).
 *
 * Limits: glibc, whose loader passes over a symbol without a value. Weak references of the program, and of
 * libraries that are loaded with it, are bound before anything can be hidden: they find what our library
 * has, if the program has it (lib/common/needed.h), and these names stay. Where the symbol table cannot be
 * written to, nothing is hidden.
 */
#ifndef GT_INSTRUMENT_SHOWN_H
#define GT_INSTRUMENT_SHOWN_H

#include <stdint.h>

#include "gputrace/compiler.h"

/*
 * At the start of the process: which of the libraries are preloaded, and which of the run are not, as bits.
 */
GT_HIDDEN void gt_shown_begin(uint32_t preloaded, uint32_t held_back);

/*
 * Before dlopen() loads the file: if it brings an MPI, say, ours has to be in the global scope by then, so
 * that what is bound finds ours first, whatever scope the program gives to the library. `load` loads one of
 * ours.
 */
GT_HIDDEN void gt_shown_before(const char *file, const void *caller,
			       void (*load)(const char *library, int mode));

#endif

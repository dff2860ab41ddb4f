/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ names as people write them, for matching filters in the traced process.
 *
 * Limits: no malloc, bounded stack and output. Knows the Itanium ABI as far as function names need
 * it; expressions in template arguments are not understood (then there is no demangled name).
 */
#ifndef GT_DEMANGLE_H
#define GT_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define GT_DEMANGLE_MAX 4096

/*
 * Writes the demangled name without parameters into `plain` ("Domain::nodes") and with them, as
 * __cxa_demangle does, into `full` ("Domain::nodes(int)"); both hold GT_DEMANGLE_MAX bytes. A
 * suffix that the compiler gave a copy of the function (".part.0") is left out. Where parameters
 * or return type are not understood `full` is empty. Returns false, and both empty, for names that are not
 * mangled, not understood or too long.
 */
bool gt_demangle(const char *mangled, char *full, char *plain);

/*
 * The same for a procedure of a Fortran module, as gfortran (__module_MOD_procedure), Intel's compilers
 * (module_mp_procedure_) and flang (_QMmodulePprocedure) call it: "module::procedure". gt_demangle()
 * knows these, too.
 */
bool gt_demangle_fortran(const char *mangled, char *plain);

#endif

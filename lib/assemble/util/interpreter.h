/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names the setting that records the functions of an interpreter's programs.
 *
 * Limits: goes by the name of the interpreter.
 */
#ifndef GT_ASSEMBLE_UTIL_INTERPRETER_H
#define GT_ASSEMBLE_UTIL_INTERPRETER_H

/* "VT_X=yes" of a program, by its path or name; NULL: it is no interpreter that is known. */
const char *gt_interpreter_setting(const char *program);

#endif

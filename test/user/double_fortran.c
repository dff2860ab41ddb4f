/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the stand-in's log when a Fortran program ends. Limits: for fortran.test. */
#include <stdio.h>

#include "double.h"

__attribute__((destructor)) static void print(void)
{
	fputs(double_log(), stdout);
	double_end();
	fputs(double_log(), stdout);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has Python in it, twice in a row; only the first is recorded. */
#include <Python.h>

int main(void)
{
	for (int i = 0; i < 2; i++) {
		Py_Initialize();
		PyRun_SimpleString("def embedded(n):\n  return embedded(n - 1) if n else 0\nembedded(9)\n");
		if (Py_FinalizeEx() < 0)
			return 1;
	}
	fprintf(stderr, "calls __main__.embedded 10\n");
	return 0;
}

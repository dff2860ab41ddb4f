/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads libraries one after the other, so that each lies where the one before it was.
 *
 * Limits: whether they really do is up to the kernel and the loader; it says so on stdout.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	uintptr_t last = 0;
	int same = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		void *library = dlopen(argv[i], RTLD_NOW);
		int (*function)(int) = library ? (int (*)(int))dlsym(library, argv[i + 1]) : NULL;

		if (!function) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		same += (uintptr_t)function == last;
		last = (uintptr_t)function;
		for (int k = 0; k < 10; k++)
			function(k);
		dlclose(library);
	}
	printf("same %d\n", same);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without Boost that loads the library of its argument, plays it and unloads it, twice.
 *
 * Limits: ends with 1 if something of that fails, or if the loader has something to say afterwards.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < 2 && argc > 1; i++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		void (*play)(void) = NULL;
		const char *why;

		if (library)
			*(void **)&play = dlsym(library, "play");
		if (play)
			play();
		if (!play || dlclose(library) || (why = dlerror())) {
			why = dlerror();
			fprintf(stderr, "%s\n", why ? why : "?");
			return 1;
		}
	}
	return 0;
}

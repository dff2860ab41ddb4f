/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints which names of gputrace's libraries this process sees: "name dlsym weak", 0 or 1 each. `names` is
 * made by names.test from what the libraries export: each name, and a weak reference to it.
 *
 *	names [MODE FILE | exec PROGRAM]... [only]
 *
 * MODE FILE: dlopen(FILE) before, with the flags lazy, now, global, noload, joined by commas; a file that has
 * a function use() has it called. exec PROGRAM: the program is executed in the place of this. only: no names.
 *
 * Limits: what is not there to be loaded is said and does not matter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct name {
	const char *name;
	const void *weak;
};
extern const struct name names[];

static void load(const char *mode, const char *file)
{
	int flags = (strstr(mode, "now") ? RTLD_NOW : RTLD_LAZY) |
		    (strstr(mode, "global") ? RTLD_GLOBAL : 0) | (strstr(mode, "noload") ? RTLD_NOLOAD : 0);
	void *handle = dlopen(file, flags);
	int (*use)(void) = handle ? (int (*)(void))dlsym(handle, "use") : NULL;

	printf("%s: %s\n", file, handle ? "loaded" : "not loaded");
	if (use)
		printf("use: %d\n", use());
}

int main(int argc, char **argv)
{
	void *program = dlopen(NULL, RTLD_LAZY);

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "exec")) {
			execl(argv[i + 1], argv[i + 1], NULL);
			return 1;
		}
		load(argv[i], argv[i + 1]);
	}
	for (const struct name *n = names; n->name && strcmp(argv[argc - 1], "only"); n++)
		printf("%s %d%d %d\n", n->name, !!dlsym(RTLD_DEFAULT, n->name), !!dlsym(program, n->name),
		       !!n->weak);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen and dlclose of instrumented libraries, chosen by the first argument: in turn (the same
 * address gets another name), from two threads at once, with RTLD_DEEPBIND, found by $ORIGIN.
 *
 * Limits: expects liba.so (function a_work) and libb.so (b_work) where the program is.
 */
#include "trouble.h"

#include <dlfcn.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>

static char folder[4096];

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED void use(char which, int times, int flags)
{
	char path[4200], symbol[] = "?_work";
	int (*function)(int), i;
	void *handle;

	snprintf(path, sizeof(path), "%s/lib%c.so", folder, which);
	symbol[0] = which;
	handle = dlopen(path, flags);
	if (!handle) {
		say("%s\n", dlerror());
		bad("dlopen");
	}
	function = (int (*)(int))dlsym(handle, symbol);
	MUST(function);
	for (i = 0; i < times; i++)
		MUST(function(i) == i + 1);
	MUST(!dlclose(handle));
	HERE();
}

CALLED void *stress(void *arg)
{
	char which = *(char *)arg;
	int i;

	for (i = 0; i < 300; i++)
		use(i % 3 ? which : (which == 'a' ? 'b' : 'a'), 5, RTLD_NOW);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "turns";
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	pthread_t thread[2];
	void *handle, *space;
	int i;

	MUST(n > 0);
	dirname(folder);
	work(0);
	if (!strcmp(way, "turns")) {
		for (i = 0; i < 50; i++) {
			use('a', 10, RTLD_LAZY);
			use('b', 10, RTLD_NOW);
		}
		say("calls a_work 500\ncalls b_work 500\ncalls use 100\n");
	} else if (!strcmp(way, "threads")) {
		MUST(!pthread_create(&thread[0], NULL, stress, "a"));
		MUST(!pthread_create(&thread[1], NULL, stress, "b"));
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
		say("calls a_work 1500\ncalls b_work 1500\ncalls use 600\n");
	} else if (!strcmp(way, "deepbind")) {
		use('a', 10, RTLD_NOW | RTLD_DEEPBIND);
		use('b', 10, RTLD_NOW | RTLD_DEEPBIND);
		say("calls a_work 10\ncalls b_work 10\n");
	} else if (!strcmp(way, "origin")) {
		/* By the caller's RUNPATH: if something calls dlopen for us, it is not found. */
		handle = dlopen("libonly.so", RTLD_NOW);
		if (!handle)
			say("%s\n", dlerror());
		MUST(handle);
		MUST(((int (*)(int))dlsym(handle, "only_work"))(1) == 2);
		say("calls only_work 1\n");
	} else if (!strcmp(way, "namespace")) {
		/* Another namespace has its own copy of everything; it must do no harm. */
		char path[4200];

		snprintf(path, sizeof(path), "%s/liba.so", folder);
		space = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
		MUST(space);
		MUST(((int (*)(int))dlsym(space, "a_work"))(1) == 2);
		say("calls work 1\n");
	} else if (!strcmp(way, "fail")) {
		for (i = 0; i < 10; i++) {
			MUST(!dlopen("/nonexistent/lib.so", RTLD_NOW));
			MUST(strstr(dlerror(), "nonexistent"));
			MUST(!dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere"));
			MUST(dlerror());
			MUST(!dlerror());
		}
		say("calls work 1\n");
	}
	return 0;
}

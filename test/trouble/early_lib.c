/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose constructor does what adapters record: threads, files, memory, another library, a child.
 * It runs before gputrace's own constructors.
 *
 * Limits: goes with early.c. Nothing here is instrumented.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST 8000000u

int early_done;
void *early_memory;

static void *thread(void *p)
{
	return p;
}

static int child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(7);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

__attribute__((constructor)) static void begin(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW), *back = NULL;
	char byte = 1;
	pthread_t t;
	int fd;

	early_done += library && dlsym(library, "cos") && !dlclose(library);
	early_done += !pthread_create(&t, NULL, thread, &t) && !pthread_join(t, &back) && back == &t;
	fd = open("/dev/zero", O_RDONLY);
	early_done += fd >= 0 && read(fd, &byte, 1) == 1 && !byte && !close(fd);
	early_memory = malloc(FIRST);
	early_done += early_memory != NULL;
	early_done += child();
}

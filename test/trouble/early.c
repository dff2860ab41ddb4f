/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main() does once more what the constructor of early_lib.c has done: a trace has both, or what it holds of
 * memory is wrong.
 *
 * Limits: goes with early_lib.c.
 */
#include "trouble.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>

extern int early_done;
extern void *early_memory;

static void *thread(void *p)
{
	return p;
}

int main(void)
{
	size_t held = malloc_usable_size(early_memory);
	void *second = malloc(1000000), *back;
	char byte = 1;
	pthread_t t;
	int fd;

	MUST(early_done == 5);
	MUST(!pthread_create(&t, NULL, thread, &t) && !pthread_join(t, &back) && back == &t);
	fd = open("/dev/zero", O_RDONLY);
	MUST(fd >= 0 && read(fd, &byte, 1) == 1 && !byte && !close(fd));
	MUST(second);
	say("held %zu\n", held + malloc_usable_size(second));
	free(early_memory);
	free(second);
	return 0;
}

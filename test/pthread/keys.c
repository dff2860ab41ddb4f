// SPDX-License-Identifier: BSD-3-Clause
// All keys for thread-specific data are taken before threads are made: nothing but gputrace's own
// few is missing, and threads begin, end and join as ever.
// Limits: prints whether nearly all keys could be had, not how many.
#define _GNU_SOURCE
#include <limits.h>

#include "say.h"

static void *run(void *p)
{
	return p;
}

int main(void)
{
	pthread_key_t key;
	pthread_t t;
	void *result;
	int n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (pthread_key_create(&key, NULL) == 0)
		n++;
	printf("nearly all keys: %d\n", n >= PTHREAD_KEYS_MAX - 8);
	for (int i = 0; i < 100; i++) {
		MUST(pthread_create(&t, NULL, run, &t));
		MUST(pthread_join(t, &result));
		if (result != &t)
			puts("wrong result");
	}
	return 0;
}

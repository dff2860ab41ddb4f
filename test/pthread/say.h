/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the programs of this folder say what happened: lines that are equal with and without gputrace.
 *
 * Limits: nothing that depends on time, addresses or the number of processors may be printed.
 */
#ifndef GT_TEST_PTHREAD_SAY_H
#define GT_TEST_PTHREAD_SAY_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline const char *name_of(int error)
{
	const char *name = error == 0 ? "0" : strerrorname_np(error);

	return name ? name : "?";
}

/* Calls, prints the call and the error number that it returns. errno must stay as it is. */
#define SAY(call)                                                                           \
	do {                                                                                \
		int said_;                                                                  \
		errno = 77;                                                                 \
		said_ = (call);                                                             \
		printf("%s = %s%s\n", #call, name_of(said_), errno == 77 ? "" : ", errno"); \
	} while (0)

/* The same for functions that return -1 and set errno. */
#define SAY_ERRNO(call)                                                                  \
	do {                                                                             \
		int said_;                                                               \
		errno = 77;                                                              \
		said_ = (call);                                                          \
		printf("%s = %d, errno %s\n", #call, said_, errno == 77 ? "as it was" : name_of(errno)); \
	} while (0)

/* A call that has to succeed for the test to make sense. */
#define MUST(call)                                                           \
	do {                                                                 \
		int rc_ = (call);                                            \
		if (rc_) {                                                   \
			printf("%s: %s\n", #call, strerror(rc_));            \
			exit(99);                                            \
		}                                                            \
	} while (0)

static inline struct timespec after_ms(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static inline void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the driver's calls (driver.c) and its device (device.c). */
#ifndef TEST_LEVELZERO_DRIVER_H
#define TEST_LEVELZERO_DRIVER_H

#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HERTZ = 19200000, MOST = 8 };

struct event {
	struct pool *pool;
	bool signaled;
	int users; /* commands that have not run yet */
	ze_kernel_timestamp_result_t times;
};
struct pool {
	unsigned flags, count, made, alive;
	struct event *events;
};
enum kind { KERNEL, COPY, FILL, BARRIER, SIGNAL, WAIT, RESET, QUERY, FENCE };
struct command {
	enum kind kind;
	char name[64];
	uint64_t length; /* nanoseconds */
	void *to;
	const void *from;
	size_t bytes;
	int pattern;
	struct event *signal, *waits[MOST], *of[64];
	unsigned wait_count, of_count;
	bool *fence;
	struct command *next;
};
struct queue {
	struct command *first, **last;
	unsigned pending;
	pthread_t thread;
	bool end, synchronous;
	int number;
};
struct list {
	struct queue *queue; /* immediate */
	struct command *first, **last;
	int running;
	bool closed;
};
struct flight {
	uint64_t start, end;
	struct command *command;
	struct list *list;
};
struct kernel {
	char name[64];
};
struct fence {
	bool signaled;
	struct queue *queue;
};
struct memory {
	char *at;
	size_t size;
	ze_memory_type_t type;
	struct memory *next;
};

extern pthread_mutex_t lock;
extern FILE *said;
extern unsigned lanes, bits;
extern uint64_t offset; /* of the device's clock */

uint64_t now(void);
uint64_t ticks(uint64_t ns);
void wrong(const char *what);
struct queue *queue_make(bool synchronous);
void queue_end(struct queue *q);
/* With the lock. */
void submit(struct queue *q, const struct command *c);
/* Until *what is true or *until_zero is 0. */
ze_result_t wait_for(bool *what, unsigned *until_zero, uint64_t timeout);
void wake(void);

#endif

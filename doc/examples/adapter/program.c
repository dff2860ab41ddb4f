/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses the library, and says what it did: check.sh looks for the same in the trace.
 * Limits: none.
 */
#include "parcel.h"

#include <pthread.h>
#include <stdio.h>

#define EACH 25

static unsigned long received, bytes;

static void *consumer(void *unused)
{
	for (int i = 0; i < EACH; i++) {
		struct parcel parcel = parcel_receive(1);

		received++;
		bytes += parcel.bytes;
		parcel_send(0, 8, 0); /* a receipt */
	}
	return unused;
}

int main(void)
{
	unsigned long sent = 0, urgent = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, consumer, NULL))
		return 1;
	for (int i = 0; i < EACH; i++) {
		parcel_send(1, 100 + (size_t)i, i % 5 == 0 ? 1 + i : 0);
		sent++;
		urgent += i % 5 == 0;
	}
	for (int i = 0; i < EACH; i++)
		bytes += parcel_receive(0).bytes;
	pthread_join(thread, NULL);
	printf("sent %lu\nreceived %lu\nurgent %lu\nbytes %lu\n", sent + received, received + EACH, urgent,
	       bytes);
	return 0;
}

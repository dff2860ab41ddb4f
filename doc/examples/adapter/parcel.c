/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parcels between threads.
 * Limits: see parcel.h.
 */
#include "parcel.h"

#include <pthread.h>

#define ROOM 64u

static struct box {
	struct parcel parcels[ROOM];
	unsigned first, count;
} boxes[4];
static unsigned long last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

unsigned long parcel_send(int to, size_t bytes, int urgent)
{
	struct box *box = &boxes[to];
	unsigned long number;

	pthread_mutex_lock(&lock);
	while (box->count == ROOM)
		pthread_cond_wait(&changed, &lock);
	number = ++last;
	box->parcels[(box->first + box->count++) % ROOM] = (struct parcel){ number, bytes, urgent };
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return number;
}

struct parcel parcel_receive(int at)
{
	struct box *box = &boxes[at];
	struct parcel parcel;

	pthread_mutex_lock(&lock);
	while (!box->count)
		pthread_cond_wait(&changed, &lock);
	parcel = box->parcels[box->first];
	box->first = (box->first + 1) % ROOM;
	box->count--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return parcel;
}

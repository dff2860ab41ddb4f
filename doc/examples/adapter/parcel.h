/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that knows nothing of gputrace: threads send each other parcels.
 * Limits: 4 addresses, 64 parcels waiting at each.
 */
#ifndef PARCEL_H
#define PARCEL_H

#include <stddef.h>

struct parcel {
	unsigned long number; /* of the parcel, from 1 */
	size_t bytes;
	int urgent;           /* 0, or how much */
};

/* Sends one to an address; waits while there is no room. Returns its number. */
unsigned long parcel_send(int to, size_t bytes, int urgent);
/* Waits for the next one at an address. */
struct parcel parcel_receive(int at);

#endif

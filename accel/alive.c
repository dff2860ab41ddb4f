/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the runtime is recorded in this process, and the lock of adapters that intercept its calls on the
 * program's threads.
 *
 * Limits: the lock is not for signal handlers, unless they only try it.
 */
#include <pthread.h>

#include "accel/accel.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool alive;

bool gt_accel_alive(void)
{
	return alive;
}

void gt_accel_set_alive(bool is)
{
	alive = is;
}

bool gt_accel_lock(bool try)
{
	if (!alive)
		return false;
	gt_guard();
	if (try ? !pthread_mutex_trylock(&lock) : !pthread_mutex_lock(&lock))
		return true;
	gt_unguard();
	return false;
}

void gt_accel_unlock(void)
{
	pthread_mutex_unlock(&lock);
	gt_unguard();
}

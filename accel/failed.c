/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first call of the process that failed, for the account: "cudaMalloc: out of memory (error 2)".
 *
 * Limits: of calls that fail at the same time, any. Longer names are cut.
 */
#include <stdio.h>

#include "accel/accel.h"

static struct {
	uint32_t state; /* 0, 1: being written, 2: there */
	uint32_t error;
	char function[96];
} first;

void gt_accel_failed(const char *function, uint32_t error)
{
	uint32_t none = 0;

	if (__atomic_load_n(&first.state, __ATOMIC_RELAXED) ||
	    !__atomic_compare_exchange_n(&first.state, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	first.error = error;
	snprintf(first.function, sizeof(first.function), "%s", function ? function : "a call");
	__atomic_store_n(&first.state, 2, __ATOMIC_RELEASE); /* pairs with gt_accel_first_failed() */
}

void gt_accel_failed_account(const char *text)
{
	char key[48], value[256], number[32];

	if (!gt_accel_first_failed(NULL))
		return;
	snprintf(key, sizeof(key), "%s:first_failed_call", gt_accel_runtime.adapter);
	snprintf(number, sizeof(number), text ? " (error %u)" : "error %u", first.error);
	snprintf(value, sizeof(value), "%s: %.128s%s", first.function, text ? text : "", number);
	gt_def_property(key, value);
}

bool gt_accel_first_failed(uint32_t *error)
{
	if (__atomic_load_n(&first.state, __ATOMIC_ACQUIRE) != 2)
		return false;
	if (error)
		*error = first.error;
	return true;
}

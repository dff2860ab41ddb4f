/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's live contexts, to wait for what they still do when the program ends.
 *
 * Limits: MOST contexts at once; further ones are not waited for.
 */
#include <dlfcn.h>
#include <string.h>

#include "cuda/cuda.h"

#define MOST 128u

static void *contexts[MOST]; /* atomic */

void gt_cu_context_created(void *context)
{
	for (unsigned i = 0; i < MOST; i++) {
		void *expected = NULL;

		if (__atomic_compare_exchange_n(&contexts[i], &expected, context, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

void gt_cu_context_gone(void *context)
{
	for (unsigned i = 0; i < MOST; i++) {
		void *expected = context;

		if (__atomic_compare_exchange_n(&contexts[i], &expected, NULL, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

static void *driver_symbol(void *driver, const char *versioned, const char *plain)
{
	void *symbol = dlsym(driver, versioned);

	return symbol ? symbol : dlsym(driver, plain);
}

void gt_cu_contexts_finish(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*push)(void *) = NULL, (*pop)(void **) = NULL, (*wait)(void) = NULL;
	void *symbols[3];

	if (!driver)
		return;
	symbols[0] = driver_symbol(driver, "cuCtxPushCurrent_v2", "cuCtxPushCurrent");
	symbols[1] = driver_symbol(driver, "cuCtxPopCurrent_v2", "cuCtxPopCurrent");
	symbols[2] = dlsym(driver, "cuCtxSynchronize");
	memcpy(&push, &symbols[0], sizeof(push));
	memcpy(&pop, &symbols[1], sizeof(pop));
	memcpy(&wait, &symbols[2], sizeof(wait));
	for (unsigned i = 0; push && pop && wait && i < MOST; i++) {
		void *context = __atomic_load_n(&contexts[i], __ATOMIC_ACQUIRE), *old;

		if (!context || push(context))
			continue;
		wait();
		pop(&old);
	}
	dlclose(driver);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's live contexts, to wait for what they still do when the program ends; and the streams
 * that are being captured into graphs, for what is launched meanwhile makes no records.
 *
 * Limits: MOST contexts at once, further ones are not waited for; MOST captures at once, of further ones
 * launches are taken for launches without a record.
 */
#include <dlfcn.h>
#include <string.h>

#include "cuda/cuda.h"

#define MOST    128u
#define HANDLES 3u /* 0, cudaStreamLegacy, cudaStreamPerThread */

static void *contexts[MOST]; /* atomic */
static struct capture {
	uint64_t stream; /* the handle; 0: free; atomic */
	void *context;
} captures[MOST];

void gt_cu_context_created(void *context)
{
	for (unsigned i = 0; i < MOST; i++) {
		void *expected = NULL;

		/* Pairs with gt_cu_context_gone() and gt_cu_contexts_finish(). */
		if (__atomic_compare_exchange_n(&contexts[i], &expected, context, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

/* The handle; those below HANDLES mean another stream on each thread, which alone can end its capture. */
static uint64_t key_of(void *stream)
{
	static GT_TLS char own;
	uint64_t handle = (uintptr_t)stream;

	return handle < HANDLES ? (uintptr_t)&own << 3 | handle | UINT64_C(1) << 63 : handle;
}

static void capture_ends(struct capture *c, uint64_t stream)
{
	/* Pairs with capture_begins(). */
	if (stream && __atomic_compare_exchange_n(&c->stream, &stream, 0, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_RELAXED))
		__atomic_fetch_sub(&gt_cu_hot.now.capturing, 1, __ATOMIC_RELAXED);
}

/* A call that failed for these reasons has left the capture as it was; others end it, too. */
static bool goes_on(int result)
{
	return result == CU_CUDA_INVALID_VALUE || result == CU_CUDA_INVALID_HANDLE ||
	       result == CU_CUDA_CAPTURE_UNMATCHED || result == CU_CUDA_CAPTURE_WRONG_THREAD;
}

static void capture_begins(void *context, uint64_t stream)
{
	for (unsigned i = 0; i < MOST; i++) {
		uint64_t expected = 0;

		/* Pairs with capture_ends(). */
		if (!__atomic_compare_exchange_n(&captures[i].stream, &expected, stream, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		captures[i].context = context;
		__atomic_fetch_add(&gt_cu_hot.now.capturing, 1, __ATOMIC_RELAXED);
		return;
	}
}

void gt_cu_capturing(unsigned class, void *context, void *stream, int result)
{
	uint64_t key = key_of(stream);

	if (class == GT_CU_C_CAPTURE_BEGIN ? result : goes_on(result))
		return;
	/* The runtime's call and the driver's inside of it may both be reported: the second finds it done. */
	for (unsigned i = 0; i < MOST; i++)
		if (__atomic_load_n(&captures[i].stream, __ATOMIC_RELAXED) == key) {
			if (class != GT_CU_C_CAPTURE_BEGIN)
				capture_ends(&captures[i], key);
			return;
		}
	if (class == GT_CU_C_CAPTURE_BEGIN)
		capture_begins(context, key);
}

void gt_cu_context_gone(void *context)
{
	for (unsigned i = 0; i < MOST; i++)
		if (captures[i].context == context)
			capture_ends(&captures[i], __atomic_load_n(&captures[i].stream, __ATOMIC_RELAXED));
	for (unsigned i = 0; i < MOST; i++) {
		void *expected = context;

		/* Pairs with gt_cu_context_created() and gt_cu_contexts_finish(). */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the real functions, and the constructor that makes the adapter known to the core.
 *
 * Limits: RTLD_NEXT counts from this object, so that another library's wrapper behind ours is
 * called too; gt_next_symbol() would count from libgputrace.so and might skip it, and knows no
 * versions.
 */
#include <dlfcn.h>
#include <errno.h>

#include "pthread/real.h"

/* x86-64 has two kinds of condition variables; the older one is for programs from before 2003. */
#ifdef __x86_64__
#define GT_PT_COND_VERSION "GLIBC_2.3.2"
#else
#define GT_PT_COND_VERSION NULL
#endif

static int missing(void)
{
	errno = ENOSYS;
	return ENOSYS;
}

GT_HIDDEN struct gt_pt_real gt_pt_real = {
#define GT_PT_FUNCTION(name, version) .name = (__typeof__(name) *)(void *)missing,
#include "pthread/functions.def"
#undef GT_PT_FUNCTION
};

static const struct {
	const char *name;
	const char *version;
	void **slot;
} functions[] = {
#define GT_PT_FUNCTION(name, version) { #name, version, (void **)&gt_pt_real.name },
#include "pthread/functions.def"
#undef GT_PT_FUNCTION
};

static int resolved;
static GT_TLS int resolving;

static void resolve(void)
{
	/* A failing dlsym() allocates its message, and a malloc replacement may lock a mutex. */
	if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE) || resolving)
		return;
	resolving = 1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = NULL;

		if (functions[i].version)
			function = dlvsym(RTLD_NEXT, functions[i].name, functions[i].version);
		if (!function)
			function = dlsym(RTLD_NEXT, functions[i].name);
		if (function)
			__atomic_store_n(functions[i].slot, function, __ATOMIC_RELEASE);
	}
	resolving = 0;
	__atomic_store_n(&resolved, 1, __ATOMIC_RELEASE); /* pairs with the acquire in this function */
}

static void fork_child(void)
{
	gt_pt_locks_child();
	gt_pt_threads_child();
}

/* Once: by whoever comes first, another library's constructor or ours. */
static void join_core(void)
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "pthread",
		.fork_child = fork_child,
	};
	static int begun;

	if (resolving || !gt_setting("VT_MODE") || __atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
		return;
	if (gt_adapter_register(&adapter) == 0) {
		gt_pt_threads_init();
		gt_pt_define();
	}
}

void gt_pt_begin(void)
{
	int saved = errno;

	resolve();
	join_core();
	errno = saved;
}

__attribute__((constructor)) static void begin(void)
{
	gt_pt_begin();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of Kokkos 3.7 to 4.6 a tool sees: which library is loaded, in what order its functions are asked for,
 * set_callbacks() of a program that is linked with it, and the fences that a tool causes which does not
 * decline them.
 *
 * Limits: none of its kernels.
 */
#include "kokkoscore.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kk_events kk_events;
int kk_fences; /* that were caused by a tool */

static struct kk_settings settings;

void set_callbacks(struct kk_events events) __asm__("_ZN6Kokkos5Tools12Experimental13set_callbacks"
						    "E25Kokkos_Profiling_EventSet");
void set_callbacks(struct kk_events events)
{
	kk_events = events;
}

static const char *const names[] = {
	"init_library", "finalize_library", "parse_args", "print_help", "begin_parallel_for",
	"end_parallel_for", "begin_parallel_reduce", "end_parallel_reduce", "begin_parallel_scan",
	"end_parallel_scan", "push_profile_region", "pop_profile_region", "allocate_data",
	"deallocate_data", "create_profile_section", "start_profile_section",
	"stop_profile_section", "destroy_profile_section", "profile_event", "begin_deep_copy",
	"end_deep_copy", "begin_fence", "end_fence", "dual_view_sync", "dual_view_modify",
	"declare_metadata", "provide_tool_programming_interface", "request_tool_settings",
};

static void load(const char *list)
{
	size_t n = strcspn(list, ";");
	char path[4096], name[128];
	void *library;

	snprintf(path, sizeof(path), "%.*s", (int)n, list);
	library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "Error: Unable to load KokkosP library: %s: %s\n", path, dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "kokkosp_%s", names[i]);
		*(void **)((char *)&kk_events + i * sizeof(void *)) = dlsym(library, name);
	}
}

void kk_initialize(void)
{
	const char *older = getenv("KOKKOS_PROFILE_LIBRARY"), *list = getenv("KOKKOS_TOOLS_LIBS");

	if (older && list && strcmp(older, list)) {
		fprintf(stderr, "Error: environment variables are both set and do not match.\n");
		abort();
	}
	if (!list)
		list = older;
	if (list && *list)
		load(list);
	if (kk_events.init)
		kk_events.init(0, 20240906, 0, NULL);
	settings.requires_global_fencing = true;
	if (kk_events.request_tool_settings)
		kk_events.request_tool_settings(1, &settings);
}

/* At each begin and end of a kernel, and each push and pop. */
void kk_may_fence(const void *callback)
{
	kk_fences += callback && settings.requires_global_fencing;
}

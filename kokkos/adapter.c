/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter for Kokkos: what Kokkos calls of a tool. Kokkos loads this library by KOKKOS_TOOLS_LIBS; to a
 * program that is linked with it, it hands its functions over by Kokkos' own set_callbacks().
 *
 * A kernel's region is on the thread that launches it. Kokkos is asked not to wait for the device at each
 * begin and end, as it does for tools that say nothing.
 *
 * Limits: regions and copies are those of a thread, as deep as DEPTH and COPIES; what is deeper is not
 * recorded. In a process that has confined itself they are not recorded if there is no room for a thread's
 * stack.
 */
#include <pthread.h>
#include <string.h>

#include "kokkos/kokkos.h"

enum { DEPTH = 1000, COPIES = 8, KEYS = 32 /* thread keys for which the C library needs no memory */ };

#define DECLARE(place, name, parameters) \
	__attribute__((visibility("default"))) void kokkosp_##name parameters;
GT_KK_CALLBACKS(DECLARE)
#undef DECLARE

/* Kokkos::Tools::Experimental::set_callbacks(EventSet): the program has it, if it was linked with us. */
__attribute__((weak, visibility("default"))) extern void
set_callbacks(struct gt_kk_events events) __asm__("_ZN6Kokkos5Tools12Experimental13set_callbacks"
						  "E25Kokkos_Profiling_EventSet");

/* Of a thread. A pointer only: what is loaded late has little room for variables of threads. */
struct thread {
	uint32_t depth, copies; /* may exceed what there is room for */
	struct gt_kk_copy copy[COPIES];
	gt_ref pushed[DEPTH];
};
static GT_TLS struct thread *self;
static pthread_key_t key;
static bool have_key;

static gt_ref mark;
static bool ready;

/* The thread ends; its other destructors may still come here, and get another one. */
static void free_thread(void *old)
{
	self = NULL;
	gt_memory_free(old, sizeof(*self));
}

static bool known(void)
{
	if (self)
		return true;
	self = gt_memory(sizeof(*self));
	if (self && have_key && (key < KEYS || !gt_is_confined()))
		pthread_setspecific(key, self);
	return self;
}

static bool active(void)
{
	return ready && gt_active();
}

/* ---- kernels and fences: Kokkos gives back at the end what it was given at the beginning ---------- */

static void begin(enum gt_kk_kind kind, const char *name, uint32_t device, uint64_t *id)
{
	gt_ref region = active() ? gt_kk_region(kind, name) : GT_NONE, params;

	*id = region;
	if (!region)
		return;
	gt_enter(region);
	params = gt_kk_device_params(device);
	if (params)
		gt_record(GT_T_PARAMS, params, NULL, 0);
}

static void end(uint64_t id)
{
	if (id)
		gt_leave((gt_ref)id);
}

void kokkosp_begin_parallel_for(const char *name, const uint32_t device, uint64_t *kernel)
{
	begin(GT_KK_FOR, name, device, kernel);
}

void kokkosp_end_parallel_for(const uint64_t kernel)
{
	end(kernel);
}

void kokkosp_begin_parallel_reduce(const char *name, const uint32_t device, uint64_t *kernel)
{
	begin(GT_KK_REDUCE, name, device, kernel);
}

void kokkosp_end_parallel_reduce(const uint64_t kernel)
{
	end(kernel);
}

void kokkosp_begin_parallel_scan(const char *name, const uint32_t device, uint64_t *kernel)
{
	begin(GT_KK_SCAN, name, device, kernel);
}

void kokkosp_end_parallel_scan(const uint64_t kernel)
{
	end(kernel);
}

void kokkosp_begin_fence(const char *name, const uint32_t device, uint64_t *fence)
{
	begin(GT_KK_FENCE, name, device, fence);
}

void kokkosp_end_fence(const uint64_t fence)
{
	end(fence);
}

/* ---- regions, sections and marks ------------------------------------------------------------------ */

void kokkosp_push_profile_region(const char *name)
{
	gt_ref region = active() ? gt_kk_region(GT_KK_REGION, name) : GT_NONE;

	if (!ready || !known())
		return;
	if (self->depth < DEPTH) {
		self->pushed[self->depth] = region;
		gt_enter(region);
	}
	self->depth++;
}

void kokkosp_pop_profile_region(void)
{
	if (!self || !self->depth)
		return;
	self->depth--;
	if (self->depth < DEPTH)
		gt_leave(self->pushed[self->depth]);
}

void kokkosp_create_profile_section(const char *name, uint32_t *section)
{
	*section = ready ? gt_kk_section_create(name) : 0;
}

void kokkosp_start_profile_section(const uint32_t section)
{
	gt_kk_section_start(section);
}

void kokkosp_stop_profile_section(const uint32_t section)
{
	gt_kk_section_stop(section);
}

void kokkosp_destroy_profile_section(const uint32_t section)
{
	gt_kk_section_destroy(section);
}

void kokkosp_profile_event(const char *name)
{
	if (active())
		gt_marker(mark, gt_kk_text(name));
}

/* ---- data ------------------------------------------------------------------------------------------ */

static void allocated(const struct gt_kk_handle *handle, const char *view, uint64_t bytes, bool freed)
{
	struct gt_kk_space *space = active() ? gt_kk_space_of(handle) : NULL;

	if (space)
		gt_kk_allocated(space, view, bytes, freed);
}

void kokkosp_allocate_data(const struct gt_kk_handle space, const char *view, const void *data,
			   const uint64_t bytes)
{
	(void)data;
	allocated(&space, view, bytes, false);
}

void kokkosp_deallocate_data(const struct gt_kk_handle space, const char *view, const void *data,
			     const uint64_t bytes)
{
	(void)data;
	allocated(&space, view, bytes, true);
}

void kokkosp_begin_deep_copy(const struct gt_kk_handle to, const char *to_view, const void *to_data,
			     const struct gt_kk_handle from, const char *from_view, const void *from_data,
			     const uint64_t bytes)
{
	struct gt_kk_copy copy = { .bytes = bytes };

	(void)to_data;
	(void)from_data;
	if (!ready || !known())
		return;
	if (self->copies < COPIES) {
		if (gt_active())
			gt_kk_copy_begin(&copy, &to, to_view, &from, from_view);
		self->copy[self->copies] = copy;
	}
	self->copies++;
}

void kokkosp_end_deep_copy(void)
{
	if (!self || !self->copies)
		return;
	self->copies--;
	if (self->copies < COPIES)
		gt_kk_copy_end(&self->copy[self->copies]);
}

/* A view with a copy on the device. */
static void dual_view(const char *what, const char *view)
{
	gt_ref region = active() ? gt_kk_region(GT_KK_VIEW, what) : GT_NONE;

	if (region)
		gt_kk_view_event(region, view);
}

void kokkosp_dual_view_sync(const char *view, const void *const data, const bool to_device)
{
	(void)data;
	dual_view(to_device ? "Kokkos::DualView sync to device" : "Kokkos::DualView sync to host", view);
}

void kokkosp_dual_view_modify(const char *view, const void *const data, const bool on_device)
{
	(void)data;
	dual_view(on_device ? "Kokkos::DualView modify on device" : "Kokkos::DualView modify on host", view);
}

/* The program's own metadata become properties of the process. */
void kokkosp_declare_metadata(const char *name, const char *value)
{
	char text[256] = "kokkos:";

	if (!ready || !name || !value)
		return;
	memcpy(text + strlen(text), name, strnlen(name, sizeof(text) - strlen(text) - 1));
	gt_def_property(text, value);
}

/* ---- the tool -------------------------------------------------------------------------------------- */

/* Kokkos calls no tool any more that has this: what it frees then it had allocated before it loaded one. */
void kokkosp_finalize_library(void)
{
}

/* Waiting for the device at each begin and end would change what is measured. */
void kokkosp_request_tool_settings(const uint32_t version, struct gt_kk_settings *settings)
{
	(void)version;
	if (settings)
		settings->requires_global_fencing = false;
}

static void fork_child(void)
{
	gt_kk_spaces_forked();
	gt_kk_sections_forked();
}

static void at_end(int how)
{
	gt_kk_sections_end(how != GT_END_NONE);
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "kokkos",
	.fork_child = fork_child,
	.end = at_end,
};

typedef void (*any_function)(void);

static void hand_over(void)
{
	static const struct gt_kk_events events = { {
#define ENTRY(place, name, parameters) [place] = (any_function)kokkosp_##name,
		GT_KK_CALLBACKS(ENTRY)
#undef ENTRY
	} };

	if (set_callbacks)
		set_callbacks(events);
}

/* Kokkos has loaded this library, or the program is linked with it: then Kokkos has not begun. */
__attribute__((constructor)) static void start(void)
{
	const char *wanted = gt_setting("VT_KOKKOS");

	if (!wanted || strcmp(wanted, "no") == 0 || gt_adapter_register(&adapter))
		return;
	have_key = !pthread_key_create(&key, free_thread);
	gt_kk_names_begin();
	gt_kk_spaces_begin();
	mark = gt_def_marker("Kokkos mark", "Kokkos", 3);
	ready = true;
	hand_over();
}

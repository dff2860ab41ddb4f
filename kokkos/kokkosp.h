/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that Kokkos looks up in a tool (interface version 20171029 and later), and the table by
 * which a program registers a tool without a library's name. Declared here: Kokkos need not be there when
 * this is built.
 *
 * Limits: tuning is not declared. test/kokkos/abi.c compares this with Kokkos' own header.
 */
#ifndef GT_KOKKOS_KOKKOSP_H
#define GT_KOKKOS_KOKKOSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not always ended by a NUL: Kokkos writes 63 bytes. */
#define GT_KK_SPACE_NAME 64
struct gt_kk_handle {
	char name[GT_KK_SPACE_NAME];
};

struct gt_kk_settings {
	bool requires_global_fencing;
	bool padding[255];
};

/* The place in the table that set_callbacks() takes, the name behind "kokkosp_", the parameters. */
#define GT_KK_CALLBACKS(C)                                                                          \
	C(1, finalize_library,                                                                      \
	  (void))                                                                                   \
	C(4, begin_parallel_for,                                                                    \
	  (const char *name, const uint32_t device, uint64_t *kernel))                              \
	C(5, end_parallel_for,                                                                      \
	  (const uint64_t kernel))                                                                  \
	C(6, begin_parallel_reduce,                                                                 \
	  (const char *name, const uint32_t device, uint64_t *kernel))                              \
	C(7, end_parallel_reduce,                                                                   \
	  (const uint64_t kernel))                                                                  \
	C(8, begin_parallel_scan,                                                                   \
	  (const char *name, const uint32_t device, uint64_t *kernel))                              \
	C(9, end_parallel_scan,                                                                     \
	  (const uint64_t kernel))                                                                  \
	C(10, push_profile_region,                                                                  \
	  (const char *name))                                                                       \
	C(11, pop_profile_region,                                                                   \
	  (void))                                                                                   \
	C(12, allocate_data,                                                                        \
	  (const struct gt_kk_handle space, const char *view, const void *data,                     \
	   const uint64_t bytes))                                                                   \
	C(13, deallocate_data,                                                                      \
	  (const struct gt_kk_handle space, const char *view, const void *data,                     \
	   const uint64_t bytes))                                                                   \
	C(14, create_profile_section,                                                               \
	  (const char *name, uint32_t *section))                                                    \
	C(15, start_profile_section,                                                                \
	  (const uint32_t section))                                                                 \
	C(16, stop_profile_section,                                                                 \
	  (const uint32_t section))                                                                 \
	C(17, destroy_profile_section,                                                              \
	  (const uint32_t section))                                                                 \
	C(18, profile_event,                                                                        \
	  (const char *name))                                                                       \
	C(19, begin_deep_copy,                                                                      \
	  (const struct gt_kk_handle to, const char *to_view, const void *to_data,                  \
	   const struct gt_kk_handle from, const char *from_view, const void *from_data,            \
	   const uint64_t bytes))                                                                   \
	C(20, end_deep_copy,                                                                        \
	  (void))                                                                                   \
	C(21, begin_fence,                                                                          \
	  (const char *name, const uint32_t device, uint64_t *fence))                               \
	C(22, end_fence,                                                                            \
	  (const uint64_t fence))                                                                   \
	C(23, dual_view_sync,                                                                       \
	  (const char *view, const void *const data, const bool to_device))                         \
	C(24, dual_view_modify,                                                                     \
	  (const char *view, const void *const data, const bool on_device))                         \
	C(25, declare_metadata,                                                                     \
	  (const char *key, const char *value))                                                     \
	C(27, request_tool_settings,                                                                \
	  (const uint32_t version, struct gt_kk_settings *settings))

/* Kokkos_Profiling_EventSet: it does not grow, members take the place of padding. */
#define GT_KK_EVENTS 275
struct gt_kk_events {
	void (*callback[GT_KK_EVENTS])(void);
};

/* An execution space in 32 bits: its type, device and instance. */
static inline unsigned gt_kk_type(uint32_t device)
{
	return device >> 24;
}

static inline unsigned gt_kk_device(uint32_t device)
{
	return device >> 17 & 0x7f;
}

static inline unsigned gt_kk_instance(uint32_t device)
{
	return device & 0x1ffff;
}

/* Of a fence: what copies need in common, no instance. */
#define GT_KK_COPY_RESOURCE 0xffffffu

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the adapter for Kokkos: names.c makes regions of names, spaces.c has the memory spaces, with
 * what is allocated in them and copied between them, sections.c the profile sections; adapter.c is what
 * Kokkos calls.
 *
 * Limits: those of each file.
 */
#ifndef GT_KOKKOS_KOKKOS_H
#define GT_KOKKOS_KOKKOS_H

#include "gputrace/accel.h"
#include "kokkos/kokkosp.h"


/* Enumerator, group, OTF2_RegionRole as a number. */
#define GT_KK_KINDS(K)                         \
	K(FOR, "Kokkos parallel_for", 3)       \
	K(REDUCE, "Kokkos parallel_reduce", 3) \
	K(SCAN, "Kokkos parallel_scan", 3)     \
	K(REGION, "Kokkos region", 4)          \
	K(FENCE, "Kokkos fence", 4)            \
	K(SECTION, "Kokkos section", 4)        \
	K(COPY, "Kokkos deep copy", 30)        \
	K(VIEW, "Kokkos view", 4)              \
	K(ALLOCATE, "Kokkos memory", 35)       \
	K(DEALLOCATE, "Kokkos memory", 36)

#define GT_KK_ENUM(NAME, group, role) GT_KK_##NAME,
enum gt_kk_kind { GT_KK_KINDS(GT_KK_ENUM) GT_KK_KIND_COUNT };
#undef GT_KK_ENUM

/* Before all others. */
GT_HIDDEN void gt_kk_names_begin(void);
GT_HIDDEN void gt_kk_spaces_begin(void);

/*
 * The region of this kind with Kokkos' name for it, which may be a type's. NULL, "": it has none. GT_NONE:
 * the user's filter leaves it out. Takes no lock once the name is known.
 */
GT_HIDDEN gt_ref gt_kk_region(enum gt_kk_kind kind, const char *name);

/* A name as the program gave it, for a string in the archive. */
GT_HIDDEN const char *gt_kk_text(const char *name);

/* The set of parameters (GT_T_PARAMS) that says which execution space it is. */
GT_HIDDEN gt_ref gt_kk_device_params(uint32_t device);

/* A memory space, by its name; NULL: there are too many. */
struct gt_kk_space;
GT_HIDDEN struct gt_kk_space *gt_kk_space_of(const struct gt_kk_handle *handle);
GT_HIDDEN void gt_kk_allocated(struct gt_kk_space *space, const char *view, uint64_t bytes, bool freed);

/* Something happens to a view: a region of no length, with its name. */
GT_HIDDEN void gt_kk_view_event(gt_ref region, const char *view);

/* A copy that has begun. */
struct gt_kk_copy {
	gt_ref region;
	uint32_t tag;
	uint64_t bytes;
	struct gt_kk_space *to; /* NULL: not between two spaces */
};
GT_HIDDEN void gt_kk_copy_begin(struct gt_kk_copy *copy, const struct gt_kk_handle *to, const char *to_view,
				const struct gt_kk_handle *from, const char *from_view);
GT_HIDDEN void gt_kk_copy_end(const struct gt_kk_copy *copy);

/* 0: there is no room for another one. */
GT_HIDDEN uint32_t gt_kk_section_create(const char *name);
GT_HIDDEN void gt_kk_section_start(uint32_t section);
GT_HIDDEN void gt_kk_section_stop(uint32_t section);
GT_HIDDEN void gt_kk_section_destroy(uint32_t section);

/* The process ends, or may do so; a child was forked. */
GT_HIDDEN void gt_kk_sections_end(bool ends);
GT_HIDDEN void gt_kk_sections_forked(void);
GT_HIDDEN void gt_kk_spaces_forked(void);

#endif

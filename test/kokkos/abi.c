/* SPDX-License-Identifier: BSD-3-Clause */
/* Is kokkosp.h what Kokkos' own header says? Compiles, or does not. */
#include "kokkos/kokkosp.h"

#include <impl/Kokkos_Profiling_C_Interface.h>

#define PLACE_OF(member) (offsetof(struct Kokkos_Profiling_EventSet, member) / sizeof(void *))

/* Members of the table have other names than the functions. */
#define finalize_library finalize
#define push_profile_region push_region
#define pop_profile_region pop_region
#define dual_view_sync sync_dual_view
#define dual_view_modify modify_dual_view
#define PLACE(place, name, parameters) _Static_assert(PLACE_OF(name) == (place), #name);
GT_KK_CALLBACKS(PLACE)
#undef finalize_library
#undef push_profile_region
#undef pop_profile_region
#undef dual_view_sync
#undef dual_view_modify

#define DECLARE(place, name, parameters) void kokkosp_##name parameters;
GT_KK_CALLBACKS(DECLARE)

#define SAME(name, type) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&kokkosp_##name), type), #name)
SAME(begin_parallel_for, Kokkos_Profiling_beginFunction);
SAME(end_parallel_for, Kokkos_Profiling_endFunction);
SAME(push_profile_region, Kokkos_Profiling_pushFunction);
SAME(create_profile_section, Kokkos_Profiling_createProfileSectionFunction);
SAME(start_profile_section, Kokkos_Profiling_startProfileSectionFunction);
SAME(profile_event, Kokkos_Profiling_profileEventFunction);
SAME(begin_fence, Kokkos_Profiling_beginFenceFunction);
SAME(dual_view_sync, Kokkos_Profiling_dualViewSyncFunction);
SAME(declare_metadata, Kokkos_Profiling_declareMetadataFunction);

_Static_assert(sizeof(struct gt_kk_handle) == sizeof(struct Kokkos_Profiling_SpaceHandle), "space");
_Static_assert(sizeof(struct gt_kk_settings) == sizeof(struct Kokkos_Tools_ToolSettings), "settings");
_Static_assert(sizeof(struct gt_kk_events) == sizeof(struct Kokkos_Profiling_EventSet), "events");

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of places.
 *
 * Limits: see openmp.h.
 */
#include "openmp/openmp.h"

#include "gputrace/hash.h"

enum { PLACES = 4096, PROBES = 32 };

/* Entries are made, and never changed: `key` is written last. Two threads may make the same one twice. */
static struct place {
	uint64_t key; /* 0: free, BUSY: somebody is filling it in */
	gt_ref region;
} places[PLACES];

#define BUSY UINT64_MAX

static const struct {
	const char *name;
	uint8_t role;
} constructs[GT_OMP_COUNT] = {
#define CONSTRUCT(NAME, text, role) { text, role },
	GT_OMP_CONSTRUCTS(CONSTRUCT)
#undef CONSTRUCT
};

static gt_ref define(enum gt_omp_construct construct, const void *variable, const void *code)
{
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = constructs[construct].name,
		.group = "OpenMP",
		.role = constructs[construct].role,
		.paradigm = GT_PARADIGM_OPENMP,
		.address = code ? (const char *)code - 1 : NULL,
		.variable = code ? variable : NULL,
	};

	return gt_def_region(&info);
}

gt_ref gt_omp_region(enum gt_omp_construct construct, const void *variable, const void *code)
{
	uint64_t key = (uint64_t)(uintptr_t)code << 8 | (construct + 1);
	uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52);

	for (unsigned i = 0; i < PROBES; i++) {
		struct place *place = &places[(at + i) % PLACES];
		uint64_t known = __atomic_load_n(&place->key, __ATOMIC_ACQUIRE);

		if (known == key)
			return place->region;
		if (known || !__atomic_compare_exchange_n(&place->key, &known, BUSY, false, __ATOMIC_ACQUIRE,
							  __ATOMIC_RELAXED))
			continue;
		place->region = define(construct, variable, code);
		/* Pairs with the acquire in this function. */
		__atomic_store_n(&place->key, key, __ATOMIC_RELEASE);
		return place->region;
	}
	return code ? gt_omp_region(construct, NULL, NULL) : define(construct, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of the device: kernels by their names, copies by direction and kind of memory.
 *
 * Limits: only the reading thread comes here. A name is looked up by its address first and then by
 * its text, because CUPTI may use an address again for another name after a module was unloaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

#define BY_ADDRESS 1024u

static struct entry {
	struct gt_cu_kernel_name kernel;
	char *mangled;
	uint32_t hash;
	struct entry *next;
} *buckets[1024];

static struct {
	const char *address;
	struct entry *entry;
} by_address[BY_ADDRESS];

static struct entry *make(const char *mangled, uint32_t hash)
{
	struct entry *e = calloc(1, sizeof(*e));
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.canonical = mangled,
		.group = "CUDA_KERNEL",
		.role = GT_CU_ROLE_FUNCTION,
		.paradigm = GT_CU_PARADIGM,
	};

	if (!e)
		return NULL;
	e->mangled = strdup(mangled);
	if (!e->mangled) {
		free(e);
		return NULL;
	}
	e->kernel.region = gt_def_region(&info);
	e->hash = hash;
	e->next = buckets[hash % 1024];
	buckets[hash % 1024] = e;
	return e;
}

struct gt_cu_kernel_name *gt_cu_kernel(const char *mangled)
{
	uint32_t slot = (uint32_t)((uintptr_t)mangled >> 3 ^ (uintptr_t)mangled >> 13) % BY_ADDRESS;
	struct entry *e = by_address[slot].entry;
	uint32_t hash;

	if (!mangled || !*mangled)
		mangled = "kernel without a name";
	if (e && by_address[slot].address == mangled && !strcmp(e->mangled, mangled))
		return &e->kernel;
	hash = (uint32_t)gt_hash_text(GT_HASH_START, mangled);
	for (e = buckets[hash % 1024]; e; e = e->next)
		if (e->hash == hash && !strcmp(e->mangled, mangled))
			break;
	if (!e)
		e = make(mangled, hash);
	if (!e)
		return NULL;
	by_address[slot].address = mangled;
	by_address[slot].entry = e;
	return &e->kernel;
}

/* ---- parameters of launches -------------------------------------------------------------------------- */

static gt_ref param_grid, param_block, param_static, param_dynamic, param_local, param_registers;

/* Open addressing, doubled when half full. */
static struct set {
	struct gt_cu_launch launch;
	gt_ref id;
} *sets;
static uint32_t set_room, set_count;

void gt_cu_params_setup(void)
{
	if (gt_cu_options.kernel_detail >= 1) {
		param_grid = gt_def_parameter("grid", GT_VALUE_UINT);
		param_block = gt_def_parameter("block", GT_VALUE_UINT);
	}
	if (gt_cu_options.kernel_detail >= 2) {
		param_static = gt_def_parameter("static shared memory", GT_VALUE_UINT);
		param_dynamic = gt_def_parameter("dynamic shared memory", GT_VALUE_UINT);
		param_local = gt_def_parameter("local memory per thread", GT_VALUE_UINT);
		param_registers = gt_def_parameter("registers per thread", GT_VALUE_UINT);
	}
}

static gt_ref dimensions(const int32_t *of)
{
	char text[64];

	snprintf(text, sizeof(text), "(%d,%d,%d)", (int)of[0], (int)of[1], (int)of[2]);
	return gt_def_string(text);
}

static gt_ref define(const struct gt_cu_launch *l)
{
	struct gt_def_param params[6];
	unsigned n = 0;

	if (param_grid) {
		params[n++] = (struct gt_def_param){ GT_T_PARAM_STR, param_grid, dimensions(l->grid) };
		params[n++] = (struct gt_def_param){ GT_T_PARAM_STR, param_block, dimensions(l->block) };
	}
	if (param_static) {
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, param_static, l->static_shared };
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, param_dynamic,
						     l->dynamic_shared };
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, param_local, l->local };
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, param_registers, l->registers };
	}
	return gt_def_params(params, n);
}

static struct set *find_set(const struct gt_cu_launch *l)
{
	uint32_t at = (uint32_t)gt_hash_bytes(GT_HASH_START, l, sizeof(*l)) & (set_room - 1);

	while (sets[at].id && memcmp(&sets[at].launch, l, sizeof(*l)))
		at = (at + 1) & (set_room - 1);
	return &sets[at];
}

static bool grow_sets(void)
{
	uint32_t old_room = set_room;
	struct set *old = sets, *bigger = calloc(old_room ? 2 * old_room : 256, sizeof(*bigger));

	if (!bigger)
		return false;
	sets = bigger;
	set_room = old_room ? 2 * old_room : 256;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i].id)
			*find_set(&old[i].launch) = old[i];
	free(old);
	return true;
}

gt_ref gt_cu_params(const struct gt_cu_launch *launch)
{
	struct set *set;

	if (!param_grid || (2 * set_count >= set_room && !grow_sets()))
		return GT_NONE;
	set = find_set(launch);
	if (!set->id) {
		set->launch = *launch;
		set->id = define(launch);
		set_count += set->id != GT_NONE;
	}
	return set->id;
}

gt_ref gt_cu_region(const char *name, const char *group, unsigned role)
{
	const struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = name,
		.group = group,
		.role = (uint8_t)role,
		.paradigm = GT_CU_PARADIGM,
	};

	return gt_def_region(&info);
}

gt_ref gt_cu_set_region(void)
{
	static gt_ref region;
	static bool made;

	if (!made)
		region = gt_cu_region("cudaMemset", "CUDA_MEMSET", GT_CU_ROLE_TRANSFER);
	made = true;
	return region;
}

/* The host's memory decides how a copy is done: one of host_memories. */
enum { MIXED = CU_MEMORY_MANAGED + 1, HOST_MEMORIES };
static const char *const host_memories[HOST_MEMORIES] = {
	[CU_MEMORY_PAGEABLE] = " pageable",
	[CU_MEMORY_PINNED] = " pinned",
	[CU_MEMORY_MANAGED] = " managed",
	[MIXED] = " mixed",
};

static unsigned host_memory(unsigned copy, unsigned source, unsigned destination)
{
	unsigned memory = copy == CU_COPY_DTOH || copy == CU_COPY_ATOH ? destination : source;

	if (copy > CU_COPY_ATOH && copy != CU_COPY_HTOH)
		return 0;
	if (copy == CU_COPY_HTOH && source != destination)
		return MIXED;
	return memory < MIXED && host_memories[memory] ? memory : 0;
}

gt_ref gt_cu_copy_region(unsigned copy, unsigned source, unsigned destination)
{
	static const char *const directions[CU_COPY_PTOP + 1] = { "", " H2D", " D2H", " H2A", " A2H", " A2A",
								  " A2D", " D2A", " D2D", " H2H", " P2P" };
	static struct {
		gt_ref region;
		bool made;
	} regions[CU_COPY_PTOP + 1][HOST_MEMORIES], *r;
	unsigned memory = host_memory(copy, source, destination);
	char name[64];

	copy = copy <= CU_COPY_PTOP ? copy : 0;
	r = &regions[copy][memory];
	if (!r->made) {
		snprintf(name, sizeof(name), "cudaMemcpy%s%s", directions[copy],
			 memory ? host_memories[memory] : "");
		r->region = gt_cu_region(name, "CUDA_MEMCPY", GT_CU_ROLE_TRANSFER);
		r->made = true;
	}
	return r->region;
}

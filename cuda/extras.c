/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that VT_GPUTRACE asks for by name: waits (sync), memory in use (memusage), CUPTI's own
 * time and compilation (overhead), unified memory (unified).
 *
 * What belongs to no stream gets a location of its own in a group "CUDA (other)", where overlapping
 * things are parted when assembling, as on streams.
 *
 * Limits: only the reading thread comes here, but for gt_cu_extras_late(). Bytes held are summed up in
 * the order in which CUPTI delivers the records. Unified memory has only been tried with a fake CUPTI.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

#define OVERHEAD_HAS_DATA 20u /* cuptiGetVersion() of CUDA 12.2 */
#define BLOCKS            4096u
#define MOST_TOLD         10u /* blocks that were never freed */

/* ---- regions on a location of their own ---------------------------------------------------------- */

struct extra_location {
	const char *name;
	struct gt_location *location;
	bool tried;
};

static struct gt_location *place(struct extra_location *p)
{
	static gt_ref group;
	struct gt_location_info info = {
		.bytes = sizeof(info),
		.name = p->name,
		.kind = GT_LOC_GPU_STREAM,
		.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS,
		.key = GT_KEY_NO_DEVICE,
	};

	if (p->tried)
		return p->location;
	p->tried = true;
	if (!group)
		group = gt_def_locgroup("CUDA (other)", 1, GT_KEY_NO_DEVICE);
	info.group = group;
	p->location = gt_location_create(&info);
	return p->location;
}

/* Regions by name; there are few. */
static gt_ref region(const char *name, const char *group)
{
	static struct {
		const char *name;
		gt_ref region;
	} known[64];
	unsigned i = 0;

	while (i < 64 && known[i].name && known[i].name != name)
		i++;
	if (i == 64)
		return GT_NONE;
	if (!known[i].name) {
		known[i].name = name;
		known[i].region = gt_accel_region(name, group, GT_REGION_ROLE_ARTIFICIAL);
	}
	return known[i].region;
}

static void put_region(struct extra_location *where, gt_ref what, uint64_t start, uint64_t end,
		       uint64_t bytes)
{
	struct gt_accel_block block = { .count = 0 };
	struct gt_location *l = place(where);

	gt_cu_count(&gt_cu_counts.others, 1);
	if (!l) {
		gt_lost(GT_LOSS_NO_LOCATION, 1);
		return;
	}
	if (!what || !start)
		return;
	if (end < start)
		end = start;
	if (bytes)
		gt_accel_put_attribute(&block, gt_accel_refs.bytes, bytes, start);
	gt_accel_put(&block, GT_T_ENTER, what, start);
	gt_accel_put(&block, GT_T_LEAVE, what, end);
	gt_location_block(l, block.slots, block.count);
}

/* ---- overhead and compilation ----------------------------------------------------------------------- */

static struct extra_location tools = { .name = "CUPTI and compiler" };

static void read_overhead(const struct cu_record *record)
{
	const struct cu_overhead *o = (const struct cu_overhead *)record;
	static const char *const names[] = {
		"CUPTI buffer flush", "CUPTI instrumentation", "CUPTI resource",
		"module loading by the runtime", "lazy function loading", "command buffer full",
		"CUPTI buffer request", "unified memory set-up",
	};
	unsigned kind = o->overhead >> 16;
	const char *name = o->overhead == 1 ? "driver compiler"
			   : kind >= 1 && kind <= 8 ? names[kind - 1]
						    : "other overhead";

	put_region(&tools, region(name, "CUDA_OVERHEAD"), gt_cu_ticks(o->start), gt_cu_ticks(o->end), 0);
	/* CUPTI gives this memory away. */
	if (gt_cu_version >= OVERHEAD_HAS_DATA && !gt_cu_options.replay)
		free(o->data);
}

static void read_jit(const struct cu_record *record)
{
	const struct cu_jit *j = (const struct cu_jit *)record;
	static const char *const entries[] = { "JIT", "JIT: PTX to binary", "JIT: NVVM IR to PTX" };

	put_region(&tools, region(entries[j->entry < 3 ? j->entry : 0], "CUDA_OVERHEAD"),
		   gt_cu_ticks(j->start), gt_cu_ticks(j->end), 0);
}

/* ---- unified memory ---------------------------------------------------------------------------------- */

static void read_unified(const struct cu_record *record)
{
	const struct cu_unified *u = (const struct cu_unified *)record;
	static struct extra_location where = { .name = "CUDA unified memory" };
	static const char *const names[] = {
		"unified memory", "unified memory H2D", "unified memory D2H", "CPU page fault",
		"GPU page fault", "unified memory thrashing", "unified memory throttling",
		"unified memory remote map", "unified memory D2D",
	};
	uint64_t start = gt_cu_ticks(u->start);

	put_region(&where,
		   region(names[u->counter < sizeof(names) / sizeof(names[0]) ? u->counter : 0],
			  "CUDA_UNIFIED_MEMORY"),
		   start, u->end ? gt_cu_ticks(u->end) : start, u->value);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static void read_sync(const struct cu_record *record)
{
	const struct cu_sync *s = (const struct cu_sync *)record;
	static const char *const names[] = { "SYNCHRONIZE", "EVENT SYNCHRONIZE", "STREAM WAIT EVENT",
					     "STREAM SYNCHRONIZE", "DEVICE SYNCHRONIZE" };
	uint64_t from = gt_cu_ticks(s->start), to = gt_cu_ticks(s->end), exit;
	gt_ref what = region(names[s->type < 5 ? s->type : 0], "CUDA_SYNC");
	struct gt_accel_call call;

	gt_cu_count(&gt_cu_counts.others, 1);
	if (!gt_accel_call_find(gt_cu_hot.calls, s->correlation, &call) ||
	    !(call.flags & GT_CU_CALL_REGION) || !what ||
	    !call.span)
		return;
	exit = call.enter + call.span;
	if (from <= call.enter)
		from = call.enter + 1;
	if (to >= exit)
		to = exit - 1;
	if (to <= from)
		return;
	gt_accel_defer(call.location, GT_T_TAG, (uint64_t)gt_cu_refs.stream << 32 | s->stream, NULL, 0, from);
	gt_accel_defer(call.location, GT_T_ENTER, what, NULL, 0, from);
	gt_accel_defer(call.location, GT_T_LEAVE, what, NULL, 0, to);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The memory allocated in a context. */
static struct held {
	uint32_t context;
	gt_ref metric;
	uint64_t bytes;
	struct held *next;
} *contexts;

/* Bytes of each allocation, because not every release tells them. */
static struct block {
	uint64_t address, bytes;
	uint32_t context;
	struct block *next;
} *blocks[BLOCKS];

static struct held *find_held(const struct gt_cu_stream *p)
{
	struct gt_metric_info info = {
		.bytes = sizeof(info),
		.name = "gpu_mem_usage",
		.unit = "B",
		.description = "Device memory that the program holds in this context",
		.value = GT_VALUE_UINT,
		.mode = GT_METRIC_ABSOLUTE_NEXT,
		.scope = 2,
	};
	struct held *h;

	for (h = contexts; h; h = h->next)
		if (h->context == p->context)
			return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	info.scope_id = p->owner->group;
	h->context = p->context;
	h->metric = gt_def_metric(&info);
	h->next = contexts;
	contexts = h;
	return h;
}

static uint64_t note_block(const struct cu_memory *m)
{
	struct block **at = &blocks[(m->address >> 8) % BLOCKS], *b;
	uint64_t bytes;

	if (m->operation == 1) {
		b = calloc(1, sizeof(*b));
		if (b) {
			*b = (struct block){ m->address, m->bytes, m->context, *at };
			*at = b;
		}
		return m->bytes;
	}
	for (; *at; at = &(*at)->next) {
		if ((*at)->address != m->address)
			continue;
		b = *at;
		bytes = b->bytes;
		*at = b->next;
		free(b);
		return bytes;
	}
	return m->bytes;
}

static void read_memory(const struct cu_record *record)
{
	const struct cu_memory *m = (const struct cu_memory *)record;
	struct gt_cu_stream *p;
	struct held *held;
	uint64_t bytes;

	gt_cu_count(&gt_cu_counts.others, 1);
	if (m->memory != CU_MEMORY_DEVICE && m->memory != CU_MEMORY_MANAGED &&
	    m->memory != CU_MEMORY_ARRAY)
		return;
	bytes = note_block(m);
	p = gt_cu_stream_of_context(m->context);
	if (!p)
		p = gt_cu_stream_of(m->device, m->context, GT_CU_DEFAULT_STREAM);
	held = p ? find_held(p) : NULL;
	if (!held || !held->metric)
		return;
	if (m->operation == 1)
		held->bytes += bytes;
	else
		held->bytes -= bytes < held->bytes ? bytes : held->bytes;
	gt_location_record(p->location, GT_T_METRIC, held->metric, (uint64_t[2]){ held->bytes, 0 }, 1,
			   gt_cu_ticks(m->timestamp));
}

void gt_cu_extras_end(void)
{
	uint64_t bytes = 0;
	unsigned n = 0;

	if (!gt_cu_options.missing_free)
		return;
	for (unsigned i = 0; i < BLOCKS; i++)
		for (const struct block *b = blocks[i]; b; b = b->next) {
			if (n++ < MOST_TOLD)
				gt_message(1, "CUDA: %llu bytes at 0x%llx in context %u were never freed",
					   (unsigned long long)b->bytes, (unsigned long long)b->address,
					   b->context);
			bytes += b->bytes;
		}
	if (n > MOST_TOLD)
		gt_message(1, "CUDA: %llu bytes in %u blocks were never freed",
			   (unsigned long long)bytes, n);
}

/* ---- all ------------------------------------------------------------------------------------- */

bool gt_cu_extra(const struct cu_record *record)
{
	switch (record->kind) {
	case CU_KIND_OVERHEAD:
		read_overhead(record);
		return true;
	case CU_KIND_JIT:
		read_jit(record);
		return true;
	case CU_KIND_UNIFIED_MEMORY:
		read_unified(record);
		return true;
	case CU_KIND_SYNCHRONIZATION:
		read_sync(record);
		return true;
	case CU_KIND_MEMORY2:
		read_memory(record);
		return true;
	default:
		return false;
	}
}

void gt_cu_extras_enable(bool (*enable)(uint32_t kind, const char *name))
{
	if (gt_cu_options.sync)
		enable(CU_KIND_SYNCHRONIZATION, "waits");
	if (gt_cu_options.memusage)
		enable(CU_KIND_MEMORY2, "memory in use");
	if (gt_cu_options.overhead) {
		enable(CU_KIND_OVERHEAD, "its own overhead");
		enable(CU_KIND_JIT, "compilation");
	}
}

/* CUpti_ActivityUnifiedMemoryCounterConfig */
struct unified_config {
	uint32_t scope, kind, device, enable;
};

void gt_cu_extras_late(void)
{
	struct unified_config configs[4];
	int rc;

	if (!gt_cu_options.unified || !gt_cu_api.unified_configure)
		return;
	for (uint32_t i = 0; i < 4; i++) /* bytes to the device, to the host, faults of both */
		configs[i] = (struct unified_config){ 1, i + 1, 0, 1 };
	rc = gt_cu_api.unified_configure(configs, 4);
	if (!rc)
		rc = gt_cu_api.enable(CU_KIND_UNIFIED_MEMORY);
	if (rc)
		gt_message(1, "CUPTI does not record unified memory (%s)", gt_cu_result(rc));
}

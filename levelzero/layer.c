/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level Zero's tracing layer calls what it is given before and after each call of the program's. This library
 * is loaded when the loader is about to load that layer (instrument/wrap_dl.c), which it does if the program
 * was started with ZE_ENABLE_TRACING_LAYER=1; callbacks are registered at the layer itself, because the
 * loader hands that through only once the program has called zeInit(). Calls of ours go by the loader's
 * functions: from a callback the layer passes them on.
 *
 * Limits: calls that are younger than version 1.4 are not seen. Programs that are linked with a loader of
 * their own (static) are not recorded.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "levelzero/levelzero.h"

static uint64_t last_correlation;
static bool ended;

/* The call that this thread is in: the layer lets through what is called within it. */
struct call {
	bool begun;
	gt_ref region;
	uint64_t correlation;
	struct gt_ze_append append;
	void **given, **lists; /* arguments that were changed */
	uint32_t count;
};
static GT_TLS struct call current;
static GT_TLS unsigned ours; /* calls of ours outside of callbacks */

/* ---- commands ----------------------------------------------------------------------------------- */

#define ARG(n, type) (*(type *)params[n])

static void barrier(struct gt_ze_work *work, void **params)
{
	(void)params;
	*work = (struct gt_ze_work){ .name = "Level Zero barrier", .group = "ZE_BARRIER",
				     .role = GT_REGION_ROLE_IMPLICIT_BARRIER };
}

static void copied(struct gt_ze_work *work, const void *to, const void *from, uint64_t bytes)
{
	*work = (struct gt_ze_work){ .copies = true, .group = "ZE_MEMCPY",
				     .role = GT_REGION_ROLE_DATA_TRANSFER, .to = to, .from = from,
				     .bytes = bytes };
}

static void copy(struct gt_ze_work *work, void **params)
{
	copied(work, ARG(1, void *), ARG(2, void *), ARG(3, size_t));
}

static void copy_from_context(struct gt_ze_work *work, void **params)
{
	copied(work, ARG(1, void *), ARG(3, void *), ARG(4, size_t));
}

static void copy_region(struct gt_ze_work *work, void **params)
{
	const struct gt_ze_abi_region *region = ARG(6, const struct gt_ze_abi_region *);
	uint64_t bytes = 0;

	if (region)
		bytes = (uint64_t)region->size[0] * region->size[1] * (region->size[2] ? region->size[2] : 1);
	copied(work, ARG(1, void *), ARG(5, void *), bytes);
}

static void fill(struct gt_ze_work *work, void **params)
{
	*work = (struct gt_ze_work){ .name = "Level Zero fill", .group = "ZE_MEMSET",
				     .role = GT_REGION_ROLE_DATA_TRANSFER, .bytes = ARG(4, size_t) };
}

static void image(struct gt_ze_work *work, const char *name)
{
	*work = (struct gt_ze_work){ .name = name, .group = "ZE_MEMCPY",
				     .role = GT_REGION_ROLE_DATA_TRANSFER };
}

static void copy_image(struct gt_ze_work *work, void **params)
{
	(void)params;
	image(work, "Level Zero copy image");
}

static void copy_image_to_memory(struct gt_ze_work *work, void **params)
{
	(void)params;
	image(work, "Level Zero copy image to memory");
}

static void copy_memory_to_image(struct gt_ze_work *work, void **params)
{
	(void)params;
	image(work, "Level Zero copy memory to image");
}

static void kernel(struct gt_ze_work *work, void **params)
{
	*work = (struct gt_ze_work){ .kernel = ARG(1, void *), .count = ARG(2, const uint32_t *) };
}

static void kernel_indirect(struct gt_ze_work *work, void **params)
{
	*work = (struct gt_ze_work){ .kernel = ARG(1, void *) };
}

static void kernels(struct gt_ze_work *work, void **params)
{
	(void)params;
	*work = (struct gt_ze_work){ .name = "Level Zero kernels", .group = "ZE_KERNEL",
				     .role = GT_REGION_ROLE_FUNCTION };
}

/* ---- objects ------------------------------------------------------------------------------------ */

static void context_destroy(struct call *call, void **params)
{
	(void)call;
	gt_ze_lists_end(ARG(0, void *));
	gt_ze_context_end(ARG(0, void *));
}

/* The context is known then to holds(). */
static void allocated(struct call *call, void **params)
{
	(void)call;
	gt_ze_context_of(ARG(0, void *));
}

static void queue_create(struct call *call, void **params)
{
	(void)call;
	gt_ze_queue_make(GT_ZE_QUEUE, *ARG(3, void **), ARG(1, void *));
}

static void queue_destroy(struct call *call, void **params)
{
	(void)call;
	gt_ze_collect();
	gt_ze_take(GT_ZE_QUEUE, ARG(0, void *)); /* commands may name it still */
}

static void list_create(struct call *call, void **params)
{
	const struct gt_ze_abi_list *desc = ARG(2, const struct gt_ze_abi_list *);

	(void)call;
	gt_ze_list_make(*ARG(3, void **), ARG(0, void *), ARG(1, void *), desc ? desc->ordinal : 0, false);
}

static void list_create_immediate(struct call *call, void **params)
{
	const struct gt_ze_abi_queue *desc = ARG(2, const struct gt_ze_abi_queue *);

	(void)call;
	gt_ze_list_make(*ARG(3, void **), ARG(0, void *), ARG(1, void *), desc ? desc->ordinal : 0, true);
}

static void empty(void **params, bool destroy)
{
	struct gt_ze_list *list = gt_ze_find(GT_ZE_LIST, ARG(0, void *));

	if (list)
		gt_ze_list_empty(list, destroy);
}

static void list_destroy(struct call *call, void **params)
{
	(void)call;
	empty(params, true);
}

static void list_reset(struct call *call, void **params)
{
	(void)call;
	empty(params, false);
}

static void append_reset(struct call *call, void **params)
{
	(void)call;
	gt_ze_event_ends(ARG(1, void *), ARG(0, void *));
}

static void pool_create(struct call *call, void **params)
{
	const struct gt_ze_abi_pool *desc = ARG(1, const struct gt_ze_abi_pool *);
	struct gt_ze_pool *pool = gt_ze_put(GT_ZE_POOL, *ARG(4, void **), sizeof(*pool));

	(void)call;
	if (pool)
		pool->timestamps = desc && desc->flags & GT_ZE_POOL_TIMESTAMPS;
}

static void pool_destroy(struct call *call, void **params)
{
	(void)call;
	free(gt_ze_take(GT_ZE_POOL, ARG(0, void *)));
}

static void event_create(struct call *call, void **params)
{
	const struct gt_ze_pool *pool = gt_ze_find(GT_ZE_POOL, ARG(0, void *));
	struct gt_ze_event *event = pool ? gt_ze_put(GT_ZE_EVENT, *ARG(2, void **), sizeof(*event)) : NULL;

	(void)call;
	if (event)
		event->timestamps = pool->timestamps;
}

static void event_reset(struct call *call, void **params)
{
	(void)call;
	gt_ze_event_ends(ARG(0, void *), NULL);
}

static void event_destroy(struct call *call, void **params)
{
	(void)call;
	gt_ze_event_destroyed(ARG(0, void *));
}

static void kernel_create(struct call *call, void **params)
{
	const struct gt_ze_abi_kernel *desc = ARG(1, const struct gt_ze_abi_kernel *);
	struct gt_ze_kernel *made = gt_ze_put(GT_ZE_KERNEL, *ARG(2, void **), sizeof(*made));

	(void)call;
	if (made && desc && desc->name)
		made->name = strdup(desc->name);
}

static void kernel_destroy(struct call *call, void **params)
{
	struct gt_ze_kernel *gone = gt_ze_take(GT_ZE_KERNEL, ARG(0, void *));

	(void)call;
	if (gone)
		free(gone->name);
	free(gone);
}

static void kernel_size(struct call *call, void **params)
{
	struct gt_ze_kernel *of = gt_ze_find(GT_ZE_KERNEL, ARG(0, void *));

	(void)call;
	for (int i = 0; of && i < 3; i++)
		of->size[i] = ARG(1 + i, uint32_t);
}

/* ---- execution ---------------------------------------------------------------------------------- */

static void execute(struct call *call, void **params)
{
	call->count = ARG(1, uint32_t);
	call->given = ARG(2, void **);
	call->lists = gt_ze_execute(ARG(0, void *), &ARG(1, uint32_t), call->given, call->correlation);
	if (call->lists)
		ARG(2, void **) = call->lists;
}

static void executed(struct call *call, void **params)
{
	ARG(1, uint32_t) = call->count;
	ARG(2, void **) = call->given;
	free(call->lists);
	call->lists = NULL;
}

static void waited(struct call *call, void **params)
{
	(void)call;
	(void)params;
	gt_ze_collect();
}

/* Before handlers that the driver may have registered by now run, where the process ends by exit(). */
static void at_exit(void)
{
	ours++;
	if (!ended)
		gt_ze_collect_last();
	ended = true;
	ours--;
}

static void init(struct call *call, void **params)
{
	static bool registered;

	(void)call;
	(void)params;
	if (!registered)
		atexit(at_exit);
	registered = true;
}

/* ---- callbacks ---------------------------------------------------------------------------------- */

typedef void hook(struct call *call, void **params);

enum {
#define GT_ZE_CALL(place, ...)	  CALL_##place,
#define GT_ZE_COMMAND(place, ...) CALL_##place,
#include "levelzero/calls.def"
	CALLS,
};

/* after: where the call succeeded. */
static const struct kind {
	const char *name;
	uint8_t place, role, signal;
	hook *before, *after;
	void (*what)(struct gt_ze_work *work, void **params); /* of a command */
} kinds[CALLS] = {
#define GT_ZE_CALL(place, part, name, function, role, before, after) \
	{ #function, place, GT_REGION_ROLE_##role, 0, before, after, NULL },
#define GT_ZE_COMMAND(place, name, params, signal, what) \
	{ "zeCommandList" #name, place, GT_REGION_ROLE_FUNCTION, signal, NULL, NULL, what },
#include "levelzero/calls.def"
};
static gt_ref regions[CALLS];

static void enter(unsigned n)
{
	struct call *call = &current;
	bool caused = kinds[n].what || kinds[n].before == execute;

	call->region = GT_NONE;
	call->correlation = 0;
	if (!kinds[n].role || !gt_active())
		return;
	if (caused)
		call->correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
	if (!caused)
		gt_enter(regions[n]);
	else if (!gt_enter_attribute(regions[n], gt_accel_refs.correlation, call->correlation, 0))
		return;
	call->region = regions[n];
}

static void before(unsigned n, void **params)
{
	struct call *call = &current;

	if (!gt_accel_alive() || ours)
		return;
	call->begun = true;
	call->append.list = NULL;
	call->append.own = call->append.bridge = NULL;
	call->append.theirs = NULL;
	enter(n);
	if ((!kinds[n].before && !(kinds[n].what && call->correlation)) || !gt_accel_lock(false))
		return;
	if (kinds[n].before)
		kinds[n].before(call, params);
	else
		ARG(kinds[n].signal, void *) = gt_ze_append_begin(&call->append, ARG(0, void *),
								   ARG(kinds[n].signal, void *));
	gt_accel_unlock();
}

static void appended(unsigned n, void **params, bool ok)
{
	struct call *call = &current;
	struct gt_ze_work work;

	if (!call->correlation)
		return;
	ARG(kinds[n].signal, void *) = call->append.signal;
	kinds[n].what(&work, params);
	if (!gt_accel_lock(false))
		return;
	gt_ze_append_end(&call->append, ok, &work, call->correlation);
	gt_accel_unlock();
}

static void after(unsigned n, void **params, int result)
{
	struct call *call = &current;

	if (!call->begun)
		return;
	gt_leave(call->region);
	if (kinds[n].what)
		appended(n, params, result == GT_ZE_SUCCESS);
	if (kinds[n].before == execute && result != GT_ZE_SUCCESS && gt_accel_lock(false)) {
		gt_ze_not_executed(call->count, call->given);
		gt_accel_unlock();
	}
	if (kinds[n].after && (result == GT_ZE_SUCCESS || kinds[n].before == execute) &&
	    gt_accel_lock(false)) {
		kinds[n].after(call, params);
		gt_accel_unlock();
	}
	call->begun = false;
}

#define THUNKS(place)                                                                         \
	static void before_##place(void **params, int result, void *user, void **instance)   \
	{                                                                                    \
		(void)result, (void)user, (void)instance;                                    \
		before(CALL_##place, params);                                                \
	}                                                                                    \
	static void after_##place(void **params, int result, void *user, void **instance)    \
	{                                                                                    \
		(void)user, (void)instance;                                                  \
		after(CALL_##place, params, result);                                         \
	}
#define GT_ZE_CALL(place, ...)	  THUNKS(place)
#define GT_ZE_COMMAND(place, ...) THUNKS(place)
#include "levelzero/calls.def"

/* ---- the process -------------------------------------------------------------------------------- */

static void fork_child(void)
{
	gt_accel_set_alive(false);
	current.begun = false;
}

static void end(int how)
{
	(void)how;
	ours++;
	if (!ended && !gt_is_confined())
		gt_ze_collect_last();
	ours--;
}

static bool inside(void)
{
	return current.begun || ours;
}

struct question {
	const void *address;
	bool is;
};

static void ask(struct gt_ze_object *context, void *data)
{
	struct question *question = data;

	question->is = question->is || gt_ze_is_on_device(context->handle, question->address);
}

/* A context that is about to be destroyed is gone from here before, which takes the lock. */
static bool holds(const void *address)
{
	struct question question = { address, false };

	if (!gt_accel_lock(false))
		return false;
	gt_ze_each(GT_ZE_CONTEXT, ask, &question);
	gt_accel_unlock();
	return question.is;
}

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "levelzero",
	.fork_child = fork_child,
	.end = end,
	.inside = inside,
	.holds = holds,
};

/* Where the loader is: the layer beside it is the one that it takes. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	if (name && !strncmp(name, "/libze_loader.so", 16))
		snprintf(data, 4096, "%.*s", (int)(name - info->dlpi_name), info->dlpi_name);
	return *(char *)data != 0;
}

static void *open_layer(void)
{
	char folder[4096] = "", path[4200];
	void *layer = NULL;

	dl_iterate_phdr(find_loader, folder);
	snprintf(path, sizeof(path), "%s/libze_tracing_layer.so.1", folder);
	if (*folder)
		layer = dlopen(path, RTLD_LAZY);
	return layer ? layer : dlopen("libze_tracing_layer.so.1", RTLD_LAZY);
}

static int trace(void *layer)
{
	static gt_ze_callback prologues[GT_ZE_MORE], epilogues[GT_ZE_MORE];
	static struct gt_ze_abi_tracing tracing;
	const struct gt_ze_abi_tracer desc = { .stype = GT_ZE_ABI_TRACER, .user = &current };
	int (*get)(uint32_t, struct gt_ze_abi_tracing *) =
		(int (*)(uint32_t, struct gt_ze_abi_tracing *))dlsym(layer, "zelGetTracerApiProcAddrTable");
	void *tracer = NULL;
	int rc = get ? get(GT_ZE_VERSION_1_0, &tracing) : -1;

#define SET(place)                         \
	prologues[place] = before_##place;   \
	epilogues[place] = after_##place;
#define GT_ZE_CALL(place, ...)	  SET(place)
#define GT_ZE_COMMAND(place, ...) SET(place)
#include "levelzero/calls.def"
	if (rc || (rc = tracing.create(&desc, &tracer)) || (rc = tracing.set_prologues(tracer, prologues)) ||
	    (rc = tracing.set_epilogues(tracer, epilogues)))
		return rc;
	return tracing.set_enabled(tracer, 1);
}

static void define_regions(void)
{
	for (unsigned i = 0; i < CALLS; i++)
		if (kinds[i].role)
			regions[i] = gt_accel_region(kinds[i].name, "LEVEL_ZERO", kinds[i].role);
}

__attribute__((constructor)) static void begin(void)
{
	const char *wanted = gt_setting("VT_LEVEL_ZERO");
	void *layer;
	int rc;

	if (!wanted || strcmp(wanted, "yes") != 0 || gt_adapter_register(&adapter))
		return;
	gt_guard();
	layer = open_layer();
	rc = layer && gt_ze_functions_find() ? 0 : -1;
	if (!rc) {
		gt_ze_commands_setup();
		define_regions();
		gt_accel_clock_setup(gt_monotonic);
		gt_accel_set_alive(true);
		rc = trace(layer);
	}
	gt_unguard();
	gt_accel_set_alive(!rc);
	if (rc)
		gt_message(1, "Level Zero is not recorded: its tracing layer or its loader cannot be used");
}

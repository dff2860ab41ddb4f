/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX: ranges, marks and names that programs put in by NVIDIA's header. The header loads this library
 * (NVTX_INJECTION64_PATH) at a program's first NVTX call and lets it fill in its functions: no CUPTI, no
 * CUDA and no GPU is needed.
 *
 *   push, pop     a region of the thread, group "NVTX" or "NVTX Domain '<name>'"
 *   start, end    a region of the location "NVTX ranges" (accel/ranges.c): such ranges may overlap and may
 *                 end on another thread
 *   mark          a marker
 *   names         of threads and streams; of categories: parameter "category" of a region
 *   payload       attribute NVTX_PAYLOAD, NVTX_PAYLOAD_INT or NVTX_PAYLOAD_DOUBLE of the enter
 *
 * Budget: 40 ns for a push and a pop, twice as much for a start and an end. No lock of the core and no memory
 * once a name is known.
 * Limits: NAMES / 2 different messages, then ranges share one region, which is reported; a thread's stack
 * is DEPTH deep. In a process that has confined itself, ranges are counted as lost if there is no room for a
 * new message or a thread's stack, or if a signal handler finds the lock held.
 * Colours, and payloads of the extensions, are not recorded.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/hooks.h"
#include "accel/wait.h"
#include "cuda/nvtx_abi.h"

#define NAMES   65536u
#define DEPTH   1000u
#define TEXT    1024u
#define CHUNK   (1u << 16)
#define KEYS    32u /* thread keys for which the C library needs no memory */

struct domain {
	const char *name; /* "": the default domain */
	const char *group;
};

/* A message of a domain. */
struct name {
	uint32_t hash;
	gt_ref region;
	const char *text; /* NULL: free; set last */
	const struct domain *domain;
};

struct stack {
	uint32_t depth, lost;
	struct pushed {
		gt_ref region;
		const struct domain *domain;
	} pushed[DEPTH];
};

static struct domain everyone = { "", "NVTX" };
static struct name *names;
static uint32_t name_count;
static struct gt_lock names_lock;
static char *arena, *arena_end;
static struct name too_many;
static struct name unknown; /* of ranges that a confined process loses */
static bool full;         /* atomic: too_many has its region, and takes what is not known */
static uint64_t merged;   /* how often it was taken; atomic */
static GT_TLS struct stack *stack;
static pthread_key_t stack_key;
static bool have_key;
static gt_ref payload_uint, payload_int, payload_double, category_parameter, marker_mark;

/* Categories: few, searched in order. */
static struct category {
	uint32_t id;
	const struct domain *domain;
	gt_ref name;
	gt_ref set; /* of this one parameter: one slot instead of two */
} categories[1024];
static uint32_t category_count;

static uint64_t lock(void)
{
	return gt_lock(&names_lock);
}

static void unlock(uint64_t mask)
{
	gt_unlock(&names_lock, mask);
}

/* Under the lock. NULL: no memory. */
static void *take(size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if ((size_t)(arena_end - arena) < bytes) {
		char *more = bytes > CHUNK ? NULL : gt_memory(CHUNK);

		if (!more)
			return NULL;
		arena = more;
		arena_end = arena + CHUNK;
	}
	arena += bytes;
	return arena - bytes;
}

static char *keep(const char *text)
{
	size_t n = strnlen(text, TEXT);
	char *copy = take(n + 1);

	if (copy)
		memcpy(copy, text, n);
	return copy;
}

/* wchar_t as UTF-8. */
static const char *narrow(const void *wide, char *text)
{
	const uint32_t *w = wide;
	size_t n = 0;

	for (; w && *w && n + 5 < TEXT; w++) {
		if (*w < 0x80) {
			text[n++] = (char)*w;
		} else if (*w < 0x800) {
			text[n++] = (char)(0xc0 | *w >> 6);
			text[n++] = (char)(0x80 | (*w & 63));
		} else if (*w < 0x10000) {
			text[n++] = (char)(0xe0 | *w >> 12);
			text[n++] = (char)(0x80 | (*w >> 6 & 63));
			text[n++] = (char)(0x80 | (*w & 63));
		} else {
			text[n++] = (char)(0xf0 | (*w >> 18 & 7));
			text[n++] = (char)(0x80 | (*w >> 12 & 63));
			text[n++] = (char)(0x80 | (*w >> 6 & 63));
			text[n++] = (char)(0x80 | (*w & 63));
		}
	}
	text[n] = 0;
	return text;
}

/* ---- names ------------------------------------------------------------------------------------------ */

static uint32_t hash_of(const char *text, const struct domain *domain)
{
	uint64_t h = GT_HASH_START ^ (uintptr_t)domain, word;
	size_t n = strnlen(text, TEXT);
	uint32_t high;

	for (; n >= sizeof(word); text += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		h = gt_hash_mix(h, word);
	}
	high = (uint32_t)(gt_hash_mix(h, gt_hash_bytes(h, text, n)) >> 32);
	return high ? high : 1;
}

/* Under the lock. NULL: there is no room. */
static struct name *add(struct name *slot, const char *text, const struct domain *domain, uint32_t hash)
{
	char *copy = name_count < NAMES / 2 ? keep(text) : NULL;
	gt_ref region = copy ? gt_accel_region(copy, domain->group, GT_REGION_ROLE_CODE) : GT_NONE;

	if (copy && !region && gt_is_confined()) { /* there may be room for no more definitions */
		memset(copy, 0, strlen(copy));
		arena = copy;
		return NULL;
	}
	if (!copy)
		return NULL;
	name_count++;
	slot->hash = hash;
	slot->domain = domain;
	slot->region = region;
	__atomic_store_n(&slot->text, copy, __ATOMIC_RELEASE); /* pairs with find() */
	return slot;
}

/* Under the lock: there is room for no more. */
static void close_names(void)
{
	if (full)
		return;
	too_many.region =
		gt_accel_region("NVTX: too many different messages", everyone.group, GT_REGION_ROLE_CODE);
	__atomic_store_n(&full, true, __ATOMIC_RELEASE); /* pairs with find() */
	gt_message(1, "NVTX: there are more than %u different messages: ranges with others share one region",
		   name_count);
}

static struct name *one_of_many(void)
{
	__atomic_fetch_add(&merged, 1, __ATOMIC_RELAXED);
	return &too_many;
}

/* A name that is not known, at the place where it belongs. The place may have been filled meanwhile: then *n
 * has a name, and NULL is returned. */
static struct name *add_once(struct name *n, const char *text, const struct domain *domain, uint32_t hash)
{
	uint64_t mask = lock();
	struct name *found = NULL;

	if (mask == GT_LOCK_REFUSED)
		return &unknown;
	if (!n->text) {
		found = add(n, text, domain, hash);
		if (!found && gt_is_confined() && name_count < NAMES / 2)
			found = &unknown;
		if (!found) {
			close_names();
			found = one_of_many();
		}
	}
	unlock(mask);
	return found;
}

static struct name *find(const char *text, const struct domain *domain)
{
	struct name *n, *added;
	uint32_t hash, at;
	const char *known;

	text = text && *text ? text : "(no message)";
	hash = hash_of(text, domain);
	for (at = hash % NAMES;; at = (at + 1) % NAMES) {
		n = &names[at];
		known = __atomic_load_n(&n->text, __ATOMIC_ACQUIRE);
		if (!known) {
			if (__atomic_load_n(&full, __ATOMIC_ACQUIRE))
				return one_of_many();
			added = add_once(n, text, domain, hash);
			if (added)
				return added;
			known = n->text;
		}
		if (n->hash == hash && n->domain == domain && !strncmp(known, text, TEXT))
			return n;
	}
}

enum { NO_MESSAGE, ASCII, UNICODE, REGISTERED }; /* nvtxMessageType_t */

static int message_type(const struct nv_attributes *a)
{
	if (!a || a->size < offsetof(struct nv_attributes, message) + sizeof(void *))
		return NO_MESSAGE;
	return a->message_type == REGISTERED && !a->message.registered ? NO_MESSAGE : a->message_type;
}

/* The message; `text` is room for it. */
static const char *text_of(const struct nv_attributes *a, char *text)
{
	switch (message_type(a)) {
	case ASCII:
		return a->message.ascii ? a->message.ascii : "";
	case UNICODE:
		return narrow(a->message.wide, text);
	case REGISTERED:
		return ((const struct name *)a->message.registered)->text;
	default:
		return "";
	}
}

static struct name *message(const struct nv_attributes *a, const struct domain *domain)
{
	char text[TEXT];

	return message_type(a) == REGISTERED ? a->message.registered : find(text_of(a, text), domain);
}

static struct domain *known(void *handle)
{
	return handle ? handle : &everyone;
}

/* ---- regions ---------------------------------------------------------------------------------------- */

/* The thread ends; its other destructors may still push, and get another one. */
static void free_stack(void *old)
{
	stack = NULL;
	gt_memory_free(old, sizeof(*stack));
}

static GT_CU_RARE struct stack *make_stack(void)
{
	stack = gt_memory(sizeof(*stack));
	if (stack && have_key && (stack_key < KEYS || !gt_is_confined()))
		pthread_setspecific(stack_key, stack);
	return stack;
}

static inline struct stack *own_stack(void)
{
	return gt_likely(stack) ? stack : make_stack();
}

/* The attribute for a payload, and its value; GT_NONE: there is none. */
static gt_ref payload_of(const struct nv_attributes *a, uint64_t *value)
{
	double d;

	switch (a ? a->payload_type : 0) {
	case 1:
		*value = a->payload.u64;
		return payload_uint;
	case 4:
		*value = a->payload.u32;
		return payload_uint;
	case 2:
		*value = (uint64_t)a->payload.i64;
		return payload_int;
	case 5:
		*value = (uint64_t)(int64_t)a->payload.i32;
		return payload_int;
	case 3:
	case 6:
		d = a->payload_type == 3 ? a->payload.d : (double)a->payload.f;
		memcpy(value, &d, sizeof(*value));
		return payload_double;
	default:
		return GT_NONE;
	}
}

/* Its category; NULL: there is none, or it has no name. */
static const struct category *category_of(const struct nv_attributes *a, const struct domain *domain)
{
	uint32_t n = a && a->category ? __atomic_load_n(&category_count, __ATOMIC_ACQUIRE) : 0;

	for (uint32_t i = 0; i < n; i++)
		if (categories[i].id == a->category && categories[i].domain == domain)
			return &categories[i];
	return NULL;
}

/* A range that cannot be recorded. */
static void lose_range(void)
{
	if (gt_active())
		gt_lost(gt_is_confined() ? GT_LOSS_SANDBOX : GT_LOSS_NO_LOCATION, 2);
}

static int push(const struct name *name, const struct domain *domain, const struct nv_attributes *a)
{
	struct stack *s = own_stack();
	bool recorded = gt_active();
	const struct category *category;
	gt_ref attribute;
	uint64_t value = 0;
	int level;

	if (!s || name == &unknown)
		lose_range();
	if (!s)
		return -1;
	level = (int)(s->depth + s->lost);
	if (s->depth == DEPTH) {
		s->lost++;
		return level;
	}
	GT_CU_HOOK(range, name->text);
	s->pushed[s->depth++] = (struct pushed){ recorded ? name->region : GT_NONE, domain };
	if (!recorded || !name->region)
		return level;
	attribute = payload_of(a, &value);
	if (!gt_enter_attribute(name->region, attribute, value, 0))
		return level;
	category = category_of(a, domain);
	if (category && category->set)
		gt_record(GT_T_PARAMS, category->set, NULL, 0);
	else if (category)
		gt_record(GT_T_PARAM_STR, category_parameter, (uint64_t[2]){ category->name, 0 }, 1);
	return level;
}

static int pop(const struct domain *domain)
{
	struct stack *s = own_stack();
	uint32_t at;

	if (!s)
		return -1;
	if (s->lost) {
		s->lost--;
		return (int)(s->depth + s->lost);
	}
	for (at = s->depth; at && s->pushed[at - 1].domain != domain; at--)
		;
	if (!at)
		return -1; /* more pops than pushes */
	GT_CU_HOOK(range_over);
	gt_leave(s->pushed[at - 1].region);
	s->depth--;
	for (; at <= s->depth; at++) /* domains that are not nested in each other */
		s->pushed[at - 1] = s->pushed[at];
	return (int)s->depth;
}

/* ---- marks and ranges ------------------------------------------------------------------------ */

static void put_mark(const char *text)
{
	char line[TEXT + 1];
	size_t n = strnlen(text, TEXT);

	if (!gt_active())
		return;
	memcpy(line, text, n);
	line[n] = 0;
	gt_marker(marker_mark, line);
}

static uint64_t start(const struct name *name, const struct domain *domain, const struct nv_attributes *a)
{
	struct gt_accel_range range = { .region = name->region, .parameter = category_parameter };
	const struct category *category = category_of(a, domain);

	if (name == &unknown)
		lose_range();
	range.attribute = payload_of(a, &range.value);
	range.category = category ? category->name : GT_NONE;
	return gt_accel_range_begin(0, &range);
}

/* ---- the functions that programs call -------------------------------------------------------- */

static void mark_ex(const struct nv_attributes *a)
{
	char text[TEXT];

	put_mark(text_of(a, text));
}

static void mark_a(const char *text)
{
	put_mark(text ? text : "");
}

static void mark_w(const void *wide)
{
	char text[TEXT];

	mark_a(narrow(wide, text));
}

static uint64_t start_ex(const struct nv_attributes *a)
{
	return start(message(a, &everyone), &everyone, a);
}

static uint64_t start_a(const char *text)
{
	return start(find(text, &everyone), &everyone, NULL);
}

static uint64_t start_w(const void *wide)
{
	char text[TEXT];

	return start(find(narrow(wide, text), &everyone), &everyone, NULL);
}

static int push_ex(const struct nv_attributes *a)
{
	return push(message(a, &everyone), &everyone, a);
}

static int push_a(const char *text)
{
	return push(find(text, &everyone), &everyone, NULL);
}

static int push_w(const void *wide)
{
	char text[TEXT];

	return push(find(narrow(wide, text), &everyone), &everyone, NULL);
}

static int pop_default(void)
{
	return pop(&everyone);
}

static void domain_category_a(void *domain, uint32_t id, const char *text)
{
	gt_ref name = gt_def_string(text ? text : "");
	struct gt_def_param parameter = { GT_T_PARAM_STR, category_parameter, name };
	gt_ref set = name ? gt_def_params(&parameter, 1) : GT_NONE;
	uint64_t mask = lock();

	if (mask != GT_LOCK_REFUSED && category_count < sizeof(categories) / sizeof(categories[0])) {
		categories[category_count] = (struct category){ id, known(domain), name, set };
		/* Pairs with category_of(). */
		__atomic_store_n(&category_count, category_count + 1, __ATOMIC_RELEASE);
	}
	unlock(mask);
}

static void domain_category_w(void *domain, uint32_t id, const void *wide)
{
	char text[TEXT];

	domain_category_a(domain, id, narrow(wide, text));
}

static void category_a(uint32_t id, const char *text)
{
	domain_category_a(NULL, id, text);
}

static void category_w(uint32_t id, const void *wide)
{
	domain_category_w(NULL, id, wide);
}

static void thread_a(uint32_t tid, const char *text)
{
	if (text)
		gt_thread_name(tid, text);
}

static void thread_w(uint32_t tid, const void *wide)
{
	char text[TEXT];

	if (wide)
		gt_thread_name(tid, narrow(wide, text));
}

static void domain_mark_ex(void *domain, const struct nv_attributes *a)
{
	(void)domain;
	mark_ex(a);
}

static uint64_t domain_start_ex(void *domain, const struct nv_attributes *a)
{
	return start(message(a, known(domain)), known(domain), a);
}

static void domain_end(void *domain, uint64_t id)
{
	(void)domain;
	gt_accel_range_end(id);
}

static int domain_push_ex(void *domain, const struct nv_attributes *a)
{
	return push(message(a, known(domain)), known(domain), a);
}

static int domain_pop(void *domain)
{
	return pop(known(domain));
}

/*
 * Payloads of registered layouts are not recorded, but the ranges that have them are: NCCL ends those of
 * ncclCommInitRank and others so.
 */
static int payload_push(void *domain, const void *data, size_t count)
{
	(void)data;
	(void)count;
	return push(find("a payload only", known(domain)), known(domain), NULL);
}

static int payload_pop(void *domain, const void *data, size_t count)
{
	(void)data;
	(void)count;
	return pop(known(domain));
}

static uint64_t payload_start(void *domain, const void *data, size_t count)
{
	(void)data;
	(void)count;
	return start(find("a payload only", known(domain)), known(domain), NULL);
}

static void payload_end(void *domain, uint64_t id, const void *data, size_t count)
{
	(void)data;
	(void)count;
	domain_end(domain, id);
}

static void *domain_string_a(void *domain, const char *text)
{
	return find(text, known(domain));
}

static void *domain_string_w(void *domain, const void *wide)
{
	char text[TEXT];

	return find(narrow(wide, text), known(domain));
}

static void *domain_create_a(const char *name)
{
	char group[TEXT + 32] = "NVTX Domain '";
	struct domain *d;
	uint64_t mask;

	if (!name)
		return NULL;
	strncat(group, name, TEXT);
	strcat(group, "'");
	mask = lock();
	d = mask == GT_LOCK_REFUSED ? NULL : take(sizeof(*d));
	if (d) {
		d->name = keep(name);
		d->group = keep(group);
		if (!d->group)
			d->group = everyone.group;
	}
	unlock(mask);
	return d;
}

static void *domain_create_w(const void *wide)
{
	char text[TEXT];

	return domain_create_a(narrow(wide, text));
}

static void stream_a(void *stream, const char *text)
{
	if (text)
		gt_cu_name_stream(stream, text);
}

static void stream_w(void *stream, const void *wide)
{
	char text[TEXT];

	if (wide)
		gt_cu_name_stream(stream, narrow(wide, text));
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define ENTRY(id, function) { id, (nv_function)(void (*)(void))(function) }

static const struct entry {
	unsigned id;
	nv_function function;
} core[] = {
	ENTRY(NV_CORE_MARK_EX, mark_ex), ENTRY(NV_CORE_MARK_A, mark_a), ENTRY(NV_CORE_MARK_W, mark_w),
	ENTRY(NV_CORE_START_EX, start_ex), ENTRY(NV_CORE_START_A, start_a),
	ENTRY(NV_CORE_START_W, start_w), ENTRY(NV_CORE_END, gt_accel_range_end),
	ENTRY(NV_CORE_PUSH_EX, push_ex),
	ENTRY(NV_CORE_PUSH_A, push_a), ENTRY(NV_CORE_PUSH_W, push_w), ENTRY(NV_CORE_POP, pop_default),
	ENTRY(NV_CORE_CATEGORY_A, category_a), ENTRY(NV_CORE_CATEGORY_W, category_w),
	ENTRY(NV_CORE_THREAD_A, thread_a), ENTRY(NV_CORE_THREAD_W, thread_w),
};
static const struct entry core2[] = {
	ENTRY(NV_CORE2_MARK_EX, domain_mark_ex), ENTRY(NV_CORE2_START_EX, domain_start_ex),
	ENTRY(NV_CORE2_END, domain_end), ENTRY(NV_CORE2_PUSH_EX, domain_push_ex),
	ENTRY(NV_CORE2_POP, domain_pop), ENTRY(NV_CORE2_CATEGORY_A, domain_category_a),
	ENTRY(NV_CORE2_CATEGORY_W, domain_category_w), ENTRY(NV_CORE2_STRING_A, domain_string_a),
	ENTRY(NV_CORE2_STRING_W, domain_string_w), ENTRY(NV_CORE2_CREATE_A, domain_create_a),
	ENTRY(NV_CORE2_CREATE_W, domain_create_w),
};
static const struct entry cuda[] = { ENTRY(NV_CUDA_STREAM_A, stream_a),
				     ENTRY(NV_CUDA_STREAM_W, stream_w) };
static const struct entry cudart[] = { ENTRY(NV_CUDART_STREAM_A, stream_a),
				       ENTRY(NV_CUDART_STREAM_W, stream_w) };

static const struct entry payload[] = { ENTRY(NV_PAYLOAD_PUSH, payload_push),
					ENTRY(NV_PAYLOAD_POP, payload_pop),
					ENTRY(NV_PAYLOAD_START, payload_start),
					ENTRY(NV_PAYLOAD_END, payload_end) };

static void fill(const struct nv_callbacks *callbacks, int module, const struct entry *entries, size_t n)
{
	nv_function **table = NULL;
	unsigned size = 0;

	if (!callbacks->module(module, &table, &size) || !table)
		return;
	for (size_t i = 0; i < n; i++)
		if (entries[i].id < size && table[entries[i].id])
			*table[entries[i].id] = entries[i].function;
}

static void forked(void)
{
	names_lock = (struct gt_lock){ 0 };
	gt_accel_ranges_forked();
}

static void ending(int how)
{
	char number[24];
	uint64_t n = __atomic_load_n(&merged, __ATOMIC_RELAXED);

	gt_accel_ranges_finish(how != GT_END_NONE);
	if (n) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
		gt_def_property("cuda:nvtx_merged", number);
	}
}

static bool set_up(void)
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "nvtx",
		.fork_child = forked,
		.end = ending,
	};
	void *p;

	if (names)
		return true;
	gt_cu_options_read();
	if (!gt_cu_options.on || !gt_def_string("NVTX"))
		return false;
	p = gt_memory(NAMES * sizeof(*names));
	if (!p)
		return false;
	gt_adapter_register(&adapter);
	have_key = !pthread_key_create(&stack_key, free_stack);
	payload_uint = gt_def_attribute("NVTX_PAYLOAD", "Number given with an NVTX range", GT_VALUE_UINT);
	payload_int = gt_def_attribute("NVTX_PAYLOAD_INT", "Number given with an NVTX range",
				       GT_VALUE_INT);
	payload_double = gt_def_attribute("NVTX_PAYLOAD_DOUBLE", "Number given with an NVTX range",
					  GT_VALUE_DOUBLE);
	category_parameter = gt_def_parameter("category", GT_VALUE_UINT);
	marker_mark = gt_def_marker("NVTX mark", "NVTX", 3);
	too_many.text = "too many different messages";
	unknown.text = "a message that a confined process could not keep";
	names = p;
	return true;
}

static bool is_ready(void)
{
	uint64_t mask = lock();
	bool ready = mask != GT_LOCK_REFUSED && set_up();

	unlock(mask);
	return ready;
}

GT_API int InitializeInjectionNvtx2(nv_export get);
GT_API int InitializeInjectionNvtxExtension(const struct nv_extension *extension);

/* Called by each module of the program that contains NVTX, at its first NVTX call. */
int InitializeInjectionNvtx2(nv_export get)
{
	const struct nv_callbacks *callbacks = get ? get(NV_TABLE_CALLBACKS) : NULL;

	if (!callbacks || callbacks->bytes < sizeof(*callbacks) || !callbacks->module || !is_ready())
		return 0;
	fill(callbacks, NV_MODULE_CORE, core, sizeof(core) / sizeof(core[0]));
	fill(callbacks, NV_MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]));
	fill(callbacks, NV_MODULE_CUDA, cuda, sizeof(cuda) / sizeof(cuda[0]));
	fill(callbacks, NV_MODULE_CUDART, cudart, sizeof(cudart) / sizeof(cudart[0]));
	return 1;
}

/* The same, of extensions of NVTX: each module of the program has its own tables of them, too. */
int InitializeInjectionNvtxExtension(const struct nv_extension *extension)
{
	const struct nv_segment *segment;

	if (!extension || extension->bytes < sizeof(*extension) ||
	    extension->module != NV_EXTENSION_PAYLOAD || !extension->segment_count || !is_ready())
		return 0;
	segment = &extension->segments[0];
	for (size_t i = 0; i < sizeof(payload) / sizeof(payload[0]); i++)
		if (payload[i].id < segment->slots)
			segment->functions[payload[i].id] = (intptr_t)payload[i].function;
	return 1;
}

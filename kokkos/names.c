/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions by Kokkos' names, and execution spaces.
 *
 * A kernel without a label has the name of its functor's type, mangled ("Z4mainEUliE_", and the type of its
 * tag behind a "/") or as the compiler spells it ("main()::<lambda(int)>"). These are marked, and the
 * assembly makes a short name of them.
 *
 * Limits: NAMES names; what comes later is recorded as one region of each kind. Names are told apart by 64
 * bits of hash. A label that looks like a mangled type ("6matmul") is taken for one.
 */
#include <string.h>

#include "gputrace/hash.h"
#include "kokkos/kokkos.h"

enum { NAMES = 16384, PROBES = 64, DEVICES = 64, LABEL = 64, TEXT = 4096 };

#define BUSY UINT64_MAX

/* Entries are made, and never changed: `key` is written last. */
static struct name {
	uint64_t key; /* 0: free, BUSY: somebody is filling it in */
	gt_ref region;
} names[NAMES];
static gt_ref others[GT_KK_KIND_COUNT]; /* for what has no room */

static struct device {
	uint64_t key; /* of an execution space, + 1 */
	gt_ref params;
} devices[DEVICES];
static gt_ref space_parameter, device_parameter, instance_parameter;

static const struct {
	const char *group;
	uint8_t role;
} kinds[] = {
#define KIND(NAME, group, role) { group, role },
	GT_KK_KINDS(KIND)
#undef KIND
};

/* ---- what a name is ----------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "3Foo", "3FooIdE": the number says how long the name is, and arguments of a template may follow. Shorter
 * ones are labels, as "1D" and "2D". */
static bool is_simple(const char *text, size_t n)
{
	size_t length = 0, at = 0;

	while (at < n && at < 4 && is_digit(text[at]))
		length = length * 10 + (size_t)(text[at++] - '0');
	at += length;
	return length >= 3 && (at == n || (at < n && text[at] == 'I' && text[n - 1] == 'E'));
}

/* A type as typeid().name() has it. */
static bool is_mangled(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_digit(text[i]) && text[i] != '_' && text[i] != '.' && text[i] != '$' &&
		    ((text[i] | 32) < 'a' || (text[i] | 32) > 'z'))
			return false;
	if (n < 4)
		return false;
	if (is_digit(text[0]))
		return is_simple(text, n);
	if (text[0] == 'N')
		return (is_digit(text[1]) || text[1] == 'S') && text[n - 1] == 'E';
	return (text[0] == 'Z' &&
		(is_digit(text[1]) || text[1] == 'N' || (text[1] == 'L' && is_digit(text[2])))) ||
	       (text[0] == 'S' && text[1] == 't' && is_digit(text[2]));
}

/* A type as the compiler spells it, and no label. */
static bool is_spelt(const char *text, size_t n)
{
	const char *arguments = memchr(text, '<', n);

	return (arguments && (n > LABEL || strstr(arguments, "Kokkos::"))) || strstr(text, "<lambda") ||
	       strstr(text, "{lambda") || strstr(text, "(lambda");
}

/* Writes the linker's name of a type, of both halves if there is a tag. False: it is a label. */
static bool type_of(const char *name, size_t n, char *text)
{
	const char *tag = memchr(name, '/', n);
	size_t first = tag ? (size_t)(tag - name) : n;

	if (n + 8 > TEXT || !is_mangled(name, first))
		return false;
	memcpy(text, "_Z", 2);
	memcpy(text + 2, name, n);
	text[n + 2] = '\0';
	if (tag && is_mangled(tag + 1, n - first - 1)) {
		memcpy(text + first + 3, "_Z", 2);
		memcpy(text + first + 5, tag + 1, n - first);
	}
	return true;
}

/* ---- regions ------------------------------------------------------------------------------------ */

static gt_ref define(enum gt_kk_kind kind, const char *name, size_t n)
{
	char text[TEXT];
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = name,
		.group = kinds[kind].group,
		.role = kinds[kind].role,
		.paradigm = GT_PARADIGM_KOKKOS,
		.phase = kind == GT_KK_REGION,
	};

	if (kind <= GT_KK_SCAN && type_of(name, n, text))
		info.canonical = text;
	else if (kind <= GT_KK_SCAN && is_spelt(name, n))
		info.canonical = name;
	info.brief = info.canonical;
	if (info.brief)
		info.name = NULL;
	return gt_def_region(&info);
}

static uint64_t hash_of(enum gt_kk_kind kind, const char *name, size_t n)
{
	uint64_t hash = gt_hash_mix(GT_HASH_START, n << 8 | kind), word;

	for (; n >= sizeof(word); n -= sizeof(word), name += sizeof(word)) {
		memcpy(&word, name, sizeof(word));
		hash = gt_hash_mix(hash, word);
	}
	word = 0;
	memcpy(&word, name, n);
	hash = gt_hash_mix(hash, word);
	return hash && hash != BUSY ? hash : 1;
}

/* There is no room for this name. */
static gt_ref other(enum gt_kk_kind kind)
{
	static const char text[] = "(more names than there is room for)";
	gt_ref region = __atomic_load_n(&others[kind], __ATOMIC_ACQUIRE);

	if (!region) {
		gt_message(1, "Kokkos: too many different names: further ones share one region");
		region = define(kind, text, strlen(text));
		/* Pairs with the acquire in this function. */
		__atomic_store_n(&others[kind], region, __ATOMIC_RELEASE);
	}
	return region;
}

const char *gt_kk_text(const char *name)
{
	return name && *name ? name : "(no name)";
}

/* Of several threads one gets a free place. */
static bool take(uint64_t *key)
{
	uint64_t nobody = 0;

	return __atomic_compare_exchange_n(key, &nobody, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* A place that is this caller's to fill in. What a confined process cannot define now is not remembered. */
static gt_ref fill(struct name *place, uint64_t key, enum gt_kk_kind kind, const char *name, size_t n)
{
	gt_ref region = define(kind, name, n);

	place->region = region;
	/* Pairs with take(), gt_kk_region() and gt_kk_device_params(). */
	__atomic_store_n(&place->key, region || !gt_is_confined() ? key : 0, __ATOMIC_RELEASE);
	return region;
}

gt_ref gt_kk_region(enum gt_kk_kind kind, const char *text)
{
	const char *name = gt_kk_text(text);
	size_t n = strnlen(name, TEXT);
	uint64_t key = hash_of(kind, name, n);

	for (unsigned i = 0; i < PROBES; i++) {
		struct name *place = &names[(key >> 32 ^ (key + i)) % NAMES];
		uint64_t known = __atomic_load_n(&place->key, __ATOMIC_ACQUIRE);

		if (known == key)
			return place->region;
		/* Another thread may be defining the same name: then it is defined twice. */
		if (!known && take(&place->key))
			return fill(place, key, kind, name, n);
	}
	return other(kind);
}

/* ---- execution spaces --------------------------------------------------------------------------- */

static gt_ref define_device(uint32_t device)
{
	static const struct {
		const char *name;
		unsigned parameters;
	} types[] = { { "Serial", 2 },       { "OpenMP", 2 }, { "Cuda", 3 },    { "HIP", 3 },
		      { "OpenMPTarget", 3 }, { "HPX", 2 },    { "Threads", 2 }, { "SYCL", 3 },
		      { "OpenACC", 3 } };
	unsigned type = gt_kk_type(device);
	bool known = type < sizeof(types) / sizeof(types[0]);
	const struct gt_def_param params[] = {
		{ GT_T_PARAM_STR, space_parameter, gt_def_string(known ? types[type].name : "unknown") },
		{ GT_T_PARAM_UINT, instance_parameter, gt_kk_instance(device) },
		{ GT_T_PARAM_UINT, device_parameter, gt_kk_device(device) },
	};

	if ((device & GT_KK_COPY_RESOURCE) == GT_KK_COPY_RESOURCE)
		return gt_def_params(params, 1);
	return gt_def_params(params, known ? types[type].parameters : 3);
}

gt_ref gt_kk_device_params(uint32_t device)
{
	uint32_t at = (uint32_t)(gt_hash_word(device) >> 32);

	for (unsigned i = 0; i < DEVICES; i++) {
		struct device *place = &devices[(at + i) % DEVICES];
		uint64_t known = __atomic_load_n(&place->key, __ATOMIC_ACQUIRE);

		if (known == (uint64_t)device + 1)
			return place->params;
		if (known || !take(&place->key))
			continue;
		place->params = define_device(device);
		/* Pairs with take() and gt_kk_region(). */
		__atomic_store_n(&place->key, (uint64_t)device + 1, __ATOMIC_RELEASE);
		return place->params;
	}
	return GT_NONE;
}

void gt_kk_names_begin(void)
{
	space_parameter = gt_def_parameter("KOKKOS_SPACE", GT_VALUE_UINT);
	device_parameter = gt_def_parameter("KOKKOS_DEVICE", GT_VALUE_UINT);
	instance_parameter = gt_def_parameter("KOKKOS_INSTANCE", GT_VALUE_UINT);
}

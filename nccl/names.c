/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NCCL's functions as regions, and what is said of an operation as parameters.
 *
 * Limits: FUNCTIONS functions, SETS different sets of algorithm, protocol, type, channels and warps: what
 * comes later is recorded as "other", or without its set.
 */
#include <string.h>

#include "gputrace/hash.h"
#include "nccl/nccl.h"

enum { FUNCTIONS = 32, SETS = 512, PROBES = 16 };

static struct gt_nccl_function functions[FUNCTIONS];
static unsigned function_count; /* atomic */
static struct gt_lock lock;

/* Entries are made, and never changed: `key` is written last. */
static struct set {
	uint64_t key;
	gt_ref params;
} sets[SETS];

gt_ref gt_nccl_regions[GT_NCCL_R_COUNT], gt_nccl_parameters[GT_NCCL_PARAMETERS];
static gt_ref algorithm, protocol, datatype, channels, warps;

/* ---- functions ---------------------------------------------------------------------------------------- */

/* Their OTF2 names (OTF2_CollectiveOp, OTF2_RegionRole). Others are regions only. */
static const struct {
	const char *name;
	uint8_t collective, role;
	bool rooted;
} known[] = {
	{ "AllReduce", 11 + 1, 25, false }, { "AllGather", 6 + 1, 25, false },
	{ "ReduceScatter", 16 + 1, 25, false }, { "Broadcast", 1 + 1, 23, true },
	{ "Reduce", 12 + 1, 24, true }, { "AlltoAll", 8 + 1, 25, false }, { "Gather", 2 + 1, 24, true },
	{ "Scatter", 4 + 1, 23, true }, { "AllGatherV", 7 + 1, 25, false }, { "Send", 0, 28, false },
	{ "Recv", 0, 28, false }, { "SendRecv", 0, 28, false },
};

static gt_ref region(const char *before, const char *name, uint8_t role, uint8_t paradigm)
{
	char text[64] = "";
	const struct gt_region_info info = {
		.bytes = sizeof(info), .name = text, .group = "NCCL", .role = role, .paradigm = paradigm,
	};

	memcpy(text, before, strlen(before));
	memcpy(text + strlen(before), name, strlen(name));
	return gt_def_region(&info);
}

/* Under the lock, or before there is another thread. */
static void add(const char *name, uint8_t collective, uint8_t role, bool rooted)
{
	struct gt_nccl_function *f = &functions[function_count];

	memcpy(f->name, name, strnlen(name, sizeof(f->name) - 1));
	f->collective = collective;
	f->rooted = rooted;
	f->api = region("NCCL call ", f->name, role, GT_PARADIGM_CUDA);
	f->operation = region("NCCL ", f->name, role, GT_PARADIGM_NONE);
	f->channel = region("NCCL channel ", f->name, role, GT_PARADIGM_NONE);
	__atomic_store_n(&function_count, function_count + 1, __ATOMIC_RELEASE); /* pairs with find() */
}

static unsigned find(const char *name)
{
	unsigned n = __atomic_load_n(&function_count, __ATOMIC_ACQUIRE), i = 1;

	while (i < n && strncmp(functions[i].name, name, sizeof(functions[i].name) - 1))
		i++;
	return i < n ? i : 0;
}

unsigned gt_nccl_function_number(const char *name)
{
	unsigned place = name && *name ? find(name) : 0;
	uint64_t mask;

	if (place || !name || !*name || function_count >= FUNCTIONS)
		return place;
	mask = gt_lock(&lock);
	if (mask != GT_LOCK_REFUSED && !find(name) && function_count < FUNCTIONS)
		add(name, 0, 4, false);
	gt_unlock(&lock, mask);
	return find(name);
}

const struct gt_nccl_function *gt_nccl_function_at(unsigned place)
{
	return &functions[place < FUNCTIONS ? place : 0];
}

/* ---- parameters --------------------------------------------------------------------------------------- */

/* The first number in a type's name is its bits: ncclFloat8e4m3, ncclBfloat16. */
uint64_t gt_nccl_bytes(const char *type, uint64_t count)
{
	uint64_t bits = 0;

	while (type && *type && (*type < '0' || *type > '9'))
		type++;
	while (type && *type >= '0' && *type <= '9' && bits < 1000)
		bits = bits * 10 + (uint64_t)(*type++ - '0');
	return bits / 8 * count;
}

static const char *text_of(const char *text)
{
	return text && *text ? text : "(unknown)";
}

static struct gt_def_param text_param(gt_ref parameter, const char *text)
{
	return (struct gt_def_param){ GT_T_PARAM_STR, parameter, gt_def_string(text_of(text)) };
}

static gt_ref define_set(const struct gt_nccl_about *about)
{
	struct gt_def_param params[5] = { text_param(datatype, about->datatype) };
	unsigned n = 1;

	if (about->algorithm)
		params[n++] = text_param(algorithm, about->algorithm);
	if (about->protocol)
		params[n++] = text_param(protocol, about->protocol);
	if (about->channels)
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, channels, about->channels };
	if (about->warps)
		params[n++] = (struct gt_def_param){ GT_T_PARAM_UINT, warps, about->warps };
	return gt_def_params(params, n);
}

gt_ref gt_nccl_params(const struct gt_nccl_about *about)
{
	uint64_t hash = gt_hash_text(GT_HASH_START, text_of(about->datatype)), key = 0;

	hash = gt_hash_text(gt_hash_byte(hash, about->algorithm != NULL), text_of(about->algorithm));
	hash = gt_hash_text(gt_hash_byte(hash, about->protocol != NULL), text_of(about->protocol));
	hash = gt_hash_mix(hash, about->channels << 8 | about->warps) | 1;
	for (unsigned i = 0; i < PROBES; i++) {
		struct set *set = &sets[((hash >> 20) + i) & (SETS - 1)];

		key = __atomic_load_n(&set->key, __ATOMIC_ACQUIRE);
		if (key == hash)
			return set->params;
		if (key)
			continue;
		gt_ref params = define_set(about);

		/* Who comes second has the same set under another number. */
		if (__atomic_compare_exchange_n(&set->key, &key, UINT64_MAX, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			set->params = params;
			/* Pairs with the acquire in this function. */
			__atomic_store_n(&set->key, hash, __ATOMIC_RELEASE);
		}
		return params;
	}
	return GT_NONE;
}

void gt_nccl_names_begin(void)
{
	static const struct {
		const char *name;
		uint8_t role, paradigm;
	} regions[GT_NCCL_R_COUNT] = {
		[GT_NCCL_R_GROUP_END] = { "NCCL group end", 4, GT_PARADIGM_CUDA },
		[GT_NCCL_R_LAUNCH] = { "NCCL kernel launch", 4, GT_PARADIGM_CUDA },
		[GT_NCCL_R_SEND] = { "NCCL proxy send", 28, GT_PARADIGM_NONE },
		[GT_NCCL_R_RECV] = { "NCCL proxy receive", 28, GT_PARADIGM_NONE },
		[GT_NCCL_R_SEND_STEP] = { "NCCL proxy send step", 28, GT_PARADIGM_NONE },
		[GT_NCCL_R_RECV_STEP] = { "NCCL proxy receive step", 28, GT_PARADIGM_NONE },
		[GT_NCCL_R_GPU_WAIT] = { "NCCL proxy wait for GPU", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_PEER_WAIT] = { "NCCL proxy wait for peer", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_NET_WAIT] = { "NCCL proxy wait for network", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_FLUSH_WAIT] = { "NCCL proxy wait for flush", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_NET] = { "NCCL network plug-in", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_IDLE] = { "NCCL proxy idle", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_ACTIVE] = { "NCCL proxy active", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_SLEEP] = { "NCCL proxy sleep", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_WAKEUP] = { "NCCL proxy wakeup", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_APPEND] = { "NCCL proxy append", 4, GT_PARADIGM_NONE },
		[GT_NCCL_R_KERNEL] = { "NCCL kernel", 4, GT_PARADIGM_NONE },
	};
	static const char *const names[GT_NCCL_PARAMETERS] = {
		[GT_NCCL_BYTES] = "NCCL_BYTES", [GT_NCCL_SEQUENCE] = "NCCL_SEQUENCE",
		[GT_NCCL_LAUNCH] = "NCCL_LAUNCH", [GT_NCCL_PEER] = "NCCL_PEER",
		[GT_NCCL_STEP] = "NCCL_STEP", [GT_NCCL_STEPS] = "NCCL_STEPS",
		[GT_NCCL_GPU_TIME] = "NCCL_GPU_NS", [GT_NCCL_CAPTURED] = "NCCL_CAPTURED",
		[GT_NCCL_COMM] = "NCCL_COMMUNICATOR",
	};

	for (unsigned i = 0; i < GT_NCCL_R_COUNT; i++)
		gt_nccl_regions[i] = region("", regions[i].name, regions[i].role, regions[i].paradigm);
	for (unsigned i = 0; i < GT_NCCL_PARAMETERS; i++)
		gt_nccl_parameters[i] = gt_def_parameter(names[i], GT_VALUE_UINT);
	algorithm = gt_def_parameter("NCCL_ALGORITHM", GT_VALUE_UINT);
	protocol = gt_def_parameter("NCCL_PROTOCOL", GT_VALUE_UINT);
	datatype = gt_def_parameter("NCCL_DATATYPE", GT_VALUE_UINT);
	channels = gt_def_parameter("NCCL_CHANNELS", GT_VALUE_UINT);
	warps = gt_def_parameter("NCCL_WARPS", GT_VALUE_UINT);
	add("Other", 0, 4, false);
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		add(known[i].name, known[i].collective, known[i].role, known[i].rooted);
}

void gt_nccl_names_forked(void)
{
	lock = (struct gt_lock){ 0 };
}

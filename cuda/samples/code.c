/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records samples (pcsampling.c) and counts (sass.c) of kernels' instructions: as records of our own on a
 * location of the process, with each cubin that the instructions belong to once. cuda/assemble/pcsamples.c
 * puts both into the archive.
 *
 * All calls of CUPTI's for it are made under one lock.
 *
 * Limits: CUBIN_BYTES of cubins. Names of functions are CUPTI's and are never freed: its other records point
 * at them, too.
 */
#include <string.h>

#include "cuda/cuda.h"
#include "accel/wait.h"
#include "cuda/samples/pcsampling_abi.h"
#include "cuda/samples/samples.h"

#define NAMES       4096u
#define PROBES      32u
#define CUBINS      4096u
#define CUBIN_BYTES (256u << 20)
#define CUBIN_WORDS 240u
#define CUBIN_HEAD  4u
#define LOCK_MS     2000u

static struct gt_lock lock;
static bool hung; /* CUPTI did not come back from a call: nothing more is asked of it */
static const char *location_name;
static struct gt_location *location;
static int (*cubin_crc)(struct cu_cubin_crc *params);
static gt_ref record_cubin;
static uint64_t cubins[CUBINS], cubin_bytes;

/* ---- the lock ------------------------------------------------------------------------------------ */

bool gt_cu_code_hangs(void)
{
	return __atomic_load_n(&hung, __ATOMIC_RELAXED);
}

void gt_cu_code_give_up(void)
{
	__atomic_store_n(&hung, true, __ATOMIC_RELAXED);
}

/* The lock, with signals blocked; but the program does not wait for a call of CUPTI's that hangs. */
static bool hold(uint64_t *mask)
{
	uint64_t end = gt_monotonic() / 1000000 + LOCK_MS;
	uint32_t never = 0;

	while ((*mask = gt_lock_try(&lock)) == GT_LOCK_REFUSED) {
		if (gt_cu_code_hangs() || gt_monotonic() / 1000000 >= end) {
			gt_cu_code_give_up();
			return false;
		}
		gt_accel_wait(&never, 0, 1);
	}
	return true;
}

void gt_cu_code_locked(void (*function)(void *), void *argument)
{
	uint64_t mask;

	gt_guard();
	if (hold(&mask)) {
		function(argument);
		gt_unlock(&lock, mask);
	}
	gt_unguard();
}

/* ---- records ------------------------------------------------------------------------------------- */

void gt_cu_code_put(gt_ref kind, const uint64_t *data, unsigned words)
{
	const struct gt_location_info info = { .bytes = sizeof(info), .name = location_name,
					       .kind = GT_LOC_METRIC };

	if (!location)
		location = gt_location_create(&info);
	if (location)
		gt_location_record(location, GT_T_OWN, kind, data, words / 2, gt_now());
}

/* CUPTI's names stay where they are: the address tells them apart. */
/* By their text: CUPTI may use an address again. */
gt_ref gt_cu_code_name(const char *name)
{
	static struct {
		uint64_t hash;
		gt_ref ref;
	} known[NAMES];
	uint64_t hash = name ? gt_hash_text(GT_HASH_START, name) : 0;
	unsigned at = (unsigned)(hash % NAMES), tried = 0;

	if (!name)
		return GT_NONE;
	while (known[at].ref && known[at].hash != hash && tried++ < PROBES)
		at = (at + 1) % NAMES;
	if (!known[at].ref || known[at].hash != hash) {
		known[at].hash = hash;
		known[at].ref = gt_def_string(name);
	}
	return known[at].ref;
}

/* ---- cubins -------------------------------------------------------------------------------------- */

static void put_cubin(uint64_t crc, const char *cubin, size_t bytes)
{
	uint64_t data[CUBIN_WORDS];
	const size_t most = (CUBIN_WORDS - CUBIN_HEAD) * sizeof(*data);

	for (size_t at = 0; at < bytes; at += most) {
		size_t n = bytes - at < most ? bytes - at : most;

		data[0] = crc;
		data[1] = bytes;
		data[2] = at;
		data[3] = n;
		data[CUBIN_HEAD + (n + 7) / 8 - 1] = 0;
		memcpy(&data[CUBIN_HEAD], cubin + at, n);
		gt_cu_code_put(record_cubin, data, (unsigned)(CUBIN_HEAD + (n + 15) / 16 * 2));
	}
}

/* Has it been kept? If not it is from now on. */
static bool is_kept(uint64_t crc)
{
	unsigned at = (unsigned)(crc * UINT64_C(0x9e3779b97f4a7c15) >> 52) % CUBINS;

	for (unsigned i = 0; i < CUBINS; i++, at = (at + 1) % CUBINS) {
		if (cubins[at] == crc + 1)
			return true;
		if (cubins[at])
			continue;
		cubins[at] = crc + 1;
		return false;
	}
	return true;
}

static void keep(void *descriptor)
{
	const struct cu_module *m = descriptor;
	struct cu_cubin_crc params = { .bytes = sizeof(params), .size = m->bytes, .cubin = m->cubin };

	if (cubin_crc(&params) || is_kept(params.crc))
		return;
	if (m->bytes > CUBIN_BYTES - cubin_bytes) {
		gt_message(1, "a cubin of %lu bytes is too large to be kept: no source lines",
			   (unsigned long)m->bytes);
		return;
	}
	cubin_bytes += m->bytes;
	put_cubin(params.crc, m->cubin, m->bytes);
}

void gt_cu_code_module(void *descriptor)
{
	const struct cu_module *m = descriptor;

	if (cubin_crc && m && m->cubin && m->bytes && gt_cu_state_now() == GT_CU_READY)
		gt_cu_code_locked(keep, descriptor);
}

bool gt_cu_code_setup(const char *name)
{
	void *symbol = gt_cu_api_symbol("cuptiGetCubinCrc");

	location_name = name;
	record_cubin = gt_def_record("cuda", "cubin");
	memcpy(&cubin_crc, &symbol, sizeof(cubin_crc));
	return symbol;
}

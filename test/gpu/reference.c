/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An independent, minimal tool on CUPTI's activity records: counts and times of kernels, copies and
 * sets, written to the file that REFERENCE_OUT names. Loaded by CUDA_INJECTION64_PATH.
 *
 * Shares nothing with gputrace, so that both can be compared; also the price of CUPTI itself for the
 * same kinds of records; built with REFERENCE_CALLBACKS also that of a handful of callbacks, of the
 * domains that REFERENCE_DOMAINS names: driver (unless it says something else), runtime.
 *
 * Limits: one process; kernels are told apart by up to 1,024 names; records of one buffer at a time.
 */
#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST  1024
#define TIMES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const char *name;
	char *copy;
	unsigned long long count, ns;
	unsigned long long *times; /* of the first TIMES */
} kernels[MOST];
static unsigned kernel_kinds;
static unsigned long long kernel_count, copy_count[16], copy_bytes[16], set_count, untimed;

/* Buffers are used again: fresh memory costs the program page faults. */
static uint8_t *pool[64];
static unsigned pooled;

static void request(uint8_t **buffer, size_t *size, size_t *records)
{
	*size = 1 << 20;
	*records = 0;
	*buffer = NULL;
	pthread_mutex_lock(&pool_lock);
	if (pooled)
		*buffer = pool[--pooled];
	pthread_mutex_unlock(&pool_lock);
	if (*buffer)
		return;
	if (posix_memalign((void **)buffer, 64, *size)) {
		*buffer = NULL;
		*size = 0;
		return;
	}
	memset(*buffer, 0, *size);
}

static void put_back(uint8_t *buffer)
{
	pthread_mutex_lock(&pool_lock);
	if (pooled < sizeof(pool) / sizeof(*pool)) {
		pool[pooled++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&pool_lock);
	free(buffer);
}

static void add_kernel(const CUpti_ActivityKernel9 *k)
{
	unsigned i;

	kernel_count++;
	untimed += !k->start || !k->end;
	for (i = 0; i < kernel_kinds; i++)
		if (kernels[i].name == k->name || !strcmp(kernels[i].copy, k->name))
			break;
	if (i == MOST)
		return;
	if (i == kernel_kinds) {
		kernels[i].copy = strdup(k->name);
		kernels[i].times = calloc(TIMES, sizeof(*kernels[i].times));
		kernel_kinds++;
	}
	kernels[i].name = k->name;
	if (kernels[i].count < TIMES)
		kernels[i].times[kernels[i].count] = k->end - k->start;
	kernels[i].count++;
	kernels[i].ns += k->end - k->start;
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			add_kernel((CUpti_ActivityKernel9 *)record);
		} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
			CUpti_ActivityMemcpy5 *m = (CUpti_ActivityMemcpy5 *)record;

			copy_count[m->copyKind & 15]++;
			copy_bytes[m->copyKind & 15] += m->bytes;
		} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
			copy_count[10]++;
			copy_bytes[10] += ((CUpti_ActivityMemcpyPtoP4 *)record)->bytes;
		} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
			set_count++;
		}
	}
	pthread_mutex_unlock(&lock);
	put_back(buffer);
}

static int by_size(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;

	return (x > y) - (x < y);
}

static unsigned long long median(unsigned long long *times, unsigned long long count)
{
	size_t n = count < TIMES ? count : TIMES;

	qsort(times, n, sizeof(*times), by_size);
	return times[n / 2];
}

static void report(void)
{
	const char *path = getenv("REFERENCE_OUT");
	FILE *file;

	cuptiActivityFlushAll(0);
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	file = path ? fopen(path, "w") : NULL;
	if (!file)
		return;
	pthread_mutex_lock(&lock);
	fprintf(file, "kernels %llu\nmemsets %llu\nuntimed %llu\n", kernel_count, set_count, untimed);
	for (unsigned i = 0; i < 16; i++)
		if (copy_count[i])
			fprintf(file, "copy %u %llu %llu\n", i, copy_count[i], copy_bytes[i]);
	for (unsigned i = 0; i < kernel_kinds; i++)
		fprintf(file, "kernel %llu %llu %llu %s\n", kernels[i].count, kernels[i].ns,
			median(kernels[i].times, kernels[i].count), kernels[i].copy);
	pthread_mutex_unlock(&lock);
	fclose(file);
}

#ifdef REFERENCE_CALLBACKS
/* The least that a tool does in a callback: notes the time, the call and its number. */
static __thread struct {
	unsigned long long time;
	unsigned id, correlation;
} ring[1024];
static __thread unsigned ring_at;

static void callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *call = data;
	unsigned at = ring_at++ & 1023;

	(void)user, (void)domain;
	ring[at].time = __builtin_ia32_rdtsc();
	ring[at].id = id;
	ring[at].correlation = call->correlationId;
}

static void enable_callbacks(void)
{
	static const CUpti_CallbackId ids[] = {
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
		CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
	};
	static const CUpti_CallbackId driver_ids[] = {
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
	};
	const char *domains = getenv("REFERENCE_DOMAINS") ? getenv("REFERENCE_DOMAINS") : "driver";
	CUpti_SubscriberHandle subscriber;

	if (cuptiSubscribe(&subscriber, callback, NULL) != CUPTI_SUCCESS)
		return;
	for (unsigned i = 0; strstr(domains, "runtime") && i < sizeof(ids) / sizeof(*ids); i++)
		cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, ids[i]);
	for (unsigned i = 0; strstr(domains, "driver") && i < sizeof(driver_ids) / sizeof(*driver_ids);
	     i++)
		cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, driver_ids[i]);
}
#else
static void enable_callbacks(void)
{
}
#endif

int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_MEMCPY,
		CUPTI_ACTIVITY_KIND_MEMCPY2,
		CUPTI_ACTIVITY_KIND_MEMSET,
	};

	if (cuptiActivityRegisterCallbacks(request, complete) != CUPTI_SUCCESS)
		return 0;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (cuptiActivityEnable(kinds[i]) != CUPTI_SUCCESS)
			fprintf(stderr, "reference: kind %u is refused\n", kinds[i]);
	enable_callbacks();
	atexit(report);
	return 1;
}

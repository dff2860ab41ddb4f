/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake libhsa-runtime64: whose memory an address is, as the fake libamdhip64 says.
 *
 * Limits: what the adapter asks.
 */
#include <pthread.h>
#include <stdlib.h>

#include "fake.h"
#include "hip/rocprofiler.h"

int hsa_amd_pointer_info(const void *address, struct hsa_pointer *info, void *, void *, void *);
int hsa_agent_get_info(uint64_t agent, int what, uint32_t *value);

static struct block {
	const char *at;
	size_t bytes;
	uint64_t owner;
	struct block *next;
} *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_hsa_put(const void *at, size_t bytes, uint64_t owner)
{
	struct block *b = malloc(sizeof(*b));

	pthread_mutex_lock(&lock);
	*b = (struct block){ at, bytes, owner, blocks };
	blocks = b;
	pthread_mutex_unlock(&lock);
}

void fake_hsa_take(const void *at)
{
	pthread_mutex_lock(&lock);
	for (struct block *b = blocks; b; b = b->next)
		if (b->at == at)
			b->bytes = 0;
	pthread_mutex_unlock(&lock);
}

int hsa_amd_pointer_info(const void *address, struct hsa_pointer *info, void *alloc, void *count, void *list)
{
	(void)alloc, (void)count, (void)list;
	if (info->size < sizeof(*info))
		return 1;
	info->type = HSA_UNKNOWN_MEMORY;
	info->owner = 99; /* says nothing, and no agent */
	pthread_mutex_lock(&lock);
	for (const struct block *b = blocks; b; b = b->next)
		if ((const char *)address >= b->at && (const char *)address < b->at + b->bytes) {
			info->type = 1;
			info->owner = b->owner;
		}
	pthread_mutex_unlock(&lock);
	return 0;
}

int hsa_agent_get_info(uint64_t agent, int what, uint32_t *value)
{
	*value = agent != FAKE_HOST_AGENT;
	return what == HSA_ABOUT_DEVICE && agent != 99 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses CUPTI itself, before it calls CUDA: gputrace comes second. Fails if its own callbacks
 * do not come.
 *
 * Limits: the driver's initialisation only.
 */
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>

static unsigned called;

static void callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
	called++;
}

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	CUdevice device;
	int count = 0;

	if (cuptiSubscribe(&subscriber, callback, NULL) != CUPTI_SUCCESS)
		return 4;
	cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS ||
	    cuDeviceGet(&device, 0) != CUDA_SUCCESS)
		return 5;
	printf("COUNT callbacks=%u\nCOUNT devices=%d\n", called, count);
	return called ? 0 : 6;
}

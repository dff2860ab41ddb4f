/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that last no time, enqueued one after the other and waited for every 1,000: by Level Zero
 * (-DLEVEL_ZERO) on the driver of test/levelzero, or else by HIP on the fakes of test/hip. -DTOOL makes the
 * library of a tool for rocprofiler-sdk that asks for what gputrace asks for, and does nothing.
 *
 * usage: devices N; prints ns_per_launch=...
 *
 * Limits: numbers of kinds are those of the fake.
 */
#ifdef TOOL
#include "hip/rocprofiler.h"

enum { HIP = 5, STREAM = 20, KERNEL_RECORD = 11 };

int rocprofiler_create_context(struct rocp_id *context);
int rocprofiler_start_context(struct rocp_id context);
int rocprofiler_create_buffer(struct rocp_id context, size_t size, size_t watermark, uint32_t policy,
			      rocp_buffer callback, void *data, struct rocp_id *buffer);
int rocprofiler_configure_callback_tracing_service(struct rocp_id context, uint32_t kind, const int32_t *list,
						   size_t count, rocp_callback callback, void *data);
int rocprofiler_configure_buffer_tracing_service(struct rocp_id context, uint32_t kind, const int32_t *list,
						 size_t count, struct rocp_id buffer);
int rocprofiler_configure_external_correlation_id_request_service(struct rocp_id context,
								  const uint32_t *kinds, size_t count,
								  rocp_request callback, void *data);
struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *client);

static void call(struct rocp_call call, union rocp_user *user, void *data)
{
	(void)call, (void)user, (void)data;
}

static int request(uint64_t thread, struct rocp_id context, uint32_t kind, int32_t operation,
		   uint64_t internal, union rocp_user *external, void *data)
{
	(void)thread, (void)context, (void)kind, (void)operation, (void)internal, (void)external, (void)data;
	return 0;
}

static void records(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers, size_t count,
		    void *data, uint64_t dropped)
{
	(void)context, (void)buffer, (void)headers, (void)count, (void)data, (void)dropped;
}

static int initialize(void *finalize, void *data)
{
	static const uint32_t requests[] = { ROCP_REQUEST_KERNEL };
	struct rocp_id context = { 0 }, buffer = { 0 };

	(void)finalize, (void)data;
	return rocprofiler_create_context(&context) ||
	       rocprofiler_create_buffer(context, 1 << 22, 1 << 21, ROCP_POLICY_LOSSLESS, records, NULL,
					 &buffer) ||
	       rocprofiler_configure_callback_tracing_service(context, HIP, NULL, 0, call, NULL) ||
	       rocprofiler_configure_callback_tracing_service(context, STREAM, NULL, 0, call, NULL) ||
	       rocprofiler_configure_buffer_tracing_service(context, KERNEL_RECORD, NULL, 0, buffer) ||
	       rocprofiler_configure_external_correlation_id_request_service(context, requests, 1, request,
									     NULL) ||
	       rocprofiler_start_context(context);
}

struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *client)
{
	static struct rocp_tool tool = { sizeof(tool), initialize, NULL, NULL };

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
#else
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void must(int rc)
{
	if (rc)
		exit(1);
}

#ifdef LEVEL_ZERO
#include <level_zero/ze_api.h>

static ze_command_list_handle_t list;
static ze_kernel_handle_t kernel;
static ze_event_handle_t over;

static void begin(void)
{
	ze_context_desc_t context_desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module_desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC };
	ze_kernel_desc_t kernel_desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "nothing" };
	ze_event_pool_desc_t pool_desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
					   .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
					   .count = 1 };
	ze_event_desc_t event_desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC };
	ze_command_queue_desc_t queue_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					       .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_event_pool_handle_t pool;
	ze_context_handle_t context;
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_module_handle_t module;
	uint32_t one = 1;

	must(zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
	     zeContextCreate(driver, &context_desc, &context) ||
	     zeModuleCreate(context, device, &module_desc, &module, NULL) ||
	     zeKernelCreate(module, &kernel_desc, &kernel) ||
	     zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool) ||
	     zeEventCreate(pool, &event_desc, &over) ||
	     zeCommandListCreateImmediate(context, device, &queue_desc, &list));
}

static int launch(void)
{
	ze_group_count_t none = { 0, 1, 1 };

	return zeCommandListAppendLaunchKernel(list, kernel, &none, NULL, 0, NULL);
}

static int settle(void)
{
	return zeCommandListAppendBarrier(list, over, 0, NULL) || zeEventHostSynchronize(over, UINT64_MAX) ||
	       zeEventHostReset(over);
}
#else
#include "test/hip/fake.h"

static hipFunction_t kernel;
static hipStream_t stream;

static void begin(void)
{
	hipModule_t module;

	must(hipModuleLoad(&module, "x") || hipModuleGetFunction(&kernel, module, "nothing") ||
	     hipStreamCreate(&stream));
}

static int launch(void)
{
	return hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static int settle(void)
{
	return hipStreamSynchronize(stream);
}
#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000;
	double begun;

	begin();
	must(launch() || settle());
	begun = now();
	for (long i = 1; i <= n; i++) {
		must(launch());
		if (i % 1000 == 0)
			must(settle());
	}
	must(settle());
	printf("ns_per_launch=%.1f\n", (now() - begun) / (double)n);
	return 0;
}
#endif
